package ssa

import "rea/providers/embedded/ir"

func (b *builder) statement(x *ir.Inst, at uint32) {
	if b.err != nil {
		return
	}
	switch x.Op {
	case ir.Load:
		b.assign(x.Dst, b.load(x, at))
	case ir.Store:
		b.store(x, at)
	case ir.Call:
		b.call(x)
	case ir.Opaque:
		b.opaque(x)
	case ir.Branch:
		b.effect(Value{Kind: Branch, Args: [3]ID{b.value(x.A)}}, nil)
	case ir.Return:
		b.effect(Value{Kind: Return, Args: [3]ID{b.value(x.A)}}, b.registers(b.in.Results))
	case ir.Jump:
		var list []ID
		if len(b.f.Blocks[b.block].Succs) == 0 {
			list = b.registers(b.in.Arguments)
		}
		b.effect(Value{Kind: Jump, Args: [3]ID{b.value(x.A)}}, list)
	case ir.Trap:
	case ir.Undef:
		b.assign(x.Dst, b.add(Value{Kind: Unknown, Bits: x.Dst.Bits, Block: b.block, Var: NoVar, Addr: b.addr}))
	case ir.Copy:
		b.assign(x.Dst, b.value(x.A))
	case ir.Extract:
		b.assign(x.Dst, b.extract(b.value(x.A), uint16(x.B.N), x.Dst.Bits))
	default:
		b.assign(x.Dst, b.expr(x.Op, x.Dst.Bits, b.value(x.A), b.value(x.B), b.value(x.C)))
	}
}

func (b *builder) registers(regs []int) []ID {
	out := make([]ID, len(regs))
	for i, r := range regs {
		out[i] = b.read(Var(r))
	}
	return out
}

// effect appends to the block.
func (b *builder) effect(v Value, list []ID) ID {
	v.Block, v.Addr = b.block, b.addr
	id := b.add(v)
	if b.err != nil {
		return id
	}
	if list != nil {
		b.f.setList(id, list)
	}
	blk := &b.f.Blocks[b.block]
	blk.Code = append(blk.Code, id)
	return id
}

// accessAt is the frame access of a statement. Statements are visited block by
// block, so the search begins where it last ended.
func (b *builder) accessAt(at uint32) *frameAccess {
	as := b.frame.accesses
	if b.nextAcc >= len(as) || as[b.nextAcc].statement > at || b.nextAcc > 0 && as[b.nextAcc-1].statement >= at {
		b.nextAcc = 0
	}
	lo, hi := b.nextAcc, len(as)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if as[m].statement < at {
			lo = m + 1
		} else {
			hi = m
		}
	}
	b.nextAcc = lo
	if lo < len(as) && as[lo].statement == at {
		return &as[lo]
	}
	return nil
}

// note records an access of the frame; v is the cell, or NoVar.
func (b *builder) note(a *frameAccess, v Var, id ID) {
	b.f.Accesses = append(b.f.Accesses, Access{Addr: b.addr, Base: a.base, Offset: a.off, Size: a.size, Write: a.write, Cell: v, Value: id})
}

func (b *builder) cell(a *frameAccess) (Var, *Cell) {
	if i, ok := b.frame.cellAt(a.base, a.off, a.size); ok {
		return Var(b.f.Registers() + i), &b.f.Cells[i]
	}
	return NoVar, nil
}

func (b *builder) load(x *ir.Inst, at uint32) ID {
	addr := b.value(x.A)
	a := b.accessAt(at)
	if a != nil {
		if v, c := b.cell(a); c != nil {
			id := b.extract(b.read(v), uint16(8*(a.off-c.Offset)), x.Dst.Bits)
			b.note(a, v, id)
			return id
		}
	}
	id := b.effect(Value{Kind: Load, Bits: x.Dst.Bits, Var: NoVar, Args: [3]ID{addr}}, nil)
	if a != nil {
		b.note(a, NoVar, id)
	}
	return id
}

