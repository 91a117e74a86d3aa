package program

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"rea/providers/embedded/isa"
	"rea/providers/format/object"
)

// The entries of jump tables. A table without a bound ends before the next
// known table, before anything else its function takes the address of, where its
// symbol says, and
// before the first entry that leads out of the function, into an instruction
// of it, or to code that runs into one.

// readTable reads the entries of a table and checks every target. A mask says
// how far an index reaches, not that every value of it has an entry.
func (r *recovery) readTable(tf *tableFinder, f *fn, s *shape) *table {
	if s.masked && s.t.indexAddr == 0 {
		open := s.t
		open.bounded, open.most = false, open.count
		if t := r.readEntries(tf, f, open); t != nil {
			return t
		}
	}
	return r.readEntries(tf, f, s.t)
}

func (r *recovery) readEntries(tf *tableFinder, f *fn, t table) *table {
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
		if t.most > 0 {
			n = t.most
		}
	}
	size := int(t.entry)
	b := r.im.Bytes(t.addr, n*size)
	t.complete = t.bounded
	limit := ^uint64(0)
	if !t.bounded {
		limit = min(r.nextTable(t.addr), tf.nextTaken(r, f, t.addr), r.objectEnd(t.addr))
	}
	t.void = none
	if !t.bounded && t.most == 0 && t.indexAddr == 0 {
		skipped := r.skipEntries(tf, f, &t, b[:min(len(b), leading*size)], limit)
		t.addr += uint64(skipped * size)
		b = b[skipped*size:]
	}
	held := 0 // entries up to the last one that leads to code
	for i := 0; i < n; i++ {
		at := t.addr + uint64(i*size)
		if (i+1)*size > len(b) || at+uint64(size) > limit {
			t.complete = false
			break
		}
		to, ok := r.entryTarget(&t, b[i*size:], at)
		if ok && (to == t.void || t.void == none && r.endsAt(tf, f, to)) {
			t.void = to
			t.targets = append(t.targets, to)
			continue
		}
		if !ok || !r.plausible(to) || !t.bounded && !tf.accepts(r, f, t.jump, to) {
			t.complete = false
			break
		}
		t.targets = append(t.targets, to)
		held = len(t.targets)
	}
	if !t.bounded {
		t.targets = t.targets[:held]
	}
	if t.bounded && t.void != none && r.starts.has(t.void) && r.evidence(t.void) == ByGap && slices.Max(t.targets) > t.void {
		t.void = none // the function goes on there: the start was a guess
	}
	t.seal()
	if t.count == 0 || !t.bounded && t.count < 2 || r.ofFunctions(tf, f, &t) {
		return nil
	}
	return &t
}

const leading = 64 // entries that a table without a bound may seem to have before its first

// skipEntries counts the entries before the first one that may be t's: where the
// lowest case was folded into the table's address, it seems to begin before its
// first entry. Entries that are relative to their own table have no such.
func (r *recovery) skipEntries(tf *tableFinder, f *fn, t *table, b []byte, limit uint64) int {
	if t.scale != 0 && t.base == t.addr || t.entry < 4 {
		return 0
	}
	size := int(t.entry)
	for k := 0; (k+2)*size <= len(b) && t.addr+uint64((k+2)*size) <= limit; k++ {
		fits := 0
		for ; fits < 2; fits++ {
			to, ok := r.entryTarget(t, b[(k+fits)*size:], t.addr+uint64((k+fits)*size))
			if !ok || !r.plausible(to) || !tf.accepts(r, f, t.jump, to) {
				break
			}
		}
		if fits == 2 {
			return k
		}
	}
	return 0
}

// endsAt says whether f ends at off: compilers let the entries of cases that
// can't be lead there, behind the last instruction.
func (r *recovery) endsAt(tf *tableFinder, f *fn, off uint32) bool {
	for _, s := range f.extents {
		if off == s.hi {
			return true
		}
	}
	return len(f.extents) == 0 && off > f.entry && off <= tf.hi && tf.hi != none && (off == tf.hi || f.blockAt(off) < 0 && r.sp.at(off) == r.sp.at(f.entry) && r.skipPadding(off, tf.hi) >= tf.hi)
}

