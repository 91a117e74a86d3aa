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

func (n namer) procedures(dimension string, p *model.ProcedurePage) facts {
	f := list(dimension, nil, p.Offset, p.Total)
	for _, proc := range p.Items {
		name := proc.Name
		if !proc.Named && !n.same {
			name = nobody
			f.anonymous++
		}
		f.items = append(f.items, name)
	}
	f.whole = f.absent == "" && p.Offset == 0 && int64(len(f.items)) == f.total
	return f
}

func (n namer) references(p *model.ReferencePage) facts {
	f := list(dimReferences, nil, p.Offset, p.Total)
	for _, r := range p.Items {
		name, known := n.target(r.To, r.ToName)
		if !known {
			f.anonymous++
		}
		f.items = append(f.items, string(r.Kind)+" "+name)
	}
	f.whole = f.absent == "" && p.Offset == 0 && int64(len(f.items)) == f.total
	return f
}

func (n namer) used(dimension string, p *model.NamedPage) facts {
	f := list(dimension, nil, p.Offset, p.Total)
	for _, u := range p.Items {
		value := u.Value
		if !n.same && madeFrom(value, u.Address) {
			value = nobody
			f.anonymous++
		}
		f.items = append(f.items, value)
	}
	f.whole = f.absent == "" && p.Offset == 0 && int64(len(f.items)) == f.total
	return f
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
	f := list(dimAssembly, nil, page.Offset, page.Total)
	f.ordered = true
	labels := labelsOf(o.Ranges, page.Items)
	for i := range page.Items {
		in := &page.Items[i]
		operands := in.Operands
		if in.Target != nil {
			label, inside := slices.BinarySearch(labels, in.Target.Address)
			name, known := "", true
			if inside {
				name = "label " + strconv.Itoa(label)
			} else if name, known = n.target(in.Target.Address, in.Target.Name); !known {
				f.anonymous++
			}
			operands = withoutAddress(in, name)
		}
		f.items = append(f.items, strings.TrimSpace(in.Mnemonic+" "+operands))
	}
	f.whole = f.absent == "" && page.Offset == 0 && int64(len(f.items)) == f.total
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
