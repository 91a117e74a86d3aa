package ssa

import (
	"context"
	"fmt"
	"slices"

	"rea/providers/embedded/ir"
)

// Construction follows Braun et al., "Simple and Efficient Construction of
// Static Single Assignment Form" (CC 2013), without recursion: blocks are
// filled in reverse postorder; whatever is read across a join makes a phi whose
// operands are filled in at the end, and superfluous phis are removed then.

// Build makes the SSA form of a function. It fails with a *LimitError when the
// function is larger than the limits.
func Build(ctx context.Context, in *Input) (*Func, error) {
	limits := in.Limits.withDefaults()
	if len(in.Blocks) > limits.Blocks {
		return nil, &LimitError{"basic blocks", limits.Blocks}
	}
	entry, ok := sourceAt(in.Blocks, in.Entry)
	if !ok {
		return nil, ErrEntry
	}
	arch := in.Code.Arch()
	s, err := lift(ctx, in, limits)
	if err != nil {
		return nil, err
	}
	f := &Func{Arch: arch, Values: make([]Value, 1, 256)}
	order := f.layOut(in, entry)
	fr := &frame{in: in, s: s, arch: arch, effects: map[uint64]Effect{}, callSP: map[uint64]place{}}
	if err := fr.run(ctx, order, entry); err != nil {
		return nil, err
	}
	if fr.makeCells(int64(limits.Cells), int64(arch.Bits/8)) {
		f.Notes = append(f.Notes, "the frame has more variables than are followed")
	}
	f.Cells, f.FrameKnown, f.Escapes, f.FrameLow = fr.cells, fr.known, fr.escapes, fr.low
	if !fr.known {
		f.Notes = append(f.Notes, "the stack pointer is not followed everywhere")
	}
	if fr.lost > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("nothing is known to lead to %d of its %d basic blocks", fr.lost, len(in.Blocks)))
	}
	b := &builder{f: f, in: in, s: s, frame: fr, order: order, entry: entry, limit: limits.Values, pure: map[Value]ID{}, marked: map[uint64]bool{}}
	for _, a := range in.Observe {
		b.marked[a] = true
	}
	if err := b.run(ctx); err != nil {
		return nil, err
	}
	return f, nil
}

// layOut makes the blocks in reverse postorder, behind the root, and returns
// the source block of each but the root.
func (f *Func) layOut(in *Input, entry int) []int {
	n := len(in.Blocks)
	seen := make([]bool, n)
	var post []int
	type frame struct{ block, next int }
	var heads []int
	walk := func(start int) {
		stack := []frame{{start, 0}}
		seen[start] = true
		for len(stack) > 0 {
			t := &stack[len(stack)-1]
			to := in.Blocks[t.block].To
			if t.next < len(to) {
				k := to[t.next]
				t.next++
				if !seen[k] {
					seen[k] = true
					stack = append(stack, frame{k, 0})
				}
				continue
			}
			post = append(post, t.block)
			stack = stack[:len(stack)-1]
		}
	}
	// The parts that nothing leads to come last: they are walked first.
	var lists [][]int
	add := func(start int) {
		post = nil
		walk(start)
		slices.Reverse(post)
		lists = append(lists, post)
		heads = append(heads, start)
	}
	add(entry)
	entered := make([]bool, n)
	for i := range in.Blocks {
		for _, to := range in.Blocks[i].To {
			entered[to] = true
		}
	}
	for i := range in.Blocks {
		if !seen[i] && !entered[i] {
			add(i)
		}
	}
	for i := range in.Blocks {
		if !seen[i] {
			add(i)
		}
	}
	order := make([]int, 0, n)
	for k := len(lists) - 1; k >= 0; k-- {
		order = append(order, lists[k]...)
	}
	f.Blocks = make([]Block, n+1)
	number := make([]int32, n)
	for k, b := range order {
		number[b] = int32(k + 1)
		f.Blocks[k+1].Start, f.Blocks[k+1].End = in.Blocks[b].Start, in.Blocks[b].End
	}
	link := func(from, to int32) {
		f.Blocks[from].Succs = append(f.Blocks[from].Succs, to)
		f.Blocks[to].Preds = append(f.Blocks[to].Preds, from)
	}
	f.Blocks[0].Taken = -1
	for _, h := range heads {
		link(0, number[h])
	}
	for k, b := range order {
		src := &in.Blocks[b]
		f.Blocks[k+1].Taken = -1
		for _, to := range src.To {
			if to == src.Taken {
				f.Blocks[k+1].Taken = int32(len(f.Blocks[k+1].Succs))
			}
			link(int32(k+1), number[to])
		}
	}
	f.dominators()
	return order
}

