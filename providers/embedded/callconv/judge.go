package callconv

import (
	"slices"
	"sort"

	"rea/providers/embedded/ir"
	"rea/providers/embedded/ssa"
)

// Facts are what a function's code shows of its interface.
type Facts struct {
	// Ints and Floats are how many argument registers carry parameters: up to
	// the last one whose value at entry is used. Parameters that are not used
	// at the end of the list do not show.
	Ints, Floats int
	// Stack are the parameters on the stack, by index of word.
	Stack []int
	// Variadic: the function saves all argument registers because it does not
	// know how many it has; Ints is then the number before them.
	Variadic bool
	// Result says what is in the result register when it returns.
	Result Result
	// Frame are variables of the frame, by offset.
	Frame []Variable
	// Hidden says that the register for the place of a returned structure, or a
	// closure, is used.
	Hidden bool
}

// Result is what a function leaves in the first result register.
type Result uint8

const (
	NoReturn  Result = iota // it does not return
	Untouched               // what was there at entry, or what a call left there and may be no result
	Leaves                  // a value of its own
)

// Variable is a variable of the frame.
type Variable struct {
	Offset  int64 // from the stack pointer at entry
	Size    int64 // 0 when not known: its address is passed on
	Read    bool
	Written bool
}

// Callee tells how many integer argument registers the function called at a
// site reads.
type Callee func(site uint64) (ints int, known bool)

// Judge looks at what a function does with the registers and the stack that it
// is entered with. push tells of the instruction at an address that it pushes:
// compilers push any register to align the stack.
func Judge(f *ssa.Func, c *Convention, callee Callee, push func(addr uint64) bool) Facts {
	j := judge{f: f, c: c, push: push, used: map[ssa.Var]bool{}, seen: map[use]bool{}}
	for b := range f.Blocks {
		for _, v := range f.Blocks[b].Code {
			j.effect(v, callee)
		}
	}
	var out Facts
	out.Variadic = j.variadic()
	for k, r := range c.Ints {
		if j.used[ssa.Var(r)] {
			out.Ints = k + 1
		}
	}
	for k, r := range c.Floats {
		if j.used[ssa.Var(r)] {
			out.Floats = k + 1
		}
	}
	for _, r := range c.Hidden {
		out.Hidden = out.Hidden || j.used[ssa.Var(r)]
	}
	if c.Together && out.Floats > 0 { // registers are shared out by position
		out.Ints, out.Floats = max(out.Ints, out.Floats), 0
	}
	if out.Variadic {
		out.Ints, out.Floats = j.named(), 0
	}
	for v := range j.used {
		if cell := f.CellOf(v); cell != nil && cell.Base == 0 {
			if n, ok := c.StackArgument(cell.Offset); ok {
				out.Stack = append(out.Stack, n-len(c.Ints))
			}
		}
	}
	slices.Sort(out.Stack)
	out.Stack = slices.Compact(out.Stack)
	out.Result = j.result
	out.Frame = j.frame()
	return out
}

type use struct {
	v    ssa.ID
	high bool
}

type judge struct {
	f      *ssa.Func
	c      *Convention
	push   func(addr uint64) bool
	used   map[ssa.Var]bool
	seen   map[use]bool
	result Result
	passed []int64 // frame addresses handed on
}

// mark notes the values at entry that v is made of. high: only bits from 64 up
// of it matter.
func (j *judge) mark(v ssa.ID, high bool) {
	work := []use{{v, high}}
	for len(work) > 0 {
		u := work[len(work)-1]
		work = work[:len(work)-1]
		if u.v == 0 || j.seen[u] {
			continue
		}
		j.seen[u] = true
		x := &j.f.Values[u.v]
		switch x.Kind {
		case ssa.Entry:
			if !u.high {
				j.used[x.Var] = true
			}
		case ssa.Phi:
			for _, a := range j.f.List(u.v) {
				work = append(work, use{a, u.high})
			}
		case ssa.Expr:
			switch {
			case x.Op == ir.Extract:
				work = append(work, use{x.Args[0], u.high || x.N >= 32 && j.f.Values[x.Args[0]].Bits > 64})
			case x.Op == ir.Concat && j.f.Values[x.Args[1]].Bits >= 64:
				work = append(work, use{x.Args[0], true}, use{x.Args[1], u.high})
			default:
				for _, a := range x.Args {
					work = append(work, use{a, u.high})
				}
			}
		}
	}
}

func (j *judge) effect(v ssa.ID, callee Callee) {
	x := &j.f.Values[v]
	switch x.Kind {
	case ssa.Store:
		j.mark(x.Args[0], false)
		if cell := j.f.CellOf(x.Var); cell != nil && cell.Saved {
			return
		}
		if e := &j.f.Values[x.Args[1]]; e.Kind == ssa.Entry && int(e.Var) < j.f.Registers() && (j.c.Saved.Has(int(e.Var)) || j.push(x.Addr)) {
			return
		}
		j.mark(x.Args[1], false)
	case ssa.Load, ssa.Branch:
		j.mark(x.Args[0], false)
	case ssa.Opaque:
		for _, a := range j.f.List(v) {
			j.mark(a, false)
		}
	case ssa.Call, ssa.Jump:
		j.mark(x.Args[0], false)
		j.arguments(v, callee)
	case ssa.Return:
		j.returns(v)
	}
}

