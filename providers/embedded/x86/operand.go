package x86

import (
	"fmt"
	"strconv"
	"strings"

	"rea/providers/embedded/isa"
)

// An operand is written as a kind letter and a size letter in the tables. The
// letters follow the opcode maps of the processor manuals where those have one.
type operand struct {
	kind opKind
	size sizeKind
}

type opKind uint8

const (
	opNone opKind = iota
	opE           // E: general register or memory, ModRM.rm
	opG           // G: general register, ModRM.reg
	opR           // R: general register, ModRM.rm
	opM           // M: memory
	opZ           // Z: general register, low opcode bits
	opB           // B: general register, VEX.vvvv
	opV           // V: vector register, ModRM.reg
	opW           // W: vector register or memory, ModRM.rm
	opU           // U: vector register, ModRM.rm
	opH           // H: vector register, VEX.vvvv
	opL           // L: vector register, high bits of the immediate
	opP           // P: MMX register, ModRM.reg
	opQ           // Q: MMX register or memory
	opN           // N: MMX register, ModRM.rm
	opS           // S: segment register
	opC           // C: control register
	opD           // D: debug register
	opI           // I: immediate
	opI2          // i: the low bits of the immediate that also names a register
	opJ           // J: branch displacement
	opO           // O: absolute memory offset
	opA           // A: far pointer
	opX           // X: memory at rSI
	opY           // Y: memory at rDI
	opKG          // kG: mask register, ModRM.reg
	opKE          // kE: mask register or memory
	opKR          // kR: mask register, ModRM.rm
	opKH          // kH: mask register, VEX.vvvv
	opTG          // tG: tile
	opTE          // tE
	opTH          // tH
	opBG          // bG: bound register
	opBE          // bE
	opST          // ST, STi: x87 stack
	opSTi
	opAcc  // AL, AX, eAX, rAX, zAX
	opCL   // CL
	opDX   // DX
	opOne  // 1
	opSeg  // ES…GS
	opXMM0 // <XMM0>
)

type sizeKind uint8

const (
	szNone sizeKind = iota
	szB             // b: 1
	szW             // w: 2
	szD             // d: 4
	szQ             // q: 8
	szT             // t: 10
	szO             // o: 16, xmm
	szN             // n: 32, ymm
	szU             // u: 64, zmm
	szV             // v: operand size
	szZ             // z: operand size, at most 4
	szY             // y: 4, or 8 with W
	szS             // s: immediate byte, sign extended to the operand size
	szX             // x: vector length
	szH             // h: half of it
	szI             // i: a quarter
	szJ             // j: an eighth
	szP             // p: far pointer, operand size + 2
	szA             // a: pair of operand size; for registers, address size
	szK             // k: 4, 8 in 64-bit mode
	szL             // l: byte at [rBX+AL]
	sizes
)

const sizeLetters = "\x00bwdqtonuvzysxhijpakl"

type immKind uint8

const (
	immNone  immKind = iota
	immB             // 8 bits, zero extended when shown
	immBS            // 8 bits, sign extended
	immW             // 16 bits
	immZ             // operand size, at most 32 bits
	immV             // operand size
	immWB            // enter: 16 and 8 bits
	immBB            // two bytes
	immFar           // offset and selector
	immJB            // 8-bit displacement
	immJZ            // displacement of operand size
	immMoffs         // address size
	immD             // 32 bits
	immJQ            // 64-bit address
	imms
)

var immBytes = [imms][3]uint8{ // by operand size (address size for immMoffs)
	immB: {1, 1, 1}, immBS: {1, 1, 1}, immW: {2, 2, 2}, immZ: {2, 4, 4}, immV: {2, 4, 8}, immWB: {3, 3, 3}, immBB: {2, 2, 2},
	immFar: {4, 6, 6}, immJB: {1, 1, 1}, immJZ: {2, 4, 4}, immMoffs: {2, 4, 8}, immD: {4, 4, 4}, immJQ: {8, 8, 8},
}

var fixedOperands = map[string]operand{
	"AL": {opAcc, szB}, "AX": {opAcc, szW}, "rAX": {opAcc, szV}, "zAX": {opAcc, szZ}, "CL": {opCL, szB}, "DX": {opDX, szW},
	"1": {opOne, szB}, "ST": {opST, szNone}, "STi": {opSTi, szNone}, "<XMM0>": {opXMM0, szO},
	"ES": {opSeg, 0}, "CS": {opSeg, 1}, "SS": {opSeg, 2}, "DS": {opSeg, 3}, "FS": {opSeg, 4}, "GS": {opSeg, 5},
}