// state of a variable while a block is filled: a value, or the effect that
// changed it, whose After is made when it is read.
type held struct {
	id    ID
	after bool
}

type builder struct {
	f     *Func
	in    *Input
	s     *stream
	frame *frame
	order []int
	entry int
	limit int
	err   error

	pure   map[Value]ID // Const and Expr
	marked map[uint64]bool

	block   int32
	addr    uint64
	local   map[Var]held // while a block is filled
	temps   []ID
	outs    []map[Var]held // by block
	ins     []map[Var]ID
	clobber []ID // by block: the last effect on exposed cells
	soFar   ID   // the same, in the block being filled
	queue   []ID // phis without operands
	nextAcc int
}

func (b *builder) run(ctx context.Context) error {
	f := b.f
	n := len(f.Blocks)
	b.outs, b.ins, b.clobber = make([]map[Var]held, n), make([]map[Var]ID, n), make([]ID, n)
	b.temps = make([]ID, b.s.Temps)
	slices.SortFunc(b.frame.accesses, func(x, y frameAccess) int { return int(x.statement) - int(y.statement) })
	for k, src := range b.order {
		if k%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		b.fill(int32(k+1), src)
		if b.err != nil {
			return b.err
		}
	}
	for len(b.queue) > 0 {
		if len(b.queue)%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		p := b.queue[len(b.queue)-1]
		b.queue = b.queue[:len(b.queue)-1]
		b.operands(p)
		if b.err != nil {
			return b.err
		}
	}
	b.settle()
	return b.err
}

func (b *builder) fill(block int32, src int) {
	b.block = block
	b.local = make(map[Var]held, 16)
	b.soFar = 0
	m := b.s.blocks[src].marks
	for k := m.lo; k < m.hi && b.err == nil; k++ {
		b.addr = b.s.marks[k].addr
		if b.marked[b.addr] {
			b.point()
		}
		code := b.s.statements(k)
		for i := range code {
			b.statement(&code[i], b.s.marks[k].first+uint32(i))
		}
	}
	b.outs[block], b.clobber[block] = b.local, b.soFar
	// A branch inside a block decides nothing that the edges say.
	code := b.f.Blocks[block].Code
	for i := len(code) - 2; i >= 0; i-- {
		if b.f.Values[code[i]].Kind == Branch {
			code = slices.Delete(code, i, i+1)
		}
	}
	b.f.Blocks[block].Code = code
}

// point records the registers.
func (b *builder) point() {
	p := Point{Addr: b.addr, Block: b.block, Regs: make([]ID, b.f.Registers())}
	for r := range b.f.Arch.Register {
		if x := &b.f.Arch.Register[r]; x.Bits > 1 && !x.Abstract && r < general {
			p.Regs[r] = b.read(Var(r))
		}
	}
	b.f.Points = append(b.f.Points, p)
}

// add makes a leaf or an effect in a block.
func (b *builder) add(v Value) ID {
	if len(b.f.Values) >= b.limit {
		b.err = &LimitError{"values", b.limit}
		return 1
	}
	b.f.Values = append(b.f.Values, v)
	return ID(len(b.f.Values) - 1)
}

func (b *builder) leaf(kind Kind, block int32, v Var) ID {
	addr := b.f.Blocks[block].Start
	return b.add(Value{Kind: kind, Bits: b.bits(v), Block: block, Var: v, Addr: addr})
}

// bits is the width of a variable.
func (b *builder) bits(v Var) uint16 {
	if c := b.f.CellOf(v); c != nil {
		return uint16(8 * c.Size)
	}
	return b.f.Arch.Register[v].Bits
}

