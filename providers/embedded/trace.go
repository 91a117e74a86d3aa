package embedded

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rea/generated/model"
	"rea/providers/embedded/isa"
	"rea/providers/embedded/lower"
	"rea/providers/embedded/program"
	"rea/providers/embedded/signature"
	"rea/providers/embedded/ssa"
	"rea/providers/embedded/values"
	"rea/providers/format/object"
	"rea/runtime/engine"
)

const scope = "constants, addresses, parameters, results of calls, frame variables and read-only data, along every path of the procedure; " +
	"memory that can change, and what other procedures do beyond the calling convention, are not followed"

// Values tells what registers can hold before the instruction at addr.
func (e *Engine) Values(ctx context.Context, addr model.Address, register string) (*engine.Values, error) {
	p, err := e.program(ctx)
	if err != nil {
		return nil, err
	}
	a := uint64(addr)
	out := &engine.Values{Values: []model.TracedValue{}, Scope: scope}
	i, ok := p.FunctionContaining(a)
	if !ok {
		return unanswered(out, register, "no procedure contains the address"), nil
	}
	ref := e.procedureRef(p, i)
	out.Procedure = &ref
	if !p.IsInstruction(a) {
		return unanswered(out, register, "no instruction starts at the address"), nil
	}
	l := e.lowered()
	x, reason, err := e.flowOf(ctx, p, i, a)
	if err != nil {
		return nil, err
	}
	if x == nil {
		return unanswered(out, register, reason), nil
	}
	point, ok := pointAt(x.f, a)
	if !ok {
		return unanswered(out, register, "nothing is known to lead to the address"), nil
	}
	sig, err := e.signatures().Of(ctx, i, x.f)
	if err != nil {
		return nil, err
	}
	t := &tracer{e: e, p: p, l: l, function: i, flow: x, block: point.Block, at: a, names: e.naming(p, l), parameters: parameterRegisters(l, sig)}
	t.names.Parameter = t.parameter
	if register != "" {
		out.Values = t.register(register, point)
	} else {
		out.Values = t.all(point)
	}
	if x.sets.Exhausted() {
		out.Scope += "; sets of numbers were given up because the procedure takes more work than the bound"
	}
	for _, n := range x.f.Notes {
		out.Scope += "; " + n
	}
	return out, nil
}

func unanswered(out *engine.Values, register, reason string) *engine.Values {
	out.Scope = "nothing was followed: " + reason
	if register != "" {
		out.Values = append(out.Values, model.TracedValue{Register: register, State: model.TracedValueStateUnknown,
			Candidates: []model.TracedValueCandidate{}, Expression: "unknown", Definitions: []model.Address{}, Reason: &reason})
	}
	return out
}

func pointAt(f *ssa.Func, addr uint64) (*ssa.Point, bool) {
	for k := range f.Points {
		if f.Points[k].Addr == addr {
			return &f.Points[k], true
		}
	}
	return nil, false
}

// tracer answers for one place.
type tracer struct {
	e        *Engine
	p        *program.Program
	l        *lower.Program
	function int
	flow     *flow
	block    int32
	at       uint64
	names    *values.Names
	// parameters are the registers in which the function takes parameters.
	parameters []int
	// places are the addresses that the code makes from its own place; nil before
	// they were looked for.
	places []uint64
}

func parameterRegisters(l *lower.Program, sig *signature.Signature) []int {
	if len(l.Convention.Ints) == 0 {
		return sig.Hidden
	}
	out := slices.Clone(l.Convention.Ints[:sig.Ints])
	for k := range min(len(out), len(sig.Vectors)) {
		if sig.Vectors[k] {
			out[k] = l.Convention.Floats[k]
		}
	}
	return out
}

// parameter names what a register or a cell above the return address held at entry.
func (t *tracer) parameter(v ssa.Var) string {
	c := t.l.Convention
	if k := slices.Index(t.parameters, int(v)); k >= 0 {
		return fmt.Sprintf("arg%d", k+1)
	}
	if cell := t.flow.f.CellOf(v); cell != nil && cell.Base == 0 {
		if k, ok := c.StackArgument(cell.Offset); ok && cell.Size <= c.Word {
			if len(c.Ints) == 0 {
				k += len(t.parameters)
			}
			return fmt.Sprintf("arg%d", k+1)
		}
	}
	return ""
}

