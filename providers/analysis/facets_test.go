package analysis_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/analysis"
	"rea/providers/enginetest"
	"rea/runtime/engine"
	"rea/runtime/session"
)

const lacking = `{"state":"unavailable","reason":"the bound engine fake does not supply %s","remediation":"Open the target with an engine that does; see binary_session analysis_provider_candidates."}`

// An engine that can do nothing still has the session's notes.
func TestContextWithoutCapabilities(t *testing.T) {
	f := enginetest.Sample()
	f.Abilities = []model.EngineCapability{}
	run(t, f, []call{
		{name: "every_facet_on_its_own", tool: "inspect_address_context", input: `{"address":"0x401000"}`,
			want: `{"result":{"address":"0x401000","document":"sample","name":` + fmt.Sprintf(lacking, "names") + `,"procedure":` + fmt.Sprintf(lacking, "functions") +
				`,"comment":{"state":"available","value":null},"inline_comment":{"state":"available","value":null},"bookmarks":{"state":"available","value":[]},` +
				`"section":` + fmt.Sprintf(lacking, "segments") + `,"string":` + fmt.Sprintf(lacking, "strings") + `}}`},
		{name: "any_address", tool: "inspect_address_context", input: `{"address":"0x1"}`,
			want: `{"result":{"address":"0x1","document":"sample","name":` + fmt.Sprintf(lacking, "names") + `,"procedure":` + fmt.Sprintf(lacking, "functions") +
				`,"comment":{"state":"available","value":null},"inline_comment":{"state":"available","value":null},"bookmarks":{"state":"available","value":[]},` +
				`"section":` + fmt.Sprintf(lacking, "segments") + `,"string":` + fmt.Sprintf(lacking, "strings") + `}}`},
		{name: "cursor_without_names", tool: "get_navigation_context", input: `{}`,
			want: `{"result":{"mode":"current_selection","document":"sample","address":"0x401000","name":null,"procedure":null,"modes":{"current_selection":{"available":true,"reason":null},"explicit_document":{"available":true,"reason":null}}}}`},
	})
}

func TestDossierWithGaps(t *testing.T) {
	f := enginetest.Sample()
	f.Gaps = map[engine.Facet]engine.Gap{
		engine.Callees:    {Reason: "calls are not indexed"},
		engine.Pseudocode: {Reason: "no decompiler", Remediation: "Bind one."},
		engine.API:        {Reason: "no types", Remediation: "Add them."},
	}
	r := harness(t, f).Call(t, "analyze_function", `{"procedure":"main"}`)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	out := r.Result.Output.(*tool.AnalyzeFunctionOutput)
	if out.Callees.Total != nil || out.Callees.Items == nil || len(out.Callees.Items) != 0 || out.Callers.Total == nil {
		t.Errorf("callees = %+v", out.Callees)
	}
	if p, ok := out.Pseudocode.(*model.Unavailable); !ok || p.Reason != "no decompiler" || p.Remediation != "Bind one." {
		t.Errorf("pseudocode = %+v", out.Pseudocode)
	}
	if p, ok := out.NativeAPI.(*model.Unavailable); !ok || p.Reason != "no types" {
		t.Errorf("native_api = %+v", out.NativeAPI)
	}
	if strings.Join(r.Limitations, "|") != "callees are unknown: calls are not indexed" {
		t.Errorf("limitations = %q", r.Limitations)
	}
}

