package arm64

import (
	_ "embed"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Floating-point, vector and matrix instructions, and later memory instructions,
// are data: tables/simd.txt, tables/sve.txt and tables/extensions.txt say which
// encodings exist and how they are written.
//
//	PATTERN MNEMONIC [OPERANDS] [| VARIANT…]
//
// PATTERN is the word from bit 31 down: 0 and 1 are fixed, `.` is an operand
// bit, `v` a bit that selects the variant. A variant, `N=TEXT/TEXT…`, has the
// value of its v bits (the lowest bit first) and the texts that stand for each
// `@` of the operands; values that are not listed are unallocated.
//
// In OPERANDS, <KIND VALUE> is a number from the word. Kinds: N decimal, H hex,
// X and W a general register (Xs and Ws where 31 is the stack pointer), F an
// eight-bit floating-point immediate, C a condition, P a predicate constraint,
// R an SVE prefetch operation, I and U an SVE immediate with an optional shift,
// signed or not, B and T a bit-mask immediate and its element, O the optional pattern of
// a predicate, Q that and the multiplier of a count, Z a set of tiles. VALUE is a sum of fields `LOW:WIDTH`, each
// optionally `*SCALE`, and of a constant, taken modulo `%M` when that is given;
// or `E` bits `=` values, which lists the value of every combination of bits.
// `{v1.4s*3}` is a list of three consecutive registers.
//
//go:embed tables/simd.txt
var simdTable string

//go:embed tables/sve.txt
var sveTable string

//go:embed tables/extensions.txt
var extensionTable string

// form is one line of a table.
type form struct {
	name     string
	operands string
	variants [][]string // by variant number; nil: unallocated
	bits     []uint8    // positions of the variant bits
	general  []general  // general registers among the operands
	offset   string     // of the memory operand or, where it comes after it, of the base: a VALUE
	before   bool       // the base is written, with the offset in it
	after    bool       // the base is written after the access
}

// general is a general register operand of a form.
type general struct {
	low    uint8 // position of the field
	stack  bool  // 31 is the stack pointer
	wide   bool
	reads  bool
	writes bool
	base   bool // first register of a memory operand
	index  bool // second
}

// match is what decoding needs of a form: a word is one of it when the fixed
// bits agree and the variant exists.
type match struct {
	mask, value uint32
	form        uint16
	varied      bool
	notZR       uint8 // position of a register field that must not be 31; 0: none
	bitMask     bool  // bits 17 to 5 must be a bit-mask immediate
}

// formTable finds forms by the top eleven bits of a word.
type formTable struct {
	forms   []form
	buckets [1 << 11][]match
}

const bucketShift = 21

var vectorForms = sync.OnceValue(func() *formTable {
	t, err := parseForms(simdTable, sveTable, extensionTable)
	if err != nil {
		return &formTable{} // TestTables reports it; without forms nothing is allocated
	}
	return t
})

func parseForms(tables ...string) (*formTable, error) {
	t := &formTable{}
	for _, table := range tables {
		n := 0
		for s := range strings.Lines(table) {
			n++
			s = strings.TrimSpace(s)
			if s == "" || s[0] == '#' {
				continue
			}
			if err := t.add(s); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
		}
	}
	// The more specific of two forms that fit is meant.
	for i := range t.buckets {
		slices.SortStableFunc(t.buckets[i], func(a, b match) int { return bits.OnesCount32(b.mask) - bits.OnesCount32(a.mask) })
	}
	return t, nil
}

func (t *formTable) add(s string) error {
	body, variants, varied := strings.Cut(s, " | ")
	words := strings.Fields(body)
	if len(words) < 2 || len(words) > 3 || len(words[0]) != 32 {
		return fmt.Errorf("%q", s)
	}
	f := form{name: words[1]}
	if len(words) == 3 {
		f.operands = words[2]
	}
	m := match{form: uint16(len(t.forms)), varied: varied}
	for i, c := range words[0] {
		bit := uint32(1) << (31 - i)
		switch c {
		case '0':
			m.mask |= bit
		case '1':
			m.mask, m.value = m.mask|bit, m.value|bit
		case 'v':
			f.bits = append(f.bits, uint8(31-i))
		case 'r':
			m.notZR = uint8(31 - i) // the last of the field stays
		case 'b':
			m.bitMask = true
		case '.':
		default:
			return fmt.Errorf("pattern %q", words[0])
		}
	}
	slices.Reverse(f.bits)
	if varied {
		f.variants = make([][]string, 1<<len(f.bits))
		for v := range strings.FieldsSeq(variants) {
			k, texts, ok := strings.Cut(v, "=")
			n, err := strconv.ParseUint(k, 10, 16)
			if !ok || err != nil || n >= uint64(len(f.variants)) {
				return fmt.Errorf("variant %q", v)
			}
			f.variants[n] = strings.Split(texts, "/")
		}
	}
	f.general = generals(f.name, f.operands)
	f.displacement()
	t.forms = append(t.forms, f)
	fixed, value := m.mask>>bucketShift, m.value>>bucketShift
	free := ^fixed & (1<<11 - 1)
	for b := free; ; b = (b - 1) & free { // every subset of the free bits
		t.buckets[b|value] = append(t.buckets[b|value], m)
		if b == 0 {
			return nil
		}
	}
}

// find returns the form of a word and its variant.
func (t *formTable) find(w uint32) (*form, []string) {
	for _, m := range t.buckets[w>>bucketShift] {
		if w&m.mask != m.value {
			continue
		}
		f := &t.forms[m.form]
		if m.notZR != 0 && w>>m.notZR&31 == 31 {
			continue
		}
		if m.bitMask {
			if _, _, ok := elementMask(w); !ok {
				return nil, nil
			}
		}
		if !m.varied {
			return f, nil
		}
		n := 0
		for i, b := range f.bits {
			n |= int(w>>b&1) << i
		}
		if v := f.variants[n]; v != nil {
			return f, v
		}
	}
	return nil, nil
}

// generals finds the general registers of a form. The first operand is written
// unless the instruction has no destination; counts that are incremented in
// place are read as well.
func generals(name, operands string) []general {
	var out []general
	inMemory, seen := false, 0
	for i := 0; i < len(operands); i++ {
		switch operands[i] {
		case '[':
			inMemory, seen = true, 0
		case ']':
			inMemory = false
		case '<':
			end := i + strings.IndexByte(operands[i:], '>')
			slot := operands[i+1 : end]
			if slot[0] != 'X' && slot[0] != 'W' {
				continue
			}
			g := general{wide: slot[0] == 'X', stack: slot[1] == 's', reads: true}
			low, _, _ := strings.Cut(strings.TrimLeft(slot[1:], "s "), ":")
			n, err := strconv.ParseUint(low, 10, 8)
			if err != nil {
				continue
			}
			g.low = uint8(n)
			if inMemory {
				g.base, g.index = seen == 0, seen > 0
				seen++
			} else {
				g.reads, g.writes = tableAccess(name, len(out), i == 0)
			}
			out = append(out, g)
		}
	}
	return out
}

// tableAccess is what an instruction does with the general register it names at a
// place, counted from 0: it reads it, and writes it when it is the first operand,
// but for memory instructions.
func tableAccess(name string, place int, first bool) (reads, writes bool) {
	switch {
	case strings.HasPrefix(name, "rcw") && strings.Contains(name, "cas"): // compared and loaded, stored
		n := 1
		if strings.Contains(name, "casp") {
			n = 2
		}
		return true, place < n
	case strings.HasPrefix(name, "swpp"), strings.HasPrefix(name, "ldclrp"), strings.HasPrefix(name, "ldsetp"),
		strings.HasPrefix(name, "rcw") && (strings.HasSuffix(name, "p") || strings.HasSuffix(name, "pa") || strings.HasSuffix(name, "pl") || strings.HasSuffix(name, "pal")) && !strings.HasPrefix(name, "rcwswp") && !strings.HasPrefix(name, "rcwsswp"),
		strings.HasPrefix(name, "rcwswpp"), strings.HasPrefix(name, "rcwsswpp"): // both halves are exchanged
		return true, true
	case strings.HasPrefix(name, "rcw"), strings.HasPrefix(name, "swpt"), strings.HasPrefix(name, "ldt") && !strings.HasPrefix(name, "ldtx"):
		return place == 0, place == 1
	case strings.HasPrefix(name, "ldiapp"), strings.HasPrefix(name, "ldap"):
		return false, true
	case strings.HasPrefix(name, "sttxr"), strings.HasPrefix(name, "stltxr"):
		return place > 0, place == 0
	case strings.HasPrefix(name, "st"), strings.HasPrefix(name, "cterm"):
		return true, false
	}
	return !first || inPlace(name), first
}

// displacement finds what is added to the base register of the memory operand.
func (f *form) displacement() {
	_, inside, ok := strings.Cut(f.operands, "[<Xs")
	if !ok {
		return
	}
	inside, behind, _ := strings.Cut(inside, "]")
	_, number, ok := strings.Cut(inside, ",#")
	f.before = strings.HasPrefix(behind, "!")
	if !ok {
		number, f.after = strings.CutPrefix(behind, ",#")
	}
	if spec, ok := strings.CutPrefix(number, "<N"); ok {
		number, _, _ = strings.Cut(spec, ">")
	}
	if number != "" && !strings.HasSuffix(inside, "mulvl") {
		f.offset = number
	}
}

// inPlace reports whether a scalable-vector instruction updates the general
// register it names first.
func inPlace(name string) bool {
	for _, p := range []string{"inc", "dec", "sqinc", "sqdec", "uqinc", "uqdec", "clasta", "clastb"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// elementMask is the bit-mask immediate of an SVE instruction and the bytes of
// the element it is repeated in.
func elementMask(w uint32) (v uint64, bytes uint, ok bool) {
	v, ok = bitMask(1<<31 | w<<5&0x7ffc00)
	n, imms := w>>17&1, w>>5&63
	bytes = 8
	switch {
	case n == 1:
	case imms&0x20 == 0:
		bytes = 4
	case imms&0x10 == 0:
		bytes = 2
	default:
		bytes = 1
	}
	if bytes < 8 {
		v &= 1<<(8*bytes) - 1
	}
	return v, bytes, ok
}
