package program

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"rea/providers/embedded/isa"
	"rea/providers/format/object"
)

// Continuations: code that only makes sense in the middle of a function.
// Landing pads and blocks of split parts look like beginnings when no unwind
// data says otherwise, for no flow leads to them. The calling convention tells
// them apart: where a function begins, only arguments, the stack pointer and
// the return address have values; what a callee has to preserve is saved before
// it is written; the return address is where the call left it; and calls are
// made with the stack aligned.

// convention is what a calling convention says of registers; bit r of a set is
// general register r.
type convention struct {
	known bool
	given uint64 // have values where a function begins
	kept  uint64 // a callee preserves them
	align int32  // of the stack where a function of another module is called; 0: any
}

// conventionOf returns the convention of compiled code of the image's platform.
// Go passes no register through calls; 32-bit x86 has too many conventions.
func conventionOf(im *object.Image) convention {
	set := func(rs ...isa.Reg) (m uint64) {
		for _, r := range rs {
			m |= 1 << r
		}
		return m
	}
	switch {
	case im.GoVersion != "" || im.Arch == object.X86:
		return convention{}
	case im.Arch == object.ARM64: // x0…x8, x16…x18 and the link register
		return convention{known: true, given: 1<<9 - 1 | set(16, 17, 18, 30, isa.SP), kept: 1<<30 - 1<<19}
	case im.Format == object.PE: // rcx, rdx, r8, r9, r10, rsp
		return convention{known: true, given: set(1, 2, 8, 9, 10, 4), kept: set(3, 5, 6, 7, 12, 13, 14, 15), align: 16}
	}
	// rdi, rsi, rdx, rcx, r8, r9, r10, rsp
	return convention{known: true, given: set(7, 6, 2, 1, 8, 9, 10, 4), kept: set(3, 5, 12, 13, 14, 15), align: 16}
}

// raises says whether code of the image catches exceptions of the Itanium ABI.
func raises(im *object.Image) bool {
	return slices.ContainsFunc(im.Imports, func(i object.Import) bool {
		return strings.HasPrefix(strings.TrimLeft(i.Name, "_"), "Unwind_Resume") || strings.HasPrefix(strings.TrimLeft(i.Name, "_"), "cxa_begin_catch")
	}) || slices.ContainsFunc(im.Sections, func(s object.Section) bool { return s.Name == ".gcc_except_table" && s.Size > 0 })
}

const (
	continuationInsts = 64 // instructions looked at
	continuationPaths = 8  // ways that wait to be looked at
)

// onward is a way through the code from a possible beginning.
type onward struct {
	off  uint32
	h    height
	have uint64 // registers with values
	kept uint64 // saved registers
}

// continues says whether the code at off cannot be the beginning of a function
// of compiled code.
func (r *recovery) continues(off uint32) bool {
	c := &r.conv
	if !c.known {
		return false
	}
	ways := append(make([]onward, 0, continuationPaths), onward{off: off, h: height{set: true, spKnown: true}, have: c.given})
	seen := make([]uint32, 0, continuationInsts)
	var in isa.Inst
	for len(ways) > 0 {
		w := ways[len(ways)-1]
		ways = ways[:len(ways)-1]
		for g := r.sp.at(w.off); w.off < g.end() && len(seen) < continuationInsts && !slices.Contains(seen, w.off); {
			if w.off != off && r.starts.has(w.off) {
				break
			}
			seen = append(seen, w.off)
			r.decode(w.off, &in)
			if in.Flow == isa.Invalid || w.off+uint32(in.Len) > g.end() {
				break
			}
			if r.breaks(&w, &in) {
				return true
			}
			next := w.off + uint32(in.Len)
			switch in.Flow {
			case isa.CondJump:
				if w.off == off && in.Cond < isa.CondZero {
					return true // on flags that nothing has set
				}
				if t := r.sp.off(in.Target); t != none && r.sp.at(t) == g && len(ways) < continuationPaths {
					w := w
					w.off = t
					ways = append(ways, w)
				}
			case isa.Jump:
				t := r.sp.off(in.Target)
				if t == none || r.starts.has(t) || r.sp.at(t) != g {
					next = none
				} else {
					next = t
				}
			case isa.Call, isa.IndirectCall:
				if !r.comesBack(w.off, &in) {
					next = none
				}
				w.have |= r.lost
			case isa.IndirectJump, isa.Return, isa.Trap:
				next = none
			}
			if next == none {
				break
			}
			stepHeight(r.im.Arch, &w.h, &in)
			w.off = next
		}
	}
	return false
}

