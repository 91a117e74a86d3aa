package analysis

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rea/generated/model"
	"rea/generated/tool"
)

// namer says what things are called where addresses cannot be compared.
type namer struct{ same bool } // both records are of the same bytes

const nobody = "(unnamed)"

// rows makes facts of a page, whose rows a function names if they can be told
// from one another.
func rows[T any](dimension string, items []T, offset int64, total *int64, name func(*T) (text string, known bool)) facts {
	texts := make([]string, len(items))
	anonymous := 0
	for i := range items {
		known := false
		if texts[i], known = name(&items[i]); !known {
			anonymous++
		}
	}
	f := list(dimension, texts, offset, total)
	f.anonymous = anonymous
	return f
}

func (n namer) procedures(dimension string, p *model.ProcedurePage) facts {
	return rows(dimension, p.Items, p.Offset, p.Total, func(proc *model.Procedure) (string, bool) {
		if !proc.Named && !n.same {
			return nobody, false
		}
		return proc.Name, true
	})
}

func (n namer) references(p *model.ReferencePage) facts {
	return rows(dimReferences, p.Items, p.Offset, p.Total, func(r *model.Reference) (string, bool) {
		name, known := n.target(r.To, r.ToName)
		return string(r.Kind) + " " + name, known
	})
}

func (n namer) used(dimension string, p *model.NamedPage) facts {
	return rows(dimension, p.Items, p.Offset, p.Total, func(u *model.UsedValue) (string, bool) {
		if !n.same && madeFrom(u.Value, u.Address) {
			return nobody, false
		}
		return u.Value, true
	})
}

// target names a place outside of the function.
func (n namer) target(addr model.Address, name *string) (text string, known bool) {
	switch {
	case n.same:
		return addr.String(), true
	case name == nil || madeFrom(*name, addr):
		return nobody, false
	}
	return *name, true
}

// madeFrom tells names such as sub_401000, which engines make from the address.
func madeFrom(name string, addr model.Address) bool {
	n, err := strconv.ParseUint(name[strings.LastIndexByte(name, '_')+1:], 16, 64)
	return err == nil && n == uint64(addr)
}

// assembly writes instructions without the addresses in them: a jump inside of
// the function goes to the nth target from the start, anything else to a name.
func (n namer) assembly(o *tool.AnalyzeFunctionOutput) facts {
	if o.Assembly == nil {
		return facts{dimension: dimAssembly, absent: "analyze_function was not asked for instructions"}
	}
	page := o.Assembly
	labels := labelsOf(o.Ranges, page.Items)
	f := rows(dimAssembly, page.Items, page.Offset, page.Total, func(in *model.Instruction) (string, bool) {
		if in.Target == nil {
			return strings.TrimSpace(in.Mnemonic + " " + in.Operands), true
		}
		var name string
		known := true
		if label, inside := slices.BinarySearch(labels, in.Target.Address); inside {
			name = "label " + strconv.Itoa(label)
		} else {
			name, known = n.target(in.Target.Address, in.Target.Name)
		}
		return in.Mnemonic + " " + withoutAddress(in, name), known
	})
	f.ordered = true
	return f
}

// labelsOf lists what instructions refer to inside of the function.
func labelsOf(ranges []model.AddressRange, items []model.Instruction) []model.Address {
	var out []model.Address
	for i := range items {
		t := items[i].Target
		if t != nil && slices.ContainsFunc(ranges, func(r model.AddressRange) bool { return r.Start <= t.Address && t.Address < r.End }) {
			out = append(out, t.Address)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var (
	hexNumber = regexp.MustCompile(`0x[0-9a-fA-F]+`)
	ripOffset = regexp.MustCompile(`rip\s*[+-]\s*0x[0-9a-fA-F]+`)
	armOffset = regexp.MustCompile(`#-?(0x[0-9a-fA-F]+|[0-9]+)`)
)

// withoutAddress replaces what in the operands stands for the target. Other
// constants are facts of the function and stay.
func withoutAddress(in *model.Instruction, name string) string {
	own := in.Target.Address.String()
	found := false
	text := hexNumber.ReplaceAllStringFunc(withoutLabel(in, own), func(number string) string {
		if strings.EqualFold(number, own) {
			found = true
			return name
		}
		return number
	})
	if !found && ripOffset.MatchString(text) {
		text, found = ripOffset.ReplaceAllLiteralString(text, "rip + "+name), true
	}
	if !found && armOffset.MatchString(text) {
		text, found = armOffset.ReplaceAllLiteralString(text, name), true
	}
	if !found && strings.HasPrefix(in.Mnemonic, "adr") {
		text, found = hexNumber.ReplaceAllLiteralString(text, name), true
	}
	if !found {
		text += " ; " + name
	}
	return text
}

// withoutLabel takes away the name that listings write behind an address, as in
// "0x401136 <main>": it may be made from the address.
func withoutLabel(in *model.Instruction, own string) string {
	before, after, found := strings.Cut(in.Operands, own+" <")
	if !found {
		return in.Operands
	}
	if in.Target.Name != nil && strings.HasPrefix(after, *in.Target.Name+">") { // which may have angle brackets itself
		return before + own + after[len(*in.Target.Name)+1:]
	}
	return before + own + after[strings.LastIndexByte(after, '>')+1:]
}
