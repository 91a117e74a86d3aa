package ssa

import (
	"context"
	"math"

	"rea/providers/embedded/ir"
)

// Before variables are named, a forward data flow over the general registers
// finds which of them hold frame addresses: the distance from the stack pointer
// at entry, or, after the stack pointer was aligned, from there. What it finds
// decides which memory accesses are cells and which addresses others may know.

// where is what is known of a register.
type where uint8

const (
	unset   where = iota
	initial       // what the register numbered off held at entry
	exact         // base + off
	derived       // some address of the frame at or above base + off
	number        // off
	other         // anything
)

// place is one element of the lattice.
type place struct {
	is   where
	base uint8
	off  int64
}

// general is the number of registers followed: the general ones of every
// architecture have the lowest numbers.
const general = 32

type places [general]place

// farthest bounds distances in a frame.
const farthest = 1 << 31

func (p place) frame() bool { return p.is == exact || p.is == derived }

func (p place) plus(d int64) place {
	if !p.frame() {
		return place{is: other}
	}
	off := p.off + d
	if off > farthest || off < -farthest {
		if p.is == exact {
			return place{is: other}
		}
		off = math.MinInt64 / 2
	}
	return place{p.is, p.base, off}
}

func (p place) meet(q place) place {
	switch {
	case p == q || q.is == unset:
		return p
	case p.is == unset:
		return q
	case p.frame() && q.frame() && p.base == q.base:
		return place{derived, p.base, min(p.off, q.off)}
	case p.is == derived && !q.frame():
		return p
	case q.is == derived && !p.frame():
		return q
	case p.is == exact && !q.frame():
		return place{derived, p.base, p.off}
	case q.is == exact && !p.frame():
		return place{derived, q.base, q.off}
	}
	return place{is: other}
}

// frame is the result of the flow.
type frame struct {
	in       *Input
	s        *stream
	arch     *ir.Arch
	states   []places // at block starts
	temps    []place
	cells    []Cell
	accesses []frameAccess
	escapes  [2]int64
	low      int64
	known    bool
	lost     int // blocks that nothing is known to lead to
	record   bool
	effects  map[uint64]Effect
	callSP   map[uint64]place // the stack pointer at calls, where it is known
}

// frameAccess is a memory access at a constant place of the frame.
type frameAccess struct {
	statement uint32
	base      uint8
	off, size int64
	write     bool
	saves     bool // stores a register of the caller
}

// visits bounds how often a block's state is lowered before everything that
// still changes is given up.
const visits = 12

