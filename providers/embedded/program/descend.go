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

// flow is a direct call and its target.
type flow struct{ off, target uint32 }

// descent is the decoded part of the program.
type descent struct {
	sp   *space
	dec  decoder
	meta []uint8
	seen bitset // claimed instruction starts
	data bitset // bytes declared to be data; nil when there are none

	noRetStub  bitset          // stubs of imports that do not return
	noRetSlots map[uint64]bool // and their pointers
	noRetPlace map[uint64]bool // the places of such imports in an object file, which has no code for them

	starts, covered bitset // those of the recovery
	pending         []flow // calls of what is neither, decoded since the last look at them
}

func newDescent(sp *space, dec decoder) *descent {
	return &descent{sp: sp, dec: dec, meta: make([]uint8, sp.size+regionGuard), seen: newBitset(sp.size + regionGuard), noRetStub: newBitset(sp.size)}
}

func (d *descent) kind(off uint32) uint8  { return d.meta[off] >> 4 }
func (d *descent) size(off uint32) uint32 { return uint32(d.meta[off] & 15) }

// target returns where the direct branch or call at off goes, or none.
func (d *descent) target(off uint32) uint32 {
	m := d.meta[off]
	switch m >> 4 {
	case kindJump, kindCond, kindCall:
		r := d.sp.at(off)
		i := off - r.base
		return d.sp.off(d.dec.Target(r.data[i:], r.addr+uint64(i), int(m&15)))
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

// leave ends the work: a worker leaves when all have done theirs, when the
// context ended, or when it broke down, and then the others are not to wait.
func (q *queue) leave() {
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
	if len(fresh) == 0 {
		return ctx.Err()
	}
	workers = min(workers, 1+len(fresh)/8)
	q := &queue{items: fresh, workers: workers}
	q.cond = sync.NewCond(&q.mu)
	found := make([][]flow, workers)
	err := crew(workers, func(w int, _ func() bool) {
		defer q.leave()
		found[w] = d.work(ctx, q)
	})
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	all := slices.Concat(found...)
	slices.SortFunc(all, func(a, b flow) int { return cmp.Compare(a.off, b.off) })
	d.pending = append(d.pending, all...)
	return nil
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
			if t != none && !d.seen.claimed(t) {
				stack = append(stack, t)
			}
			if in.Flow == isa.Call {
				if t != none && t != off+n && d.takesReturn(off, t) {
					d.meta[off] = uint8(n) | kindJump<<4
					return stack, out
				}
				if t != none && t != off+n && !d.starts.has(t) && !d.covered.has(t) {
					out = append(out, flow{off, t})
				}
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
