package embedded

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"sort"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/providers/embedded/isa"
	"rea/providers/embedded/program"
	"rea/runtime/engine"
)

var flows = [...]model.Flow{
	isa.Invalid: model.FlowInvalid, isa.Next: model.FlowNext, isa.Jump: model.FlowJump, isa.CondJump: model.FlowConditionalJump,
	isa.IndirectJump: model.FlowIndirectJump, isa.Call: model.FlowCall, isa.IndirectCall: model.FlowIndirectCall,
	isa.Return: model.FlowReturn, isa.Trap: model.FlowTrap, isa.Syscall: model.FlowSyscall,
}

// instruction decodes and renders the instruction at addr; in receives the decoded form.
func (e *Engine) instruction(p *program.Program, addr uint64, in *isa.Inst) model.Instruction {
	b := e.im.Bytes(addr, e.dec.MaxLen())
	if len(b) == 0 {
		*in = isa.Inst{Addr: addr, Len: 1}
		return model.Instruction{Address: model.Address(addr), Mnemonic: "??", Flow: model.FlowInvalid}
	}
	e.dec.Decode(b, addr, in)
	n := min(int(in.Len), len(b))
	row := model.Instruction{Address: model.Address(addr), Bytes: hex.EncodeToString(b[:n]), Flow: flows[in.Flow]}
	row.Mnemonic, row.Operands = e.dec.Text(b, addr, func(a uint64) string { return e.nameAt(p, a) })
	if to, ok := pointsTo(p, in); ok {
		ref := model.SymbolRef{Address: model.Address(to)}
		if name := e.describe(p, to); name != "" {
			ref.Name = &name
		}
		row.Target = &ref
	}
	return row
}

// pointsTo is the address an instruction branches or refers to.
func pointsTo(p *program.Program, in *isa.Inst) (uint64, bool) {
	switch in.Flow {
	case isa.Jump, isa.CondJump, isa.Call:
		return in.Target, true
	}
	if refs := p.RefsFrom(in.Addr, in.Addr+1); len(refs) > 0 {
		return refs[0].To, true
	}
	if in.HasMem && in.Mem.Base == isa.PC {
		return uint64(in.Mem.Disp), true
	}
	return 0, false
}

// Instruction decodes the instruction at addr.
func (e *Engine) Instruction(ctx context.Context, addr model.Address) (*engine.InstructionDetail, error) {
	p, err := e.program(ctx)
	if err != nil {
		return nil, err
	}
	a := uint64(addr)
	if len(e.im.Bytes(a, 1)) == 0 {
		return nil, e.notMapped(addr)
	}
	var in isa.Inst
	d := &engine.InstructionDetail{Instruction: e.instruction(p, a, &in), Size: int(in.Len), Reached: p.IsInstruction(a), References: []model.Reference{}}
	if i, ok := p.FunctionContaining(a); ok {
		ref := e.procedureRef(p, i)
		d.Procedure = &ref
		if b, ok := p.BlockAt(i, a); ok {
			d.Block = &model.AddressRange{Start: model.Address(b.Start), End: model.Address(b.End)}
		}
	}
	d.Read, d.Written = registerNames(e.im.Arch, in.Reads), registerNames(e.im.Arch, in.Writes)
	if in.HasMem {
		e.memory(d, &in)
	}
	if in.HasImm {
		imm := hexImmediate(in.Imm)
		d.Immediate = &imm
	}
	for _, r := range p.RefsFrom(a, a+1) {
		d.References = append(d.References, e.reference(p, r))
	}
	d.References = append(d.References, e.tableReferences(p, a)...)
	return d, nil
}

func hexImmediate(v int64) string {
	if v < 0 {
		return fmt.Sprintf("-0x%x", uint64(-v))
	}
	return fmt.Sprintf("0x%x", v)
}

func (e *Engine) memory(d *engine.InstructionDetail, in *isa.Inst) {
	d.MemoryExpression = memoryExpression(e.im.Arch, in.Mem)
	d.MemorySize = int(in.Mem.Size)
	switch {
	case in.Class == isa.Address:
		d.MemoryAccess = "address"
	case in.Class == isa.Store || in.Class == isa.Pop && in.Dst == isa.NoReg:
		d.MemoryAccess = "write"
	case in.Class == isa.Load, in.Class == isa.Compare, in.Class == isa.Test, in.Class == isa.Extend, in.Class == isa.Push, computed(in.Flow):
		d.MemoryAccess = "read"
	case in.Class >= isa.Add && in.Class <= isa.Shift:
		d.MemoryAccess = "read"
		if in.Dst == isa.NoReg {
			d.MemoryAccess = "read_write"
		}
	default:
		d.MemoryAccess = "unknown"
	}
	if in.Mem.Base == isa.PC || in.Mem.Base == isa.NoReg && in.Mem.Index == isa.NoReg && in.Mem.Segment == 0 {
		at := model.Address(uint64(in.Mem.Disp))
		d.MemoryAddress = &at
	}
}

