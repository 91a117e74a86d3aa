package elf

import (
	"debug/elf"
	"fmt"
	"strings"

	"rea/providers/format/object"
)

// File types, segment types, section types and flags of the ELF specification
// and its GNU extensions, as far as the loader acts on them.
const (
	etRel, etExec, etDyn, etCore = 1, 2, 3, 4

	ptLoad, ptDynamic, ptInterp, ptNote, ptPhdr, ptTLS          = 1, 2, 3, 4, 6, 7
	ptGNUEHFrame, ptGNUStack, ptGNURelro, ptGNUProperty         = 0x6474e550, 0x6474e551, 0x6474e552, 0x6474e553
	pfX, pfW, pfR                                               = 1, 2, 4
	shtNull, shtProgbits, shtSymtab, shtStrtab, shtRela         = 0, 1, 2, 3, 4
	shtHash, shtDynamic, shtNote, shtNobits, shtRel, shtDynsym  = 5, 6, 7, 8, 9, 11
	shtInitArray, shtFiniArray, shtPreinitArray                 = 14, 15, 16
	shtGroup, shtSymtabShndx, shtRelr                           = 17, 18, 19
	shfWrite, shfAlloc, shfExecinstr, shfTLS, shfCompressed     = 1, 2, 4, 0x400, 0x800
	shnUndef, shnLoReserve, shnAbs, shnCommon, shnXindex        = 0, 0xff00, 0xfff1, 0xfff2, 0xffff
	stbLocal, stbGlobal, stbWeak, stbUnique                     = 0, 1, 2, 10
	sttNotype, sttObject, sttFunc, sttSection, sttFile          = 0, 1, 2, 3, 4
	sttCommon, sttTLS, sttIfunc                                 = 5, 6, 10
	stvDefault, stvInternal, stvHidden, stvProtected            = 0, 1, 2, 3
	em386, emARM, emX86_64, emAArch64, emIAMCU, emPPC64, emMIPS = 3, 40, 62, 183, 6, 21, 8
	emS390, emRISCV, emLoongArch                                = 22, 243, 258
)

func knownMachine(m uint16) bool { return m != 0 && !strings.Contains(machineName(m), "_UNKNOWN_") }

func machineName(m uint16) string {
	if n := elf.Machine(m).String(); strings.HasPrefix(n, "EM_") && !strings.ContainsRune(n, '+') {
		return n
	}
	return fmt.Sprintf("EM_UNKNOWN_%d", m)
}

func arch(machine uint16) object.Arch {
	switch machine {
	case em386, emIAMCU:
		return object.X86
	case emX86_64:
		return object.X86_64
	case emARM:
		return object.ARM
	case emAArch64:
		return object.ARM64
	}
	return object.Unknown
}

func typeName(t uint16) (string, object.Kind) {
	switch t {
	case 0:
		return "ET_NONE", object.OtherKind
	case etRel:
		return "ET_REL", object.Relocatable
	case etExec:
		return "ET_EXEC", object.Executable
	case etDyn:
		return "ET_DYN", object.SharedLibrary
	case etCore:
		return "ET_CORE", object.Core
	}
	return fmt.Sprintf("ET_%#x", t), object.OtherKind
}

func sectionTypeName(machine uint16, t uint32) string {
	switch {
	case t == shtRelr:
		return "SHT_RELR"
	case t == 0x6fff4c03:
		return "SHT_LLVM_ADDRSIG"
	case t == 0x70000001 && machine == emX86_64:
		return "SHT_X86_64_UNWIND"
	case t == 0x70000001 && machine == emARM:
		return "SHT_ARM_EXIDX"
	case t == 0x70000003 && machine == emARM:
		return "SHT_ARM_ATTRIBUTES"
	}
	switch n := elf.SectionType(t).String(); {
	case !strings.HasPrefix(n, "SHT_") || strings.ContainsRune(n, '+'):
		return fmt.Sprintf("SHT_%#x", t)
	case n == "SHT_GNU_VERDEF", n == "SHT_GNU_VERNEED", n == "SHT_GNU_VERSYM":
		return "SHT_GNU_" + strings.ToLower(n[8:])
	default:
		return n
	}
}

// relocationName is the psABI's name of a relocation type.
func relocationName(machine uint16, t uint32) string {
	var n string
	switch machine {
	case emX86_64:
		n = elf.R_X86_64(t).String()
	case em386, emIAMCU:
		n = elf.R_386(t).String()
	case emARM:
		n = elf.R_ARM(t).String()
	case emAArch64:
		n = elf.R_AARCH64(t).String()
	case emPPC64:
		n = elf.R_PPC64(t).String()
	case emMIPS:
		n = elf.R_MIPS(t).String()
	case emRISCV:
		n = elf.R_RISCV(t).String()
	case emS390:
		n = elf.R_390(t).String()
	case emLoongArch:
		n = elf.R_LARCH(t).String()
	}
	if !strings.HasPrefix(n, "R_") || strings.ContainsRune(n, '+') {
		return fmt.Sprintf("R_%s_%d", strings.TrimPrefix(machineName(machine), "EM_"), t)
	}
	// The Go names shorten what the ABI documents spell out.
	return strings.Replace(n, "_JMP_SLOT", "_JUMP_SLOT", 1)
}