// breaks says whether an instruction does, on a way from a beginning, what no
// function does, and notes what it saves and writes.
func (r *recovery) breaks(w *onward, in *isa.Inst) bool {
	c := &r.conv
	sp, fp, _ := stackRegs(r.im.Arch)
	arm := r.im.Arch == object.ARM64
	if in.Class == isa.Nop || in.Class == isa.EndBranch {
		return false
	}
	reads := in.Reads &^ w.have
	switch {
	case in.Class == isa.Push && !in.HasMem && in.Src != isa.NoReg:
		reads, w.kept = 0, w.kept|1<<in.Src // saved, or kept for the alignment
	case in.Class == isa.Store && in.HasMem && in.Mem.Index == isa.NoReg && (in.Mem.Base == sp || in.Mem.Base == fp && w.have&(1<<fp) != 0):
		for _, s := range [...]isa.Reg{in.Src, in.Src2} {
			if s < 64 {
				reads &^= 1 << s
				w.kept |= 1 << s
			}
		}
	case in.Class == isa.Test && in.Size == 1 && in.Src == 0 && in.Src2 == 0 && !arm:
		reads = 0 // the number of vector arguments
	case !arm && (in.Class == isa.Or && in.HasImm && in.Imm == -1 || in.Class == isa.And && in.HasImm && in.Imm == 0 || borrows(r.sp.bytes(w.off))):
		reads &^= in.Writes // whatever the register held
	case in.Flow == isa.Return:
		return false
	}
	if reads&^(1<<isa.ZR) != 0 {
		return true
	}
	if in.HasMem && in.Class != isa.Push && in.Class != isa.Pop && !arm && in.Mem.Index == isa.NoReg && in.Mem.Base == sp && w.h.spKnown && int64(w.h.sp)+in.Mem.Disp == 0 && in.Class != isa.Address {
		return true // the return address
	}
	switch in.Flow {
	case isa.Call, isa.IndirectCall:
		if arm {
			return w.kept&(1<<30) == 0 // whoever calls saves where it was called from
		}
		return c.align > 0 && w.h.spKnown && (w.h.sp-8)%c.align != 0 && r.callsOut(in)
	}
	if in.Writes&c.kept&^w.kept != 0 {
		return true
	}
	w.have |= in.Writes
	return false
}

// borrows says whether b is sbb of a register with itself, which leaves of it
// only the carry.
func borrows(b []byte) bool {
	rex := byte(0)
	if len(b) > 2 && b[0]&0xf0 == 0x40 {
		rex, b = b[0], b[1:]
	}
	return len(b) > 1 && b[0]|3 == 0x1b && b[1] >= 0xc0 && b[1]>>3&7 == b[1]&7 && rex>>2&1 == rex&1
}

// callsOut says whether a call goes to another module.
func (r *recovery) callsOut(in *isa.Inst) bool {
	if in.Flow == isa.Call {
		t := r.sp.off(in.Target)
		return t == none || r.stubs.has(t)
	}
	_, ok := r.slots[r.wrap(in.Mem.Disp)]
	return ok && in.HasMem && in.Mem.Index == isa.NoReg && (in.Mem.Base == isa.PC || in.Mem.Base == isa.NoReg)
}

// comesBack says whether the call at off is known to return.
func (r *recovery) comesBack(off uint32, in *isa.Inst) bool {
	if r.noRetSite[off] {
		return false
	}
	if in.Flow == isa.IndirectCall {
		return !in.HasMem || in.Mem.Base != isa.PC || !r.d.noRetSlots[r.wrap(in.Mem.Disp)]
	}
	t := r.sp.off(in.Target)
	if t == none {
		return !r.d.noRetPlace[in.Target]
	}
	if r.noRet.has(t) {
		return false
	}
	if r.stubs.has(t) {
		return true
	}
	f := r.byEntry[t]
	return f != nil && (f.returns || slices.ContainsFunc(f.exits, func(e exit) bool {
		g := r.byEntry[e.to]
		return e.kind <= exitCond && g != nil && g.returns
	}))
}

