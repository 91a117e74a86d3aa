package ssa

import (
	"context"
	"sort"

	"rea/providers/embedded/ir"
)

// stream is the function's code: statements of all blocks, with temporaries
// numbered through.
type stream struct {
	ir.Code
	blocks []span // by source block
	marks  []mark // machine instructions, in order of blocks

	needed, keep []bool // scratch of prune
}

// span is a block's part of the stream.
type span struct{ marks lohi }

// mark is a machine instruction: its statements begin at first.
type mark struct {
	addr  uint64
	first uint32
	size  uint32
}

// statements are those of the k-th machine instruction.
func (s *stream) statements(k uint32) []ir.Inst {
	hi := uint32(len(s.Insts))
	if int(k)+1 < len(s.marks) {
		hi = s.marks[k+1].first
	}
	return s.Insts[s.marks[k].first:hi]
}

func lift(ctx context.Context, in *Input, limits Limits) (*stream, error) {
	s := &stream{blocks: make([]span, len(in.Blocks))}
	live, err := liveFlags(ctx, in)
	if err != nil {
		return nil, err
	}
	for i := range in.Blocks {
		if i%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		b := &in.Blocks[i]
		lo, firstTemp := uint32(len(s.marks)), s.Temps
		for a := b.Start; a < b.End; {
			if len(s.Insts) > limits.Statements || len(s.marks) > limits.Statements {
				return nil, &LimitError{"statements", limits.Statements}
			}
			n := s.instruction(in, a, b.End)
			s.marks[len(s.marks)-1].size = uint32(n)
			a += uint64(n)
		}
		s.blocks[i].marks = lohi{lo, uint32(len(s.marks))}
		s.prune(in.Code.Arch(), s.blocks[i].marks, firstTemp, live[i])
	}
	return s, nil
}

// instruction lifts the instruction at a; end is the end of its block.
func (s *stream) instruction(in *Input, a, end uint64) int {
	first := len(s.Insts)
	s.marks = append(s.marks, mark{addr: a, first: uint32(first)})
	bytes := in.Bytes(a, 16)
	if len(bytes) == 0 {
		s.Trap(ir.Bit(true), 0)
		return int(min(end-a, 1<<30))
	}
	n := in.Code.Lift(bytes, a, &s.Code)
	if n <= 0 {
		n = 1
	}
	code := s.Insts[first:]
	for i := range code {
		x := &code[i]
		switch x.Op {
		case ir.Branch, ir.Jump:
			target := x.A
			if x.Op == ir.Branch {
				target = x.B
			}
			if i < len(code)-1 || target.IsConst(a) && len(code) > 4 {
				s.summarize(first)
				return n
			}
		case ir.Call:
			if x.A.IsConst(a+uint64(n)) && in.CallPushes { // reads the program counter
				s.Insts = s.Insts[:len(s.Insts)-1]
				return n
			}
		}
	}
	return n
}

// summarize replaces the statements from first on, which repeat or skip some
// of themselves, by one effect.
func (s *stream) summarize(first int) {
	e := ir.Effect{Name: "repeat", ReadsMemory: true}
	var read, written Set
	add := func(set *Set, list *[]ir.Value, v ir.Value) {
		if v.Kind == ir.Reg && !set.Has(int(v.N)) {
			*set = set.With(int(v.N))
			*list = append(*list, v)
		}
	}
	for i := first; i < len(s.Insts); i++ {
		x := &s.Insts[i]
		for _, v := range []ir.Value{x.A, x.B, x.C} {
			add(&read, &e.Reads, v)
		}
		add(&written, &e.Writes, x.Dst)
		e.WritesMemory = e.WritesMemory || x.Op == ir.Store
		if x.Op == ir.Opaque {
			for _, v := range s.Effects[x.Effect].Writes {
				add(&written, &e.Writes, v)
			}
		}
	}
	s.Insts = s.Insts[:first]
	s.Opaque(e)
}

// prune removes from a block assignments to flags that nothing reads, in it or
// behind it (live), and the temporaries that only those used. Calls and returns
// leave no flag of use.
func (s *stream) prune(arch *ir.Arch, marks lohi, firstTemp uint32, live Set) {
	if marks.lo == marks.hi {
		return
	}
	lo := int(s.marks[marks.lo].first)
	n := len(s.Insts) - lo
	needed := s.scratch(&s.needed, int(s.Temps-firstTemp))
	keep := s.scratch(&s.keep, n)
	var dead [128]bool
	for r := range arch.Register {
		if r < len(dead) && arch.Register[r].Bits == 1 {
			dead[r] = !live.Has(r)
		}
	}
	for i := n - 1; i >= 0; i-- {
		keep[i] = s.wanted(&s.Insts[lo+i], arch, needed, firstTemp, &dead)
	}
	to, k := lo, marks.lo
	for i := range n {
		for k < marks.hi && int(s.marks[k].first) == lo+i {
			s.marks[k].first = uint32(to)
			k++
		}
		if keep[i] {
			s.Insts[to] = s.Insts[lo+i]
			to++
		}
	}
	for ; k < marks.hi; k++ {
		s.marks[k].first = uint32(to)
	}
	s.Insts = s.Insts[:to]
}

// scratch is a cleared slice of n, kept for the next block.
func (*stream) scratch(kept *[]bool, n int) []bool {
	if cap(*kept) < n {
		*kept = make([]bool, n)
	}
	out := (*kept)[:n]
	clear(out)
	return out
}

func (s *stream) wanted(x *ir.Inst, arch *ir.Arch, needed []bool, firstTemp uint32, dead *[128]bool) bool {
	flag := func(v ir.Value) bool { return isFlag(v, arch) }
	use := func(v ir.Value) {
		switch {
		case v.Kind == ir.Temp:
			needed[uint32(v.N)-firstTemp] = true
		case flag(v):
			dead[v.N] = false
		}
	}
	switch x.Dst.Kind {
	case ir.Temp:
		if !needed[uint32(x.Dst.N)-firstTemp] {
			return false
		}
	case ir.Reg:
		if flag(x.Dst) {
			if dead[x.Dst.N] {
				return false
			}
			dead[x.Dst.N] = true
		}
	}
	switch x.Op {
	case ir.Call, ir.Return:
		for r := range arch.Register {
			if r < 128 && arch.Register[r].Bits == 1 {
				dead[r] = true
			}
		}
	case ir.Opaque:
		e := &s.Effects[x.Effect]
		for _, v := range e.Writes {
			if flag(v) {
				dead[v.N] = true
			}
		}
		for _, v := range e.Reads {
			use(v)
		}
	}
	use(x.A)
	use(x.B)
	use(x.C)
	return true
}

// sourceAt is the index of the source block that starts at addr.
func sourceAt(blocks []SourceBlock, addr uint64) (int, bool) {
	i := sort.Search(len(blocks), func(i int) bool { return blocks[i].Start >= addr })
	if i < len(blocks) && blocks[i].Start == addr {
		return i, true
	}
	return 0, false
}
