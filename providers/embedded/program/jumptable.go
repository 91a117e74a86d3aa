package program

import (
	"encoding/binary"
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
}

// shape is a recognized table access whose length is not yet known.
type shape struct {
	t     table
	index lin // of the (first-level) table
	mask  int64
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
func (s *shape) limit(p *path) bool {
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
	if best < 0 || best >= maxTable {
		return false
	}
	if s.t.indexAddr != 0 {
		s.t.indexAddr += uint64(shift * int64(s.t.indexLen))
	} else {
		s.t.addr += uint64(shift * int64(s.t.entry))
	}
	s.t.count, s.t.bounded = int(best)+1, true
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
	if s.limit(p) {
		return &s, true
	}
	if deep := s; deep.twoLevel() && deep.limit(p) {
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

// readTable reads the entries of a table and checks every target.
func (r *recovery) readTable(tf *tableFinder, f *fn, s *shape) *table {
	t := s.t
	n := t.count
	if t.indexAddr != 0 {
		if !t.bounded {
			n = 256
		}
		idx := r.im.Bytes(t.indexAddr, n*t.indexLen)
		most := -1
		for i := 0; i+t.indexLen <= len(idx); i += t.indexLen {
			v := int(idx[i])
			if t.indexLen == 2 {
				v = int(binary.LittleEndian.Uint16(idx[i:]))
			}
			most = max(most, v)
		}
		if !t.bounded || most < 0 {
			return nil
		}
		t.indexLen, n = len(idx)/t.indexLen, most+1
		t.count = n
	} else if !t.bounded {
		n = unboundedMost
	}
	size := int(t.entry)
	b := r.im.Bytes(t.addr, n*size)
	t.complete = t.bounded
	limit := r.nextTable(t.addr)
	for i := 0; i < n; i++ {
		at := t.addr + uint64(i*size)
		if (i+1)*size > len(b) || !t.bounded && i > 0 && at >= limit {
			t.complete = false
			break
		}
		to, ok := r.entryTarget(&t, b[i*size:], at)
		if !ok || !t.bounded && (to < tf.lo || to >= tf.hi || r.insideInst(f, to)) || !r.plausible(to) {
			t.complete = false
			break
		}
		t.targets = append(t.targets, to)
	}
	t.count = len(t.targets)
	if t.count == 0 || !t.bounded && t.count < 2 {
		return nil
	}
	return &t
}

// entryTarget decodes one entry.
func (r *recovery) entryTarget(t *table, b []byte, at uint64) (uint32, bool) {
	var v uint64
	switch t.entry {
	case 1:
		v = uint64(b[0])
		if t.signed {
			v = uint64(int8(b[0]))
		}
	case 2:
		v = uint64(binary.LittleEndian.Uint16(b))
		if t.signed {
			v = uint64(int16(v))
		}
	case 4:
		v = uint64(binary.LittleEndian.Uint32(b))
		if t.signed || t.scale != 0 && r.im.Format != object.PE {
			v = uint64(int32(v))
		}
	case 8:
		v = binary.LittleEndian.Uint64(b)
		if to, ok := r.relocated(at); ok {
			v = to
		}
	default:
		return 0, false
	}
	if t.scale != 0 {
		v = t.base + v*uint64(t.scale)
	}
	if r.im.Bits == 32 {
		v = uint64(uint32(v))
	}
	to := r.sp.off(v)
	return to, to != none
}

// tableRange is where targets of an unbounded table may lie.
func (r *recovery) tableRange(f *fn) (lo, hi uint32) {
	if len(f.extents) > 0 {
		return f.extents[0].lo, f.extents[len(f.extents)-1].hi
	}
	return f.entry, r.startAfter(f)
}

// plausible says whether an instruction may start at off: not inside one
// already decoded by an owned path, and aligned.
func (r *recovery) plausible(off uint32) bool {
	if a := uint64(r.dec.Align()); a > 1 && r.sp.addr(off)%a != 0 {
		return false
	}
	return r.d.data == nil || !r.d.data.has(off)
}

// insideInst says whether off lies inside an instruction of f.
func (r *recovery) insideInst(f *fn, off uint32) bool {
	i := f.blockAt(off)
	if i < 0 {
		return false
	}
	a := f.blocks[i].start
	for a < off {
		a += max(1, r.d.size(a))
	}
	return a != off
}

// nextTable returns the address of the first known table above addr.
func (r *recovery) nextTable(addr uint64) uint64 {
	i, _ := slices.BinarySearch(r.tableAddrs, addr+1)
	if i < len(r.tableAddrs) {
		return r.tableAddrs[i]
	}
	return ^uint64(0)
}

// resolveTables looks for tables in every function walked since the last
// time and reports whether successors were added.
func (r *recovery) resolveTables() (bool, error) {
	var todo []int
	for i := range r.funcs {
		if f := r.funcs[i]; !f.scanned && len(f.indirect) > 0 {
			todo = append(todo, i)
		}
	}
	found := make([][]*table, len(todo))
	finders := make([]tableFinder, r.workers)
	err := each(r.ctx, r.workers, len(todo), 1, func(w, k int) {
		f, tf := r.funcs[todo[k]], &finders[w]
		r.predecessors(tf, f)
		tf.lo, tf.hi = r.tableRange(f)
		tf.constant = r.constants(&tf.scan, f)
		for _, j := range f.indirect {
			if t := r.tables[j]; t != nil && t.bounded {
				continue
			}
			if t := r.findTable(tf, f, j); t != nil {
				found[k] = append(found[k], t)
			}
		}
	})
	if err != nil {
		return false, err
	}
	changed := false
	var leaders []uint32
	for k, ts := range found {
		f := r.funcs[todo[k]]
		f.scanned = true
		for _, t := range ts {
			old := r.tables[t.jump]
			if old != nil && (old.bounded || !t.bounded && len(old.targets) >= len(t.targets)) || old == nil && len(r.tables) >= maxTables {
				continue
			}
			r.tables[t.jump] = t
			r.tableAddrs = append(r.tableAddrs, t.addr)
			leaders = append(leaders, t.targets...)
			r.touch(f)
			changed = true
		}
	}
	if !changed {
		return false, nil
	}
	slices.Sort(r.tableAddrs)
	r.tableAddrs = slices.Compact(r.tableAddrs)
	slices.Sort(leaders)
	return true, r.d.run(r.ctx, r.workers, slices.Compact(leaders))
}
