package enginetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/analysis"
	"rea/providers/binary"
	"rea/providers/embedded"
	"rea/providers/enginetest/conform"
	"rea/providers/format/native"
	nativetools "rea/providers/native"
	"rea/runtime/session"
)

func recognize(_ string, data []byte, slice string) (session.Recognition, error) {
	im, err := native.Load(data, native.Options{Slice: slice})
	if err != nil {
		return session.Recognition{}, err
	}
	return session.Recognition{
		Kind: model.TargetKind(im.Kind), Format: model.TargetFormat(im.Format), Architecture: model.Architecture(im.Arch), Slice: slice,
	}, nil
}

func openTools(t testing.TB, path string) *Harness {
	return Open(t, embedded.Provider{Version: "test"}, recognize, path, tool.Families{
		Native: nativetools.New(session.Source), Analysis: analysis.New(session.Source), Binary: binary.New(session.Target),
	})
}

// answer calls a tool that must succeed.
func answer[T any](t *testing.T, h *Harness, name, input string) *T {
	t.Helper()
	r := h.Call(t, name, input)
	if r.Err != nil {
		t.Fatalf("%s %s: %v", name, input, r.Err)
	}
	if !json.Valid([]byte(r.Output)) {
		t.Fatalf("%s %s: not JSON: %s", name, input, r.Output)
	}
	return any(r.Result.Output).(*T)
}

func refName(r model.SymbolRef) string {
	if r.Name == nil {
		return ""
	}
	return *r.Name
}

