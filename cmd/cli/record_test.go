package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"rea/generated/cli"
	"rea/generated/model"
	"rea/runtime/evidence"
)

// Every record of a bundle can be named, and is what it was.
func TestRecordOfBundle(t *testing.T) {
	ledger := evidence.NewLedger(t.TempDir(), 0)
	var records []*evidence.Record
	version := "1"
	for _, result := range []string{`{"n":1}`, `{"n":2}`, `{"n":3}`} {
		m := &model.EvidenceRecord{
			EvidenceID: evidence.ID{}.String(), Operation: "list_strings", PredicateType: "x:1", NormalizedResult: []byte(result),
			Confidence: model.EvidenceConfidenceObserved, Authority: model.EvidenceAuthorityShippedArtifact,
			Provider: model.Provider{ID: "rea", Name: "rea", Version: &version},
		}
		r, err := evidence.Seal(m.AppendJSON(nil))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ledger.Append(r); err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	// A name may hold what stands between a file and an id.
	path := filepath.Join(t.TempDir(), "a#ev_b.bundle")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	view := ledger.View()
	defer view.Close()
	if _, err := view.WriteBundle(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	in := &input{}
	argument := &cli.Argument{Name: "analysis", Pointer: "/analysis", Type: cli.JSON}
	for _, r := range records {
		got, err := in.value(argument, "@"+path+"#"+r.ID().String())
		if err != nil || !bytes.Equal(got, r.Bytes()) {
			t.Errorf("%s gives %s, %v", r.ID(), got, err)
		}
	}
	// A bundle that was changed gives nothing.
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(doc, []byte(`{"n":3}`), []byte(`{"n":4}`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if got, err := in.value(argument, "@"+path+"#"+r.ID().String()); err == nil {
			t.Errorf("%s of a changed bundle gives %s", r.ID(), got)
		}
	}
}
