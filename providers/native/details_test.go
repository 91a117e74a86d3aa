package native_test

import (
	"context"
	"errors"
	"testing"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/enginetest"
	"rea/providers/native"
	"rea/runtime/engine"
	"rea/runtime/session"
)

func TestInspectNativeInstruction(t *testing.T) {
	f := enginetest.Sample()
	main := "main"
	at := model.Address(0x404000)
	f.Details = map[model.Address]engine.InstructionDetail{
		0x401004: {
			Instruction: model.Instruction{Address: 0x401004, Bytes: "488b05f52f0000", Mnemonic: "mov", Operands: "rax, qword ptr [rip + 0x2ff5]", Flow: model.FlowNext},
			Size:        7, Procedure: &model.SymbolRef{Address: 0x401000, Name: &main}, Block: &model.AddressRange{Start: 0x401000, End: 0x401010},
			Read: []string{"rip"}, Written: []string{"rax"}, MemoryExpression: "[rip + 0x2ff5]", MemoryAddress: &at, MemoryAccess: "read", MemorySize: 8, Reached: true,
		},
		0x401010: {
			Instruction:      model.Instruction{Address: 0x401010, Bytes: "90", Mnemonic: "lea", Operands: "rax, [rbx]", Flow: model.FlowNext},
			MemoryExpression: "[rbx]", MemoryAccess: "address", Size: 1, Reached: true,
		},
	}
	run(t, f, []call{
		{name: "memory", tool: "inspect_native_instruction", input: `{"address":"401004"}`,
			want: `{"instruction":{"address":"0x401004","bytes":"488b05f52f0000","mnemonic":"mov","operands":"rax, qword ptr [rip + 0x2ff5]","flow":"next","target":null},"architecture":"x86_64","size":7,"procedure":{"address":"0x401000","name":"main"},"block":{"start":"0x401000","end":"0x401010"},"registers_read":["rip"],"registers_written":["rax"],"memory":{"expression":"[rip + 0x2ff5]","address":"0x404000","access":"read","size":8},"immediate":null,"references":[],"in_reached_code":true}`},
		{name: "unknown_address_and_size", tool: "inspect_native_instruction", input: `{"address":"401010"}`,
			want: `{"instruction":{"address":"0x401010","bytes":"90","mnemonic":"lea","operands":"rax, [rbx]","flow":"next","target":null},"architecture":"x86_64","size":1,"procedure":null,"block":null,"registers_read":[],"registers_written":[],"memory":{"expression":"[rbx]","address":null,"access":"address","size":null},"immediate":null,"references":[],"in_reached_code":true}`},
		{name: "not_mapped", tool: "inspect_native_instruction", input: `{"address":"0x10"}`, code: fault.AddressNotMappedCode},
	})
}

func TestInspectNativeDataType(t *testing.T) {
	f := enginetest.Sample()
	size, offset := int64(8), int64(0)
	f.Types = []model.DataType{
		{Name: "struct pair", Kind: model.DataTypeKindStruct, Size: &size, Members: []model.DataTypeMember{{Name: "a", Type: "int", Offset: &offset}}, Source: "DWARF"},
		{Name: "struct pairs", Kind: model.DataTypeKindStruct, Source: "DWARF"},
		{Name: "int", Kind: model.DataTypeKindBase, Source: "DWARF"},
	}
	run(t, f, []call{
		{name: "by_name", tool: "inspect_native_data_type", input: `{"name":"struct pair"}`,
			want: `{"type":{"name":"struct pair","kind":"struct","size":8,"underlying":null,"members":[{"name":"a","type":"int","offset":0,"bit_size":null,"value":null}],"declared_at":null,"source":"DWARF"},"total":1,"offset":0,"next_offset":null,"names":["struct pair"]}`},
		{name: "names", tool: "inspect_native_data_type", input: `{"pattern":"pair","limit":1}`,
			want: `{"type":null,"total":2,"offset":0,"next_offset":1,"names":["struct pair"]}`},
		{name: "all_names", tool: "inspect_native_data_type", input: `{"offset":1}`,
			want: `{"type":null,"total":3,"offset":1,"next_offset":null,"names":["struct pair","struct pairs"]}`},
		{name: "both", tool: "inspect_native_data_type", input: `{"name":"struct pairs","pattern":"pairs"}`,
			want: `{"type":{"name":"struct pairs","kind":"struct","size":null,"underlying":null,"members":[],"declared_at":null,"source":"DWARF"},"total":1,"offset":0,"next_offset":null,"names":["struct pairs"]}`},
		{name: "unknown", tool: "inspect_native_data_type", input: `{"name":"struct"}`, code: fault.DataTypeNotFoundCode},
	})
	plain := enginetest.WithProvider(t, enginetest.Provider{Fake: f, Plain: true}, tool.Families{Native: native.New(session.Source)})
	if r := plain.Call(t, "inspect_native_data_type", `{}`); r.Code != fault.CapabilityUnavailableCode {
		t.Errorf("code = %q (err: %v)", r.Code, r.Err)
	}
}

