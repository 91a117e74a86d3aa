package gopclntab

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"rea/providers/format/object"
)

// textStart finds what the offsets of a 1.18 table count from. The header's
// own field is zero in position-independent programs and since Go 1.26;
// otherwise the symbol runtime.text, the module data or the entry point tell.
func (r *reader) textStart(addr uint64) (uint64, bool) {
	im := r.im
	if p, ok := r.pointerAt(addr + 8 + 2*r.ptr); ok && r.startsCode(p) {
		return p, true
	}
	for i := range im.Symbols {
		if s := &im.Symbols[i]; s.Defined && strings.TrimPrefix(s.Name, "_") == "runtime.text" && r.startsCode(s.Addr) {
			return s.Addr, true
		}
	}
	if p, ok := r.fromModuleData(addr); ok {
		return p, true
	}
	if p, ok := r.fromEntry(); ok {
		return p, true
	}
	for _, name := range []string{".text", "__TEXT,__text"} {
		if s := im.Section(name); s != nil && s.Mapped && r.startsCode(s.Addr) {
			return s.Addr, true
		}
	}
	return 0, false
}

// startsCode tells whether the whole table would lie in code with that start.
func (r *reader) startsCode(p uint64) bool {
	last := r.lastPC()
	return p != 0 && r.im.Executable(p) && last > 0 && r.im.Executable(p+last-1)
}

// pointerAt reads a pointer, as the loader will have relocated it.
func (r *reader) pointerAt(addr uint64) (uint64, bool) {
	rs := r.im.Relocations
	i, found := slices.BinarySearchFunc(rs, addr, func(x object.Relocation, a uint64) int { return cmp.Compare(x.Addr, a) })
	if found && rs[i].HasTarget {
		return rs[i].Target, true
	}
	b := r.im.Bytes(addr, int(r.ptr))
	if uint64(len(b)) < r.ptr {
		return 0, false
	}
	v := r.word(b, 0)
	return v, v != 0
}

// Words of runtime.moduledata: a pointer to this table, six slices, and then
// findfunctab, minpc, maxpc, text.
const (
	moduleNames, moduleText = 1, 22
)

// fromModuleData finds the runtime's module data by its first two pointers.
func (r *reader) fromModuleData(addr uint64) (uint64, bool) {
	check := func(at uint64) (uint64, bool) {
		if p, ok := r.pointerAt(at + moduleNames*r.ptr); !ok || p != addr+r.nameOff {
			return 0, false
		}
		p, ok := r.pointerAt(at + moduleText*r.ptr)
		return p, ok && r.startsCode(p)
	}
	for i := range r.im.Relocations {
		if x := &r.im.Relocations[i]; x.HasTarget && x.Target == addr {
			if p, ok := check(x.Addr); ok {
				return p, true
			}
		}
	}
	pattern := make([]byte, r.ptr)
	if r.ptr == 4 {
		r.order.PutUint32(pattern, uint32(addr))
	} else {
		r.order.PutUint64(pattern, addr)
	}
	for _, s := range r.im.Segments {
		if s.Perm.Execute {
			continue
		}
		b := r.im.Bytes(s.Addr, int(min(s.FileSize, uint64(len(r.im.Data())))))
		for off := 0; ; {
			i := bytes.Index(b[off:], pattern)
			if i < 0 {
				break
			}
			if off += i; uint64(off)%r.ptr == 0 {
				if p, ok := check(s.Addr + uint64(off)); ok {
					return p, true
				}
			}
			off++
		}
	}
	return 0, false
}

// fromEntry uses that a Go program without C code enters at _rt0_….
func (r *reader) fromEntry() (uint64, bool) {
	if !r.im.HasEntry {
		return 0, false
	}
	for i := range r.count {
		pc, off := r.entry(i)
		if name, ok := r.name(uint64(r.field(off, fieldName))); ok && strings.HasPrefix(name, "_rt0_") && pc < r.im.Entry {
			if p := r.im.Entry - pc; r.startsCode(p) {
				return p, true
			}
		}
	}
	return 0, false
}
