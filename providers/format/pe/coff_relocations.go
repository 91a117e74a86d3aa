package pe

// relocationInfo is how a COFF relocation is written at its place: size is 0
// where the place holds no plain value (instruction fields, section numbers).
type relocationInfo struct {
	name   string
	size   uint8
	branch bool // AArch64 branch with a 26-bit word offset
}

// relocationKind names a relocation of an object file.
func relocationKind(machine, kind uint16) relocationInfo {
	var table map[uint16]relocationInfo
	switch machine {
	case machineAMD64:
		table = amd64Relocations
	case machineI386:
		table = i386Relocations
	case machineARM64, machineARM64EC, machineARM64X:
		table = arm64Relocations
	case machineARMNT:
		table = armRelocations
	}
	if r, ok := table[kind]; ok {
		return r
	}
	return relocationInfo{name: "unknown"}
}

// addend reads the value stored at the place of a relocation.
func (l *loader) addend(addr uint64, how relocationInfo) (uint64, bool) {
	b := l.im.Bytes(addr, int(how.size))
	if len(b) < int(how.size) {
		return 0, false
	}
	switch {
	case how.branch:
		return uint64(int64(int32(le.Uint32(b)<<6)) >> 4), true
	case how.size == 8:
		return le.Uint64(b), true
	case how.size == 4:
		return uint64(int64(int32(le.Uint32(b)))), true
	}
	return 0, false
}

var amd64Relocations = map[uint16]relocationInfo{
	0x0: {name: "IMAGE_REL_AMD64_ABSOLUTE"}, 0x1: {name: "IMAGE_REL_AMD64_ADDR64", size: 8},
	0x2: {name: "IMAGE_REL_AMD64_ADDR32", size: 4}, 0x3: {name: "IMAGE_REL_AMD64_ADDR32NB", size: 4},
	0x4: {name: "IMAGE_REL_AMD64_REL32", size: 4}, 0x5: {name: "IMAGE_REL_AMD64_REL32_1", size: 4},
	0x6: {name: "IMAGE_REL_AMD64_REL32_2", size: 4}, 0x7: {name: "IMAGE_REL_AMD64_REL32_3", size: 4},
	0x8: {name: "IMAGE_REL_AMD64_REL32_4", size: 4}, 0x9: {name: "IMAGE_REL_AMD64_REL32_5", size: 4},
	0xa: {name: "IMAGE_REL_AMD64_SECTION"}, 0xb: {name: "IMAGE_REL_AMD64_SECREL"},
	0xc: {name: "IMAGE_REL_AMD64_SECREL7"}, 0xd: {name: "IMAGE_REL_AMD64_TOKEN"},
	0xe: {name: "IMAGE_REL_AMD64_SREL32"}, 0xf: {name: "IMAGE_REL_AMD64_PAIR"}, 0x10: {name: "IMAGE_REL_AMD64_SSPAN32"},
}

var i386Relocations = map[uint16]relocationInfo{
	0x0: {name: "IMAGE_REL_I386_ABSOLUTE"}, 0x1: {name: "IMAGE_REL_I386_DIR16"}, 0x2: {name: "IMAGE_REL_I386_REL16"},
	0x6: {name: "IMAGE_REL_I386_DIR32", size: 4}, 0x7: {name: "IMAGE_REL_I386_DIR32NB", size: 4},
	0x9: {name: "IMAGE_REL_I386_SEG12"}, 0xa: {name: "IMAGE_REL_I386_SECTION"}, 0xb: {name: "IMAGE_REL_I386_SECREL"},
	0xc: {name: "IMAGE_REL_I386_TOKEN"}, 0xd: {name: "IMAGE_REL_I386_SECREL7"}, 0x14: {name: "IMAGE_REL_I386_REL32", size: 4},
}

var arm64Relocations = map[uint16]relocationInfo{
	0x0: {name: "IMAGE_REL_ARM64_ABSOLUTE"}, 0x1: {name: "IMAGE_REL_ARM64_ADDR32", size: 4},
	0x2: {name: "IMAGE_REL_ARM64_ADDR32NB", size: 4}, 0x3: {name: "IMAGE_REL_ARM64_BRANCH26", size: 4, branch: true},
	0x4: {name: "IMAGE_REL_ARM64_PAGEBASE_REL21"}, 0x5: {name: "IMAGE_REL_ARM64_REL21"},
	0x6: {name: "IMAGE_REL_ARM64_PAGEOFFSET_12A"}, 0x7: {name: "IMAGE_REL_ARM64_PAGEOFFSET_12L"},
	0x8: {name: "IMAGE_REL_ARM64_SECREL"}, 0x9: {name: "IMAGE_REL_ARM64_SECREL_LOW12A"},
	0xa: {name: "IMAGE_REL_ARM64_SECREL_HIGH12A"}, 0xb: {name: "IMAGE_REL_ARM64_SECREL_LOW12L"},
	0xc: {name: "IMAGE_REL_ARM64_TOKEN"}, 0xd: {name: "IMAGE_REL_ARM64_SECTION"},
	0xe: {name: "IMAGE_REL_ARM64_ADDR64", size: 8}, 0xf: {name: "IMAGE_REL_ARM64_BRANCH19"},
	0x10: {name: "IMAGE_REL_ARM64_BRANCH14"}, 0x11: {name: "IMAGE_REL_ARM64_REL32", size: 4},
}

var armRelocations = map[uint16]relocationInfo{
	0x0: {name: "IMAGE_REL_ARM_ABSOLUTE"}, 0x1: {name: "IMAGE_REL_ARM_ADDR32", size: 4},
	0x2: {name: "IMAGE_REL_ARM_ADDR32NB", size: 4}, 0x3: {name: "IMAGE_REL_ARM_BRANCH24"},
	0x4: {name: "IMAGE_REL_ARM_BRANCH11"}, 0xa: {name: "IMAGE_REL_ARM_REL32", size: 4},
	0xe: {name: "IMAGE_REL_ARM_SECTION"}, 0xf: {name: "IMAGE_REL_ARM_SECREL"},
	0x10: {name: "IMAGE_REL_ARM_MOV32A"}, 0x11: {name: "IMAGE_REL_ARM_MOV32T"},
	0x12: {name: "IMAGE_REL_ARM_BRANCH20T"}, 0x14: {name: "IMAGE_REL_ARM_BRANCH24T"}, 0x15: {name: "IMAGE_REL_ARM_BLX23T"},
}
