package ehframe

import "slices"

// searchHeader is .eh_frame_hdr.
type searchHeader struct {
	frames  uint64 // address of .eh_frame
	table   cursor
	count   uint64
	enc     byte
	address uint64
}

func (r *reader) readHeader() (searchHeader, bool) {
	var h searchHeader
	if r.loc.Header == 0 {
		return h, false
	}
	h.address = r.loc.Header
	size := r.loc.HeaderSize
	if size == 0 {
		size = ^uint64(0)
	}
	c := r.cursorAt(h.address, size)
	version, frameEnc, countEnc := c.u8(), c.u8(), c.u8()
	h.enc = c.u8()
	if c.bad || version != 1 {
		r.note("the call frame header at %#x is not mapped or has an unknown version", h.address)
		return h, false
	}
	b := bases{data: h.address, text: r.loc.TextBase}
	h.frames = c.pointer(frameEnc, b)
	if countEnc != peOmit && h.enc != peOmit {
		h.count = c.pointer(countEnc, b)
	}
	if c.bad {
		r.note("the call frame header at %#x breaks off", h.address)
		return h, false
	}
	h.table = c
	return h, true
}

// readMissing reads the FDEs that the search table names and the sequential
// run did not meet, because .eh_frame is damaged or was not found.
func (r *reader) readMissing(h searchHeader) {
	if h.count == 0 {
		return
	}
	slices.Sort(r.parsed)
	b := bases{data: h.address, text: r.loc.TextBase}
	c := h.table
	last, unsorted := uint64(0), false
	for range h.count {
		if len(c.b) == 0 {
			r.note("the call frame search table at %#x claims more entries than are mapped", h.address)
			break
		}
		start := c.pointer(h.enc, b)
		at := c.pointer(h.enc, b)
		if c.bad {
			r.note("the call frame search table at %#x breaks off", h.address)
			break
		}
		unsorted = unsorted || start < last
		last = start
		if _, found := slices.BinarySearch(r.parsed, at); found {
			continue
		}
		f := r.cursorAt(at, 1<<16)
		e, ok := f.next()
		if !ok || e.end {
			r.broken++
			continue
		}
		idAt := e.body.addr
		if id := e.body.fixed(4); id == 0 || e.body.bad {
			r.broken++
		} else {
			r.readFDE(e, r.cieAt(idAt-id))
		}
	}
	if unsorted {
		r.note("the call frame search table at %#x is not sorted", h.address)
	}
}
