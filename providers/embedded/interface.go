package embedded

import (
	"context"
	"fmt"
	"strings"

	"rea/generated/model"
	"rea/providers/embedded/libsig"
	"rea/providers/embedded/lower"
	"rea/providers/embedded/program"
	"rea/providers/embedded/signature"
	"rea/providers/embedded/ssa"
	"rea/providers/format/object"
	"rea/runtime/engine"
)

// inferred is the source of facts that were concluded from the code.
const inferred = "inferred"

// floatOrVector is all that a vector register tells of a parameter's type.
const floatOrVector = "floating-point or vector"

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
	sig, err := e.signatures().Of(ctx, i, x.f)
	if err != nil {
		return false, err
	}
	e.describeConvention(p, i, l, sig, api)
	named := e.listDeclared(p.Functions[i].Name, l, sig, api)
	if !named {
		e.listParameters(l, sig, api)
	}
	b.Locals = append(b.Locals, api.Parameters...)
	for _, v := range sig.Frame {
		at := fmt.Sprintf("entry_sp-0x%x", -v.Offset)
		if v.Size > 0 {
			at += fmt.Sprintf(", %d bytes", v.Size)
		} else {
			at += ", address passed on"
		}
		b.Locals = append(b.Locals, model.LocalVariable{Name: fmt.Sprintf("var_%x", -v.Offset), Location: &at, Source: inferred})
	}
	e.describeResult(l, sig, api)
	e.sayLimits(l, sig, named, api)
	api.Limitations = append(api.Limitations, x.f.Notes...)
	return true, nil
}

func (e *Engine) listParameters(l *lower.Program, sig *signature.Signature, api *model.NativeAPIAvailable) {
	add := func(location, typ string) {
		row := model.LocalVariable{Name: fmt.Sprintf("arg%d", len(api.Parameters)+1), Parameter: true, Source: inferred, Location: &location}
		if typ != "" {
			row.Type = &typ
		}
		api.Parameters = append(api.Parameters, row)
	}
	for k, r := range l.Convention.Ints[:sig.Ints] {
		switch {
		case k < len(sig.Vectors) && sig.Vectors[k]:
			add("register "+e.registerName(l.Convention.Floats[k]), floatOrVector)
		case k < len(sig.Unread) && sig.Unread[k] && sig.Types[k] == "":
			add("register "+e.registerName(r)+" or "+e.registerName(l.Convention.Floats[k]), "")
		default:
			add("register "+e.registerName(r), sig.Types[k])
		}
	}
	for _, r := range sig.Hidden {
		add("register "+e.registerName(r), "")
	}
	for _, r := range l.Convention.Floats[:sig.Floats] {
		add("register "+e.registerName(r), floatOrVector)
	}
	for k := range sig.Stack {
		off := int64(k)*l.Convention.Word + l.Convention.Shadow
		if l.Convention.CallPushes {
			off += l.Convention.Word
		}
		add(fmt.Sprintf("entry_sp+0x%x", off), "")
	}
}

// registerName is the name that manuals of calling conventions use: xmm0 for
// the vector register that x86 code knows by several widths.
func (e *Engine) registerName(r int) string {
	name := e.dec.(ssa.Lifter).Arch().Register[r].Name
	if n, ok := strings.CutPrefix(name, "v"); ok && e.im.Arch != object.ARM64 {
		return "xmm" + n
	}
	return name
}

