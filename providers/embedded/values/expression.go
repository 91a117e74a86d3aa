package values

import (
	"fmt"
	"strings"

	"rea/providers/embedded/ir"
	"rea/providers/embedded/ssa"
)

// Names are what an expression calls things; "" for what has no name.
type Names struct {
	// Address names an address; a string there is its text in quotes.
	Address func(addr uint64) string
	// Callee names what the call at an address calls.
	Callee func(site uint64) string
	// Parameter names the register or frame cell at entry.
	Parameter func(v ssa.Var) string
	SP        int
}

// longest bounds the text of an expression, in bytes; nested bounds its depth.
const (
	longest = 400
	nested  = 12
)

// Expression writes how a value is made, in the manner of C: sp and registers
// with "@entry" are what they held when the function was entered, [a] is memory
// at a, either(…) is one of several by the path taken.
func Expression(f *ssa.Func, v ssa.ID, n *Names) string {
	p := printer{f: f, n: n, on: map[ssa.ID]bool{}}
	p.value(v, 0, false)
	return p.b.String()
}

type printer struct {
	f  *ssa.Func
	n  *Names
	b  strings.Builder
	on map[ssa.ID]bool // phis being written
}

func (p *printer) write(s string) { p.b.WriteString(s) }

// number writes a constant.
func (p *printer) number(n uint64, bits uint16) {
	if bits >= 32 && p.n.Address != nil {
		if name := p.n.Address(n); name != "" {
			p.write(name)
			return
		}
	}
	p.write(Number(n, bits))
}

// Number writes a constant: small ones in decimal, negative ones as such.
func Number(n uint64, bits uint16) string {
	if s := signExtend(n, bits); bits > 1 && s < 0 && s >= -4096 {
		if s > -10 {
			return fmt.Sprint(s)
		}
		return fmt.Sprintf("-0x%x", -s)
	}
	if n < 10 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("0x%x", n)
}

func signExtend(n uint64, bits uint16) int64 {
	if bits >= 64 || bits == 0 {
		return int64(n)
	}
	return int64(n<<(64-bits)) >> (64 - bits)
}

var infix = map[ir.Op]string{ir.Add: "+", ir.Sub: "-", ir.Mul: "*", ir.DivU: "/", ir.RemU: "%", ir.And: "&", ir.Or: "|", ir.Xor: "^", ir.Shl: "<<", ir.ShrU: ">>",
	ir.Eq: "==", ir.Ne: "!=", ir.LtU: "<", ir.LeU: "<="}

var functions = map[ir.Op]string{ir.DivS: "signed_div", ir.RemS: "signed_rem", ir.ShrS: "arithmetic_shift_right", ir.RotL: "rotate_left", ir.RotR: "rotate_right",
	ir.LtS: "signed_less", ir.LeS: "signed_less_or_equal", ir.Concat: "join", ir.PopCount: "count_ones", ir.CountLeading: "leading_zeros",
	ir.CountTrailing: "trailing_zeros", ir.ReverseBits: "reverse_bits", ir.ReverseBytes: "reverse_bytes"}

func (p *printer) value(v ssa.ID, depth int, inner bool) {
	if v == 0 || depth > nested || p.b.Len() > longest {
		p.write("…")
		return
	}
	x := &p.f.Values[v]
	switch x.Kind {
	case ssa.Const:
		p.number(x.N, x.Bits)
	case ssa.Entry:
		p.entry(x.Var)
	case ssa.After:
		p.after(x)
	case ssa.Load:
		p.write("[")
		p.value(x.Args[0], depth+1, false)
		p.write("]")
		if x.Bits != p.f.Arch.Bits {
			p.write(fmt.Sprintf(":%d", x.Bits))
		}
	case ssa.Phi:
		p.phi(v, depth)
	case ssa.Expr:
		p.expr(x, depth, inner)
	default:
		p.write("unknown")
	}
}

func (p *printer) entry(v ssa.Var) {
	if int(v) == p.n.SP {
		p.write("sp@entry")
		return
	}
	if p.n.Parameter != nil {
		if name := p.n.Parameter(v); name != "" {
			p.write(name)
			return
		}
	}
	if c := p.f.CellOf(v); c != nil {
		p.write(fmt.Sprintf("[sp@entry %s]", offset(c.Offset)))
		return
	}
	p.write(p.f.VarName(v) + "@entry")
}

func offset(n int64) string {
	if n < 0 {
		return fmt.Sprintf("- 0x%x", -n)
	}
	return fmt.Sprintf("+ 0x%x", n)
}