// TestToolsOnARealProgram asks the families about the conformance program and
// compares with its source and with what objdump says.
func TestToolsOnARealProgram(t *testing.T) {
	f := conform.Build(t)
	h := openTools(t, f.Path)

	t.Run("call_path", func(t *testing.T) {
		out := answer[tool.TraceCallPathOutput](t, h, "trace_call_path", `{"start":"main","goal":"add"}`)
		var path []string
		for _, step := range out.Path {
			path = append(path, refName(step.To))
			if from := f.Calls(f.Find(t, refName(step.From))); !from[refName(step.To)] {
				t.Errorf("objdump shows no transfer from %s to %s", refName(step.From), refName(step.To))
			}
		}
		if strings.Join(path, " ") != "tail choose add" {
			t.Errorf("path = %v", path)
		}
	})
	t.Run("call_graph", func(t *testing.T) {
		out := answer[tool.GetCallGraphOutput](t, h, "get_call_graph", `{"procedure":"main","depth":5}`)
		name := map[model.Address]string{}
		for _, n := range out.Nodes {
			name[n.Procedure.Address] = strings.TrimSuffix(refName(n.Procedure), "@plt")
		}
		for _, caller := range conform.Unambiguous() {
			sym := f.Find(t, caller)
			if _, node := name[model.Address(sym.Addr)]; !node {
				t.Errorf("%s is not reached from main", caller)
			}
			for callee := range f.Calls(sym) {
				if callee != caller && !slices.ContainsFunc(out.Edges, func(e tool.GetCallGraphOutputEdge) bool {
					return e.From == model.Address(sym.Addr) && name[e.To] == callee
				}) {
					t.Errorf("the edge from %s to %s is missing", caller, callee)
				}
			}
		}
	})
	t.Run("from_a_word_to_the_code", func(t *testing.T) {
		out := answer[tool.TraceFeatureOutput](t, h, "trace_feature", `{"query":"CONFORMANCE GREETING","caller_depth":2}`)
		var got []string
		for _, p := range out.Procedures {
			got = append(got, fmt.Sprintf("%s %d", refName(p.Procedure), p.Distance))
		}
		if len(got) < 2 || got[0] != "greet 0" || got[1] != "main 1" {
			t.Errorf("procedures = %v", got)
		}
	})
	t.Run("strings_with_users", func(t *testing.T) {
		out := answer[tool.SearchStringsOutput](t, h, "search_strings", `{"pattern":"^conformance (case|greeting)","mode":"regex"}`)
		users := map[string]string{}
		for _, item := range out.Items {
			for _, u := range item.Users {
				users[item.String.Value] += refName(u) + " "
			}
		}
		if users["conformance greeting %d\n"] != "greet " || users["conformance case two"] != "choose " {
			t.Errorf("users = %q", users)
		}
	})
	t.Run("import_by_name", func(t *testing.T) {
		out := answer[tool.FindXrefsToNameOutput](t, h, "find_xrefs_to_name", `{"name":"puts"}`)
		users := map[string]bool{}
		for _, r := range out.Items {
			if r.FromProcedure != nil {
				users[refName(*r.FromProcedure)] = true
			}
		}
		if !users["greet"] || !users["main"] || users["add"] || users["puts"] {
			t.Errorf("users = %v", users)
		}
	})
	t.Run("dossier", func(t *testing.T) {
		out := answer[tool.AnalyzeFunctionOutput](t, h, "analyze_function", `{"procedure":"loop","include_assembly":true}`)
		want := f.Inside(f.Find(t, "loop"))
		var got []model.Address
		for _, in := range out.Assembly.Items {
			got = append(got, in.Address)
		}
		if !slices.Equal(got, want) || out.Figures.Instructions != int64(len(want)) || out.Figures.CyclomaticComplexity < 2 {
			t.Errorf("instructions at %v, want %v; figures %+v", got, want, out.Figures)
		}
		if out.Figures.Callers != 1 || len(out.Callers.Items) != 1 || out.Callers.Items[0].Name != "choose" {
			t.Errorf("callers = %+v", out.Callers)
		}
	})
	t.Run("overview", func(t *testing.T) {
		out := answer[tool.BinaryOverviewOutput](t, h, "binary_overview", `{"limit":50}`)
		if !slices.ContainsFunc(out.Imports, func(i tool.BinaryOverviewOutputImport) bool { return i.Name == "puts" && i.Uses == 2 }) {
			t.Errorf("puts is called from two places: %+v", out.Imports)
		}
		if !slices.ContainsFunc(out.LargestProcedures, func(p model.Procedure) bool {
			return p.Name == "choose" && p.Size == int64(f.WholeSize(f.Find(t, "choose")))
		}) {
			t.Errorf("choose is one of the largest: %+v", out.LargestProcedures)
		}
		if out.Target.Size != int64(len(f.Data)) || out.Counts.Segments != int64(len(f.Loads)) {
			t.Errorf("target %+v, counts %+v", out.Target, out.Counts)
		}
	})
	t.Run("analyst_names_are_shown", func(t *testing.T) {
		answer[tool.SetNamesOutput](t, h, "set_names", fmt.Sprintf(`{"names":[{"address":"%#x","name":"my_loop"}]}`, f.Find(t, "loop").Addr))
		out := answer[tool.ProcedureCalleesOutput](t, h, "procedure_callees", `{"procedure":"choose"}`)
		if !slices.ContainsFunc(out.Items, func(c tool.ProcedureCalleesOutputItem) bool { return c.Procedure.Name == "my_loop" }) {
			t.Errorf("choose calls %+v", out.Items)
		}
		if got := answer[tool.ProcedureAddressOutput](t, h, "procedure_address", `{"procedure":"my_loop"}`); uint64(got.Procedure.Address) != f.Find(t, "loop").Addr {
			t.Errorf("my_loop is at %s", got.Procedure.Address)
		}
		found := answer[tool.SearchProceduresOutput](t, h, "search_procedures", `{"pattern":"my_"}`)
		if found.Total != 1 {
			t.Errorf("found %+v", found.Items)
		}
		answer[tool.SetNamesOutput](t, h, "set_names", fmt.Sprintf(`{"names":[{"address":"%#x","name":""}]}`, f.Find(t, "loop").Addr))
	})
	t.Run("pages_join", func(t *testing.T) {
		var got []string
		for offset := int64(0); ; {
			page := answer[tool.ListProceduresOutput](t, h, "list_procedures", fmt.Sprintf(`{"limit":7,"offset":%d}`, offset))
			for _, p := range page.Items {
				got = append(got, p.Address.String())
			}
			if page.NextOffset == nil {
				if int64(len(got)) != page.Total {
					t.Errorf("%d rows of %d", len(got), page.Total)
				}
				break
			}
			offset = *page.NextOffset
		}
		sorted := slices.Clone(got)
		slices.SortFunc(sorted, func(a, b string) int { return len(a) - len(b) })
		if len(slices.Compact(sorted)) != len(got) {
			t.Errorf("rows come twice: %v", got)
		}
	})
}

