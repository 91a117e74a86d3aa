package program

import (
	"math/bits"
	"slices"

	"rea/providers/embedded/isa"
	"rea/providers/format/object"
)

// References from code: memory operands and immediates that name an address.
// Registers that hold constants are followed over all paths of a function
// (conditional constants are not), which is what AArch64's adrp pairs need.

// consts is the set of registers with known values at one point.
type consts struct {
	known  uint64
	loaded uint64 // registers, none of known, that hold the pointer stored at val
	val    [32]uint64
}

func (c *consts) meet(o *consts) (changed bool) {
	known, loaded := c.known&o.known, c.loaded&o.loaded
	for m := known | loaded; m != 0; m &= m - 1 {
		if r := bits.TrailingZeros64(m); c.val[r] != o.val[r] {
			known, loaded = known&^(1<<r), loaded&^(1<<r)
		}
	}
	changed = known != c.known || loaded != c.loaded
	c.known, c.loaded = known, loaded
	return changed
}

// forget drops what registers hold.
func (c *consts) forget(regs uint64) {
	c.known &^= regs
	c.loaded &^= regs
}

func (c *consts) get(r isa.Reg) (uint64, bool) {
	if r < 32 && c.known&(1<<r) != 0 {
		return c.val[r], true
	}
	return 0, false
}

// codeRef is one reference found in code.
type codeRef struct {
	from uint32
	kind RefKind
	to   uint64
}

// site is a computed call or jump and what is known of its target.
type site struct {
	off    uint32
	jump   bool
	slot   uint64 // the pointer it goes through, when constant
	target uint64 // its value, when constant
}

// refScanner is one worker's scratch state and results.
type refScanner struct {
	in    []consts
	set   []bool
	refs  []codeRef
	sites []site
	insns int

	insts []isa.Inst // of the function at hand, when it is kept decoded,
	first []int32    // and by block its first one
	kept  bool

	ranges   []span
	emitting emitting
	out      output
}

// maxKept bounds the instructions of a function that is kept decoded: what more
// passes than one go over should stay in the processor's cache.
const maxKept = 1 << 12

// decodeAll keeps f decoded for the passes to come, unless it is too large.
func (r *recovery) decodeAll(s *refScanner, f *fn) {
	s.insts, s.first, s.kept = s.insts[:0], s.first[:0], false
	for i := range f.blocks {
		b := &f.blocks[i]
		s.first = append(s.first, int32(len(s.insts)))
		g := r.sp.at(b.start)
		for a := b.start; a < b.end; {
			n := len(s.insts)
			if n == maxKept {
				return
			}
			if n == cap(s.insts) {
				s.insts = slices.Grow(s.insts, n+64)
			}
			s.insts = s.insts[:n+1]
			in := &s.insts[n]
			r.dec.Decode(g.data[a-g.base:], g.addr+uint64(a-g.base), in)
			a += max(1, uint32(in.Len))
		}
	}
	s.first = append(s.first, int32(len(s.insts)))
	s.kept = true
}

const refPasses = 6

// maxFlowBlocks bounds the functions over whose blocks constants are followed.
const maxFlowBlocks = 1 << 16

// scan collects the references of f. Following constants over blocks is left
// out for x86, whose addresses are in single instructions, unless deep is set.
func (r *recovery) scan(s *refScanner, f *fn, deep bool) {
	var c consts
	if r.im.Arch != object.ARM64 && !deep && !r.relative32 {
		s.kept = false
		for i := range f.blocks {
			c.forget(^uint64(0))
			r.scanBlock(s, f, i, &c, true)
		}
		return
	}
	stable := r.constants(s, f) // false also for functions of too many blocks
	for i := range f.blocks {
		c.forget(^uint64(0))
		if stable && s.set[i] {
			c = s.in[i]
		}
		r.scanBlock(s, f, i, &c, true)
	}
}

// constants computes the registers that hold constants at the start of every
// block of f. It gives up, and says so, when a few passes do not settle.
func (r *recovery) constants(s *refScanner, f *fn) bool {
	n := len(f.blocks)
	if n > maxFlowBlocks {
		s.set, s.kept = s.set[:0], false
		return false
	}
	r.decodeAll(s, f)
	if cap(s.in) < n {
		s.in, s.set = make([]consts, n), make([]bool, n)
	}
	s.in, s.set = s.in[:n], s.set[:n]
	clear(s.set)
	if i := f.blockStart(f.entry); i >= 0 {
		s.in[i], s.set[i] = consts{}, true
	}
	flow := func(j, i int, c *consts) bool {
		if !s.set[j] {
			s.in[j], s.set[j] = *c, true
			return j <= i
		}
		return s.in[j].meet(c) && j <= i
	}
	var c consts
	for range refPasses {
		again := false
		for i := range f.blocks {
			if !s.set[i] {
				continue
			}
			c = s.in[i]
			r.scanBlock(s, f, i, &c, false)
			r.succ(f, &f.blocks[i], func(to int, kind EdgeKind) {
				if kind == EdgeLandingPad {
					again = flow(to, i, &consts{}) || again
					return
				}
				again = flow(to, i, &c) || again
			})
		}
		if !again {
			return true
		}
	}
	return false
}

