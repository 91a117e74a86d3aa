package embedded

import (
	"context"
	"fmt"
	"strings"

	"rea/generated/model"
	"rea/providers/embedded/callconv"
	"rea/providers/embedded/isa"
	"rea/providers/embedded/libsig"
	"rea/providers/embedded/lower"
	"rea/providers/embedded/program"
	"rea/providers/embedded/ssa"
	"rea/providers/embedded/values"
	"rea/providers/format/object"
	"rea/runtime/engine"
)

// inferred is the source of facts that were concluded from the code.
const inferred = "inferred"

// fromCode fills in what the code of function i shows of its interface, and
// reports whether it could be followed.
func (e *Engine) fromCode(ctx context.Context, p *program.Program, i int, b *engine.Body, api *model.NativeAPIAvailable) (bool, error) {
	l := e.lowered()
	if l == nil {
		return false, nil
	}
	if c := l.CalleeOf(p.Functions[i].Entry); c.Import != "" {
		if sig, ok := libsig.Lookup(c.Import, e.im.Format); ok {
			declared(api, sig)
			return true, nil
		}
	}
	x, reason, err := e.flowOf(ctx, p, i)
	if err != nil {
		return false, err
	}
	if x == nil {
		api.Limitations = append(api.Limitations, reason)
		return false, nil
	}
	facts := callconv.Judge(x.f, l.Convention, e.calleeReads(ctx, p, l, 2), e.pushes)
	e.describeConvention(p, i, l, x, &facts, api)
	types := e.propagated(l, x)
	for k := range facts.Ints {
		api.Parameters = append(api.Parameters, e.parameter(l, k, e.registerText(l, k), types[k]))
	}
	for k := range facts.Floats {
		api.Parameters = append(api.Parameters, e.parameter(l, facts.Ints+k, fmt.Sprintf("register v%d", k), "floating-point or vector"))
	}
	if n := len(facts.Stack); n > 0 && !facts.Variadic {
		for k := range facts.Stack[n-1] + 1 {
			off := int64(k)*l.Convention.Word + l.Convention.Shadow
			if l.Convention.CallPushes {
				off += l.Convention.Word
			}
			api.Parameters = append(api.Parameters, e.parameter(l, len(api.Parameters), fmt.Sprintf("entry_sp+0x%x", off), ""))
		}
	}
	b.Locals = append(b.Locals, api.Parameters...)
	for _, v := range facts.Frame {
		at := fmt.Sprintf("entry_sp-0x%x", -v.Offset)
		if v.Size > 0 {
			at += fmt.Sprintf(", %d bytes", v.Size)
		} else {
			at += ", address passed on"
		}
		b.Locals = append(b.Locals, model.LocalVariable{Name: fmt.Sprintf("var_%x", -v.Offset), Location: &at, Source: inferred})
	}
	api.Limitations = append(api.Limitations, "parameters are those whose values are used; unused ones at the end of the list do not show, and types are known only where a library function takes the value")
	if facts.Variadic {
		api.Limitations = append(api.Limitations, "the function takes a variable number of arguments")
	}
	if facts.Result == callconv.Untouched {
		api.Limitations = append(api.Limitations, "the result register is left as a call or the caller left it: there may be no result")
	}
	api.Limitations = append(api.Limitations, x.f.Notes...)
	return true, nil
}

func (e *Engine) parameter(l *lower.Program, k int, location, typ string) model.LocalVariable {
	row := model.LocalVariable{Name: fmt.Sprintf("arg%d", k+1), Parameter: true, Source: inferred, Location: &location}
	if typ != "" {
		row.Type = &typ
	}
	return row
}

func (e *Engine) registerText(l *lower.Program, k int) string {
	return "register " + e.dec.(ssa.Lifter).Arch().Register[l.Convention.Ints[k]].Name
}

// declared is the interface of a known library function.
func declared(api *model.NativeAPIAvailable, sig *libsig.Signature) {
	text, result := sig.String(), sig.Result
	api.Signature, api.ReturnType, api.SignatureSource = &text, &result, "table of library functions"
	for k, p := range sig.Parameters {
		row := model.LocalVariable{Name: p.Name, Parameter: true, Source: "table of library functions"}
		if row.Name == "" {
			row.Name = fmt.Sprintf("arg%d", k+1)
		}
		if p.Type != "" {
			row.Type = &p.Type
		}
		api.Parameters = append(api.Parameters, row)
	}
}

