package pe

import (
	"bytes"
	"sort"

	"rea/providers/format/object"
)

// ObjectBase is where the first section of an object file is laid out. It is
// not 0, so that an address can't be mistaken for an absent one.
const ObjectBase = 0x1000

// bigObjectClass identifies objects with 32-bit section numbers (/bigobj).
var bigObjectClass = []byte{
	0xc7, 0xa1, 0xba, 0xd1, 0xee, 0xba, 0xa9, 0x4b, 0xaf, 0x20, 0xfa, 0xf6, 0x6a, 0xa4, 0xdc, 0xb8,
}

// isObject recognises COFF objects: they have no magic but the machine.
func isObject(data []byte) bool {
	if len(data) < 20 {
		return false
	}
	m := le.Uint16(data)
	if m == 0 && le.Uint16(data[2:]) == 0xffff {
		m = le.Uint16(data[6:])
		_, ok := machineNames[m]
		return ok && le.Uint16(data[4:]) <= 2
	}
	if _, ok := machineNames[m]; !ok {
		return false
	}
	nsec, opt := uint64(le.Uint16(data[2:])), le.Uint16(data[16:])
	symtab, size := uint64(le.Uint32(data[8:])), uint64(len(data))
	return opt == 0 && nsec > 0 && 20+nsec*sectionHeaderLen <= size && symtab <= size
}

func (l *loader) object() error {
	if !isObject(l.data) {
		return bad(0, "neither a PE image nor a COFF object")
	}
	l.im.Kind, l.im.FileType = object.Relocatable, "COFF"
	if le.Uint16(l.data) == 0 {
		return l.anonymous()
	}
	l.setMachine(le.Uint16(l.data))
	l.chars = le.Uint16(l.data[18:])
	l.objectBody(20, int(le.Uint16(l.data[2:])), le.Uint32(l.data[8:]), le.Uint32(l.data[12:]), 18)
	return nil
}

// anonymous reads the headers that begin with machine 0: members of import
// libraries and big objects.
func (l *loader) anonymous() error {
	l.setMachine(le.Uint16(l.data[6:]))
	version := le.Uint16(l.data[4:])
	if version == 0 {
		return l.importMember()
	}
	if version < 2 || len(l.data) < 56 || !bytes.Equal(l.data[12:28], bigObjectClass) {
		return bad(0, "an anonymous object of unknown class (compiler-private code)")
	}
	l.im.FileType = "COFF bigobj"
	n := le.Uint32(l.data[44:])
	if uint64(n) > uint64(len(l.data))/sectionHeaderLen {
		l.im.Note("header claims %d sections", n)
		n = uint32(len(l.data) / sectionHeaderLen)
	}
	l.objectBody(56, int(n), le.Uint32(l.data[48:]), le.Uint32(l.data[52:]), 20)
	return nil
}

// importMember is a short import: one name of one library.
func (l *loader) importMember() error {
	l.im.FileType = "COFF import"
	rest := l.data[20:]
	symbol, ok := l.terminated(rest)
	if !ok {
		return bad(20, "import member without a name")
	}
	lib, ok := l.terminated(rest[len(symbol)+1:])
	if !ok {
		return bad(20+uint64(len(symbol)), "import member without a library name")
	}
	flags := le.Uint16(l.data[18:])
	im := object.Import{Name: symbol, Library: lib, Ordinal: -1, Data: flags&3 == 1}
	if flags>>2&7 == 0 {
		im.Ordinal = int(le.Uint16(l.data[16:]))
	}
	l.im.Imports = append(l.im.Imports, im)
	l.im.Libraries = append(l.im.Libraries, object.Library{Name: lib})
	l.im.Strip = true
	return nil
}

func (l *loader) objectBody(headerLen uint64, nsec int, symtab, nsyms uint32, symSize int) {
	l.plus = l.im.Bits == 64
	l.im.Base = 0
	l.stringTable(symtab, nsyms, uint64(symSize))
	l.sectionTable(headerLen, nsec)
	l.layOut()
	l.symbols(symtab, nsyms, symSize)
	l.objectRelocations(symtab, nsyms, symSize)
	l.undefinedImports()
	l.objectUnwind()
	for _, s := range l.sections {
		switch {
		case s.name == ".debug$S":
			l.debugKind("codeview")
		case s.name == ".debug_info":
			l.debugKind("dwarf")
		}
	}
	sort.Strings(l.im.Debug)
}

