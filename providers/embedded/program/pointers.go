package program

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
	"strings"

	"rea/providers/format/object"
)

// Pointers into code: from relocations where the file has them, else from
// aligned words of the data sections whose value is a code address.

// pointer is a word of data that holds a code address.
type pointer struct {
	at uint64
	to uint32
}

// labelRun is the shortest run of adjacent pointers that may be a table of
// labels rather than of functions.
const labelRun = 3

// labelLike marks the pointers that stand in runs like those of jump tables:
// adjacent words that lead to places of which some are no usual function
// starts, or that repeat; and, as near, those that all lead between the same
// two known starts.
func (r *recovery) labelLike(ps []pointer) (out, near []bool) {
	out, near = make([]bool, len(ps)), make([]bool, len(ps))
	scratch := make([][]uint32, r.workers)
	align := uint64(r.usualAlignment())
	_ = each(r.ctx, r.workers, len(r.runs), 64, func(w, i int) {
		run := r.runs[i]
		odd, low, high := false, ps[run.lo].to, ps[run.lo].to
		unknown := scratch[w][:0] // places that are no known starts
		for _, p := range ps[run.lo:run.hi] {
			low, high = min(low, p.to), max(high, p.to)
			if !r.starts.has(p.to) {
				unknown = append(unknown, p.to)
				odd = odd || r.sp.addr(p.to)%align != 0
			}
		}
		slices.Sort(unknown)
		repeated := len(slices.Compact(unknown)) < len(unknown)
		one := r.starts.next(low, high+1) > high
		for i := run.lo; i < run.hi; i++ {
			out[i], near[i] = odd || repeated, one
		}
		scratch[w] = unknown
	})
	return out, near
}

// findRuns lists the runs of adjacent words among the pointers that are long
// enough for a jump table's.
func (r *recovery) findRuns() {
	w := uint64(r.im.Bits / 8)
	for lo := 0; lo < len(r.pointers); {
		hi := lo + 1
		for hi < len(r.pointers) && r.pointers[hi].at == r.pointers[hi-1].at+w {
			hi++
		}
		if hi-lo >= labelRun {
			r.runs = append(r.runs, span{uint32(lo), uint32(hi)})
		}
		lo = hi
	}
}

// notPointers are sections whose words are not program data.
func notPointers(name string) bool {
	for _, p := range [...]string{".eh_frame", ".gcc_except", ".dyn", ".rela", ".rel.", ".gnu", ".note", ".hash", ".pdata", ".xdata", ".reloc", ".rsrc", ".gopclntab", ".interp", ".symtab", ".strtab", ".debug", ".idata", ".edata", ".buildid"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return strings.Contains(name, "unwind_info") || strings.Contains(name, "__eh_frame") || strings.HasSuffix(name, "__gopclntab") || strings.HasPrefix(name, "__DWARF")
}

// listsPatches says whether a section lists the places that may be patched when
// the program runs: before, at or in the beginnings of functions.
func listsPatches(name string) bool {
	switch name {
	case "__patchable_function_entries", "__mcount_loc", "xray_instr_map", "xray_fn_idx":
		return true
	}
	return false
}

// dataPointers finds, once, every pointer into code that data holds.
func (r *recovery) dataPointers() []pointer {
	if r.havePointer {
		return r.pointers
	}
	r.havePointer = true
	var patched []object.Section
	for _, s := range r.im.Sections {
		if listsPatches(s.Name) {
			patched = append(patched, s)
		}
	}
	for _, x := range r.relocs {
		if o := r.sp.off(x.Target); o != none && r.sp.off(x.Addr) == none {
			if slices.ContainsFunc(patched, func(s object.Section) bool { return x.Addr-s.Addr < s.Size }) {
				continue
			}
			r.pointers = append(r.pointers, pointer{x.Addr, o})
		}
	}
	if r.fixedBase() {
		for i := range r.im.Sections {
			s := &r.im.Sections[i]
			if s.Mapped && !s.Code && s.FileSize > 0 && s.Addr != 0 && !notPointers(s.Name) && !listsPatches(s.Name) {
				r.scanWords(s)
			}
		}
	}
	slices.SortFunc(r.pointers, func(a, b pointer) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.to, b.to)) })
	r.pointers = slices.Compact(r.pointers)
	r.findRuns()
	return r.pointers
}

