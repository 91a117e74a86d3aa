package ir

import (
	"fmt"
	"strings"
)

// Text writes code one statement a line, with the register names of arch.
func (c *Code) Text(arch *Arch) string {
	var b strings.Builder
	for i := range c.Insts {
		in := &c.Insts[i]
		if in.Op == Opaque {
			e := &c.Effects[in.Effect]
			fmt.Fprintf(&b, "opaque %s writes(%s) reads(%s)", e.Name, values(arch, e.Writes), values(arch, e.Reads))
			if e.ReadsMemory {
				b.WriteString(" reads memory")
			}
			if e.WritesMemory {
				b.WriteString(" writes memory")
			}
			b.WriteByte('\n')
			continue
		}
		if in.Dst.Kind != None {
			fmt.Fprintf(&b, "%s:%d = ", in.Dst.text(arch), in.Dst.Bits)
		}
		b.WriteString(in.Op.String())
		for k, v := range []Value{in.A, in.B, in.C} {
			if v.Kind == None {
				break
			}
			if k > 0 {
				b.WriteByte(',')
			}
			b.WriteByte(' ')
			b.WriteString(v.text(arch))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func values(arch *Arch, vs []Value) string {
	var out []string
	for _, v := range vs {
		out = append(out, v.text(arch))
	}
	return strings.Join(out, " ")
}

func (v Value) text(arch *Arch) string {
	switch v.Kind {
	case Const:
		return fmt.Sprintf("%#x:%d", v.N, v.Bits)
	case Reg:
		if v.N < uint64(len(arch.Register)) {
			return arch.Register[v.N].Name
		}
	case Temp:
		return fmt.Sprintf("t%d", v.N)
	}
	return "?"
}
