package macho

import (
	"cmp"
	"slices"

	"rea/providers/format/object"
)

// bind is a pointer that the dynamic linker fills with an imported address.
type bind struct {
	addr    uint64
	name    string
	library string
	weak    bool // may be absent
	kind    string
}

// fixups reads the pointers to be filled, in whichever form the file has them.
func (l *loader) fixups() {
	switch {
	case l.ftype == typeObject:
		l.objectRelocations()
	case l.chainedFixups():
	default:
		l.dyldInfo()
		l.dynamicRelocations()
	}
	if l.resolved != nil {
		l.im.SetRelocated(l.resolved)
	}
}

func (l *loader) addBind(b bind) {
	if !l.spend(1) {
		return
	}
	if _, ok := l.slots[b.addr]; !ok || b.kind != "weak_bind" {
		l.slots[b.addr] = len(l.binds)
	}
	l.binds = append(l.binds, b)
}

// bindRelocations records one relocation for each bound pointer. A pointer may
// have several fixups: a lazy one starts at its stub's helper, which is of no
// interest to a reader, and a coalesced one at this image's own definition.
func (l *loader) bindRelocations() {
	kept := l.im.Relocations[:0]
	own := map[uint64]uint64{} // bound pointers that begin at something of this image
	for _, r := range l.im.Relocations {
		if _, bound := l.slots[r.Addr]; !bound {
			kept = append(kept, r)
		} else if r.HasTarget {
			own[r.Addr] = r.Target
		}
	}
	l.im.Relocations = kept
	for i, b := range l.binds {
		if l.slots[b.addr] != i {
			continue
		}
		r := object.Relocation{Addr: b.addr, Size: uint8(l.pointerSize()), Type: b.kind, Symbol: b.name}
		if addr, defined := l.symtab.defined[b.name]; defined && b.library == "" && l.im.SegmentAt(addr) != nil {
			r.Target, r.HasTarget = addr, true
		}
		if b.kind == "lazy_bind" {
			if helper, ok := own[b.addr]; ok {
				l.helpers = append(l.helpers, object.Stub{Addr: helper, Kind: object.StubLazy, Slot: b.addr, Name: b.name})
			}
		}
		l.im.Relocations = append(l.im.Relocations, r)
	}
	l.helperStubs()
	// Addresses hardly repeat, so a fast sort leaves the stable one little to do.
	slices.SortFunc(l.im.Relocations, func(a, b object.Relocation) int { return cmp.Compare(a.Addr, b.Addr) })
}

// helperStubs describes __stub_helper: an entry for each lazy pointer, after a
// head that enters the dynamic linker.
func (l *loader) helperStubs() {
	s := l.im.Section("__TEXT,__stub_helper")
	if s == nil || !s.Mapped || len(l.helpers) == 0 {
		return
	}
	size := uint64(12)
	if l.cpu == cpuX86 || l.cpu == cpuX8664 {
		size = 10
	}
	first := s.Addr + s.Size
	for _, h := range l.helpers {
		if h.Addr < s.Addr || h.Addr-s.Addr >= s.Size {
			continue
		}
		h.Size = min(size, s.Addr+s.Size-h.Addr)
		first = min(first, h.Addr)
		l.im.Stubs = append(l.im.Stubs, h)
	}
	if first > s.Addr {
		l.im.Stubs = append(l.im.Stubs, object.Stub{Addr: s.Addr, Size: first - s.Addr, Kind: object.StubResolver})
	}
}

func (l *loader) addRebase(addr, target uint64, size uint8, kind string) {
	r := object.Relocation{Addr: addr, Size: size, Type: kind}
	if l.im.SegmentAt(target) == nil {
		target &= 1<<56 - 1 // the top byte may hold a tag, as in names of C++ types
	}
	if l.im.SegmentAt(target) != nil {
		r.Target, r.HasTarget = target, true
	}
	l.im.Relocations = append(l.im.Relocations, r)
}

// pointerAt reads a pointer of the image as the file holds it.
func (l *loader) pointerAt(addr uint64) (uint64, bool) {
	n := l.pointerSize()
	b := l.im.Bytes(addr, n)
	if len(b) < n {
		return 0, false
	}
	return l.word(b), true
}

// dynamicRelocations reads the relocation tables that files without dyld
// information have: kernel extensions and old images.
func (l *loader) dynamicRelocations() {
	c, ok := l.find(80, cmdDysymtab)
	if !ok {
		return
	}
	extern := l.file(uint64(l.u32(c.data[64:])), 8*uint64(l.u32(c.data[68:])), "external relocations")
	local := l.file(uint64(l.u32(c.data[72:])), 8*uint64(l.u32(c.data[76:])), "local relocations")
	if len(extern) == 0 && len(local) == 0 || !l.spend(len(extern)/8+len(local)/8) {
		return
	}
	base := l.relocationBase()
	for b := extern; len(b) >= 8; b = b[8:] {
		addr, info := l.u32(b), l.u32(b[4:])
		index := info & 0xffffff
		if l.im.BigEndian {
			index = info >> 8
		}
		if addr>>31 != 0 || index >= uint32(l.symtab.count) {
			l.im.Note("an external relocation names no symbol")
			continue
		}
		s := l.nlist(int(index))
		l.addBind(bind{addr: base + uint64(addr), name: s.name, library: l.symbolLibrary(&s), weak: s.desc&descWeakRef != 0, kind: "bind"})
	}
	for b := local; len(b) >= 8; b = b[8:] {
		addr := base + uint64(l.u32(b)&0x7fffffff)
		if v, ok := l.pointerAt(addr); ok {
			l.addRebase(addr, v, uint8(l.pointerSize()), "rebase")
		}
	}
}

// relocationBase is what addresses of dynamic relocations count from: the first
// segment, or on 64-bit processors the first writable one.
func (l *loader) relocationBase() uint64 {
	for _, s := range l.segments {
		if !l.wide || s.initProt&2 != 0 || l.ftype == typeKextBundle {
			return s.addr
		}
	}
	return l.im.Base
}
