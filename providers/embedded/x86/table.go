package x86

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"rea/providers/embedded/isa"
)

// The instruction set is data: tables/*.txt, one encoding a line, compiled
// once into the decision trees that Decode walks.
//
//	OPCODE [constraint…] MNEMONIC [operand,…] [;flag…]
//
// OPCODE is one byte in hex (one-byte map), 0fXX, 0f38XX, 0f3aXX, or
// SPACE:XX with SPACE v1-v3, v7 (VEX maps), e1-e7 (EVEX maps), x8-xa (XOP maps),
// 3d (3DNow! suffix) or r2 (one-byte map behind REX2, where that differs). XX+r stands for the eight opcodes whose low bits are a
// register, XX+alu for the eight arithmetic operations eight opcodes apart,
// XX+cc for the sixteen conditions; /alu, /sh, /x87 and /x87i for the eight
// operations named by ModRM.reg. `*` in the mnemonic is the name so selected.
//
// Constraints: i64 o64 (not in, only in 64-bit mode); m r (ModRM.rm is memory,
// a register); /0-/7 (ModRM.reg); =0-=7 (ModRM.rm, a register); np 66 f3 f2 (the
// mandatory prefix, n6 is np or 66); w0 w1; l0 l1 l2 l3 (vector length, or
// rounding mode); s16 s32 s64 (operand size); a16 a32 a64 (address size); b0
// b1 (EVEX broadcast; in map 4, where b0 is meant unless it says b1, a new
// destination); k0 k4 (bit 2 of the EVEX mask field). When several lines fit, the one with most constraints is meant.
//
// An operand is a kind letter and a size letter, see operand.go.
//
// Flags: lock (lockable), d64 (64-bit by default in 64-bit mode), f64 (always
// 64-bit there), rep, repz (string instruction), ax (no DX in the 8-bit
// form), k (EVEX mask, merging only), kz (mask, zeroing allowed), er (rounding
// control), sae, bc2 bc4 bc8 (EVEX broadcast element), n2 n4 n8… (EVEX
// displacement scale where it is not the memory size), kreq (mask is not optional),
// sib (SIB byte required), nf (flags can be left alone), vs and a size letter (vector index register of that size).
//
//go:embed tables/*.txt
var tableFiles embed.FS

// space is an opcode map.
type space uint8

const (
	map1 space = iota // one-byte opcodes
	map0F
	map0F38
	map0F3A
	map3DNow
	vex1
	vex2
	vex3
	vex7
	evex1
	evex2
	evex3
	evex4
	evex5
	evex6
	evex7
	xop8
	xop9
	xopA
	rex2 // what REX2 makes of one-byte opcodes
	spaces
)

var spaceNames = [...]string{"", "0f", "0f38", "0f3a", "3d:", "v1:", "v2:", "v3:", "v7:", "e1:", "e2:", "e3:", "e4:", "e5:", "e6:", "e7:", "x8:", "x9:", "xa:", "r2:"}

// dim is a field of the encoding that selects between instructions of one opcode.
type dim uint8

const (
	dimMode dim = iota // 0: 32-bit, 1: 64-bit; resolved when the trees are built
	dimMod             // 0: memory, 1: register
	dimReg
	dimRM
	dimPrefix // 0: none, 1: 66, 2: F3, 3: F2
	dimW
	dimLength
	dimOperand   // 0: 16, 1: 32, 2: 64
	dimAddress   // 0: 16, 1: 32, 2: 64
	dimBroadcast // or, of promoted instructions, a new destination
	dimMask      // bit 2 of EVEX.aaa
	dims
)

var dimWays = [dims]int{2, 2, 8, 8, 4, 2, 4, 3, 3, 2, 2}

// line is one parsed line of a table: for every dimension the set of values it accepts.
type line struct {
	accepts     [dims]uint16
	specificity int
	entry       *entry
	where       string
}

type flags uint32