// fixedBase says whether the file is loaded where it says, so that its
// pointers need no relocations.
func (r *recovery) fixedBase() bool {
	return len(r.relocs) == 0 || r.im.Format == object.ELF && r.im.Kind == object.Executable && r.im.FileType == "ET_EXEC"
}

func (r *recovery) scanWords(s *object.Section) {
	w := uint64(r.im.Bits / 8)
	b := r.im.Bytes(s.Addr, int(min(s.FileSize, maxCode)))
	lead := -s.Addr & (w - 1)
	for i := lead; i+w <= uint64(len(b)); i += w {
		var v uint64
		if w == 8 {
			v = binary.LittleEndian.Uint64(b[i:])
		} else {
			v = uint64(binary.LittleEndian.Uint32(b[i:]))
		}
		if v < r.lowCode || v >= r.highCode {
			continue
		}
		if o := r.sp.off(v); o != none {
			r.pointers = append(r.pointers, pointer{s.Addr + i, o})
		}
	}
}

// addPointers makes functions of code addresses held in data or taken by code,
// where nothing speaks against it: they are not inside an extent a table
// states, not a label of a table, not inside an instruction or a function
// already walked, and what they lead to looks like a function.
func (r *recovery) addPointers() (bool, error) {
	if r.allCovered() {
		return false, nil
	}
	if inner := r.startupInner(); len(inner) > 0 {
		return true, r.d.run(r.ctx, r.workers, inner)
	}
	labels := r.borrow()
	defer r.giveBack(labels)
	for _, t := range r.tables {
		for _, o := range t.targets {
			labels.set(o)
		}
	}
	settled := func(o uint32) bool { return r.starts.has(o) || r.covered.has(o) || labels.has(o) }
	type cand struct {
		to    uint32
		from  uint64
		ev    Evidence
		order int
	}
	var cands []cand
	ps := r.dataPointers()
	like, near := r.labelLike(ps)
	slots := r.startupSlots()
	for i, p := range ps {
		if like[i] || settled(p.to) {
			continue
		}
		order := r.misaligned(p.to)
		if _, ok := slices.BinarySearch(slots, p.at); ok {
			order = -1
		} else if near[i] {
			order += 2
		}
		cands = append(cands, cand{p.to, p.at, ByPointer, order})
	}
	taken, err := r.takenAddresses()
	if err != nil {
		return false, err
	}
	for _, p := range taken {
		if settled(p.to) {
			continue
		}
		order := r.misaligned(p.to)
		if r.startup(p.at) {
			order = -1
		}
		cands = append(cands, cand{p.to, p.at, ByAddress, order})
	}
	// what the entry's own function passes on first: it leads to most others; then
	// well aligned targets: labels in the middle of a function are rarely aligned;
	// last runs of pointers into one place, which a jump may turn out to read
	slices.SortStableFunc(cands, func(a, b cand) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.to, b.to), cmp.Compare(a.ev, b.ev), cmp.Compare(a.from, b.from))
	})
	owned := r.ownedBytes()
	var fresh []uint32
	batch := 0
	for _, c := range cands {
		if len(fresh) == 0 {
			batch = c.order
		} else if c.order != batch {
			break // let what was found claim its blocks before the less certain ones are judged
		}
		if r.starts.has(c.to) || owned.has(c.to) && !r.splitHere(c.to) || r.rejected[c.to] {
			continue
		}
		if !r.plausible(c.to) || !r.looksLikeFunction(c.to, owned, c.ev == ByAddress && !r.open(c.to) && !r.startup(c.from)) {
			r.rejected[c.to] = true
			continue
		}
		if r.add(c.to, c.ev, c.from) {
			fresh = append(fresh, c.to)
		}
	}
	if len(fresh) == 0 {
		return false, nil
	}
	slices.Sort(fresh)
	r.settle(fresh)
	return true, r.d.run(r.ctx, r.workers, fresh)
}