// scanBlock advances c over block i of f and, when emit is set, records
// references.
func (r *recovery) scanBlock(s *refScanner, f *fn, i int, c *consts, emit bool) {
	b := &f.blocks[i]
	g := r.sp.at(b.start)
	var asked uint64 // the address that the instruction before pushed
	step := func(a uint32, in *isa.Inst) {
		if emit {
			s.insns++
			r.scanInst(s, a, in, c)
		}
		if l := r.leafAt(in); l != nil {
			if c.forget(l.writes); l.pc < 32 {
				c.put(l.pc, in.Addr+uint64(in.Len))
			}
		} else if asksPC(r.im.Arch, in) {
			asked = in.Target
			return
		} else if stepConsts(c, in, r.im.Arch, r.lost); asked != 0 && in.Class == isa.Pop && in.Dst < 32 {
			c.put(in.Dst, asked)
		}
		asked = 0
	}
	if s.kept {
		for k := s.first[i]; k < s.first[i+1]; k++ {
			in := &s.insts[k]
			step(g.base+uint32(in.Addr-g.addr), in)
		}
		return
	}
	var in isa.Inst
	for a := b.start; a < b.end; a += max(1, uint32(in.Len)) {
		r.dec.Decode(g.data[a-g.base:], g.addr+uint64(a-g.base), &in)
		step(a, &in)
	}
}

// stepConsts applies an instruction to the known registers.
func stepConsts(c *consts, in *isa.Inst, arch object.Arch, lost uint64) {
	var v uint64
	ok := false
	word := uint8(8)
	if arch == object.X86 {
		word = 4
	}
	switch in.Class {
	case isa.Address:
		if in.Mem.Index == isa.NoReg && (in.Mem.Base == isa.PC || in.Mem.Base == isa.NoReg) {
			v, ok = uint64(in.Mem.Disp), true
		} else if in.Mem.Index == isa.NoReg {
			if x, k := c.get(in.Mem.Base); k {
				v, ok = x+uint64(in.Mem.Disp), true
			}
		}
	case isa.Move:
		if in.HasImm && in.Src == isa.NoReg {
			v, ok = uint64(in.Imm), in.Size >= 4
			if in.Size == 4 {
				v = uint64(uint32(v))
			}
		} else if x, k := c.get(in.Src); k && in.Size == word {
			v, ok = x, true
		}
	case isa.Add:
		if x, k := c.get(in.Src); k && in.HasImm && in.Src2 == isa.NoReg && in.Size == word && !in.HasMem {
			v, ok = x+uint64(in.Imm), true
		}
	}
	if arch == object.X86 {
		v = uint64(uint32(v))
	}
	slot, loads := uint64(0), false
	if in.Class == isa.Load && in.Src2 == isa.NoReg && in.Mem.Size == word && in.Mem.Index == isa.NoReg && in.Mem.Segment == 0 && !in.HasImm {
		slot, loads = c.place(&in.Mem)
	}
	c.forget(in.Writes)
	if in.Flow == isa.Call || in.Flow == isa.IndirectCall {
		c.forget(lost)
		return
	}
	if in.Dst >= 32 || in.Writes&(1<<in.Dst) == 0 {
		return
	}
	if ok {
		c.put(in.Dst, v)
	} else if loads {
		c.val[in.Dst] = slot
		c.loaded |= 1 << in.Dst
	}
}

func (c *consts) put(r isa.Reg, v uint64) {
	c.val[r] = v
	c.known |= 1 << r
}

// place is the address of an operand without an index, where it is constant.
func (c *consts) place(m *isa.Mem) (uint64, bool) {
	if m.Base == isa.PC || m.Base == isa.NoReg {
		return uint64(m.Disp), true
	}
	x, ok := c.get(m.Base)
	return x + uint64(m.Disp), ok
}

// access is the kind of a memory operand.
func access(in *isa.Inst) RefKind {
	switch in.Class {
	case isa.Address:
		return RefAddress
	case isa.Store:
		return RefWrite
	case isa.Pop:
		return RefWrite
	case isa.Add, isa.Sub, isa.And, isa.Or, isa.Xor, isa.Shift:
		if in.Dst == isa.NoReg {
			return RefWrite
		}
	}
	return RefRead
}