func (b *builder) exposed(v Var) bool {
	c := b.f.CellOf(v)
	return c != nil && c.Exposed
}

// read is the value of a variable in the block being filled.
func (b *builder) read(v Var) ID {
	h, ok := b.local[v]
	switch {
	case !ok && b.soFar != 0 && b.exposed(v):
		h = held{b.soFar, true}
	case !ok:
		return b.readIn(b.block, v)
	}
	if h.after {
		h = held{id: b.after(h.id, b.block, v)}
		b.local[v] = h
	}
	return h.id
}

func (b *builder) after(effect ID, block int32, v Var) ID {
	return b.add(Value{Kind: After, Bits: b.bits(v), Block: block, Var: v, Addr: b.f.Values[effect].Addr, Args: [3]ID{effect}})
}

func (b *builder) write(v Var, id ID) { b.local[v] = held{id: id} }

// readIn is the value of a variable at the start of a block.
func (b *builder) readIn(block int32, v Var) ID {
	var path []int32
	var id ID
	for {
		if known, ok := b.ins[block][v]; ok {
			id = known
			break
		}
		path = append(path, block)
		preds := b.f.Blocks[block].Preds
		if len(preds) != 1 {
			id = b.leaf(Phi, block, v)
			b.queue = append(b.queue, id)
			break
		}
		if found, ok := b.crossing(preds[0], block, v); ok {
			id = found
			break
		}
		block = preds[0]
	}
	for _, p := range path {
		if b.ins[p] == nil {
			b.ins[p] = map[Var]ID{}
		}
		b.ins[p][v] = id
	}
	return id
}

// crossing is the value on an edge when it is made in the predecessor or by
// the edge itself.
func (b *builder) crossing(pred, block int32, v Var) (ID, bool) {
	if pred == 0 {
		if b.order[block-1] != b.entry {
			return b.leaf(Unknown, pred, v), true
		}
		return b.entryValue(v), true
	}
	if b.in.Blocks[b.order[block-1]].Pad && int(v) < b.f.Registers() && !b.in.Saved.Has(int(v)) && int(v) != b.in.SP {
		return b.leaf(Unknown, pred, v), true
	}
	h, ok := b.outs[pred][v]
	if !ok && b.clobber[pred] != 0 && b.exposed(v) {
		h, ok = held{b.clobber[pred], true}, true
	}
	if !ok {
		return 0, false
	}
	if h.after {
		h = held{id: b.after(h.id, pred, v)}
		b.outs[pred][v] = h
	}
	return h.id, true
}

// entryValue is what a variable holds when the function is entered; it belongs
// to the root.
func (b *builder) entryValue(v Var) ID {
	if id, ok := b.ins[0][v]; ok {
		return id
	}
	if b.ins[0] == nil {
		b.ins[0] = map[Var]ID{}
	}
	id := b.leaf(Entry, 0, v)
	b.f.Values[id].Addr = b.in.Entry
	b.ins[0][v] = id
	return id
}

// operands fills in a phi.
func (b *builder) operands(phi ID) {
	f := b.f
	block, v := f.Values[phi].Block, f.Values[phi].Var
	preds := f.Blocks[block].Preds
	list := make([]ID, len(preds))
	for i, p := range preds {
		id, ok := b.crossing(p, block, v)
		if !ok {
			id = b.readIn(p, v)
		}
		list[i] = id
	}
	f.setList(phi, list)
	f.Blocks[block].Phis = append(f.Blocks[block].Phis, phi)
}

func (f *Func) setList(v ID, list []ID) {
	lo := uint32(len(f.lists))
	f.lists = append(f.lists, list...)
	f.Values[v].list = lohi{lo, uint32(len(f.lists))}
}

// value is an operand of a statement.
func (b *builder) value(v ir.Value) ID {
	switch v.Kind {
	case ir.Const:
		return b.constant(v.N, v.Bits)
	case ir.Reg:
		return b.read(Var(v.N))
	case ir.Temp:
		return b.temps[v.N]
	}
	return 0
}

func (b *builder) assign(v ir.Value, id ID) {
	switch v.Kind {
	case ir.Reg:
		b.write(Var(v.N), id)
	case ir.Temp:
		b.temps[v.N] = id
	}
}
