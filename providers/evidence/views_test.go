package evidence

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rea/generated/fault"
	"rea/generated/model"
)

// faultOf is the fault that a call failed with.
func faultOf(t *testing.T, err error) *fault.Error {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Fatalf("error is %v", err)
	}
	return f
}

// What a record says must be what its operation gives, about the subject that it
// names, in whatever way the record came.
func TestInspectAnalysisView_of_records_that_contradict_themselves(t *testing.T) {
	for name, tt := range map[string]struct {
		record  *model.EvidenceRecord
		pointer string
	}{
		"shape":           {recordOf("analyze_function", shaA, `{"procedure":{"address":"0x1","name":"x"}}`), "/analysis/normalized_result"},
		"row":             {recordOf("analyze_function", shaA, strings.Replace(dossierOf(), `"kind":"function"`, `"kind":"nonsense"`, 1)), "/analysis/normalized_result"},
		"layout_shape":    {recordOf("inspect_binary_layout", shaA, `{}`), "/analysis/normalized_result"},
		"layout_bytes":    {recordOf("inspect_binary_layout", shaB, jsonOf(layoutOf(shaA))), "/analysis/normalized_result"},
		"application":     {recordOf("analyze_javascript_application", shaA, `{}`), "/analysis/normalized_result"},
		"predicate":       {edit(recordOf("analyze_function", shaA, dossierOf()), func(r *model.EvidenceRecord) { r.PredicateType = "x" }), "/analysis/predicate_type"},
		"no_profile":      {edit(recordOf("analyze_function", shaA, dossierOf()), func(r *model.EvidenceRecord) { r.AnalysisProfile = nil }), "/analysis/analysis_profile"},
		"layout_provider": {edit(recordOf("inspect_binary_layout", shaA, jsonOf(layoutOf(shaA))), func(r *model.EvidenceRecord) { r.Provider.ID = "embedded" }), "/analysis/provider"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 0)
			r := b.keep(tt.record)
			for form, analysis := range map[string]string{"retained": reference(r), "inline": string(r.Bytes())} {
				_, _, err := b.view(analysis, "")
				f := faultOf(t, err)
				d, ok := f.Details.(*fault.EvidenceIntegrityMismatchDetails)
				if !ok || d.Pointer != tt.pointer || d.EvidenceID == nil || *d.EvidenceID != r.ID().String() {
					t.Errorf("%s gives %s", form, f.JSON())
				}
			}
		})
	}
}

func edit(r *model.EvidenceRecord, change func(*model.EvidenceRecord)) *model.EvidenceRecord {
	change(r)
	return r
}

// A name that is not there is answered with where names are.
func TestInspectAnalysisView_tells_where_names_are(t *testing.T) {
	b := newBench(t, 0)
	layout := reference(b.add("inspect_binary_layout", shaA, jsonOf(layoutOf(shaA))))
	for more, want := range map[string][]string{
		`,"view":"section","name":"text"`: {`"nearest":[".text"]`, "View sections lists"},
		`,"view":"section","name":".bss"`: {`"nearest":[]`, "View sections lists"},
		`,"view":"symbol","name":"mai"`:   {`"nearest":["main"]`, "View symbols lists", "does not hold all"},
		`,"view":"section"`:               {`/name`, "view sections lists"},
		`,"view":"symbol"`:                {`/name`, "view symbols lists"},
	} {
		_, _, err := b.view(layout, more)
		doc := string(faultOf(t, err).JSON())
		for _, w := range want {
			if !strings.Contains(doc, w) {
				t.Errorf("%s gives %s, without %s", more, doc, w)
			}
		}
	}
}

// Limitations of a long analysis are told with each view, but not repeated at
// length; the summary shows them.
func TestInspectAnalysisView_limitations(t *testing.T) {
	b := newBench(t, 0)
	m := recordOf("inspect_binary_layout", shaA, jsonOf(layoutOf(shaA)))
	m.Limitations = nil
	for i := range 60 {
		m.Limitations = append(m.Limitations, fmt.Sprintf("limitation %02d of the loader, which is a sentence of some length", i))
	}
	r := b.keep(m)
	_, page, err := b.view(reference(r), `,"view":"sections"`)
	if err != nil {
		t.Fatal(err)
	}
	limits := string(page.Member("limitations"))
	if len(limits) > 1024 || !strings.Contains(limits, "limitation 00") || !strings.Contains(limits, "52 more limitations of the analysis apply; view summary shows them") {
		t.Errorf("limitations of a page are %s", limits)
	}
	_, summary, err := b.view(reference(r), "")
	if err != nil || !strings.Contains(string(summary.Member("limitations")), "limitation 59") {
		t.Errorf("limitations of the summary are %s, %v", summary.Member("limitations"), err)
	}
}