// scanInst records the references of one instruction.
func (r *recovery) scanInst(s *refScanner, a uint32, in *isa.Inst, c *consts) {
	arm := r.im.Arch == object.ARM64
	put := func(to uint64, k RefKind) {
		if r.mapped(to) {
			s.refs = append(s.refs, codeRef{a, k, to})
		}
	}
	switch in.Flow {
	case isa.Call:
		put(in.Target, RefCall)
		return
	case isa.IndirectCall, isa.IndirectJump:
		r.scanSite(s, a, in, c)
	}
	if in.HasMem && in.Mem.Segment == 0 && in.Class != isa.Nop {
		m := &in.Mem
		switch {
		case m.Base == isa.PC && m.Index == isa.NoReg:
			if arm && in.Class == isa.Address && m.Disp&0xfff == 0 {
				break // adrp: the instruction that completes it is the reference
			}
			put(uint64(m.Disp), access(in))
		case m.Base == isa.NoReg && m.Index == isa.NoReg:
			if !arm {
				put(r.wrap(m.Disp), access(in))
			}
		case m.Base < 32 && c.known&(1<<m.Base) != 0 && (r.relative32 || m.Index == isa.NoReg && in.Class != isa.Address):
			if x, ok := c.get(m.Base); ok {
				put(r.wrap(int64(x)+m.Disp), access(in))
			}
		case !arm && m.Disp > 0 && r.static && r.mapped(r.wrap(m.Disp)):
			put(r.wrap(m.Disp), access(in))
		}
	}
	if arm {
		if in.Class == isa.Add && in.HasImm && in.Src2 == isa.NoReg {
			if x, ok := c.get(in.Src); ok && x&0xfff == 0 {
				put(x+uint64(in.Imm), RefAddress)
			}
		}
		return
	}
	if in.HasImm && in.Size >= 4 && in.Imm > 0 && (in.Class == isa.Move || in.Class == isa.Store || in.Class == isa.Push || in.Class == isa.Compare || in.Class == isa.Add) {
		if r.static && r.addressLike(r.wrap(in.Imm)) && !r.mask(in) || r.codeRelocs && r.relocInside(in.Addr, in.Len) {
			put(r.wrap(in.Imm), RefAddress)
		}
	}
}

// mask says whether an immediate is a number that only happens to lie in the
// code: it is compared or added, and no function starts there.
func (r *recovery) mask(in *isa.Inst) bool {
	if in.Class != isa.Compare && in.Class != isa.Add {
		return false
	}
	o := r.sp.off(r.wrap(in.Imm))
	return o != none && !r.starts.has(o)
}

func (r *recovery) wrap(v int64) uint64 {
	if r.im.Bits == 32 {
		return uint64(uint32(v))
	}
	return uint64(v)
}

// scanSite records a computed call or jump.
func (r *recovery) scanSite(s *refScanner, a uint32, in *isa.Inst, c *consts) {
	st := site{off: a, jump: in.Flow == isa.IndirectJump}
	switch {
	case in.HasMem && in.Mem.Index == isa.NoReg && (in.Mem.Base == isa.PC || in.Mem.Base == isa.NoReg) && in.Mem.Segment == 0:
		st.slot = r.wrap(in.Mem.Disp)
	case in.HasMem && in.Mem.Index == isa.NoReg:
		if x, ok := c.get(in.Mem.Base); ok {
			st.slot = r.wrap(int64(x) + in.Mem.Disp)
		}
	case !in.HasMem && in.Src < 32:
		if x, ok := c.get(in.Src); ok {
			st.target = x
		} else if c.loaded&(1<<in.Src) != 0 {
			st.slot = r.wrap(int64(c.val[in.Src]))
		}
	}
	s.sites = append(s.sites, st)
}

// mapped says whether an address lies in a mapped section, or in a segment of
// a file without sections.
func (r *recovery) mapped(a uint64) bool {
	if a < r.lowMapped || a >= r.highMapped {
		return false
	}
	return r.im.SegmentAt(a) != nil
}

// addressLike says whether an immediate of a file at a fixed address is
// taken for one: it lies in a named section, not merely in a segment.
func (r *recovery) addressLike(a uint64) bool {
	return a >= r.lowMapped && a < r.highMapped && r.sectionAt(a) != nil
}

// relocInside says whether a relocation applies inside the instruction.
func (r *recovery) relocInside(addr uint64, n uint8) bool {
	for i := uint64(0); i < uint64(n); i++ {
		if _, ok := r.relocated(addr + i); ok {
			return true
		}
	}
	return false
}

// takenAddresses returns the code addresses that owned code takes outside
// stated extents, and marks those it reads from: they are data. Functions already read are not read again until they are
// walked again.
func (r *recovery) takenAddresses() ([]pointer, error) {
	if r.allCovered() {
		return nil, nil
	}
	var todo []*fn
	for _, f := range r.funcs {
		if !f.read {
			todo = append(todo, f)
		}
	}
	got, reads := make([][]pointer, len(todo)), make([][]uint32, len(todo))
	longest := sortedBy(r.workers, len(todo), func(i int) uint64 { return ^uint64(len(todo[i].blocks)) })
	err := each(r.ctx, r.workers, len(todo), 8, func(w, k int) {
		s, i := &r.scanners[w], longest[k]
		s.refs, s.sites = s.refs[:0], s.sites[:0]
		r.scan(s, todo[i], true)
		todo[i].read = true
		for _, x := range s.refs {
			o := none
			if x.kind == RefAddress || x.kind == RefRead || x.kind == RefWrite {
				o = r.sp.off(x.to)
			}
			if o != none && !r.covered.has(o) {
				if x.kind == RefAddress {
					got[i] = append(got[i], pointer{r.sp.addr(x.from), o})
				} else {
					reads[i] = append(reads[i], o)
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for i, g := range got {
		r.taken = append(r.taken, g...)
		for _, o := range reads[i] {
			r.readAt.set(o)
		}
	}
	return r.taken, nil
}
