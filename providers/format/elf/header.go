package elf

import (
	"encoding/binary"
	"slices"

	"rea/providers/format/object"
)

const (
	headerSize32, headerSize64   = 52, 64
	programSize32, programSize64 = 32, 56
	sectionSize32, sectionSize64 = 40, 64
)

func formatError(off uint64, what string) error {
	return &object.FormatError{Format: object.ELF, Offset: off, What: what}
}

// readHeader reads the file header. The class and byte order come from e_ident
// unless e_machine then makes no sense and makes sense the other way: kernels
// look at e_machine only, and some programs lie in e_ident.
func (f *file) readHeader() error {
	d := f.data
	if len(d) < 4 || string(d[:4]) != "\x7fELF" {
		return formatError(0, "no ELF magic")
	}
	if len(d) < headerSize32 {
		return formatError(uint64(len(d)), "file ends inside the ELF header")
	}
	h := &f.header
	h.class, h.data, h.osabi, h.abiVersion = d[4], d[5], d[7], d[8]
	little, big := binary.LittleEndian.Uint16(d[18:]), binary.BigEndian.Uint16(d[18:])
	switch {
	case h.data == 1, h.data == 2:
		claimed, other := little, big
		if h.data == 2 {
			claimed, other = big, little
		}
		f.im.BigEndian = h.data == 2
		if !knownMachine(claimed) && knownMachine(other) {
			f.im.BigEndian = !f.im.BigEndian
			f.im.Note("the byte order in e_ident contradicts e_machine; e_machine is believed")
		}
	case knownMachine(little):
		f.im.Note("e_ident gives no valid byte order (%d); little endian is taken from e_machine", h.data)
	case knownMachine(big):
		f.im.BigEndian = true
		f.im.Note("e_ident gives no valid byte order (%d); big endian is taken from e_machine", h.data)
	default:
		return formatError(5, "no valid byte order")
	}
	f.order = binary.LittleEndian
	if f.im.BigEndian {
		f.order = binary.BigEndian
	}
	h.machine = f.u16(d[18:])
	f.is64 = h.class == 2
	if want, sure := f.classFromSizes(); sure && (want != h.class) {
		if h.class == 1 || h.class == 2 {
			f.im.Note("the class in e_ident contradicts the header sizes; the sizes are believed")
		} else {
			f.im.Note("e_ident gives no valid class (%d); it is taken from the header sizes", h.class)
		}
		f.is64 = want == 2
	} else if h.class != 1 && h.class != 2 {
		return formatError(4, "no valid class")
	}
	f.im.Bits = 32
	if f.is64 {
		f.im.Bits = 64
	}
	if f.is64 && len(d) < headerSize64 {
		return formatError(uint64(len(d)), "file ends inside the ELF header")
	}
	h.typ = f.u16(d[16:])
	if f.is64 {
		h.entry, h.phoff, h.shoff = f.u64(d[24:]), f.u64(d[32:]), f.u64(d[40:])
		f.readSizes(d[48:])
	} else {
		h.entry, h.phoff, h.shoff = uint64(f.u32(d[24:])), uint64(f.u32(d[28:])), uint64(f.u32(d[32:]))
		f.readSizes(d[36:])
	}
	return nil
}

// classFromSizes guesses the class from e_ehsize and e_phentsize, which sit at
// different places in the two layouts, and says whether they leave no doubt.
func (f *file) classFromSizes() (class byte, sure bool) {
	is32 := f.u16(f.data[40:]) == headerSize32 && (f.u16(f.data[42:]) == programSize32 || f.u16(f.data[46:]) == sectionSize32)
	is64 := len(f.data) >= headerSize64 && f.u16(f.data[52:]) == headerSize64 && (f.u16(f.data[54:]) == programSize64 || f.u16(f.data[58:]) == sectionSize64)
	switch {
	case is32 == is64:
		return 0, false
	case is32:
		return 1, true
	}
	return 2, true
}

// readSizes reads the header from e_flags on, which both classes share.
func (f *file) readSizes(d []byte) {
	h := &f.header
	h.flags = f.u32(d)
	h.phentsize, h.phnum = uint64(f.u16(d[6:])), uint64(f.u16(d[8:]))
	h.shentsize, h.shnum, h.shstrndx = uint64(f.u16(d[10:])), uint64(f.u16(d[12:])), uint64(f.u16(d[14:]))
}

// tableCount tells how many of n entries of a table fit the file.
func (f *file) tableCount(what string, off, n, entry uint64) uint64 {
	if off >= uint64(len(f.data)) {
		f.im.Note("the %s table lies outside the file (offset %#x)", what, off)
		return 0
	}
	if fit := (uint64(len(f.data)) - off) / entry; n > fit {
		f.im.Note("the %s table claims %d entries, the file holds %d", what, n, fit)
		return fit
	}
	return n
}