func TestPseudocode(t *testing.T) {
	f := enginetest.Sample()
	code := "int 😀 = 1;"
	f.Bodies[0].Pseudocode = &code
	h := harness(t, f)
	r := h.Call(t, "analyze_function", `{"procedure":"main","pseudocode_offset":2,"max_pseudocode_chars":3}`)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	page := r.Result.Output.(*tool.AnalyzeFunctionOutput).Pseudocode.(*model.PseudocodeFacetAvailable)
	// The third unit of the page would be half of a character.
	if page.Text != "t " || page.Offset != 2 || page.TotalChars != 11 || page.NextOffset == nil || *page.NextOffset != 4 {
		t.Errorf("page = %+v", page)
	}
	got := h.Call(t, "batch_decompile", `{"procedures":["main","nope","foo::bar(int)"]}`)
	if got.Err != nil {
		t.Fatal(got.Err)
	}
	batch := got.Result.Output.(*tool.BatchDecompileOutput)
	var items []string
	for _, item := range batch.Items {
		switch item := item.(type) {
		case *tool.BatchDecompileOutputItemOk:
			items = append(items, *item.Procedure.Name+": "+item.Pseudocode)
		case *tool.BatchDecompileOutputItemError:
			items = append(items, item.Selector+": "+item.Code)
		}
	}
	want := "main: int 😀 = 1;, nope: procedure_not_found, foo::bar(int): capability_unavailable"
	if strings.Join(items, ", ") != want || batch.Succeeded != 1 || batch.Failed != 2 {
		t.Errorf("batch = %q, %d succeeded, %d failed", items, batch.Succeeded, batch.Failed)
	}
}

// A string that only a table in data points to leads to the code that reads the table.
func TestFeatureThroughPointer(t *testing.T) {
	f := enginetest.Sample()
	f.StringList = append(f.StringList, model.StringItem{Address: 0x4040a0, Value: "verbose", Encoding: model.StringEncodingAscii, ByteLength: 7, Uses: 1},
		model.StringItem{Address: 0x4040b0, Value: "verbosity", Encoding: model.StringEncodingAscii, ByteLength: 9, Uses: 1})
	f.Uses = append(f.Uses,
		model.Reference{From: 0x404060, To: 0x4040a0, Kind: model.ReferenceKindPointer},
		model.Reference{From: 0x404068, To: 0x4040b0, Kind: model.ReferenceKindPointer},
		model.Reference{From: 0x401044, To: 0x404060, Kind: model.ReferenceKindRead, FromProcedure: &model.SymbolRef{Address: 0x401040, Name: ptr("sub_401040")}})
	r := harness(t, f).Call(t, "trace_feature", `{"query":"verbos"}`)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	out := r.Result.Output.(*tool.TraceFeatureOutput)
	var got []string
	for _, p := range out.Procedures {
		got = append(got, fmt.Sprintf("%s %d %d", *p.Procedure.Name, p.Score, p.Distance))
	}
	if strings.Join(got, ", ") != "sub_401040 1 1, main 1 2" {
		t.Errorf("procedures = %v", got)
	}
	if !strings.Contains(strings.Join(out.ResidualUnknowns, "\n"), "matches that only data refers to: 1;") {
		t.Errorf("residual_unknowns = %q", out.ResidualUnknowns)
	}
}

func TestInspectNativeAPI(t *testing.T) {
	f := enginetest.Sample()
	f.Bodies[0].API = &model.NativeAPIAvailable{
		CallingConvention: "sysv", CallingConventionSource: "platform", SignatureSource: "DWARF", Signature: ptr("int main(void)"),
		Parameters:  []model.LocalVariable{{Name: "a", Parameter: true, Source: "registers"}},
		Limitations: []string{"vector arguments are not seen"},
	}
	f.Gaps = map[engine.Facet]engine.Gap{}
	run(t, f, []call{
		{name: "available", tool: "inspect_native_api", input: `{"procedure":"main"}`,
			want: `{"procedure":{"address":"0x401000","name":"main"},"boundary":{"state":"available","calling_convention":"sysv","calling_convention_source":"platform","signature":"int main(void)","signature_source":"DWARF","return_type":null,"parameters":[{"name":"a","type":null,"location":null,"parameter":true,"source":"registers"}],"limitations":["vector arguments are not seen"]},"residual_unknowns":["the return type","the type of parameter a","vector arguments are not seen"]}`},
		{name: "unavailable", tool: "inspect_native_api", input: `{"procedure":"foo::bar(int)"}`,
			want: `{"procedure":{"address":"0x401060","name":"_ZN3foo3barEi"},"boundary":{"state":"unavailable","reason":"the bound engine does not supply it","remediation":"Open the target with an engine that does; see binary_session analysis_provider_candidates."},"residual_unknowns":["the whole calling interface: the bound engine does not supply it"]}`},
	})
}