// holderOf returns the function that a continuation at a belongs to: the one
// that ends before it, or else the one whose middle it jumps to. Among parts,
// which lie apart from their functions, place says little: loose is then set.
// before is who got the piece right before a, when that is known.
func (r *recovery) holderOf(a uint32, p *probe, owned bitset, before *fn) (f *fn, loose bool) {
	if before != nil {
		return before, false
	}
	if lo := a - r.paddingBefore(a); lo > r.sp.at(a).base && owned.has(lo-1) {
		before = r.holding(lo - 1)
	}
	switch {
	case before != nil && before.entry < a && r.starts.next(before.entry+1, a) == a:
		return before, false
	case p.inner != nil:
		return p.inner, false
	}
	return before, before != nil
}

// holding returns a function with a block that holds off, or nil.
func (r *recovery) holding(off uint32) *fn {
	if f := r.ownerOf(off); f != nil {
		return f
	}
	r.strayOnce.Do(r.listStray)
	i := sort.Search(len(r.stray), func(i int) bool { return r.stray[i].lo > off }) - 1
	if i >= 0 && off < r.stray[i].hi {
		return r.stray[i].f
	}
	return nil
}

// stray is a block that lies not between its function's entry and the next one.
type stray struct {
	span
	f *fn
}

// listStray lists such blocks, sorted.
func (r *recovery) listStray() {
	r.stray = r.stray[:0]
	put := func(f *fn, bs []block) {
		for i := range bs {
			r.stray = append(r.stray, stray{span{bs[i].start, bs[i].end}, f})
		}
	}
	for i, f := range r.funcs {
		k := sort.Search(len(f.blocks), func(k int) bool { return f.blocks[k].start >= f.entry })
		put(f, f.blocks[:k])
		if i+1 < len(r.funcs) {
			next := r.funcs[i+1].entry
			k = sort.Search(len(f.blocks), func(k int) bool { return f.blocks[k].start >= next })
			put(f, f.blocks[k:])
		}
	}
	slices.SortFunc(r.stray, func(a, b stray) int {
		return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.f.entry, b.f.entry))
	})
}

// attach gives the code at [lo, hi) to f, be it outside what a table states of f.
// Without exceptions, what follows a call that does not return is not a landing
// pad but dead code.
func (r *recovery) attach(f *fn, lo, hi uint32) {
	f.pads = append(f.pads, lo)
	if i, found := slices.BinarySearch(f.holeStarts, lo); !found && !r.raises {
		f.holeStarts = slices.Insert(f.holeStarts, i, lo)
	}
	if len(f.extents) > 0 && !f.inside(lo) {
		f.extents = append(f.extents, span{lo, hi})
		slices.SortFunc(f.extents, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	}
	r.touch(f)
}

// dead says whether the code at a, behind a call that does not return, is but a
// jump to the function that follows: compilers that optimize nothing give the
// place behind such a call a block, which they end at the function's end.
func (r *recovery) dead(a uint32, owned bitset) bool {
	var in isa.Inst
	r.decode(a, &in)
	lo := r.sp.at(a).base
	if in.Flow != isa.Jump || a == lo || !owned.has(a-1) || r.sp.off(in.Target) != r.starts.next(a, r.sp.at(a).end()) {
		return false
	}
	f := r.holding(a - 1)
	if f == nil {
		return false
	}
	i := f.blockAt(a - 1)
	return i >= 0 && f.blocks[i].end == a && r.d.kind(f.blocks[i].last) != kindReturn && r.d.kind(f.blocks[i].last) != kindJump && r.d.kind(f.blocks[i].last) != kindIndJump
}

// stretch is the end of the instructions that follow one another from a on.
func (r *recovery) stretch(a uint32) uint32 {
	var in isa.Inst
	for end := r.sp.at(a).end(); a < end; {
		r.decode(a, &in)
		if in.Flow == isa.Invalid || a+uint32(in.Len) > end {
			return a
		}
		at := a
		a += uint32(in.Len)
		switch in.Flow {
		case isa.Jump, isa.IndirectJump, isa.Return, isa.Trap:
			return a
		case isa.Call, isa.IndirectCall:
			if t := r.sp.off(in.Target); r.noRetSite[at] || in.Flow == isa.Call && t != none && r.noRet.has(t) {
				return a
			}
		}
		if a < end && (r.starts.has(a) || r.covered.has(a)) {
			return a
		}
	}
	return a
}
