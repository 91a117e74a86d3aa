package macho

import (
	"slices"

	"rea/providers/format/ehframe"
	"rea/providers/format/object"
)

// unwindInfo reads the compact unwind table: a first-level index by address
// range, whose pages list functions with their encodings. Neighbours with equal
// encodings share an entry, so an entry gives a start but no size. An encoding
// of zero marks code without unwind information, which need not be a function.
func (l *loader) unwindInfo() {
	if l.ftype == typeObject {
		l.objectUnwind()
	}
	s := l.im.Section("__TEXT,__unwind_info")
	if s == nil || !s.Mapped {
		return
	}
	b := l.im.SectionBytes(s)
	if len(b) < 28 {
		l.im.Note("compact unwind information is cut off")
		return
	}
	if v := l.u32(b); v != 1 {
		l.im.Note("compact unwind information of unknown version %d", v)
		return
	}
	common := l.words(b, l.u32(b[4:]), l.u32(b[8:]))
	personalities := l.words(b, l.u32(b[12:]), l.u32(b[16:]))
	for _, p := range personalities {
		if v, ok := l.pointerAt(l.im.Base + uint64(p)); ok && v != 0 {
			l.hint(v, 0, "", object.FromCompactUnwind)
		}
	}
	at, n := uint64(l.u32(b[20:])), uint64(l.u32(b[24:]))
	if at > uint64(len(b)) || n == 0 {
		l.im.Note("compact unwind index lies outside its section")
		return
	}
	index := b[at:]
	if have := uint64(len(index)) / 12; n > have {
		l.im.Note("compact unwind information claims %d pages, its section holds %d", n, have)
		n = have
	}
	u := &compactUnwind{b: b, common: common}
	var lsdaFirst, lsdaEnd uint64
	for i := uint64(0); i+1 < n; i++ {
		e := index[12*i:]
		u.end = l.u32(index[12*(i+1):])
		if i == 0 {
			lsdaFirst = uint64(l.u32(e[8:]))
		}
		lsdaEnd = uint64(l.u32(index[12*(i+1)+8:]))
		if page := l.u32(e[4:]); page != 0 && !l.unwindPage(u, l.u32(e), page) {
			return
		}
	}
	if lsdaFirst < lsdaEnd && lsdaEnd <= uint64(len(b)) {
		l.unwindLSDAs(u, b[lsdaFirst:lsdaEnd])
	}
}

// ehFrames reads the call frames of code that compact unwind can't describe,
// and of old images. Some linkers did not relocate them: an entry that begins
// at none of the functions which other tables name is not believed.
func (l *loader) ehFrames() {
	s := l.im.Section("__TEXT,__eh_frame")
	if s == nil || !s.Mapped || s.Size == 0 {
		return
	}
	known := map[uint64]bool{}
	for _, h := range l.im.Hints {
		if h.Source == object.FromFunctionStarts || h.Source == object.FromCompactUnwind {
			known[h.Addr] = true
		}
	}
	frames := []object.Range{{Addr: s.Addr, Size: s.Size}}
	t := ehframe.Read(l.im, ehframe.Location{Frames: frames, TextBase: l.im.Base})
	if len(known) > 0 {
		before := len(t.FDEs)
		t.FDEs = slices.DeleteFunc(t.FDEs, func(f ehframe.FDE) bool { return !known[f.Addr] })
		if wrong := before - len(t.FDEs); wrong > 0 {
			l.im.Note("%d of %d call frame entries begin at no function that other tables know; they are left out", wrong, before)
		}
	}
	t.AddTo(l.im)
}

type compactUnwind struct {
	b      []byte
	common []uint32
	end    uint32   // of the current page's range
	starts []uint32 // all entries, as offsets from the image base
}

// words reads count 32-bit numbers at an offset, as far as they are there.
func (l *loader) words(b []byte, at, count uint32) []uint32 {
	if uint64(at) >= uint64(len(b)) {
		return nil
	}
	b = b[at:]
	n := min(uint64(count), uint64(len(b)/4))
	if !l.spend(int(n)) {
		return nil
	}
	out := make([]uint32, n)
	for i := range out {
		out[i] = l.u32(b[4*i:])
	}
	return out
}

