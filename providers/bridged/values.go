package bridged

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/model"
	"rea/runtime/bridge"
	"rea/runtime/bridge/facts"
	"rea/runtime/engine"
)

// Values tells what registers can hold before the instruction at addr, from the
// decompiler's p-code of the procedure around it.
func (e *Engine) Values(ctx context.Context, addr model.Address, register string) (*engine.Values, error) {
	if !e.states(model.EngineCapabilityValueFlow) {
		return nil, e.lacks(model.EngineCapabilityValueFlow)
	}
	t, err := e.tables(ctx)
	if err != nil {
		return nil, err
	}
	out := &engine.Values{Values: []model.TracedValue{}, Scope: "high p-code of one procedure"}
	i, ok := t.procedures.containing(uint64(addr))
	if !ok {
		out.Scope = "none: the address lies in no procedure"
		return out, nil
	}
	ref := e.ref(t.procedures, i)
	out.Procedure = &ref
	flow := newFlow()
	args := facts.DecompileArgs{Entry: t.procedures.procedures[i].Entry, Seconds: int(e.config.Decompile.Seconds())}
	var varnodes []facts.Varnode
	parts := map[string]func(jsontext.Value) error{facts.Varnodes: rows(&varnodes), facts.Ops: rows(&flow.ops)}
	err = e.ask(ctx, bridge.Question{Op: facts.PCode, Args: args, Timeout: e.config.Decompile + patience, Rows: func(part string, data jsontext.Value) error {
		if add := parts[part]; add != nil {
			return add(data)
		}
		return nil
	}}, nil)
	var failure *bridge.Failure
	if errors.As(err, &failure) {
		out.Scope = "none: the decompiler failed: " + failure.Message
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	flow.build(varnodes)
	for _, use := range flow.usesAt(uint64(addr), register) {
		out.Values = append(out.Values, e.traced(ctx, &t, flow, use))
	}
	if len(out.Values) == 0 && register != "" {
		reason := "the p-code of the instruction does not use it"
		out.Values = append(out.Values, model.TracedValue{
			Register: register, State: model.TracedValueStateUnknown, Candidates: []model.TracedValueCandidate{}, Definitions: []model.Address{}, Reason: &reason,
		})
	}
	return out, nil
}

// flow is the data flow of one procedure: varnodes and the ops that make them.
type flow struct {
	ops      []facts.Op
	varnodes map[int]*facts.Varnode
	makers   map[int]int // op that makes a varnode
	steps    int         // of the trace that is made
}

func newFlow() *flow {
	return &flow{varnodes: map[int]*facts.Varnode{}, makers: map[int]int{}}
}

func (f *flow) build(varnodes []facts.Varnode) {
	for i := range varnodes {
		f.varnodes[varnodes[i].ID] = &varnodes[i]
	}
	for i := range f.ops {
		if f.ops[i].Out >= 0 {
			f.makers[f.ops[i].Out] = i
		}
	}
}

// usesAt are the registers that the instruction at addr reads, in order of
// name; all when register is "".
func (f *flow) usesAt(addr uint64, register string) []*facts.Varnode {
	var out []*facts.Varnode
	for i := range f.ops {
		if f.ops[i].Address != addr || f.ops[i].Code == "MULTIEQUAL" || f.ops[i].Code == "INDIRECT" {
			continue
		}
		for _, id := range f.ops[i].In {
			v := f.varnodes[id]
			if v == nil || v.Register == "" || register != "" && !strings.EqualFold(v.Register, register) || slices.Contains(out, v) {
				continue
			}
			// What the instruction makes itself is not what it begins with.
			if made, ok := f.makers[id]; ok && f.ops[made].Address == addr && f.ops[made].Code != "MULTIEQUAL" {
				continue
			}
			out = append(out, v)
		}
	}
	slices.SortStableFunc(out, func(a, b *facts.Varnode) int { return strings.Compare(a.Register, b.Register) })
	return out
}

// trace is what is known of one varnode.
type trace struct {
	state       model.TracedValueState
	constants   []uint64
	expression  string
	definitions []uint64
	reason      string
}

// Bounds of a trace.
const (
	traceDepth      = 40
	traceSteps      = 20_000
	traceConstants  = 64
	traceExpression = 400
)

func (e *Engine) traced(ctx context.Context, t *tables, f *flow, v *facts.Varnode) model.TracedValue {
	f.steps = 0
	found := f.trace(v.ID, map[int]bool{}, 0)
	row := model.TracedValue{
		Register: strings.ToLower(v.Register), State: found.state, Candidates: []model.TracedValueCandidate{},
		Expression: shorten(found.expression), Definitions: []model.Address{}, Reason: optional(found.reason),
	}
	named := false
	for _, c := range found.constants {
		row.Candidates = append(row.Candidates, model.TracedValueCandidate{Value: fmt.Sprintf("0x%x", c)})
		last := &row.Candidates[len(row.Candidates)-1]
		if name := e.nameOf(t, c); name != "" {
			last.Name, named = &name, true
		}
		if s := t.texts.containing(c); s != nil {
			text, _ := e.text(ctx, s, longestText)
			last.String, named = &text, true
		}
	}
	if row.State == model.TracedValueStateConstant && named {
		row.State = model.TracedValueStateAddress
	}
	slices.Sort(found.definitions)
	for _, at := range slices.Compact(found.definitions) {
		row.Definitions = append(row.Definitions, model.Address(at))
	}
	return row
}

func shorten(s string) string {
	if len(s) <= traceExpression {
		return s
	}
	return strings.ToValidUTF8(s[:traceExpression], "") + "…"
}

func constant(v uint64) trace {
	return trace{state: model.TracedValueStateConstant, constants: []uint64{v}, expression: fmt.Sprintf("0x%x", v)}
}

func unclear(expression, reason string) trace {
	return trace{state: model.TracedValueStateUnknown, expression: expression, reason: reason}
}

func mask(v uint64, size int) uint64 {
	if size <= 0 || size >= 8 {
		return v
	}
	return v & (1<<(8*size) - 1)
}

// trace follows a varnode back to what makes it.
func (f *flow) trace(id int, under map[int]bool, depth int) trace {
	v := f.varnodes[id]
	f.steps++
	switch {
	case v == nil:
		return unclear("?", "the p-code is incomplete")
	case v.Space == facts.SpaceConstant:
		return constant(mask(v.Offset, v.Size))
	case under[id]:
		return unclear(f.label(v), "it depends on itself in a loop")
	case depth > traceDepth || f.steps > traceSteps:
		return unclear(f.label(v), "it is made in too many steps")
	}
	made, ok := f.makers[id]
	if !ok {
		return f.given(v)
	}
	under[id] = true
	defer delete(under, id)
	op := &f.ops[made]
	in := make([]trace, len(op.In))
	for k, from := range op.In {
		if op.Code == "CALL" || op.Code == "CALLIND" || op.Code == "CALLOTHER" {
			break // what a call is given is not what it gives
		}
		in[k] = f.trace(from, under, depth+1)
	}
	out := combine(op, in, v)
	for k := range in {
		out.definitions = append(out.definitions, in[k].definitions...)
	}
	out.definitions = append(out.definitions, op.Address)
	if len(out.definitions) > traceConstants {
		out.definitions = out.definitions[len(out.definitions)-traceConstants:]
	}
	out.expression = shorten(out.expression)
	return out
}

func (f *flow) label(v *facts.Varnode) string {
	switch {
	case v.Variable != "":
		return v.Variable
	case v.Register != "":
		return strings.ToLower(v.Register)
	}
	return fmt.Sprintf("%s_%x", v.Space, v.Offset)
}

// given is a varnode that the procedure does not make.
func (f *flow) given(v *facts.Varnode) trace {
	switch {
	case v.Space == facts.SpaceMemory:
		return unclear(fmt.Sprintf("[0x%x]", v.Offset), "it is read from memory that may change")
	case stackPointer(v.Register):
		return trace{state: model.TracedValueStateStackAddress, expression: strings.ToLower(v.Register)}
	case v.Input:
		return trace{state: model.TracedValueStateParameter, expression: f.label(v)}
	}
	return unclear(f.label(v), "nothing in the procedure makes it")
}

func stackPointer(register string) bool {
	switch strings.ToLower(register) {
	case "rsp", "esp", "sp":
		return true
	}
	return false
}

// combine is the value of an op whose inputs are known as far as they are.
func combine(op *facts.Op, in []trace, out *facts.Varnode) trace {
	switch op.Code {
	case "COPY", "CAST", "INT_ZEXT", "SUBPIECE", "INT_SEXT":
		if len(in) == 0 || op.Code == "SUBPIECE" && (len(in) < 2 || !isConstant(in[1], 0)) {
			return unclear(op.Code, "it is a part of a wider value")
		}
		t := in[0]
		t.definitions = nil
		if op.Code != "INT_SEXT" || allSmall(t.constants) {
			t.constants = slices.Clone(t.constants)
			for i := range t.constants {
				t.constants[i] = mask(t.constants[i], out.Size)
			}
			return t
		}
		return unclear("sext("+t.expression+")", "the width it is extended from is not known")
	case "CALL", "CALLIND", "CALLOTHER":
		return trace{state: model.TracedValueStateCallResult, expression: fmt.Sprintf("result of the call at 0x%x", op.Address)}
	case "MULTIEQUAL":
		return merge(in)
	case "INDIRECT":
		if len(in) == 0 {
			return unclear("?", "a call or store may change it")
		}
		return unclear(in[0].expression, "a call or store may change it")
	case "LOAD":
		if len(in) == 0 {
			return unclear("[?]", "it is read from memory")
		}
		return unclear("["+in[len(in)-1].expression+"]", "it is read from memory that may change")
	}
	return arithmetic(op, in, out)
}

func isConstant(t trace, v uint64) bool {
	return t.state == model.TracedValueStateConstant && len(t.constants) == 1 && t.constants[0] == v
}

func allSmall(values []uint64) bool {
	for _, v := range values {
		if v > 0x7f {
			return false
		}
	}
	return true
}

// merge joins what comes over several ways.
func merge(in []trace) trace {
	out := trace{state: model.TracedValueStateConstant}
	var parts []string
	for _, t := range in {
		if !slices.Contains(parts, t.expression) {
			parts = append(parts, t.expression)
		}
		if t.state != model.TracedValueStateConstant && t.state != model.TracedValueStateSet {
			out.state, out.reason = model.TracedValueStateUnknown, "not every way gives a known value"
		}
		out.constants = append(out.constants, t.constants...)
	}
	slices.Sort(out.constants)
	out.constants = slices.Compact(out.constants)
	out.expression = strings.Join(parts, " or ")
	switch {
	case out.state == model.TracedValueStateUnknown:
		out.constants = nil
		if len(parts) == 1 && len(in) > 0 {
			out.state, out.reason = in[0].state, in[0].reason
		}
	case len(out.constants) > traceConstants:
		out.state, out.constants, out.reason = model.TracedValueStateUnknown, nil, "it has too many values"
	case len(out.constants) > 1:
		out.state = model.TracedValueStateSet
	}
	return out
}

var operators = map[string]string{
	"INT_ADD": "+", "INT_SUB": "-", "INT_MULT": "*", "INT_AND": "&", "INT_OR": "|", "INT_XOR": "^",
	"INT_LEFT": "<<", "INT_RIGHT": ">>", "PTRSUB": "+", "PTRADD": "+",
}

// arithmetic folds constants.
func arithmetic(op *facts.Op, in []trace, out *facts.Varnode) trace {
	sign, known := operators[op.Code]
	if !known || len(in) < 2 {
		names := make([]string, len(in))
		for i := range in {
			names[i] = in[i].expression
		}
		return unclear(strings.ToLower(op.Code)+"("+strings.Join(names, ", ")+")", "it is computed")
	}
	a, b := in[0], in[1]
	if op.Code == "PTRADD" && len(in) == 3 {
		b = arithmetic(&facts.Op{Code: "INT_MULT"}, []trace{in[1], in[2]}, out)
	}
	expression := a.expression + " " + sign + " " + b.expression
	if a.state == model.TracedValueStateStackAddress && b.state == model.TracedValueStateConstant {
		return trace{state: model.TracedValueStateStackAddress, expression: expression}
	}
	if len(a.constants) == 0 || len(b.constants) == 0 || len(a.constants)*len(b.constants) > traceConstants {
		return unclear(expression, "it is computed from values that are not known")
	}
	folded := trace{state: model.TracedValueStateConstant, expression: expression}
	for _, x := range a.constants {
		for _, y := range b.constants {
			folded.constants = append(folded.constants, mask(apply(sign, x, y), out.Size))
		}
	}
	slices.Sort(folded.constants)
	if folded.constants = slices.Compact(folded.constants); len(folded.constants) > 1 {
		folded.state = model.TracedValueStateSet
	}
	return folded
}

func apply(sign string, x, y uint64) uint64 {
	switch sign {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "&":
		return x & y
	case "|":
		return x | y
	case "^":
		return x ^ y
	case "<<":
		return x << y
	}
	return x >> y
}
