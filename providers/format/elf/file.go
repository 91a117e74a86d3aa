package elf

import (
	"bytes"
	"encoding/binary"
	"sort"

	"rea/providers/format/object"
)

// file is one ELF file being read. Everything is read through bounds-checked
// accessors; a read outside the file gives zero or an empty slice.
type file struct {
	data  []byte
	order binary.ByteOrder
	is64  bool
	im    *object.Image

	header   header
	programs []program
	sections []section

	dynamic  dynamic
	dynsym   symbolTable
	versions versionTable
	relocs   []reloc
	props    properties
	layout   *layout // of a relocatable object
}

// header is the ELF file header, widened to 64 bits.
type header struct {
	class, data, osabi, abiVersion byte
	typ, machine                   uint16
	entry, phoff, shoff            uint64
	flags                          uint32
	phentsize, phnum               uint64
	shentsize, shnum, shstrndx     uint64
}

// program is one program header.
type program struct {
	typ, flags                                 uint32
	offset, vaddr, paddr, filesz, memsz, align uint64
}

// section is one section header; addr is where the loader put it.
type section struct {
	name                      string
	nameOff, typ              uint32
	flags, addr, offset, size uint64
	link, info                uint32
	align, entsize            uint64
	placed                    bool // addr was assigned by our layout
}

func (f *file) u16(b []byte) uint16 {
	if len(b) < 2 {
		return 0
	}
	return f.order.Uint16(b)
}

func (f *file) u32(b []byte) uint32 {
	if len(b) < 4 {
		return 0
	}
	return f.order.Uint32(b)
}

func (f *file) u64(b []byte) uint64 {
	if len(b) < 8 {
		return 0
	}
	return f.order.Uint64(b)
}

// word reads an address-sized value.
func (f *file) word(b []byte) uint64 {
	if f.is64 {
		return f.u64(b)
	}
	return uint64(f.u32(b))
}

func (f *file) wordSize() uint64 {
	if f.is64 {
		return 8
	}
	return 4
}

// at returns up to n bytes of the file from offset off.
func (f *file) at(off, n uint64) []byte {
	if off >= uint64(len(f.data)) {
		return nil
	}
	n = min(n, uint64(len(f.data))-off)
	return f.data[off : off+n : off+n]
}

// mapped returns up to n file-backed bytes at a virtual address.
func (f *file) mapped(addr, n uint64) []byte {
	return f.im.Bytes(addr, int(min(n, uint64(len(f.data)))))
}

// contents returns the file bytes of a section.
func (f *file) contents(s *section) []byte {
	if s.typ == shtNobits || s.typ == shtNull {
		return nil
	}
	return f.at(s.offset, s.size)
}

// maxName bounds a symbol's name, nameBudget how much longer than its string
// table the names of one table may be together: entries may share bytes, and a
// hostile table lets every symbol name the whole table.
const (
	maxName    = 1 << 18
	nameFactor = 16
	nameExtra  = 1 << 20
)

// stringTable finds NUL-ended strings without scanning a byte twice.
type stringTable struct {
	s      string
	ends   []uint32 // offsets of the NUL bytes
	budget int
	denied bool // a name was left out
}

func newStringTable(b []byte) *stringTable {
	if len(b) > 1<<32-1 {
		b = b[:1<<32-1]
	}
	t := &stringTable{s: string(b), budget: nameFactor*len(b) + nameExtra}
	t.ends = make([]uint32, 0, bytes.Count(b, []byte{0}))
	for i := 0; ; {
		j := bytes.IndexByte(b[i:], 0)
		if j < 0 {
			return t
		}
		t.ends = append(t.ends, uint32(i+j))
		i += j + 1
	}
}

// get returns the string at off, or "" when it does not end inside the table.
func (t *stringTable) get(off uint32) string {
	if t == nil || uint64(off) >= uint64(len(t.s)) || t.s[off] == 0 {
		return ""
	}
	i := sort.Search(len(t.ends), func(i int) bool { return t.ends[i] >= off })
	if i == len(t.ends) {
		return ""
	}
	n := int(t.ends[i] - off)
	if n > maxName || n > t.budget {
		t.denied = true
		return ""
	}
	t.budget -= n
	return t.s[off:t.ends[i]]
}
