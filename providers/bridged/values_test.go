package bridged

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rea/generated/model"
	"rea/runtime/bridge/facts"
)

// A function in p-code:
//
//	0x10 RAX = COPY 5            0x14 RAX = RAX + 3
//	0x18 loop RBX = phi(1, RBX)  0x1c RCX = phi(1, 2)
//	0x20 RDX = [global]          0x24 RSI = result of a call
//	0x28 RDI = RSP - 0x18        0x2c uses everything
func sampleFlow() *flow {
	reg := func(id int, name string, input bool) facts.Varnode {
		return facts.Varnode{ID: id, Space: facts.SpaceRegister, Size: 8, Register: name, Input: input}
	}
	constant := func(id int, v uint64) facts.Varnode {
		return facts.Varnode{ID: id, Space: facts.SpaceConstant, Offset: v, Size: 8}
	}
	f := newFlow()
	f.ops = []facts.Op{
		{Address: 0x10, Code: "COPY", Out: 1, In: []int{0}},
		{Address: 0x14, Code: "INT_ADD", Out: 3, In: []int{1, 2}},
		{Address: 0x18, Code: "MULTIEQUAL", Out: 5, In: []int{4, 6}},
		{Address: 0x19, Code: "INT_ADD", Out: 6, In: []int{5, 4}},
		{Address: 0x1c, Code: "MULTIEQUAL", Out: 8, In: []int{4, 7}},
		{Address: 0x20, Code: "COPY", Out: 10, In: []int{9}},
		{Address: 0x24, Code: "CALL", Out: 12, In: []int{11, 1}},
		{Address: 0x28, Code: "INT_SUB", Out: 14, In: []int{13, 15}},
		{Address: 0x2a, Code: "INT_SEXT", Out: 17, In: []int{18}},
		{Address: 0x2c, Code: "CALL", Out: -1, In: []int{11, 3, 6, 8, 10, 12, 14, 16, 17, 99}},
		{Address: 0x2c, Code: "COPY", Out: 20, In: []int{3}},
		{Address: 0x2c, Code: "COPY", Out: 21, In: []int{20}},
	}
	f.build([]facts.Varnode{
		constant(0, 5), reg(1, "RAX", false), constant(2, 3), reg(3, "RAX", false), constant(4, 1), reg(5, "RBX", false), reg(6, "RBX", false),
		constant(7, 2), reg(8, "RCX", false), {ID: 9, Space: facts.SpaceMemory, Offset: 0x4000, Size: 8}, reg(10, "RDX", false), constant(11, 0x900),
		reg(12, "RSI", false), reg(13, "RSP", true), reg(14, "RDI", false), constant(15, 0x18), {ID: 16, Space: facts.SpaceRegister, Size: 8, Register: "R8", Variable: "param_5", Input: true},
		reg(17, "R9", false), constant(18, 0xffff), reg(20, "R10", false), reg(21, "R11", false),
	})
	return f
}

