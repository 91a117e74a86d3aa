package program

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"rea/providers/format/object"
)

// maxRounds bounds the rounds of the whole loop. Real programs settle in a
// few dozen; the bound is stated in the notes when it is met.
const maxRounds = 400

// Work is bounded as well: programs settle within twice as many steps as they
// have bytes of code, code made to change its functions in every round does not.
const (
	effortFactor = 24 // instructions walked and blocks judged for each byte of code
	effortSlack  = 1 << 20
	roundShare   = 16 // bytes of code that cost as much as one instruction in a round
)

// tired says whether the work done exceeds what any program needs.
func (r *recovery) tired() bool {
	return r.effort.Load() > effortFactor*int64(r.sp.size)+effortSlack
}

// maxPrunes bounds how often calls that nobody owns are taken back at a time.
const maxPrunes = 64

// why is the evidence for a function's start.
type why struct {
	ev   Evidence
	from uint64 // the call, jump or pointer, when there is one
}

// recovery is the state of one analysis.
type recovery struct {
	ctx      context.Context
	im       *object.Image
	dec      decoder
	sp       *space
	d        *descent
	workers  int
	progress func(phase string, done, total int)
	notes    []string

	starts  bitset // function entries
	small   bitset // those that were small leaf functions at some time
	met     bitset // those made where functions that share code meet
	budget  walkBudget
	effort  atomic.Int64 // instructions walked and blocks judged so far, all rounds together
	vouched bitset       // those that something other than unwind data names
	covered bitset       // bytes inside extents that tables state
	extents []extent
	parts   map[uint32]uint32 // part entry → parent entry; a parent of none is unknown
	stubs   bitset            // linker stubs
	alts    map[uint32]bool   // called addresses inside another function's extent

	callSites   []extent // owner is the landing pad
	resumeStub  uint32   // the stub of what goes on unwinding, or none
	noRet       bitset
	goTable     bitset          // functions of Go's table
	resumed     map[uint32]bool // functions that return by way of a scheduler
	deferReturn uint32          // the function of that name, or none
	noRetSite   map[uint32]bool // calls seen to be followed by no code of the function

	tables     map[uint32]*table
	tableAddrs []uint64
	relocs     []object.Relocation // with a target, sorted by address

	funcs     []*fn // sorted by entry, but for
	added     int   // the last ones
	dirty     []*fn // to be walked
	byEntry   map[uint32]*fn
	slab      []fn // the next functions
	callers   callerIndex
	called    bitset      // targets of direct calls of functions, and of calls that were lost since
	owned     bitset      // bytes of blocks, once asked for, but for what was lost since
	freed     []span      // by functions taken back
	callsLost atomic.Bool // a function lost a call since called was made
	walkers   []walker
	finders   []tableFinder
	scanners  []refScanner

	pointers    []pointer
	havePointer bool
	runs        []span          // of adjacent ones, by index
	pointed     bitset          // where they lead; nil until asked for
	shared      bitset          // block starts of several functions, when tail calls were last looked for
	splitSets   []bitset        // room for the next ones
	spare       []bitset        // empty, for rounds to borrow
	taken       []pointer       // code addresses taken by code, outside stated extents
	labelled    []uint32        // places that global symbols without a type name; nil until asked for
	readAt      bitset          // code bytes that code reads as data
	rejected    map[uint32]bool // starts judged and refused
	refused     map[uint32]int  // and how often gap analysis refused a start
	gapRounds   int
	uncovered   int // bytes outside stated extents, counted once

	counted     bool   // strings carry lengths (Go), they are not ended by zeroes
	frames      bool   // call frame information exists
	align       uint32 // usualAlignment for alignOf functions
	alignOf     int
	slots       map[uint64]int32  // pointers of imports
	stubTargets map[uint64]uint64 // by stub of IA-32 that leads to code of the image
	stubIndex   []stubEntry
	static      bool   // loaded at a fixed address: immediates may be addresses
	lost        uint64 // registers that a call need not keep
	conv        convention
	raises      bool
	framesAsked uint32
	strayOnce   *sync.Once // of a round of gaps
	stray       []stray
	startupRead bool // startupInner was asked
	relative32  bool // 32-bit x86 that finds its data from where it runs
	codeRelocs  bool // relocations apply inside code
	lowCode     uint64
	highCode    uint64
	lowMapped   uint64
	highMapped  uint64
}

func (r *recovery) note(s string) {
	if !slices.Contains(r.notes, s) {
		r.notes = append(r.notes, s)
	}
}

