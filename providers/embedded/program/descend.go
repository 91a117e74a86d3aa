package program

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"rea/providers/embedded/isa"
)

// Recursive descent: starting from leaders, decode until control cannot fall
// through, and follow direct branches and calls. The set of instructions
// reached is a least fixed point, the same for any order of work; each
// instruction is decoded once, by whichever worker claims its offset first.
//
// Calls are taken to return here unless they go to an import known not to.
// What that optimism decodes in excess is dropped by the ownership stage.

// Each code byte has one state byte: at an instruction start the length in
// the low and the kind in the high half, else zero.
const (
	kindInvalid  = uint8(isa.Invalid)
	kindNext     = uint8(isa.Next)
	kindJump     = uint8(isa.Jump)
	kindCond     = uint8(isa.CondJump)
	kindIndJump  = uint8(isa.IndirectJump)
	kindCall     = uint8(isa.Call)
	kindIndCall  = uint8(isa.IndirectCall)
	kindReturn   = uint8(isa.Return)
	kindTrap     = uint8(isa.Trap)
	kindNop      = uint8(12)
	kindIndNoRet = uint8(13) // an indirect call through the slot of an import that does not return
	kindExtNoRet = uint8(14) // a direct call to a place outside the code that does not return
)

// flow is a direct branch or call and its target.
type flow struct {
	off    uint32
	target uint32 // none when outside the code
}

// descent is the decoded part of the program.
type descent struct {
	sp   *space
	dec  isa.Decoder
	meta []uint8
	seen bitset // claimed instruction starts
	data bitset // bytes declared to be data; nil when there are none

	noRetStub  bitset          // stubs of imports that do not return
	noRetSlots map[uint64]bool // and their pointers
	noRetPlace map[uint64]bool // the places of such imports in an object file, which has no code for them

	flows   []flow   // sorted by off
	pending []flow   // those decoded since the last look at calls
	index   []uint32 // index[off>>flowShift]: first flow at or after that offset
}

const flowShift = 6

func newDescent(sp *space, dec isa.Decoder) *descent {
	return &descent{sp: sp, dec: dec, meta: make([]uint8, sp.size+regionGuard), seen: newBitset(sp.size + regionGuard), noRetStub: newBitset(sp.size)}
}

func (d *descent) kind(off uint32) uint8  { return d.meta[off] >> 4 }
func (d *descent) size(off uint32) uint32 { return uint32(d.meta[off] & 15) }

// target returns where the direct branch or call at off goes.
func (d *descent) target(off uint32) uint32 {
	lo, hi := d.index[off>>flowShift], d.index[off>>flowShift+1]
	for ; lo < hi; lo++ {
		if f := &d.flows[lo]; f.off == off {
			return f.target
		}
	}
	return none
}

// queue hands leaders to workers; it is done when all of them wait.
type queue struct {
	mu      sync.Mutex
	cond    *sync.Cond
	items   []uint32
	workers int
	waiting int
	stopped bool
}

const queueBatch = 128

func (q *queue) take(buf []uint32) []uint32 {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.stopped {
		q.waiting++
		if q.waiting == q.workers {
			q.stopped = true
			q.cond.Broadcast()
			return nil
		}
		q.cond.Wait()
		if !q.stopped {
			q.waiting--
		}
	}
	if q.stopped {
		return nil
	}
	n := min(len(q.items), queueBatch)
	buf = append(buf[:0], q.items[len(q.items)-n:]...)
	q.items = q.items[:len(q.items)-n]
	return buf
}

func (q *queue) give(items []uint32) {
	q.mu.Lock()
	q.items = append(q.items, items...)
	q.mu.Unlock()
	q.cond.Signal()
}

func (q *queue) stop() {
	q.mu.Lock()
	q.stopped = true
	q.mu.Unlock()
	q.cond.Broadcast()
}