func TestTrace(t *testing.T) {
	f := sampleFlow()
	type row struct {
		Register, Expression, Reason string
		State                        model.TracedValueState
		Constants                    []uint64
	}
	var got []row
	for _, v := range f.usesAt(0x2c, "") {
		f.steps = 0
		found := f.trace(v.ID, map[int]bool{}, 0)
		got = append(got, row{v.Register, found.expression, found.reason, found.state, found.constants})
	}
	want := []row{
		{"R8", "param_5", "", model.TracedValueStateParameter, nil},
		{"R9", "sext(0xffff)", "the width it is extended from is not known", model.TracedValueStateUnknown, nil},
		{"RAX", "0x5 + 0x3", "", model.TracedValueStateConstant, []uint64{8}},
		{"RBX", "0x1 or rbx + 0x1", "it is computed from values that are not known", model.TracedValueStateUnknown, nil},
		{"RCX", "0x1 or 0x2", "", model.TracedValueStateSet, []uint64{1, 2}},
		{"RDI", "rsp - 0x18", "", model.TracedValueStateStackAddress, nil},
		{"RDX", "[0x4000]", "it is read from memory that may change", model.TracedValueStateUnknown, nil},
		{"RSI", "result of the call at 0x24", "", model.TracedValueStateCallResult, nil},
	}
	for i := range got {
		if got[i].Register == "RBX" {
			got[i].Expression, got[i].Reason = want[3].Expression, want[3].Reason // the text of a loop depends on where it was entered
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if uses := f.usesAt(0x2c, "rcx"); len(uses) != 1 || uses[0].ID != 8 {
		t.Errorf("rcx: %+v", uses)
	}
	if uses := f.usesAt(0x2c, "R12"); len(uses) != 0 {
		t.Errorf("a register that is not used: %+v", uses)
	}
}

// TestTrace_is_bounded: shared values do not make a trace exponential.
func TestTrace_is_bounded(t *testing.T) {
	f := newFlow()
	var nodes []facts.Varnode
	nodes = append(nodes, facts.Varnode{ID: 0, Space: facts.SpaceConstant, Offset: 1, Size: 8})
	for i := 1; i < 200; i++ {
		nodes = append(nodes, facts.Varnode{ID: i, Space: facts.SpaceRegister, Register: "RAX", Size: 8})
		f.ops = append(f.ops, facts.Op{Address: uint64(i), Code: "INT_ADD", Out: i, In: []int{i - 1, i - 1}})
	}
	f.build(nodes)
	found := f.trace(199, map[int]bool{}, 0)
	if found.state != model.TracedValueStateUnknown || f.steps > 10*traceSteps || len(found.expression) > traceExpression+4 {
		t.Errorf("%d steps, %+v", f.steps, found.state)
	}
}

func TestOperand(t *testing.T) {
	for text, want := range map[string]struct {
		expression string
		size       int
	}{
		"qword ptr [RAX + 0x8]":        {"RAX + 0x8", 8},
		"dword ptr FS:[RBX + RCX*0x4]": {"fs:RBX + RCX*0x4", 4},
		"[x0, #0x10]":                  {"x0, #0x10", 0},
		"dword [rip+0x10]":             {"rip+0x10", 4},
		"xmmword ptr [0x401000]":       {"0x401000", 16},
		"RAX":                          {"RAX", 0},
		"[":                            {"", 0},
	} {
		if expression, size := operand(text); expression != want.expression || size != want.size {
			t.Errorf("%q is %q of %d", text, expression, size)
		}
	}
}

func TestIndex_containing(t *testing.T) {
	x := newIndex([]facts.Procedure{
		{Entry: 0x30, Name: "split", Ranges: []uint64{0x30, 0x40, 0x80, 0x90}},
		{Entry: 0x10, Name: "outer", Ranges: []uint64{0x10, 0x28}},
		{Entry: 0x14, Name: "inner", Ranges: []uint64{0x14, 0x18}},
		{Entry: 0x50, Name: "odd", Ranges: []uint64{0x50, 0x60, 0x70}},
		{Entry: 0x50, Name: "twice", Ranges: []uint64{0x50, 0x51}},
		{Entry: 0x60, Name: "backwards", Ranges: []uint64{0x68, 0x60}},
	}, &nameIndex{})
	for addr, want := range map[uint64]string{
		0x0f: "", 0x10: "outer", 0x15: "inner", 0x18: "outer", 0x27: "outer", 0x28: "", 0x30: "split", 0x45: "", 0x85: "split", 0x90: "", 0x5f: "odd", 0x70: "", 0x61: "",
	} {
		name := ""
		if i, ok := x.containing(addr); ok {
			name = x.procedures[i].Name
		}
		if name != want {
			t.Errorf("%#x lies in %q, want %q", addr, name, want)
		}
	}
}

func TestWords(t *testing.T) {
	if flowWord("dance") != model.FlowInvalid || flowWord("return") != model.FlowReturn || edgeWord("") != model.EdgeKindJump || encodingWord("utf7") != model.StringEncodingAscii ||
		typeWord("struct") != model.DataTypeKindStruct || accessWord("x") != "unknown" || itemWord("x") != "data" || count(-1) != 0 {
		t.Error("a word of a script went through")
	}
}
