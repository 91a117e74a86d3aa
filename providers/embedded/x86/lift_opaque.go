package x86

import (
	"strings"

	"rea/providers/embedded/ir"
)

// opaque translates what is not modelled: the operands tell which registers
// are read and written.
func (l *lifter) opaque() {
	e := ir.Effect{Name: l.e.name}
	seen := map[uint64]bool{}
	write := func(v ir.Value) {
		if !seen[v.N] {
			seen[v.N] = true
			e.Writes = append(e.Writes, v)
		}
	}
	for r := range 8 + 24*l.d.mode {
		if l.in.Reads>>r&1 == 1 {
			e.Reads = append(e.Reads, l.register(r))
		}
		if l.in.Writes>>r&1 == 1 {
			write(l.register(r))
		}
	}
	vector := false
	var stored, at ir.Value
	for i, o := range l.e.ops[:l.e.nops] {
		first := i == 0
		if o.kind == opQ && l.inMemory(o) {
			vector = true
			write(l.arch.Reg(regFPU))
		}
		switch {
		case l.inMemory(o) && l.plainMemory():
			vector = vector || isVector(o)
			at = l.address()
			bits := uint16(l.in.Mem.Size) * 8
			if first && !readsOnly(l.e.name) {
				stored = l.Temp(bits)
				e.Writes = append(e.Writes, stored)
			} else {
				e.Reads = append(e.Reads, l.Load(at, bits))
			}
		case l.inMemory(o):
			vector = vector || isVector(o) || o.kind == opKE
			e.ReadsMemory = true
			e.WritesMemory = e.WritesMemory || first && !readsOnly(l.e.name)
		case isVector(o) || o.kind == opL:
			vector = true
			switch {
			case !first || !overwrites(l.e.name):
				e.Reads = append(e.Reads, l.vector(o))
			case strings.HasSuffix(l.e.name, "sd"): // the upper part is kept
				e.Reads = append(e.Reads, l.Extract(l.vector(o), 64, vectorBits-64))
			case strings.HasSuffix(l.e.name, "ss"):
				e.Reads = append(e.Reads, l.Extract(l.vector(o), 32, vectorBits-32))
			}
			if first {
				write(l.vector(o))
			}
		case o.kind == opKG, o.kind == opKR, o.kind == opKH:
			vector = true
			k := l.arch.Reg(regMask0 + l.maskNumber(o))
			e.Reads = append(e.Reads, k)
			if first {
				write(k)
			}
		case o.kind == opXMM0:
			vector = true
			e.Reads = append(e.Reads, l.arch.Reg(regVec0))
		case o.kind == opP, o.kind == opQ, o.kind == opN:
			vector = true
			e.Reads = append(e.Reads, l.arch.Reg(regFPU))
			write(l.arch.Reg(regFPU))
		case o.kind == opST, o.kind == opSTi:
			e.Reads = append(e.Reads, l.arch.Reg(regFPU))
			write(l.arch.Reg(regFPU))
		case o.kind == opS, o.kind == opSeg, o.kind == opC, o.kind == opD, o.kind == opTG, o.kind == opTE, o.kind == opTH, o.kind == opBG, o.kind == opBE:
			write(l.arch.Reg(regSystem))
		}
	}
	l.gatherOperands(&e, write)
	if l.x.vector == 2 && l.x.mask != 0 {
		e.Reads = append(e.Reads, l.arch.Reg(regMask0+int(l.x.mask)))
	}
	name := l.e.name
	switch {
	case l.x.opcode >= 0xd8 && l.x.opcode <= 0xdf && l.x.space == map1:
		e.Reads = append(e.Reads, l.arch.Reg(regFPU))
		write(l.arch.Reg(regFPU))
		if strings.Contains(name, "comi") || strings.HasPrefix(name, "fcmov") {
			l.readOrWriteFlags(&e, write, strings.Contains(name, "comi"))
		}
	case vector:
		if writesFlags(name) {
			l.readOrWriteFlags(&e, write, true)
		}
		if strings.HasPrefix(name, "pcmp") || strings.HasPrefix(name, "vpcmp") {
			if strings.Contains(name, "strm") {
				write(l.arch.Reg(regVec0))
			}
		}
	default:
		l.systemEffects(&e, write)
	}
	l.Opaque(e)
	if stored.Kind != ir.None {
		l.Store(at, stored)
	}
}

// plainMemory says whether the memory operand of an instruction that is not
// modelled is read whole, or written whole, and nothing else of memory is:
// of floating-point and vector instructions without masks.
func (l *lifter) plainMemory() bool {
	switch l.in.Mem.Size {
	case 2, 4, 8, 10, 16, 32, 64:
	default:
		return false
	}
	if l.x.opcode >= 0xd8 && l.x.opcode <= 0xdf && l.x.space == map1 {
		return true
	}
	if l.e.flags&flagVSIB != 0 || l.x.vector == 2 && (l.x.mask != 0 || l.x.bcast) || strings.Contains(l.e.name, "mask") {
		return false
	}
	for _, o := range l.e.ops[:l.e.nops] {
		if isVector(o) && !l.inMemory(o) {
			return true
		}
	}
	return false
}

