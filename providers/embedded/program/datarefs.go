package program

import (
	"encoding/binary"
	"slices"
)

// References from data: pointers the relocations describe or, in files loaded
// at a fixed address, aligned words whose value is an address of a section.

func word(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b)
	}
	return uint64(binary.LittleEndian.Uint32(b))
}

// dataRefs appends them and brings all references into order.
func (r *recovery) dataRefs(p *Program) error {
	n := len(p.Refs)
	for _, x := range r.relocs {
		if r.sp.off(x.Addr) == none && r.mapped(x.Target) {
			p.Refs = append(p.Refs, Ref{x.Addr, x.Target, RefPointer})
		}
	}
	if r.static {
		w := uint64(r.im.Bits / 8)
		for i := range r.im.Sections {
			s := &r.im.Sections[i]
			if !s.Mapped || s.Code || s.FileSize == 0 || s.Addr == 0 || notPointers(s.Name) {
				continue
			}
			if err := r.ctx.Err(); err != nil {
				return err
			}
			b := r.im.Bytes(s.Addr, int(min(s.FileSize, maxCode)))
			for k := -s.Addr & (w - 1); k+w <= uint64(len(b)); k += w {
				var v uint64
				if w == 8 {
					v = binary.LittleEndian.Uint64(b[k:])
				} else {
					v = uint64(binary.LittleEndian.Uint32(b[k:]))
				}
				if v >= r.lowMapped && v < r.highMapped && r.sectionAt(v) != nil {
					p.Refs = append(p.Refs, Ref{s.Addr + k, v, RefPointer})
				}
			}
		}
	}
	slices.SortFunc(p.Refs[n:], compareRefs)
	if !slices.IsSortedFunc(p.Refs, compareRefs) {
		slices.SortFunc(p.Refs, compareRefs)
	}
	p.Refs = slices.Compact(p.Refs)
	return r.ctx.Err()
}
