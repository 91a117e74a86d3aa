// Package pe reads Portable Executable images (PE32 and PE32+) and COFF
// objects into the vocabulary of package object.
//
// Addresses are ImageBase+RVA. An object file has no addresses of its own:
// its sections are laid out one after the other from ObjectBase.
//
// Every count and offset is a claim of the file. It is checked against the
// bytes there are before anything is allocated or walked; what the bytes do
// not support is left out and named in Notes. Tables that refer to one another
// share a budget in proportion to the file, so that overlapping tables cost no
// more than honest ones.
package pe

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"rea/providers/format/object"
)

var le = binary.LittleEndian

// Machine values of the COFF header.
const (
	machineI386    = 0x014c
	machineARM     = 0x01c0
	machineThumb   = 0x01c2
	machineARMNT   = 0x01c4
	machineAMD64   = 0x8664
	machineARM64   = 0xaa64
	machineARM64EC = 0xa641
	machineARM64X  = 0xa64e
)

var machineNames = map[uint16]string{
	machineI386: "IMAGE_FILE_MACHINE_I386", machineARM: "IMAGE_FILE_MACHINE_ARM",
	machineThumb: "IMAGE_FILE_MACHINE_THUMB", machineARMNT: "IMAGE_FILE_MACHINE_ARMNT",
	machineAMD64: "IMAGE_FILE_MACHINE_AMD64", machineARM64: "IMAGE_FILE_MACHINE_ARM64",
	machineARM64EC: "IMAGE_FILE_MACHINE_ARM64EC", machineARM64X: "IMAGE_FILE_MACHINE_ARM64X",
	0x0200: "IMAGE_FILE_MACHINE_IA64", 0x0ebc: "IMAGE_FILE_MACHINE_EBC",
	0x0166: "IMAGE_FILE_MACHINE_R4000", 0x01f0: "IMAGE_FILE_MACHINE_POWERPC",
	0x5032: "IMAGE_FILE_MACHINE_RISCV32", 0x5064: "IMAGE_FILE_MACHINE_RISCV64",
	0x6232: "IMAGE_FILE_MACHINE_LOONGARCH32", 0x6264: "IMAGE_FILE_MACHINE_LOONGARCH64",
}

type directory struct{ rva, size uint32 }

// Data directory indexes.
const (
	dirExport = iota
	dirImport
	dirResource
	dirException
	dirSecurity
	dirBaseReloc
	dirDebug
	dirArchitecture
	dirGlobalPtr
	dirTLS
	dirLoadConfig
	dirBoundImport
	dirIAT
	dirDelayImport
	dirCLR
)

type loader struct {
	im      *object.Image
	data    []byte
	base    uint64
	plus    bool // PE32+
	machine uint16
	chars   uint16 // COFF characteristics

	optional  optionalHeader
	dirs      [16]directory
	sections  []section
	strtab    []byte // COFF string table with its length field
	strtabEnd uint64
	targets   map[uint32]objectSymbol // of an object, by symbol index
	next      uint64                  // first free address of an object
	coffNames map[uint64]string
	cfg       loadConfig
	exDLL     uint32              // extended DLL characteristics
	budget    int                 // table entries still allowed
	names     int                 // bytes of names still allowed
	slots     map[uint64]struct{} // RVAs of import slots already read
	infos     map[uint32]struct{} // exception tables already read
	trying    bool                // a layout of exception data is only tried
}

// Is reports whether data begins like a PE image or a COFF object that Load reads.
func Is(data []byte) bool {
	if len(data) >= 64 && data[0] == 'M' && data[1] == 'Z' {
		off := uint64(le.Uint32(data[60:]))
		return off+24 <= uint64(len(data)) && bytes.Equal(data[off:off+4], []byte("PE\x00\x00"))
	}
	return isObject(data)
}

// Load reads a PE image or a COFF object. Damage that leaves something to
// look at becomes a note; a file that is neither is an *object.FormatError.
func Load(data []byte) (*object.Image, error) {
	l := &loader{
		im:     &object.Image{Format: object.PE, Arch: object.Unknown, OS: "windows"},
		data:   data,
		budget: len(data)/4 + 4096,
		names:  4*len(data) + 4096,

		slots:     map[uint64]struct{}{},
		infos:     map[uint32]struct{}{},
		coffNames: map[uint64]string{},
	}
	l.im.SetData(data)
	var err error
	if len(data) >= 2 && data[0] == 'M' && data[1] == 'Z' {
		err = l.image()
	} else {
		err = l.object()
	}
	if err != nil {
		return nil, err
	}
	l.im.Normalize()
	return l.im, nil
}

func bad(off uint64, format string, args ...any) error {
	return &object.FormatError{Format: object.PE, Offset: off, What: fmt.Sprintf(format, args...)}
}

func (l *loader) property(name, format string, args ...any) {
	l.im.Properties = append(l.im.Properties, object.Property{Name: name, Value: fmt.Sprintf(format, args...)})
}

// spend takes n table entries from the budget.
func (l *loader) spend(n int) bool {
	if n < 0 || n > l.budget {
		l.im.Note("tables claim more entries than the file can hold; the rest is left out")
		l.budget = 0
		return false
	}
	l.budget -= n
	return true
}

// at returns exactly n file-backed bytes at an RVA, or nil.
func (l *loader) at(rva uint32, n int) []byte {
	b := l.im.Bytes(l.base+uint64(rva), n)
	if len(b) < n {
		return nil
	}
	return b
}

// from returns at most n file-backed bytes at an RVA.
func (l *loader) from(rva uint32, n uint64) []byte {
	if n > uint64(len(l.data)) {
		n = uint64(len(l.data))
	}
	return l.im.Bytes(l.base+uint64(rva), int(n))
}

// cstring reads a zero-terminated name at an RVA. Without a terminator within
// limit bytes it is no name.
func (l *loader) cstring(rva uint32, limit int) (string, bool) {
	return l.terminated(l.from(rva, uint64(limit)))
}

func (l *loader) terminated(b []byte) (string, bool) {
	n := bytes.IndexByte(b, 0)
	if n < 0 || n > l.names {
		return "", false
	}
	l.names -= n
	return string(b[:n]), true
}

// maxName is the longest name read; C++ names pass 4 KiB at times.
const maxName = 16 << 10

func (l *loader) pointerSize() int {
	if l.plus {
		return 8
	}
	return 4
}

// rvaOf turns a virtual address of the image into an RVA.
func (l *loader) rvaOf(va uint64) (uint32, bool) {
	d := va - l.base
	if va < l.base || d > 0xffffffff {
		return 0, false
	}
	return uint32(d), true
}

func (l *loader) executable(addr uint64) bool {
	return l.im.Executable(addr)
}

// thumb tells whether code addresses carry the instruction set in bit 0.
func (l *loader) thumb() bool { return l.machine == machineARMNT || l.machine == machineThumb }

func (l *loader) hint(addr, size uint64, name string, from object.HintSource) {
	if l.thumb() {
		addr &^= 1
	}
	if !l.executable(addr) {
		return
	}
	l.im.Hints = append(l.im.Hints, object.FunctionHint{Addr: addr, Size: size, Name: name, Source: from})
}

func (l *loader) pad(addr uint64) {
	if l.executable(addr) {
		l.im.LandingPads = append(l.im.LandingPads, addr)
	}
}