func (e *Engine) notMapped(addr model.Address) error {
	d := fault.AddressNotMappedDetails{Address: addr, Nearest: []model.AddressRange{}}
	i := sort.Search(len(e.im.Segments), func(i int) bool { return e.im.Segments[i].Addr > uint64(addr) })
	for _, k := range []int{i - 1, i} {
		if k >= 0 && k < len(e.im.Segments) {
			s := &e.im.Segments[k]
			d.Nearest = append(d.Nearest, model.AddressRange{Start: model.Address(s.Addr), End: model.Address(s.Addr + s.Size)})
		}
	}
	return fault.AddressNotMapped(d, nil)
}

// Bytes reads up to n mapped bytes; fewer where the file stores no more.
func (e *Engine) Bytes(_ context.Context, addr model.Address, n int) ([]byte, error) {
	if e.im.SegmentAt(uint64(addr)) == nil {
		return nil, e.notMapped(addr)
	}
	return slices.Clone(e.im.Bytes(uint64(addr), n)), nil
}

// Locate tells where addr lies.
func (e *Engine) Locate(_ context.Context, addr model.Address) (engine.Location, error) {
	a := uint64(addr)
	s := e.im.SegmentAt(a)
	if s == nil {
		return engine.Location{}, e.notMapped(addr)
	}
	loc := engine.Location{Segment: s.Name}
	for i := range e.im.Sections {
		if c := &e.im.Sections[i]; c.Mapped && a >= c.Addr && a-c.Addr < c.Size {
			loc.Section = c.Name
			break
		}
	}
	if off := a - s.Addr; off < s.FileSize {
		at := exact(e.im.FileStart + s.Offset + off)
		loc.FileOffset = &at
	} else {
		loc.Reason = "the file stores nothing for this part of the segment; it is zero when loaded"
	}
	return loc, nil
}

// window is how far Item looks for instructions at a time.
const window = 1 << 12

// Item is the start of the instruction, string, named or mapped place after or before addr.
func (e *Engine) Item(ctx context.Context, addr model.Address, step int) (*engine.Item, error) {
	p, err := e.program(ctx)
	if err != nil {
		return nil, err
	}
	var at uint64
	var ok bool
	if step > 0 {
		at, ok = e.after(p, uint64(addr))
	} else {
		at, ok = e.before(p, uint64(addr))
	}
	if !ok {
		return nil, nil
	}
	kind := "data"
	if p.IsInstruction(at) {
		kind = "instruction"
	} else if _, ok := p.StringAt(at); ok {
		kind = "string"
	}
	return &engine.Item{Address: model.Address(at), Kind: kind}, nil
}

func (e *Engine) after(p *program.Program, a uint64) (uint64, bool) {
	best, found := uint64(0), false
	offer := func(x uint64) {
		if x > a && (!found || x < best) {
			best, found = x, true
		}
	}
	if i := sort.Search(len(e.im.Segments), func(i int) bool { return e.im.Segments[i].Addr > a }); i < len(e.im.Segments) {
		offer(e.im.Segments[i].Addr)
	}
	for x := range p.InstructionsBetween(a+1, ^uint64(0)) {
		offer(x)
		break
	}
	if i := sort.Search(len(p.Strings), func(i int) bool { return p.Strings[i].Addr > a }); i < len(p.Strings) {
		offer(p.Strings[i].Addr)
	}
	for i := sort.Search(len(p.Names), func(i int) bool { return p.Names[i].Addr > a }); i < len(p.Names); i++ {
		if e.im.SegmentAt(p.Names[i].Addr) != nil {
			offer(p.Names[i].Addr)
			break
		}
	}
	return best, found
}

func (e *Engine) before(p *program.Program, a uint64) (uint64, bool) {
	best, found := uint64(0), false
	offer := func(x uint64) {
		if x < a && (!found || x > best) {
			best, found = x, true
		}
	}
	if i := sort.Search(len(e.im.Segments), func(i int) bool { return e.im.Segments[i].Addr >= a }) - 1; i >= 0 {
		offer(e.im.Segments[i].Addr)
	}
	if i := sort.Search(len(p.Strings), func(i int) bool { return p.Strings[i].Addr >= a }) - 1; i >= 0 {
		offer(p.Strings[i].Addr)
	}
	for i := sort.Search(len(p.Names), func(i int) bool { return p.Names[i].Addr >= a }) - 1; i >= 0; i-- {
		if e.im.SegmentAt(p.Names[i].Addr) != nil {
			offer(p.Names[i].Addr)
			break
		}
	}
	// Look back in growing windows until one holds an instruction or reaches
	// something nearer that was already found.
	for size, hi := uint64(window), a; hi > best || !found; size *= 2 {
		lo := hi - min(size, hi)
		if found {
			lo = max(lo, best)
		}
		var last uint64
		have := false
		for x := range p.InstructionsBetween(lo, hi) {
			last, have = x, true
		}
		if have {
			offer(last)
			break
		}
		if hi = lo; lo == 0 {
			break
		}
	}
	return best, found
}
