package callconv

import (
	"math"
	"slices"
	"sort"

	"rea/providers/embedded/ir"
	"rea/providers/embedded/isa"
	"rea/providers/embedded/ssa"
)

// Facts are what a function's own code shows of its interface. What depends on
// the functions it calls is left open.
type Facts struct {
	// Used are the registers whose value at entry the code makes use of, other
	// than by keeping them for the caller or handing them on.
	Used ssa.Set
	// Passed are the registers whose value at entry is handed to a function.
	Passed []Passed
	// Handed are the registers that are handed on exactly as they came.
	Handed []Handed
	// Tails are the jumps to other functions that end it.
	Tails []uint64
	// Stack are the words of parameters on the stack that are used, by index.
	Stack []int
	// Variadic: the function saves all argument registers because it does not
	// know how many it has; Named is the number before them.
	Variadic bool
	Named    int
	// Float says that a value made for nothing else is in the first
	// floating-point result register when it returns; Floats how many of these
	// registers hold one whichever way it returns.
	Float  bool
	Floats int
	// FloatCalls are calls whose floating-point result may be left there.
	FloatCalls []uint64
	// Comes says that it comes to a return, Returns also that it ends by jumping
	// to another function.
	Comes, Returns bool
	// First says that every return gives the first argument, and Through that
	// the function stores to where it points.
	First, Through bool
	// Frame are variables of the frame, by offset.
	Frame []Variable
}

// Passed says that a call hands on, in a register, what came in others.
type Passed struct {
	Site uint64
	Reg  int
	From ssa.Set
	// Moved: the code put it there. Otherwise it may be there because nothing
	// was.
	Moved bool
}

// Handed says that a call hands on in Reg what came in From.
type Handed struct {
	Site      uint64
	Reg, From int
}

// Variable is a variable of the frame.
type Variable struct {
	Offset  int64 // from the stack pointer at entry
	Size    int64 // 0 when not known: its address is passed on
	Read    bool
	Written bool
}

// Judge looks at what a function does with the registers and the stack that it
// is entered with. decode gives the instruction at an address.
func Judge(f *ssa.Func, c *Convention, decode func(addr uint64) isa.Inst) Facts {
	j := judge{f: f, c: c, decode: decode, seen: map[use]bool{}}
	j.pops()
	for b := range f.Blocks {
		for _, v := range f.Blocks[b].Code {
			j.effect(v)
		}
	}
	j.stack()
	for b := range f.Blocks {
		for _, v := range f.Blocks[b].Code {
			switch x := &f.Values[v]; {
			case x.Kind == ssa.Jump && len(f.Blocks[b].Succs) == 0:
				j.out.Tails = append(j.out.Tails, x.Addr)
				j.arguments(v)
			case x.Kind == ssa.Call:
				j.arguments(v)
			}
		}
	}
	j.returns()
	j.out.Named, j.out.Variadic = j.variadic()
	j.out.Frame = j.frame()
	return j.out
}

type use struct {
	v    ssa.ID
	high bool
}

type judge struct {
	f      *ssa.Func
	c      *Convention
	decode func(addr uint64) isa.Inst
	out    Facts
	seen   map[use]bool
	passed []int64 // frame addresses handed on
	popped map[pop]bool
}

// pop says that an instruction takes a value off the stack into a register.
type pop struct {
	v   ssa.ID
	reg int
}

// pops notes which registers at entry come back in others: where a register is
// pushed to align the stack, whichever is free takes the word off again.
func (j *judge) pops() {
	for i := range j.f.Accesses {
		a := &j.f.Accesses[i]
		if e := &j.f.Values[a.Value]; a.Write || a.Value == 0 || e.Kind != ssa.Entry || int(e.Var) >= j.f.Registers() {
			continue
		}
		if in := j.decode(a.Addr); in.Class == isa.Pop && ssa.Var(in.Dst) != j.f.Values[a.Value].Var {
			if j.popped == nil {
				j.popped = map[pop]bool{}
			}
			j.popped[pop{a.Value, int(in.Dst)}] = true
		}
	}
}

