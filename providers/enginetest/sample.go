package enginetest

import (
	"bytes"

	"rea/generated/model"
	"rea/runtime/engine"
)

// Sample is a small program for tests of handlers. Its call graph is
//
//	main ── sub_401040 ── foo::bar(int) ── main
//	   └─── puts                        └─ (unknown)
//	odd ─── puts
//
// where sub_401040 tail-calls, foo::bar has one computed call without known
// target, odd has control characters in its name, and twice names two procedures.
//
// .text is 0x401000–0x401200, .data 0x404000–0x404100 of which 0x80 bytes are
// stored.
func Sample() *Fake {
	f := &Fake{ID: "fake", DocumentList: []string{"sample"}}
	textOffset, dataOffset := int64(0x1000), int64(0x2000)
	f.SegmentList = []model.Segment{
		{
			Name: "LOAD", Start: 0x401000, End: 0x401200, FileOffset: &textOffset, FileSize: 0x200, Readable: true, Executable: true,
			Provenance: "program headers", Sections: []model.Section{{Name: ".text", Type: "SHT_PROGBITS", Start: 0x401000, End: 0x401200, FileOffset: &textOffset, FileSize: 0x200, Readable: true, Executable: true, Mapped: true}},
		},
		{
			Name: "LOAD", Start: 0x404000, End: 0x404100, FileOffset: &dataOffset, FileSize: 0x80, Readable: true, Writable: true,
			Provenance: "program headers", Sections: []model.Section{{Name: ".data", Type: "SHT_PROGBITS", Start: 0x404000, End: 0x404080, FileOffset: &dataOffset, FileSize: 0x80, Readable: true, Writable: true, Mapped: true}},
		},
	}
	f.Unmapped = []model.Section{}
	f.Memory = map[model.Address][]byte{
		0x401000: bytes.Repeat([]byte{0x90}, 0x200),
		0x404000: append([]byte("usage: %s\x00\x00\x00\x00\x00\x00\x00password\x00"), make([]byte, 0x80-25)...),
	}
	f.addProcedures()
	f.NameList = []model.NameItem{
		{Address: 0x401000, Name: "main", Kind: model.NameKindFunction, Source: model.StartSourceSymbol},
		{Address: 0x401060, Name: "_ZN3foo3barEi", Demangled: text("foo::bar(int)"), Kind: model.NameKindFunction, Source: model.StartSourceSymbol},
		{Address: 0x401080, Name: "odd\x1b[31m\n", Kind: model.NameKindFunction, Source: model.StartSourceSymbol},
		{Address: 0x4010a0, Name: "twice", Kind: model.NameKindFunction, Source: model.StartSourceSymbol},
		{Address: 0x4010b0, Name: "twice", Kind: model.NameKindFunction, Source: model.StartSourceSymbol},
		{Address: 0x404020, Name: "secret_key", Kind: model.NameKindObject, Source: model.StartSourceSymbol},
		{Address: 0x404020, Name: "secret_key_alias", Kind: model.NameKindExport, Source: model.StartSourceExport},
		{Address: 0x404078, Name: "puts", Kind: model.NameKindImport, Source: model.StartSourceImport, Library: text("libc.so.6")},
	}
	data := text(".data")
	f.StringList = []model.StringItem{
		{Address: 0x404000, Value: "usage: %s", Encoding: model.StringEncodingAscii, ByteLength: 9, Section: data, Uses: 1},
		{Address: 0x404010, Value: "password", Encoding: model.StringEncodingAscii, ByteLength: 8, Section: data, Uses: 2},
		{Address: 0x404030, Value: "Straße", Encoding: model.StringEncodingUTF8, ByteLength: 7, Section: data},
		{Address: 0x404040, Value: "[a-z]+(", Encoding: model.StringEncodingAscii, ByteLength: 7, Section: data},
		{Address: 0x404050, Value: "PASSWORD of a long", ValueTruncated: true, Encoding: model.StringEncodingAscii, ByteLength: 20, Section: data},
		{Address: 0x404068, Value: "abcd", Encoding: model.StringEncodingUTF16LE, ByteLength: 8, Section: data},
	}
	f.Uses = []model.Reference{
		use(0x401004, 0x404000, model.ReferenceKindAddressOf, 0x401000, "main", "usage: %s"),
		use(0x401008, 0x401040, model.ReferenceKindCall, 0x401000, "main", "sub_401040"),
		use(0x401010, 0x401040, model.ReferenceKindCall, 0x401000, "main", "sub_401040"),
		use(0x401018, 0x401100, model.ReferenceKindCall, 0x401000, "main", "puts"),
		use(0x401044, 0x404010, model.ReferenceKindAddressOf, 0x401040, "sub_401040", "password"),
		use(0x401050, 0x401060, model.ReferenceKindTailCall, 0x401040, "sub_401040", "_ZN3foo3barEi"),
		use(0x401064, 0x404010, model.ReferenceKindRead, 0x401060, "_ZN3foo3barEi", "password"),
		use(0x401068, 0x401000, model.ReferenceKindCall, 0x401060, "_ZN3foo3barEi", "main"),
		use(0x401084, 0x401100, model.ReferenceKindCall, 0x401080, "odd\x1b[31m\n", "puts"),
		use(0x401088, 0x404078, model.ReferenceKindRead, 0x401080, "odd\x1b[31m\n", "puts"),
		use(0x401100, 0x404078, model.ReferenceKindRead, 0x401100, "puts", "puts"),
		{From: 0x404070, To: 0x401060, Kind: model.ReferenceKindPointer, ToName: text("_ZN3foo3barEi")},
	}
	f.ItemList = []engine.Item{
		{Address: 0x401000, Kind: "instruction"}, {Address: 0x401004, Kind: "instruction"}, {Address: 0x404000, Kind: "string"}, {Address: 0x404020, Kind: "data"},
	}
	f.Figures = engine.Summary{
		Target:     engine.TargetFacts{OS: "linux", BuildID: "abcd", Entry: &model.SymbolRef{Address: 0x401000, Name: text("main")}, Compiler: []string{"cc 1"}},
		Procedures: len(f.Bodies), Named: 6, Imports: 1, Exports: 1, Strings: len(f.StringList), Segments: 2, Sections: 2,
		BasicBlocks: 3, Instructions: 9, CodeBytes: 0xe0, CallEdges: 5, Unresolved: 1, References: len(f.Uses),
		Mitigations:   []model.Mitigation{{Name: "nx", State: model.MitigationStateEnabled, Detail: "PT_GNU_STACK"}},
		Libraries:     []model.Library{{Name: "libc.so.6"}},
		EntryPoints:   []model.SymbolRef{{Address: 0x401000, Name: text("main")}},
		ImportUses:    []engine.ImportUse{{Name: "puts", Library: text("libc.so.6"), Address: 0x401100, Uses: 2}},
		ExportedNames: []model.SymbolRef{{Address: 0x404020, Name: text("secret_key_alias")}},
		Notes:         []string{"one thing could not be seen"},
	}
	return f
}

