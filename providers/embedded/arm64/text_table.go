package arm64

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// tableGroup prints an instruction of the form tables.
func (p *printer) tableGroup() string {
	f, variant := vectorForms().find(p.w)
	if f == nil {
		return ""
	}
	s := f.operands
	for s != "" {
		switch c := s[0]; c {
		case '<':
			end := strings.IndexByte(s, '>')
			p.slot(s[1:end])
			s = s[end+1:]
		case '@':
			p.text(variant[0])
			variant = variant[1:]
			s = s[1:]
		case '{':
			end := strings.IndexByte(s, '}')
			if count, ok := listCount(s[:end]); ok {
				variant = p.list(s[1:end], count, variant)
				s = s[end+1:]
				continue
			}
			p.out = append(p.out, c)
			s = s[1:]
		case ',':
			p.comma()
			s = s[1:]
		default:
			p.out = append(p.out, c)
			s = s[1:]
		}
	}
	return p.alias(f.name)
}

// listCount is the number of registers of a list written {register*count}.
func listCount(s string) (uint32, bool) {
	i := strings.LastIndexByte(s, '*')
	if i < 0 || i+2 != len(s) || strings.LastIndexByte(s, '>') > i {
		return 0, false
	}
	return uint32(s[i+1] - '0'), true
}

// list prints a register list; s is its first register, as in the table.
func (p *printer) list(s string, count uint32, variant []string) []string {
	s = s[:strings.LastIndexByte(s, '*')]
	open, end := strings.IndexByte(s, '<'), strings.IndexByte(s, '>')
	first := uint32(p.value(s[open+2 : end]))
	suffix := s[end+1:]
	if strings.Contains(suffix, "@") {
		suffix = strings.Replace(suffix, "@", variant[0], 1)
		variant = variant[1:]
	}
	one := func(k uint32) {
		p.text(s[:open])
		p.number(int64((first + k) & 31))
		p.text(suffix)
	}
	p.out = append(p.out, '{')
	one(0)
	if count > 2 && first+count <= 32 {
		p.out = append(p.out, '-')
		one(count - 1)
	} else {
		for k := uint32(1); k < count; k++ {
			p.comma()
			one(k)
		}
	}
	p.out = append(p.out, '}')
	return variant
}

// slot prints one number of the operands.
func (p *printer) slot(s string) {
	kind, spec := s[0], s[1:]
	stack := spec != "" && spec[0] == 's'
	if stack {
		spec = spec[1:]
	}
	if kind == 'F' && spec[0] == 'E' {
		p.text(p.listed(spec[1:]))
		return
	}
	switch kind {
	case 'I', 'U', 'B', 'T', 'Q', 'O':
		p.scalableImmediate(kind)
		return
	}
	v := p.value(spec)
	switch kind {
	case 'N':
		p.number(v)
	case 'H':
		p.hex(uint64(v))
	case 'X', 'W':
		if stack {
			p.regSP(kind == 'X', uint32(v))
		} else {
			p.reg(kind == 'X', uint32(v))
		}
	case 'F':
		p.float(v)
	case 'C':
		p.text(conditions[v&15])
	case 'P':
		p.text(constraint(v))
	case 'R':
		if v>>1&3 == 3 {
			p.decimal(v)
			return
		}
		p.text([2]string{"pld", "pst"}[v>>3&1] + [3]string{"l1", "l2", "l3"}[v>>1&3] + [2]string{"keep", "strm"}[v&1])
	case 'Z':
		p.tiles(uint32(v))
	}
}

// scalableImmediate prints the immediates particular to scalable vectors.
func (p *printer) scalableImmediate(kind byte) {
	w := p.w
	switch kind {
	case 'I':
		p.number(signed(w, 5, 8) << (w >> 13 & 1 * 8))
	case 'U':
		p.number(int64(w>>5&0xff) << (w >> 13 & 1 * 8))
	case 'O':
		if pattern := int64(w >> 5 & 31); pattern != 31 {
			p.comma()
			p.text(constraint(pattern))
		}
	case 'Q': // the pattern and multiplier of a count, where they are not the defaults
		pattern, factor := int64(w>>5&31), w>>16&15
		if pattern != 31 || factor != 0 {
			p.comma()
			p.text(constraint(pattern))
		}
		if factor != 0 {
			p.text(", mul ")
			p.decimal(int64(factor + 1))
		}
	case 'B':
		v, _, _ := elementMask(w)
		p.hex(v)
	case 'T':
		_, n, _ := elementMask(w)
		p.out = append(p.out, map[uint]byte{1: 'b', 2: 'h', 4: 's', 8: 'd'}[n])
	}
}