func (f *frame) run(ctx context.Context, order []int, entry int) error {
	n := len(f.in.Blocks)
	f.states = make([]places, n)
	f.temps = make([]place, f.s.Temps)
	f.known = true
	f.escapes = [2]int64{math.MaxInt64, math.MaxInt64}
	for r := range f.states[entry] {
		f.states[entry][r] = place{is: initial, off: int64(r)}
	}
	f.states[entry][f.in.SP] = place{is: exact}
	pending := make([]bool, n)
	count := make([]uint8, n)
	for _, b := range order {
		pending[b] = true
	}
	for work := len(order); work > 0; {
		for _, b := range order {
			if !pending[b] {
				continue
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			pending[b] = false
			work--
			st := f.states[b]
			if st[f.in.SP].is == unset {
				continue // nothing is known to lead here
			}
			f.block(b, &st)
			for _, to := range f.in.Blocks[b].To {
				if f.lower(to, &st, &count[to]) && !pending[to] {
					pending[to] = true
					work++
				}
			}
		}
	}
	f.record = true
	for _, b := range order {
		st := f.states[b]
		if st[f.in.SP].is == unset {
			for r := range st {
				st[r].is = other
			}
			f.lost++
			f.block(b, &st)
			continue
		}
		f.block(b, &st)
		f.check(st[f.in.SP])
	}
	return nil
}

// lower meets the state of a block with what an edge brings.
func (f *frame) lower(to int, st *places, count *uint8) bool {
	pad := f.in.Blocks[to].Pad
	changed := false
	for r := range st {
		old, brought := f.states[to][r], st[r]
		if pad && !f.in.Saved.Has(r) && r != f.in.SP {
			brought = place{is: other}
		}
		p := old.meet(brought)
		if p == old {
			continue
		}
		if *count >= visits {
			if p.is == derived && p.off > math.MinInt64/2 {
				p.off = math.MinInt64 / 2
			} else if p.is == exact {
				p = place{is: other}
			}
			if p == old {
				continue
			}
		}
		f.states[to][r] = p
		changed = true
	}
	if changed && *count < visits {
		*count++
	}
	return changed
}

func (f *frame) get(st *places, v ir.Value) place {
	switch v.Kind {
	case ir.Reg:
		if v.N < general {
			return st[v.N]
		}
	case ir.Temp:
		return f.temps[v.N]
	}
	return place{is: other}
}

func (f *frame) set(st *places, v ir.Value, p place) {
	switch v.Kind {
	case ir.Reg:
		if v.N < general {
			st[v.N] = p
		}
	case ir.Temp:
		f.temps[v.N] = p
	}
}

// escape notes that others may know the address.
func (f *frame) escape(p place) {
	if p.frame() {
		f.escapes[p.base] = min(f.escapes[p.base], p.off)
	}
}

func (f *frame) block(b int, st *places) {
	m := f.s.blocks[b].marks
	for k := m.lo; k < m.hi; k++ {
		code := f.s.statements(k)
		for i := range code {
			f.statement(&code[i], f.s.marks[k].first+uint32(i), f.s.marks[k].addr, st)
		}
		if f.record && st[f.in.SP].is == exact && st[f.in.SP].base == 0 {
			f.low = min(f.low, st[f.in.SP].off)
		}
	}
}

// check notes whether the stack pointer is known at the end of a block.
func (f *frame) check(sp place) {
	if sp.is != exact {
		f.known = false
	}
}

func signExtended(v ir.Value) int64 {
	if v.Bits >= 64 {
		return int64(v.N)
	}
	return int64(v.N<<(64-v.Bits)) >> (64 - v.Bits)
}

func (f *frame) statement(x *ir.Inst, at uint32, addr uint64, st *places) {
	a, b := f.get(st, x.A), f.get(st, x.B)
	result := place{is: other}
	switch x.Op {
	case ir.Copy:
		result = a
		if x.A.Kind == ir.Const && x.A.Bits == f.arch.Bits {
			result = place{is: number, off: int64(x.A.N)}
		}
	case ir.Add:
		result = f.sum(x, a, b)
	case ir.Sub:
		switch {
		case a.frame() && x.B.Kind == ir.Const:
			result = a.plus(-signExtended(x.B))
		case a.frame() && b.is == number && b.off >= 0 && b.off < farthest: // large frames, after the stack was checked
			result = a.plus(-b.off)
		case a.frame() && !b.frame():
			if x.A.Kind != ir.Reg || int(x.A.N) != f.in.SP { // from the stack pointer: new memory below the frame
				result = place{derived, a.base, math.MinInt64 / 2}
			}
		}
	case ir.And:
		if a.is == exact && x.B.Kind == ir.Const && signExtended(x.B) < 0 && a.base == 0 {
			result = place{is: exact, base: 1}
		} else if a.frame() {
			result = place{derived, a.base, math.MinInt64 / 2}
		}
	case ir.Select:
		c := f.get(st, x.C)
		if b.frame() || c.frame() {
			result = b.meet(c)
			if result.is == exact && b != c {
				result.is = derived
			}
		}
	case ir.Load:
		f.access(x, at, a, int64(x.Dst.Bits/8), false, place{})
	case ir.Store:
		f.access(x, at, a, int64(x.B.Bits/8), true, b)
		if f.record {
			f.escape(b)
		}
		return
	case ir.Call:
		f.call(addr, st)
		return
	case ir.Jump:
		if f.record {
			for _, r := range f.in.Arguments {
				if r < general {
					f.escape(st[r])
				}
			}
		}
		return
	case ir.Return:
		if f.record {
			for _, r := range f.in.Results {
				if r < general {
					f.escape(st[r])
				}
			}
		}
		return
	case ir.Opaque:
		e := &f.s.Effects[x.Effect]
		for _, v := range e.Reads {
			if p := f.get(st, v); f.record && (v.Kind != ir.Reg || int(v.N) != f.in.SP) {
				f.escape(p)
			}
		}
		for _, v := range e.Writes {
			f.set(st, v, place{is: other})
		}
		return
	case ir.Branch, ir.Trap, ir.Eq, ir.Ne, ir.LtU, ir.LeU, ir.LtS, ir.LeS, ir.Undef:
	case ir.Extract, ir.Zext, ir.Sext, ir.Concat:
		// Parts of addresses: flags, or arithmetic on pointers that is given up.
		if f.record && x.Dst.Bits >= 16 && (x.Op != ir.Extract || x.Dst.Bits*2 >= x.A.Bits) {
			f.escape(a)
			f.escape(b)
		}
	default:
	}
	if x.Dst.Kind != ir.None {
		if x.Dst.Bits != f.arch.Bits {
			result = place{is: other}
		}
		f.set(st, x.Dst, result)
	}
}

func (f *frame) sum(x *ir.Inst, a, b place) place {
	switch {
	case a.frame() && x.B.Kind == ir.Const:
		return a.plus(signExtended(x.B))
	case b.frame() && x.A.Kind == ir.Const:
		return b.plus(signExtended(x.A))
	case a.frame() && !b.frame():
		return place{derived, a.base, a.off}
	case b.frame() && !a.frame():
		return place{derived, b.base, b.off}
	case a.frame():
		return place{derived, a.base, math.MinInt64 / 2}
	}
	return place{is: other}
}

func (f *frame) access(x *ir.Inst, at uint32, p place, size int64, write bool, v place) {
	if !f.record {
		return
	}
	switch p.is {
	case exact:
		saves := write && v.is == initial && f.in.Saved.Has(int(v.off))
		f.accesses = append(f.accesses, frameAccess{at, p.base, p.off, size, write, saves})
		if p.base == 0 {
			f.low = min(f.low, p.off)
		}
	case derived:
		f.escape(p)
	}
}

// effectAt is what the call at addr does.
func (f *frame) effectAt(addr uint64) Effect {
	e, ok := f.effects[addr]
	if !ok {
		e = f.in.Call(addr)
		f.effects[addr] = e
	}
	return e
}

func (f *frame) call(addr uint64, st *places) {
	e := f.effectAt(addr)
	if f.record && st[f.in.SP].is == exact {
		f.callSP[addr] = st[f.in.SP]
	}
	if f.record && !e.Pure {
		for _, list := range [][]int{e.Args, f.in.Shared} {
			for _, r := range list {
				if r < general {
					f.escape(st[r])
				}
			}
		}
	}
	sp := st[f.in.SP]
	for r := range st {
		if r != f.in.SP && !e.Keeps.Has(r) {
			st[r] = place{is: other}
		}
	}
	if f.in.CallPushes {
		sp = sp.plus(int64(f.arch.Bits / 8))
	}
	st[f.in.SP] = sp.plus(e.Pops)
	if !sp.frame() {
		st[f.in.SP] = sp
	}
}
