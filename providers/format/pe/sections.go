package pe

import (
	"bytes"
	"sort"
	"strconv"
	"strings"

	"rea/providers/format/object"
)

// sectionTable reads the headers that fit into the file.
func (l *loader) sectionTable(off uint64, n int) {
	if off > uint64(len(l.data)) {
		l.im.Note("section table lies beyond the file")
		return
	}
	b := l.data[off:]
	if have := len(b) / sectionHeaderLen; n > have {
		l.im.Note("header claims %d sections, the file holds %d section headers", n, have)
		n = have
	}
	l.sections = make([]section, 0, n)
	for i := range n {
		h := b[i*sectionHeaderLen:]
		l.sections = append(l.sections, section{
			name:  l.sectionName(h[:8]),
			vsize: le.Uint32(h[8:]), rva: le.Uint32(h[12:]),
			rawSize: le.Uint32(h[16:]), raw: le.Uint32(h[20:]),
			relocs: le.Uint32(h[24:]), nrelocs: uint32(le.Uint16(h[32:])),
			flags: le.Uint32(h[36:]),
		})
	}
}

// sectionName resolves "/123" (decimal) and "//AAAA" (base 64) references
// into the string table.
func (l *loader) sectionName(b []byte) string {
	short := string(bytes.TrimRight(b, "\x00"))
	if !strings.HasPrefix(short, "/") || len(l.strtab) == 0 {
		return short
	}
	var off uint64
	if rest, ok := strings.CutPrefix(short, "//"); ok {
		const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
		for _, c := range []byte(rest) {
			d := strings.IndexByte(digits, c)
			if d < 0 {
				return short
			}
			off = off*64 + uint64(d)
		}
	} else {
		n, err := strconv.ParseUint(short[1:], 10, 32)
		if err != nil {
			return short
		}
		off = n
	}
	if name, ok := l.stringAt(off); ok && name != "" {
		return name
	}
	return short
}

// stringTable finds the strings that follow n symbols of size each.
func (l *loader) stringTable(symtab, n uint32, size uint64) {
	off := uint64(symtab) + uint64(n)*size
	if symtab == 0 || off+4 > uint64(len(l.data)) {
		return
	}
	b := l.data[off:]
	length := uint64(le.Uint32(b))
	if length > uint64(len(b)) {
		length = uint64(len(b))
	}
	if length >= 4 {
		l.strtab, l.strtabEnd = b[:length], off+length
	}
}

func (l *loader) stringAt(off uint64) (string, bool) {
	if off < 4 || off >= uint64(len(l.strtab)) {
		return "", false
	}
	b := l.strtab[off:]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	if len(b) > l.names {
		return "", false
	}
	l.names -= len(b)
	return string(b), true
}

func alignUp(v, a uint64) uint64 {
	if a <= 1 {
		return v
	}
	return (v + a - 1) / a * a
}

// mapSections lays the image out as the Windows loader does: raw offsets are
// rounded down to the sector, sizes up to the page, no further than the next
// section.
func (l *loader) mapSections() {
	const page, sector = 4096, 512
	size := uint64(len(l.data))
	low := l.optional.sectionAlignment < page && l.optional.sectionAlignment != 0
	headers := min(uint64(l.optional.sizeOfHeaders), size)
	if headers == 0 {
		headers = min(page, size)
	}
	starts := make([]uint64, 0, len(l.sections))
	for _, s := range l.sections {
		starts = append(starts, uint64(s.rva))
	}
	sort.Slice(starts, func(i, j int) bool { return starts[i] < starts[j] })
	next := func(rva uint64) uint64 {
		i := sort.Search(len(starts), func(i int) bool { return starts[i] > rva })
		if i == len(starts) {
			return 1 << 33
		}
		return starts[i]
	}
	if len(starts) > 0 && starts[0] < headers {
		headers = starts[0]
	}
	if headers > 0 {
		l.im.Segments = append(l.im.Segments, object.Segment{
			Name: "headers", Addr: l.base, Size: headers, FileSize: headers,
			Perm: object.Permissions{Read: true},
		})
	}
	seen := map[uint32]bool{}
	for i := range l.sections {
		s := &l.sections[i]
		span := uint64(s.vsize)
		if span == 0 {
			span = uint64(s.rawSize)
		}
		raw := uint64(s.raw)
		if !low && l.optional.fileAlignment >= sector {
			raw &^= sector - 1
		}
		fileSize := uint64(s.rawSize)
		if s.raw == 0 {
			fileSize = 0
		}
		mapped := span
		if !low {
			mapped = alignUp(span, page)
		}
		if gap := next(uint64(s.rva)) - uint64(s.rva); mapped > gap {
			if span > gap {
				l.im.Note("section %q overlaps the next one; its mapping ends there", s.name)
			}
			mapped = gap
		}
		switch {
		case fileSize == 0:
		case raw >= size:
			l.im.Note("section %q: its data at file offset %#x lies beyond the file", s.name, raw)
			fileSize = 0
		case raw+fileSize > size:
			l.im.Note("section %q: %d of its %d bytes are missing at the end of the file", s.name, raw+fileSize-size, fileSize)
			fileSize = size - raw
		}
		perm := permissions(s.flags)
		s.addr = l.base + uint64(s.rva)
		l.im.Sections = append(l.im.Sections, object.Section{
			Name: s.name, Addr: s.addr, Size: span, Offset: raw, FileSize: min(fileSize, span),
			Type: sectionType(s.flags), Perm: perm, Mapped: true,
			Align: uint64(l.optional.sectionAlignment), Code: perm.Execute,
		})
		if seen[s.rva] || mapped == 0 {
			continue
		}
		seen[s.rva] = true
		l.im.Segments = append(l.im.Segments, object.Segment{
			Name: s.name, Addr: s.addr, Size: mapped, Offset: raw, FileSize: min(fileSize, mapped), Perm: perm,
		})
	}
	l.im.NormalizeSegments()
}

func permissions(flags uint32) object.Permissions {
	return object.Permissions{Read: flags&scnRead != 0, Write: flags&scnWrite != 0, Execute: flags&scnExecute != 0}
}

// sectionType names the content flags, as the format has no section types.
func sectionType(flags uint32) string {
	var parts []string
	for _, f := range []struct {
		bit  uint32
		name string
	}{
		{scnCode, "CNT_CODE"}, {scnData, "CNT_INITIALIZED_DATA"}, {scnBSS, "CNT_UNINITIALIZED_DATA"},
		{scnInfo, "LNK_INFO"}, {scnRemove, "LNK_REMOVE"}, {scnComdat, "LNK_COMDAT"}, {scnDiscardable, "MEM_DISCARDABLE"},
	} {
		if flags&f.bit != 0 {
			parts = append(parts, f.name)
		}
	}
	return strings.Join(parts, "|")
}
