package program

import (
	"math/bits"
	"slices"

	"rea/providers/embedded/isa"
	"rea/providers/format/object"
)

// Jump tables: the target of an indirect jump is evaluated over the blocks
// that lead to it. Three shapes cover what compilers write:
//
//	entry                         absolute addresses
//	base + k·entry                relative (gcc, clang: base is the table; MSVC: the
//	                              image base; AArch64: an adr and k = 4)
//	either, indexed by a byte     two-level tables
//
// The number of entries comes from the comparison that guards the jump. A jump
// without one (computed goto, an unreachable default) takes the longest run of
// entries that stay inside its function, and the table is marked unbounded.

const (
	maxTable      = 1 << 16 // entries of one table
	maxTables     = 1 << 17 // tables of one program
	pathDepth     = 8       // blocks a path may have
	pathTries     = 256     // paths tried for one jump,
	leastTries    = 24      // and for each of many in one function
	pathSteps     = 1 << 14 // instructions evaluated for one jump
	sharedTables  = 16      // tables of one jump
	dispatchers   = 8       // computed jumps whose ways to a block are followed back
	unboundedMost = 1024    // entries taken without a bound
)

// table is a resolved indirect jump.
type table struct {
	jump      uint32
	addr      uint64 // of the entries
	entry     uint8  // bytes of an entry
	signed    bool
	base      uint64 // added to each entry; 0 for absolute ones
	scale     int64  // multiplied with each entry; 0 for absolute ones
	count     int
	indexAddr uint64 // two-level: the byte table
	indexLen  int
	bounded   bool // by a comparison or a mask
	most      int  // entries that an index of its width reaches; 0: any
	complete  bool // every entry was valid
	targets   []uint32
	once      []uint32 // the targets, those of also too, sorted, each once, without
	void      uint32   // the end of the function, where entries lead that nothing reads
	also      []*table // other tables that the same jump reads
}

// shape is a recognized table access whose length is not yet known.
type shape struct {
	t     table
	index lin // of the (first-level) table
	// anchor is where the code says that the table is; addr is before or behind
	// it where a number was taken off the index, or added to it
	anchor uint64
	weak   bool // bounded by a signed comparison only, which says nothing of what is below,
	// or masked: by a mask or a shift only, where a comparison before may say more
	masked bool
}

// matchShape reads a jump target as a table access.
func matchShape(target lin) (shape, bool) {
	var s shape
	if target.n != 1 {
		return s, false
	}
	t, k := target.t[0].term, target.t[0].coef
	signed := false
	for t.kind == termExt && t.arg.n == 1 && t.arg.c == 0 && t.arg.t[0].coef == 1 {
		signed = signed || t.signed
		t = t.arg.t[0].term
	}
	if t.kind != termLoad {
		return s, false
	}
	s.t.signed = t.signed || signed
	s.t.entry = t.size
	if target.c == 0 && k == 1 {
		if t.size < 4 {
			return s, false
		}
	} else {
		if target.c == 0 || k != 1 && k != 2 && k != 4 {
			return s, false
		}
		s.t.base, s.t.scale = uint64(target.c), k
	}
	if t.arg.n == 0 || t.arg.c == 0 {
		return s, false
	}
	s.t.addr, s.anchor = uint64(t.arg.c), uint64(t.imm)
	s.index = t.arg
	s.index.c = 0
	for i := range t.arg.n {
		if m := s.index.t[i].term; m.kind == termMask && s.index.t[i].coef == 1 && m.imm%int64(t.size) == 0 && t.size > 1 { // scaled before it was masked
			s.index.t[i].term, s.index.t[i].coef = &term{kind: termMask, size: t.size, imm: m.imm / int64(t.size), arg: m.arg}, int64(t.size)
		}
		if s.index.t[i].coef%int64(t.size) != 0 {
			return s, false
		}
		s.index.t[i].coef /= int64(t.size)
	}
	return s, t.arg.n > 1 || s.index.t[0].coef == 1
}

// remainder is k where an index is x - k·q, and 0 elsewhere: nothing but the
// remainder of a division by k can be a table's index so without a comparison.
func remainder(index *lin) int64 {
	if index.n != 2 || index.c != 0 {
		return 0
	}
	a, b := index.t[0].coef, index.t[1].coef
	if a < b {
		a, b = b, a
	}
	if a == 1 && b < -1 && b > -maxTable {
		return -b
	}
	return 0
}

// twoLevel reads the index as a byte or halfword from a constant table.
func (s *shape) twoLevel() bool {
	b := bare(s.index)
	if b.n != 1 || b.t[0].coef != 1 {
		return false
	}
	x := b.t[0].term
	if x.kind != termLoad || x.size > 2 || x.arg.n != 1 || x.arg.c < 0x100 || x.arg.t[0].coef != int64(x.size) {
		return false
	}
	s.t.addr += uint64(b.c) * uint64(s.t.entry)
	s.t.indexAddr, s.t.indexLen = uint64(x.arg.c), int(x.size)
	s.index = one(x.arg.t[0].term)
	return true
}