// calleeReads tells how many argument registers a callee reads: from the table
// of library functions, or from its own code, so many calls deep.
func (e *Engine) calleeReads(ctx context.Context, p *program.Program, l *lower.Program, depth int) callconv.Callee {
	return func(site uint64) (int, bool) {
		c := l.CalleeAt(site)
		if c.Import != "" {
			sig, ok := libsig.Lookup(c.Import, e.im.Format)
			if !ok || sig.Variadic {
				return 0, false
			}
			return len(sig.Parameters), true
		}
		if c.Function < 0 || depth == 0 || len(p.FunctionBlocks(c.Function)) == 0 || len(p.FunctionBlocks(c.Function)) > 200 || ctx.Err() != nil {
			return 0, false
		}
		if n, ok := e.reads.get(c.Function); ok {
			return n, n >= 0
		}
		f, err := ssa.Build(ctx, l.Function(c.Function))
		if err != nil {
			return 0, false
		}
		facts := callconv.Judge(f, l.Convention, e.calleeReads(ctx, p, l, depth-1), e.pushes)
		n := facts.Ints
		if facts.Variadic {
			n = -1
		}
		if depth == 2 { // only answers of full depth are the same for every question
			e.reads.put(c.Function, n)
		}
		return n, n >= 0
	}
}

func (e *Engine) pushes(addr uint64) bool {
	var in isa.Inst
	e.dec.Decode(e.im.Bytes(addr, e.dec.MaxLen()), addr, &in)
	return in.Class == isa.Push
}

// describeConvention names the convention and says what the code showed of it.
func (e *Engine) describeConvention(p *program.Program, i int, l *lower.Program, x *flow, facts *callconv.Facts, api *model.NativeAPIAvailable) {
	if e.im.Arch != object.X86 {
		if facts.Ints+facts.Floats > 0 {
			api.CallingConventionSource = "the platform's usual convention; the function reads argument registers in its order"
		}
		return
	}
	pops := l.Pops(i)
	reads := map[int]bool{}
	for v := range x.f.Values {
		if u := &x.f.Values[v]; u.Kind == ssa.Entry && (u.Var == 1 || u.Var == 2) {
			reads[int(u.Var)] = true
		}
	}
	hidden := facts.Hidden
	switch {
	case pops > 0 && hidden && reads[1] && reads[2]:
		api.CallingConvention = "fastcall"
	case hidden && reads[1] && !reads[2]:
		api.CallingConvention = "thiscall"
	case pops > 0:
		api.CallingConvention = "stdcall"
	default:
		return
	}
	api.CallingConventionSource = fmt.Sprintf("it removes %d bytes of arguments when it returns and reads the registers of that convention", pops)
}

// propagated are the types of parameters that are handed on, as they came, to
// library functions, by index.
func (e *Engine) propagated(l *lower.Program, x *flow) map[int]string {
	out := map[int]string{}
	for b := range x.f.Blocks {
		for _, v := range x.f.Blocks[b].Code {
			call := &x.f.Values[v]
			if call.Kind != ssa.Call && call.Kind != ssa.Jump {
				continue
			}
			c := l.CalleeAt(call.Addr)
			if c.Import == "" {
				continue
			}
			sig, ok := libsig.Lookup(c.Import, e.im.Format)
			if !ok {
				continue
			}
			for k, a := range x.f.List(v) {
				if k >= len(sig.Parameters) || k >= len(l.Convention.Ints) {
					break
				}
				leaf, off, ok := values.Affine(x.f, a)
				if !ok || off != 0 || x.f.Values[leaf].Kind != ssa.Entry {
					continue
				}
				for n, r := range l.Convention.Ints {
					if int(x.f.Values[leaf].Var) == r && out[n] == "" && !strings.HasPrefix(sig.Parameters[k].Type, "va_list") {
						out[n] = sig.Parameters[k].Type
					}
				}
			}
		}
	}
	return out
}