const (
	flagLock flags = 1 << iota
	flagD64
	flagF64
	flagRep
	flagRepz
	flagNoDX
	flagMask
	flagZero
	flagRounding
	flagSAE
	flagVSIB // vector index
	flagSIB  // the memory operand must have a SIB byte
	flagModRM
	flagByteG // byte register operands: without REX, 4-7 are AH-BH
	flagByteE
	flagByteZ
	flagPrefix // 66 selects the instruction and is not an operand size
	flagMemory // accesses the ModRM memory operand
	flagIndirect
	flagZeroIdiom
	flagOne    // the second source is 1
	flagRight  // shifts right
	flagSigned // sign extends
	flagEndBranch
	flagMaskRequired
	flagRegisterOnly // ModRM.mod is ignored
	flagLowRegisters // mask and bound registers: the fields must stay below 8 (4)
	flagBound
	flagSegment   // has a segment register operand in ModRM.reg
	flagAnyPrefix // no mandatory prefix: F2 and F3 have no effect of their own
	flagVVVV      // uses VEX.vvvv; elsewhere the field must be unused
	flagGeneralRM // ModRM.rm is a general register, when it is one
)

// slot numbers the places an operand register can come from.
type slot uint8

const (
	slotNone slot = iota
	slotG         // ModRM.reg
	slotE         // ModRM.rm, when a register
	slotZ         // low opcode bits
	slotB         // VEX.vvvv
	slotA         // accumulator
	slotC         // CL
	slots         // at most 8
)

// entry is one instruction form.
type entry struct {
	name          string
	lift          func(*lifter) // nil: opaque
	ops           [5]operand
	nops          uint8
	flags         flags
	reads, writes uint8 // sets of slots
	implicitR     uint16
	implicitW     uint16
	class         isa.Class
	flow          isa.Flow
	imm           immKind
	size          sizeKind // of the first operand
	mem           sizeKind // bytes accessed
	dst, src      slot
	src2          slot
	broadcast     uint8 // element bytes, 0: none
	scale         uint8 // of disp8 where it is not the size of the memory operand
	vsib          sizeKind
	cond          uint8
	newDest       uint8 // 1 when the first operand is a destination apart from the sources
	quiet         bool  // may leave the flags alone (EVEX.NF)
	masked        bool  // bit 2 of EVEX.aaa selects the instruction
	conditional   bool  // ccmp, ctest
}

// semantic is a line of semantics.txt.
type semantic struct {
	access    []string
	class     isa.Class
	flow      isa.Flow
	implicitR uint16
	implicitW uint16
}

var (
	aluNames  = []string{"add", "or", "adc", "sbb", "and", "sub", "xor", "cmp"}
	shNames   = []string{"rol", "ror", "rcl", "rcr", "shl", "shr", "shl", "sar"}
	x87Names  = []string{"fadd", "fmul", "fcom", "fcomp", "fsub", "fsubr", "fdiv", "fdivr"}
	x87iNames = []string{"fiadd", "fimul", "ficom", "ficomp", "fisub", "fisubr", "fidiv", "fidivr"}
	ccNames   = []string{"o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"}
	regNumber = map[string]uint{"ax": 0, "cx": 1, "dx": 2, "bx": 3, "sp": 4, "bp": 5, "si": 6, "di": 7, "r11": 11}
)

// readTables parses all tables. They are compiled in, so an error is a
// mistake in them that TestTables reports; a decoder is then without the line.
var readTables = sync.OnceValues(func() (*[spaces][256][]line, error) {
	sem, err := readSemantics()
	if err != nil {
		return nil, err
	}
	var out [spaces][256][]line
	names, err := tableFiles.ReadDir("tables")
	if err != nil {
		return nil, err
	}
	for _, f := range names {
		if f.Name() == "semantics.txt" {
			continue
		}
		text, err := tableFiles.ReadFile("tables/" + f.Name())
		if err != nil {
			return nil, err
		}
		n := 0
		for s := range strings.Lines(string(text)) {
			n++
			s = strings.TrimSpace(s)
			if s == "" || s[0] == '#' {
				continue
			}
			if err := parseLine(&out, sem, s); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", f.Name(), n, err)
			}
		}
	}
	return &out, nil
})

