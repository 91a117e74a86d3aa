package signature

import (
	"context"
	"slices"
	"strings"
	"sync"

	"rea/providers/embedded/callconv"
	"rea/providers/embedded/isa"
	"rea/providers/embedded/libsig"
	"rea/providers/embedded/lower"
	"rea/providers/embedded/program"
	"rea/providers/embedded/ssa"
	"rea/providers/format/object"
)

// Result says what a function leaves for its caller.
type Result uint8

const (
	Unknown Result = iota // nothing shows whether there is one
	None
	Integer  // in the first integer result register; or a pointer
	Floating // in the first floating-point result register
	Memory   // a structure at a place that the caller gives
)

// Signature is how a function is called.
type Signature struct {
	// Ints and Floats are how many argument registers carry parameters.
	Ints, Floats int
	// Vectors and Unread say of the n-th parameter, where registers of both kinds
	// are shared out by position, that it is in a vector register, and that
	// nothing reads either.
	Vectors, Unread []bool
	// Hidden are registers that carry parameters on conventions of IA-32 that
	// use some, in order.
	Hidden []int
	// Stack is the number of words of parameters on the stack.
	Stack    int
	Variadic bool
	// Callers is the number of parameters in registers that only callers show.
	Callers int
	// Place says that the register for the place of a returned structure, or
	// for a closure, is used.
	Place  bool
	Result Result
	// Second says that the second integer result register carries a part of the
	// result, SecondFloat the second floating-point one; Mixed that the first
	// floating-point one does besides that for integers.
	Second, SecondFloat, Mixed bool
	// First says that it returns its first argument, Through that it stores to
	// where that points.
	First, Through bool
	// Type is the declared type of the result where a library function makes it.
	Type string
	// Types are declared types of parameters in integer registers, by index.
	Types map[int]string
	Frame []callconv.Variable
	// Limited: more functions would have had to be looked at.
	Limited bool
}

// Solver answers for one program. It is safe for concurrent use.
type Solver struct {
	l   *lower.Program
	p   *program.Program
	c   *callconv.Convention
	dec isa.Decoder

	mu   sync.Mutex
	done map[int]*summary
}

// summary is what is known of one function.
type summary struct {
	facts callconv.Facts
	left  left
	// second: the second integer result register is written for nothing else
	// whichever way it returns.
	second bool
	flow   bool // its data flow was followed
}

// New answers for the functions of l.
func New(l *lower.Program, dec isa.Decoder) *Solver {
	return &Solver{l: l, p: l.Program, c: l.Convention, dec: dec, done: map[int]*summary{}}
}

const (
	// mostFunctions bounds the functions that one question looks at.
	mostFunctions = 400
	// largest bounds the basic blocks of those it looks at besides the one asked for.
	largest = 2000
	// mostSites bounds the calls of a function that are looked at.
	mostSites = 48
)

// question is one question: it counts what it looks at.
type question struct {
	*Solver
	ctx     context.Context
	looked  map[int]*summary
	asked   int
	limited bool
	err     error
}

// Of is the signature of function i, whose SSA form is f.
func (s *Solver) Of(ctx context.Context, i int, f *ssa.Func) (*Signature, error) {
	q := &question{Solver: s, ctx: ctx, looked: map[int]*summary{}, asked: i}
	own := s.summarize(i, f)
	s.put(i, own)
	q.looked[i] = own
	out := &Signature{Types: map[int]string{}, Frame: own.facts.Frame}
	q.parameters(i, own, out)
	q.result(i, own, out)
	out.Limited = q.limited
	return out, q.err
}

func (s *Solver) summarize(i int, f *ssa.Func) *summary {
	out := &summary{facts: callconv.Judge(f, s.c, s.inst), flow: true}
	if s.p.Image.GoVersion != "" {
		u := out.facts.Used
		inRegisters := slices.ContainsFunc(s.c.Arguments(), u.Has)
		if s.l.SavesParameters(i) || !inRegisters && len(out.facts.Stack) > 0 { // the others take all from the stack
			out.facts.Passed = nil
		}
	}
	if len(s.c.Results) > 0 {
		out.left = s.leaves(i, f, s.c.Results[0])
	}
	if len(s.c.Results) == 2 && out.left.always && len(out.facts.Tails) == 0 {
		out.second = s.leaves(i, f, s.c.Results[1]).always
	}
	if s.p.Image.Arch == object.X86 && len(s.c.Results) > 0 && s.leavesFPU(f) {
		out.facts.Float = true
	}
	return out
}