// mark notes the registers at entry that v is made of. high: only an upper part
// of it matters, which nothing but a partial write keeps.
func (j *judge) mark(v ssa.ID, high bool) {
	j.reach(v, high, j.seen, func(r int) { j.out.Used = j.out.Used.With(r) })
}

// mostReached bounds what is looked at for one argument of a call.
const mostReached = 4096

// made are the registers at entry that v is made of, without those known to be used.
func (j *judge) made(v ssa.ID) ssa.Set {
	var out ssa.Set
	j.reach(v, false, map[use]bool{}, func(r int) {
		if !j.out.Used.Has(r) {
			out = out.With(r)
		}
	})
	return out
}

func (j *judge) reach(v ssa.ID, high bool, seen map[use]bool, entry func(reg int)) {
	work := []use{{v, high}}
	for len(work) > 0 && len(seen) < mostReached+len(j.seen) {
		u := work[len(work)-1]
		work = work[:len(work)-1]
		if u.v == 0 || seen[u] || j.seen[u] {
			continue
		}
		seen[u] = true
		x := &j.f.Values[u.v]
		switch x.Kind {
		case ssa.Entry:
			if !u.high && int(x.Var) < j.f.Registers() {
				entry(int(x.Var))
			}
		case ssa.Phi:
			for _, a := range j.f.List(u.v) {
				work = append(work, use{a, u.high})
			}
		case ssa.Expr:
			switch {
			case x.Op == ir.Extract:
				work = append(work, use{x.Args[0], u.high || x.N >= 32 && j.f.Values[x.Args[0]].Bits > 64})
			case x.Op == ir.Concat && (j.f.Values[x.Args[1]].Bits >= 64 || j.keepsUpper(x)):
				work = append(work, use{x.Args[0], true}, use{x.Args[1], u.high})
			default:
				for _, a := range x.Args {
					work = append(work, use{a, u.high})
				}
			}
		}
	}
}

// keepsUpper says whether a value is a register whose lower part was replaced:
// an instruction that writes part of a register makes no use of the rest.
func (j *judge) keepsUpper(x *ssa.Value) bool {
	hi := &j.f.Values[x.Args[0]]
	return hi.Kind == ssa.Expr && hi.Op == ir.Extract && hi.N == uint64(j.f.Values[x.Args[1]].Bits)
}

func (j *judge) effect(v ssa.ID) {
	x := &j.f.Values[v]
	switch x.Kind {
	case ssa.Store:
		j.mark(x.Args[0], false)
		if cell := j.f.CellOf(x.Var); cell != nil && cell.Saved {
			return
		}
		if e := &j.f.Values[x.Args[1]]; e.Kind == ssa.Entry && int(e.Var) < j.f.Registers() && (j.c.Saved.Has(int(e.Var)) || j.decode(x.Addr).Class == isa.Push) {
			return // kept for the caller, or pushed to align the stack
		}
		j.mark(x.Args[1], false)
	case ssa.Load, ssa.Branch:
		j.mark(x.Args[0], false)
	case ssa.Opaque:
		// How many arguments a call of the system takes is not known: what the
		// function did not put into a register may be none.
		system := j.decode(x.Addr).Flow == isa.Syscall
		for _, a := range j.f.List(v) {
			if e := &j.f.Values[a]; !system || e.Kind != ssa.Entry && e.Kind != ssa.Phi {
				j.mark(a, false)
			}
		}
	case ssa.Call, ssa.Jump:
		j.mark(x.Args[0], false)
	}
}