// relocated returns the target a relocation gives to the pointer at addr.
func (r *recovery) relocated(addr uint64) (uint64, bool) {
	i, ok := slices.BinarySearchFunc(r.relocs, addr, func(x object.Relocation, a uint64) int { return cmp.Compare(x.Addr, a) })
	if ok {
		return r.relocs[i].Target, true
	}
	return 0, false
}

const fnSlab = 128 // functions made at a time

// evidence is that for the function at off, which is one.
func (r *recovery) evidence(off uint32) Evidence {
	if f := r.byEntry[off]; f != nil {
		return f.why.ev
	}
	return ByStub
}

// add makes off a function start and says whether it was new.
func (r *recovery) add(off uint32, ev Evidence, from uint64) bool {
	if off == none {
		return false
	}
	if old := r.byEntry[off]; old != nil {
		if ev < old.why.ev {
			old.why = why{ev, from}
		}
		return false
	}
	r.starts.set(off)
	if len(r.slab) == 0 {
		r.slab = make([]fn, fnSlab)
	}
	f := &r.slab[0]
	r.slab = r.slab[1:]
	f.entry, f.why = off, why{ev, from}
	r.touch(f)
	r.byEntry[off] = f
	r.funcs = append(r.funcs, f)
	r.added++
	return true
}

// touch has f walked again.
func (r *recovery) touch(f *fn) {
	if !f.dirty {
		f.dirty = true
		r.dirty = append(r.dirty, f)
	}
}

// sortFuncs brings the functions into order after additions at the end.
func (r *recovery) sortFuncs() {
	n := len(r.funcs)
	k := n - r.added
	if r.added = 0; k >= n {
		return
	}
	tail := slices.Clone(r.funcs[k:])
	slices.SortFunc(tail, func(a, b *fn) int { return cmp.Compare(a.entry, b.entry) })
	i, j := k-1, len(tail)-1
	for at := n - 1; j >= 0; at-- {
		if i >= 0 && r.funcs[i].entry > tail[j].entry {
			r.funcs[at] = r.funcs[i]
			i--
		} else {
			r.funcs[at] = tail[j]
			j--
		}
	}
}

// settle sorts the functions after additions and touches those whose blocks
// hold a fresh start.
func (r *recovery) settle(fresh []uint32) {
	r.sortFuncs()
	fresh = slices.Sorted(slices.Values(fresh))
	cut := make([][]*fn, r.shards(len(r.funcs)))
	_ = r.eachShard(len(r.funcs), func(_, s, lo, hi int) {
		for _, f := range r.funcs[lo:hi] {
			k, _ := slices.BinarySearch(fresh, f.lo)
			if k == len(fresh) || fresh[k] >= f.hi {
				continue
			}
			for i := range f.blocks {
				b := &f.blocks[i]
				if j, _ := slices.BinarySearch(fresh[k:], b.start); k+j < len(fresh) && fresh[k+j] < b.end {
					cut[s] = append(cut[s], f)
					break
				}
			}
		}
	})
	for _, fs := range cut {
		for _, f := range fs {
			r.touch(f)
		}
	}
}

// dropAll removes function starts.
func (r *recovery) dropAll(offs []uint32) {
	if len(offs) > 0 {
		r.take(offs)
		r.sweep()
	}
}

// take removes function starts; the functions stay listed until sweep.
func (r *recovery) take(offs []uint32) {
	for _, off := range offs {
		r.starts.clear(off)
		f := r.byEntry[off]
		if f == nil {
			continue
		}
		r.budget.used.Add(-f.cost)
		f.gone = true
		r.give(f)
		delete(r.byEntry, off)
	}
}

// give takes what a function had from the sets that are kept up.
func (r *recovery) give(f *fn) {
	r.callsLost.Store(true)
	if r.owned != nil {
		for i := range f.blocks {
			r.freed = append(r.freed, span{f.blocks[i].start, f.blocks[i].end})
		}
	}
}

func (r *recovery) sweep() {
	r.sortFuncs()
	r.funcs = slices.DeleteFunc(r.funcs, func(f *fn) bool { return f.gone })
}

// takeDirty returns the functions that are to be walked, and empties their list.
func (r *recovery) takeDirty() []*fn {
	walk := slices.DeleteFunc(r.dirty, func(f *fn) bool { return f.gone })
	r.dirty = nil
	return walk
}