// unwindPage reads a second-level page, regular or compressed.
func (l *loader) unwindPage(u *compactUnwind, first, at uint32) bool {
	const regular, compressed = 2, 3
	if uint64(at)+8 > uint64(len(u.b)) {
		l.im.Note("a compact unwind page lies outside its section")
		return true
	}
	p := u.b[at:]
	entries, count := int(l.order.Uint16(p[4:])), int(l.order.Uint16(p[6:]))
	size := 8
	kind := l.u32(p)
	switch kind {
	case regular:
	case compressed:
		size = 4
	default:
		l.im.Note("a compact unwind page of unknown kind %d", kind)
		return true
	}
	if entries > len(p) || count > (len(p)-entries)/size {
		l.im.Note("a compact unwind page claims more entries than its section holds")
		count = max(len(p)-entries, 0) / size
	}
	if !l.spend(count) {
		return false
	}
	var local []uint32
	if kind == compressed && len(p) >= 12 {
		local = l.words(p, uint32(l.order.Uint16(p[8:])), uint32(l.order.Uint16(p[10:])))
	}
	for i := range count {
		e := p[entries+i*size:]
		if kind == regular {
			l.unwindEntry(u, l.u32(e), l.u32(e[4:]))
			continue
		}
		v := l.u32(e)
		var encoding uint32
		switch x := int(v >> 24); {
		case x < len(u.common):
			encoding = u.common[x]
		case x-len(u.common) < len(local):
			encoding = local[x-len(u.common)]
		default:
			l.im.Note("a compact unwind entry names no encoding")
		}
		l.unwindEntry(u, first+v&0xffffff, encoding)
	}
	return true
}

func (l *loader) unwindEntry(u *compactUnwind, off, encoding uint32) {
	const notStart = 0x80000000
	u.starts = append(u.starts, off)
	if encoding == 0 || encoding&notStart != 0 {
		return
	}
	l.hint(l.im.Base+uint64(off), 0, "", object.FromCompactUnwind)
}

// unwindLSDAs reads the pairs of function and language specific data.
func (l *loader) unwindLSDAs(u *compactUnwind, pairs []byte) {
	bad := 0
	for ; len(pairs) >= 8 && l.spend(1); pairs = pairs[8:] {
		start, at := l.u32(pairs), l.u32(pairs[4:])
		if !l.lsda(l.im.Base+uint64(start), l.im.Base+uint64(at)) {
			bad++
		}
	}
	if bad > 0 {
		l.im.Note("exception tables of %d functions can't be read", bad)
	}
}

// compactUnwindName is where an object keeps what the linker makes the compact
// unwind table from.
const compactUnwindName = "__LD,__compact_unwind"

// objectUnwind reads the entries of an object: start, length, encoding,
// personality and exception table of each function.
func (l *loader) objectUnwind() {
	s := l.im.Section(compactUnwindName)
	if s == nil || !s.Mapped {
		return
	}
	p := l.pointerSize()
	size := 3*p + 8
	b := l.im.SectionBytes(s)
	if !l.spend(len(b) / size) {
		return
	}
	for ; len(b) >= size; b = b[size:] {
		start, length := l.word(b), uint64(l.u32(b[p:]))
		l.hint(start, length, "", object.FromCompactUnwind)
		if lsda := l.word(b[2*p+8:]); lsda != 0 && !l.lsda(start, lsda) {
			l.im.Note("the exception table of %#x can't be read", start)
		}
	}
}

// lsda reads the call sites of one function's exception table. Landing pads
// are offsets from the function's start.
func (l *loader) lsda(function, addr uint64) bool {
	c := &opcodes{l.im.Bytes(addr, 1<<20), true}
	if c.byte() != 0xff { // another base of landing pads is never written
		return false
	}
	if c.byte() != 0xff {
		c.uint()
	}
	encoding := c.byte()
	size := c.uint()
	if !c.ok || size > uint64(len(c.b)) || !l.spend(int(size)/4) {
		return false
	}
	c.b = c.b[:size]
	number := func() uint64 {
		switch encoding {
		case 1:
			return c.uint()
		case 3:
			if len(c.b) < 4 {
				c.ok = false
				return 0
			}
			v := l.u32(c.b)
			c.b = c.b[4:]
			return uint64(v)
		}
		c.ok = false
		return 0
	}
	for len(c.b) > 0 {
		start, length, pad := number(), number(), number()
		c.uint()
		if !c.ok {
			return false
		}
		if pad == 0 || !l.executable(function+pad) {
			continue
		}
		l.im.LandingPads = append(l.im.LandingPads, function+pad)
		l.im.CallSites = append(l.im.CallSites, object.CallSite{Addr: function + start, Size: length, Pad: function + pad})
	}
	return true
}
