package program

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"rea/providers/embedded/isa"
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
	dec      isa.Decoder
	sp       *space
	d        *descent
	workers  int
	progress func(phase string, done, total int)
	notes    []string

	starts  bitset // function entries
	met     bitset // those made where functions that share code meet
	budget  walkBudget
	effort  atomic.Int64 // instructions walked and blocks judged so far, all rounds together
	vouched bitset       // those that something other than unwind data names
	why     map[uint32]why
	covered bitset // bytes inside extents that tables state
	extents []extent
	parts   map[uint32]uint32 // part entry → parent entry; a parent of none is unknown
	stubs   map[uint32]bool   // linker stubs
	alts    map[uint32]bool   // called addresses inside another function's extent

	callSites   []extent // owner is the landing pad
	noRet       bitset
	goTable     map[uint32]bool // functions of Go's table
	resumed     map[uint32]bool // functions that return by way of a scheduler
	deferReturn uint32          // the function of that name, or none
	noRetSite   map[uint32]bool // calls seen to be followed by no code of the function

	tables     map[uint32]*table
	tableAddrs []uint64
	relocs     []object.Relocation // with a target, sorted by address

	funcs   []*fn // sorted by entry
	dirty   []*fn // to be walked
	callers []caller
	byEntry map[uint32]*fn
	walkers []walker

	pointers    []pointer
	havePointer bool
	recent      bitset          // starts added since tail calls were last looked for
	taken       []pointer       // code addresses taken by code, outside stated extents
	readAt      bitset          // code bytes that code reads as data
	rejected    map[uint32]bool // starts judged and refused
	refused     map[uint32]int  // and how often gap analysis refused a start
	gapRounds   int
	uncovered   int // bytes outside stated extents, counted once

	counted    bool   // strings carry lengths (Go), they are not ended by zeroes
	frames     bool   // call frame information exists
	align      uint32 // usualAlignment for alignOf functions
	alignOf    int
	slots      map[uint64]int32 // pointers of imports
	stubIndex  []stubEntry
	static     bool // loaded at a fixed address: immediates may be addresses
	codeRelocs bool // relocations apply inside code
	lowCode    uint64
	highCode   uint64
	lowMapped  uint64
	highMapped uint64
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