// startup says whether an instruction belongs to the entry point's own
// function, which passes addresses of functions to the C library.
func (r *recovery) startup(from uint64) bool {
	if !r.im.HasEntry {
		return false
	}
	f, o := r.byEntry[r.sp.off(r.im.Entry)], r.sp.off(from)
	return f != nil && o != none && f.blockAt(o) >= 0
}

// startupSlots are the pointers that the entry point's own function reads,
// sorted.
func (r *recovery) startupSlots() []uint64 {
	if !r.im.HasEntry {
		return nil
	}
	f := r.byEntry[r.sp.off(r.im.Entry)]
	if f == nil {
		return nil
	}
	var s refScanner
	r.scan(&s, f, true)
	var out []uint64
	for _, x := range s.refs {
		if x.kind == RefRead {
			out = append(out, x.to)
		}
	}
	slices.Sort(out)
	return out
}

// startupInner gives the entry point's own function the code inside its extent
// whose address it takes, such as a jump to main, and returns where it begins.
func (r *recovery) startupInner() []uint32 {
	if !r.im.HasEntry || r.startupRead {
		return nil
	}
	r.startupRead = true
	f := r.byEntry[r.sp.off(r.im.Entry)]
	if f == nil {
		return nil
	}
	var s refScanner
	r.scan(&s, f, true)
	var out []uint32
	for _, x := range s.refs {
		if o := r.sp.off(x.to); x.kind == RefAddress && o != none && f.inside(o) && f.blockAt(o) < 0 && r.plausible(o) {
			f.pads = append(f.pads, o)
			out = append(out, o)
		}
	}
	if len(out) > 0 {
		slices.Sort(out)
		r.touch(f)
	}
	return out
}

// misaligned is 0 for function-aligned addresses and 1 for others.
func (r *recovery) misaligned(o uint32) int {
	if r.sp.addr(o)%16 == 0 {
		return 0
	}
	return 1
}

// ownedBytes is the set of bytes of all walked blocks. It is kept up by walks,
// which add to it; what functions gave up is judged anew here, for those around it.
func (r *recovery) ownedBytes() bitset {
	if r.owned == nil {
		r.owned = newBitset(r.sp.size + regionGuard)
		r.freed = append(r.freed, span{0, r.sp.size})
	}
	freed := r.freed
	for w := range r.walkers {
		freed = append(freed, r.walkers[w].freed...)
		r.walkers[w].freed = r.walkers[w].freed[:0]
	}
	r.freed = r.freed[:0]
	freed = joinSpans(freed)
	for _, s := range freed {
		r.owned.clearRange(s.lo, s.hi)
	}
	if len(freed) == 0 {
		return r.owned
	}
	_ = each(r.ctx, r.workers, len(r.funcs), 256, func(_, i int) {
		f := r.funcs[i]
		k := sort.Search(len(freed), func(k int) bool { return freed[k].hi > f.lo })
		if k == len(freed) || freed[k].lo >= f.hi {
			return
		}
		for _, b := range f.blocks {
			if k := sort.Search(len(freed), func(k int) bool { return freed[k].hi > b.start }); k < len(freed) && freed[k].lo < b.end {
				r.owned.shareRange(b.start, b.end)
			}
		}
	})
	return r.owned
}

// joinSpans sorts spans and joins those that touch.
func joinSpans(s []span) []span {
	slices.SortFunc(s, func(a, b span) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi)) })
	out := s[:0]
	for _, x := range s {
		if n := len(out); n > 0 && x.lo <= out[n-1].hi {
			out[n-1].hi = max(out[n-1].hi, x.hi)
		} else {
			out = append(out, x)
		}
	}
	return out
}