// stack notes the words of the caller's frame that are read before they are
// written.
func (j *judge) stack() {
	for i := range j.f.Accesses {
		a := &j.f.Accesses[i]
		if a.Write || a.Base != 0 || a.Offset < 0 || a.Value == 0 {
			continue
		}
		n, ok := j.c.StackArgument(a.Offset)
		if !ok || n-len(j.c.Ints) >= mostStack {
			continue
		}
		v := a.Value
		if x := &j.f.Values[v]; x.Kind == ssa.Expr && x.Op == ir.Extract {
			v = x.Args[0]
		}
		x := &j.f.Values[v]
		switch {
		case x.Kind == ssa.Phi && x.Var == a.Cell && j.merges(v, x.Var):
		case x.Kind == ssa.After && !j.writes(a.Cell): // its address is known to others
		case x.Kind == ssa.Load || x.Kind == ssa.Entry && j.f.CellOf(x.Var) != nil:
		default:
			continue
		}
		last, _ := j.c.StackArgument(a.Offset + max(1, a.Size) - 1)
		for k := n; k <= last; k++ {
			j.out.Stack = append(j.out.Stack, k-len(j.c.Ints))
		}
	}
	if off := j.f.Escapes[0]; off > 0 && off < math.MaxInt32 { // the address of a parameter is taken
		if n, ok := j.c.StackArgument(off); ok && n-len(j.c.Ints) < mostStack {
			j.out.Stack = append(j.out.Stack, n-len(j.c.Ints))
		}
	}
	slices.Sort(j.out.Stack)
	j.out.Stack = slices.Compact(j.out.Stack)
}

// mostStack bounds the words of parameters on the stack that are told apart.
const mostStack = 128

// writes says whether the function itself writes a cell.
func (j *judge) writes(cell ssa.Var) bool {
	for i := range j.f.Accesses {
		if a := &j.f.Accesses[i]; a.Write && a.Cell == cell {
			return true
		}
	}
	return false
}

// merges says whether a phi of a variable may be what it held at entry.
func (j *judge) merges(phi ssa.ID, v ssa.Var) bool {
	seen := map[ssa.ID]bool{}
	work := []ssa.ID{phi}
	for len(work) > 0 && len(seen) < mostReached {
		p := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[p] {
			continue
		}
		seen[p] = true
		switch x := &j.f.Values[p]; {
		case x.Kind == ssa.Entry && x.Var == v:
			return true
		case x.Kind == ssa.Phi:
			work = append(work, j.f.List(p)...)
		}
	}
	return false
}

// arguments notes what is passed to a function that is called.
func (j *judge) arguments(v ssa.ID) {
	x := &j.f.Values[v]
	list := j.f.List(v)
	for k, r := range j.c.Arguments() {
		if k >= len(list) || list[k] == 0 {
			continue
		}
		a := list[k]
		if j.popped[pop{a, r}] {
			continue
		}
		e := &j.f.Values[a]
		if off, ok := j.distance(a); ok && r < Vector {
			j.passed = append(j.passed, off)
		}
		if e.Kind == ssa.Const || e.Kind == ssa.After || e.Kind == ssa.Load {
			continue
		}
		if e.Kind == ssa.Entry && int(e.Var) < j.f.Registers() {
			j.out.Handed = append(j.out.Handed, Handed{x.Addr, r, int(e.Var)})
		}
		from := j.made(a)
		if from == (ssa.Set{}) {
			continue
		}
		moved := e.Kind == ssa.Entry && int(e.Var) != r || e.Kind == ssa.Expr && r < Vector
		j.out.Passed = append(j.out.Passed, Passed{Site: x.Addr, Reg: r, From: from, Moved: moved})
	}
}

