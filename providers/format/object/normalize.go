package object

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// overlayLimit bounds the exact treatment of overlapping segments, which costs
// the square of their number.
const overlayLimit = 2048

// Normalize brings an image into its promised form: segments that neither
// overlap nor wrap around the address space, every list sorted, duplicate
// hints, parts and landing pads dropped. Loaders call it last; SegmentAt and
// Bytes are exact only afterwards.
func (im *Image) Normalize() {
	im.NormalizeSegments()
	symbols := Beside(func() { // the longest of the lists
		sortByAddress(im.Symbols, func(s *Symbol) uint64 { return s.Addr }, func(a, b *Symbol) int {
			return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Size, b.Size))
		})
	})
	defer symbols()
	sortByAddress(im.Sections, func(s *Section) uint64 { return s.Addr }, func(a, b *Section) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Name, b.Name))
	})
	sortByAddress(im.Imports, func(i *Import) uint64 { return i.Slot }, func(a, b *Import) int {
		return cmp.Or(cmp.Compare(a.Library, b.Library), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Ordinal, b.Ordinal), cmp.Compare(a.Stub, b.Stub))
	})
	sortByAddress(im.Exports, func(e *Export) uint64 { return e.Addr }, func(a, b *Export) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Ordinal, b.Ordinal))
	})
	sortByAddress(im.Relocations, func(r *Relocation) uint64 { return r.Addr }, func(a, b *Relocation) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Symbol, b.Symbol), cmp.Compare(a.Target, b.Target))
	})
	sortByAddress(im.Stubs, func(s *Stub) uint64 { return s.Addr }, func(a, b *Stub) int { return 0 })
	im.NormalizeHints()
	slices.SortFunc(im.Parts, func(a, b FunctionPart) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Parent, b.Parent), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Source, b.Source))
	})
	im.Parts = slices.Compact(im.Parts)
	slices.Sort(im.LandingPads)
	im.LandingPads = slices.Compact(im.LandingPads)
	slices.SortFunc(im.CallSites, func(a, b CallSite) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Pad, b.Pad))
	})
	im.CallSites = slices.Compact(im.CallSites)
	slices.SortFunc(im.DataInCode, func(a, b Range) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Size, b.Size))
	})
}

// NormalizeHints sorts the hints and keeps one for each address and source:
// the one that knows most. Who adds hints after loading calls it again.
func (im *Image) NormalizeHints() {
	named := func(h *FunctionHint) int {
		if h.Name != "" {
			return 0
		}
		return 1
	}
	sortByAddress(im.Hints, func(h *FunctionHint) uint64 { return h.Addr }, func(a, b *FunctionHint) int {
		if a.Source != b.Source {
			return cmp.Compare(a.Source, b.Source)
		}
		return cmp.Or(cmp.Compare(named(a), named(b)), cmp.Compare(b.Size, a.Size), cmp.Compare(a.Name, b.Name))
	})
	im.Hints = slices.CompactFunc(im.Hints, func(a, b FunctionHint) bool { return a.Addr == b.Addr && a.Source == b.Source })
}

// noteLimit bounds the notes of one image, so that a hostile file can't make
// more of them than anybody reads.
const noteLimit = 256

// Note records a limitation once.
func (im *Image) Note(format string, args ...any) {
	if len(im.Notes) == noteLimit {
		im.Notes = append(im.Notes, "further notes are left out")
	}
	if len(im.Notes) > noteLimit {
		return
	}
	n := fmt.Sprintf(format, args...)
	if !slices.Contains(im.Notes, n) {
		im.Notes = append(im.Notes, n)
	}
}