// layOut gives every section of an object that a linker would keep an address.
func (l *loader) layOut() {
	addr := uint64(ObjectBase)
	size := uint64(len(l.data))
	for i := range l.sections {
		s := &l.sections[i]
		out := object.Section{
			Name: s.name, Size: uint64(s.rawSize), Offset: uint64(s.raw), Type: sectionType(s.flags),
			Perm: permissions(s.flags), Align: 1 << (max(s.flags>>20&15, 1) - 1), Code: s.flags&(scnCode|scnExecute) != 0,
		}
		if s.flags&scnBSS == 0 && s.raw != 0 {
			switch {
			case out.Offset >= size:
				if out.Size > 0 {
					l.im.Note("section %q: its data at file offset %#x lies beyond the file", s.name, s.raw)
				}
			default:
				out.FileSize = min(out.Size, size-out.Offset)
			}
		}
		if s.flags&(scnRemove|scnInfo) == 0 && s.flags&(scnDiscardable) == 0 {
			addr = alignUp(addr, out.Align)
			out.Addr, out.Mapped, s.addr = addr, true, addr
			if out.Size > 0 {
				l.im.Segments = append(l.im.Segments, object.Segment{
					Name: s.name, Addr: addr, Size: out.Size, Offset: out.Offset, FileSize: out.FileSize, Perm: out.Perm,
				})
			}
			addr += max(out.Size, 1)
		}
		l.im.Sections = append(l.im.Sections, out)
	}
	l.im.NormalizeSegments()
}

// undefinedImports offers the undefined symbols of an object as its imports.
func (l *loader) undefinedImports() {
	for _, s := range l.im.Symbols {
		if !s.Defined && s.Kind != object.SymFile {
			l.im.Imports = append(l.im.Imports, object.Import{Name: s.Name, Ordinal: -1, Weak: s.Weak})
		}
	}
}

// objectRelocations reads each section's relocations. Where the symbol is
// defined here, the in-place addend is added to give the target.
func (l *loader) objectRelocations(symtab, nsyms uint32, symSize int) {
	type target struct {
		name    string
		addr    uint64
		defined bool
	}
	targets := map[uint32]target{}
	l.eachSymbol(symtab, nsyms, symSize, func(i int, s coffSymbol) {
		t := target{name: s.name}
		if n := int(s.section) - 1; n >= 0 && n < len(l.sections) && l.sections[n].addr != 0 {
			t.addr, t.defined = l.sections[n].addr+uint64(s.value), true
		}
		targets[uint32(i)] = t
	})
	for i := range l.sections {
		s := &l.sections[i]
		if s.addr == 0 {
			continue
		}
		for _, b := range l.sectionRelocations(s) {
			off, index, kind := le.Uint32(b[:]), le.Uint32(b[4:]), le.Uint16(b[8:])
			off -= s.rva
			t, known := targets[index]
			if off >= s.rawSize || !known {
				l.im.Note("section %q has a relocation that lies outside it or names no symbol", s.name)
				continue
			}
			r := object.Relocation{Addr: s.addr + uint64(off), Symbol: t.name}
			how := relocationKind(l.machine, kind)
			r.Type, r.Size = how.name, how.size
			if t.defined && how.size != 0 {
				if v, ok := l.addend(r.Addr, how); ok {
					r.Target, r.HasTarget = t.addr+v, true
				}
			}
			l.im.Relocations = append(l.im.Relocations, r)
		}
	}
}

// sectionRelocations returns the 10-byte records of a section. A count of
// 65535 with the overflow flag is continued in the first record.
func (l *loader) sectionRelocations(s *section) [][10]byte {
	if s.nrelocs == 0 || uint64(s.relocs) >= uint64(len(l.data)) {
		return nil
	}
	b := l.data[s.relocs:]
	n := uint64(s.nrelocs)
	if n == 0xffff && s.flags&scnManyRelocs != 0 && len(b) >= 10 {
		n = max(uint64(le.Uint32(b)), 1) - 1
		b = b[10:]
	}
	if have := uint64(len(b) / 10); n > have {
		l.im.Note("section %q claims %d relocations, the file holds %d", s.name, n, have)
		n = have
	}
	if !l.spend(int(n)) {
		return nil
	}
	out := make([][10]byte, n)
	for i := range out {
		copy(out[i][:], b[i*10:])
	}
	return out
}