func TestClassesAndTypes(t *testing.T) {
	f := enginetest.Sample()
	f.Classes = []model.ObjCClass{
		{Name: "AppDelegate", Address: 0x404000, Superclass: ptr("NSObject"), MethodCount: 1, Methods: []model.ObjCClassMethod{{Selector: "run", Implementation: addr(0x401000)}}},
		{Name: "ViewController", Address: 0x404010},
	}
	f.Protocols = []model.ObjCProtocol{{Name: "Runs", Address: 0x404020, Methods: []model.ObjCProtocolMethod{{Selector: "run", Required: true}}}}
	f.SwiftList = []model.SwiftType{
		{Name: "App.Model", Kind: model.SwiftTypeKindClass, Address: 0x404030},
		{Name: "App.Point", Kind: model.SwiftTypeKindStruct, Address: 0x404040, Fields: []model.SwiftTypeField{{Name: "x", Type: ptr("Int")}}},
		{Name: "Other", Kind: model.SwiftTypeKindStruct, Address: 0x404050},
	}
	f.CppList = []model.CppClass{
		{Name: "Shape", Mangled: "5Shape", TypeInfo: 0x404060, ABI: model.CppClassABIItanium, Derived: []string{"Square"}},
		{Name: "Square", Mangled: "6Square", TypeInfo: 0x404070, ABI: model.CppClassABIItanium, Bases: []model.CppClassBase{{Name: "Shape", TypeInfo: addr(0x404060), Public: true}},
			Vtables: []model.CppClassVtable{{Address: 0x404080, MethodCount: 1, Methods: []model.CppClassVtableMethod{{Slot: 0x404080, Implementation: addr(0x401000), Name: ptr("area")}}}}},
	}
	f.Flow = engine.Values{Scope: "one block", Values: []model.TracedValue{
		{Register: "rdi", State: model.TracedValueStateConstant, Candidates: []model.TracedValueCandidate{{Value: "0x1"}}, Expression: "1", Definitions: []model.Address{0x401000}},
		{Register: "rsi", State: model.TracedValueStateUnknown, Expression: "?", Reason: ptr("loaded")},
	}}
	run(t, f, []call{
		{name: "classes_without_methods", tool: "get_objc_classes", input: `{"pattern":"DELEGATE"}`,
			want: `{"total":1,"offset":0,"next_offset":null,"items":[{"name":"AppDelegate","address":"0x404000","superclass":"NSObject","protocols":[],"method_count":1,"categories":[],"methods":[]}]}`},
		{name: "classes_with_methods", tool: "get_objc_classes", input: `{"include_methods":true,"limit":1}`,
			want: `{"total":2,"offset":0,"next_offset":1,"items":[{"name":"AppDelegate","address":"0x404000","superclass":"NSObject","protocols":[],"method_count":1,"categories":[],"methods":[{"selector":"run","class_method":false,"types":null,"implementation":"0x401000","category":null}]}]}`},
		{name: "protocols", tool: "get_objc_protocols", input: `{}`,
			want: `{"total":1,"offset":0,"next_offset":null,"items":[{"name":"Runs","address":"0x404020","protocols":[],"methods":[{"selector":"run","class_method":false,"required":true,"types":null}]}]}`},
		{name: "swift_by_kind", tool: "analyze_swift_types", input: `{"pattern":"app.","kind":"struct"}`,
			want: `{"total":1,"offset":0,"next_offset":null,"by_kind":{"class":1,"struct":1,"enum":0,"protocol":0},"items":[{"name":"App.Point","kind":"struct","address":"0x404040","fields":[{"name":"x","type":"Int"}],"conformances":[]}]}`},
		{name: "cpp_classes", tool: "get_cpp_classes", input: `{"limit":1}`,
			want:        `{"total":2,"offset":0,"next_offset":1,"items":[{"name":"Shape","mangled":"5Shape","type_info":"0x404060","abi":"itanium","bases":[],"derived":["Square"],"vtables":[]}]}`,
			limitations: []string{withoutRTTI}},
		{name: "cpp_class_without_methods", tool: "get_cpp_classes", input: `{"pattern":"square"}`,
			want:        `{"total":1,"offset":0,"next_offset":null,"items":[{"name":"Square","mangled":"6Square","type_info":"0x404070","abi":"itanium","bases":[{"name":"Shape","type_info":"0x404060","offset":0,"virtual":false,"public":true}],"derived":[],"vtables":[{"address":"0x404080","offset":0,"method_count":1,"methods":[]}]}]}`,
			limitations: []string{withoutRTTI}},
		{name: "cpp_class_with_methods", tool: "get_cpp_classes", input: `{"pattern":"square","include_methods":true}`,
			want:        `{"total":1,"offset":0,"next_offset":null,"items":[{"name":"Square","mangled":"6Square","type_info":"0x404070","abi":"itanium","bases":[{"name":"Shape","type_info":"0x404060","offset":0,"virtual":false,"public":true}],"derived":[],"vtables":[{"address":"0x404080","offset":0,"method_count":1,"methods":[{"slot":"0x404080","implementation":"0x401000","name":"area"}]}]}]}`,
			limitations: []string{withoutRTTI}},
		{name: "one_register", tool: "trace_native_values", input: `{"address":"0x401004","register":"rdi"}`,
			want:        `{"address":"0x401004","procedure":null,"values":[{"register":"rdi","state":"constant","candidates":[{"value":"0x1","name":null,"string":null}],"expression":"1","definitions":["0x401000"],"reason":null}],"scope":"one block"}`,
			limitations: []string{"values are followed inside one procedure only"}},
		{name: "values_nowhere", tool: "trace_native_values", input: `{"address":"0x1"}`, code: fault.AddressNotMappedCode},
	})
}