func (f *Fake) addProcedures() {
	type shape struct {
		addr, size model.Address
		name       string
		demangled  *string
		kind       model.ProcedureKind
		source     model.StartSource
	}
	for _, s := range []shape{
		{0x401000, 0x40, "main", nil, model.ProcedureKindFunction, model.StartSourceSymbol},
		{0x401040, 0x20, "sub_401040", nil, model.ProcedureKindFunction, model.StartSourceCallTarget},
		{0x401060, 0x20, "_ZN3foo3barEi", text("foo::bar(int)"), model.ProcedureKindFunction, model.StartSourceSymbol},
		{0x401080, 0x20, "odd\x1b[31m\n", nil, model.ProcedureKindFunction, model.StartSourceSymbol},
		{0x4010a0, 0x10, "twice", nil, model.ProcedureKindFunction, model.StartSourceSymbol},
		{0x4010b0, 0x10, "twice", nil, model.ProcedureKindThunk, model.StartSourceSymbol},
		{0x401100, 0x10, "puts", nil, model.ProcedureKindImportStub, model.StartSourceImport},
	} {
		f.Bodies = append(f.Bodies, engine.Body{
			Procedure: model.Procedure{
				Address: s.addr, Name: s.name, Demangled: s.demangled, Named: s.source != model.StartSourceCallTarget,
				Size: int64(s.size), Kind: s.kind, Source: s.source, Returns: true,
			},
			Classification: model.Classification{
				Thunk: s.kind == model.ProcedureKindThunk, External: s.kind == model.ProcedureKindImportStub, Provenance: string(s.source),
			},
			Ranges:     []model.AddressRange{{Start: s.addr, End: s.addr + s.size}},
			Syntax:     "intel",
			BlockCount: 1, InstructionCount: 1,
		})
	}
	f.call(0x401000, 0x401040, model.ReferenceKindCall, 0x401008, 0x401010)
	f.call(0x401000, 0x401100, model.ReferenceKindCall, 0x401018)
	f.call(0x401040, 0x401060, model.ReferenceKindTailCall, 0x401050)
	f.call(0x401060, 0x401000, model.ReferenceKindCall, 0x401068)
	f.call(0x401080, 0x401100, model.ReferenceKindCall, 0x401084)
	f.describeMain()
	bar := f.body(0x401060)
	bar.Unresolved = 1
	bar.Targets = []model.CallTarget{
		{Address: 0x401068, Kind: model.CallTargetKindCall, State: model.CallTargetStateResolved, Targets: []model.SymbolRef{{Address: 0x401000, Name: text("main")}}, Method: model.CallTargetMethodDirect, Operand: "0x401000"},
		{Address: 0x401070, Kind: model.CallTargetKindIndirectCall, State: model.CallTargetStateUnresolved, Targets: []model.SymbolRef{}, Method: model.CallTargetMethodNone, Operand: "rax", Reason: text("rax comes from a parameter")},
	}
	stub := f.body(0x401100)
	stub.Outgoing = []model.Reference{use(0x401100, 0x404078, model.ReferenceKindRead, 0x401100, "puts", "puts")}
}