// limit finds the number of entries from the bounds met on the path. It may
// move the table's start: compilers fold the lowest case into its address.
func (s *shape) limit(p *path, code *space) bool {
	idx := bare(s.index)
	if k := remainder(&idx); k > 0 && s.t.indexAddr == 0 {
		s.t.count, s.t.bounded = int(k), true
		return true
	}
	if s.index.n == 1 && s.index.t[0].coef == 1 && s.index.c == 0 {
		if t := s.index.t[0].term; (t.kind == termExt || t.kind == termLoad) && t.size == 1 && !t.signed {
			s.t.most = 1 << 8
		}
	}
	if idx.n == 0 || idx.n == 1 && idx.t[0].coef != 1 {
		return false
	}
	best := int64(-1)
	var shift int64
	least, bottom, signed := int64(0), false, false
	for _, b := range p.bounds {
		if off, ok := s.compared(&b, &idx); ok && !b.low && (best < 0 || b.max < best) {
			best, shift, signed = b.max, off, b.signed
		}
	}
	for _, b := range p.bounds {
		// as unsigned numbers, those below zero are above: they are ruled out only where the index has none
		if off, ok := s.compared(&b, &idx); ok && b.low && (b.signed || shift >= off) && (!bottom || b.max+off > least) {
			least, bottom = b.max+off, true
		}
	}
	if t := idx.t[0].term; best < 0 && idx.n == 1 && idx.c == 0 && (t.kind == termMask || t.kind == termShr) {
		if t.kind == termMask && t.imm == 1<<8-1 && s.t.indexAddr == 0 { // a byte, of which not every value need have an entry
			s.t.most = 1 << 8
			return false
		}
		best, s.masked = t.imm, true
	}
	if shift < 0 && zeroExtended(s.index) { // compared before the lowest case was taken off: what is below it was ruled out before
		best, shift = best+shift, 0
	}
	if bottom && best >= 0 && (least > shift || signed) && least <= best+shift { // what is below was ruled out, or let in, by a second comparison
		best, shift = best+shift-least, least
	}
	if best < 0 || best >= maxTable {
		return false
	}
	if s.t.indexAddr != 0 {
		s.t.indexAddr += uint64(shift * int64(s.t.indexLen))
	} else {
		s.t.addr += uint64(shift * int64(s.t.entry))
	}
	s.t.count, s.t.bounded, s.weak = int(best)+1, true, signed && !bottom || s.masked
	// a base that is no code and no image is the table: nothing before it belongs to it
	if t := &s.t; t.scale == 1 && t.indexAddr == 0 && t.addr < t.base && p.arch != object.X86 {
		if below := (t.base - t.addr) / uint64(t.entry); below < uint64(t.count) && (t.base-t.addr)%uint64(t.entry) == 0 && code.off(t.base) == none {
			t.addr, t.count = t.base, t.count-int(below)
		}
	}
	return true
}

// compared returns what is added to the value that b bounds to make the index.
func (s *shape) compared(b *bound, idx *lin) (int64, bool) {
	x, ok := sameValue(b.x, &s.index)
	if ok {
		return -x.c, true // as the index is without its constant
	}
	x, ok = sameValue(b.x, idx)
	return idx.c - x.c, ok
}

// sameValue returns x, a value that was compared, in the form that differs from
// index only by a constant.
func sameValue(x lin, index *lin) (lin, bool) {
	for _, x := range [...]lin{x, bare(x)} {
		if x.n > 0 && (x.n > 1 || x.t[0].coef == 1) && sameLin(&lin{n: x.n, t: x.t}, &lin{n: index.n, t: index.t}, 4) {
			return x, true
		}
	}
	return x, false
}

// zeroExtended says whether an index was widened as an unsigned number and is
// therefore not below zero.
func zeroExtended(l lin) bool {
	ext := false
	for l.n == 1 && l.c == 0 && l.t[0].coef == 1 && l.t[0].term.kind == termExt {
		if l.t[0].term.signed {
			return false
		}
		ext, l = true, l.t[0].term.arg
	}
	return ext
}

// tableFinder is one worker's scratch state.
type tableFinder struct {
	p          path
	scan       refScanner // constants of registers at block starts
	preds      [][]int32
	dispatched []int32 // computed jumps that lead to each block
	lo, hi     uint32  // where targets of unbounded tables of the function may lie
	trail      []int32
	steps      int
	shapes     []shape // the accesses found
	// bounded: one of them has a bound on both sides
	bounded bool

	constant bool // scan holds a fixed point

	spills *frameWords // words of the frame that hold addresses, when they were
	framed bool        // looked for

	jump   uint32 // that height is of
	height height

	// what ends unbounded tables, when prepared
	prepared bool
	insts    bitset   // starts of known instructions
	claimed  []uint32 // its members
	taken    []uint64 // addresses the function takes, sorted
	taking   refScanner

	owned trail // scratch of apart
}

