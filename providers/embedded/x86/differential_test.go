package x86

import (
	"debug/elf"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"rea/providers/embedded/isa"
)

// tally counts the disagreements of a differential test by kind.
type tally struct {
	t                 *testing.T
	instructions      int
	length, target    int
	validity          int
	mnemonic, operand int
	shown             map[string]int
}

func (c *tally) report(kind string, l listed, got string) {
	if c.shown == nil {
		c.shown = map[string]int{}
	}
	if kind != "operand" {
		kind += " " + strings.Fields(got + " ?")[0]
	}
	c.shown[kind]++
	if c.shown[kind] <= 2 && len(c.shown) < 30 {
		c.t.Logf("%s: %x % x: have %s, objdump has %s", kind, l.addr, l.bytes, got, l.text)
	}
}

// compare checks one instruction of a listing against both our decoders.
func (c *tally) compare(d *Decoder, code []byte, l listed) {
	c.instructions++
	var in isa.Inst
	d.Decode(code, l.addr, &in)
	mnemonic, operands := d.Text(code, l.addr, nil)
	ours := mnemonic + " " + operands
	want := normalise(l, 32+32*d.mode)
	if want.prefixOnly || want.fwait {
		return // not instructions of their own to a processor, or two of them
	}
	if want.bad && d.mode == 1 && newer(l.bytes) {
		return
	}
	if want.cut && int(in.Len) > len(l.bytes) {
		return
	}
	if want.bad != (in.Flow == isa.Invalid) {
		if !want.lock && !want.segment {
			c.validity++
			c.report("validity", l, ours)
		}
		return
	}
	if want.bad {
		return
	}
	if int(in.Len) != len(l.bytes) {
		c.length++
		c.report("length", l, ours)
		return
	}
	if want.mnemonic == "xchg" && want.operands == "ax,ax" && mnemonic == "nop" || want.mnemonic == "xstore-rng" && mnemonic == "xstore" {
		return
	}
	if want.mnemonic != mnemonic {
		c.mnemonic++
		c.report("mnemonic", l, ours)
		return
	}
	if got := strings.ReplaceAll(operands, ", ", ","); got != want.operands {
		c.operand++
		c.report("operand", l, got+" ("+want.operands+")")
	}
	if want.target != 0 && want.target != in.Target {
		c.target++
		c.report("target", l, ours)
	}
	if want.ripTarget != 0 && (in.Mem.Base != isa.PC && in.HasMem || in.HasMem && uint64(in.Mem.Disp) != want.ripTarget) {
		c.target++
		c.report("target", l, ours)
	}
}

// TestObjdumpLibraries: on compiled programs lengths, branch targets and
// validity agree with objdump without exception, and so do mnemonics and
// operands after normalise has evened out the two spellings.
func TestObjdumpLibraries(t *testing.T) {
	for _, path := range programs(t, elf.EM_X86_64) {
		t.Run(path, func(t *testing.T) { compareProgram(t, path, New(64)) })
	}
	for _, path := range programs(t, elf.EM_386) {
		t.Run(path, func(t *testing.T) { compareProgram(t, path, New(32)) })
	}
}

func compareProgram(t *testing.T, path string, d *Decoder) {
	t.Parallel()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	code := sections(t, f)
	symbols := constants(f)
	c := tally{t: t}
	objdump(t, func(l listed) {
		if b := at(code, l.addr); b != nil && !symbols.inData(l.addr) {
			c.compare(d, b, l)
		}
	}, "-d", path)
	t.Logf("%d instructions: %d lengths, %d validity, %d targets, %d mnemonics, %d operands differ",
		c.instructions, c.length, c.validity, c.target, c.mnemonic, c.operand)
	if *everywhere == "" && c.instructions < 10_000 {
		t.Errorf("only %d instructions listed", c.instructions)
	}
	if c.length+c.target+c.validity > c.instructions/allowed(path) {
		t.Errorf("%d lengths, %d targets, %d validities differ", c.length, c.target, c.validity)
	}
	if c.mnemonic+c.operand > c.instructions/1000 {
		t.Errorf("text differs for more than one instruction in a thousand: %d mnemonics, %d operands", c.mnemonic, c.operand)
	}
}

// allowed is the reciprocal of the share of disagreement a program may have:
// none, but for libcrypto, which has tables among its code.
func allowed(path string) int {
	if strings.Contains(path, "libcrypto") {
		return 300
	}
	return 1 << 40
}

// dataRanges are stretches of a text section that are no code.
type dataRanges [][2]uint64

func (r dataRanges) inData(a uint64) bool {
	for _, x := range r {
		if a >= x[0] && a < x[1] {
			return true
		}
	}
	return false
}

// constants lists the data objects in text by symbol.
func constants(f *elf.File) dataRanges {
	var out dataRanges
	syms, _ := f.Symbols()
	dyn, _ := f.DynamicSymbols()
	for _, s := range append(syms, dyn...) {
		if elf.ST_TYPE(s.Info) == elf.STT_OBJECT && s.Size > 0 {
			out = append(out, [2]uint64{s.Value, s.Value + s.Size})
		}
	}
	return out
}

// reference is an objdump line in our spelling.
type reference struct {
	mnemonic, operands string
	bad                bool
	cut                bool // bytes up to a symbol in the middle of an instruction
	prefixOnly         bool // a lone prefix, which objdump lists as an instruction
	fwait              bool // fwait merged with the instruction after it
	segment            bool // names a segment register that can't be loaded or doesn't exist
	lock               bool // has a lock prefix, whose validity objdump does not check
	target, ripTarget  uint64
}