// describeResult says what the function leaves for its caller.
func (e *Engine) describeResult(l *lower.Program, sig *signature.Signature, api *model.NativeAPIAvailable) {
	say := func(typ string) { api.ReturnType = &typ }
	c := l.Convention
	switch sig.Result {
	case signature.None:
		say("void")
	case signature.Integer:
		say("integer or pointer in " + e.registerName(c.Results[0]))
		switch {
		case sig.Second:
			say("integers or pointers in " + e.registerName(c.Results[0]) + " and " + e.registerName(c.Results[1]))
		case sig.Mixed:
			say("integer or pointer in " + e.registerName(c.Results[0]) + " and floating-point in " + e.registerName(c.FloatResults[0]))
		case sig.Type != "":
			say(sig.Type)
		case sig.First && sig.Through && len(c.Ints) > 0 && e.im.Arch == object.X86_64:
			say("pointer in " + e.registerName(c.Results[0]) + ": the first argument, which may be the place of a returned structure")
		}
	case signature.Floating:
		if len(c.FloatResults) == 0 {
			say("floating-point on the x87 stack")
			break
		}
		say("floating-point in " + e.registerName(c.FloatResults[0]))
		if sig.SecondFloat {
			say("floating-point in " + e.registerName(c.FloatResults[0]) + " and " + e.registerName(c.FloatResults[1]))
		}
	case signature.Memory:
		say("structure at the place given by the caller")
	}
}

func (e *Engine) sayLimits(l *lower.Program, sig *signature.Signature, named bool, api *model.NativeAPIAvailable) {
	say := func(format string, args ...any) {
		api.Limitations = append(api.Limitations, fmt.Sprintf(format, args...))
	}
	what := "each is one register or one word of the stack: a structure passed by value takes several"
	if strings.HasPrefix(l.Convention.Name, "Go") {
		what = "each is one register or one word of the stack: a string takes two, a slice three, an interface two"
	}
	if named {
		say("the number and the types of the parameters are those that the mangled name spells, their registers those of the platform's convention")
	} else {
		say("%s", "parameters are those whose values are used by the function or functions that it hands them to, or that its callers provide; others do not show; "+what)
		say("types are known only where a library function takes or makes the value")
		if sig.Callers > 0 {
			say("the function does not use the last %d of the parameters in registers; its callers provide them", sig.Callers)
		}
	}
	if sig.Variadic {
		say("variadic: the function takes a variable number of arguments after the parameters that are listed")
	}
	switch {
	case len(l.Convention.Results) == 0:
		say("results lie on the stack by this convention; they are not looked for")
	case sig.Result == signature.Unknown:
		say("nothing shows whether there is a result")
	case sig.Result == signature.None:
		say("no result: nothing is put into the result register for its own sake, and no caller that was looked at reads one")
	case sig.First:
		say("it returns its first argument, which may be the place of a structure that it returns")
	}
	if sig.Limited {
		say("more functions than the bound of one question would have had to be looked at; parameters that are only handed on may be missing")
	}
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

// describeConvention names the convention and says what the code showed of it.
func (e *Engine) describeConvention(p *program.Program, i int, l *lower.Program, sig *signature.Signature, api *model.NativeAPIAvailable) {
	if e.im.Arch != object.X86 {
		if sig.Ints+sig.Floats > 0 {
			api.CallingConventionSource = "the platform's usual convention; the function reads argument registers in its order"
		}
		return
	}
	pops := l.Pops(i)
	cleans := fmt.Sprintf("it removes %d bytes of arguments when it returns", pops)
	switch registers := strings.Join(e.registerNames(sig.Hidden), " and "); {
	case registers == "ecx and edx":
		api.CallingConvention, api.CallingConventionSource = "fastcall", "it reads "+registers+", and "+cleans
	case registers == "ecx":
		api.CallingConvention, api.CallingConventionSource = "thiscall", "it reads ecx, and "+cleans+"; fastcall with one parameter looks the same"
	case registers != "":
		api.CallingConvention, api.CallingConventionSource = "regparm", "it reads "+registers+" (compilers choose such conventions for functions that only their own file calls)"
	case pops > 0:
		api.CallingConvention, api.CallingConventionSource = "stdcall", cleans
	}
}

func (e *Engine) registerNames(regs []int) []string {
	out := make([]string, len(regs))
	for k, r := range regs {
		out[k] = e.registerName(r)
	}
	return out
}
