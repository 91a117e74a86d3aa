package program

import (
	"cmp"
	"context"
	"slices"

	"rea/providers/embedded/isa"
	"rea/providers/format/object"
)

// maxRounds bounds the rounds of the whole loop. Real programs settle in a
// few dozen; the bound is stated in the notes when it is met.
const maxRounds = 400

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
	why     map[uint32]why
	covered bitset // bytes inside extents that tables state
	extents []extent
	parts   map[uint32]uint32 // part entry → parent entry; a parent of none is unknown
	stubs   map[uint32]bool   // linker stubs
	alts    map[uint32]bool   // called addresses inside another function's extent

	callSites []extent // owner is the landing pad
	noRet     bitset
	goTable   map[uint32]bool // functions of Go's table
	resumed   map[uint32]bool // functions that return by way of a scheduler
	noRetSite map[uint32]bool // calls seen to be followed by no code of the function

	tables     map[uint32]*table
	tableAddrs []uint64
	relocs     []object.Relocation // with a target, sorted by address

	funcs   []*fn // sorted by entry
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

	counted    bool // strings carry lengths (Go), they are not ended by zeroes
	frames     bool // call frame information exists
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
	f := &fn{entry: off, dirty: true}
	r.byEntry[off] = f
	r.funcs = append(r.funcs, f)
	return true
}

// settle sorts the functions after additions and marks those dirty whose
// blocks hold a fresh start.
func (r *recovery) settle(fresh []uint32) {
	slices.SortFunc(r.funcs, func(a, b *fn) int { return cmp.Compare(a.entry, b.entry) })
	set := newBitset(r.sp.size)
	for _, o := range fresh {
		set.set(o)
	}
	_ = each(r.ctx, r.workers, len(r.funcs), 256, func(_, i int) {
		f := r.funcs[i]
		if f.dirty {
			return
		}
		for k := range f.blocks {
			if b := &f.blocks[k]; set.next(b.start, b.end) < b.end {
				f.dirty = true
				return
			}
		}
	})
}

// drop removes function starts.
func (r *recovery) drop(off uint32) {
	r.starts.clear(off)
	if r.recent != nil {
		r.recent.set(off)
	}
	delete(r.why, off)
	delete(r.byEntry, off)
	r.funcs = slices.DeleteFunc(r.funcs, func(f *fn) bool { return f.entry == off })
}

// demote takes back starts that weak evidence suggested and a walk refutes:
// the function right before runs into them, or jumps to them conditionally.
func (r *recovery) demote() (bool, error) {
	var out []uint32
	for _, f := range r.funcs {
		for _, e := range f.exits {
			if e.to == none || e.to <= f.entry || !r.starts.has(e.to) || e.kind != exitFall && e.kind != exitCond {
				continue
			}
			ev := r.why[e.to].ev
			if len(f.extents) > 0 && !f.inside(e.to) {
				continue // stated to be outside
			}
			if ev < ByPointer || e.kind == exitCond && ev != ByJump && ev != ByGap {
				continue
			}
			if r.starts.next(f.entry+1, e.to) == e.to {
				out = append(out, e.to)
				f.dirty = true
			}
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	for _, o := range out {
		r.drop(o)
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
				f.dirty = true
			}
		}
	}
	return true, nil
}

// own walks dirty functions, follows calls to new functions and infers which
// do not return, until nothing changes.
func (r *recovery) own() error {
	var walked []*fn
	for {
		walked = walked[:0]
		for _, f := range r.funcs {
			if f.dirty {
				walked = append(walked, f)
			}
		}
		if len(walked) == 0 {
			return r.ctx.Err()
		}
		err := each(r.ctx, r.workers, len(walked), 16, func(w, i int) { r.walk(&r.walkers[w], walked[i]) })
		if err != nil {
			return err
		}
		r.progress("functions", len(r.funcs), 0)
		fresh := r.callees(walked)
		if len(fresh) > 0 {
			r.settle(fresh)
			if err := r.d.run(r.ctx, r.workers, fresh); err != nil {
				return err
			}
			continue
		}
		if !r.inferNoReturn() {
			return nil
		}
	}
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
	stages := []func() (bool, error){r.resolveTables, r.mergeParts, r.demote, r.splitJumps, r.addPointers, r.fillGaps, r.fillHoles}
	for range maxRounds {
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
	r.note("recovery was ended after its largest number of rounds")
	return r.own()
}