func (s *Solver) inst(addr uint64) isa.Inst {
	var in isa.Inst
	s.decode(addr, &in)
	return in
}

func (s *Solver) put(i int, x *summary) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done[i] == nil {
		s.done[i] = x
	}
}

// summary is what is known of function i, nil when nothing is or too many were
// looked at.
func (q *question) summary(i int) *summary {
	if x, ok := q.looked[i]; ok {
		return x
	}
	if len(q.looked) >= mostFunctions {
		q.limited = true
		return nil
	}
	q.mu.Lock()
	x := q.done[i]
	q.mu.Unlock()
	if x == nil {
		x = &summary{}
		if n := len(q.p.FunctionBlocks(i)); n > 0 && n <= largest {
			f, err := ssa.Build(q.ctx, q.l.Function(i))
			if q.ctx.Err() != nil {
				q.err = q.ctx.Err()
				return nil
			}
			if err == nil {
				x = q.summarize(i, f)
			}
		}
		q.put(i, x)
	}
	q.looked[i] = x
	if !x.flow {
		return nil
	}
	return x
}

// place is a register at the entry of a function.

type place struct{ function, reg int }

// takes says whether the function takes a parameter in a register: whether its
// code, or a function that it hands the register to, uses it.
func (q *question) takes(at place) bool {
	seen := map[place]bool{at: true}
	work := []place{at}
	for len(work) > 0 && q.err == nil {
		w := work[0]
		work = work[1:]
		x := q.summary(w.function)
		if x == nil {
			continue
		}
		if x.facts.Variadic && w != at && !slices.Contains(q.c.Ints[:x.facts.Named], w.reg) {
			continue // it saves whatever is there
		}
		if x.facts.Used.Has(w.reg) {
			return true
		}
		for k := range x.facts.Passed {
			p := &x.facts.Passed[k]
			if !p.From.Has(w.reg) {
				continue
			}
			callee := q.l.CalleeAt(p.Site)
			switch {
			case callee.Import != "":
				if sig, ok := libsig.Lookup(callee.Import, q.p.Image.Format); ok {
					if n := slices.Index(q.c.Ints, p.Reg); n >= 0 && n < len(sig.Parameters) && !sig.Parameters[n].Floating() || q.takesFloat(sig, p.Reg) || sig.Variadic && p.Moved {
						return true
					}
					continue
				}
				if p.Moved {
					return true
				}
			case callee.Function < 0:
				if p.Moved {
					return true
				}
			default:
				if _, own := q.l.Runtime(callee.Function); own {
					continue
				}
				next := place{callee.Function, p.Reg}
				if !seen[next] {
					seen[next] = true
					work = append(work, next)
				}
			}
		}
	}
	return false
}

// inOrder puts registers that IA-32 functions use into the order of arguments:
// EAX, EDX, ECX where EAX is one, otherwise ECX, EDX.
func inOrder(regs []int) []int {
	const ax, cx, dx = 0, 1, 2
	switch {
	case slices.Contains(regs, ax) && slices.Contains(regs, cx):
		return []int{ax, dx, cx}
	case slices.Contains(regs, ax) && slices.Contains(regs, dx):
		return []int{ax, dx}
	case slices.Contains(regs, ax):
		return []int{ax}
	case slices.Contains(regs, dx):
		return []int{cx, dx}
	}
	return regs
}

func (q *question) takesFloat(sig *libsig.Signature, reg int) bool {
	n := slices.Index(q.c.Floats, reg)
	if n < 0 {
		return false
	}
	for k, p := range sig.Parameters {
		if !p.Floating() {
			continue
		}
		if q.c.Together && k == n || !q.c.Together && n == 0 {
			return true
		}
		n--
	}
	return false
}

