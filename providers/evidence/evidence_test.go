package evidence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/delivery"
	"rea/runtime/dispatch"
	store "rea/runtime/evidence"
	"rea/runtime/session"
)

// bench is the family with a session of its own.
type bench struct {
	t        *testing.T
	session  *session.Session
	dispatch *dispatch.Dispatcher
}

func newBench(t *testing.T, budget int64) *bench {
	t.Helper()
	s := session.New(session.Config{Ledger: store.NewLedger(t.TempDir(), 0)})
	return &bench{t, s, dispatch.New(dispatch.Config{
		Session: s, Version: "1.2.3",
		Bindings: tool.Bindings(tool.Families{Evidence: New(Config{Session: s, Budget: budget})}),
	})}
}

func (b *bench) call(name, args string) (*dispatch.Outcome, error) {
	b.t.Helper()
	return b.dispatch.Call(b.t.Context(), name, []byte(args))
}

func (b *bench) must(name, args string) *dispatch.Outcome {
	b.t.Helper()
	out, err := b.call(name, args)
	if err != nil {
		b.t.Fatalf("%s %.200s: %v", name, args, err)
	}
	return out
}

const (
	shaA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	shaB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// add records a result of an operation about a target.
func (b *bench) add(operation, sha, result string) *store.Record {
	b.t.Helper()
	return b.keep(recordOf(operation, sha, result))
}

// keep seals and records what dispatch could have.
func (b *bench) keep(m *model.EvidenceRecord) *store.Record {
	b.t.Helper()
	r, err := store.Seal(m.AppendJSON(nil))
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.session.Ledger().Append(r); err != nil {
		b.t.Fatal(err)
	}
	return r
}

func reference(r *store.Record) string {
	return fmt.Sprintf(`{"kind":"retained-evidence","evidence_id":%q}`, r.ID())
}

func quoted(s string) string {
	doc, _ := json.Marshal(s)
	return string(doc)
}

func result[T any](t *testing.T, out *dispatch.Outcome) T {
	t.Helper()
	v, ok := out.Output.(T)
	if !ok {
		t.Fatalf("output is %T", out.Output)
	}
	return v
}

func TestGetEvidenceBundle(t *testing.T) {
	b := newBench(t, 0)
	one := b.add("analyze_function", shaA, `{"procedure":{"address":"0x401000","name":"main"}}`)
	b.add("analyze_function", shaB, `{"procedure":{"address":"0x401000","name":null}}`)
	b.add("list_strings", shaA, `{"total":0}`)
	complete := result[*tool.GetEvidenceBundleOutput](t, b.must("get_evidence_bundle", "{}")).Result
	if complete.Total != 3 || len(complete.Bundle.Records) != 3 || complete.Bundle.Manifest.Records != 3 || complete.Records != nil {
		t.Errorf("bundle is %+v", complete)
	}
	if !slices.IsSortedFunc(complete.Bundle.Records, func(a, b model.EvidenceRecord) int { return strings.Compare(a.EvidenceID, b.EvidenceID) }) {
		t.Error("records are not sorted")
	}
	// What is delivered inline is a bundle that can be imported.
	canonical, err := store.Canonical(complete.Bundle.AppendJSON(nil))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "inline.json")
	if err := os.WriteFile(path, canonical, 0o600); err != nil {
		t.Fatal(err)
	}
	other := newBench(t, 0)
	if r := result[*tool.ImportEvidenceBundleOutput](t, other.must("import_evidence_bundle", `{"path":`+quoted(path)+`}`)).Result; r.Imported != 3 {
		t.Errorf("importing gives %+v", r)
	}
	for filters, want := range map[string]int64{
		`{}`:                               3,
		`{"operation":"analyze_function"}`: 2,
		`{"target_sha256":"` + shaA + `"}`: 2,
		`{"procedure_address":"401000"}`:   2,
		`{"procedure_address":"0x00401000","target_sha256":"` + shaB + `"}`: 1,
		`{"evidence_id":"` + one.ID().String() + `"}`:                       1,
		`{"analysis_profile_digest":"` + profileDigest + `"}`:               3,
		`{"analysis_profile_digest":"` + strings.Repeat("e", 64) + `"}`:     0,
		`{"operation":"list_strings","procedure_address":"0x401000"}`:       0,
	} {
		r := result[*tool.GetEvidenceBundleOutput](t, b.must("get_evidence_bundle", `{"detail":"summary","filters":`+filters+`}`)).Result
		if r.Total != want || int64(len(r.Records)) != want || r.Bundle != nil {
			t.Errorf("%s gives %d records, want %d", filters, r.Total, want)
		}
	}
	row := result[*tool.GetEvidenceBundleOutput](t, b.must("get_evidence_bundle", `{"detail":"summary"}`)).Result.Records[0]
	if row.EvidenceID != one.ID().String() || row.Subject == nil || row.Subject.Digest.SHA256 != shaA || row.Provider.ID != "embedded" || row.AnalysisProfileDigest == nil ||
		row.Procedure == nil || row.Procedure.Address != 0x401000 || *row.Procedure.Name != "main" || row.NativeDossier.ValueFlow != "unavailable" || row.NativeDossier.Omitted != nil || row.Bytes != int64(len(one.Bytes())) {
		t.Errorf("row is %+v", row)
	}
	if _, err := b.call("get_evidence_bundle", `{"filters":{}}`); fault.CodeOf(err) != fault.InvalidRequestCode {
		t.Errorf("filters without summary give %v", err)
	}
	if _, err := b.call("get_evidence_bundle", `{"detail":"summary","filters":{"procedure_address":"main"}}`); fault.CodeOf(err) != fault.InvalidAddressCode {
		t.Errorf("a filter that is no address gives %v", err)
	}
}

