package analysis_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/generated/wire"
	"rea/providers/enginetest"
	"rea/runtime/engine"
)

const (
	idA   = "ev_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	idB   = "ev_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	fileA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	fileB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// record makes a record of a call as dispatch would seal it, but for its id.
func record(id, operation, sha256, result string) string {
	return fmt.Sprintf(`{"schema_version":2,"evidence_id":%q,"operation":%q,"predicate_type":"rea:analysis.%s:1","normalized_result":%s,
		"confidence":"derived","authority":"shipped-artifact",
		"subject":{"name":"sample","digest":{"sha256":%q},"format":"elf","architecture":"x86_64","local_path":null},
		"provider":{"id":"fake","name":"fake","version":null},"analysis_profile":null,"parameters":{},"limitations":[],
		"locations":[],"evidence_links":[],"environment":null,"raw_result":null}`, id, operation, operation, result, sha256)
}

// dossier analyses a function of f.
func dossier(t *testing.T, f *enginetest.Fake, input string) string {
	t.Helper()
	r := harness(t, f).Call(t, "analyze_function", input)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	return r.Output
}

// compare compares two dossiers of different files.
func compare(t *testing.T, left, right string) (*tool.CompareFunctionsOutput, enginetest.Reply) {
	t.Helper()
	in := fmt.Sprintf(`{"left":%s,"right":%s,"limit":500}`, record(idA, "analyze_function", fileA, left), record(idB, "analyze_function", fileB, right))
	r := harness(t, enginetest.Sample()).Call(t, "compare_functions", in)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	return r.Result.Output.(*tool.CompareFunctionsOutput), r
}

// statuses is "size unchanged, assembly changed +1 -0, …" of the dimensions that are asked for.
func statuses(out *tool.CompareFunctionsOutput, dimensions ...string) string {
	var text []string
	for _, name := range dimensions {
		for _, d := range out.Dimensions {
			if d.Dimension != name {
				continue
			}
			s := name + " " + string(d.Status)
			if d.Added+d.Removed > 0 {
				s += fmt.Sprintf(" +%d -%d", d.Added, d.Removed)
			}
			text = append(text, s)
		}
	}
	return strings.Join(text, ", ")
}

func changes(out *tool.CompareFunctionsOutput) string {
	var text []string
	for _, c := range out.Changes {
		l, r := "", ""
		if c.Left != nil {
			l = *c.Left
		}
		if c.Right != nil {
			r = *c.Right
		}
		text = append(text, fmt.Sprintf("%s %s %q %q", c.Dimension, c.Change, l, r))
	}
	return strings.Join(text, "\n")
}

// known is the sample without what has no name in main.
func known() *enginetest.Fake {
	f := enginetest.Sample()
	for i := range f.Bodies {
		b := &f.Bodies[i]
		rename(&b.Procedure)
		for j := range b.Callees {
			rename(&b.Callees[j].Procedure)
		}
		for j := range b.Outgoing {
			if b.Outgoing[j].To == 0x401040 {
				b.Outgoing[j].ToName = ptr("helper")
			}
		}
		for j := range b.Instructions {
			if t := b.Instructions[j].Target; t != nil && t.Address == 0x401040 {
				t.Name = ptr("helper")
			}
		}
		if b.Procedure.Name == "main" {
			b.API = &model.NativeAPIAvailable{CallingConvention: "sysv", CallingConventionSource: "abi", SignatureSource: "DWARF", Parameters: []model.LocalVariable{}, Limitations: []string{}}
		}
	}
	return f
}

func rename(p *model.Procedure) {
	if p.Address == 0x401040 {
		p.Name, p.Named = "helper", true
	}
}

func ptr(s string) *string { return &s }

// moved is f with everything in main 0x1000 further up.
func moved(t *testing.T, dossier string) string {
	t.Helper()
	for _, at := range []string{"0x4010", "0x4011", "0x4040", "sub_4010"} {
		dossier = strings.ReplaceAll(dossier, at, strings.Replace(at, "4", "5", 1))
	}
	return dossier
}

const withCode = `{"procedure":"main","include_assembly":true}`

func TestCompareFunctions(t *testing.T) {
	base := dossier(t, known(), withCode)
	all := []string{"size", "signature", "calling_interface", "locals", "control_flow", "callees", "unresolved_calls", "strings", "names", "references", "assembly", "pseudocode", "callers"}

	t.Run("another_address_is_no_change", func(t *testing.T) {
		out, r := compare(t, base, moved(t, base))
		want := "size unchanged, signature unchanged, calling_interface unchanged, locals unchanged, control_flow unchanged, callees unchanged, " +
			"unresolved_calls unchanged, strings unchanged, names unchanged, references unchanged, assembly unchanged, pseudocode unknown, callers unchanged"
		if got := statuses(out, all...); got != want {
			t.Errorf("dimensions:\n got %s\nwant %s", got, want)
		}
		if out.Status != tool.CompareFunctionsOutputStatusUnchanged || out.FunctionMatch != tool.CompareFunctionsOutputFunctionMatchSameName || out.Total != 0 {
			t.Errorf("status %s, match %s, %d changes", out.Status, out.FunctionMatch, out.Total)
		}
		if len(r.Result.Links) != 2 || r.Result.Links[0] != idA || r.Result.Links[1] != idB {
			t.Errorf("links = %v", r.Result.Links)
		}
		if out.Left.EvidenceID != idA || *out.Right.SHA256 != fileB || out.Right.Procedure.Address != 0x501000 {
			t.Errorf("left %+v, right %+v", out.Left, out.Right)
		}
	})
	t.Run("without_code_it_stays_unknown", func(t *testing.T) {
		d := dossier(t, known(), `{"procedure":"main"}`)
		out, r := compare(t, d, d)
		if out.Status != tool.CompareFunctionsOutputStatusUnknown || !strings.Contains(strings.Join(r.Limitations, "\n"), "include_assembly") {
			t.Errorf("status %s, limitations %q", out.Status, r.Limitations)
		}
	})
	t.Run("changed_code", func(t *testing.T) {
		f := known()
		main := &f.Bodies[0]
		main.Procedure.Size = 65
		main.Instructions[0].Operands = "rbx"
		main.Strings = append(main.Strings, model.UsedValue{From: 0x401020, Address: 0x404010, Value: "password"})
		main.Callees = main.Callees[:1]
		main.Blocks[1].Instructions = 2
		out, _ := compare(t, base, dossier(t, f, withCode))
		want := "size changed +1 -1, control_flow changed +1 -1, callees changed +0 -1, strings changed +1 -0, names unchanged, assembly changed +1 -1"
		if got := statuses(out, "size", "control_flow", "callees", "strings", "names", "assembly"); got != want || out.Status != tool.CompareFunctionsOutputStatusChanged {
			t.Errorf("status %s, dimensions:\n got %s\nwant %s", out.Status, got, want)
		}
		wantChanges := `size changed "64 bytes" "65 bytes"
control_flow removed "block of 1 instructions [fallthrough]" ""
control_flow added "" "block of 2 instructions [fallthrough]"
callees removed "puts" ""
strings added "" "password"
assembly removed "push rbp" ""
assembly added "" "push rbx"`
		if got := changes(out); got != wantChanges {
			t.Errorf("changes:\n got %s\nwant %s", got, wantChanges)
		}
	})
	t.Run("blocks_joined_differently", func(t *testing.T) {
		f := known()
		f.Bodies[0].Blocks[0].Successors[0].Address, f.Bodies[0].Blocks[0].Successors[1].Address = 0x401010, 0x401018
		out, _ := compare(t, base, dossier(t, f, withCode))
		if got := statuses(out, "control_flow"); got != "control_flow changed" {
			t.Error(got)
		}
	})
	t.Run("order_of_instructions", func(t *testing.T) {
		f := known()
		in := f.Bodies[0].Instructions
		in[0].Mnemonic, in[0].Operands, in[5].Mnemonic, in[5].Operands = "ret", "", "push", "rbp"
		out, _ := compare(t, base, dossier(t, f, withCode))
		if got := statuses(out, "assembly"); got != "assembly changed +2 -2" {
			t.Error(got)
		}
	})
	t.Run("pages_are_never_unchanged", func(t *testing.T) {
		cut := dossier(t, known(), `{"procedure":"main","include_assembly":true,"limit":1,"max_instructions":3}`)
		out, _ := compare(t, cut, cut)
		want := "control_flow truncated, callees truncated, strings unchanged, references truncated, assembly truncated"
		if got := statuses(out, "control_flow", "callees", "strings", "references", "assembly"); got != want || out.Status != tool.CompareFunctionsOutputStatusTruncated {
			t.Errorf("status %s, dimensions:\n got %s\nwant %s", out.Status, got, want)
		}
	})
	t.Run("pages_of_lists_of_other_lengths", func(t *testing.T) {
		f := known()
		f.Bodies[0].Instructions = append(f.Bodies[0].Instructions, model.Instruction{Address: 0x401040, Bytes: "90", Mnemonic: "nop", Flow: model.FlowNext})
		in := `{"procedure":"main","include_assembly":true,"max_instructions":3}`
		out, _ := compare(t, dossier(t, known(), in), dossier(t, f, in))
		if got := statuses(out, "assembly"); got != "assembly changed +1 -0" {
			t.Error(got)
		}
		if out.Total != 0 {
			t.Errorf("rows of different parts were compared:\n%s", changes(out))
		}
	})
	t.Run("what_has_no_name_is_not_unchanged", func(t *testing.T) {
		d := dossier(t, enginetest.Sample(), withCode)
		out, _ := compare(t, d, moved(t, d))
		want := "callees unknown, references unknown, assembly unknown"
		if got := statuses(out, "callees", "references", "assembly"); got != want || out.Status != tool.CompareFunctionsOutputStatusUnknown {
			t.Errorf("status %s, %s", out.Status, got)
		}
	})
	t.Run("missing_on_one_side", func(t *testing.T) {
		f := known()
		f.Gaps = map[engine.Facet]engine.Gap{engine.Callees: {Reason: "not indexed"}}
		out, _ := compare(t, base, dossier(t, f, withCode))
		if got := statuses(out, "callees"); got != "callees unknown" || out.Status != tool.CompareFunctionsOutputStatusUnknown {
			t.Errorf("status %s, %s", out.Status, got)
		}
	})
	t.Run("names", func(t *testing.T) {
		out, _ := compare(t, base, dossier(t, known(), `{"procedure":"foo::bar(int)"}`))
		if out.FunctionMatch != tool.CompareFunctionsOutputFunctionMatchDifferentName {
			t.Errorf("match = %s", out.FunctionMatch)
		}
		out, _ = compare(t, base, dossier(t, enginetest.Sample(), `{"procedure":"0x401040"}`))
		if out.FunctionMatch != tool.CompareFunctionsOutputFunctionMatchUnnamed {
			t.Errorf("match = %s", out.FunctionMatch)
		}
	})
}

func TestCompareFunctionsOfOneFile(t *testing.T) {
	d := dossier(t, enginetest.Sample(), withCode)
	in := fmt.Sprintf(`{"left":%s,"right":%s}`, record(idA, "analyze_function", fileA, d), record(idA, "analyze_function", fileA, d))
	r := harness(t, enginetest.Sample()).Call(t, "compare_functions", in)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	out := r.Result.Output.(*tool.CompareFunctionsOutput)
	if got := statuses(out, "callees", "assembly"); got != "callees unchanged, assembly unchanged" {
		t.Errorf("addresses of the same bytes are not compared: %s", got)
	}
	if r.Result.Subject == nil || r.Result.Subject.Digest.SHA256 != fileA || len(r.Result.Links) != 1 {
		t.Errorf("subject = %v, links = %v", r.Result.Subject, r.Result.Links)
	}
}

func TestCompareFunctionsRefuses(t *testing.T) {
	good := record(idA, "analyze_function", fileA, dossier(t, enginetest.Sample(), withCode))
	for _, tt := range []struct {
		name, right string
		code        fault.Code
	}{
		{"another_operation", record(idB, "binary_overview", fileB, `{}`), fault.EvidenceNotApplicableCode},
		{"not_a_dossier", record(idB, "analyze_function", fileB, `{"procedure":1}`), fault.EvidenceIntegrityMismatchCode},
		{"null", record(idB, "analyze_function", fileB, `null`), fault.EvidenceIntegrityMismatchCode},
		{"unresolved_reference", fmt.Sprintf(`{"kind":"retained-evidence","evidence_id":%q}`, idB), fault.EvidenceNotFoundCode},
		{"number", `7`, fault.InvalidRequestCode},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := harness(t, enginetest.Sample()).Call(t, "compare_functions", fmt.Sprintf(`{"left":%s,"right":%s}`, good, tt.right))
			if r.Code != tt.code {
				t.Errorf("code = %q, want %q (err: %v)", r.Code, tt.code, r.Err)
			}
		})
	}
}