func (q *question) parameters(i int, own *summary, out *Signature) {
	for k, r := range q.c.Ints {
		if q.takes(place{i, r}) {
			out.Ints = k + 1
		}
	}
	for k, r := range q.c.Floats {
		if q.takes(place{i, r}) {
			out.Floats = k + 1
		}
	}
	if len(q.c.Ints) == 0 {
		for _, r := range q.c.Hidden {
			if q.takes(place{i, r}) {
				out.Hidden = append(out.Hidden, r)
			}
		}
		out.Hidden = inOrder(out.Hidden)
		out.Stack = int(q.l.Pops(i) / q.c.Word)
	} else {
		for _, r := range q.c.Hidden {
			out.Place = out.Place || own.facts.Used.Has(r)
		}
	}
	if q.c.Together && out.Floats > 0 { // registers are shared out by position
		out.Ints, out.Floats = max(out.Ints, out.Floats), 0
		out.Vectors, out.Unread = make([]bool, len(q.c.Ints)), make([]bool, len(q.c.Ints))
		for k := range out.Ints {
			whole, vector := q.takes(place{i, q.c.Ints[k]}), q.takes(place{i, q.c.Floats[k]})
			out.Vectors[k], out.Unread[k] = vector && !whole, !vector && !whole
		}
	}
	out.Stack = max(out.Stack, q.stack(i))
	if own.facts.Variadic {
		out.Variadic = true
		out.Ints, out.Floats, out.Stack = own.facts.Named, 0, 0
		return
	}
	q.fromCallers(i, out)
	q.types(i, own, out)
}

// stack is the number of words of parameters on the stack. A function that ends
// by jumping to another one leaves it its own, so has no fewer.
func (q *question) stack(i int) (words int) {
	seen := map[int]bool{i: true}
	work := []int{i}
	for len(work) > 0 && q.err == nil {
		w := work[0]
		work = work[1:]
		x := q.summary(w)
		if x == nil {
			continue
		}
		if n := len(x.facts.Stack); n > 0 {
			words = max(words, x.facts.Stack[n-1]+1)
		}
		for _, site := range x.facts.Tails {
			if to := q.l.CalleeAt(site).Function; to >= 0 && !seen[to] {
				seen[to] = true
				work = append(work, to)
			}
		}
	}
	return words
}

// sites calls visit for the calls of function i that lie in functions.
func (q *question) sites(i int, visit func(c program.Call, caller int)) {
	n := 0
	for c := range q.p.CallsTo(q.p.Functions[i].Entry) {
		if caller, ok := q.p.FunctionContaining(c.From); ok {
			if n++; n > mostSites {
				break
			}
			visit(c, caller)
		}
	}
}

// fromCallers adds parameters that callers put into registers though nothing
// uses them.
func (q *question) fromCallers(i int, out *Signature) {
	if len(q.c.Ints) == 0 {
		return
	}
	count := make([]int, len(q.c.Ints))
	n := 0
	q.sites(i, func(c program.Call, caller int) {
		if c.Kind != program.DirectCall {
			return
		}
		b, ok := q.p.BlockAt(caller, c.From)
		if !ok {
			return
		}
		n++
		regs := q.carried(b, c.From)
		for k, r := range q.c.Ints {
			if k < out.Ints || regs>>r&1 == 0 {
				continue
			}
			taken := func(call uint64) bool {
				callee := q.l.CalleeAt(call)
				return callee.Import == "" && callee.Function >= 0 && callee.Function != i && q.takes(place{callee.Function, r})
			}
			if kept, _ := q.usedOrTaken(caller, c.From, r, taken); !kept { // else the compiler knew that the call would keep it
				count[k]++
			}
		}
	})
	for k := len(count) - 1; k >= out.Ints; k-- {
		if 2*count[k] > n || count[k] >= 1 && count[k] == n {
			out.Callers = k + 1 - out.Ints
			out.Ints = k + 1
			return
		}
	}
}

// types are the types of parameters that are handed on, as they came, to
// library functions, perhaps through others.
func (q *question) types(i int, own *summary, out *Signature) {
	for k := range out.Ints {
		if t := q.typeOf(place{i, q.c.Ints[k]}); t != "" {
			out.Types[k] = t
		}
	}
}

func (q *question) typeOf(at place) string {
	seen := map[place]bool{at: true}
	work := []place{at}
	for len(work) > 0 && q.err == nil {
		w := work[0]
		work = work[1:]
		x := q.summary(w.function)
		if x == nil {
			continue
		}
		for _, h := range x.facts.Handed {
			if h.From != w.reg {
				continue
			}
			callee := q.l.CalleeAt(h.Site)
			if callee.Import != "" {
				sig, ok := libsig.Lookup(callee.Import, q.p.Image.Format)
				if n := slices.Index(q.c.Ints, h.Reg); ok && n >= 0 && n < len(sig.Parameters) && !strings.HasPrefix(sig.Parameters[n].Type, "va_list") {
					return sig.Parameters[n].Type
				}
				continue
			}
			if next := (place{callee.Function, h.Reg}); callee.Function >= 0 && !seen[next] {
				seen[next] = true
				work = append(work, next)
			}
		}
	}
	return ""
}