// Pages are cut where they were asked to be, else where a response is full; none
// is empty before the end, and together they are everything once.
func TestGetEvidenceBundle_pages(t *testing.T) {
	const records, budget = 300, 100_000
	b := newBench(t, budget)
	var want []string
	for i := range records {
		want = append(want, b.add("analyze_function", shaA, fmt.Sprintf(`{"procedure":{"address":"0x%x","name":"f%d"}}`, i, i)).ID().String())
	}
	for _, limit := range []string{"", `,"limit":70`, `,"limit":1000`} {
		var got []string
		pages := 0
		for offset := int64(0); ; pages++ {
			if limit == `,"limit":1000` && pages > 0 {
				t.Fatal("a limit that holds everything makes pages")
			}
			out := b.must("get_evidence_bundle", fmt.Sprintf(`{"detail":"summary","filters":{"operation":"analyze_function"},"offset":%d%s}`, offset, limit))
			r := result[*tool.GetEvidenceBundleOutput](t, out).Result
			if r.Total != records || r.Offset != offset || len(r.Records) == 0 {
				t.Fatalf("%s: total %d, offset %d, %d rows", limit, r.Total, r.Offset, len(r.Records))
			}
			for _, row := range r.Records {
				got = append(got, row.EvidenceID)
			}
			if limit == "" {
				delivered, err := delivery.Success(out.Document)
				if err != nil || !delivery.Budget(budget).Fits(delivered) {
					t.Fatalf("a page of %d rows takes %d bytes", len(r.Records), delivered.Size())
				}
				if r.NextOffset != nil && delivered.Size() < budget/2 {
					t.Errorf("a page of %d rows takes %d bytes only", len(r.Records), delivered.Size())
				}
			}
			if r.NextOffset == nil {
				break
			}
			offset = *r.NextOffset
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s gives %d rows", limit, len(got))
		}
	}
	past := result[*tool.GetEvidenceBundleOutput](t, b.must("get_evidence_bundle", `{"detail":"summary","offset":1000}`)).Result
	if past.Total != records || past.Offset != records || len(past.Records) != 0 || past.NextOffset != nil {
		t.Errorf("after the end: %+v", past)
	}
	for _, args := range []string{`{"limit":5}`, `{"offset":0}`} {
		if _, err := b.call("get_evidence_bundle", args); fault.CodeOf(err) != fault.InvalidRequestCode {
			t.Errorf("%s without summary gives %v", args, err)
		}
	}
}