// run decodes everything reachable from the leaders that was not decoded yet.
func (d *descent) run(ctx context.Context, workers int, leaders []uint32) error {
	fresh := leaders[:0:0]
	for _, l := range leaders {
		if !d.seen.has(l) {
			fresh = append(fresh, l)
		}
	}
	if len(fresh) == 0 && d.index != nil {
		return ctx.Err()
	}
	workers = min(workers, 1+len(fresh)/8)
	q := &queue{items: fresh, workers: workers}
	q.cond = sync.NewCond(&q.mu)
	found := make([][]flow, workers)
	var wg sync.WaitGroup
	var bad fault
	for w := range workers {
		wg.Go(func() {
			done := false
			defer bad.catch()
			defer func() {
				if !done {
					q.stop() // the others are not to wait for this one
				}
			}()
			found[w] = d.work(ctx, q)
			done = true
			slices.SortFunc(found[w], func(a, b flow) int { return int(int64(a.off) - int64(b.off)) })
		})
	}
	wg.Wait()
	if err := cmp.Or(bad.get(), ctx.Err()); err != nil {
		return err
	}
	var all []flow
	for _, f := range found {
		all = mergeFlows(all, f)
	}
	if len(all) == 0 && d.index != nil {
		return nil
	}
	d.pending = append(d.pending, all...)
	d.flows = mergeFlows(d.flows, all)
	d.reindex()
	return nil
}

// mergeFlows merges two sorted lists, in the place of the first when it has room.
func mergeFlows(a, b []flow) []flow {
	if len(a) == 0 {
		return b
	}
	i, j := len(a)-1, len(b)-1
	a = slices.Grow(a, len(b))[:len(a)+len(b)]
	for k := len(a) - 1; j >= 0; k-- {
		if i >= 0 && a[i].off > b[j].off {
			a[k] = a[i]
			i--
		} else {
			a[k] = b[j]
			j--
		}
	}
	return a
}

func (d *descent) reindex() {
	n := int(d.sp.size>>flowShift) + 2
	if d.index == nil {
		d.index = make([]uint32, n)
	}
	i := 0
	for k := range d.index {
		for i < len(d.flows) && int(d.flows[i].off>>flowShift) < k {
			i++
		}
		d.index[k] = uint32(i)
	}
}

func (d *descent) work(ctx context.Context, q *queue) []flow {
	var out []flow
	var buf, stack []uint32
	for steps := 0; ; steps++ {
		if len(stack) == 0 {
			buf = q.take(buf)
			if len(buf) == 0 {
				return out
			}
			stack = append(stack, buf...)
		}
		if steps&255 == 0 && ctx.Err() != nil {
			q.stop()
			return nil
		}
		off := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		stack, out = d.straight(off, stack, out)
		if len(stack) > 2*queueBatch {
			q.give(stack[:queueBatch])
			stack = append(stack[:0], stack[queueBatch:]...)
		}
	}
}

// straight decodes one run of instructions from off on.
func (d *descent) straight(off uint32, stack []uint32, out []flow) ([]uint32, []flow) {
	r := d.sp.at(off)
	end := r.end()
	if off < r.base || off >= end {
		return stack, out
	}
	align := uint64(d.dec.Align())
	if align > 1 && (r.addr+uint64(off-r.base))%align != 0 {
		return stack, out
	}
	var in isa.Inst
	for off < end {
		if d.data != nil && d.data.has(off) || !d.seen.claim(off) {
			return stack, out
		}
		i := off - r.base
		d.dec.Decode(r.data[i:], r.addr+uint64(i), &in)
		n := uint32(in.Len)
		if n == 0 || n > 15 || n > end-off {
			in.Flow, n = isa.Invalid, 1
		}
		kind := uint8(in.Flow)
		switch in.Flow {
		case isa.Next, isa.Syscall:
			kind = kindNext
			if in.Class == isa.Nop {
				kind = kindNop
			}
		case isa.Jump, isa.CondJump, isa.Call:
			t := d.sp.off(in.Target)
			out = append(out, flow{off, t})
			if t != none && !d.seen.claimed(t) {
				stack = append(stack, t)
			}
			if in.Flow == isa.Call {
				if t != none && d.noRetStub.has(t) {
					d.meta[off] = uint8(n) | kind<<4
					return stack, out
				}
				if t == none && d.noRetPlace[in.Target] {
					kind = kindExtNoRet
				}
			}
		case isa.IndirectCall:
			if in.HasMem && in.Mem.Index == isa.NoReg && (in.Mem.Base == isa.PC || in.Mem.Base == isa.NoReg) && d.noRetSlots[uint64(in.Mem.Disp)] {
				kind = kindIndNoRet
			}
		}
		d.meta[off] = uint8(n) | kind<<4
		switch kind {
		case kindInvalid, kindJump, kindIndJump, kindReturn, kindTrap, kindIndNoRet, kindExtNoRet:
			return stack, out
		}
		off += n
	}
	return stack, out
}
