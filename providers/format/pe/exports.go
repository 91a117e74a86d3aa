package pe

import (
	"fmt"

	"rea/providers/format/object"
)

// maxExports is how many entries an ordinal can tell apart; an entry may have
// more names than one.
const maxExports = 1 << 16

// exports reads the export directory. An address inside the directory itself
// is the name of a forwarder; forwarders are named, never followed.
func (l *loader) exports() {
	d := l.dirs[dirExport]
	if d.rva == 0 || d.size == 0 {
		return
	}
	b := l.at(d.rva, 40)
	if b == nil {
		l.im.Note("export directory at %#x is not in the image", l.base+uint64(d.rva))
		return
	}
	if name, ok := l.cstring(le.Uint32(b[12:]), maxName); ok {
		l.im.SOName = name
	}
	ordBase := le.Uint32(b[16:])
	count, nameCount := le.Uint32(b[20:]), le.Uint32(b[24:])
	if count > maxExports || nameCount > 2*maxExports {
		l.im.Note("export directory claims %d addresses and %d names; ordinals have 16 bits", count, nameCount)
		count, nameCount = min(count, maxExports), min(nameCount, 2*maxExports)
	}
	funcs := l.table(le.Uint32(b[28:]), count, 4, "export address table")
	names := l.table(le.Uint32(b[32:]), nameCount, 4, "export name table")
	ords := l.table(le.Uint32(b[36:]), nameCount, 2, "export ordinal table")

	named := make([]bool, len(funcs)/4)
	for i := 0; i+4 <= len(names) && i/2+2 <= len(ords); i += 4 {
		index := int(le.Uint16(ords[i/2:]))
		if index >= len(named) {
			l.im.Note("an export name refers to entry %d of an address table of %d", index, len(named))
			continue
		}
		name, ok := l.cstring(le.Uint32(names[i:]), maxName)
		if !ok {
			l.im.Note("an export name lies outside the image")
			continue
		}
		named[index] = true
		l.export(name, le.Uint32(funcs[4*index:]), int(uint32(index)+ordBase), d)
	}
	for i := range named {
		if rva := le.Uint32(funcs[4*i:]); !named[i] && rva != 0 {
			l.export("", rva, int(uint32(i)+ordBase), d)
		}
	}
}

// table returns a table of count entries as far as the image holds it.
func (l *loader) table(rva, count uint32, size int, what string) []byte {
	if rva == 0 || count == 0 {
		return nil
	}
	want := uint64(count) * uint64(size)
	b := l.from(rva, want)
	b = b[:len(b)/size*size]
	if uint64(len(b)) < want {
		l.im.Note("%s claims %d entries, the image holds %d", what, count, len(b)/size)
	}
	if !l.spend(len(b) / size) {
		return nil
	}
	return b
}

func (l *loader) export(name string, rva uint32, ordinal int, d directory) {
	e := object.Export{Name: name, Ordinal: ordinal}
	if name == "" {
		e.Name = fmt.Sprintf("#%d", ordinal)
	}
	if rva-d.rva < d.size {
		e.Forward, _ = l.cstring(rva, maxName)
		l.im.Exports = append(l.im.Exports, e)
		return
	}
	e.Addr = l.base + uint64(rva)
	e.Data = !l.executable(e.Addr)
	if l.thumb() && !e.Data {
		e.Addr &^= 1
	}
	l.im.Exports = append(l.im.Exports, e)
	if name == "" {
		l.hint(e.Addr, 0, "", object.FromExport)
		return
	}
	kind := object.SymFunction
	if e.Data {
		kind = object.SymObject
	}
	l.im.Symbols = append(l.im.Symbols, object.Symbol{
		Name: name, Addr: e.Addr, Kind: kind, Global: true, Dynamic: true, Defined: true,
		Section: l.sectionOf(e.Addr), Source: "export",
	})
	if !e.Data {
		l.hint(e.Addr, 0, name, object.FromExport)
	}
}

func (l *loader) sectionOf(addr uint64) string {
	if s := l.im.SegmentAt(addr); s != nil {
		return s.Name
	}
	return ""
}