var kindPrefixes = []struct {
	text string
	kind opKind
}{
	{"kG", opKG}, {"kE", opKE}, {"kR", opKR}, {"kH", opKH}, {"tG", opTG}, {"tE", opTE}, {"tH", opTH}, {"bG", opBG}, {"bE", opBE},
	{"E", opE}, {"G", opG}, {"R", opR}, {"M", opM}, {"Z", opZ}, {"B", opB}, {"V", opV}, {"W", opW}, {"U", opU}, {"H", opH}, {"L", opL},
	{"P", opP}, {"Q", opQ}, {"N", opN}, {"S", opS}, {"C", opC}, {"D", opD}, {"I", opI}, {"i", opI2}, {"J", opJ}, {"O", opO}, {"A", opA},
	{"X", opX}, {"Y", opY},
}

func parseOperand(s string) (operand, error) {
	if o, ok := fixedOperands[s]; ok {
		return o, nil
	}
	for _, p := range kindPrefixes {
		rest, ok := strings.CutPrefix(s, p.text)
		if !ok {
			continue
		}
		if rest == "" {
			return operand{p.kind, szNone}, nil
		}
		if i := strings.Index(sizeLetters, rest); i > 0 && len(rest) == 1 {
			return operand{p.kind, sizeKind(i)}, nil
		}
	}
	return operand{}, fmt.Errorf("operand %q", s)
}

// newEntry builds a form from its operands and the semantics of its mnemonic
// (key is the mnemonic without a condition).
func newEntry(sems map[string]*semantic, sp space, name, key, ops, flagText string) (*entry, error) {
	e := &entry{name: name, flow: isa.Next}
	if sp == vex1 || sp == vex2 || sp == vex3 || sp == vex7 || sp >= evex1 && sp <= evex7 || sp >= xop8 && sp <= xopA {
		e.flags |= flagModRM
		if sp == vex1 && strings.HasPrefix(name, "vzero") {
			e.flags &^= flagModRM
		}
	}
	if sp == map3DNow {
		e.flags |= flagModRM
	}
	for f := range strings.FieldsSeq(flagText) {
		if err := e.setFlag(f, name); err != nil {
			return nil, err
		}
	}
	if sp == evex4 {
		e.scale = 1
	}
	if ops != "" {
		for s := range strings.SplitSeq(ops, ",") {
			o, err := parseOperand(s)
			if err != nil {
				return nil, err
			}
			if int(e.nops) == len(e.ops) {
				return nil, fmt.Errorf("more than %d operands", len(e.ops))
			}
			e.ops[e.nops] = o
			e.nops++
		}
	}
	sem := sems[key+"/"+strconv.Itoa(int(e.nops))]
	if sem == nil {
		sem = sems[key]
	}
	if sem == nil {
		sem = &semantic{access: []string{"w", "r", "r", "r", "r"}, flow: isa.Next}
	}
	e.conditional = key == "ccmp" || key == "ctest"
	if sp == evex4 && e.ops[0].kind == opB && e.nops > 1 && e.ops[1].kind != opR {
		e.newDest = 1
	}
	e.class, e.flow, e.implicitR, e.implicitW = sem.class, sem.flow, sem.implicitR, sem.implicitW
	if e.flags&flagNoDX != 0 {
		e.implicitW &^= 1 << 2
		if name != "mul" && name != "imul" {
			e.implicitR &^= 1 << 2
		}
	}
	for i := range int(e.nops) {
		access := ""
		if i < len(sem.access) {
			access = sem.access[i]
		}
		e.addOperand(e.ops[i], access)
	}
	e.selectOperands(sem)
	if e.lift = lifterOf(key); e.lift == nil {
		e.lift = lifterOf(key + "/" + strconv.Itoa(int(e.nops)))
	}
	return e, nil
}

func (e *entry) setFlag(f, name string) error {
	switch f {
	case "lock":
		if name != "cmp" {
			e.flags |= flagLock
		}
	case "d64":
		e.flags |= flagD64
	case "f64":
		e.flags |= flagF64
	case "rep":
		e.flags |= flagRep
	case "repz":
		e.flags |= flagRepz
	case "ax":
		e.flags |= flagNoDX
	case "k":
		e.flags |= flagMask
	case "kz":
		e.flags |= flagMask | flagZero
	case "er":
		e.flags |= flagRounding
	case "sae":
		e.flags |= flagSAE
	case "sib":
		e.flags |= flagSIB
	case "nf":
		e.quiet = true
	case "kreq":
		e.flags |= flagMaskRequired
	case "vso", "vsn", "vsu", "vsx", "vsh":
		e.flags |= flagVSIB
		e.vsib = sizeKind(strings.IndexByte(sizeLetters, f[2]))
	case "bc2", "bc4", "bc8":
		e.broadcast = f[2] - '0'
	default:
		n, err := strconv.ParseUint(strings.TrimPrefix(f, "n"), 10, 8)
		if err != nil || f[0] != 'n' {
			return fmt.Errorf("flag %q", f)
		}
		e.scale = uint8(n)
	}
	return nil
}

// slotOf says which general register an operand is.
func slotOf(o operand) slot {
	switch o.kind {
	case opE, opR:
		return slotE
	case opG:
		return slotG
	case opZ:
		return slotZ
	case opB:
		return slotB
	case opAcc:
		return slotA
	case opCL:
		return slotC
	}
	return slotNone
}