func TestGapsAreLimitations(t *testing.T) {
	f := enginetest.Sample()
	f.Gaps = map[engine.Facet]engine.Gap{engine.Instructions: {Reason: "no decoder"}, engine.Callees: {Reason: "not indexed"}}
	run(t, f, []call{
		{name: "assembly", tool: "procedure_assembly", input: `{"procedure":"main"}`,
			want:        `{"procedure":{"address":"0x401000","name":"main"},"syntax":"intel","total":null,"offset":0,"next_offset":null,"lines":[]}`,
			limitations: []string{"instructions are unknown: no decoder"}},
		{name: "callees", tool: "procedure_callees", input: `{"procedure":"main"}`,
			want:        `{"procedure":{"address":"0x401000","name":"main"},"total":0,"offset":0,"next_offset":null,"unresolved":0,"items":[]}`,
			limitations: []string{"callees are unknown: not indexed"}},
	})
}

func TestLocations(t *testing.T) {
	h := harness(t, enginetest.Sample())
	for _, tt := range []struct {
		tool, input string
		want        model.EvidenceLocation
	}{
		{"procedure_info", `{"procedure":"main"}`, &model.EvidenceLocationAddressRange{Start: 0x401000, End: 0x401040}},
		{"address_name", `{"address":"0x401000"}`, &model.EvidenceLocationAddress{Address: 0x401000}},
		{"read_bytes", `{"address":"0x404000","length":4}`, &model.EvidenceLocationAddressRange{Start: 0x404000, End: 0x404004}},
	} {
		r := h.Call(t, tt.tool, tt.input)
		if r.Err != nil || len(r.Result.Locations) != 1 || string(r.Result.Locations[0].AppendJSON(nil)) != string(tt.want.AppendJSON(nil)) {
			t.Errorf("%s: locations %v (err: %v)", tt.tool, r.Result, r.Err)
		}
	}
}

func TestNoTargetOpen(t *testing.T) {
	h := harness(t, enginetest.Sample())
	if _, err := h.Session.Close(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"list_documents", "list_procedures", "current_address"} {
		if r := h.Call(t, name, `{}`); r.Code != fault.NoTargetOpenCode {
			t.Errorf("%s: code = %q (err: %v)", name, r.Code, r.Err)
		}
	}
}

func TestCancelledListsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := harness(t, enginetest.Sample())
	for name, input := range map[string]string{
		"list_procedures": `{}`, "list_names": `{}`, "list_strings": `{}`, "search_procedures": `{"pattern":"a"}`, "search_strings": `{"pattern":"a"}`,
		"procedure_info": `{"procedure":"main"}`,
	} {
		if r := h.CallWith(t, ctx, name, input); !errors.Is(r.Err, context.Canceled) {
			t.Errorf("%s: %v", name, r.Err)
		}
	}
}

// FuzzSearch: no pattern and no address breaks a search.
func FuzzSearch(f *testing.F) {
	for _, seed := range []string{"a", "(", "^.*$", `\x{10ffff}`, "(?i)[[:alpha:]]{2,}", "0xZZ", "0900", "\x00", "((a{100}){100}){100}"} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	h := harness(f, enginetest.Sample())
	f.Fuzz(func(t *testing.T, pattern string, regex bool) {
		mode := "literal"
		if regex {
			mode = "regex"
		}
		in := (&tool.SearchStringsInput{Pattern: pattern, Mode: tool.SearchStringsInputMode(mode), Limit: 10}).AppendJSON(nil)
		r := h.Call(t, "search_strings", string(in))
		switch r.Code {
		case "", fault.InvalidRequestCode:
		case fault.InvalidPatternCode:
			if !regex {
				t.Errorf("a literal does not compile: %v", r.Err)
			}
		default:
			t.Errorf("%q: %v", pattern, r.Err)
		}
		r = h.Call(t, "address_name", string((&tool.AddressNameInput{Address: &pattern}).AppendJSON(nil)))
		if r.Code != "" && r.Code != fault.InvalidRequestCode && r.Code != fault.InvalidAddressCode {
			t.Errorf("%q: %v", pattern, r.Err)
		}
	})
}
