package pe

import (
	"bytes"
	"strings"

	"rea/providers/format/object"
)

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
	l.im.Base = ObjectBase
	l.stringTable(symtab, nsyms, uint64(symSize))
	l.sectionTable(headerLen, nsec)
	l.layOut()
	l.placeSymbols(symtab, nsyms, symSize)
	l.im.NormalizeSegments()
	l.symbols(symtab, nsyms, symSize)
	l.applyRelocations()
	l.objectExceptions()
	l.debugSections()
}

// objectExceptions reads the function tables of an object: one for each
// section of code that was compiled apart.
func (l *loader) objectExceptions() {
	for i := range l.sections {
		s := &l.sections[i]
		if s.addr != 0 && strings.HasPrefix(s.name, ".pdata") {
			l.functions(directory{uint32(s.addr), s.rawSize})
		}
	}
	l.ehFrames()
}
