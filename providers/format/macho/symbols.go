package macho

import (
	"fmt"
	"strings"

	"rea/providers/format/object"
)

// nlist type bits.
const (
	nStab     = 0xe0
	nPrivate  = 0x10
	nTypeMask = 0x0e
	nExternal = 0x01

	nUndefined = 0x0
	nAbsolute  = 0x2
	nIndirect  = 0xa
	nPrebound  = 0xc
	nSection   = 0xe

	descWeakRef  = 0x40
	descWeakDef  = 0x80
	descAltEntry = 0x200
)

// symbolTable gives access to nlist records by index.
type symbolTable struct {
	records []byte
	strings []byte
	size    int
	count   int
	names   []string          // read so far
	defined map[string]uint64 // addresses of names defined here
}

type nlist struct {
	name  string
	typ   byte
	sect  byte
	desc  uint16
	value uint64
}

func (n *nlist) stab() bool      { return n.typ&nStab != 0 }
func (n *nlist) undefined() bool { t := n.typ & nTypeMask; return t == nUndefined || t == nPrebound }

// nlist reads the record at index i, which must be below count.
func (l *loader) nlist(i int) nlist {
	t := &l.symtab
	r := t.records[i*t.size:]
	n := nlist{typ: r[4], sect: r[5], desc: l.order.Uint16(r[6:]), value: l.word(r[8:])}
	if l.ftype == typeObject && n.typ&nTypeMask == nSection && !n.stab() {
		n.value += ObjectBase
	}
	if n.name = t.names[i]; n.name == "" {
		if x := uint64(l.u32(r)); x != 0 && x < uint64(len(t.strings)) {
			n.name, _ = l.name(t.strings[x:])
			t.names[i] = n.name
		}
	}
	return n
}

func (l *loader) readSymbols() {
	l.symtab.defined = map[string]uint64{}
	if c, ok := l.find(80, cmdDysymtab); ok {
		off, n := uint64(l.u32(c.data[56:])), uint64(l.u32(c.data[60:]))
		l.indirect = l.file(off, 4*n, "indirect symbol table")
	}
	c, ok := l.find(24, cmdSymtab)
	if !ok {
		l.im.Strip = true
		return
	}
	t := &l.symtab
	t.size = 8 + l.pointerSize()
	n := uint64(l.u32(c.data[12:]))
	t.records = l.file(uint64(l.u32(c.data[8:])), n*uint64(t.size), "symbol table")
	t.strings = l.file(uint64(l.u32(c.data[16:])), uint64(l.u32(c.data[20:])), "string table")
	t.count = len(t.records) / t.size
	t.names = make([]string, t.count)
	stabs, local, defined := 0, 0, 0
	l.im.Symbols = make([]object.Symbol, 0, t.count)
	for i := range t.count {
		s := l.nlist(i)
		if s.stab() {
			stabs++
			continue
		}
		if s.name == "" {
			continue
		}
		if !s.undefined() && s.typ&nExternal == 0 {
			local++
		}
		if !s.undefined() {
			defined++
		}
		l.symbol(s)
	}
	// Linking takes the external symbols of an object file, so they can't be
	// stripped from it, and it may have no others.
	l.im.Strip = local == 0 && stabs == 0 && (l.ftype != typeObject || defined == 0)
	if stabs > 0 {
		l.im.Debug = append(l.im.Debug, "stabs")
	}
}

func (l *loader) symbol(s nlist) {
	out := object.Symbol{
		Name: s.name, Global: s.typ&nExternal != 0 && s.typ&nPrivate == 0, Source: "symtab", Kind: object.SymLabel,
	}
	switch s.typ & nTypeMask {
	case nUndefined, nPrebound:
		out.Weak = s.desc&descWeakRef != 0
		out.Size = s.value // of a common symbol
	case nAbsolute:
		out.Addr, out.Defined = s.value, true
	case nIndirect:
		out.Defined = true
	case nSection:
		out.Addr, out.Defined, out.Weak = s.value, true, s.desc&descWeakDef != 0
		i := int(s.sect) - 1
		if i < 0 || i >= len(l.sections) {
			l.im.Note("a symbol names section %d of %d", s.sect, len(l.sections))
			break
		}
		sec := &l.sections[i]
		out.Section = sec.name
		out.Kind = symbolKind(&s, sec)
		if s.value < sec.addr || s.value-sec.addr > sec.size {
			out.Kind = object.SymLabel
		}
		if out.Kind == object.SymFunction {
			if l.cpu == cpuARM {
				out.Addr &^= 1
			}
			if s.value-sec.addr < sec.size {
				l.hint(out.Addr, 0, s.name, object.FromSymbol)
			}
		}
	default:
		return
	}
	if out.Defined {
		l.symtab.defined[s.name] = out.Addr
	}
	l.im.Symbols = append(l.im.Symbols, out)
}

// symbolKind goes by the section, as the format has no symbol types.
// Assembler-local names and alternative entries in code are labels.
func symbolKind(s *nlist, sec *section) object.SymbolKind {
	switch {
	case sec.kind() >= sectTLSRegular && sec.kind() <= sectTLSVariables:
		return object.SymTLS
	case !sec.code():
		return object.SymObject
	case s.desc&descAltEntry != 0, strings.HasPrefix(s.name, "ltmp"), strings.HasPrefix(s.name, "L"):
		return object.SymLabel
	}
	return object.SymFunction
}

// library names the dylib that a two-level ordinal stands for.
func (l *loader) library(ordinal int) string {
	switch {
	case ordinal > 0 && ordinal <= len(l.dylibs):
		return l.dylibs[ordinal-1].name
	case ordinal > 0:
		l.im.Note("an import names library %d of %d", ordinal, len(l.dylibs))
		return fmt.Sprintf("library #%d", ordinal)
	}
	return "" // this image, the main executable, flat or weak look-up
}

// symbolLibrary is the library of an undefined symbol.
func (l *loader) symbolLibrary(s *nlist) string {
	n := int(s.desc >> 8)
	if l.flags&flagTwoLevel == 0 || n >= 0xfe {
		return ""
	}
	return l.library(n)
}

// indirectSymbol is the symbol that entry i of the indirect table names.
func (l *loader) indirectSymbol(i uint64) (nlist, bool) {
	if i >= uint64(len(l.indirect)/4) {
		return nlist{}, false
	}
	v := l.u32(l.indirect[4*i:])
	const local, absolute = 0x80000000, 0x40000000
	if v&(local|absolute) != 0 || v >= uint32(l.symtab.count) {
		return nlist{}, false
	}
	s := l.nlist(int(v))
	return s, s.name != ""
}
