package arm64

import (
	"strings"

	"rea/providers/embedded/ir"
)

// effect is an ir.Effect under construction.
type effect struct {
	ir.Effect
	written map[uint64]bool
}

func (e *effect) reads(v ir.Value) { e.Reads = append(e.Reads, v) }

func (e *effect) writes(v ir.Value) {
	if !e.written[v.N] {
		e.written[v.N] = true
		e.Writes = append(e.Writes, v)
	}
}

func (e *effect) writesFlags() {
	for f := regN; f <= regV; f++ {
		e.writes(arch.Reg(f))
	}
}

func (e *effect) writesVectors() {
	for i := range 32 {
		e.writes(arch.Reg(regVec0 + i))
	}
	e.writes(arch.Reg(regScalable))
}

// opaque translates what is not modelled: decoding and the operands tell which
// registers are read and written.
func (d *Decoder) opaque(l *lifter) {
	b := []byte{byte(l.w), byte(l.w >> 8), byte(l.w >> 16), byte(l.w >> 24)}
	name, _ := d.Text(b, l.in.Addr, nil)
	e := effect{ir.Effect{Name: name}, map[uint64]bool{}}
	for r := range 32 {
		if l.in.Reads>>r&1 == 1 {
			e.reads(arch.Reg(r))
		}
		if l.in.Writes>>r&1 == 1 {
			e.writes(arch.Reg(r))
		}
	}
	switch l.w >> 25 & 15 {
	case 0b1010, 0b1011:
		e.system(name)
	case 0b0100, 0b0110, 0b1100, 0b1110:
		if d.extension(l.w) {
			e.extension(d, l)
		} else {
			e.access(l, name)
		}
	case 0b0111, 0b1111, 0b0010, 0b0000:
		e.vector(d, l, name)
	default: // crc32, memory tags, pointer authentication
		e.reads(arch.Reg(regSystem))
		if name == "subps" || name == "cmpp" {
			e.writesFlags()
		}
	}
	l.Opaque(e.Effect)
}

func (e *effect) system(name string) {
	e.reads(arch.Reg(regSystem))
	e.writes(arch.Reg(regSystem))
	switch {
	case strings.HasPrefix(name, "sm"): // smstart and smstop clear the vectors
		e.writesVectors()
	case name == "xaflag", name == "axflag", name == "msr":
		e.writesFlags()
	case name == "mrs": // random numbers set the flags
		e.writesFlags()
	case name == "dc", name == "sys":
		e.ReadsMemory, e.WritesMemory = true, true
	}
}

// access is loads and stores that are not modelled.
func (e *effect) access(l *lifter, name string) {
	load := strings.HasPrefix(name, "ld")
	e.ReadsMemory = load || strings.HasPrefix(name, "cpy")
	e.WritesMemory = !load
	if strings.HasPrefix(name, "cpy") || strings.HasPrefix(name, "set") {
		e.writesFlags()
	}
	if l.w>>26&1 == 0 || l.w>>27&7 != 1 {
		e.reads(arch.Reg(regSystem))
		return
	}
	// Structures of one to four registers.
	n := uint32(name[2] - '0')
	if n < 1 || n > 4 {
		n = 4
	}
	for i := range n {
		v := arch.Reg(regVec0 + int((rd(l.w)+i)&31))
		if lane := l.w>>24&1 == 1; lane || !load {
			e.reads(v)
		}
		if load {
			e.writes(v)
		}
	}
}

// extension is memory instructions of the form tables: what they do with
// vectors is not told apart, and most of them exchange.
func (e *effect) extension(d *Decoder, l *lifter) {
	f, _ := d.forms.find(l.w)
	if f == nil {
		return
	}
	p := printer{w: l.w}
	for _, r := range f.vectors() {
		v := arch.Reg(regVec0 + int(p.value(r.spec)&31))
		e.reads(v)
		e.writes(v)
	}
	e.reads(arch.Reg(regSystem))
	e.writesFlags() // by the checks of translation tables
	e.ReadsMemory, e.WritesMemory = true, true
}

// vector is instructions of the form tables. The first operand is written
// unless it is compared or stored.
func (e *effect) vector(d *Decoder, l *lifter, name string) {
	f, _ := d.forms.find(l.w)
	if f == nil {
		return
	}
	scalable := l.w>>25&15 == 0b0010 || l.w>>25&15 == 0
	compares := strings.HasPrefix(f.name, "fcmp") && !scalable || strings.HasPrefix(f.name, "fccmp")
	if compares {
		e.writesFlags()
		for i := regN; i <= regV; i++ {
			e.reads(arch.Reg(i))
		}
	}
	if f.name == "fcsel" {
		for i := regN; i <= regV; i++ {
			e.reads(arch.Reg(i))
		}
	}
	stores := strings.HasPrefix(f.name, "st") || strings.HasPrefix(f.name, "prf")
	// Scalar floating point replaces the whole destination, but for the move
	// into an upper half; so does vector arithmetic that does not accumulate.
	replaces := l.w>>24&0x7e == 0x1e && l.w>>16 != 0x9eaf || !scalable && !accumulates(f.name)
	p := printer{w: l.w}
	for i, r := range f.vectors() {
		n := uint64(p.value(r.spec))
		for k := range uint64(r.count) {
			v := arch.Reg(regVec0 + int((n+k)&31))
			written := i == 0 && r.first && !compares && !stores
			if !written || !replaces {
				e.reads(v)
			}
			if written {
				e.writes(v)
			}
		}
	}
	if !scalable {
		return
	}
	e.reads(arch.Reg(regScalable))
	e.writes(arch.Reg(regScalable))
	e.writesFlags() // predicate results set them
	e.ReadsMemory = strings.Contains(f.operands, "[")
	e.WritesMemory = strings.HasPrefix(f.name, "st")
}

// accumulates says whether an instruction of the vector unit makes use of its
// destination, as it was, or keeps part of it.
func accumulates(name string) bool {
	if strings.HasSuffix(name, "n2") { // narrows into the upper half
		return true
	}
	for _, p := range [...]string{"mla", "mls", "fmla", "fmls", "fcmla", "smla", "smls", "umla", "umls", "sqdml", "sqrdml", "sdot", "udot", "usdot", "sudot", "bf", "smmla", "ummla",
		"usmmla", "fmmla", "fdot", "ins", "mov", "fmov", "bif", "bit", "bsl", "tbx", "sli", "sri", "ssra", "usra", "srsra", "ursra", "saba", "uaba", "sadalp", "uadalp", "aes", "sha", "sm3", "sm4",
		"suqadd", "usqadd", "ld"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// vectorOperand is a vector register operand of a form.
type vectorOperand struct {
	spec  string
	count uint8
	first bool // of the operands
}

// vectors lists the vector registers of a form.
func (f *form) vectors() []vectorOperand {
	var out []vectorOperand
	s := f.operands
	for i := 0; i < len(s); i++ {
		if s[i] != '<' {
			continue
		}
		end := i + strings.IndexByte(s[i:], '>')
		slot := s[i+1 : end]
		if i > 0 && slot[0] == 'N' && strings.IndexByte("vzqdshb@", s[i-1]) >= 0 && (i == 1 || strings.IndexByte(",{[ ", s[i-2]) >= 0) {
			o := vectorOperand{spec: strings.TrimLeft(slot[1:], " "), count: 1, first: i <= 2}
			if i > 1 && s[i-2] == '{' {
				if n, ok := listCount(s[i-2 : i-2+strings.IndexByte(s[i-2:], '}')]); ok {
					o.count = uint8(n)
				}
			}
			out = append(out, o)
		}
		i = end
	}
	return out
}
