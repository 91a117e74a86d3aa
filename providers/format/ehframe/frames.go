package ehframe

import (
	"encoding/binary"
	"fmt"
	"slices"

	"rea/providers/format/object"
)

// reader holds one run over an image's tables.
type reader struct {
	im         *object.Image
	loc        Location
	cies       map[uint64]*cie
	table      *Table
	parsed     []uint64 // addresses of FDEs read in sequence, in table order
	outside    int      // FDEs that cover no code
	empty      int      // FDEs of zero length
	broken     int
	padsLost   int
	siteBudget int // call-site bytes that may still be read; tables that overlap are not read for ever
}

// cie is what its FDEs need to know.
type cie struct {
	ok, augmented  bool
	pointer        byte // encoding of code addresses
	lsda           byte // encoding of LSDA pointers, or peOmit
	personality    uint64
	indirect       bool
	signal         bool
	segmentSize    byte
	codeAlign      uint64
	cfaReg, cfaOff uint64 // the frame at entry
}

func (r *reader) note(format string, args ...any) {
	r.table.Notes = append(r.table.Notes, fmt.Sprintf(format, args...))
}

// readFrames reads a run of entries. With a known extent, a terminator inside
// it does not end it: linkers put several tables together.
func (r *reader) readFrames(addr, size uint64, sized bool) {
	c := r.cursorAt(addr, size)
	if len(c.b) == 0 {
		r.note("the call frame table at %#x is not mapped", addr)
		return
	}
	for len(c.b) >= 4 {
		e, ok := c.next()
		if !ok {
			r.note("the call frame table at %#x breaks off at %#x", addr, e.at)
			return
		}
		if e.end {
			if !sized {
				return
			}
			continue
		}
		r.readEntry(e)
	}
}

func (r *reader) readEntry(e entry) {
	idAt := e.body.addr
	id := e.body.fixed(4)
	if e.body.bad {
		r.broken++
		return
	}
	if id == 0 {
		if r.cies[e.at] == nil {
			r.cies[e.at] = r.parseCIE(e.body)
		}
		return
	}
	r.parsed = append(r.parsed, e.at)
	r.readFDE(e, r.cieAt(idAt-id))
}

// cieAt returns the CIE at an address, which may lie after its FDE.
func (r *reader) cieAt(addr uint64) *cie {
	if c := r.cies[addr]; c != nil {
		return c
	}
	out := &cie{}
	c := r.cursorAt(addr, 1<<16)
	if e, ok := c.next(); ok && !e.end && e.body.fixed(4) == 0 && !e.body.bad {
		out = r.parseCIE(e.body)
	}
	r.cies[addr] = out
	return out
}

// parseCIE reads a CIE from its version on.
func (r *reader) parseCIE(c cursor) *cie {
	out := &cie{lsda: peOmit}
	version := c.u8()
	if version != 1 && version != 3 && version != 4 {
		return out
	}
	end := slices.Index(c.b[:min(len(c.b), 64)], 0)
	if end < 0 {
		return out
	}
	augmentation := string(c.b[:end])
	c.skip(uint64(end + 1))
	if augmentation == "eh" { // the GCC 2 form: a pointer to an exception table
		c.skip(uint64(c.word))
		augmentation = ""
	}
	if version == 4 {
		c.u8() // address size
		out.segmentSize = c.u8()
	}
	out.codeAlign = c.uleb()
	c.uleb() // data alignment
	if version == 1 {
		c.u8() // return address register
	} else {
		c.uleb()
	}
	if augmentation != "" {
		if augmentation[0] != 'z' {
			return out
		}
		out.augmented = true
		n := c.uleb()
		a := c
		if n > uint64(len(c.b)) {
			return out
		}
		a.b = a.b[:n]
		c.skip(n)
		out.readAugmentation(augmentation[1:], a, bases{text: r.loc.TextBase, data: r.loc.DataBase})
	}
	out.ok = !c.bad
	out.cfaReg, out.cfaOff, _, _ = frameAt(c, 0, 0, 0)
	return out
}

func (c *cie) readAugmentation(letters string, a cursor, b bases) {
	for _, l := range letters {
		switch l {
		case 'L':
			c.lsda = a.u8()
		case 'P':
			enc := a.u8()
			c.personality, c.indirect = a.pointer(enc, b), enc&peIndirect != 0
		case 'R':
			c.pointer = a.u8()
		case 'S':
			c.signal = true
		case 'B', 'G': // AArch64: return address signed with key B, memory tagging
		default:
			return // the length says where the instructions begin
		}
		if a.bad {
			return
		}
	}
}