const withoutRTTI = "classes without run-time type information, such as those compiled with -fno-rtti or /GR-, are not listed"

func addr(a model.Address) *model.Address { return &a }

// An engine that states a capability and lacks its methods gives the same fault
// as one that does not state it.
func TestMissingMethods(t *testing.T) {
	h := enginetest.WithProvider(t, enginetest.Provider{Fake: enginetest.Sample(), Plain: true}, tool.Families{Analysis: analysis.New(session.Source)})
	for name, input := range map[string]string{
		"get_objc_classes": `{}`, "get_objc_protocols": `{}`, "analyze_swift_types": `{}`, "get_cpp_classes": `{}`, "trace_native_values": `{"address":"0x401000"}`,
	} {
		if r := h.Call(t, name, input); r.Code != fault.CapabilityUnavailableCode {
			t.Errorf("%s: code = %q (err: %v)", name, r.Code, r.Err)
		}
	}
}

// chain is a program of n procedures; each calls the next two.
func chain(n int) *enginetest.Fake {
	f := &enginetest.Fake{ID: "fake", DocumentList: []string{"chain"}}
	at := func(i int) model.Address { return model.Address(0x1000 + i*16) }
	for i := range n {
		f.Bodies = append(f.Bodies, engine.Body{
			Procedure: model.Procedure{Address: at(i), Name: fmt.Sprintf("f%d", i), Named: true, Size: 16, Kind: model.ProcedureKindFunction, Source: model.StartSourceSymbol},
			Ranges:    []model.AddressRange{{Start: at(i), End: at(i) + 16}},
		})
	}
	for i := range n {
		for _, j := range []int{i + 1, i + 2} {
			if j < n {
				f.Bodies[i].Callees = append(f.Bodies[i].Callees, engine.Call{Procedure: f.Bodies[j].Procedure, Sites: []model.Address{at(i) + 1}, Kinds: []model.ReferenceKind{model.ReferenceKindCall}})
				f.Bodies[j].Callers = append(f.Bodies[j].Callers, engine.Call{Procedure: f.Bodies[i].Procedure, Sites: []model.Address{at(i) + 1}, Kinds: []model.ReferenceKind{model.ReferenceKindCall}})
			}
		}
	}
	return f
}