func parseLine(out *[spaces][256][]line, sem map[string]*semantic, text string) error {
	body, flagText, _ := strings.Cut(text, ";")
	words := strings.Fields(body)
	sp, opcode, repeat, err := parseOpcode(words[0])
	if err != nil {
		return err
	}
	ln := line{where: text}
	for d := range ln.accepts {
		ln.accepts[d] = 1<<dimWays[d] - 1
	}
	if sp == evex4 && !slices.Contains(words, "b1") {
		words = slices.Insert(words, 1, "b0")
	}
	var regNames []string
	i := 1
	for ; i < len(words); i++ {
		names, ok := constrain(&ln, words[i])
		if !ok {
			break
		}
		if names != nil {
			regNames = names
		}
	}
	if i == len(words) || len(words) > i+2 {
		return fmt.Errorf("%q: want one mnemonic and operands", text)
	}
	name, ops := words[i], ""
	if i+1 < len(words) {
		ops = words[i+1]
	}
	add := func(op int, name, key string, cond uint8, ln line) error {
		e, err := newEntry(sem, sp, name, key, ops, flagText)
		if err != nil {
			return fmt.Errorf("%q: %w", text, err)
		}
		e.cond = cond
		e.masked = ln.accepts[dimMask] != 3
		if ln.accepts[dimPrefix]>>1&1 == 1 && ln.accepts[dimPrefix]&1 == 0 {
			e.flags |= flagPrefix
		}
		if ln.accepts[dimPrefix] == 15 {
			e.flags |= flagAnyPrefix
		}
		if ln.accepts[dimMod] != 3 || ln.accepts[dimReg] != 0xff || ln.accepts[dimRM] != 0xff {
			e.flags |= flagModRM
		}
		ln.entry = e
		out[sp][op] = append(out[sp][op], ln)
		return nil
	}
	stem := strings.TrimSuffix(name, "*")
	switch {
	case repeat == "alu":
		for k, n := range aluNames {
			if err := add(opcode+8*k, n, n, 0, ln); err != nil {
				return err
			}
		}
	case repeat == "cc":
		for k, n := range ccNames {
			if err := add(opcode+k, stem+n, stem, uint8(k), ln); err != nil {
				return err
			}
		}
	case repeat == "r":
		for k := range 8 {
			if err := add(opcode+k, name, name, 0, ln); err != nil {
				return err
			}
		}
	case regNames != nil:
		for k, n := range regNames {
			ln := ln
			ln.accepts[dimReg] = 1 << k
			ln.specificity++
			if err := add(opcode, n, n, 0, ln); err != nil {
				return err
			}
		}
	default:
		cond := map[string]uint8{"jcxz": isa.CondZero, "jecxz": isa.CondZero, "jrcxz": isa.CondZero,
			"loop": isa.CondNonZero, "loope": isa.CondLoopEQ, "loopne": isa.CondLoopNE}[name]
		return add(opcode, name, name, cond, ln)
	}
	return nil
}

func parseOpcode(s string) (sp space, opcode int, repeat string, err error) {
	text, repeat, _ := strings.Cut(s, "+")
	for i := len(spaceNames) - 1; i >= 0; i-- {
		if hex, ok := strings.CutPrefix(text, spaceNames[i]); ok && len(hex) == 2 {
			n, err := strconv.ParseUint(hex, 16, 8)
			return space(i), int(n), repeat, err
		}
	}
	return 0, 0, "", fmt.Errorf("opcode %q", s)
}