// TestVersionsOfAFunction compares functions of two builds whose code lies at
// other addresses.
func TestVersionsOfAFunction(t *testing.T) {
	old := conform.Build(t)
	changed := conform.Build(t, "int n = 0; while (*s)", "int n = 5; while (*s)",
		"KEEP int add(", "KEEP int before(int x) { return x * 77 + 5 % (x + 1); }\nKEEP int add(")
	if old.Find(t, "greet").Addr == changed.Find(t, "greet").Addr {
		t.Fatal("the second build is laid out like the first")
	}
	for _, tt := range []struct {
		function string
		assembly tool.CompareFunctionsOutputDimensionStatus
		status   tool.CompareFunctionsOutputStatus
	}{
		{"greet", tool.CompareFunctionsOutputDimensionStatusUnchanged, tool.CompareFunctionsOutputStatusUnchanged},
		{"add", tool.CompareFunctionsOutputDimensionStatusUnchanged, tool.CompareFunctionsOutputStatusUnchanged},
		{"tail", tool.CompareFunctionsOutputDimensionStatusUnchanged, tool.CompareFunctionsOutputStatusUnchanged},
		{"loop", tool.CompareFunctionsOutputDimensionStatusChanged, tool.CompareFunctionsOutputStatusChanged},
	} {
		in := fmt.Sprintf(`{"procedure":%q,"include_assembly":true}`, tt.function)
		left, right := record(t, old.Path, in), record(t, changed.Path, in)
		out := answer[tool.CompareFunctionsOutput](t, openTools(t, old.Path), "compare_functions", fmt.Sprintf(`{"left":%s,"right":%s,"limit":500}`, left, right))
		var assembly tool.CompareFunctionsOutputDimensionStatus
		for _, d := range out.Dimensions {
			if d.Dimension == "assembly" {
				assembly = d.Status
			}
		}
		if assembly != tt.assembly || out.Status != tt.status || out.FunctionMatch != tool.CompareFunctionsOutputFunctionMatchSameName {
			t.Errorf("%s: assembly %s, status %s, match %s", tt.function, assembly, out.Status, out.FunctionMatch)
			for _, d := range out.Dimensions {
				t.Logf("%s %s +%d -%d", d.Dimension, d.Status, d.Added, d.Removed)
				if d.Reason != nil {
					t.Log("  ", *d.Reason)
				}
			}
			for _, c := range out.Changes {
				text, _ := json.Marshal(map[string]any{"l": c.Left, "r": c.Right})
				t.Logf("  %s %s %s", c.Dimension, c.Change, text)
			}
		}
	}
}

// TestVersionsOfAStrippedFunction: what a function calls and uses has names
// even where it has none.
func TestVersionsOfAStrippedFunction(t *testing.T) {
	old := conform.Build(t)
	changed := conform.Build(t, "KEEP int add(", "KEEP int before(int x) { return x * 77 + 5 % (x + 1); }\nKEEP int add(")
	for name, want := range map[string]tool.CompareFunctionsOutputStatus{
		"greet": tool.CompareFunctionsOutputStatusUnchanged, // calls imports only
		"tail":  tool.CompareFunctionsOutputStatusUnknown,   // calls a function without a name
	} {
		in := func(f *conform.Fixture) string {
			return fmt.Sprintf(`{"procedure":"%#x","include_assembly":true}`, f.Find(t, name).Addr)
		}
		left, right := record(t, old.Stripped, in(old)), record(t, changed.Stripped, in(changed))
		r := openTools(t, old.Stripped).Call(t, "compare_functions", fmt.Sprintf(`{"left":%s,"right":%s,"limit":500}`, left, right))
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		out := r.Result.Output.(*tool.CompareFunctionsOutput)
		if out.Status != want || out.FunctionMatch != tool.CompareFunctionsOutputFunctionMatchUnnamed || out.Total != 0 {
			t.Errorf("%s: status %s, match %s\n%s", name, out.Status, out.FunctionMatch, r.Output)
		}
	}
}

// record is the dossier of a function in the form of a record.
func record(t *testing.T, path, input string) string {
	t.Helper()
	h := openTools(t, path)
	out := h.Call(t, "analyze_function", input)
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	b, release := h.Session.Acquire()
	defer release()
	return fmt.Sprintf(`{"schema_version":2,"evidence_id":"ev_%s","operation":"analyze_function","predicate_type":"p","normalized_result":%s,
		"confidence":"derived","authority":"shipped-artifact","subject":%s,"provider":{"id":"x","name":"x","version":null},"analysis_profile":null,
		"parameters":{},"limitations":[],"locations":[],"evidence_links":[],"environment":null,"raw_result":null}`,
		b.Target.SHA256, out.Output, b.Subject().AppendJSON(nil))
}