// findTable resolves the indirect jump at off in f. It returns nil when the
// jump is no table access. Where the paths that lead to the jump take its target
// from several tables, the others follow the first.
func (r *recovery) findTable(tf *tableFinder, f *fn, off uint32) *table {
	bi := f.blockAt(off)
	if bi < 0 {
		return nil
	}
	t := r.accessed(tf, f, off, bi)
	if t != nil && t.bounded {
		return t
	}
	if !tf.framed {
		tf.spills, tf.framed = r.spilled(f), true
		if tf.spills != nil {
			if framed := r.accessed(tf, f, off, bi); framed != nil {
				return framed
			}
		}
	}
	return t
}

// accessed finds the tables that the paths to the jump at off in block bi read.
func (r *recovery) accessed(tf *tableFinder, f *fn, off uint32, bi int) *table {
	if open := r.explore(tf, f, off, int32(bi)); open { // what bounds it on one way does not on another
		tf.shapes = slices.DeleteFunc(tf.shapes, func(s shape) bool { return s.t.bounded && !s.masked })
		tf.bounded = false
	}
	var first *table
	bounded := slices.ContainsFunc(tf.shapes, func(s shape) bool { return s.t.bounded })
	for i := range tf.shapes {
		if s := &tf.shapes[i]; s.t.bounded == bounded && !(tf.bounded && s.weak) {
			t := r.readTable(tf, f, s)
			switch {
			case t == nil:
			case first == nil:
				first = t
			default:
				first.also = append(first.also, t)
			}
		}
	}
	if first != nil {
		first.seal()
	}
	return first
}

// explore evaluates the paths that lead to the jump at off in block bi, the
// shortest first; those on which the jump has no bound yet are made longer. It
// says whether one of them begins at the entry and has none.
func (r *recovery) explore(tf *tableFinder, f *fn, off uint32, bi int32) (open bool) {
	tf.steps, tf.shapes, tf.bounded = 0, tf.shapes[:0], false
	level, tries := [][]int32{{bi}}, 0
	most := min(pathTries, max(leastTries, pathTries*4/max(1, len(f.indirect))))
	for depth := 1; depth <= pathDepth && len(level) > 0; depth++ {
		var next [][]int32
		before := len(tf.shapes)
		for _, trail := range level {
			if tries++; tries > most || tf.steps > pathSteps {
				return open
			}
			tf.trail = trail
			s, ok := r.evaluate(tf, f, off)
			if ok {
				tf.keep(s)
			}
			if ok && s.t.bounded && !s.weak {
				continue
			}
			head := trail[len(trail)-1]
			open = open || ok && (!s.t.bounded || s.masked) && f.blocks[head].start == f.entry && len(trail) > 1
			for _, pr := range tf.preds[head] {
				if !slices.Contains(trail, pr) && len(next) < pathTries {
					next = append(next, append(slices.Clone(trail), pr))
				}
			}
		}
		if depth > 2 && before > 0 && len(tf.shapes) == before && !tf.bounded && len(tf.preds[bi]) > 8 {
			break // a dispatch that many blocks share: what bounds it would stand before it
		}
		level = next
	}
	return open
}

// keep adds a table access to those found, each table once.
func (tf *tableFinder) keep(s shape) {
	tf.bounded = tf.bounded || s.t.bounded && !s.weak
	for i := range tf.shapes {
		o := &tf.shapes[i].t
		if tf.shapes[i].weak != s.weak || o.bounded != s.t.bounded || o.entry != s.t.entry || o.base != s.t.base || o.scale != s.t.scale || o.indexAddr != s.t.indexAddr {
			continue
		}
		if o.addr == s.t.addr && (!o.bounded || o.count >= s.t.count) {
			return
		}
		// parts of one table, of which each way to the jump has its own
		if n := uint64(o.entry); o.bounded && o.addr < s.t.addr+uint64(s.t.count)*n && s.t.addr < o.addr+uint64(o.count)*n && (o.addr-s.t.addr)%n == 0 {
			end := max(o.addr+uint64(o.count)*n, s.t.addr+uint64(s.t.count)*n)
			o.addr = min(o.addr, s.t.addr)
			o.count = int((end - o.addr) / n)
			return
		}
	}
	if len(tf.shapes) < sharedTables {
		tf.shapes = append(tf.shapes, s)
	}
}