func (p *printer) after(x *ssa.Value) {
	e := &p.f.Values[x.Args[0]]
	name := p.f.VarName(x.Var)
	if c := p.f.CellOf(x.Var); c != nil {
		name = fmt.Sprintf("[sp@entry %s]", offset(c.Offset))
	}
	if e.Kind == ssa.Call && p.n.Callee != nil {
		if callee := p.n.Callee(e.Addr); callee != "" {
			p.write(fmt.Sprintf("(%s after %s() at 0x%x)", name, callee, e.Addr))
			return
		}
	}
	p.write(fmt.Sprintf("(%s after 0x%x)", name, e.Addr))
}

func (p *printer) phi(v ssa.ID, depth int) {
	if p.on[v] {
		p.write("itself")
		return
	}
	p.on[v] = true
	defer delete(p.on, v)
	p.write("either(")
	list := p.f.List(v)
	seen := map[ssa.ID]bool{}
	n := 0
	for _, a := range list {
		if seen[a] || a == v {
			continue
		}
		seen[a] = true
		if n > 0 {
			p.write(", ")
		}
		if n++; n > 4 {
			p.write("…")
			break
		}
		p.value(a, depth+2, false)
	}
	p.write(")")
}

func (p *printer) expr(x *ssa.Value, depth int, inner bool) {
	args := func() {
		p.write("(")
		for k, a := range x.Args {
			if a == 0 {
				break
			}
			if k > 0 {
				p.write(", ")
			}
			p.value(a, depth+1, false)
		}
		p.write(")")
	}
	switch {
	case x.Op == ir.Add && p.f.Values[x.Args[1]].Kind == ssa.Const && signExtend(p.f.Values[x.Args[1]].N, x.Bits) < 0:
		p.open(inner)
		p.value(x.Args[0], depth+1, true)
		p.write(" - " + Number(uint64(-signExtend(p.f.Values[x.Args[1]].N, x.Bits)), 64))
		p.close(inner)
	case infix[x.Op] != "":
		p.open(inner)
		p.value(x.Args[0], depth+1, true)
		p.write(" " + infix[x.Op] + " ")
		p.value(x.Args[1], depth+1, true)
		p.close(inner)
	case x.Op == ir.Zext:
		p.value(x.Args[0], depth, inner)
	case x.Op == ir.Sext:
		p.write(fmt.Sprintf("s%d", x.Bits))
		args()
	case x.Op == ir.Extract && x.N == 0:
		p.write(fmt.Sprintf("u%d", x.Bits))
		args()
	case x.Op == ir.Extract:
		p.write(fmt.Sprintf("bits[%d:%d]", x.N, x.N+uint64(x.Bits)))
		args()
	case x.Op == ir.Not:
		p.write("~")
		p.value(x.Args[0], depth+1, true)
	case x.Op == ir.Neg:
		p.write("-")
		p.value(x.Args[0], depth+1, true)
	case x.Op == ir.Select:
		p.open(inner)
		p.value(x.Args[0], depth+1, true)
		p.write(" ? ")
		p.value(x.Args[1], depth+1, true)
		p.write(" : ")
		p.value(x.Args[2], depth+1, true)
		p.close(inner)
	case functions[x.Op] != "":
		p.write(functions[x.Op])
		args()
	default:
		p.write(x.Op.String())
		args()
	}
}

func (p *printer) open(inner bool) {
	if inner {
		p.write("(")
	}
}

func (p *printer) close(inner bool) {
	if inner {
		p.write(")")
	}
}

// Affine is v as a leaf plus a constant; ok is false when it is anything else.
func Affine(f *ssa.Func, v ssa.ID) (leaf ssa.ID, offset int64, ok bool) {
	for range 8 {
		x := &f.Values[v]
		switch {
		case x.Kind.Leaf():
			return v, offset, true
		case x.Kind == ssa.Expr && x.Op == ir.Add && f.Values[x.Args[1]].Kind == ssa.Const:
			offset += signExtend(f.Values[x.Args[1]].N, x.Bits)
			v = x.Args[0]
		default:
			return 0, 0, false
		}
	}
	return 0, 0, false
}

// Part is what bits of v, from low on, can be in a block.
func (a *Analysis) Part(v ssa.ID, block int32, low, width uint16) Set {
	x := &a.f.Values[v]
	if x.Kind == ssa.Expr && x.Op == ir.Zext && low == 0 && width == a.f.Values[x.Args[0]].Bits {
		return a.At(x.Args[0], block)
	}
	return extract(a.At(v, block), low, width)
}