// entrySize checks a table's declared entry size against the only right one.
func (f *file) entrySize(what string, declared, want uint64) uint64 {
	if declared != want {
		f.im.Note("%s entries are declared to be %d bytes long, not %d; %d is used", what, declared, want, want)
	}
	return want
}

// readTables reads section headers and program headers. The first section
// header may hold counts that do not fit the file header.
func (f *file) readTables() {
	h := &f.header
	secSize, progSize := uint64(sectionSize32), uint64(programSize32)
	if f.is64 {
		secSize, progSize = sectionSize64, programSize64
	}
	if h.shoff != 0 {
		if first := f.at(h.shoff, secSize); uint64(len(first)) == secSize {
			s := f.parseSection(first)
			if h.shnum == 0 {
				h.shnum = s.size
			}
			if h.shstrndx == 0xffff {
				h.shstrndx = uint64(s.link)
			}
			if h.phnum == 0xffff {
				h.phnum = uint64(s.info)
			}
		}
	}
	if h.phoff != 0 && h.phnum != 0 {
		size := f.entrySize("program header", h.phentsize, progSize)
		n := f.tableCount("program header", h.phoff, h.phnum, size)
		f.programs = make([]program, n)
		for i := range f.programs {
			f.programs[i] = f.parseProgram(f.data[h.phoff+uint64(i)*size:])
		}
	}
	if h.shoff != 0 && h.shnum != 0 {
		size := f.entrySize("section header", h.shentsize, secSize)
		n := f.tableCount("section header", h.shoff, h.shnum, size)
		f.sections = make([]section, n)
		for i := range f.sections {
			f.sections[i] = f.parseSection(f.data[h.shoff+uint64(i)*size:])
		}
		f.nameSections()
	}
}

func (f *file) nameSections() {
	i := f.header.shstrndx
	if i == 0 {
		return
	}
	if i >= uint64(len(f.sections)) {
		f.im.Note("the section name table has index %d of %d sections", i, len(f.sections))
		return
	}
	names := newStringTable(f.contents(&f.sections[i]))
	for i := range f.sections {
		f.sections[i].name = names.get(f.sections[i].nameOff)
	}
}

func (f *file) parseProgram(b []byte) program {
	if f.is64 {
		return program{
			typ: f.u32(b), flags: f.u32(b[4:]), offset: f.u64(b[8:]), vaddr: f.u64(b[16:]), paddr: f.u64(b[24:]),
			filesz: f.u64(b[32:]), memsz: f.u64(b[40:]), align: f.u64(b[48:]),
		}
	}
	w := func(i int) uint64 { return uint64(f.u32(b[i:])) }
	return program{
		typ: f.u32(b), offset: w(4), vaddr: w(8), paddr: w(12), filesz: w(16), memsz: w(20), flags: f.u32(b[24:]), align: w(28),
	}
}

func (f *file) parseSection(b []byte) section {
	if f.is64 {
		return section{
			nameOff: f.u32(b), typ: f.u32(b[4:]), flags: f.u64(b[8:]), addr: f.u64(b[16:]), offset: f.u64(b[24:]), size: f.u64(b[32:]),
			link: f.u32(b[40:]), info: f.u32(b[44:]), align: f.u64(b[48:]), entsize: f.u64(b[56:]),
		}
	}
	w := func(i int) uint64 { return uint64(f.u32(b[i:])) }
	return section{
		nameOff: f.u32(b), typ: f.u32(b[4:]), flags: w(8), addr: w(12), offset: w(16), size: w(20),
		link: f.u32(b[24:]), info: f.u32(b[28:]), align: w(32), entsize: w(36),
	}
}

// first returns the first program header of a type, or nil.
func (f *file) first(typ uint32) *program {
	i := slices.IndexFunc(f.programs, func(p program) bool { return p.typ == typ })
	if i < 0 {
		return nil
	}
	return &f.programs[i]
}

// named returns the first section with that name, or nil.
func (f *file) named(name string) *section {
	i := slices.IndexFunc(f.sections, func(s section) bool { return s.name == name })
	if i < 0 {
		return nil
	}
	return &f.sections[i]
}

// typed returns the first section of a type, or nil.
func (f *file) typed(typ uint32) *section {
	i := slices.IndexFunc(f.sections, func(s section) bool { return s.typ == typ })
	if i < 0 {
		return nil
	}
	return &f.sections[i]
}