func (e *entry) addOperand(o operand, access string) {
	switch o.kind {
	case opE, opG, opR, opM, opV, opW, opU, opP, opQ, opN, opS, opC, opD, opKG, opKE, opKR, opTG, opTE, opBG, opBE, opSTi:
		e.flags |= flagModRM
	}
	switch o.kind {
	case opKG, opKR, opKE, opKH, opTG, opTE, opTH:
		e.flags |= flagLowRegisters
	case opBG, opBE:
		e.flags |= flagBound
	case opS:
		e.flags |= flagSegment
	case opE, opR:
		e.flags |= flagGeneralRM
	}
	s := slotOf(o)
	if strings.Contains(access, "r") {
		e.reads |= 1 << s
	}
	if strings.Contains(access, "w") {
		e.writes |= 1 << s
	}
	if o.size == szB {
		switch o.kind {
		case opE, opR:
			e.flags |= flagByteE
		case opG:
			e.flags |= flagByteG
		case opZ:
			e.flags |= flagByteZ
		}
	}
	switch o.kind {
	case opE, opM, opW, opQ, opKE, opBE:
		e.mem = o.size
		if access != "" {
			e.flags |= flagMemory
		}
	case opC, opD:
		e.flags |= flagRegisterOnly
	case opB, opH, opKH, opTH:
		e.flags |= flagVVVV
	case opDX:
		e.implicitR |= 1 << 2
	case opX:
		e.mem = o.size
		if o.size == szL {
			e.mem = szB
		}
	case opY:
		e.mem = o.size
	case opO:
		e.mem, e.imm = o.size, immMoffs
	case opA:
		e.imm = immFar
	case opJ:
		e.imm = immJB
		switch o.size {
		case szZ:
			e.imm = immJZ
		case szQ:
			e.imm = immJQ
		}
	case opL:
		e.imm = immB
	case opI:
		switch {
		case e.imm == immW:
			e.imm = immWB
		case e.imm == immB:
			e.imm = immBB
		case o.size == szB:
			e.imm = immB
		case o.size == szS:
			e.imm = immBS
		case o.size == szW:
			e.imm = immW
		case o.size == szZ:
			e.imm = immZ
		case o.size == szV:
			e.imm = immV
		case o.size == szD:
			e.imm = immD
		}
	}
}

// selectOperands fills what Decode copies into Dst, Src and Src2.
func (e *entry) selectOperands(sem *semantic) {
	op := func(i int) slot {
		if i < int(e.nops) {
			return slotOf(e.ops[i])
		}
		return slotNone
	}
	if e.nops > 0 {
		e.size = e.ops[0].size
	}
	switch e.class {
	case isa.Compare, isa.Test:
		e.src, e.src2 = op(0), op(1)
	case isa.Push:
		e.src, e.src2 = op(0), op(1)
	case isa.Pop:
		e.dst, e.src2 = op(0), op(1)
	case isa.Add, isa.Sub, isa.And, isa.Or, isa.Xor, isa.Shift, isa.CondSelect:
		n := int(e.newDest)
		e.dst, e.src, e.src2 = op(0), op(n), op(n+1)
		if e.class == isa.Xor || e.class == isa.Sub {
			e.flags |= flagZeroIdiom
		}
		if e.class == isa.CondSelect { // Dst ← cond ? Src : Src2
			e.src, e.src2 = op(n+1), op(n)
		}
	case isa.Other:
		if e.flow == isa.Jump || e.flow == isa.Call || e.flow == isa.Return {
			e.src = op(0)
		} else if len(sem.access) > 0 {
			i := 0
			if strings.Contains(sem.access[0], "w") {
				e.dst, i = op(0), 1
				if strings.Contains(sem.access[0], "r") {
					i = 0
				}
			}
			e.src, e.src2 = op(i), op(i+1)
		}
	default:
		e.dst, e.src = op(0), op(1)
	}
	switch e.name {
	case "cwde", "cdqe":
		e.dst, e.src, e.size = slotA, slotA, szV
		e.flags |= flagSigned
	case "movsx", "movsxd", "sar":
		e.flags |= flagSigned
	case "inc", "dec":
		e.flags |= flagOne
	case "endbr32", "endbr64":
		e.flags |= flagEndBranch
	}
	if e.class == isa.Shift {
		if e.ops[1+e.newDest].kind == opOne {
			e.flags |= flagOne
		}
		if e.name != "shl" {
			e.flags |= flagRight
		}
	}
	if (e.flow == isa.Jump || e.flow == isa.Call) && e.imm != immJB && e.imm != immJZ && e.imm != immJQ {
		e.flags |= flagIndirect
		if e.flow == isa.Jump {
			e.flow = isa.IndirectJump
		} else {
			e.flow = isa.IndirectCall
		}
	}
}