// describeMain gives main three blocks, instructions and the facts around them.
func (f *Fake) describeMain() {
	b := f.body(0x401000)
	b.BlockCount, b.InstructionCount = 3, 6
	b.Blocks = []model.BasicBlock{
		{Start: 0x401000, End: 0x401010, Instructions: 3, Successors: []model.Successor{{Address: 0x401018, Kind: model.EdgeKindTaken}, {Address: 0x401010, Kind: model.EdgeKindNotTaken}}},
		{Start: 0x401010, End: 0x401018, Instructions: 1, Successors: []model.Successor{{Address: 0x401018, Kind: model.EdgeKindFallthrough}}},
		{Start: 0x401018, End: 0x401040, Instructions: 2, Successors: []model.Successor{}},
	}
	b.Instructions = []model.Instruction{
		{Address: 0x401000, Bytes: "55", Mnemonic: "push", Operands: "rbp", Flow: model.FlowNext},
		{Address: 0x401004, Bytes: "488d3df52f0000", Mnemonic: "lea", Operands: "rdi, [rip + 0x2ff5]", Flow: model.FlowNext, Target: &model.SymbolRef{Address: 0x404000, Name: text("usage: %s")}},
		{Address: 0x40100c, Bytes: "740a", Mnemonic: "je", Operands: "0x401018", Flow: model.FlowConditionalJump, Target: &model.SymbolRef{Address: 0x401018}},
		{Address: 0x401010, Bytes: "e82b000000", Mnemonic: "call", Operands: "0x401040", Flow: model.FlowCall, Target: &model.SymbolRef{Address: 0x401040, Name: text("sub_401040")}},
		{Address: 0x401018, Bytes: "e8e3000000", Mnemonic: "call", Operands: "0x401100", Flow: model.FlowCall, Target: &model.SymbolRef{Address: 0x401100, Name: text("puts")}},
		{Address: 0x40103f, Bytes: "c3", Mnemonic: "ret", Flow: model.FlowReturn},
	}
	b.Outgoing = []model.Reference{
		use(0x401004, 0x404000, model.ReferenceKindAddressOf, 0x401000, "main", "usage: %s"),
		use(0x401010, 0x401040, model.ReferenceKindCall, 0x401000, "main", "sub_401040"),
		use(0x401018, 0x401100, model.ReferenceKindCall, 0x401000, "main", "puts"),
	}
	b.Incoming = []model.Reference{use(0x401068, 0x401000, model.ReferenceKindCall, 0x401060, "_ZN3foo3barEi", "main")}
	b.Strings = []model.UsedValue{{From: 0x401004, Address: 0x404000, Value: "usage: %s"}}
	b.Names = []model.UsedValue{{From: 0x401018, Address: 0x401100, Value: "puts"}}
	b.Signature = text("int main(void)")
	b.SourcePath, b.SourceLine = "main.c", 3
	b.Locals = []model.LocalVariable{{Name: "n", Type: text("int"), Location: text("rbp-0x14"), Source: "DWARF"}}
}

// call joins two bodies.
func (f *Fake) call(from, to model.Address, kind model.ReferenceKind, sites ...model.Address) {
	caller, callee := f.body(from), f.body(to)
	kinds := []model.ReferenceKind{kind}
	caller.Callees = append(caller.Callees, engine.Call{Procedure: callee.Procedure, Sites: sites, Kinds: kinds})
	callee.Callers = append(callee.Callers, engine.Call{Procedure: caller.Procedure, Sites: sites, Kinds: kinds})
}

// body is the body that starts at entry; the fake must have it.
func (f *Fake) body(entry model.Address) *engine.Body {
	for i := range f.Bodies {
		if f.Bodies[i].Procedure.Address == entry {
			return &f.Bodies[i]
		}
	}
	panic("the fake has no procedure at " + entry.String())
}

func use(from, to model.Address, kind model.ReferenceKind, procedure model.Address, name, toName string) model.Reference {
	return model.Reference{From: from, To: to, Kind: kind, FromProcedure: &model.SymbolRef{Address: procedure, Name: &name}, ToName: &toName}
}

func text(s string) *string { return &s }