// NormalizeSegments drops empty segments, cuts those that wrap, and resolves
// overlaps as a loader does: a later mapping hides an earlier one. A loader
// that reads through Bytes calls it as soon as the segments are known.
func (im *Image) NormalizeSegments() {
	kept := im.Segments[:0]
	for _, s := range im.Segments {
		if s.Size == 0 {
			continue
		}
		if room := -s.Addr; s.Addr != 0 && s.Size > room {
			s.Size = room
		}
		s.FileSize = min(s.FileSize, s.Size)
		kept = append(kept, s)
	}
	im.Segments = kept
	byAddr := func(a, b Segment) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Size, b.Size))
	}
	overlaps := func(ss []Segment) int {
		for i := 1; i < len(ss); i++ {
			if ss[i].Addr-ss[i-1].Addr < ss[i-1].Size {
				return i
			}
		}
		return 0
	}
	sorted := slices.Clone(im.Segments)
	slices.SortStableFunc(sorted, byAddr)
	first := overlaps(sorted)
	if first == 0 {
		im.Segments = sorted
		return
	}
	im.Note("segments overlap at %#x; a later segment hides an earlier one", sorted[first].Addr)
	if len(sorted) > overlayLimit {
		out := sorted[:1]
		for _, s := range sorted[1:] {
			last := &out[len(out)-1]
			if s.Addr-last.Addr < last.Size {
				last.cut(s.Addr - last.Addr)
			}
			if last.Size == 0 {
				*last = s
			} else {
				out = append(out, s)
			}
		}
		im.Segments = out
		return
	}
	var out []Segment
	for _, s := range im.Segments {
		next := make([]Segment, 0, len(out)+2)
		for _, o := range out {
			next = append(next, o.without(s.Addr, s.Size)...)
		}
		out = append(next, s)
	}
	slices.SortStableFunc(out, byAddr)
	im.Segments = out
}

// cut shortens a segment to n bytes.
func (s *Segment) cut(n uint64) {
	s.Size = min(s.Size, n)
	s.FileSize = min(s.FileSize, s.Size)
}

// without returns what is left of s outside [addr, addr+size).
func (s Segment) without(addr, size uint64) []Segment {
	last, hideLast := s.Addr+(s.Size-1), addr+(size-1)
	if hideLast < s.Addr || addr > last {
		return []Segment{s}
	}
	var out []Segment
	if addr > s.Addr {
		head := s
		head.cut(addr - s.Addr)
		out = append(out, head)
	}
	if hideLast < last {
		tail, skip := s, hideLast+1-s.Addr
		tail.Addr += skip
		tail.Size -= skip
		if tail.FileSize > skip {
			tail.FileSize -= skip
			tail.Offset += skip
		} else {
			tail.FileSize = 0
		}
		out = append(out, tail)
	}
	return out
}

// Section returns the first section with that name, or nil.
func (im *Image) Section(name string) *Section {
	for i := range im.Sections {
		if im.Sections[i].Name == name {
			return &im.Sections[i]
		}
	}
	return nil
}

// SectionBytes is the file content of a section, cut at the end of the file.
func (im *Image) SectionBytes(s *Section) []byte {
	if s == nil || s.FileSize == 0 || s.Offset >= uint64(len(im.data)) {
		return nil
	}
	n := min(s.FileSize, uint64(len(im.data))-s.Offset)
	return im.contents()[s.Offset : s.Offset+n : s.Offset+n]
}

// SectionAt returns the mapped section that holds addr, or nil.
func (im *Image) SectionAt(addr uint64) *Section {
	i := sort.Search(len(im.Sections), func(i int) bool { return im.Sections[i].Addr > addr })
	for steps := 0; i > 0 && steps < 64; steps++ {
		i--
		if s := &im.Sections[i]; s.Mapped && addr-s.Addr < s.Size {
			return s
		}
	}
	return nil
}

// Executable tells whether addr lies in an executable segment.
func (im *Image) Executable(addr uint64) bool {
	s := im.SegmentAt(addr)
	return s != nil && s.Perm.Execute
}

// SetRelocated hands the image a copy of the file in which relocations are
// applied; Bytes and SectionBytes read from it. It must be as long as the data.
func (im *Image) SetRelocated(b []byte) {
	if len(b) == len(im.data) {
		im.relocated = b
	}
}

func (im *Image) contents() []byte {
	if im.relocated != nil {
		return im.relocated
	}
	return im.data
}
