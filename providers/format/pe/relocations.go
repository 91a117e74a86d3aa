package pe

import "rea/providers/format/object"

// Base relocation types.
const (
	relAbsolute = 0
	relHigh     = 1
	relLow      = 2
	relHighLow  = 3
	relHighAdj  = 4
	relMov32A   = 5
	relMov32T   = 7
	relDir64    = 10
)

var baseRelocationNames = map[uint16]string{
	relHigh: "IMAGE_REL_BASED_HIGH", relLow: "IMAGE_REL_BASED_LOW", relHighLow: "IMAGE_REL_BASED_HIGHLOW",
	relHighAdj: "IMAGE_REL_BASED_HIGHADJ", relMov32A: "IMAGE_REL_BASED_ARM_MOV32",
	relMov32T: "IMAGE_REL_BASED_THUMB_MOV32", relDir64: "IMAGE_REL_BASED_DIR64",
}

// baseRelocations reads the blocks of page, size and 16-bit entries.
func (l *loader) baseRelocations() {
	d := l.dirs[dirBaseReloc]
	if d.rva == 0 || d.size == 0 {
		return
	}
	b := l.from(d.rva, uint64(d.size))
	if uint64(len(b)) < uint64(d.size) {
		l.im.Note("base relocations claim %d bytes, the image holds %d", d.size, len(b))
	}
	l.im.Relocations = make([]object.Relocation, 0, len(b)/4)
	for len(b) >= 8 {
		page, size := le.Uint32(b), int64(le.Uint32(b[4:]))
		if size < 8 || size > int64(len(b)) {
			if page != 0 || size != 0 {
				l.im.Note("a base relocation block claims %d bytes where %d are left", size, len(b))
			}
			break
		}
		l.relocationBlock(page, b[8:size])
		b = b[size:]
	}
}

func (l *loader) relocationBlock(page uint32, entries []byte) {
	if !l.spend(len(entries) / 2) {
		return
	}
	for ; len(entries) >= 2; entries = entries[2:] {
		e := le.Uint16(entries)
		kind, rva := e>>12, uint64(page)+uint64(e&0xfff)
		if kind == relAbsolute {
			continue
		}
		if kind == relHighAdj && len(entries) >= 4 {
			entries = entries[2:] // the next entry is this one's parameter
		}
		r := object.Relocation{Addr: l.base + rva, Type: baseRelocationNames[kind]}
		if r.Type == "" {
			l.im.Note("base relocations of unknown type %d", kind)
			continue
		}
		switch kind {
		case relHigh, relLow, relHighAdj:
			r.Size = 2
		case relHighLow:
			r.Size = 4
			if v := l.im.Bytes(r.Addr, 4); len(v) == 4 {
				r.Target, r.HasTarget = uint64(le.Uint32(v)), true
			}
		case relDir64:
			r.Size = 8
			if v := l.im.Bytes(r.Addr, 8); len(v) == 8 {
				r.Target, r.HasTarget = le.Uint64(v), true
			}
		case relMov32A, relMov32T:
			r.Size = 8
			if v := l.im.Bytes(r.Addr, 8); len(v) == 8 && kind == relMov32T {
				r.Target, r.HasTarget = uint64(thumbMov32(v)), true
			}
		}
		if r.HasTarget && l.im.SegmentAt(r.Target) == nil {
			r.HasTarget, r.Target = false, 0
		}
		l.im.Relocations = append(l.im.Relocations, r)
	}
}

// thumbMov32 reads the value of a MOVW/MOVT pair in Thumb-2 encoding.
func thumbMov32(b []byte) uint32 {
	half := func(b []byte) uint32 {
		a, c := uint32(le.Uint16(b)), uint32(le.Uint16(b[2:]))
		return a&0xf<<12 | a>>10&1<<11 | c>>12&7<<8 | c&0xff
	}
	return half(b[4:])<<16 | half(b)
}