// ended says whether it is known where t ends: a bound says so, or every value
// of the index has an entry. The latter is no bound: it holds only until a table
// becomes known that begins before.
func (t *table) ended() bool { return t.bounded || t.most > 0 && t.count == t.most }

// ofFunctions says whether the table that a jump of f reads holds pointers to
// functions, so that the jump is a tail call: absolute addresses, of which none
// lies where code of f may lie; or, where that is not known, all of which look
// like functions to a jump that leaves no frame behind.
func (r *recovery) ofFunctions(tf *tableFinder, f *fn, t *table) bool {
	if t.scale != 0 || t.indexAddr != 0 {
		return false
	}
	within := false
	for _, to := range t.once {
		if f.inside(to) || r.covered.has(to) && !r.starts.has(to) {
			return false
		}
		within = within || len(f.extents) == 0 && to >= tf.lo && to < tf.hi
	}
	return !within || r.relativeTables() && r.apart(tf, f, t)
}

// relativeTables says whether compilers write the tables of switches in files of
// this kind as differences, so that the loader need not relocate them.
func (r *recovery) relativeTables() bool { return !r.static && r.im.Format != object.PE }

// apart says whether the targets of t may be functions of their own: aligned as
// functions are, none of them coming to code of f or to another one, and the
// jump made with the stack as at f's entry.
func (r *recovery) apart(tf *tableFinder, f *fn, t *table) bool {
	if len(t.once) < 3 || len(t.once) > 256 {
		return false
	}
	align := uint64(r.usualAlignment())
	for _, to := range t.once {
		if r.sp.addr(to)%align != 0 || f.blockAt(to) >= 0 {
			return false
		}
	}
	r.computeHeights(f)
	if h := r.heightOf(f, t.jump); !h.spKnown || h.sp != 0 {
		return false
	}
	tf.owned.begin(r.sp.size)
	for i := range f.blocks {
		tf.owned.addRange(f.blocks[i].start, f.blocks[i].end)
	}
	for _, to := range t.once {
		p := r.probeAt(to, tf.owned.bitset)
		if !p.ok || p.odd || p.inner != nil || p.joins || p.computed || !p.returns && !p.leaves {
			return false
		}
		for _, a := range p.seen {
			if _, other := slices.BinarySearch(t.once, a); other && a != to {
				return false
			}
		}
	}
	return true
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

// nextTable returns the address of the first known table above addr.
func (r *recovery) nextTable(addr uint64) uint64 {
	i, _ := slices.BinarySearch(r.tableAddrs, addr+1)
	if i < len(r.tableAddrs) {
		return r.tableAddrs[i]
	}
	return ^uint64(0)
}

// objectEnd returns where the object ends that a symbol says addr lies in.
func (r *recovery) objectEnd(addr uint64) uint64 {
	i := sort.Search(len(r.im.Symbols), func(i int) bool { return r.im.Symbols[i].Addr > addr })
	for k := 0; i > 0 && k < 8; k++ {
		i--
		if s := &r.im.Symbols[i]; s.Defined && s.Kind == object.SymObject && addr-s.Addr < s.Size {
			return s.Addr + s.Size
		}
	}
	return ^uint64(0)
}

// resolveTables looks for tables in every function walked since the last
// time and reports whether successors changed.
func (r *recovery) resolveTables() (bool, error) {
	var todo []int
	for i := range r.funcs {
		if f := r.funcs[i]; !f.scanned && len(f.indirect) > 0 {
			todo = append(todo, i)
		}
	}
	found := make([][]*table, len(todo))
	longest := sortedBy(r.workers, len(todo), func(k int) uint64 { return ^uint64(len(r.funcs[todo[k]].blocks)) }) // first, so that no worker is left with it
	err := each(r.ctx, r.workers, len(todo), 1, func(w, i int) {
		k := longest[i]
		f, tf := r.funcs[todo[k]], &r.finders[w]
		begun := false
		for _, j := range f.indirect {
			if t := r.tables[j]; t != nil && t.bounded {
				continue
			}
			if !begun {
				tf.begin(r, f)
				begun = true
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
			if old != nil && (old.bounded || !t.bounded && len(old.once) >= len(t.once)) || old == nil && len(r.tables) >= maxTables {
				continue
			}
			r.tables[t.jump] = t
			r.tableAddrs = append(r.tableAddrs, t.addr)
			r.readTableAt(t)
			for _, x := range t.also {
				r.tableAddrs = append(r.tableAddrs, x.addr)
				r.readTableAt(x)
			}
			r.touch(f)
			changed = true
		}
	}
	if !changed {
		return false, nil
	}
	slices.Sort(r.tableAddrs)
	r.tableAddrs = slices.Compact(r.tableAddrs)
	r.trimTables()
	for _, ts := range found {
		for _, t := range ts {
			if r.tables[t.jump] == t {
				leaders = append(leaders, t.once...)
			}
		}
	}
	slices.Sort(leaders)
	return true, r.d.run(r.ctx, r.workers, slices.Compact(leaders))
}

// readTableAt notes that the entries of t are data, where they lie among code.
func (r *recovery) readTableAt(t *table) {
	put := func(addr uint64, n uint64) {
		if o := r.sp.off(addr); o != none && n > 0 {
			r.readAt.setRange(o, r.sp.endOff(o, n))
		}
	}
	if t.bounded {
		put(t.addr, uint64(t.count)*uint64(t.entry))
	}
	if t.indexAddr != 0 {
		put(t.indexAddr, uint64(t.indexLen))
	}
}

// trimTables ends unbounded tables before tables that became known later.
func (r *recovery) trimTables() {
	var cut []*table
	for _, t := range r.tables {
		if r.trim(t) {
			cut = append(cut, t)
		}
	}
	slices.SortFunc(cut, func(a, b *table) int { return cmp.Compare(a.jump, b.jump) })
	for _, t := range cut {
		t.seal()
		if f := r.ownerOf(t.jump); f != nil {
			r.touch(f)
		}
	}
}

// trim ends t, and those that its jump reads too, before the next known table.
func (r *recovery) trim(t *table) (changed bool) {
	if next := r.nextTable(t.addr); !t.bounded && next < t.addr+uint64(t.count)*uint64(t.entry) {
		t.targets = t.targets[:(next-t.addr)/uint64(t.entry)]
		changed = true
	}
	for _, x := range t.also {
		changed = r.trim(x) || changed
	}
	return changed
}

// seal counts the targets and lists each of them once.
func (t *table) seal() {
	t.count = len(t.targets)
	t.once = slices.Clone(t.targets)
	for _, x := range t.also {
		x.seal()
		t.once = append(t.once, x.targets...)
		t.complete, t.bounded = t.complete && x.complete, t.bounded && x.bounded
	}
	slices.Sort(t.once)
	t.once = slices.Compact(t.once)
	if i, ok := slices.BinarySearch(t.once, t.void); ok && t.void != none {
		t.once = slices.Delete(t.once, i, i+1)
	}
}

// begin prepares for the jumps of f.
func (tf *tableFinder) begin(r *recovery, f *fn) {
	r.predecessors(tf, f)
	tf.lo, tf.hi = r.tableRange(f)
	tf.constant = r.constants(&tf.scan, f)
	for _, a := range tf.claimed {
		tf.insts.clear(a)
	}
	tf.claimed, tf.prepared = tf.claimed[:0], false
	tf.spills, tf.framed, tf.jump = nil, false, none
}

// prepare lists what the ends of f's unbounded tables depend on: where its
// instructions start, and the addresses it takes.
func (tf *tableFinder) prepare(r *recovery, f *fn) {
	if tf.prepared {
		return
	}
	tf.prepared = true
	if tf.insts == nil {
		tf.insts = newBitset(r.sp.size + regionGuard)
	}
	for i := range f.blocks {
		b := &f.blocks[i]
		for a := b.start; a < b.end; a += max(1, r.d.size(a)) {
			tf.claim(a)
		}
	}
	s := &tf.taking
	s.refs, s.sites = s.refs[:0], s.sites[:0]
	r.scan(s, f, false)
	tf.taken = tf.taken[:0]
	for _, x := range s.refs {
		if x.kind == RefAddress {
			tf.taken = append(tf.taken, x.to)
		}
	}
	slices.Sort(tf.taken)
}

func (tf *tableFinder) claim(a uint32) {
	if !tf.insts.has(a) {
		tf.insts.set(a)
		tf.claimed = append(tf.claimed, a)
	}
}

// nextTaken is the first address above addr that f takes.
func (tf *tableFinder) nextTaken(r *recovery, f *fn, addr uint64) uint64 {
	tf.prepare(r, f)
	if i, _ := slices.BinarySearch(tf.taken, addr+1); i < len(tf.taken) {
		return tf.taken[i]
	}
	return ^uint64(0)
}

const targetRun = 64 // instructions decoded to judge a target

// accepts judges a target of an unbounded table that the jump at jump of f reads:
// it lies in f, the code there agrees with the instructions known so far, and what
// lies before it does not run into it. Code that returns without the frame that the
// jump is made with is another function's.
func (tf *tableFinder) accepts(r *recovery, f *fn, jump, to uint32) bool {
	tf.prepare(r, f)
	if to < tf.lo || to >= tf.hi || len(f.extents) > 0 && !f.inside(to) || tf.inside(r, to) || !tf.follows(r, to) {
		return false
	}
	var in isa.Inst
	h := tf.heightAt(r, f, jump)
	first := len(tf.claimed)
	g := r.sp.at(to)
	for a, n := to, 0; n < targetRun && !tf.insts.has(a); n++ {
		r.decode(a, &in)
		next := a + uint32(in.Len)
		if in.Flow == isa.Invalid || next > g.end() || tf.insts.next(a+1, next) < next {
			return tf.reject(first)
		}
		if in.Flow == isa.Jump || in.Flow == isa.CondJump {
			if t := r.sp.off(in.Target); t == none || tf.inside(r, t) {
				return tf.reject(first)
			}
		}
		switch in.Flow {
		case isa.Return:
			if h.spKnown && h.sp != 0 {
				return tf.reject(first)
			}
		case isa.Call, isa.IndirectCall: // it may not return, or take its arguments off the stack
			h.spKnown = false
		default:
			stepHeight(r.im.Arch, &h, &in)
		}
		tf.claim(a)
		if in.Flow == isa.Jump || in.Flow == isa.IndirectJump || in.Flow == isa.Return || in.Flow == isa.Trap {
			break
		}
		if a = next; a == g.end() {
			break
		}
	}
	return true
}

// followed bounds the bytes before a target that are decoded.
const followed = 256

// follows says whether an instruction starts at off when those behind the last
// known one before it are decoded in a row. Where they do not decode, or none is
// near, it may.
func (tf *tableFinder) follows(r *recovery, off uint32) bool {
	if r.dec.Align() > 1 {
		return true
	}
	a, lowest := off, off-min(followed, off-r.sp.at(off).base)
	for a > lowest && !tf.insts.has(a) {
		a--
	}
	if !tf.insts.has(a) {
		return true
	}
	var in isa.Inst
	for ; a < off; a += uint32(in.Len) {
		if r.decode(a, &in); in.Flow == isa.Invalid {
			return true
		}
	}
	return a == off
}

// heightAt is the height of the stack before a jump of f. Where functions take
// their arguments off the stack, calls change it unseen.
func (tf *tableFinder) heightAt(r *recovery, f *fn, jump uint32) height {
	if r.im.Arch == object.X86 {
		return height{}
	}
	if tf.jump != jump {
		r.computeHeights(f)
		tf.jump, tf.height = jump, r.heightOf(f, jump)
	}
	return tf.height
}

// reject takes back the instructions claimed from first on.
func (tf *tableFinder) reject(first int) bool {
	for _, a := range tf.claimed[first:] {
		tf.insts.clear(a)
	}
	tf.claimed = tf.claimed[:first]
	return false
}

// inside says whether off lies inside a known instruction.
func (tf *tableFinder) inside(r *recovery, off uint32) bool {
	if tf.insts.has(off) || r.dec.Align() > 1 {
		return false
	}
	var in isa.Inst
	for n := uint32(1); n < 15 && n <= off-r.sp.at(off).base; n++ {
		if a := off - n; tf.insts.has(a) {
			r.decode(a, &in)
			return uint32(in.Len) > n
		}
	}
	return false
}
