package embedded

import (
	"context"
	"strings"

	"rea/generated/model"
	"rea/providers/embedded/program"
	"rea/providers/embedded/ssa"
)

// receivers are the classes that the declared parameters of a function point
// to, by the register that carries the pointer.
func (e *Engine) receivers(ctx context.Context, p *program.Program, i int, f *ssa.Func) (map[int]string, error) {
	out := map[int]string{}
	l := e.lowered()
	raw := p.Functions[i].Name
	d := declarationOf(raw)
	if d == nil {
		return e.declaredReceivers(ctx, p, i)
	}
	sig, err := e.signatures().Of(ctx, i, f)
	if err != nil {
		return nil, err
	}
	api := &model.NativeAPIAvailable{}
	if !e.listDeclared(raw, l, sig, api) {
		return e.declaredReceivers(ctx, p, i)
	}
	for _, r := range l.Convention.Ints {
		at := "register " + e.registerName(r)
		for k := range api.Parameters {
			row := &api.Parameters[k]
			switch {
			case row.Location == nil || *row.Location != at:
			case row.Name == "this":
				out[r] = d.class
			case row.Type != nil:
				out[r] = pointee(*row.Type)
			}
		}
	}
	return out, nil
}

// declaredReceivers are those that debug information declares. They are known up
// to the first parameter whose registers its type does not tell.
func (e *Engine) declaredReceivers(ctx context.Context, p *program.Program, i int) (map[int]string, error) {
	d, f, err := e.debug.at(ctx, p.Functions[i].Entry)
	if err != nil || f == nil {
		return nil, err
	}
	sig, ok := d.Signature(f.Ref)
	c := e.lowered().Convention
	if !ok || sig.Result != "" && sig.Result != "void" && kindOf(sig.Result) == unknownClass || len(sig.Results) > 0 {
		return nil, nil
	}
	out := map[int]string{}
	n := 0
	for _, v := range sig.Parameters {
		kind := kindOf(v.Type)
		if kind == unknownClass || n >= len(c.Ints) {
			break
		}
		if kind == integerClass {
			out[c.Ints[n]] = pointee(v.Type)
		}
		if kind == integerClass || c.Together {
			n++
		}
	}
	return out, nil
}

// kindOf is the class of a type by its name.
func kindOf(typ string) parameterClass {
	typ = strings.TrimSuffix(strings.TrimSpace(typ), " const")
	switch {
	case strings.HasSuffix(typ, "*"), strings.HasSuffix(typ, "&"):
		return integerClass
	}
	switch strings.TrimPrefix(typ, "const ") {
	case "bool", "_Bool", "char", "signed char", "unsigned char", "short", "short int", "short unsigned int", "unsigned short", "int", "unsigned int", "unsigned",
		"long", "long int", "long unsigned int", "unsigned long", "long long", "long long int", "long long unsigned int", "unsigned long long":
		return integerClass
	case "float", "double":
		return floatClass
	}
	return unknownClass
}

// pointee is what a pointer or a reference points to, empty for other types.
func pointee(typ string) string {
	typ = strings.TrimSuffix(strings.TrimSpace(typ), " const")
	n := strings.TrimRight(typ, "*& ")
	if marks := strings.ReplaceAll(typ[len(n):], " ", ""); marks != "*" && marks != "&" && marks != "&&" {
		return ""
	}
	for {
		was := n
		n = strings.TrimSuffix(strings.TrimSuffix(n, " const"), " volatile")
		for _, word := range []string{"const ", "volatile ", "class ", "struct "} {
			n = strings.TrimPrefix(n, word)
		}
		if n == was {
			return n
		}
	}
}