func (r *reader) readFDE(e entry, c *cie) {
	if !c.ok {
		r.broken++
		return
	}
	body := e.body
	body.skip(uint64(c.segmentSize))
	b := bases{text: r.loc.TextBase, data: r.loc.DataBase}
	f := FDE{At: e.at, Signal: c.signal, Personality: c.personality, Indirect: c.indirect}
	f.Addr = body.pointer(c.pointer, b)
	f.Size = body.wrap(body.value(c.pointer & 0x0f))
	if c.augmented && !body.bad {
		n := body.uleb()
		if n > uint64(len(body.b)) {
			body.bad = true
		} else {
			a := body
			a.b = a.b[:n]
			body.skip(n)
			if c.lsda != peOmit && n > 0 {
				b.function = f.Addr
				f.LSDA = a.pointer(c.lsda, b)
			}
		}
	}
	switch {
	case body.bad:
		r.broken++
		return
	case f.Size == 0:
		r.empty++
		return
	case !r.im.Executable(f.Addr):
		r.outside++
		return
	}
	if seg := r.im.SegmentAt(f.Addr); f.Size > seg.Size-(f.Addr-seg.Addr) {
		r.outside++
		return
	}
	if f.Signal && (f.Addr+1)%16 == 0 && f.Size > 1 && (r.im.Arch == object.X86_64 || r.im.Arch == object.X86) {
		// The entry of a signal trampoline covers one byte before it: unwinders
		// look up the return address less one.
		f.Addr, f.Size = f.Addr+1, f.Size-1
	}
	reg, off, set, expression := frameAt(body, c.cfaReg, c.cfaOff, r.leadingNop(f.Addr)/max(1, c.codeAlign))
	f.Framed = set && !expression && !c.signal && (reg != c.cfaReg || off != c.cfaOff)
	r.readLSDA(&f)
	r.table.FDEs = append(r.table.FDEs, f)
}

// maxEntryCode bounds the instructions that are run; those before the first
// advance take a few bytes.
const maxEntryCode = 512

// leadingNop is the length of the instruction at addr if it does nothing:
// compilers begin split parts with one whose first instruction would be a landing
// pad, because offset 0 of an exception table says that there is none.
func (r *reader) leadingNop(addr uint64) uint64 {
	b := r.im.Bytes(addr, 4)
	switch {
	case r.im.Arch == object.ARM64 && len(b) == 4 && binary.LittleEndian.Uint32(b) == 0xd503201f:
		return 4
	case (r.im.Arch == object.X86_64 || r.im.Arch == object.X86) && len(b) > 0 && b[0] == 0x90:
		return 1
	}
	return 0
}

// frameAt runs call frame instructions up to the first one that advances by more
// than lead, and returns how the frame address is computed there. set tells
// whether they say so at all, expression that they do in a way not followed here.
func frameAt(c cursor, reg, off, lead uint64) (r, o uint64, set, expression bool) {
	r, o = reg, off
	c.b = c.b[:min(len(c.b), maxEntryCode)]
	for len(c.b) > 0 && !c.bad {
		op := c.u8()
		switch {
		case op>>6 == 1: // advance_loc
			if lead == 0 || uint64(op&0x3f) != lead || set {
				return
			}
			lead = 0
			continue
		case op>>6 == 2: // offset
			c.uleb()
			continue
		case op>>6 == 3: // restore
			continue
		}
		switch op {
		case 0x00, 0x0a, 0x0b, 0x2d: // nop, remember_state, restore_state, negate_ra_state
		case 0x01, 0x02, 0x03, 0x04, 0x1d: // set_loc, advance_loc1, 2, 4, MIPS_advance_loc8
			return
		case 0x05, 0x09, 0x11, 0x14, 0x15, 0x2f: // offset_extended, register, …_sf, val_offset, val_offset_sf, negative_offset_extended
			c.uleb()
			c.uleb()
		case 0x06, 0x07, 0x08, 0x2e: // restore_extended, undefined, same_value, GNU_args_size
			c.uleb()
		case 0x0c, 0x12: // def_cfa, def_cfa_sf
			r, o, set = c.uleb(), c.uleb(), true
		case 0x0d: // def_cfa_register
			r, set = c.uleb(), true
		case 0x0e, 0x13: // def_cfa_offset, def_cfa_offset_sf
			o, set = c.uleb(), true
		case 0x0f: // def_cfa_expression
			expression, set = true, true
			c.skip(c.uleb())
		case 0x10, 0x16: // expression, val_expression
			c.uleb()
			c.skip(c.uleb())
		default:
			return
		}
	}
	return
}

// summarize says what was left out.
func (r *reader) summarize() {
	for _, n := range []struct {
		count int
		what  string
	}{
		{r.broken, "call frame entries can't be read"},
		{r.outside, "call frame entries cover no code"},
		{r.padsLost, "exception tables can't be read"},
	} {
		if n.count > 0 {
			r.note("%d %s", n.count, n.what)
		}
	}
}
