package ssa

import (
	"fmt"

	"rea/providers/embedded/ir"
)

// Check reports the first violation of the invariants of a function.
func (f *Func) Check() error {
	c := checker{f: f, leaves: make([][]ID, len(f.Values)), state: make([]uint8, len(f.Values)), place: map[ID]int{}}
	for b := range f.Blocks {
		blk := &f.Blocks[b]
		if b > 0 && (int(blk.Idom) >= b || blk.Idom < 0 || len(blk.Preds) == 0) {
			return fmt.Errorf("block %d has dominator %d and %d predecessors", b, blk.Idom, len(blk.Preds))
		}
		for k, v := range blk.Code {
			c.place[v] = k + 1
		}
	}
	for b := range f.Blocks {
		if err := c.block(int32(b)); err != nil {
			return fmt.Errorf("block %d at %#x: %w", b, f.Blocks[b].Start, err)
		}
	}
	return nil
}

type checker struct {
	f      *Func
	leaves [][]ID
	state  []uint8
	place  map[ID]int // of effects and loads in their block
}

// most bounds the leaves looked at under one value.
const most = 64

// under collects the leaves under a value.
func (c *checker) under(v ID, depth int) ([]ID, error) {
	x := &c.f.Values[v]
	switch {
	case v == 0 || int(v) >= len(c.f.Values) || x.Kind == Invalid:
		return nil, fmt.Errorf("v%d is no value", v)
	case x.Kind == Const:
		return nil, nil
	case x.Kind.Leaf():
		return []ID{v}, nil
	case x.Kind != Expr:
		return nil, fmt.Errorf("v%d is a %s, which has no value", v, x.Kind)
	case c.state[v] == 2:
		return c.leaves[v], nil
	case c.state[v] == 1 || depth > 1<<20:
		return nil, fmt.Errorf("v%d depends on itself", v)
	}
	c.state[v] = 1
	if err := c.widths(v); err != nil {
		return nil, err
	}
	var out []ID
	for _, a := range x.Args {
		if a == 0 {
			continue
		}
		ls, err := c.under(a, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, ls[:min(len(ls), most)]...)
	}
	c.leaves[v], c.state[v] = out[:min(len(out), most)], 2
	return c.leaves[v], nil
}

func (c *checker) widths(v ID) error {
	x := &c.f.Values[v]
	bits := func(k int) uint16 { return c.f.Values[x.Args[k]].Bits }
	ok := true
	switch x.Op {
	case ir.Add, ir.Sub, ir.Mul, ir.DivU, ir.DivS, ir.RemU, ir.RemS, ir.And, ir.Or, ir.Xor:
		ok = bits(0) == x.Bits && bits(1) == x.Bits
	case ir.Not, ir.Neg, ir.Shl, ir.ShrU, ir.ShrS, ir.RotL, ir.RotR, ir.PopCount, ir.CountLeading, ir.CountTrailing, ir.ReverseBits, ir.ReverseBytes:
		ok = bits(0) == x.Bits
	case ir.Eq, ir.Ne, ir.LtU, ir.LeU, ir.LtS, ir.LeS:
		ok = x.Bits == 1 && bits(0) == bits(1)
	case ir.Zext, ir.Sext:
		ok = bits(0) < x.Bits
	case ir.Extract:
		ok = x.N+uint64(x.Bits) <= uint64(bits(0))
	case ir.Concat:
		ok = bits(0)+bits(1) == x.Bits
	case ir.Select:
		ok = bits(0) == 1 && bits(1) == x.Bits && bits(2) == x.Bits
	default:
		ok = false
	}
	if !ok {
		return fmt.Errorf("v%d = %s of %d bits: widths %d, %d, %d", v, x.Op, x.Bits, bits(0), bits(1), bits(2))
	}
	return nil
}

// available says whether leaf can be used at the k-th place of a block; k is
// past the end for uses on edges.
func (c *checker) available(leaf ID, block int32, k int) bool {
	x := &c.f.Values[leaf]
	if x.Block != block {
		return c.f.Dominates(x.Block, block)
	}
	switch x.Kind {
	case Load:
		return c.place[leaf] < k
	case After:
		return c.place[x.Args[0]] < k
	}
	return true
}

func (c *checker) use(v ID, block int32, k int) error {
	ls, err := c.under(v, 0)
	if err != nil {
		return err
	}
	for _, l := range ls {
		if !c.available(l, block, k) {
			return fmt.Errorf("v%d, under v%d, is made in block %d and used at %d in block %d", l, v, c.f.Values[l].Block, k, block)
		}
	}
	return nil
}

func (c *checker) block(b int32) error {
	blk := &c.f.Blocks[b]
	const end = 1 << 30
	for _, p := range blk.Phis {
		x := &c.f.Values[p]
		list := c.f.List(p)
		if x.Kind != Phi || x.Block != b || len(list) != len(blk.Preds) {
			return fmt.Errorf("v%d is no phi of %d operands here", p, len(blk.Preds))
		}
		for i, a := range list {
			if a == 0 || c.f.Values[a].Bits != x.Bits {
				return fmt.Errorf("operand %d of phi v%d is v%d", i, p, a)
			}
			if err := c.use(a, blk.Preds[i], end); err != nil {
				return err
			}
			if v := &c.f.Values[a]; blk.Preds[i] == 0 && v.Kind != Entry && v.Kind != Unknown && v.Kind != Phi {
				return fmt.Errorf("phi v%d gets v%d from the root", p, a)
			}
		}
	}
	for k, id := range blk.Code {
		x := &c.f.Values[id]
		if x.Block != b {
			return fmt.Errorf("v%d belongs to block %d", id, x.Block)
		}
		var err error
		c.f.Operands(id, func(a ID) {
			if err == nil {
				err = c.use(a, b, k+1)
			}
		})
		if err != nil {
			return err
		}
		if x.Kind == Branch && (k != len(blk.Code)-1 || c.f.Values[x.Args[0]].Bits != 1) {
			return fmt.Errorf("branch v%d inside a block or on %d bits", id, c.f.Values[x.Args[0]].Bits)
		}
	}
	return nil
}
