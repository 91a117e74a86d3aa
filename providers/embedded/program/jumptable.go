package program

import (
	"math/bits"
	"slices"

	"rea/providers/embedded/isa"
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
	pathTries     = 24      // paths tried for one jump
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
	complete  bool // every entry was valid
	targets   []uint32
	once      []uint32 // the targets, sorted, each once
}

// shape is a recognized table access whose length is not yet known.
type shape struct {
	t     table
	index lin // of the (first-level) table
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
	if t.arg.n != 1 || t.arg.t[0].coef != int64(t.size) || t.arg.c <= 0 {
		return s, false
	}
	s.t.addr = uint64(t.arg.c)
	s.index = one(t.arg.t[0].term)
	return s, true
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
	if idx.n != 1 || idx.t[0].coef != 1 {
		return false
	}
	best := int64(-1)
	var shift int64
	for _, b := range p.bounds {
		x := bare(b.x)
		if x.n != 1 || x.t[0].coef != 1 || !sameTerm(x.t[0].term, idx.t[0].term, 4) {
			continue
		}
		if best < 0 || b.max < best {
			best, shift = b.max, idx.c-x.c
		}
	}
	if t := idx.t[0].term; best < 0 && idx.c == 0 && t.kind == termMask {
		best = t.imm
	}
	if shift < 0 { // compared before the lowest case was taken off: what is below it was ruled out before
		best, shift = best+shift, 0
	}
	if best < 0 || best >= maxTable {
		return false
	}
	if s.t.indexAddr != 0 {
		s.t.indexAddr += uint64(shift * int64(s.t.indexLen))
	} else {
		s.t.addr += uint64(shift * int64(s.t.entry))
	}
	s.t.count, s.t.bounded = int(best)+1, true
	// a base that is no code and no image is the table: nothing before it belongs to it
	if t := &s.t; t.scale == 1 && t.indexAddr == 0 && t.addr < t.base {
		if below := (t.base - t.addr) / uint64(t.entry); below < uint64(t.count) && (t.base-t.addr)%uint64(t.entry) == 0 && code.off(t.base) == none {
			t.addr, t.count = t.base, t.count-int(below)
		}
	}
	return true
}

// tableFinder is one worker's scratch state.
type tableFinder struct {
	p      path
	scan   refScanner // constants of registers at block starts
	preds  [][]int32
	lo, hi uint32 // where targets of unbounded tables of the function may lie
	trail  []int32
	tries  int

	constant bool // scan holds a fixed point

	// what ends unbounded tables, when prepared
	prepared bool
	insts    bitset   // starts of known instructions
	claimed  []uint32 // its members
	taken    []uint64 // addresses the function takes, sorted
	taking   refScanner
}

// findTable resolves the indirect jump at off in f. It returns nil when the
// jump is no table access.
func (r *recovery) findTable(tf *tableFinder, f *fn, off uint32) *table {
	bi := f.blockAt(off)
	if bi < 0 {
		return nil
	}
	tf.tries = 0
	var found *shape
	for depth := 1; depth <= pathDepth && tf.tries < pathTries; depth++ {
		tf.trail = append(tf.trail[:0], int32(bi))
		s, bounded := r.tryPaths(tf, f, off, depth)
		if bounded {
			return r.readTable(tf, f, s)
		}
		if s != nil && found == nil {
			found = s
		}
		if s == nil && depth == pathDepth {
			break
		}
	}
	if found == nil {
		return nil
	}
	return r.readTable(tf, f, found)
}

// tryPaths evaluates the paths of exactly depth blocks that end in the trail.
func (r *recovery) tryPaths(tf *tableFinder, f *fn, off uint32, depth int) (*shape, bool) {
	if len(tf.trail) == depth {
		tf.tries++
		return r.evaluate(tf, f, off)
	}
	var first *shape
	head := tf.trail[len(tf.trail)-1]
	ps := tf.preds[head]
	for _, pr := range ps {
		if slices.Contains(tf.trail, pr) || tf.tries >= pathTries {
			continue
		}
		tf.trail = append(tf.trail, pr)
		s, bounded := r.tryPaths(tf, f, off, depth)
		tf.trail = tf.trail[:len(tf.trail)-1]
		if bounded {
			return s, true
		}
		if first == nil {
			first = s
		}
	}
	return first, false
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
	for i := range f.blocks {
		r.succ(f, &f.blocks[i], func(to uint32, kind EdgeKind) {
			if kind == EdgeLandingPad {
				return
			}
			if j := f.blockStart(to); j >= 0 && len(tf.preds[j]) < 32 {
				tf.preds[j] = append(tf.preds[j], int32(i))
			}
		})
	}
}

// evaluate runs the blocks of the trail, oldest first, up to the jump.
func (r *recovery) evaluate(tf *tableFinder, f *fn, off uint32) (*shape, bool) {
	p := &tf.p
	p.reset(r.im.Arch)
	first := tf.trail[len(tf.trail)-1]
	if tf.constant && tf.scan.set[first] {
		c := &tf.scan.in[first]
		for m := c.known; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m)
			p.set(isa.Reg(i), constant(int64(c.val[i])))
		}
	}
	var in isa.Inst
	for k := len(tf.trail) - 1; k >= 0; k-- {
		b := &f.blocks[tf.trail[k]]
		steps := 0
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
			p.step(&in, r.sp.bytes(a))
			if steps++; steps > 4096 {
				return nil, false
			}
		}
	}
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
		return nil, false
	}
	s, ok := matchShape(target)
	if !ok {
		return nil, false
	}
	s.t.jump = off
	if s.limit(p, r.sp) {
		return &s, true
	}
	if deep := s; deep.twoLevel() && deep.limit(p, r.sp) {
		return &deep, true
	}
	return &s, false
}

func (r *recovery) decode(off uint32, in *isa.Inst) {
	g := r.sp.at(off)
	i := off - g.base
	r.dec.Decode(g.data[i:], g.addr+uint64(i), in)
	if in.Len == 0 {
		in.Len = 1
	}
}
