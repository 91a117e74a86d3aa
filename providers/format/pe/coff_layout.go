package pe

import (
	"strings"

	"rea/providers/format/object"
)

// ObjectBase is where the first section of an object file is laid out. It is
// not 0, so that an address can't be mistaken for an absent one.
const ObjectBase = 0x100000

// What the layout adds to an object's own sections: a place for each common
// symbol, for each undefined one, and a pointer for each imported one.
const (
	objectLimit = 1 << 31
	externSize  = 16
	commonName  = "*COM*"
	externName  = "*UND*"
	slotName    = "*IAT*"
)

// layOut gives every section of an object that a linker would keep an address.
func (l *loader) layOut() {
	l.next = ObjectBase
	size := uint64(len(l.data))
	for i := range l.sections {
		s := &l.sections[i]
		out := object.Section{
			Name: s.name, Size: uint64(s.rawSize), Offset: uint64(s.raw), Type: sectionType(s.flags),
			Perm: permissions(s.flags), Align: 1 << (max(s.flags>>20&15, 1) - 1), Code: s.flags&(scnCode|scnExecute) != 0,
		}
		if s.flags&scnBSS == 0 && s.raw != 0 {
			if out.Offset < size {
				out.FileSize = min(out.Size, size-out.Offset)
			}
			if out.FileSize < out.Size {
				l.im.Note("section %q: %d of its %d bytes are missing at the end of the file", s.name, out.Size-out.FileSize, out.Size)
			}
		}
		if s.flags&(scnRemove|scnInfo|scnDiscardable) == 0 {
			if addr, ok := l.place(max(out.Size, 1), out.Align); ok {
				out.Addr, out.Mapped, s.addr = addr, true, addr
				l.im.Segments = append(l.im.Segments, object.Segment{
					Name: s.name, Addr: addr, Size: out.Size, Offset: out.Offset, FileSize: out.FileSize, Perm: out.Perm,
				})
			} else {
				l.im.Note("section %q does not fit the address space", s.name)
			}
		}
		l.im.Sections = append(l.im.Sections, out)
	}
}

// place reserves size bytes of the address space of an object.
func (l *loader) place(size, align uint64) (uint64, bool) {
	addr := alignUp(l.next, align)
	if addr > objectLimit || size > objectLimit-addr {
		return 0, false
	}
	l.next = addr + size
	return addr, true
}

// objectSymbol is where a symbol of an object was put.
type objectSymbol struct {
	name  string
	addr  uint64
	local bool // defined in this object
}

// placeSymbols finds the address of every symbol, making one up for those that
// are not in a section. An imported function's "__imp_" symbol is a pointer.
func (l *loader) placeSymbols(symtab, nsyms uint32, symSize int) {
	l.targets = map[uint32]objectSymbol{}
	type pending struct {
		index  uint32
		symbol coffSymbol
	}
	var commons, externs, slots []pending
	weak := map[uint32]uint32{} // weak external to its default
	l.eachSymbol(symtab, nsyms, symSize, func(i int, s coffSymbol) {
		index := uint32(i)
		switch n := int(s.section) - 1; {
		case s.class == classFile || s.name == "":
		case n >= 0 && n < len(l.sections) && l.sections[n].addr != 0:
			l.targets[index] = objectSymbol{s.name, l.sections[n].addr + uint64(s.value), true}
		case s.section != 0:
		case s.class == classWeakExternal && len(s.aux) >= 4:
			weak[index] = le.Uint32(s.aux)
			externs = append(externs, pending{index, s})
		case s.value != 0:
			commons = append(commons, pending{index, s})
		case strings.HasPrefix(s.name, "__imp_"):
			slots = append(slots, pending{index, s})
		default:
			externs = append(externs, pending{index, s})
		}
	})
	group := func(name string, list []pending, perm object.Permissions, visit func(p pending) bool) {
		l.next = alignUp(l.next, 4096)
		start := l.next
		for _, p := range list {
			if !visit(p) {
				l.im.Note("symbols do not fit the address space")
				break
			}
		}
		if l.next > start {
			l.im.Segments = append(l.im.Segments, object.Segment{Name: name, Addr: start, Size: l.next - start, Perm: perm})
		}
	}
	group(commonName, commons, object.Permissions{Read: true, Write: true}, func(p pending) bool {
		addr, ok := l.place(uint64(p.symbol.value), 16)
		if ok {
			l.targets[p.index] = objectSymbol{p.symbol.name, addr, true}
		}
		return ok
	})
	group(slotName, slots, object.Permissions{Read: true, Write: true}, func(p pending) bool {
		addr, ok := l.place(uint64(l.pointerSize()), uint64(l.pointerSize()))
		if ok {
			l.targets[p.index] = objectSymbol{p.symbol.name, addr, false}
			l.im.Imports = append(l.im.Imports, object.Import{Name: p.symbol.name[len("__imp_"):], Slot: addr, Ordinal: -1})
		}
		return ok
	})
	group(externName, externs, object.Permissions{Read: true, Execute: true}, func(p pending) bool {
		if t, ok := l.targets[weak[p.index]]; ok && p.symbol.class == classWeakExternal && t.local {
			l.targets[p.index] = objectSymbol{p.symbol.name, t.addr, true}
			return true
		}
		addr, ok := l.place(externSize, externSize)
		if ok {
			l.targets[p.index] = objectSymbol{p.symbol.name, addr, false}
			l.coffNames[addr] = p.symbol.name
			l.im.Imports = append(l.im.Imports, object.Import{
				Name: p.symbol.name, Stub: addr, Ordinal: -1, Weak: p.symbol.class == classWeakExternal,
			})
			l.im.Stubs = append(l.im.Stubs, object.Stub{Addr: addr, Size: externSize, Kind: object.StubJump, Name: p.symbol.name})
		}
		return ok
	})
}

// applyRelocations reads each section's relocations and applies them to a copy
// of the file, as a linker would for this layout.
func (l *loader) applyRelocations() {
	copied := append([]byte(nil), l.data...)
	for i := range l.sections {
		s := &l.sections[i]
		if s.addr == 0 {
			continue
		}
		for b := l.sectionRelocations(s); len(b) >= 10; b = b[10:] {
			off, index, kind := le.Uint32(b)-s.rva, le.Uint32(b[4:]), le.Uint16(b[8:])
			r := relocationKind(l.machine, kind)
			if r.size == 0 && r.field == fieldNone {
				continue
			}
			size := max(r.size, 4)
			if off > s.rawSize || s.rawSize-off < uint32(size) {
				l.im.Note("section %q has a relocation that lies outside it", s.name)
				continue
			}
			out := object.Relocation{Addr: s.addr + uint64(off), Size: size, Type: r.name}
			t, ok := l.targets[index]
			if !ok {
				l.im.Note("section %q has a relocation that names no symbol", s.name)
				continue
			}
			out.Symbol = t.name
			at := uint64(s.raw) + uint64(off)
			if at+uint64(size) <= uint64(len(copied)) && s.raw != 0 {
				addend := r.apply(copied[at:at+uint64(size)], t.addr, out.Addr)
				if t.local {
					out.Target, out.HasTarget = t.addr+addend, true
				}
			}
			l.im.Relocations = append(l.im.Relocations, out)
		}
	}
	l.im.SetRelocated(copied)
}

// sectionRelocations returns the 10-byte records of a section. A count of
// 65535 with the overflow flag is continued in the first record.
func (l *loader) sectionRelocations(s *section) []byte {
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
	return b[:10*n]
}
