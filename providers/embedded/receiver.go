package embedded

import (
	"context"
	"strings"

	"rea/generated/model"
	"rea/providers/embedded/program"
	"rea/providers/embedded/ssa"
	"rea/providers/format/dwarf"
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

// declaredReceivers are those that debug information declares.
func (e *Engine) declaredReceivers(ctx context.Context, p *program.Program, i int) (map[int]string, error) {
	d, f, err := e.debug.at(ctx, p.Functions[i].Entry)
	if err != nil || f == nil {
		return nil, err
	}
	sig, ok := d.Signature(f.Ref)
	if !ok {
		return nil, nil
	}
	out := map[int]string{}
	for k, r := range e.carriers(sig) {
		out[r] = pointee(sig.Parameters[k].Type)
	}
	return out, nil
}

// carriers are the registers that carry declared parameters by the platform's
// convention. They are known up to the first parameter whose type does not tell
// them.
func (e *Engine) carriers(sig *dwarf.Signature) []int {
	c := e.lowered().Convention
	if e.im.GoVersion != "" || sig.Carrier == dwarf.CarrierUnknown || len(sig.Results) > 0 {
		return nil
	}
	var out []int
	ints, floats := c.Ints, c.Floats
	for k := range sig.Parameters {
		from := &ints
		switch sig.Parameters[k].Carrier {
		case dwarf.CarrierInteger:
		case dwarf.CarrierFloating:
			from = &floats
		default:
			return out
		}
		if len(*from) == 0 {
			return out
		}
		out = append(out, (*from)[0])
		*from = (*from)[1:]
		if c.Together {
			ints, floats = c.Ints[k+1:], c.Floats[k+1:]
		}
	}
	return out
}

// pointee is what a pointer or a reference points to, empty for other types.
func pointee(typ string) string {
	typ = strings.TrimSuffix(strings.TrimSpace(typ), " const")
	if strings.Contains(typ, "::*") { // to a member
		return ""
	}
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