func TestGetEvidenceBundle_over_the_budget(t *testing.T) {
	b := newBench(t, 10_000)
	b.add("list_strings", shaA, `"`+strings.Repeat("x", 6000)+`"`)
	_, err := b.call("get_evidence_bundle", "{}")
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.ResourceConstraintCode {
		t.Fatalf("error is %v", err)
	}
	if d := f.Details.(*fault.ResourceConstraintDetails); d.Resource != "transport" || *d.ReportedLimits.Needed < 12_000 {
		t.Errorf("details are %+v", d)
	}
	b.must("get_evidence_bundle", `{"detail":"summary"}`)
}

func TestExport_and_import(t *testing.T) {
	b := newBench(t, 0)
	for i := range 20 {
		b.add("list_strings", shaA, fmt.Sprintf(`{"n":%d}`, i))
	}
	path := filepath.Join(t.TempDir(), "bundle.json")
	args := `{"path":` + quoted(path) + `}`
	exported := result[*tool.ExportEvidenceBundleOutput](t, b.must("export_evidence_bundle", args)).Result
	content, err := os.ReadFile(path)
	if err != nil || exported.Bytes != int64(len(content)) || exported.Records != 20 || exported.Path != path {
		t.Errorf("exported %+v, %d bytes, %v", exported, len(content), err)
	}
	if _, err := b.call("export_evidence_bundle", args); fault.CodeOf(err) != fault.ArtifactOperationFailedCode || !strings.Contains(err.Error(), "overwrite") {
		t.Errorf("exporting again gives %v", err)
	}
	b.must("export_evidence_bundle", `{"path":`+quoted(path)+`,"overwrite":true}`)
	other := newBench(t, 0)
	imported := result[*tool.ImportEvidenceBundleOutput](t, other.must("import_evidence_bundle", args)).Result
	if imported.Imported != 20 || imported.AlreadyHeld != 0 || imported.Total != 20 || imported.BundleSHA256 != exported.BundleSHA256 {
		t.Errorf("imported %+v", imported)
	}
	if again := result[*tool.ImportEvidenceBundleOutput](t, other.must("import_evidence_bundle", args)).Result; again.Imported != 0 || again.AlreadyHeld != 20 {
		t.Errorf("imported again %+v", again)
	}
	damaged := strings.Replace(string(content), `"n":7`, `"n":8`, 1)
	if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	fresh := newBench(t, 0)
	if _, err := fresh.call("import_evidence_bundle", args); fault.CodeOf(err) != fault.EvidenceIntegrityMismatchCode {
		t.Errorf("a damaged bundle gives %v", err)
	}
	if fresh.session.Ledger().Len() != 0 {
		t.Error("a damaged bundle was admitted in part")
	}
	if _, err := fresh.call("compare_bundles", `{"left":`+quoted(path)+`,"right":`+quoted(path)+`}`); fault.CodeOf(err) != fault.EvidenceIntegrityMismatchCode || !strings.Contains(err.Error(), path) {
		t.Errorf("comparing with a damaged bundle gives %v", err)
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir(), os.DevNull} {
		if _, err := b.call("import_evidence_bundle", `{"path":`+quoted(path)+`}`); fault.CodeOf(err) != fault.ArtifactOperationFailedCode {
			t.Errorf("%s gives %v", path, err)
		}
	}
}

// Overwriting replaces what rea wrote and nothing else.
func TestExport_overwrites_only_its_own(t *testing.T) {
	b := newBench(t, 0)
	b.add("list_strings", shaA, `1`)
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tt := range []struct {
		name, content string
		replaced      bool
	}{
		{"empty", "", true},
		{"cut_bundle", `{"bundle_version":1,"manifest":{"ids`, true},
		{"snapshot", "rea-snapshot 1 " + shaA + "\n", false},
		{"begins_like_a_bundle", `{"bundle_version":1,"mine":{"ids":1}}`, false},
		{"text", "mine", false},
		{"json", `{"a":1}`, false},
		{"like_a_bundle", `{"bundle_version":"x"}`, false},
		{"elf", "\x7fELF\x02\x01\x01", false},
	} {
		path := write(tt.name, tt.content)
		_, err := b.call("export_evidence_bundle", `{"overwrite":true,"path":`+quoted(path)+`}`)
		content, readErr := os.ReadFile(path)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if tt.replaced {
			if err != nil || string(content) == tt.content {
				t.Errorf("%s gives %v", tt.name, err)
			}
			continue
		}
		if f := faultOf(t, err); !strings.Contains(string(f.JSON()), `"kind":"protected"`) || !strings.Contains(f.Message, path) || string(content) != tt.content {
			t.Errorf("%s gives %s", tt.name, f.JSON())
		}
	}
}