// register is the row of one register, or of an argument of a call ("arg1").
func (t *tracer) register(name string, point *ssa.Point) []model.TracedValue {
	lower := strings.ToLower(strings.TrimSpace(name))
	if k, err := strconv.Atoi(strings.TrimPrefix(lower, "arg")); err == nil && strings.HasPrefix(lower, "arg") && k > 0 {
		ids := t.arguments()
		if k <= len(ids) && ids[k-1] != 0 {
			return []model.TracedValue{t.row(name, ids[k-1], 0, t.flow.f.Values[ids[k-1]].Bits, -1)}
		}
		return unanswered(&engine.Values{}, name, "no call at the address passes an argument of that number in a place that is followed").Values
	}
	r, low, bits, ok := registerPart(t.e.im.Arch, lower)
	if !ok || r >= len(point.Regs) || point.Regs[r] == 0 {
		return unanswered(&engine.Values{}, name, "it is no general register of this architecture").Values
	}
	return []model.TracedValue{t.row(name, point.Regs[r], low, bits, r)}
}

// arguments are the values in the places of arguments of the call at the address.
func (t *tracer) arguments() []ssa.ID {
	for _, v := range t.flow.f.Blocks[t.block].Code {
		if x := &t.flow.f.Values[v]; (x.Kind == ssa.Call || x.Kind == ssa.Jump) && x.Addr == t.at {
			return t.l.Convention.Given(t.flow.f.List(v))
		}
	}
	return nil
}

// all are the rows of the registers of which something is known, and at a call
// of arguments on the stack.
func (t *tracer) all(point *ssa.Point) []model.TracedValue {
	out := []model.TracedValue{}
	c := t.l.Convention
	for r, v := range point.Regs {
		if v == 0 {
			continue
		}
		x := &t.flow.f.Values[v]
		if x.Kind == ssa.Entry && int(x.Var) == r && !slices.Contains(t.parameters, r) && r != c.SP {
			continue // untouched since the caller
		}
		row := t.row(t.flow.f.Arch.Register[r].Name, v, 0, x.Bits, r)
		if row.State != model.TracedValueStateUnknown {
			out = append(out, row)
		}
	}
	ids := t.arguments()
	for k := len(c.Ints); k < len(ids) && ids[k] != 0; k++ { // arguments lie side by side
		if row := t.row(fmt.Sprintf("arg%d", k+1), ids[k], 0, t.flow.f.Values[ids[k]].Bits, -1); row.State != model.TracedValueStateUnknown {
			out = append(out, row)
		}
	}
	return out
}

// row describes bits of a value; reg is the register it is in, or -1.
func (t *tracer) row(name string, v ssa.ID, low, bits uint16, reg int) model.TracedValue {
	f := t.flow.f
	row := model.TracedValue{Register: name, Candidates: []model.TracedValueCandidate{}, Definitions: []model.Address{}}
	row.Expression = values.Expression(f, v, t.names)
	if bits < f.Values[v].Bits {
		row.Expression = fmt.Sprintf("low %d bits of %s", bits, row.Expression)
		if low > 0 {
			row.Expression = fmt.Sprintf("bits %d to %d of %s", low, low+bits-1, values.Expression(f, v, t.names))
		}
	}
	if reg >= 0 {
		row.Definitions = t.definitions(reg)
	} else {
		row.Definitions = t.made(v)
	}
	t.flow.mu.Lock()
	set := t.flow.sets.Part(v, t.block, low, bits)
	t.flow.mu.Unlock()
	t.classify(&row, v, set, bits)
	return row
}

func (t *tracer) classify(row *model.TracedValue, v ssa.ID, set values.Set, bits uint16) {
	f := t.flow.f
	say := func(s string) { row.Reason = &s }
	if numbers, few := set.Numbers(); few {
		row.State = model.TracedValueStateSet
		for _, n := range numbers {
			row.Candidates = append(row.Candidates, t.candidate(n))
		}
		if len(numbers) == 1 {
			row.State = model.TracedValueStateConstant
			if t.isAddress(numbers[0]) && bits == f.Arch.Bits && t.leadsTo(numbers[0], row.Definitions) {
				row.State = model.TracedValueStateAddress
			}
		}
		return
	}
	if set.Empty() {
		row.State = model.TracedValueStateUnknown
		say("no path reaches the address when the branches before it are taken into account")
		return
	}
	bounds := ""
	if !set.IsAll(bits) {
		bounds = "it is one of " + set.String()
		say(bounds)
	}
	leaf, _, affine := values.Affine(f, v)
	if !affine {
		if x := &f.Values[v]; x.Kind == ssa.Expr && x.Bits == f.Arch.Bits {
			if base, ok := t.stackBase(v); ok {
				row.State = model.TracedValueStateStackAddress
				say(base)
				return
			}
		}
		row.State = model.TracedValueStateUnknown
		if bounds == "" {
			say("it is computed from values that are not known")
		}
		return
	}
	t.classifyLeaf(row, leaf, say, bounds)
}

