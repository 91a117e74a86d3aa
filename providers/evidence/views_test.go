package evidence

import (
	"errors"
	"fmt"
	"slices"
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
		`,"view":"section","name":"data"`: {`"nearest":[".data"]`, "View sections lists"},
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

// Of a list that the record holds a part of, only what it holds is known.
func TestInspectAnalysisView_of_a_part_of_a_list(t *testing.T) {
	b := newBench(t, 0)
	layout := reference(b.add("inspect_binary_layout", shaA, jsonOf(layoutOf(shaA))))
	few := layoutOf(shaA)
	few.Sections.Total, few.Symbols.Items = 30, nil
	part := reference(b.add("inspect_binary_layout", shaA, jsonOf(few)))
	for _, tt := range []struct{ record, more, want string }{
		{layout, `,"view":"symbol","name":"mai"`, `"mai" is not among the 2 of 900 symbols that the record holds, of which the nearest are "main"; repeat the analysis with a larger symbol_limit`},
		{part, `,"view":"section","name":".bss"`, `".bss" is not among the 2 of 30 sections that the record holds; repeat the analysis with a larger section_limit`},
		{part, `,"view":"symbol","name":"main"`, "the analysis recorded none of the 900 rows of symbols; repeat it with a larger limit and a smaller offset"},
		{part, `,"view":"symbols"`, "the analysis recorded none of the 900 rows of symbols; repeat it with a larger limit and a smaller offset"},
		{layout, `,"view":"relocations"`, "the analysis recorded none of the 5 rows of relocations; repeat it with a larger limit and a smaller offset"},
	} {
		v, _, err := b.view(tt.record, tt.more)
		if err != nil || v.State != "unavailable" || v.Complete || v.Reason == nil || *v.Reason != tt.want || string(v.Facts) != "null" {
			t.Errorf("%s gives %+v, %v", tt.more, v, err)
		} else if strings.Contains(*v.Reason, "-1") {
			t.Errorf("%s gives %s", tt.more, *v.Reason)
		}
	}
	// What was found among a part may not be all; it is paged like other rows.
	v, r, err := b.view(layout, `,"view":"symbol","name":"main","limit":1,"offset":1`)
	if err != nil || v.Returned != 1 || v.Offset != 1 || *v.Total != 2 || v.Complete || !strings.Contains(string(r.Member("limitations")), "2 of 900 symbols") {
		t.Errorf("the second main is %+v, %v", v, err)
	}
}

// An argument that a view does not look at is refused, never ignored.
func TestInspectAnalysisView_refuses_what_a_view_does_not_take(t *testing.T) {
	b := newBench(t, 0)
	layout := reference(b.add("inspect_binary_layout", shaA, jsonOf(layoutOf(shaA))))
	dossier := reference(b.add("analyze_function", shaA, dossierOf()))
	for _, tt := range []struct{ record, more, pointer string }{
		{layout, `,"view":"symbols","name":"main"`, "/name"},
		{layout, `,"view":"sections","name":".text"`, "/name"},
		{layout, `,"view":"section","name":".text","node_id":"x"`, "/node_id"},
		{layout, `,"view":"linkage","offset":1`, "/offset"},
		{layout, `,"offset":1`, "/offset"},
		{dossier, `,"view":"callees","name":"a"`, "/name"},
		{dossier, `,"view":"callees","node_id":"a"`, "/node_id"},
		{dossier, `,"view":"procedure","offset":3`, "/offset"},
		{dossier, `,"view":"pseudocode","name":"main"`, "/name"},
		{dossier, `,"view":"native_api","offset":3`, "/offset"},
		{dossier, `,"name":"main"`, "/name"},
	} {
		_, _, err := b.view(tt.record, tt.more)
		if err == nil {
			t.Errorf("%s is taken", tt.more)
			continue
		}
		f := faultOf(t, err)
		if d, ok := f.Details.(*fault.InvalidRequestDetails); !ok || d.Pointer != tt.pointer {
			t.Errorf("%s gives %s", tt.more, f.JSON())
		}
	}
}

// The way out that a record gives for what it lacks is that of its views.
func TestInspectAnalysisView_keeps_remediations(t *testing.T) {
	b := newBench(t, 0)
	function := functionOf()
	function.Pseudocode = &model.Unavailable{Reason: "no decompiler took part", Remediation: "Open the target with an engine that decompiles."}
	for _, view := range []string{"pseudocode", "native_api"} {
		v, _, err := b.view(reference(b.add("analyze_function", shaA, jsonOf(function))), `,"view":"`+view+`"`)
		want := map[string]string{"pseudocode": "no decompiler took part. Open the target with an engine that decompiles.", "native_api": "no types. r"}[view]
		if err != nil || v.Reason == nil || *v.Reason != want {
			t.Errorf("%s is %+v, %v", view, v, err)
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

// What is said of another list is not a limitation of a view.
func TestInspectAnalysisView_limitations_of_its_own(t *testing.T) {
	b := newBench(t, 0)
	m := recordOf("inspect_binary_layout", shaA, jsonOf(layoutOf(shaA)))
	m.Limitations = []string{"symbols: 2 of 900 are given; page", "relocations: 0 of 5 are given; page", "the file is cut: at the end"}
	r := b.keep(m)
	for more, want := range map[string][]string{
		``:                                 {"symbols: ", "relocations: ", "cut"},
		`,"view":"symbols"`:                {"symbols: ", "cut"},
		`,"view":"symbol","name":"main"`:   {"symbols: ", "cut"},
		`,"view":"relocations"`:            {"relocations: ", "cut"},
		`,"view":"section","name":".text"`: {"cut"},
		`,"view":"linkage"`:                {"cut"},
	} {
		_, view, err := b.view(reference(r), more)
		if err != nil {
			t.Fatal(err)
		}
		limits := string(view.Member("limitations"))
		for _, l := range []string{"symbols: ", "relocations: ", "cut"} {
			if strings.Contains(limits, l) != slices.Contains(want, l) {
				t.Errorf("%q has %s", more, limits)
			}
		}
	}
}

// A diagnostic that was kept is no finding, and is not taken for an altered one.
func TestInspectAnalysisView_of_a_diagnostic(t *testing.T) {
	b := newBench(t, 0)
	_, _, err := b.view(`{"kind":"retained-evidence","evidence_id":"ev_`+shaA+`"}`, "")
	id, err := b.dispatch.RetainFault(t.Context(), "inspect_analysis_view", faultOf(t, err))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = b.view(fmt.Sprintf(`{"kind":"retained-evidence","evidence_id":%q}`, id), "")
	f := faultOf(t, err)
	if f.Code != fault.EvidenceNotApplicableCode || !strings.Contains(f.Remediation.Action, "no finding") {
		t.Errorf("fault is %s", f.JSON())
	}
}
