package evidence

import (
	"context"
	"strings"
	"testing"
)

// What is no bundle is called what it is, not an altered one, with the way out.
func TestReadBundle_of_other_files(t *testing.T) {
	const bundle = `{"bundle_version":1,"manifest":{},"records":[]}`
	for _, tt := range []struct{ doc, reason, remedy string }{
		{"", "it is empty", "export_evidence_bundle"},
		{" \n", "it is empty", "export_evidence_bundle"},
		{"hello", "it is not an Evidence bundle", "export_evidence_bundle"},
		{"\x7fELF\x02\x01\x01", "it is not an Evidence bundle", "export_evidence_bundle"},
		{"[" + bundle + "]", "it is a JSON array", "export_evidence_bundle"},
		{"\ufeff" + bundle, "byte order mark", "export_evidence_bundle"},
		{"{}", "it is not an Evidence bundle", "export_evidence_bundle"},
		{`{"name":"x"}`, "it is not an Evidence bundle", "export_evidence_bundle"},
		{`{"analysis_profile":null,"authority":"x"}`, "it is one record", "export_evidence_bundle"},
		{"rea-snapshot 1 00\n" + bundle, "it is a snapshot", "snapshot_path"},
		{strings.Replace(bundle, "1", "2", 1), "version 2, of a newer rea; this one reads version 1", "newer"},
		{strings.Replace(bundle, "1", `"1"`, 1), "no version of Evidence bundles", "export_evidence_bundle"},
		{strings.Replace(bundle, "]}", `],"x":1}`, 1), "a member follows the records", ""},
	} {
		_, err := ReadBundle(context.Background(), strings.NewReader(tt.doc), DefaultImportLimits, func(*Record) error { return nil })
		e, ok := AsIntegrity(err)
		if !ok || !strings.Contains(e.Reason, tt.reason) || !strings.Contains(e.Remedy, tt.remedy) || (e.Remedy == "") != (tt.remedy == "") {
			t.Errorf("%.40q gives %+v", tt.doc, err)
		}
	}
}

// A number that cannot be held is named by its member, not by a byte of a text
// that the caller did not write.
func TestVerify_names_the_member(t *testing.T) {
	_, err := Verify([]byte(`{"normalized_result":{"a":[1,{"b":1e999}]}}`))
	if e, ok := AsIntegrity(err); !ok || e.Pointer != "/normalized_result/a/1/b" || e.Reason != "number 1e999 is beyond double precision" {
		t.Errorf("error is %v", err)
	}
	_, err = Verify([]byte(`{"a":"x","n":12345678901234567891}`))
	if e, ok := AsIntegrity(err); !ok || e.Pointer != "/n" || strings.Contains(e.Reason, "byte") {
		t.Errorf("error is %v", err)
	}
}