func (t *tracer) classifyLeaf(row *model.TracedValue, leaf ssa.ID, say func(string), bounds string) {
	f := t.flow.f
	x := &f.Values[leaf]
	c := t.l.Convention
	row.State = model.TracedValueStateUnknown
	switch x.Kind {
	case ssa.Entry:
		switch cell := f.CellOf(x.Var); {
		case int(x.Var) == c.SP:
			row.State = model.TracedValueStateStackAddress
		case slices.Contains(t.parameters, int(x.Var)), cell != nil && cell.Base == 0 && cell.Offset >= c.Word:
			row.State = model.TracedValueStateParameter
		case cell != nil && cell.Offset < 0:
			say("the frame variable is read before anything is stored to it")
		case bounds == "":
			say("it is what the caller left in " + f.VarName(x.Var))
		}
	case ssa.After:
		call := &f.Values[x.Args[0]]
		switch {
		case call.Kind == ssa.Call && len(c.Results) > 0 && (int(x.Var) == c.Results[0] || len(c.Results) > 2 && slices.Contains(c.Results, int(x.Var))):
			row.State = model.TracedValueStateCallResult
		case bounds == "":
			say(fmt.Sprintf("the instruction at 0x%x may change it in a way that is not followed", x.Addr))
		}
	case ssa.Load:
		if bounds == "" {
			say(fmt.Sprintf("it is read at 0x%x from memory that can change or lies at an address that is not known", x.Addr))
		}
	case ssa.Phi:
		if bounds == "" {
			say("it depends on the path taken")
		}
	default:
		if bounds == "" {
			say(fmt.Sprintf("the instruction at 0x%x is not modelled", x.Addr))
		}
	}
}

// stackBase recognizes addresses in the frame after the stack pointer was aligned.
func (t *tracer) stackBase(v ssa.ID) (string, bool) {
	text := values.Expression(t.flow.f, v, t.names)
	if strings.HasPrefix(text, "(sp@entry") && strings.Contains(text, "&") {
		return "the stack pointer is aligned in between, so the distance from its value at entry is not constant", true
	}
	return "", false
}

// leadsTo says whether a number may be meant as an address. Code that works
// wherever it is loaded makes addresses from its own place or reads them: a
// number that is near none of these is only a number.
func (t *tracer) leadsTo(n uint64, definitions []model.Address) bool {
	im := t.e.im
	if im.Base != 0 || im.Arch != object.X86_64 && im.Arch != object.ARM64 || im.Kind == object.Relocatable {
		return true
	}
	var in isa.Inst
	decode := func(a uint64) uint64 {
		t.e.dec.Decode(im.Bytes(a, t.e.dec.MaxLen()), a, &in)
		return a + uint64(max(1, in.Len))
	}
	for _, d := range definitions {
		if decode(uint64(d)); in.HasMem && in.Class != isa.Address {
			return true
		}
	}
	if t.places == nil {
		t.places = []uint64{}
		for b := range t.flow.f.Blocks {
			for a := t.flow.f.Blocks[b].Start; a < t.flow.f.Blocks[b].End; {
				if a = decode(a); in.Class == isa.Address && (in.Mem.Base == isa.PC || in.Mem.Base == isa.NoReg) {
					t.places = append(t.places, uint64(in.Mem.Disp))
				}
			}
		}
	}
	section := im.SectionAt(n)
	return slices.ContainsFunc(t.places, func(p uint64) bool {
		const page = 4096 // AArch64 code makes the page first
		return n-p < page || section != nil && im.SectionAt(p) == section
	})
}

func (t *tracer) isAddress(n uint64) bool { return n >= 0x100 && t.e.im.SegmentAt(n) != nil }

func (t *tracer) candidate(n uint64) model.TracedValueCandidate {
	out := model.TracedValueCandidate{Value: fmt.Sprintf("0x%x", n)}
	if !t.isAddress(n) {
		return out
	}
	if name := t.e.nameAt(t.p, n); name != "" {
		out.Name = &name
	} else if s, ok := t.p.StringAt(n); ok {
		text, _ := shorten(t.p, s, longestText)
		out.String = &text
	} else if text, ok := within(t.p, n); ok {
		out.String = &text
	}
	return out
}