// FuzzCompareFunctions feeds dossiers that satisfy the contract and contradict
// themselves: blocks in circles, successors nowhere, pages beyond their total.
func FuzzCompareFunctions(f *testing.F) {
	seed := harness(f, enginetest.Sample()).Call(f, "analyze_function", withCode).Output
	f.Add(seed, seed)
	f.Add(strings.ReplaceAll(seed, "0x401018", "0x401000"), strings.ReplaceAll(seed, `"total":3`, `"total":1`))
	f.Add(strings.ReplaceAll(seed, `"rdi, [rip + 0x2ff5]"`, `"#0x0, rip - 0x1"`), strings.ReplaceAll(seed, `"offset":0`, `"offset":9`))
	h := harness(f, enginetest.Sample())
	f.Fuzz(func(t *testing.T, left, right string) {
		for _, d := range []string{left, right} {
			var out tool.AnalyzeFunctionOutput
			if !json.Valid([]byte(d)) || wire.Decode([]byte(d), wire.RecordDepth, &out, (*tool.AnalyzeFunctionOutput).DecodeJSON) != nil {
				return
			}
		}
		in := fmt.Sprintf(`{"left":%s,"right":%s}`, record(idA, "analyze_function", fileA, left), record(idB, "analyze_function", fileB, right))
		if r := h.Call(t, "compare_functions", in); r.Err != nil {
			t.Fatal(r.Err)
		}
	})
}