func TestExport_cancelled(t *testing.T) {
	b := newBench(t, 0)
	b.add("list_strings", shaA, `1`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	_, err := b.dispatch.Call(ctx, "export_evidence_bundle", []byte(`{"path":`+quoted(filepath.Join(dir, "x"))+`}`))
	if list, _ := os.ReadDir(dir); fault.CodeOf(err) != fault.CancelledCode || len(list) != 0 {
		t.Errorf("error is %v, the directory holds %v", err, list)
	}
}

func (b *bench) view(analysis, more string) (*tool.InspectAnalysisViewOutput, *store.Record, error) {
	b.t.Helper()
	out, err := b.call("inspect_analysis_view", `{"analysis":`+analysis+more+`}`)
	if err != nil {
		return nil, nil, err
	}
	return out.Output.(*tool.InspectAnalysisViewOutput), out.Record, nil
}

func TestInspectAnalysisView(t *testing.T) {
	b := newBench(t, 0)
	r := b.add("analyze_function", shaA, dossierOf())
	n := func(v int64) *int64 { return &v }
	for _, tt := range []struct {
		more, facts string
		unit        model.AnalysisViewResultUnit
		total       *int64
		offset      int64
		returned    int64
		next        *int64
		complete    bool
	}{
		{`,"view":"callees"`, rowsOf("a", "b", "c"), "rows", n(3), 0, 3, nil, true},
		{`,"view":"callees","limit":2`, rowsOf("a", "b"), "rows", n(3), 0, 2, n(2), true},
		{`,"view":"callees","offset":2,"limit":2`, jsonRows(functionOf().Callees.Items[2:]), "rows", n(3), 2, 1, nil, true},
		{`,"view":"callees","offset":99`, `[]`, "rows", n(3), 3, 0, nil, true},
		{`,"view":"callers"`, rowsOf("d", "e"), "rows", n(9), 5, 2, nil, false},
		{`,"view":"callers","offset":6`, jsonRows(functionOf().Callers.Items[1:]), "rows", n(9), 6, 1, nil, false},
		{`,"view":"comments"`, `[]`, "rows", n(0), 0, 0, nil, true},
		{`,"view":"procedure"`, jsonOf(ptr(procedure(0x401000, "main"))), "value", nil, 0, 1, nil, true},
		{`,"view":"pseudocode"`, `"a😀b😀c"`, "utf16", n(40), 10, 7, nil, false},
		{`,"view":"pseudocode","limit":2`, `"a"`, "utf16", n(40), 10, 1, n(11), false},
		{`,"view":"pseudocode","offset":11,"limit":3`, `"😀b"`, "utf16", n(40), 11, 3, n(14), false},
		{`,"view":"pseudocode","offset":12,"limit":3`, `"😀b"`, "utf16", n(40), 11, 3, n(14), false},
		{`,"view":"pseudocode","offset":11,"limit":1`, `"😀"`, "utf16", n(40), 11, 2, n(13), false},
	} {
		t.Run(tt.more, func(t *testing.T) {
			v, record, err := b.view(reference(r), tt.more)
			if err != nil {
				t.Fatal(err)
			}
			want := &tool.InspectAnalysisViewOutput{
				ParentEvidenceID: r.ID().String(), ParentOperation: "analyze_function", View: v.View, State: "available",
				Unit: tt.unit, Total: tt.total, Offset: tt.offset, Returned: tt.returned, NextOffset: tt.next, Complete: tt.complete,
				FactsSHA256: v.FactsSHA256, Facts: []byte(tt.facts),
			}
			if diff := cmp.Diff(want, v); diff != "" {
				t.Errorf("view (-want +got):\n%s", diff)
			}
			if links := string(record.Member("evidence_links")); links != `["`+r.ID().String()+`"]` {
				t.Errorf("links are %s", links)
			}
			if limits := string(record.Member("limitations")); !strings.Contains(limits, "engine limit") || strings.Contains(limits, "the record holds") == tt.complete {
				t.Errorf("limitations are %s", limits)
			}
		})
	}
	summary, _, err := b.view(reference(r), "")
	if err != nil || !strings.Contains(string(summary.Facts), `"totals":{"assembly":null,"basic_blocks":null,"callees":3,"callers":9`) {
		t.Errorf("summary is %s, %v", summary.Facts, err)
	}
	for _, view := range []string{"native_api", "assembly"} {
		v, _, err := b.view(reference(r), `,"view":"`+view+`"`)
		if err != nil || v.State != "unavailable" || v.Reason == nil || *v.Reason == "" || string(v.Facts) != "null" {
			t.Errorf("%s gives %+v, %v", view, v, err)
		}
	}
	inline, inlineRecord, err := b.view(string(r.Bytes()), `,"view":"callees"`)
	retained, retainedRecord, err2 := b.view(reference(r), `,"view":"callees"`)
	if err != nil || err2 != nil || cmp.Diff(inline, retained) != "" || inlineRecord.ID() != retainedRecord.ID() {
		t.Errorf("inline and retained differ: %v %v", err, err2)
	}
	for more, code := range map[string]fault.Code{
		`,"view":"sections"`: fault.InvalidRequestCode,
		`,"view":"modules"`:  fault.InvalidRequestCode,
	} {
		if _, _, err := b.view(reference(r), more); fault.CodeOf(err) != code {
			t.Errorf("%s gives %v", more, err)
		}
	}
	if _, _, err := b.view(reference(b.add("list_strings", shaA, "1")), ""); fault.CodeOf(err) != fault.EvidenceNotApplicableCode {
		t.Errorf("a record of another kind gives %v", err)
	}
}

func TestInspectAnalysisView_of_a_layout(t *testing.T) {
	b := newBench(t, 0)
	layout := layoutOf(shaA)
	r := b.add("inspect_binary_layout", shaA, jsonOf(layout))
	for more, want := range map[string]string{
		`,"view":"section","name":".data"`: "[" + jsonOf(&layout.Sections.Items[1]) + "]",
		`,"view":"symbol","name":"main"`:   "[" + jsonOf(&layout.Symbols.Items[0]) + "," + jsonOf(&layout.Symbols.Items[1]) + "]",
		`,"view":"mitigations"`:            "[" + jsonOf(&layout.Mitigations[0]) + "]",
		`,"view":"linkage"`:                `{"libraries":[` + jsonOf(&layout.Libraries[0]) + `],"rpaths":[]}`,
		`,"view":"segments"`:               `[]`,
	} {
		if v, _, err := b.view(reference(r), more); err != nil || string(v.Facts) != want {
			t.Errorf("%s gives %s, %v", more, v.Facts, err)
		}
	}
	if v, _, err := b.view(reference(r), `,"view":"symbols"`); err != nil || v.Complete || *v.Total != 900 || v.Returned != 2 {
		t.Errorf("symbols are %+v, %v", v, err)
	}
	if _, _, err := b.view(reference(r), `,"view":"section"`); fault.CodeOf(err) != fault.InvalidRequestCode {
		t.Errorf("a section without a name gives %v", err)
	}
	if _, _, err := b.view(reference(r), `,"view":"section","name":".bss"`); fault.CodeOf(err) != fault.NameNotFoundCode {
		t.Errorf("an unknown section gives %v", err)
	}
}

func TestCutUTF16_against_the_standard_library(t *testing.T) {
	text := "aé€😀x😀😀\u0000z"
	units := utf16.Encode([]rune(text))
	for offset := range int64(len(units)) + 3 {
		for limit := int64(1); limit < 5; limit++ {
			part, first, total := cutUTF16(text, offset, limit)
			if total != int64(len(units)) {
				t.Fatalf("%d units, want %d", total, len(units))
			}
			got := utf16.Encode([]rune(part))
			if int64(len(got)) != utf16Length(part) || !slices.Equal(got, units[first:first+int64(len(got))]) {
				t.Errorf("offset %d limit %d gives %q at %d", offset, limit, part, first)
			}
			if first < total && len(got) == 0 || int64(len(got)) > max(limit, 2) {
				t.Errorf("offset %d limit %d gives %d units", offset, limit, len(got))
			}
		}
	}
}

func TestCompareBundles(t *testing.T) {
	left, right := newBench(t, 0), newBench(t, 0)
	both := left.add("list_strings", shaA, `{"same":1}`)
	right.add("list_strings", shaA, `{"same":1}`)
	l := left.add("analyze_function", shaA, `{"a":[1,2,3],"b":{"x/y":1,"~":2},"c":1}`)
	r := right.add("analyze_function", shaB, `{"a":[1,5],"b":{"x/y":2,"~":2},"d":1}`)
	onlyLeft := left.add("list_strings", shaA, `{"left":1}`)
	absent := newBench(t, 0).add("list_strings", shaA, `{"absent":1}`)
	onlyRight := right.add("list_strings", shaA, `{"right":1}`)
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	left.must("export_evidence_bundle", `{"path":`+quoted(a)+`}`)
	right.must("export_evidence_bundle", `{"path":`+quoted(b)+`}`)
	paths := `"left":` + quoted(a) + `,"right":` + quoted(b)
	c := newBench(t, 0)
	plain := result[*tool.CompareBundlesOutput](t, c.must("compare_bundles", `{`+paths+`}`))
	if s := plain.Summary; s.Removed != 2 || s.Added != 2 || s.Unchanged != 1 || s.Changed != 0 || plain.Status != "unknown" {
		t.Errorf("membership gives %+v %s", s, plain.Status)
	}
	out := c.must("compare_bundles", fmt.Sprintf(`{%s,"pairs":[{"left_evidence_id":%q,"right_evidence_id":%q}]}`, paths, l.ID(), r.ID()))
	paired := result[*tool.CompareBundlesOutput](t, out)
	if s := paired.Summary; s.Changed != 1 || s.Removed != 1 || s.Added != 1 || s.Unchanged != 1 || paired.Status != "changed" || paired.Total != 4 {
		t.Fatalf("a pair gives %+v %s", s, paired.Status)
	}
	if diff := cmp.Diff([]string{"/a/1", "/a/2", "/b/x~1y", "/c", "/d"}, paired.Items[0].Differences); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if *paired.Items[1].LeftEvidenceID != onlyLeft.ID().String() || *paired.Items[2].RightEvidenceID != onlyRight.ID().String() || *paired.Items[3].LeftEvidenceID != both.ID().String() {
		t.Errorf("items are %+v", paired.Items)
	}
	if parameters := string(out.Record.Member("parameters")); strings.Contains(parameters, dir) {
		t.Errorf("paths are in the parameters: %s", parameters)
	}
	page := result[*tool.CompareBundlesOutput](t, c.must("compare_bundles", `{`+paths+`,"offset":3,"limit":1}`))
	if len(page.Items) != 1 || page.NextOffset == nil || *page.NextOffset != 4 || page.Total != 5 {
		t.Errorf("page is %+v", page)
	}
	for _, tt := range []struct {
		left, right *store.Record
		want        []string
	}{
		{r, r, []string{"the left bundle", `"bundle":` + quoted(a), `"side":"left"`, `"pointer":"/pairs/0/left_evidence_id"`, "exchange"}},
		{l, onlyLeft, []string{"the right bundle", `"bundle":` + quoted(b), `"side":"right"`, onlyLeft.ID().String(), "exchange"}},
		{absent, r, []string{"the left bundle", absent.ID().String(), "lists the ids"}},
	} {
		_, err := c.call("compare_bundles", fmt.Sprintf(`{%s,"pairs":[{"left_evidence_id":%q,"right_evidence_id":%q}]}`, paths, tt.left.ID(), tt.right.ID()))
		f := faultOf(t, err)
		for _, want := range append(tt.want, `"reason":"missing"`) {
			if f.Code != fault.EvidenceNotFoundCode || !strings.Contains(string(f.JSON()), want) {
				t.Errorf("a pair that is not there gives %s, without %s", f.JSON(), want)
			}
		}
	}
	same := result[*tool.CompareBundlesOutput](t, c.must("compare_bundles", `{"left":`+quoted(a)+`,"right":`+quoted(a)+`}`))
	if same.Status != "unchanged" || same.Left != (tool.CompareBundlesOutputLeft)(same.Right) {
		t.Errorf("a bundle and itself: %+v", same)
	}
}