// within is the rest of a string from an address inside it, which is empty at
// the zero that ends it.
func within(p *program.Program, addr uint64) (string, bool) {
	near := p.StringsBetween(addr-min(addr, longestText), addr)
	if len(near) == 0 {
		return "", false
	}
	s := near[len(near)-1]
	if s.Encoding == program.UTF16 || addr > s.Addr+uint64(s.Len) || !s.Terminated {
		return "", false
	}
	s.Len -= uint32(addr - s.Addr)
	s.Addr = addr
	text, _ := shorten(p, s, longestText)
	return text, true
}

// mostDefinitions bounds the definitions that are listed.
const mostDefinitions = 64

// definitions are the instructions that may have written a register last: they
// are met going backwards from the address along every path.
func (t *tracer) definitions(reg int) []model.Address {
	f := t.flow.f
	out := []model.Address{}
	seen := map[int32]bool{}
	type part struct {
		block int32
		end   uint64
	}
	work := []part{{t.block, t.at}}
	for len(work) > 0 && len(out) < mostDefinitions && len(seen) < 1<<14 {
		w := work[len(work)-1]
		work = work[:len(work)-1]
		if at, ok := t.lastWrite(reg, f.Blocks[w.block].Start, w.end); ok {
			out = append(out, model.Address(at))
			continue
		}
		for _, pred := range f.Blocks[w.block].Preds {
			if pred != 0 && !seen[pred] {
				seen[pred] = true
				work = append(work, part{pred, f.Blocks[pred].End})
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// lastWrite finds the last instruction of [start, end) that writes a register.
func (t *tracer) lastWrite(reg int, start, end uint64) (at uint64, ok bool) {
	var in isa.Inst
	c := t.l.Convention
	for a := start; a < end; a += uint64(max(1, in.Len)) {
		t.e.dec.Decode(t.e.im.Bytes(a, t.e.dec.MaxLen()), a, &in)
		writes := in.Writes>>reg&1 == 1
		if in.Flow == isa.Call || in.Flow == isa.IndirectCall {
			writes = !c.Saved.Has(reg) && reg != c.SP
		}
		if writes {
			at, ok = a, true
		}
	}
	return at, ok
}

// made are the places of the leaves under a value.
func (t *tracer) made(v ssa.ID) []model.Address {
	f := t.flow.f
	out := []model.Address{}
	seen := map[ssa.ID]bool{}
	var walk func(v ssa.ID)
	walk = func(v ssa.ID) {
		if seen[v] || len(seen) > 64 {
			return
		}
		seen[v] = true
		x := &f.Values[v]
		switch x.Kind {
		case ssa.Load, ssa.After, ssa.Unknown:
			out = append(out, model.Address(x.Addr))
			return
		}
		f.Operands(v, walk)
	}
	walk(v)
	slices.Sort(out)
	return slices.Compact(out)
}

// registerPart finds a register by any of its names: the whole, or its low parts.
func registerPart(arch object.Arch, name string) (reg int, low, bits uint16, ok bool) {
	if arch == object.ARM64 {
		switch name {
		case "sp":
			return 31, 0, 64, true
		case "wsp":
			return 31, 0, 32, true
		case "fp":
			return 29, 0, 64, true
		case "lr":
			return 30, 0, 64, true
		}
		if n, err := strconv.Atoi(strings.TrimLeft(name, "xw")); err == nil && len(name) > 1 && n >= 0 && n <= 30 {
			switch name[0] {
			case 'x':
				return n, 0, 64, true
			case 'w':
				return n, 0, 32, true
			}
		}
		return 0, 0, 0, false
	}
	full := uint16(64)
	if arch == object.X86 {
		full = 32
	}
	for r, base := range x86Names {
		if base == "" {
			base = "r" + strconv.Itoa(r)
		}
		for _, form := range []struct {
			name string
			low  uint16
			bits uint16
		}{
			{"r" + base, 0, 64}, {"e" + base, 0, 32}, {base, 0, 16}, {base + "l", 0, 8}, {base[:1] + "l", 0, 8}, {base[:1] + "h", 8, 8},
		} {
			short := len(form.name) == 2 && (form.name[1] == 'l' || form.name[1] == 'h')
			if r < 8 && form.name == name && form.bits <= full && (!short || r < 4) {
				return r, form.low, form.bits, true
			}
		}
		if r >= 8 && full == 64 {
			for suffix, bits := range map[string]uint16{"": 64, "d": 32, "w": 16, "b": 8} {
				if name == base+suffix {
					return r, 0, bits, true
				}
			}
		}
	}
	return 0, 0, 0, false
}
