package ssa

// dominators computes immediate dominators by Cooper, Harvey and Kennedy ("A
// Simple, Fast Dominance Algorithm"); blocks are numbered in reverse postorder.
// Graphs on which that takes more rounds than sweeps are finished by Semi-NCA,
// whose cost is near linear on every graph.
func (f *Func) dominators() {
	n := len(f.Blocks)
	f.Blocks[0].Idom = 0
	for b := 1; b < n; b++ {
		f.Blocks[b].Idom = -1
	}
	if !f.sweep() {
		f.semiNCA()
	}
	children := make([][]int32, n)
	for b := 1; b < n; b++ {
		children[f.Blocks[b].Idom] = append(children[f.Blocks[b].Idom], int32(b))
	}
	var clock int32
	type frame struct {
		block int32
		next  int
	}
	stack := []frame{{0, 0}}
	for len(stack) > 0 {
		t := &stack[len(stack)-1]
		if t.next < len(children[t.block]) {
			c := children[t.block][t.next]
			t.next++
			clock++
			f.Blocks[c].pre = clock
			stack = append(stack, frame{c, 0})
			continue
		}
		clock++
		f.Blocks[t.block].post = clock
		stack = stack[:len(stack)-1]
	}
}

// sweeps bounds the rounds and steps bounds the climbs for each block of sweep.
const (
	sweeps = 4
	steps  = 64
)

func (f *Func) sweep() bool {
	budget := steps * len(f.Blocks)
	for range sweeps {
		changed := false
		for b := 1; b < len(f.Blocks); b++ {
			idom := int32(-1)
			for _, p := range f.Blocks[b].Preds {
				if p != 0 && f.Blocks[p].Idom < 0 {
					continue
				}
				if idom < 0 {
					idom = p
					continue
				}
				x, y := p, idom
				for x != y {
					if budget--; budget < 0 {
						return false
					}
					for x > y {
						x = f.Blocks[x].Idom
						budget--
					}
					for y > x {
						y = f.Blocks[y].Idom
						budget--
					}
				}
				idom = x
			}
			if f.Blocks[b].Idom != idom {
				f.Blocks[b].Idom = idom
				changed = true
			}
		}
		if !changed {
			return true
		}
	}
	return false
}

// semiNCA is the algorithm of Georgiadis and Tarjan. Blocks are numbered by a
// depth-first walk of its own.
func (f *Func) semiNCA() {
	n := len(f.Blocks)
	number := make([]int32, n) // block → preorder number
	block := make([]int32, 0, n)
	parent := make([]int32, n) // by preorder number
	for i := range number {
		number[i] = -1
	}
	type frame struct {
		block int32
		next  int
	}
	number[0] = 0
	block = append(block, 0)
	stack := []frame{{0, 0}}
	for len(stack) > 0 {
		t := &stack[len(stack)-1]
		if t.next == len(f.Blocks[t.block].Succs) {
			stack = stack[:len(stack)-1]
			continue
		}
		s := f.Blocks[t.block].Succs[t.next]
		t.next++
		if number[s] >= 0 {
			continue
		}
		number[s] = int32(len(block))
		parent[number[s]] = number[t.block]
		block = append(block, s)
		stack = append(stack, frame{s, 0})
	}
	semi := make([]int32, n)
	label := make([]int32, n)
	ancestor := make([]int32, n)
	idom := make([]int32, n)
	for i := range semi {
		semi[i], label[i], ancestor[i] = int32(i), int32(i), -1
	}
	var path []int32
	eval := func(v int32) int32 {
		if ancestor[v] < 0 {
			return label[v]
		}
		path = path[:0]
		for u := v; ancestor[ancestor[u]] >= 0; u = ancestor[u] {
			path = append(path, u)
		}
		for i := len(path) - 1; i >= 0; i-- {
			u := path[i]
			a := ancestor[u]
			if semi[label[a]] < semi[label[u]] {
				label[u] = label[a]
			}
			ancestor[u] = ancestor[a]
		}
		return label[v]
	}
	for w := int32(n - 1); w > 0; w-- {
		for _, p := range f.Blocks[block[w]].Preds {
			semi[w] = min(semi[w], semi[eval(number[p])])
		}
		ancestor[w] = parent[w]
	}
	for w := int32(1); w < int32(n); w++ {
		d := parent[w]
		for d > semi[w] {
			d = idom[d]
		}
		idom[w] = d
	}
	for w := 1; w < n; w++ {
		f.Blocks[block[w]].Idom = block[idom[w]]
	}
}