// add makes off a function start and says whether it was new.
func (r *recovery) add(off uint32, ev Evidence, from uint64) bool {
	if off == none {
		return false
	}
	if old, ok := r.why[off]; ok {
		if ev < old.ev {
			r.why[off] = why{ev, from}
		}
		return false
	}
	r.why[off] = why{ev, from}
	r.starts.set(off)
	if r.recent != nil {
		r.recent.set(off)
	}
	f := &fn{entry: off}
	r.touch(f)
	r.byEntry[off] = f
	r.funcs = append(r.funcs, f)
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
	k := 1
	for k < n && r.funcs[k-1].entry < r.funcs[k].entry {
		k++
	}
	if k >= n {
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
	set := newBitset(r.sp.size)
	for _, o := range fresh {
		set.set(o)
	}
	cut := make([]bool, len(r.funcs))
	_ = each(r.ctx, r.workers, len(r.funcs), 256, func(_, i int) {
		for k := range r.funcs[i].blocks {
			if b := &r.funcs[i].blocks[k]; set.next(b.start, b.end) < b.end {
				cut[i] = true
				return
			}
		}
	})
	for i, f := range r.funcs {
		if cut[i] {
			r.touch(f)
		}
	}
}

// dropAll removes function starts.
func (r *recovery) dropAll(offs []uint32) {
	if len(offs) == 0 {
		return
	}
	gone := make(map[*fn]bool, len(offs))
	for _, off := range offs {
		r.starts.clear(off)
		if r.recent != nil {
			r.recent.set(off)
		}
		f := r.byEntry[off]
		if f == nil {
			continue
		}
		r.budget.used.Add(-f.cost)
		gone[f] = true
		delete(r.why, off)
		delete(r.byEntry, off)
	}
	r.funcs = slices.DeleteFunc(r.funcs, func(f *fn) bool { return gone[f] })
}

// demote takes back starts that weak evidence suggested and a walk refutes:
// the function right before runs into them, or jumps to them conditionally.
func (r *recovery) demote() (bool, error) {
	var out []uint32
	for _, f := range r.funcs {
		if len(f.exits) == 0 {
			continue
		}
		after := r.startAfter(f)
		for _, e := range f.exits {
			if e.to == none || e.to <= f.entry || !r.starts.has(e.to) || e.kind != exitFall && e.kind != exitCond {
				continue
			}
			ev := r.why[e.to].ev
			if len(f.extents) > 0 && !f.inside(e.to) {
				continue // stated to be outside
			}
			if r.met.has(e.to) || ev < ByPointer || e.kind == exitCond && ev != ByJump && ev != ByGap {
				continue
			}
			if after == e.to {
				out = append(out, e.to)
				r.touch(f)
			}
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	r.dropAll(out)
	for _, o := range out {
		r.rejected[o] = true
		r.refused[o] = 2 * maxRefusals
	}
	if len(out) == 0 {
		return false, nil
	}
	for o, n := range r.refused { // what they refused is judged again
		if n < 2*maxRefusals {
			delete(r.refused, o)
		}
	}
	for _, f := range r.funcs {
		for _, e := range f.exits {
			if _, gone := slices.BinarySearch(out, e.to); gone {
				r.touch(f)
			}
		}
	}
	return true, nil
}

// own walks dirty functions, follows calls to new functions and infers which
// do not return, until nothing changes.
func (r *recovery) own() error {
	r.callers = nil
	prunes := 0
	for {
		tired := r.tired()
		if fresh := r.decodedCalls(); len(fresh) > 0 {
			r.settle(fresh)
		}
		walked := slices.DeleteFunc(r.dirty, func(f *fn) bool { return r.byEntry[f.entry] != f })
		r.dirty = nil
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
			r.callers = nil
			continue
		}
		r.progress("functions", len(r.funcs), 0)
		if tired && len(walked) > 0 {
			continue
		}
		if fresh := r.callees(walked); len(fresh) > 0 {
			r.settle(fresh)
			r.callers = nil
			r.effort.Add(int64(r.sp.size/roundShare) + int64(len(r.funcs)))
			if err := r.d.run(r.ctx, r.workers, fresh); err != nil {
				return err
			}
			continue
		}
		r.inferNoReturn(walked)
	}
}

// decodedCalls adds the targets of all calls decoded since the last time, owned
// or not, so that a long chain of calls needs no round for each link. prune
// takes back those that no owned call bears out.
func (r *recovery) decodedCalls() []uint32 {
	var fresh []uint32
	for _, f := range r.d.pending {
		t := f.target
		if r.d.kind(f.off) != kindCall || t == none || r.starts.has(t) || r.covered.has(t) || r.rejected[t] || t == f.off+r.d.size(f.off) {
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
	if !slices.ContainsFunc(r.funcs, func(f *fn) bool { return r.why[f.entry].ev == ByCall }) {
		return false
	}
	called := newBitset(r.sp.size)
	for _, f := range r.funcs {
		for _, c := range f.calls {
			if t := r.d.target(c); t != none {
				called.set(t)
			}
		}
	}
	gone := newBitset(r.sp.size)
	var out []uint32
	for _, f := range r.funcs {
		if r.why[f.entry].ev == ByCall && !called.has(f.entry) {
			out = append(out, f.entry)
			gone.set(f.entry)
		}
	}
	if len(out) == 0 {
		return false
	}
	r.dropAll(out)
	for _, f := range r.funcs {
		for _, e := range f.exits {
			if e.to != none && gone.has(e.to) {
				r.touch(f)
			}
		}
	}
	return true
}

// callees adds the targets of calls, and of jumps that leave an extent a
// table states, as functions.
func (r *recovery) callees(walked []*fn) []uint32 {
	var fresh []uint32
	for _, f := range walked {
		for _, c := range f.calls {
			t := r.d.target(c)
			if t == none || r.starts.has(t) || t == c+r.d.size(c) {
				continue
			}
			if r.covered.has(t) {
				r.alts[t] = true
				continue
			}
			if r.add(t, ByCall, r.sp.addr(c)) {
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
			if r.add(e.to, ByJump, r.sp.addr(e.from)) {
				fresh = append(fresh, e.to)
			}
		}
	}
	return fresh
}

// run is the whole loop.
func (r *recovery) run() error {
	if err := r.d.run(r.ctx, r.workers, r.seed()); err != nil {
		return err
	}
	stages := []func() (bool, error){r.resolveTables, r.endingCalls, r.mergeParts, r.demote, r.splitJumps, r.addPointers, r.fillGaps, r.fillHoles}
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