// tiles prints the tiles that a mask of eight 64-bit tiles covers, widest first.
func (p *printer) tiles(mask uint32) {
	if mask == 0xff {
		p.text("za")
		return
	}
	first := true
	for _, t := range []struct {
		suffix string
		n      uint32
		cover  uint32
	}{{".h", 2, 0x55}, {".s", 4, 0x11}, {".d", 8, 0x01}} {
		for i := range t.n {
			if c := t.cover << i; mask&c == c {
				if !first {
					p.comma()
				}
				first = false
				p.text("za")
				p.number(int64(i))
				p.text(t.suffix)
				mask &^= c
			}
		}
	}
}

// constraint names the predicate constraint of an SVE count.
func constraint(v int64) string {
	switch {
	case v == 0:
		return "pow2"
	case v <= 8:
		return "vl" + strconv.FormatInt(v, 10)
	case v <= 13:
		return "vl" + strconv.FormatInt(16<<(v-9), 10)
	case v == 29:
		return "mul4"
	case v == 30:
		return "mul3"
	case v == 31:
		return "all"
	}
	return "#" + strconv.FormatInt(v, 10)
}

// float prints an eight-bit floating-point immediate.
func (p *printer) float(v int64) {
	f := float64(16+v&15) / 16
	e := int(v>>4&7) ^ 4
	f = math.Ldexp(f, e-3)
	if v>>7&1 == 1 {
		f = -f
	}
	p.out = strconv.AppendFloat(p.out, f, 'e', 18, 64)
}

// value evaluates the VALUE of a slot for the word.
func (p *printer) value(spec string) int64 {
	if spec[0] == 'E' {
		v, _ := strconv.ParseInt(p.listed(spec[1:]), 10, 64)
		return v
	}
	spec, modulus, _ := strings.Cut(spec, "%")
	var sum int64
	for spec != "" {
		sign := int64(1)
		switch spec[0] {
		case '-':
			sign = -1
			spec = spec[1:]
		case '+':
			spec = spec[1:]
		}
		end := 1
		for end < len(spec) && spec[end] != '+' && !(spec[end] == '-' && spec[end-1] != '*') {
			end++
		}
		term := spec[:end]
		spec = spec[end:]
		field, scaleText, scaled := strings.Cut(term, "*")
		low, width, isField := strings.Cut(field, ":")
		n, _ := strconv.ParseInt(low, 10, 64)
		if isField {
			size, _ := strconv.ParseInt(width, 10, 64)
			n = int64(p.w >> n & (1<<size - 1))
		}
		if scaled {
			scale, err := strconv.ParseInt(scaleText, 10, 64)
			if err != nil { // the top byte of a mask
				top, _ := strconv.ParseUint(scaleText, 10, 64)
				scale = int64(top)
			}
			n *= scale
		}
		sum += sign * n
	}
	if modulus != "" {
		m, _ := strconv.ParseInt(modulus, 10, 64)
		sum %= m
	}
	return sum
}

// listed is the value that an E list has for the word.
func (p *printer) listed(spec string) string {
	bits, values, _ := strings.Cut(spec, "=")
	n, i := 0, 0
	for b := range strings.SplitSeq(bits, ",") {
		k, _ := strconv.Atoi(b)
		n |= int(p.w>>k&1) << i
		i++
	}
	for v := range strings.SplitSeq(values, "/") {
		if n == 0 {
			return v
		}
		n--
	}
	return ""
}

// alias replaces an instruction of the form tables by its preferred alias.
func (p *printer) alias(name string) string {
	w := p.w
	switch {
	case w>>25&15 == 2 || w>>25&15 == 0: // scalable vectors keep their names
	case name == "orr" && w>>21&1 == 1 && rn(w) == rm(w):
		p.dropLast()
		return "mov"
	case name == "umov" && (w>>30&1 == 1 || w>>16&7 == 4):
		return "mov"
	case name == "ins", name == "dup" && w>>28&1 == 1:
		return "mov"
	case name == "not":
		return "mvn"
	case (name == "sshll" || name == "sshll2" || name == "ushll" || name == "ushll2") && w>>16&7 == 0 && bits.OnesCount32(w>>19&15) == 1:
		p.dropLast()
		return name[:1] + "xtl" + name[5:]
	}
	return name
}

// dropLast removes the last operand.
func (p *printer) dropLast() {
	p.out = p.out[:strings.LastIndex(string(p.out), ", ")]
}
