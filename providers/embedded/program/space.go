package program

import (
	"sort"

	"rea/providers/format/object"
)

// Code offsets number the code bytes of all executable regions in address
// order, with a few unused numbers between regions, so that analysis state is
// held in flat arrays whatever the address layout of the file.

// maxCode bounds the code one analysis covers; what lies beyond is left out
// and noted.
const maxCode = 1 << 30

// regionGuard keeps offsets of different regions apart, by more than the
// longest instruction.
const regionGuard = 32

// none is the offset of addresses outside every code region.
const none = ^uint32(0)

// region is one run of file-backed code bytes.
type region struct {
	addr uint64
	base uint32 // offset of the first byte
	data []byte
}

func (r *region) end() uint32 { return r.base + uint32(len(r.data)) }

// space maps between addresses and code offsets.
type space struct {
	regions []region
	size    uint32
	main    *region // the largest one, where most searches end
}

// newSpace collects the code sections or, where a file has none that hold its
// entry, the executable segments.
func newSpace(im *object.Image, note func(string)) *space {
	s := &space{}
	var spans []object.Range
	for i := range im.Sections {
		sec := &im.Sections[i]
		if sec.Mapped && sec.Code && sec.Size > 0 {
			spans = append(spans, object.Range{Addr: sec.Addr, Size: sec.Size})
		}
	}
	covered := func(a uint64) bool {
		for _, r := range spans {
			if a-r.Addr < r.Size {
				return true
			}
		}
		return false
	}
	if len(spans) == 0 || im.HasEntry && im.Kind != object.Relocatable && !covered(im.Entry) {
		for i := range im.Segments {
			g := &im.Segments[i]
			if g.Perm.Execute && (len(spans) == 0 || im.Entry-g.Addr < g.Size) {
				spans = append(spans, object.Range{Addr: g.Addr, Size: g.Size})
			}
		}
	}
	sort.SliceStable(spans, func(i, j int) bool { return spans[i].Addr < spans[j].Addr })
	var last uint64
	for i, r := range spans {
		if i > 0 && r.Addr < last { // overlapping claims: the earlier one keeps its bytes
			if r.Addr+r.Size <= last {
				continue
			}
			r.Size -= last - r.Addr
			r.Addr = last
		}
		last = r.Addr + r.Size
		if last < r.Addr {
			continue
		}
		n := r.Size
		if n > maxCode {
			n = maxCode
		}
		b := im.Bytes(r.Addr, int(n))
		if len(b) == 0 {
			continue
		}
		if uint64(s.size)+uint64(len(b))+regionGuard > maxCode {
			note("code beyond 1 GiB is not analysed")
			break
		}
		s.regions = append(s.regions, region{addr: r.Addr, base: s.size, data: b})
		s.size += uint32(len(b)) + regionGuard
	}
	s.main = &region{}
	for i := range s.regions {
		if g := &s.regions[i]; len(g.data) > len(s.main.data) {
			s.main = g
		}
	}
	return s
}

// off returns the code offset of an address, or none.
func (s *space) off(a uint64) uint32 {
	if d := a - s.main.addr; d < uint64(len(s.main.data)) {
		return s.main.base + uint32(d)
	}
	lo, hi := 0, len(s.regions)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if s.regions[m].addr <= a {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo == 0 {
		return none
	}
	r := &s.regions[lo-1]
	if d := a - r.addr; d < uint64(len(r.data)) {
		return r.base + uint32(d)
	}
	return none
}

// end returns the offset just behind the last byte of the region that holds
// address a-1: for exclusive ends of ranges.
func (s *space) endOff(start uint32, size uint64) uint32 {
	r := s.at(start)
	if left := uint64(r.end() - start); size > left {
		return r.end()
	}
	return start + uint32(size)
}

// at returns the region of a code offset.
func (s *space) at(off uint32) *region {
	if off-s.main.base < uint32(len(s.main.data)) {
		return s.main
	}
	lo, hi := 0, len(s.regions)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if s.regions[m].base <= off {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return &s.regions[lo-1]
}

// addr returns the address of a code offset (or of a region's end).
func (s *space) addr(off uint32) uint64 {
	r := s.at(off)
	return r.addr + uint64(off-r.base)
}

// bytes returns the bytes from off to the end of its region.
func (s *space) bytes(off uint32) []byte {
	r := s.at(off)
	if i := off - r.base; i < uint32(len(r.data)) {
		return r.data[i:]
	}
	return nil
}