// gatherOperands adds the vector index of gathers and scatters, and the mask
// register or vector that they clear as they go.
func (l *lifter) gatherOperands(e *ir.Effect, write func(ir.Value)) {
	if l.e.flags&flagVSIB == 0 {
		return
	}
	p := printer{d: l.d, x: l.x, b: l.b}
	e.Reads = append(e.Reads, l.arch.Reg(regVec0+int(p.vectorIndex())))
	if l.x.vector == 2 {
		write(l.arch.Reg(regMask0 + int(l.x.mask)))
		return
	}
	for _, o := range l.e.ops[:l.e.nops] {
		if o.kind == opH {
			write(l.vector(o))
		}
	}
}

func (l *lifter) maskNumber(o operand) int {
	switch o.kind {
	case opKG:
		return int(l.x.modrm >> 3 & 7)
	case opKH:
		return int(l.x.vvvv & 7)
	}
	return int(l.x.modrm & 7)
}

// systemEffects is what remaining instructions touch besides their operands:
// unless known better, flags, memory and system state.
func (l *lifter) systemEffects(e *ir.Effect, write func(ir.Value)) {
	switch l.e.name {
	case "rdtsc", "rdtscp", "rdpmc", "rdmsr", "cpuid", "xgetbv", "rdfsbase", "rdgsbase", "rdpid", "rdsspd", "rdsspq", "smsw", "sldt", "str", "crc32", "pdep", "pext", "rdpru", "rdpkru":
		e.Reads = append(e.Reads, l.arch.Reg(regSystem))
		return
	case "fwait", "emms", "femms":
		write(l.arch.Reg(regFPU))
		return
	case "clflush", "clflushopt", "clwb", "wbinvd", "invlpg", "monitor", "mwait", "cli", "sti", "swapgs", "xabort", "ptwrite", "clac", "stac":
		write(l.arch.Reg(regSystem))
		return
	case "wrfsbase":
		write(l.arch.Reg(regFSBase))
		return
	case "wrgsbase":
		write(l.arch.Reg(regGSBase))
		return
	case "xrstor", "xrstor64", "fxrstor", "fxrstor64", "xrstors", "xrstors64":
		for i := range min(32, 8+24*l.d.mode) {
			write(l.arch.Reg(regVec0 + i))
		}
		for i := range 8 {
			write(l.arch.Reg(regMask0 + i))
		}
	}
	l.readOrWriteFlags(e, write, true)
	write(l.arch.Reg(regSystem))
	write(l.arch.Reg(regFPU))
	e.ReadsMemory = true
	if !readsOnly(l.e.name) {
		e.WritesMemory = true
	}
}

// readOrWriteFlags adds the arithmetic flags.
func (l *lifter) readOrWriteFlags(e *ir.Effect, write func(ir.Value), writes bool) {
	for _, f := range []int{regCF, regPF, regAF, regZF, regSF, regOF} {
		e.Reads = append(e.Reads, l.flag(f))
		if writes {
			write(l.flag(f))
		}
	}
}

// readsOnly reports whether an instruction that is not modelled only reads its
// first operand.
func readsOnly(name string) bool {
	for _, p := range []string{"comis", "ucomis", "vcomis", "vucomis", "ptest", "vptest", "vtest", "pcmpestr", "pcmpistr", "vpcmpestr", "vpcmpistr", "fld", "fild",
		"fbld", "fadd", "fmul", "fcom", "fsub", "fdiv", "fiadd", "fimul", "ficom", "fisub", "fidiv", "ldmxcsr", "vldmxcsr", "frstor", "fxrstor", "xrstor",
		"lgdt", "lidt", "lldt", "ltr", "lmsw", "verr", "verw", "lar", "lsl", "bound", "clflush", "clwb", "kortest", "ktest"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// overwrites reports whether an instruction that is not modelled replaces its
// first operand, a vector register, or of scalars the low element, without
// reading it.
func overwrites(name string) bool {
	switch name {
	case "cvtsi2ss", "cvtsi2sd", "cvtss2sd", "cvtsd2ss", "sqrtss", "sqrtsd", "rcpss", "rsqrtss", "roundss", "roundsd",
		"pshufd", "pshuflw", "pshufhw", "cvtdq2ps", "cvtps2dq", "cvttps2dq", "cvtdq2pd", "cvtpd2dq", "cvttpd2dq", "cvtps2pd", "cvtpd2ps",
		"sqrtps", "sqrtpd", "rcpps", "rsqrtps", "pabsb", "pabsw", "pabsd":
		return true
	}
	return strings.HasPrefix(name, "pmovzx") || strings.HasPrefix(name, "pmovsx")
}

// writesFlags reports whether a vector instruction writes the arithmetic flags.
func writesFlags(name string) bool {
	for _, p := range []string{"comis", "ucomis", "vcomis", "vucomis", "ptest", "vptest", "vtest", "pcmpestr", "pcmpistr", "vpcmpestr", "vpcmpistr", "kortest", "ktest"} {
		if strings.HasPrefix(name, p) && !strings.HasPrefix(name, "vptestm") && !strings.HasPrefix(name, "vptestnm") {
			return true
		}
	}
	return false
}
