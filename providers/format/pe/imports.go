package pe

import (
	"fmt"

	"rea/providers/format/object"
)

// imports reads the import directory. The loader of Windows ends it at the
// first descriptor without a name or an address table, not at its size.
func (l *loader) imports() {
	d := l.dirs[dirImport]
	if d.rva == 0 {
		return
	}
	seen := map[string]bool{}
	for rva := d.rva; ; rva += 20 {
		b := l.at(rva, 20)
		if b == nil {
			l.im.Note("import directory runs out of its section")
			return
		}
		lookup, stamp, name, first := le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[12:]), le.Uint32(b[16:])
		if name == 0 || first == 0 || !l.spend(1) {
			return
		}
		lib, ok := l.cstring(name, maxName)
		if !ok {
			l.im.Note("import descriptor at %#x has no readable library name", l.base+uint64(rva))
			return
		}
		if !seen[lib] {
			seen[lib] = true
			l.im.Libraries = append(l.im.Libraries, object.Library{Name: lib})
		}
		if lookup == 0 || l.at(lookup, 1) == nil {
			if stamp != 0 && stamp != 0xffffffff {
				l.im.Note("imports of %q are bound and have no lookup table: only their slots are known", lib)
			}
			lookup = first
		}
		l.thunks(lib, lookup, first, l.base)
		if rva > 0xffffffff-40 {
			return
		}
	}
}

// thunks reads one lookup table. Names lie at nameBase plus the table's value:
// the image base, or 0 in old delay imports that hold addresses.
func (l *loader) thunks(lib string, lookup, slots uint32, nameBase uint64) {
	size := uint32(l.pointerSize())
	for i := uint32(0); ; i++ {
		at := uint64(lookup) + uint64(i)*uint64(size)
		slot := uint64(slots) + uint64(i)*uint64(size)
		if at > 0xffffffff || slot > 0xffffffff {
			return
		}
		b := l.at(uint32(at), int(size))
		if b == nil {
			l.im.Note("imports of %q run out of their section", lib)
			return
		}
		var v uint64
		var byOrdinal bool
		if l.plus {
			v = le.Uint64(b)
			byOrdinal = v>>63 != 0
		} else {
			v = uint64(le.Uint32(b))
			byOrdinal = v>>31 != 0
		}
		if v == 0 || !l.spend(1) {
			return
		}
		if _, again := l.slots[slot]; again {
			l.im.Note("imports of %q share their slots with others", lib)
			return
		}
		l.slots[slot] = struct{}{}
		im := object.Import{Library: lib, Slot: l.base + slot, Ordinal: -1}
		if byOrdinal {
			im.Ordinal = int(v & 0xffff)
			im.Name = fmt.Sprintf("#%d", im.Ordinal)
		} else {
			rva, ok := l.rvaOf(nameBase + v)
			var name string
			if ok && rva <= 0xffffffff-2 {
				name, ok = l.cstring(rva+2, maxName)
			} else {
				ok = false
			}
			if !ok {
				l.im.Note("imports of %q: entry %d names nothing in the image", lib, i)
				return
			}
			im.Name = name
		}
		l.im.Imports = append(l.im.Imports, im)
	}
}

// delayImports reads the descriptors of libraries that are loaded at the first
// call. Linkers before Visual C++ 7 wrote addresses instead of RVAs.
func (l *loader) delayImports() {
	d := l.dirs[dirDelayImport]
	if d.rva == 0 {
		return
	}
	seen := map[string]bool{}
	for rva := d.rva; ; rva += 32 {
		b := l.at(rva, 32)
		if b == nil {
			l.im.Note("delay import directory runs out of its section")
			return
		}
		attrs, name, slots, lookup := le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[12:]), le.Uint32(b[16:])
		if name == 0 || !l.spend(1) {
			return
		}
		nameBase := l.base
		if attrs&1 == 0 && !l.plus {
			nameBase = 0
			for _, p := range []*uint32{&name, &slots, &lookup} {
				*p -= uint32(l.base)
			}
		}
		lib, ok := l.cstring(name, maxName)
		if !ok {
			l.im.Note("delay import descriptor at %#x has no readable library name", l.base+uint64(rva))
			return
		}
		if !seen[lib] {
			seen[lib] = true
			l.im.Libraries = append(l.im.Libraries, object.Library{Name: lib, Delay: true})
		}
		if lookup != 0 && slots != 0 {
			l.thunks(lib, lookup, slots, nameBase)
		}
		if rva > 0xffffffff-64 {
			return
		}
	}
}

// boundImports notes libraries whose addresses were written at link time.
func (l *loader) boundImports() {
	d := l.dirs[dirBoundImport]
	if d.rva == 0 || d.size < 8 {
		return
	}
	b := l.from(d.rva, uint64(d.size))
	if b == nil && uint64(d.rva)+8 <= uint64(len(l.data)) {
		b = l.data[d.rva:min(uint64(d.rva)+uint64(d.size), uint64(len(l.data)))]
	}
	n := 0
	for off := 0; off+8 <= len(b) && l.spend(1); {
		if le.Uint32(b[off:]) == 0 && le.Uint16(b[off+4:]) == 0 {
			break
		}
		n++
		off += 8 + 8*int(le.Uint16(b[off+6:]))
	}
	if n > 0 {
		l.property("bound_imports", "%d libraries", n)
	}
}
