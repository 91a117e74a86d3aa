package native_test

import (
	"testing"

	"rea/generated/fault"
	"rea/providers/enginetest"
)

func TestProcedures(t *testing.T) {
	run(t, enginetest.Sample(), []call{
		{name: "by_readable_name", tool: "procedure_address", input: `{"procedure":"foo::bar(int)"}`,
			want: `{"procedure":{"address":"0x401060","name":"_ZN3foo3barEi"}}`},
		{name: "by_inner_address", tool: "procedure_address", input: `{"procedure":"0x401050"}`,
			want: `{"procedure":{"address":"0x401040","name":"sub_401040"}}`},
		{name: "unknown_name", tool: "procedure_address", input: `{"procedure":"nope"}`,
			code: fault.ProcedureNotFoundCode},
		{name: "two_of_the_name", tool: "procedure_address", input: `{"procedure":"twice"}`,
			code: fault.AmbiguousProcedureCode},
		{name: "address_in_no_procedure", tool: "procedure_address", input: `{"procedure":"0x404000"}`,
			code: fault.ProcedureNotFoundCode},
		{name: "bad_address", tool: "procedure_address", input: `{"procedure":"0xZZ"}`,
			code: fault.ProcedureNotFoundCode},
		{name: "assembly_page", tool: "procedure_assembly", input: `{"procedure":"main","limit":2,"offset":1}`,
			want: `{"procedure":{"address":"0x401000","name":"main"},"syntax":"intel","total":6,"offset":1,"next_offset":3,"lines":["0x401004  lea rdi, [rip + 0x2ff5]  ; usage: %s","0x40100c  je 0x401018"]}`},
		{name: "assembly_behind_the_end", tool: "procedure_assembly", input: `{"procedure":"main","offset":100}`,
			want: `{"procedure":{"address":"0x401000","name":"main"},"syntax":"intel","total":6,"offset":100,"next_offset":null,"lines":[]}`},
		{name: "instructions_page", tool: "read_function_instructions", input: `{"procedure":"main","limit":1,"offset":2}`,
			want: `{"procedure":{"address":"0x401000","name":"main"},"syntax":"intel","total":6,"offset":2,"next_offset":3,"items":[{"address":"0x40100c","bytes":"740a","mnemonic":"je","operands":"0x401018","flow":"conditional_jump","target":{"address":"0x401018","name":null}}]}`},
		{name: "callees", tool: "procedure_callees", input: `{"procedure":"main"}`,
			want: `{"procedure":{"address":"0x401000","name":"main"},"total":2,"offset":0,"next_offset":null,"unresolved":0,"items":[{"procedure":{"address":"0x401040","name":"sub_401040","demangled":null,"named":false,"size":32,"kind":"function","source":"call_target","returns":true},"sites":2,"kinds":["call"]},{"procedure":{"address":"0x401100","name":"puts","demangled":null,"named":true,"size":16,"kind":"import_stub","source":"import","returns":true},"sites":1,"kinds":["call"]}]}`},
		{name: "callees_may_be_more", tool: "procedure_callees", input: `{"procedure":"foo::bar(int)"}`,
			want:        `{"procedure":{"address":"0x401060","name":"_ZN3foo3barEi"},"total":1,"offset":0,"next_offset":null,"unresolved":1,"items":[{"procedure":{"address":"0x401000","name":"main","demangled":null,"named":true,"size":64,"kind":"function","source":"symbol","returns":true},"sites":1,"kinds":["call"]}]}`,
			limitations: []string{"1 computed transfer has no known target; there may be more callees"}},
		{name: "callers_page", tool: "procedure_callers", input: `{"procedure":"puts","limit":1}`,
			want:        `{"procedure":{"address":"0x401100","name":"puts"},"total":2,"offset":0,"next_offset":1,"unresolved":1,"items":[{"procedure":{"address":"0x401000","name":"main","demangled":null,"named":true,"size":64,"kind":"function","source":"symbol","returns":true},"sites":1,"kinds":["call"]}]}`,
			limitations: []string{"in the whole program, 1 computed transfer has no known target; there may be more callers"}},
		{name: "info", tool: "procedure_info", input: `{"procedure":"main"}`,
			want: `{"procedure":{"address":"0x401000","name":"main","demangled":null,"named":true,"size":64,"kind":"function","source":"symbol","returns":true},"ranges":[{"start":"0x401000","end":"0x401040"}],"classification":{"external":false,"thunk":false,"thunk_target":null,"provenance":"symbol"},"basic_blocks":3,"instructions":6,"callers":1,"callees":2,"signature":"int main(void)","source_file":{"path":"main.c","line":3},"locals":[{"name":"n","type":"int","location":"rbp-0x14","parameter":false,"source":"DWARF"}],"unresolved_transfers":0}`},
		{name: "info_of_a_stripped_one", tool: "procedure_info", input: `{"procedure":"0x401040"}`,
			want: `{"procedure":{"address":"0x401040","name":"sub_401040","demangled":null,"named":false,"size":32,"kind":"function","source":"call_target","returns":true},"ranges":[{"start":"0x401040","end":"0x401060"}],"classification":{"external":false,"thunk":false,"thunk_target":null,"provenance":"call_target"},"basic_blocks":1,"instructions":1,"callers":1,"callees":1,"signature":null,"source_file":null,"locals":[],"unresolved_transfers":0}`},
		{name: "references_out", tool: "procedure_references", input: `{"procedure":"main","kind":"call"}`,
			want: `{"procedure":{"address":"0x401000","name":"main"},"direction":"outgoing","total":2,"offset":0,"next_offset":null,"items":[{"from":"0x401010","to":"0x401040","kind":"call","from_procedure":{"address":"0x401000","name":"main"},"to_name":"sub_401040"},{"from":"0x401018","to":"0x401100","kind":"call","from_procedure":{"address":"0x401000","name":"main"},"to_name":"puts"}]}`},
		{name: "references_in", tool: "procedure_references", input: `{"procedure":"main","direction":"incoming"}`,
			want: `{"procedure":{"address":"0x401000","name":"main"},"direction":"incoming","total":1,"offset":0,"next_offset":null,"items":[{"from":"0x401068","to":"0x401000","kind":"call","from_procedure":{"address":"0x401060","name":"_ZN3foo3barEi"},"to_name":"main"}]}`},
		{name: "targets_of_a_state", tool: "resolve_native_call_targets", input: `{"procedure":"0x401060","state":"unresolved"}`,
			want: `{"procedure":{"address":"0x401060","name":"_ZN3foo3barEi"},"total":1,"offset":0,"next_offset":null,"resolved":1,"unresolved":1,"items":[{"address":"0x401070","kind":"indirect_call","state":"unresolved","targets":[],"method":"none","operand":"rax","reason":"rax comes from a parameter"}]}`},
		{name: "targets", tool: "resolve_native_call_targets", input: `{"procedure":"0x401060"}`,
			want: `{"procedure":{"address":"0x401060","name":"_ZN3foo3barEi"},"total":2,"offset":0,"next_offset":null,"resolved":1,"unresolved":1,"items":[{"address":"0x401068","kind":"call","state":"resolved","targets":[{"address":"0x401000","name":"main"}],"method":"direct","operand":"0x401000","reason":null},{"address":"0x401070","kind":"indirect_call","state":"unresolved","targets":[],"method":"none","operand":"rax","reason":"rax comes from a parameter"}]}`},
		{name: "no_pseudocode", tool: "procedure_pseudo_code", input: `{"procedure":"main"}`,
			want:        `{"procedure":{"address":"0x401000","name":"main"},"pseudocode":null}`,
			limitations: []string{"the engine gave no pseudocode and no reason"}},
	})
}