// distance is v as a distance below the stack pointer at entry.
func (j *judge) distance(v ssa.ID) (int64, bool) {
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

// returns looks at what is in the result registers at returns. What is computed
// and returned is a use of what it was computed from.
func (j *judge) returns() {
	first, through := true, false
	n := 0
	var made [2]int // returns with an own value in each floating-point result register
	var other map[ssa.ID]bool
	for b := range j.f.Blocks {
		for _, v := range j.f.Blocks[b].Code {
			x := &j.f.Values[v]
			if x.Kind == ssa.Store {
				if leaf, ok := j.base(x.Args[0]); ok && j.isFirst(leaf) {
					through = true
				}
			}
			if x.Kind != ssa.Return {
				continue
			}
			n++
			list := j.f.List(v)
			if len(list) == 0 || len(j.c.Results) == 0 || !j.isFirst(list[0]) {
				first = false
			}
			for k, a := range list {
				e := &j.f.Values[a]
				switch {
				case k == 0:
					j.markResult(a)
				case k >= len(j.c.Results) && e.Kind == ssa.Expr && !j.low(a):
					j.mark(a, false)
				}
				k -= len(j.c.Results)
				if k < 0 || a == 0 {
					continue
				}
				if other == nil {
					other = j.readElsewhere()
				}
				if own := j.own(j.whole(a), other); own && !other[a] {
					if k == 0 {
						j.out.Float = true
					}
					if k < len(made) {
						made[k]++
					}
				}
				if call := &j.f.Values[j.whole(a)]; k == 0 && call.Kind == ssa.After && !other[a] && !other[j.whole(a)] {
					if call := &j.f.Values[call.Args[0]]; call.Kind == ssa.Call {
						j.out.FloatCalls = append(j.out.FloatCalls, call.Addr)
					}
				}
			}
		}
	}
	for j.out.Floats < len(made) && n > 0 && made[j.out.Floats] == n && len(j.out.Tails) == 0 {
		j.out.Floats++
	}
	j.out.Comes, j.out.Returns = n > 0, n > 0 || len(j.out.Tails) > 0
	j.out.First, j.out.Through = n > 0 && first, through
}

// markResult marks what a result is computed from. That the register is left as
// it was on some path is no use of it.
func (j *judge) markResult(v ssa.ID) {
	seen := map[ssa.ID]bool{}
	work := []ssa.ID{v}
	for len(work) > 0 && len(seen) < mostReached {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		if v == 0 || seen[v] {
			continue
		}
		seen[v] = true
		switch x := &j.f.Values[v]; {
		case x.Kind == ssa.Phi:
			work = append(work, j.f.List(v)...)
		case x.Kind == ssa.Entry && (int(x.Var) == j.c.Results[0] || j.popped[pop{v, j.c.Results[0]}]):
		default:
			j.mark(v, false)
		}
	}
}

// low says whether a value is the lower part of what a register held at entry:
// instructions clear the upper parts of all vector registers.
func (j *judge) low(a ssa.ID) bool {
	return j.f.Values[j.whole(a)].Kind == ssa.Entry
}

// own says whether a value in a vector register comes, on every path, from an
// instruction of the function, and is not among others, which are read.
func (j *judge) own(a ssa.ID, others map[ssa.ID]bool) bool {
	one := func(a ssa.ID) bool {
		if others[a] {
			return false
		}
		switch x := &j.f.Values[a]; x.Kind {
		case ssa.Expr, ssa.Load, ssa.Const:
			return true
		case ssa.After:
			return j.f.Values[x.Args[0]].Kind == ssa.Opaque
		}
		return false
	}
	if x := &j.f.Values[a]; x.Kind == ssa.Phi && !others[a] {
		for _, p := range j.f.List(a) {
			if !one(p) || !one(j.whole(p)) {
				return false
			}
		}
		return true
	}
	return one(a)
}

// readElsewhere are the values that something else is made of than vectors that
// a call or a return hands on.
func (j *judge) readElsewhere() map[ssa.ID]bool {
	out := map[ssa.ID]bool{}
	var work []ssa.ID
	add := func(a ssa.ID) {
		if a != 0 && !out[a] {
			out[a] = true
			work = append(work, a)
		}
	}
	for b := range j.f.Blocks {
		for _, v := range j.f.Blocks[b].Code {
			n := 0 // of the operands of returns and calls, those that are no vectors
			switch j.f.Values[v].Kind {
			case ssa.Return:
				n = len(j.c.Results)
			case ssa.Call, ssa.Jump:
				n = len(j.c.Ints)
			default:
				j.f.Operands(v, add)
				continue
			}
			for _, a := range j.f.List(v)[:min(n, len(j.f.List(v)))] {
				if a = j.whole(a); j.f.Values[a].Kind == ssa.Expr { // itself may be handed on in both kinds of registers
					j.f.Operands(a, add)
				}
			}
		}
	}
	for len(work) > 0 {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		if k := j.f.Values[v].Kind; k == ssa.Expr || k == ssa.Phi {
			j.f.Operands(v, add)
		}
	}
	return out
}

// whole is the value that is in the lower part of a, or of which a is one.
func (j *judge) whole(a ssa.ID) ssa.ID {
	for {
		switch x := &j.f.Values[a]; {
		case x.Kind == ssa.Expr && (x.Op == ir.Zext || x.Op == ir.Extract):
			a = x.Args[0]
		case x.Kind == ssa.Expr && x.Op == ir.Concat:
			a = x.Args[1]
		default:
			return a
		}
	}
}

func (j *judge) isFirst(v ssa.ID) bool {
	x := &j.f.Values[v]
	if x.Kind != ssa.Entry {
		return false
	}
	if len(j.c.Ints) > 0 {
		return int(x.Var) == j.c.Ints[0]
	}
	cell := j.f.CellOf(x.Var)
	return cell != nil && cell.Base == 0 && cell.Offset == j.c.Word
}

// base is v without a constant distance.
func (j *judge) base(v ssa.ID) (ssa.ID, bool) {
	x := &j.f.Values[v]
	if x.Kind == ssa.Expr && x.Op == ir.Add && j.f.Values[x.Args[1]].Kind == ssa.Const {
		return x.Args[0], true
	}
	return v, v != 0
}

// variadic recognizes functions that save the argument registers behind those
// of their named parameters because they do not know how many there are. On
// x86-64 outside Windows they ask AL whether vector registers carry some;
// elsewhere the registers are stored side by side, are read through the address
// of the first only, and end with the last register.
func (j *judge) variadic() (named int, ok bool) {
	if len(j.c.Ints) == 0 {
		return 0, false
	}
	stored := map[ssa.Var]int64{}
	for i := range j.f.Accesses {
		a := &j.f.Accesses[i]
		if e := &j.f.Values[a.Value]; a.Write && a.Base == 0 && a.Value != 0 && e.Kind == ssa.Entry {
			stored[e.Var] = a.Offset
		}
	}
	n := len(j.c.Ints)
	for n > 0 {
		at, ok := stored[ssa.Var(j.c.Ints[n-1])]
		if !ok || n < len(j.c.Ints) && at+j.c.Word != stored[ssa.Var(j.c.Ints[n])] {
			break
		}
		n--
	}
	if j.c.CallPushes && j.c.Shadow == 0 {
		return max(n, 1), j.testsAL()
	}
	if n == 0 && j.c.Together { // all are kept, and the address of one is taken
		at := j.f.Escapes[0] - stored[ssa.Var(j.c.Ints[0])]
		if at > 0 && at < int64(len(j.c.Ints))*j.c.Word && at%j.c.Word == 0 {
			n = int(at / j.c.Word)
		}
	}
	if n == 0 || n == len(j.c.Ints) {
		return 0, false
	}
	first := stored[ssa.Var(j.c.Ints[n])]
	if j.f.Escapes[0] > first {
		return 0, false
	}
	last := stored[ssa.Var(j.c.Ints[len(j.c.Ints)-1])]
	for i := range j.f.Accesses {
		if a := &j.f.Accesses[i]; !a.Write && a.Base == 0 && a.Offset >= first && a.Offset <= last {
			return 0, false
		}
	}
	return n, true
}

// testsAL says whether the code branches on the low byte of RAX at entry.
func (j *judge) testsAL() bool {
	for b := range j.f.Blocks {
		for _, v := range j.f.Blocks[b].Code {
			x := &j.f.Values[v]
			if x.Kind != ssa.Branch {
				continue
			}
			cond := &j.f.Values[x.Args[0]]
			if cond.Kind != ssa.Expr || cond.Op != ir.Eq && cond.Op != ir.Ne {
				continue
			}
			low := &j.f.Values[cond.Args[0]]
			if low.Kind == ssa.Expr && low.Op == ir.Extract && low.Bits == 8 && low.N == 0 {
				if e := &j.f.Values[low.Args[0]]; e.Kind == ssa.Entry && e.Var == ax {
					return true
				}
			}
		}
	}
	return false
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
