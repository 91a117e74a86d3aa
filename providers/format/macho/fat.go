package macho

import (
	"encoding/binary"
	"fmt"
	"strings"

	"rea/providers/format/object"
)

// Slice is one architecture of a universal file. A thin file is one slice.
type Slice struct {
	Arch    object.Arch
	Subtype string // "arm64e", "x86_64h", "armv7", … or "" for the plain one
	Offset  uint64
	Size    uint64
}

// Name is what a caller chooses the slice by.
func (s Slice) Name() string {
	if s.Subtype != "" {
		return s.Subtype
	}
	return string(s.Arch)
}

// UnknownSliceError says that a file has no slice of the wanted name.
type UnknownSliceError struct {
	Want string
	Have []string
}

func (e *UnknownSliceError) Error() string {
	return fmt.Sprintf("the file has no slice %q; it has %s", e.Want, strings.Join(e.Have, ", "))
}

const (
	fatMagic   = 0xcafebabe
	fatMagic64 = 0xcafebabf
	magic32    = 0xfeedface
	magic64    = 0xfeedfacf
)

// CPU types.
const (
	cpuX86     = 7
	cpuX8664   = 0x01000007
	cpuARM     = 12
	cpuARM64   = 0x0100000c
	cpuARM6432 = 0x0200000c
	cpuPPC     = 18
	cpuPPC64   = 0x01000012
)

var cpuNames = map[uint32]string{
	cpuX86: "CPU_TYPE_X86", cpuX8664: "CPU_TYPE_X86_64", cpuARM: "CPU_TYPE_ARM", cpuARM64: "CPU_TYPE_ARM64",
	cpuARM6432: "CPU_TYPE_ARM64_32", cpuPPC: "CPU_TYPE_POWERPC", cpuPPC64: "CPU_TYPE_POWERPC64",
}

var armSubtypes = map[uint32]string{
	5: "armv4t", 6: "armv6", 7: "armv5tej", 9: "armv7", 10: "armv7f", 11: "armv7s", 12: "armv7k",
	14: "armv6m", 15: "armv7m", 16: "armv7em",
}

// archOf names a CPU. The high byte of the subtype holds capabilities.
func archOf(cpu, sub uint32) (object.Arch, string) {
	sub &= 0x00ffffff
	switch cpu {
	case cpuX86:
		return object.X86, ""
	case cpuX8664:
		if sub == 8 {
			return object.X86_64, "x86_64h"
		}
		return object.X86_64, ""
	case cpuARM:
		return object.ARM, armSubtypes[sub]
	case cpuARM64:
		if sub == 2 {
			return object.ARM64, "arm64e"
		}
		return object.ARM64, ""
	case cpuARM6432:
		return object.ARM64, "arm64_32"
	case cpuPPC:
		return object.Unknown, "ppc"
	case cpuPPC64:
		return object.Unknown, "ppc64"
	}
	return object.Unknown, fmt.Sprintf("cpu%#x", cpu)
}

func byteOrder(b []byte) (binary.ByteOrder, bool, bool) {
	if len(b) < 4 {
		return nil, false, false
	}
	for _, o := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		switch o.Uint32(b) {
		case magic32:
			return o, false, true
		case magic64:
			return o, true, true
		}
	}
	return nil, false, false
}

// Is reports whether data begins like a thin or universal Mach-O file. Java
// classes share the universal magic; their version number is too large to be
// a count of architectures.
func Is(data []byte) bool {
	if _, _, ok := byteOrder(data); ok {
		return true
	}
	if len(data) < 8 {
		return false
	}
	m, n := binary.BigEndian.Uint32(data), binary.BigEndian.Uint32(data[4:])
	return (m == fatMagic || m == fatMagic64) && n > 0 && n < 44
}

// Slices lists the architectures of a file in file order.
func Slices(data []byte) ([]Slice, error) {
	s, _, err := readSlices(data)
	return s, err
}

// readSlices also tells what was wrong with entries that are left out or cut.
func readSlices(data []byte) ([]Slice, []string, error) {
	if o, _, ok := byteOrder(data); ok {
		if len(data) < 12 {
			return nil, nil, bad(0, "header cut off after %d bytes", len(data))
		}
		arch, sub := archOf(o.Uint32(data[4:]), o.Uint32(data[8:]))
		return []Slice{{arch, sub, 0, uint64(len(data))}}, nil, nil
	}
	if !Is(data) {
		return nil, nil, bad(0, "no Mach-O magic")
	}
	be := binary.BigEndian
	wide := be.Uint32(data) == fatMagic64
	n, size := int(be.Uint32(data[4:])), 20
	if wide {
		size = 32
	}
	var notes []string
	if have := (len(data) - 8) / size; n > have {
		notes = append(notes, fmt.Sprintf("universal header claims %d architectures, the file holds %d entries", n, have))
		n = have
	}
	var out []Slice
	total := uint64(len(data))
	for i := range n {
		e := data[8+i*size:]
		arch, sub := archOf(be.Uint32(e), be.Uint32(e[4:]))
		s := Slice{Arch: arch, Subtype: sub}
		if wide {
			s.Offset, s.Size = be.Uint64(e[8:]), be.Uint64(e[16:])
		} else {
			s.Offset, s.Size = uint64(be.Uint32(e[8:])), uint64(be.Uint32(e[12:]))
		}
		if s.Offset >= total || s.Size == 0 {
			notes = append(notes, fmt.Sprintf("slice %s at file offset %#x lies beyond the file", s.Name(), s.Offset))
			continue
		}
		if s.Size > total-s.Offset {
			notes = append(notes, fmt.Sprintf("slice %s is cut off at the end of the file", s.Name()))
			s.Size = total - s.Offset
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, nil, bad(0, "universal file without a usable slice")
	}
	return out, notes, nil
}

// preference orders slices when the caller names none: what a current machine
// of the platform would run first. Equal slices keep file order.
var preference = []string{"arm64e", "arm64", "x86_64h", "x86_64", "arm64_32", "armv7s", "armv7k", "armv7", "x86"}

// choose picks a slice by name: the exact name first, then the architecture.
func choose(all []Slice, want string) (Slice, error) {
	switch want {
	case "i386":
		want = "x86"
	case "aarch64":
		want = "arm64"
	case "amd64", "x86-64":
		want = "x86_64"
	}
	if want == "" {
		for _, p := range preference {
			for _, s := range all {
				if s.Name() == p {
					return s, nil
				}
			}
		}
		return all[0], nil
	}
	for _, s := range all {
		if s.Name() == want {
			return s, nil
		}
	}
	e := &UnknownSliceError{Want: want}
	for _, s := range all {
		if string(s.Arch) == want && s.Arch != object.Unknown {
			return s, nil
		}
		e.Have = append(e.Have, s.Name())
	}
	return Slice{}, e
}
