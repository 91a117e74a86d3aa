package lower

import (
	"sync"

	"rea/providers/embedded/isa"
	"rea/providers/embedded/ssa"
)

// Small functions that call nothing often keep more registers than the
// convention asks for, and are called by code that knows: checks of the stack
// (__chkstk), atomic operations that are chosen at run time, loads of the
// program counter.

// leaves remembers what small functions keep.
type leaves struct {
	mu   sync.Mutex
	kept map[int]ssa.Set
}

const (
	leafBlocks       = 12
	leafInstructions = 64
)

// leafKeeps are general registers that function i keeps besides those of the
// convention; none when it calls something or is too large.
func (l *Program) leafKeeps(i int) ssa.Set {
	l.leaves.mu.Lock()
	defer l.leaves.mu.Unlock()
	k, ok := l.leaves.kept[i]
	if !ok {
		if l.leaves.kept == nil {
			l.leaves.kept = map[int]ssa.Set{}
		}
		k = l.readLeaf(i)
		l.leaves.kept[i] = k
	}
	return k
}

func (l *Program) readLeaf(i int) ssa.Set {
	blocks := l.FunctionBlocks(i)
	if len(blocks) == 0 || len(blocks) > leafBlocks {
		return ssa.Set{}
	}
	const general = 31
	var written, pushed, popsAny uint64
	restored := ^uint64(0)
	n := 0
	for k := range blocks {
		var popped uint64
		var in isa.Inst
		for a := blocks[k].Start; a < blocks[k].End; a += uint64(max(1, in.Len)) {
			l.dec.Decode(l.Image.Bytes(a, l.dec.MaxLen()), a, &in)
			if n++; n > leafInstructions {
				return ssa.Set{}
			}
			switch in.Flow {
			case isa.Next:
			case isa.Jump, isa.CondJump:
				if !l.inside(i, in.Target) {
					return ssa.Set{}
				}
			case isa.Return:
				restored &= popped
			default:
				return ssa.Set{}
			}
			switch {
			case in.Class == isa.Push && !in.HasMem && in.Src < general:
				if blocks[k].Start == l.Functions[i].Entry && written>>in.Src&1 == 0 {
					pushed |= 1 << in.Src
				}
			case in.Class == isa.Pop && in.Dst < general:
				popped |= 1 << in.Dst
				popsAny |= 1 << in.Dst
			default:
				written |= in.Writes
				popped &^= in.Writes
			}
		}
	}
	all := uint64(1)<<general - 1
	return ssa.Set{(^(written | popsAny) | pushed&restored) & all}
}

func (l *Program) inside(i int, addr uint64) bool {
	_, ok := l.BlockAt(i, addr)
	return ok
}