// demote takes back starts that weak evidence suggested and a walk refutes:
// the function right before runs into them, or jumps to them conditionally, or
// through a table that has a bound. A
// function that runs on through what was one is walked and judged again at once.
func (r *recovery) demote() (bool, error) {
	changed := false
	for judge := r.funcs; len(judge) > 0; {
		found := make([][]refutation, r.shards(len(judge)))
		if err := r.eachShard(len(judge), func(_, s, lo, hi int) {
			for _, f := range judge[lo:hi] {
				found[s] = r.refuted(found[s], f)
			}
		}); err != nil {
			return changed, err
		}
		var out []uint32
		for _, x := range slices.Concat(found...) {
			out = append(out, x.start)
			r.touch(x.by)
		}
		if len(out) == 0 {
			break
		}
		changed = true
		slices.Sort(out)
		out = slices.Compact(out)
		for _, o := range out {
			r.rejected[o] = true
			r.refused[o] = 2 * maxRefusals
			for _, c := range r.callersOf(o) {
				if c.exit {
					r.touch(c.from)
				}
			}
		}
		r.take(out)
		judge = r.takeDirty()
		if crowded, err := r.walkAll(judge); crowded || err != nil {
			return true, err
		}
	}
	if !changed {
		return false, nil
	}
	r.sweep()
	for o, n := range r.refused { // what they refused is judged again
		if n < 2*maxRefusals {
			delete(r.refused, o)
		}
	}
	return true, nil
}

// refutation is a start, and the function whose walk refutes it.
type refutation struct {
	start uint32
	by    *fn
}

// refuted appends the starts that the walk of f refutes.
func (r *recovery) refuted(out []refutation, f *fn) []refutation {
	scanned := none // whatever starts before is a guess
	for _, e := range f.exits {
		if e.kind == exitJump && r.d.kind(e.from) == kindIndJump && e.to != none && e.to > f.entry && r.starts.has(e.to) && r.evidence(e.to) == ByGap && !r.met.has(e.to) {
			if t := r.tables[e.from]; t == nil || !t.bounded || len(f.extents) > 0 && !f.inside(e.to) {
				continue
			}
			if scanned == none {
				scanned = r.guessedUntil(f)
			}
			if e.to < scanned {
				out = append(out, refutation{e.to, f})
			}
			continue
		}
		if e.kind != exitFall && e.kind != exitCond || e.to == none || e.to <= f.entry || !r.starts.has(e.to) {
			continue
		}
		ev := r.evidence(e.to)
		if len(f.extents) > 0 && !f.inside(e.to) {
			continue // stated to be outside
		}
		if r.met.has(e.to) || ev < ByPointer || e.kind == exitCond && ev != ByJump && ev != ByGap {
			continue
		}
		if r.startAfter(f) == e.to {
			out = append(out, refutation{e.to, f})
		}
	}
	return out
}

// guessedUntil is the first start behind f's entry that more speaks for than that
// it lies in a gap, or none: what a table of f leads to before it are blocks.
func (r *recovery) guessedUntil(f *fn) uint32 {
	i, _ := slices.BinarySearchFunc(r.funcs, f.entry+1, func(f *fn, o uint32) int { return cmp.Compare(f.entry, o) })
	for n := 0; i < len(r.funcs) && n < maxTable; i, n = i+1, n+1 {
		if g := r.funcs[i]; g.why.ev != ByGap || r.sp.at(g.entry) != r.sp.at(f.entry) {
			return g.entry
		}
	}
	return none
}

// own walks dirty functions, follows calls to new functions and infers which
// do not return, until nothing changes.
func (r *recovery) own() error {
	prunes := 0
	for {
		tired := r.tired()
		if fresh := r.decodedCalls(); len(fresh) > 0 {
			r.settle(fresh)
		}
		walked := r.takeDirty()
		if len(walked) == 0 {
			if prunes++; prunes > maxPrunes || !r.prune() {
				return r.ctx.Err()
			}
		}
		crowded, err := r.walkAll(walked)
		if err != nil {
			return err
		}
		if crowded {
			continue
		}
		r.progress("functions", len(r.funcs), 0)
		if tired && len(walked) > 0 {
			continue
		}
		if fresh := r.callees(walked); len(fresh) > 0 {
			r.settle(fresh)
			r.effort.Add(int64(r.sp.size/roundShare) + int64(len(r.funcs)))
			if err := r.d.run(r.ctx, r.workers, fresh); err != nil {
				return err
			}
		}
	}
}

