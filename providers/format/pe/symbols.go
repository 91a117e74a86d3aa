package pe

import (
	"bytes"

	"rea/providers/format/object"
)

// COFF storage classes.
const (
	classExternal     = 2
	classStatic       = 3
	classLabel        = 6
	classFile         = 103
	classSection      = 104
	classWeakExternal = 105
)

// coffSymbol is one record of a symbol table.
type coffSymbol struct {
	name    string
	value   uint32
	section int32 // 1-based; 0 undefined, -1 absolute, -2 debugging
	typ     uint16
	class   byte
	aux     []byte // auxiliary records, as far as they are there
}

// eachSymbol walks a symbol table of 18-byte (or, in big objects, 20-byte)
// records. Auxiliary records count as entries of the table.
func (l *loader) eachSymbol(symtab, n uint32, size int, visit func(index int, s coffSymbol)) {
	if symtab == 0 || n == 0 {
		return
	}
	if uint64(symtab) >= uint64(len(l.data)) {
		l.im.Note("symbol table lies beyond the file")
		return
	}
	b := l.data[symtab:]
	count := int(n)
	if have := len(b) / size; uint64(n) > uint64(have) {
		l.im.Note("header claims %d symbols, the file holds %d", n, have)
		count = have
	}
	for i := 0; i < count; i++ {
		r := b[i*size : (i+1)*size]
		s := coffSymbol{value: le.Uint32(r[8:])}
		if size == 20 {
			s.section, s.typ, s.class = int32(le.Uint32(r[12:])), le.Uint16(r[16:]), r[18]
		} else {
			s.section, s.typ, s.class = int32(int16(le.Uint16(r[12:]))), le.Uint16(r[14:]), r[16]
		}
		aux := min(int(r[size-1]), count-i-1)
		s.aux = b[(i+1)*size : (i+1+aux)*size]
		if le.Uint32(r) == 0 {
			s.name, _ = l.stringAt(uint64(le.Uint32(r[4:])))
		} else {
			s.name = string(bytes.TrimRight(r[:8], "\x00"))
		}
		visit(i, s)
		i += aux
	}
}

// symbols adds the COFF symbol table to the image.
func (l *loader) symbols(symtab, n uint32, size int) {
	before := len(l.im.Symbols)
	l.eachSymbol(symtab, n, size, l.symbol)
	l.im.Strip = len(l.im.Symbols) == before
}

func (l *loader) symbol(index int, s coffSymbol) {
	out := object.Symbol{Name: s.name, Source: "coff", Global: s.class == classExternal || s.class == classWeakExternal}
	switch {
	case s.class == classFile:
		name := bytes.TrimRight(s.aux, "\x00")
		out.Kind, out.Name = object.SymFile, string(name)
	case s.section == -2 || s.class == classSection:
		return
	case s.section == 0 && s.value != 0 && s.class == classExternal:
		// A common block of that size.
		out.Kind, out.Size, out.Defined = object.SymObject, uint64(s.value), true
		out.Addr, out.Section = l.targets[uint32(index)].addr, commonName
	case s.section == 0:
		out.Kind = object.SymLabel
		out.Weak = s.class == classWeakExternal
		if s.typ>>4 == 2 {
			out.Kind = object.SymFunction
		}
	case s.section == -1:
		out.Kind, out.Addr, out.Defined = object.SymLabel, uint64(s.value), true
	default:
		i := int(s.section) - 1
		if i < 0 || i >= len(l.sections) || l.sections[i].addr == 0 {
			return
		}
		sec := &l.sections[i]
		if span := max(sec.vsize, sec.rawSize); s.value > span {
			return
		}
		out.Addr, out.Defined, out.Section = sec.addr+uint64(s.value), true, sec.name
		out.Kind, out.Size = symbolKind(s, sec)
		out.Weak = s.class == classWeakExternal
	}
	if out.Name == "" {
		return
	}
	if out.Kind == object.SymFunction && out.Defined {
		if l.thumb() {
			out.Addr &^= 1
		}
		l.hint(out.Addr, out.Size, out.Name, object.FromSymbol)
		if _, ok := l.coffNames[out.Addr]; !ok {
			l.coffNames[out.Addr] = out.Name
		}
	}
	l.im.Symbols = append(l.im.Symbols, out)
}

// symbolKind reads a defined symbol's kind. Type 0x20 is a function; a static
// symbol at offset 0 with an auxiliary record is its section. GNU tools leave
// the type of assembly symbols 0, so these stay labels.
func symbolKind(s coffSymbol, sec *section) (object.SymbolKind, uint64) {
	switch {
	case s.typ>>4 == 2:
		var size uint64
		if len(s.aux) >= 8 && s.class != classStatic {
			size = uint64(le.Uint32(s.aux[4:]))
		}
		if uint64(s.value)+size > uint64(max(sec.vsize, sec.rawSize)) {
			size = 0
		}
		return object.SymFunction, size
	case s.class == classStatic && s.value == 0 && len(s.aux) > 0 && s.typ == 0:
		return object.SymSection, 0
	case s.class == classLabel:
		return object.SymLabel, 0
	case sec.flags&(scnExecute|scnCode) != 0:
		return object.SymLabel, 0
	}
	return object.SymObject, 0
}