// result decides what the function leaves.
func (q *question) result(i int, own *summary, out *Signature) {
	out.First = own.facts.First
	if len(q.c.Results) == 0 {
		return
	}
	out.Through = own.facts.Through
	v := q.gives(i, map[int]bool{})
	out.Result, out.Type = v.result, v.typ
	if q.p.Image.GoVersion == "" {
		switch out.Result {
		case Integer:
			if own.second {
				used, unused := q.resultUsed(i, q.c.Results[1])
				out.Second = used > 0 || unused == 0
			}
			if !out.Second && own.left.always && own.facts.Floats > 0 {
				out.Mixed = q.sharesOut()
			}
		case Floating:
			out.SecondFloat = own.facts.Floats > 1 && len(q.c.FloatResults) > 1
		}
	}
	if q.p.Image.Arch == object.ARM64 && q.p.Image.GoVersion == "" && out.Place { // X8 carries nothing else
		out.Result, out.Type = Memory, ""
	}
}

// given is the verdict on a result.
type given struct {
	result Result
	typ    string
	never  bool // it does not return
}

// gives decides from the function's own code, then from the functions whose
// result it may hand on, then from its callers.
func (q *question) gives(i int, on map[int]bool) given {
	x := q.summary(i)
	if x == nil || on[i] || len(on) > 24 {
		return given{}
	}
	on[i] = true
	defer delete(on, i)
	if !x.facts.Returns {
		return given{never: true}
	}
	if x.facts.Float && x.left.always && !q.sharesOut() {
		if used, _ := q.resultUsed(i, q.c.Results[0]); used == 0 {
			return given{result: Floating}
		}
	}
	if x.facts.Float && !x.left.always {
		return given{result: Floating}
	}
	if x.left.made {
		return given{result: Integer}
	}
	for _, site := range x.facts.FloatCalls {
		if g := q.calleeGives(site, on); g.result == Floating {
			return g
		}
	}
	argument := slices.Contains(q.c.Ints, q.c.Results[0])
	if x.left.kept && !argument {
		return given{result: None}
	}
	var handed given
	comes := 0 // calls that return
	for _, site := range x.left.calls {
		g := q.calleeGives(site, on)
		if g.never {
			continue
		}
		if g.result == Floating && !slices.Contains(x.facts.Tails, site) {
			return given{} // its result may be in either kind of register
		}
		if g.result == None {
			return g
		}
		if comes++; comes == 1 {
			handed = g
		} else if handed != g {
			handed.typ = ""
			handed.result = max(handed.result, g.result)
		}
	}
	if comes == 0 && len(x.left.calls) > 0 && !x.left.kept && !x.facts.Comes {
		return given{never: true}
	}
	used, unused := q.resultUsed(i, q.c.Results[0])
	switch {
	case x.left.kept && used == 0:
		return given{result: None}
	case used > 0:
		if handed.result == Unknown {
			handed.result = Integer
		}
		return handed
	case handed.result == Floating:
		return handed
	case handed.result == Integer && unused == 0:
		return handed
	case len(x.left.calls) > 0 || x.left.kept && unused == 0: // what is handed on may be meant, though the callers ignore it
		return given{}
	}
	if x.facts.First && x.facts.Through && !argument {
		return given{result: Integer}
	}
	return given{result: None}
}

// sharesOut says whether one structure may be returned in registers of both
// kinds.
func (q *question) sharesOut() bool {
	return q.p.Image.Arch == object.X86_64 && len(q.c.FloatResults) == 2
}

func (q *question) calleeGives(site uint64, on map[int]bool) given {
	callee := q.l.CalleeAt(site)
	switch {
	case callee.Import != "":
		sig, ok := libsig.Lookup(callee.Import, q.p.Image.Format)
		switch {
		case !ok:
			return given{}
		case sig.Result == "void":
			return given{result: None}
		case libsig.Floating(sig.Result):
			return given{result: Floating, typ: sig.Result}
		}
		return given{result: Integer, typ: sig.Result}
	case callee.Function >= 0:
		return q.gives(callee.Function, on)
	}
	return given{}
}

// resultUsed counts calls whose result in a register is used and is not.
func (q *question) resultUsed(i, reg int) (used, unused int) {
	q.sites(i, func(c program.Call, caller int) {
		if c.Kind != program.DirectCall && c.Kind != program.IndirectCall {
			return
		}
		switch is, decided := q.used(caller, c.From, reg); {
		case is:
			used++
		case decided:
			unused++
		}
	})
	return used, unused
}