// decodedCalls adds the targets of all calls decoded since the last time, owned
// or not, so that a long chain of calls needs no round for each link. prune
// takes back those that no owned call bears out.
func (r *recovery) decodedCalls() []uint32 {
	var fresh []uint32
	for _, f := range r.d.pending {
		t := f.target
		if r.starts.has(t) || r.rejected[t] {
			continue
		}
		if r.add(t, ByCall, r.sp.addr(f.off)) {
			fresh = append(fresh, t)
		}
	}
	r.d.pending = r.d.pending[:0]
	return fresh
}

// prune drops functions whose only evidence is a call that no function owns,
// once the walks have settled.
func (r *recovery) prune() bool {
	if !slices.ContainsFunc(r.funcs, func(f *fn) bool { return f.why.ev == ByCall }) {
		return false
	}
	r.countCalls()
	var out []uint32
	for _, f := range r.funcs {
		if f.why.ev == ByCall && !r.called.has(f.entry) {
			out = append(out, f.entry)
		}
	}
	if len(out) == 0 {
		return false
	}
	r.dropAll(out)
	r.touchLeaving(out)
	return true
}

// touchLeaving has all functions walked again that leave for one of the places,
// which are sorted.
func (r *recovery) touchLeaving(places []uint32) {
	if len(places) == 0 {
		return
	}
	lo, hi := places[0], places[len(places)-1]
	for _, f := range r.funcs {
		for _, e := range f.exits {
			if e.to < lo || e.to > hi {
				continue
			}
			if _, ok := slices.BinarySearch(places, e.to); ok {
				r.touch(f)
				break
			}
		}
	}
}

// countCalls brings called up to date: walks add to it what they find.
func (r *recovery) countCalls() {
	if !r.callsLost.Swap(false) {
		return
	}
	clear(r.called)
	_ = each(r.ctx, r.workers, len(r.funcs), 256, func(_, i int) {
		for _, c := range r.funcs[i].calls {
			if c.target != none {
				r.called.share(c.target)
			}
		}
	})
}

// callees adds the targets of calls, and of jumps that leave an extent a
// table states, as functions.
func (r *recovery) callees(walked []*fn) []uint32 {
	var fresh []uint32
	for _, f := range walked {
		for _, c := range f.calls {
			t := c.target
			if t == none || r.starts.has(t) || t == c.off+r.d.size(c.off) {
				continue
			}
			if r.covered.has(t) {
				r.alts[t] = true
				continue
			}
			if r.add(t, ByCall, r.sp.addr(c.off)) {
				fresh = append(fresh, t)
			}
		}
		if len(f.extents) == 0 {
			continue
		}
		for _, e := range f.exits {
			if e.kind > exitCond || e.to == none || r.starts.has(e.to) || r.covered.has(e.to) {
				continue
			}
			if r.d.kind(e.from) == kindIndJump || !f.inside(e.from) || r.rejected[e.to] {
				continue
			}
			if end := r.sp.at(e.to).end(); r.skipPadding(e.to, end) != e.to {
				continue // an unreachable block without code
			}
			if r.continues(e.to) { // a part of f that no table states
				if !f.inside(e.to) {
					r.attach(f, e.to, r.stretch(e.to))
					fresh = append(fresh, e.to)
				}
			} else if r.add(e.to, ByJump, r.sp.addr(e.from)) {
				fresh = append(fresh, e.to)
			}
		}
	}
	return fresh
}

// run is the whole loop.
func (r *recovery) run() error {
	var leaders []uint32
	err := together(r.workers, func() { leaders = r.seed() }, func() { r.dataPointers() })
	if err != nil {
		return err
	}
	if err := r.d.run(r.ctx, r.workers, leaders); err != nil {
		return err
	}
	stages := []func() (bool, error){r.resolveTables, r.endingCalls, r.mergeParts, r.demote, r.splitJumps, r.addPointers, r.addLabels, r.fillGaps, r.fillHoles}
	for range maxRounds {
		r.effort.Add(int64(r.sp.size/roundShare) + int64(len(r.funcs)))
		if r.tired() {
			break
		}
		if err := r.own(); err != nil {
			return err
		}
		changed := false
		for _, stage := range stages {
			var err error
			if changed, err = stage(); err != nil {
				return err
			}
			if changed {
				break
			}
		}
		if !changed {
			return nil
		}
	}
	r.note("recovery was ended before it settled: functions kept changing")
	return r.own()
}