// newer reports the encodings of APX, which objdump may be too old for.
func newer(code []byte) bool {
	for len(code) > 0 && prefixBits[code[0]] != 0 {
		code = code[1:]
	}
	if len(code) == 0 {
		return false
	}
	return code[0] == 0xd5 || code[0] == 0x62 && (len(code) < 3 || code[1]&8 != 0 || code[1]&7 == 4 || code[1]&7 == 7 || code[2]&4 == 0)
}

var broadcasts = regexp.MustCompile(`\{1to\d+\}`)

var noIndex = regexp.MustCompile(`\+?[re]iz(\*[1248])?`)

func normalise(l listed, bits int) reference {
	s := l.text
	var r reference
	r.segment = strings.Contains(s, "?") || strings.Contains(s, "mov    cs,") || strings.Contains(s, "mov cs,")
	if s == "" || strings.Contains(s, "(bad)") || strings.Contains(s, "{bad") || strings.Contains(s, "bad}") || strings.HasPrefix(s, ".byte") {
		r.bad = true
	}
	r.cut = strings.HasPrefix(s, ".byte")
	comment := ""
	if i := strings.Index(s, "# "); i >= 0 {
		comment, s = strings.TrimSpace(s[i+2:]), strings.TrimSpace(s[:i])
	}
	if i := strings.Index(s, " <"); i >= 0 {
		s = s[:i]
	}
	words := strings.Fields(s)
	var kept []string
	onlyPrefixes := true
	for i, w := range words {
		switch strings.TrimSuffix(w, ",pn") {
		case "data16", "addr32", "addr16", "rex", "{evex}", "{vex}", "cs", "ds", "es", "ss", "fs", "gs", "data32":
			continue
		case "lock":
			r.lock = true
			kept = append(kept, w)
			continue
		case "rep", "repz", "repnz", "bnd", "notrack", "xacquire", "xrelease":
			kept = append(kept, w)
			continue
		}
		if strings.HasPrefix(w, "rex.") {
			continue
		}
		onlyPrefixes = false
		kept = append(kept, words[i:]...)
		break
	}
	if onlyPrefixes {
		r.prefixOnly = true
		return r
	}
	for len(kept) > 1 && kept[0] == kept[1] {
		kept = kept[1:] // a prefix repeated
	}
	for i := range kept {
		if c := strings.IndexByte(kept[i], '('); c > 0 && strings.HasPrefix(kept[i], "f") {
			kept = append(kept[:i], kept[i][:c])
			break
		}
	}
	r.fwait = len(l.bytes) > 1 && l.bytes[0] == 0x9b
	n := 0
	for n < len(kept)-1 {
		switch kept[n] {
		case "lock", "rep", "repz", "repnz", "bnd", "notrack", "xacquire", "xrelease":
			n++
			continue
		}
		break
	}
	r.mnemonic = strings.Join(kept[:n+1], " ")
	ops := strings.ToLower(strings.Join(kept[n+1:], " "))
	if m := kept[n]; strings.HasPrefix(m, "j") || strings.HasPrefix(m, "call") || strings.HasPrefix(m, "loop") || m == "xbegin" {
		if v, err := strconv.ParseUint(strings.TrimPrefix(ops, "0x"), 16, 64); err == nil {
			r.target = v
			ops = "0x" + strconv.FormatUint(v, 16)
		}
	}
	if i := max(strings.Index(ops, "[rip"), strings.Index(ops, "[eip")); i >= 0 {
		j := i + strings.IndexByte(ops[i:], ']')
		if f := strings.Fields(comment); len(f) > 0 {
			r.ripTarget, _ = strconv.ParseUint(strings.TrimPrefix(f[0], "0x"), 16, 64)
			if ops[i+1] == 'e' {
				r.ripTarget = uint64(uint32(r.ripTarget))
			}
			ops = ops[:i] + "[0x" + strconv.FormatUint(r.ripTarget, 16) + ops[j:]
		}
	}
	ops = strings.ReplaceAll(ops, "*1", "")
	ops = broadcasts.ReplaceAllString(ops, "")
	ops = noIndex.ReplaceAllString(ops, "")
	ops = strings.ReplaceAll(ops, "[+", "[")
	ops = strings.ReplaceAll(ops, "+0x0]", "]")
	// Absolute addresses: objdump writes fs:0x28, we write fs:[0x28].
	for _, seg := range []string{"fs:", "gs:", "ds:", "cs:", "es:", "ss:"} {
		i := strings.Index(ops, seg+"0x")
		if i < 0 || i > 0 && ops[i-1] != ' ' && ops[i-1] != ',' {
			continue
		}
		end := strings.IndexByte(ops[i:], ',')
		if end < 0 {
			end = len(ops) - i
		}
		show := seg
		if seg == "ds:" {
			show = ""
		}
		ops = ops[:i] + show + "[" + ops[i+3:i+end] + "]" + ops[i+end:]
	}
	// A displacement alone is an address, which we write as one.
	if i := strings.Index(ops, "[-0x"); i >= 0 {
		j := i + strings.IndexByte(ops[i:], ']')
		if v, err := strconv.ParseUint(ops[i+4:j], 16, 64); err == nil {
			v = -v
			if bits == 32 {
				v = uint64(uint32(v))
			}
			ops = ops[:i] + "[0x" + strconv.FormatUint(v, 16) + ops[j:]
		}
	}
	ops = strings.TrimSuffix(ops, "(8087 only)")
	ops = strings.Replace(ops, "oword ptr", "xmmword ptr", 1)
	r.operands = ops
	return r
}