func (r *recovery) predecessors(tf *tableFinder, f *fn) {
	n := len(f.blocks)
	if cap(tf.preds) < n {
		tf.preds = make([][]int32, n)
	}
	tf.preds = tf.preds[:n]
	for i := range tf.preds {
		tf.preds[i] = tf.preds[i][:0]
	}
	tf.dispatched = append(tf.dispatched[:0], make([]int32, n)...)
	for i := range f.blocks {
		r.succ(f, &f.blocks[i], func(j int, kind EdgeKind) {
			if kind == EdgeLandingPad {
				return
			}
			if kind == EdgeTable {
				if tf.dispatched[j]++; tf.dispatched[j] > dispatchers {
					return // a piece of an interpreter: what bounds its jump stands in it
				}
			}
			if len(tf.preds[j]) < pathTries {
				tf.preds[j] = append(tf.preds[j], int32(i))
			}
		})
	}
}

// evaluate runs the blocks of the trail, oldest first, up to the jump.
func (r *recovery) evaluate(tf *tableFinder, f *fn, off uint32) (shape, bool) {
	p := &tf.p
	p.reset(r.im.Arch, r.lost)
	p.pointer = r.pointerAt
	first := tf.trail[len(tf.trail)-1]
	var c *consts
	switch {
	case tf.spills != nil && tf.spills.in[first].seen:
		c = &tf.spills.in[first].regs
		p.frame(tf.spills, tf.spills.in[first].held, f.heights[first])
	case tf.constant && tf.scan.set[first]:
		c = &tf.scan.in[first]
	}
	if c != nil {
		for m := c.known; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m)
			if r.placed(c.val[i]) {
				p.set(isa.Reg(i), constant(int64(c.val[i])))
			}
		}
	}
	var in isa.Inst
	steps := 0
	for k := len(tf.trail) - 1; k >= 0; k-- {
		b := &f.blocks[tf.trail[k]]
		if k < len(tf.trail)-1 && len(tf.preds[tf.trail[k]]) > 1 {
			p.merge(r.placed)
		}
		for a := b.start; a < b.end; a += uint32(in.Len) {
			r.decode(a, &in)
			if a == off {
				break
			}
			if a == b.last && in.Flow == isa.CondJump {
				if k > 0 {
					next := f.blocks[tf.trail[k-1]].start
					if t := r.d.target(a); t != b.end {
						p.branch(&in, next == t)
					}
				}
				break
			}
			if l := r.leafAt(&in); l != nil {
				r.through(p, l, &in)
			} else if asksPC(p.arch, &in) {
				sp, _, word := stackRegs(p.arch)
				p.regs[sp].c -= word
				p.store(p.regs[sp], constant(int64(in.Target)), uint8(word))
			} else {
				p.step(&in, r.sp.bytes(a))
			}
			if steps++; steps > 4096 {
				return shape{}, false
			}
		}
	}
	tf.steps += steps
	var target lin
	switch {
	case in.HasMem:
		target = p.load(p.address(&in.Mem), in.Mem.Size, false)
		if in.Mem.Size == 0 {
			target = p.load(p.address(&in.Mem), uint8(r.im.Bits/8), false)
		}
	case in.Src != isa.NoReg:
		target = p.get(in.Src)
	default:
		return shape{}, false
	}
	s, ok := matchShape(target)
	if !ok {
		return s, false
	}
	s.t.jump = off
	anchored := r.placed(s.anchor)
	if s.limit(p, r.sp) {
		if anchored {
			s.begin()
		}
		return s, true
	}
	if deep := s; deep.twoLevel() && deep.limit(p, r.sp) {
		return deep, true
	}
	if anchored && (s.anchor-s.t.addr)%uint64(s.t.entry) == 0 {
		s.t.addr = s.anchor
	}
	return s, true
}

// begin leaves out the entries of a bounded table before the place where the
// code says that it is: what takes a number off the index has its reasons.
func (s *shape) begin() {
	t := &s.t
	if t.indexAddr != 0 || t.addr >= s.anchor || (s.anchor-t.addr)%uint64(t.entry) != 0 {
		return
	}
	if below := (s.anchor - t.addr) / uint64(t.entry); below < uint64(t.count) {
		t.addr, t.count = s.anchor, t.count-int(below)
	}
}

// placed says whether a constant is an address: numbers that a register holds
// at the start of a path, such as a state that more paths will change, are not
// taken for known.
func (r *recovery) placed(v uint64) bool {
	if len(r.im.Sections) == 0 {
		return r.im.SegmentAt(v) != nil
	}
	return r.sectionAt(v) != nil
}

func (r *recovery) decode(off uint32, in *isa.Inst) {
	g := r.sp.at(off)
	i := off - g.base
	r.dec.Decode(g.data[i:], g.addr+uint64(i), in)
	if in.Len == 0 {
		in.Len = 1
	}
}