func (b *builder) store(x *ir.Inst, at uint32) {
	addr, v := b.value(x.A), b.value(x.B)
	a := b.accessAt(at)
	if a == nil {
		id := b.effect(Value{Kind: Store, Bits: x.B.Bits, Var: NoVar, Args: [3]ID{addr, v}}, nil)
		b.disturb(id)
		return
	}
	cell, c := b.cell(a)
	b.effect(Value{Kind: Store, Bits: x.B.Bits, Var: cell, Args: [3]ID{addr, v}}, nil)
	b.note(a, cell, v)
	if c == nil {
		return
	}
	low, width := uint16(8*(a.off-c.Offset)), uint16(8*c.Size)
	if low == 0 && x.B.Bits == width {
		b.write(cell, v)
		return
	}
	old := b.read(cell)
	if top := low + x.B.Bits; top < width {
		v = b.expr(ir.Concat, width-low, b.extract(old, top, width-top), v, 0)
	}
	if low > 0 {
		v = b.expr(ir.Concat, width, v, b.extract(old, 0, low), 0)
	}
	b.write(cell, v)
}

// disturb makes an effect change every exposed cell.
func (b *builder) disturb(effect ID) {
	b.soFar = effect
	for i := range b.f.Cells {
		v := Var(b.f.Registers() + i)
		if _, ok := b.local[v]; ok && b.f.Cells[i].Exposed {
			delete(b.local, v)
		}
	}
}

func (b *builder) call(x *ir.Inst) {
	e := b.frame.effectAt(b.addr)
	list := b.registers(e.Args)
	word := int64(b.f.Arch.Bits / 8)
	if sp, ok := b.frame.callSP[b.addr]; ok && e.StackArgs > 0 {
		if b.in.CallPushes {
			sp.off += word
		}
		for k := range e.StackArgs {
			list = append(list, b.stackWord(sp.base, sp.off+e.Shadow+int64(k)*word))
		}
	}
	id := b.effect(Value{Kind: Call, Args: [3]ID{b.value(x.A)}}, list)
	if b.err != nil {
		return
	}
	sp := b.read(Var(b.in.SP))
	for r := range b.f.Arch.Register {
		if b.f.Arch.Register[r].Bits != 0 && !e.Keeps.Has(r) && r != b.in.SP {
			b.local[Var(r)] = held{id, true}
		}
	}
	if b.in.CallPushes || e.Pops != 0 {
		n := e.Pops
		if b.in.CallPushes {
			n += word
		}
		sp = b.expr(ir.Add, b.f.Arch.Bits, sp, b.constant(uint64(n), b.f.Arch.Bits), 0)
	}
	b.write(Var(b.in.SP), sp)
	for _, s := range e.Sets {
		b.write(Var(s.Reg), b.constant(s.Value, b.f.Arch.Register[s.Reg].Bits))
	}
	if !e.Pure {
		b.disturb(id)
	}
}

// stackWord is the cell that begins at a place and is at most a word, else 0.
func (b *builder) stackWord(base uint8, off int64) ID {
	i, ok := b.frame.cellAt(base, off, 1)
	if !ok {
		return 0
	}
	c := &b.f.Cells[i]
	if c.Saved || c.Offset != off || c.Size > int64(b.f.Arch.Bits/8) {
		return 0
	}
	return b.read(Var(b.f.Registers() + i))
}

func (b *builder) opaque(x *ir.Inst) {
	e := &b.s.Effects[x.Effect]
	var list []ID
	for _, v := range e.Reads {
		if id := b.value(v); id != 0 {
			list = append(list, id)
		}
	}
	id := b.effect(Value{Kind: Opaque}, list)
	if b.err != nil {
		return
	}
	for _, v := range e.Writes {
		switch v.Kind {
		case ir.Reg:
			b.local[Var(v.N)] = held{id, true}
		case ir.Temp:
			b.temps[v.N] = b.add(Value{Kind: Unknown, Bits: v.Bits, Block: b.block, Var: NoVar, Addr: b.addr, Args: [3]ID{id}})
		}
	}
	if e.WritesMemory {
		b.disturb(id)
	}
}