// Every procedure is read once, whatever the shape of the graph.
func TestGraphsReadEachBodyOnce(t *testing.T) {
	const n = 1000
	for _, tt := range []struct {
		tool, input string
		most        int64
	}{
		{"get_call_graph", `{"procedure":"f0","depth":10}`, 21},
		{"get_call_graph", `{"procedure":"f0","depth":10,"max_nodes":1}`, 21},
		{"trace_call_path", `{"start":"f0","goal":"f40","max_depth":50}`, 41},
		{"trace_call_path", `{"start":"f999","direction":"backward","max_depth":50,"max_nodes":10}`, 10},
		{"trace_feature", `{"query":"f99","caller_depth":5}`, 100},
		{"binary_overview", `{}`, n},
	} {
		f := chain(n)
		r := harness(t, f).Call(t, tt.tool, tt.input)
		if r.Err != nil {
			t.Errorf("%s: %v", tt.tool, r.Err)
		}
		if got := f.BodyReads.Load(); got > tt.most {
			t.Errorf("%s %s reads %d bodies, at most %d are needed", tt.tool, tt.input, got, tt.most)
		}
	}
}

func TestGraphBounds(t *testing.T) {
	f := chain(100)
	r := harness(t, f).Call(t, "get_call_graph", `{"procedure":"f0","depth":10,"max_nodes":5}`)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	out := r.Result.Output.(*tool.GetCallGraphOutput)
	// Ten levels of at most two steps reach f0…f20.
	if len(out.Nodes) != 5 || !out.Truncated || out.OmittedNodes == nil || *out.OmittedNodes != 16 {
		t.Errorf("%d nodes, omitted %v", len(out.Nodes), out.OmittedNodes)
	}
	known := map[model.Address]bool{}
	for i, n := range out.Nodes {
		if i > 0 && n.Depth < out.Nodes[i-1].Depth {
			t.Errorf("nodes are not in order of depth: %+v", out.Nodes)
		}
		known[n.Procedure.Address] = true
	}
	for _, e := range out.Edges {
		if !known[e.From] || !known[e.To] {
			t.Errorf("an edge leads to a procedure that is no node: %+v", e)
		}
	}
	whole := harness(t, chain(100)).Call(t, "get_call_graph", `{"procedure":"f0","depth":10,"max_nodes":50}`).Result.Output.(*tool.GetCallGraphOutput)
	for i, n := range out.Nodes {
		if whole.Nodes[i].Procedure.Address != n.Procedure.Address || whole.Nodes[i].Depth != n.Depth {
			t.Errorf("node %d of the small graph is another than that of the large one", i)
		}
	}
}

func TestCancelledCallsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, input := range map[string]string{
		"get_call_graph": `{"procedure":"f0"}`, "trace_call_path": `{"start":"f0"}`, "trace_feature": `{"query":"f"}`,
		"find_xrefs_to_name": `{"name":"f1"}`, "binary_overview": `{}`, "analyze_function": `{"procedure":"f0"}`, "batch_decompile": `{"procedures":["f0","f1"]}`,
	} {
		r := harness(t, chain(2000)).CallWith(t, ctx, name, input)
		if !errors.Is(r.Err, context.Canceled) {
			t.Errorf("%s: %v", name, r.Err)
		}
	}
}

func TestRepeatedCallsAgree(t *testing.T) {
	for name, input := range map[string]string{
		"get_call_graph": `{"procedure":"main","depth":10}`, "trace_feature": `{"query":"s","caller_depth":5}`, "binary_overview": `{"detail":"detailed"}`,
		"find_xrefs_to_name": `{"name":"puts"}`, "analyze_function": `{"procedure":"main","include_assembly":true}`,
	} {
		first := harness(t, enginetest.Sample()).Call(t, name, input)
		for range 5 {
			if again := harness(t, enginetest.Sample()).Call(t, name, input); again.Output != first.Output || first.Err != nil {
				t.Errorf("%s: another answer (err: %v)\n%s\n%s", name, first.Err, first.Output, again.Output)
			}
		}
	}
}

func BenchmarkCallGraph(b *testing.B) {
	h := harness(b, chain(2000))
	for b.Loop() {
		if r := h.Call(b, "get_call_graph", `{"procedure":"f0","depth":10,"max_nodes":2000}`); r.Err != nil {
			b.Fatal(r.Err)
		}
	}
}