// arguments marks what is passed to a function that is called. Of a function of
// which nothing is known, a register counts when the code put something into it.
func (j *judge) arguments(v ssa.ID, callee Callee) {
	x := &j.f.Values[v]
	list := j.f.List(v)
	n, known := callee(x.Addr)
	for k, a := range list {
		if a == 0 {
			continue
		}
		e := &j.f.Values[a]
		if off, ok := j.stack(a); ok && k < len(j.c.Ints) {
			j.passed = append(j.passed, off)
		}
		own := e.Kind == ssa.Entry && k < len(j.c.Ints) && int(e.Var) == j.c.Ints[k]
		switch {
		case k >= len(j.c.Ints): // stack words
			if e.Kind != ssa.Entry && x.Kind == ssa.Call {
				j.mark(a, false)
			}
		case known && k < n:
			j.mark(a, false)
		case !known && !own && e.Kind != ssa.After && e.Kind != ssa.Phi:
			j.mark(a, false)
		}
	}
}

// stack is v as a distance from the stack pointer at entry.
func (j *judge) stack(v ssa.ID) (int64, bool) {
	x := &j.f.Values[v]
	if x.Kind != ssa.Expr || x.Op != ir.Add || j.f.Values[x.Args[1]].Kind != ssa.Const {
		return 0, false
	}
	e := &j.f.Values[x.Args[0]]
	if e.Kind != ssa.Entry || int(e.Var) != j.c.SP {
		return 0, false
	}
	n := int64(j.f.Values[x.Args[1]].N)
	if x.Bits == 32 {
		n = int64(int32(n))
	}
	return n, n < 0
}

func (j *judge) returns(v ssa.ID) {
	list := j.f.List(v)
	if len(list) == 0 || len(j.c.Results) == 0 {
		return
	}
	r := Untouched
	switch x := &j.f.Values[list[0]]; x.Kind {
	case ssa.Entry:
		if int(x.Var) != j.c.Results[0] {
			r = Leaves
			j.mark(list[0], false)
		}
	case ssa.After, ssa.Unknown:
	default:
		r = Leaves
		j.mark(list[0], false)
	}
	j.result = max(j.result, r)
	for k := 1; k < len(list); k++ { // floating-point results: only what was computed
		if x := &j.f.Values[list[k]]; k >= len(j.c.Results) && x.Kind == ssa.Expr {
			j.mark(list[k], false)
		}
	}
}

// variadic recognizes the prologue that saves the vector registers when AL
// says that they carry arguments, and on conventions without that test the one
// that saves every remaining integer argument register side by side.
func (j *judge) variadic() bool {
	if !j.c.CallPushes || len(j.c.Ints) != 6 {
		return false
	}
	for b := range j.f.Blocks {
		for _, v := range j.f.Blocks[b].Code {
			x := &j.f.Values[v]
			if x.Kind != ssa.Branch {
				continue
			}
			cond := &j.f.Values[x.Args[0]]
			if cond.Kind == ssa.Expr && (cond.Op == ir.Eq || cond.Op == ir.Ne) {
				low := &j.f.Values[cond.Args[0]]
				if low.Kind == ssa.Expr && low.Op == ir.Extract && low.Bits == 8 && low.N == 0 {
					e := &j.f.Values[low.Args[0]]
					if e.Kind == ssa.Entry && e.Var == ax {
						return true
					}
				}
			}
		}
	}
	return false
}

// named is the number of parameters in front of those that are saved together:
// the saved ones end with the last register.
func (j *judge) named() int {
	stored := map[ssa.Var]int{}
	for b := range j.f.Blocks {
		for _, v := range j.f.Blocks[b].Code {
			x := &j.f.Values[v]
			if x.Kind != ssa.Store {
				continue
			}
			if e := &j.f.Values[x.Args[1]]; e.Kind == ssa.Entry {
				stored[e.Var]++
			}
		}
	}
	n := len(j.c.Ints)
	for n > 0 && stored[ssa.Var(j.c.Ints[n-1])] > 0 {
		n--
	}
	return max(n, 1)
}

// frame lists the variables that the code uses in the frame, without what
// calls push and where registers are saved.
func (j *judge) frame() []Variable {
	byOffset := map[int64]*Variable{}
	for i := range j.f.Accesses {
		a := &j.f.Accesses[i]
		if a.Base != 0 || a.Offset >= 0 {
			continue
		}
		if cell := j.f.CellOf(a.Cell); cell != nil && cell.Saved {
			continue
		}
		v := byOffset[a.Offset]
		if v == nil {
			v = &Variable{Offset: a.Offset}
			byOffset[a.Offset] = v
		}
		v.Size = max(v.Size, a.Size)
		v.Read = v.Read || !a.Write
		v.Written = v.Written || a.Write
	}
	for _, off := range j.passed {
		if byOffset[off] == nil {
			byOffset[off] = &Variable{Offset: off}
		}
		byOffset[off].Read = true
	}
	out := make([]Variable, 0, len(byOffset))
	for _, v := range byOffset {
		if v.Read {
			out = append(out, *v)
		}
	}
	sort.Slice(out, func(a, b int) bool { return out[a].Offset < out[b].Offset })
	return out
}
