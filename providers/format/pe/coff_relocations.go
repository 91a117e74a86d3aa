package pe

// relocationField is how a value is stored at the place of a relocation.
type relocationField uint8

const (
	fieldNone   relocationField = iota
	fieldValue                  // size bytes
	fieldPC                     // size bytes, relative to the end of the field plus extra
	fieldPage21                 // ADRP
	fieldAdr21                  // ADR
	fieldAdd12                  // ADD immediate, low 12 bits
	fieldLoad12                 // scaled offset of a load or store, low 12 bits
	fieldBranch                 // word distance, width bits from bit shift
)

// relocationInfo describes one relocation type of object files.
type relocationInfo struct {
	name         string
	field        relocationField
	size         uint8
	extra        uint8 // bytes between the field and the next instruction
	width, shift uint8
}

// relocationKind looks a relocation type up; types without a plain value
// (section numbers, debug offsets) have no field.
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
	return table[kind]
}

var amd64Relocations = map[uint16]relocationInfo{
	0x1: {name: "IMAGE_REL_AMD64_ADDR64", field: fieldValue, size: 8},
	0x2: {name: "IMAGE_REL_AMD64_ADDR32", field: fieldValue, size: 4},
	0x3: {name: "IMAGE_REL_AMD64_ADDR32NB", field: fieldValue, size: 4},
	0x4: {name: "IMAGE_REL_AMD64_REL32", field: fieldPC, size: 4},
	0x5: {name: "IMAGE_REL_AMD64_REL32_1", field: fieldPC, size: 4, extra: 1},
	0x6: {name: "IMAGE_REL_AMD64_REL32_2", field: fieldPC, size: 4, extra: 2},
	0x7: {name: "IMAGE_REL_AMD64_REL32_3", field: fieldPC, size: 4, extra: 3},
	0x8: {name: "IMAGE_REL_AMD64_REL32_4", field: fieldPC, size: 4, extra: 4},
	0x9: {name: "IMAGE_REL_AMD64_REL32_5", field: fieldPC, size: 4, extra: 5},
}

var i386Relocations = map[uint16]relocationInfo{
	0x6:  {name: "IMAGE_REL_I386_DIR32", field: fieldValue, size: 4},
	0x7:  {name: "IMAGE_REL_I386_DIR32NB", field: fieldValue, size: 4},
	0x14: {name: "IMAGE_REL_I386_REL32", field: fieldPC, size: 4},
}

var arm64Relocations = map[uint16]relocationInfo{
	0x1:  {name: "IMAGE_REL_ARM64_ADDR32", field: fieldValue, size: 4},
	0x2:  {name: "IMAGE_REL_ARM64_ADDR32NB", field: fieldValue, size: 4},
	0x3:  {name: "IMAGE_REL_ARM64_BRANCH26", field: fieldBranch, width: 26},
	0x4:  {name: "IMAGE_REL_ARM64_PAGEBASE_REL21", field: fieldPage21},
	0x5:  {name: "IMAGE_REL_ARM64_REL21", field: fieldAdr21},
	0x6:  {name: "IMAGE_REL_ARM64_PAGEOFFSET_12A", field: fieldAdd12},
	0x7:  {name: "IMAGE_REL_ARM64_PAGEOFFSET_12L", field: fieldLoad12},
	0xe:  {name: "IMAGE_REL_ARM64_ADDR64", field: fieldValue, size: 8},
	0xf:  {name: "IMAGE_REL_ARM64_BRANCH19", field: fieldBranch, width: 19, shift: 5},
	0x10: {name: "IMAGE_REL_ARM64_BRANCH14", field: fieldBranch, width: 14, shift: 5},
	0x11: {name: "IMAGE_REL_ARM64_REL32", field: fieldPC, size: 4},
}

var armRelocations = map[uint16]relocationInfo{
	0x1: {name: "IMAGE_REL_ARM_ADDR32", field: fieldValue, size: 4},
	0x2: {name: "IMAGE_REL_ARM_ADDR32NB", field: fieldValue, size: 4},
	0xa: {name: "IMAGE_REL_ARM_REL32", field: fieldPC, size: 4},
}

// apply stores the relocated value over the addend it finds in b and returns
// that addend. The addend of low-12-bit fields is the low part only.
func (r relocationInfo) apply(b []byte, target, place uint64) uint64 {
	switch r.field {
	case fieldValue:
		if r.size == 8 {
			a := le.Uint64(b)
			le.PutUint64(b, target+a)
			return a
		}
		a := uint64(int64(int32(le.Uint32(b))))
		le.PutUint32(b, uint32(target+a))
		return a
	case fieldPC:
		a := uint64(int64(int32(le.Uint32(b))))
		le.PutUint32(b, uint32(target+a-place-4-uint64(r.extra)))
		return a
	}
	w := le.Uint32(b)
	var addend uint64
	switch r.field {
	case fieldPage21, fieldAdr21:
		addend = uint64(int64(int32((w>>5&0x7ffff<<2|w>>29&3)<<11)) >> 11)
		v := target + addend - place
		if r.field == fieldPage21 {
			v = uint64(int64((target+addend)&^0xfff-place&^0xfff) >> 12)
		}
		w = w&0x9f00001f | uint32(v)&3<<29 | uint32(v)>>2&0x7ffff<<5
	case fieldAdd12:
		addend = uint64(w >> 10 & 0xfff)
		w = w&^(0xfff<<10) | uint32(target+addend)&0xfff<<10
	case fieldLoad12:
		scale := w >> 30
		if w&0x04800000 == 0x04800000 { // 128-bit vector register
			scale += 4
		}
		addend = uint64(w>>10&0xfff) << scale
		w = w&^(0xfff<<10) | uint32(target+addend)&0xfff>>scale<<10
	case fieldBranch:
		mask := uint32(1)<<r.width - 1
		addend = uint64(int64(int32(w>>r.shift<<(32-r.width))) >> (32 - r.width) << 2)
		w = w&^(mask<<r.shift) | uint32(int64(target+addend-place)>>2)&mask<<r.shift
	}
	le.PutUint32(b, w)
	return addend
}
