package ssa

import (
	"fmt"
	"strings"

	"rea/providers/embedded/ir"
)

// Text writes the function block by block, for people and tests.
func (f *Func) Text() string {
	var b strings.Builder
	for i := range f.Blocks {
		blk := &f.Blocks[i]
		fmt.Fprintf(&b, "block %d %#x idom %d preds %v succs %v\n", i, blk.Start, blk.Idom, blk.Preds, blk.Succs)
		for _, p := range blk.Phis {
			fmt.Fprintf(&b, "  v%d = phi %s %v\n", p, f.VarName(f.Values[p].Var), f.List(p))
		}
		for _, v := range blk.Code {
			x := &f.Values[v]
			fmt.Fprintf(&b, "  %#x ", x.Addr)
			if x.Kind == Load {
				fmt.Fprintf(&b, "v%d = ", v)
			}
			b.WriteString(x.Kind.String())
			for _, a := range x.Args {
				if a != 0 {
					b.WriteByte(' ')
					b.WriteString(f.ValueText(a, 6))
				}
			}
			if l := f.List(v); len(l) > 0 {
				b.WriteString(" (")
				for k, a := range l {
					if k > 0 {
						b.WriteString(", ")
					}
					b.WriteString(f.ValueText(a, 4))
				}
				b.WriteByte(')')
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// VarName names a variable.
func (f *Func) VarName(v Var) string {
	if c := f.CellOf(v); c != nil {
		base := "frame"
		if c.Base == 1 {
			base = "aligned"
		}
		return fmt.Sprintf("%s%+d:%d", base, c.Offset, c.Size)
	}
	if v >= 0 && int(v) < f.Registers() {
		return f.Arch.Register[v].Name
	}
	return "?"
}

// ValueText writes a value as an expression of so many levels.
func (f *Func) ValueText(v ID, depth int) string {
	if v == 0 {
		return "-"
	}
	x := &f.Values[v]
	switch x.Kind {
	case Const:
		return fmt.Sprintf("%#x:%d", x.N, x.Bits)
	case Entry:
		return "entry." + f.VarName(x.Var)
	case Expr:
		if depth <= 0 {
			return fmt.Sprintf("v%d", v)
		}
		var parts []string
		for _, a := range x.Args {
			if a != 0 {
				parts = append(parts, f.ValueText(a, depth-1))
			}
		}
		if x.Op == ir.Extract {
			parts = append(parts, fmt.Sprint(x.N, ":", x.Bits))
		}
		return x.Op.String() + "(" + strings.Join(parts, ", ") + ")"
	case After:
		return fmt.Sprintf("after(%#x).%s", x.Addr, f.VarName(x.Var))
	}
	return fmt.Sprintf("v%d", v)
}