// constrain applies one constraint word; ok is false when the word is none.
// names is not nil for a word that stands for all eight values of ModRM.reg.
func constrain(ln *line, word string) (names []string, ok bool) {
	set := func(d dim, mask uint16) bool {
		if ln.accepts[d] != 1<<dimWays[d]-1 {
			ln.accepts[d] |= mask // a second value of the same field: either
		} else {
			ln.accepts[d] = mask
			ln.specificity++
		}
		return true
	}
	switch word {
	case "/alu":
		return aluNames, true
	case "/sh":
		return shNames, true
	case "/x87":
		return x87Names, true
	case "/x87i":
		return x87iNames, true
	case "i64":
		return nil, set(dimMode, 1)
	case "o64":
		return nil, set(dimMode, 2)
	case "m":
		return nil, set(dimMod, 1)
	case "r":
		return nil, set(dimMod, 2)
	case "np":
		return nil, set(dimPrefix, 1)
	case "66":
		return nil, set(dimPrefix, 2)
	case "f3":
		return nil, set(dimPrefix, 4)
	case "f2":
		return nil, set(dimPrefix, 8)
	case "n6":
		return nil, set(dimPrefix, 3)
	}
	if len(word) == 2 && word[1] >= '0' && word[1] <= '7' {
		bit := uint16(1) << (word[1] - '0')
		switch word[0] {
		case '/':
			return nil, set(dimReg, bit)
		case '=':
			if ln.accepts[dimMod] == 3 {
				ln.accepts[dimMod] = 2
			}
			return nil, set(dimRM, bit)
		case 'w':
			return nil, set(dimW, bit)
		case 'l':
			return nil, set(dimLength, bit)
		case 'b':
			return nil, set(dimBroadcast, bit)
		case 'k':
			return nil, set(dimMask, 1<<((word[1]-'0')>>2))
		}
	}
	if len(word) == 3 {
		way := map[string]uint16{"16": 1, "32": 2, "64": 4}[word[1:]]
		switch {
		case way == 0:
		case word[0] == 's':
			return nil, set(dimOperand, way)
		case word[0] == 'a':
			return nil, set(dimAddress, way)
		}
	}
	return nil, false
}

func readSemantics() (map[string]*semantic, error) {
	text, err := tableFiles.ReadFile("tables/semantics.txt")
	if err != nil {
		return nil, err
	}
	classes := map[string]isa.Class{"Move": isa.Move, "Address": isa.Address, "Add": isa.Add, "Sub": isa.Sub, "And": isa.And,
		"Or": isa.Or, "Xor": isa.Xor, "Shift": isa.Shift, "Compare": isa.Compare, "Test": isa.Test, "Push": isa.Push, "Pop": isa.Pop,
		"Extend": isa.Extend, "Nop": isa.Nop, "Leave": isa.Leave, "CondSelect": isa.CondSelect}
	flows := map[string]isa.Flow{"Jump": isa.Jump, "CondJump": isa.CondJump, "Call": isa.Call, "Return": isa.Return,
		"Trap": isa.Trap, "Syscall": isa.Syscall}
	out := map[string]*semantic{}
	for s := range strings.Lines(string(text)) {
		words := strings.Fields(s)
		if len(words) < 2 || words[0][0] == '#' {
			continue
		}
		sem := &semantic{flow: isa.Next}
		if words[1] != "-" {
			sem.access = strings.Split(words[1], ",")
		}
		for _, w := range words[2:] {
			key, value, _ := strings.Cut(w, "=")
			ok := true
			switch key {
			case "class":
				sem.class, ok = classes[value]
			case "flow":
				sem.flow, ok = flows[value]
			case "r", "w":
				for r := range strings.SplitSeq(value, ",") {
					n, known := regNumber[r]
					ok = ok && known
					if key == "r" {
						sem.implicitR |= 1 << n
					} else {
						sem.implicitW |= 1 << n
					}
				}
			default:
				ok = false
			}
			if !ok {
				return nil, fmt.Errorf("semantics.txt: %q: %q", strings.TrimSpace(s), w)
			}
		}
		for name := range strings.SplitSeq(words[0], ",") {
			if out[name] != nil {
				return nil, fmt.Errorf("semantics.txt: %s twice", name)
			}
			out[name] = sem
		}
	}
	return out, nil
}
