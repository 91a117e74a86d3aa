package pe

import (
	"slices"
	"strings"

	"rea/providers/format/object"
)

// handledFunction is a function whose unwind information names a handler.
type handledFunction struct {
	runtimeFunction
	data uint32 // RVA of the language specific data
}

// entries are what a function's exception data names: pads are where handling
// continues, functions what the runtime calls to get there.
type entries struct {
	pads, functions []uint32
	sites           []object.CallSite
}

// layout decodes the language specific data of one kind of handler. It has no
// effect on the image, so that it may be tried.
type layout func(*loader, handledFunction) (entries, bool)

// languageData finds landing pads and funclets. Which layout the data has
// depends on the handler; a handler without a name (most are linked in and
// stripped) is given the layout that all of its first users' data fits.
func (l *loader) languageData(users map[uint32][]handledFunction) {
	handlers := make([]uint32, 0, len(users))
	for h := range users {
		handlers = append(handlers, h)
	}
	slices.Sort(handlers)
	for _, h := range handlers {
		addr := l.base + uint64(h)
		if h != 0 {
			l.hint(addr, 0, "", object.FromPData)
		}
		decode := l.layoutOf(l.handlerName(addr), users[h])
		if decode == nil {
			continue
		}
		unreadable := 0
		for _, f := range users[h] {
			if !l.spend(1) {
				return
			}
			e, ok := decode(l, f)
			if !ok {
				unreadable++
				continue
			}
			for _, p := range e.pads {
				l.pad(l.base + uint64(p))
			}
			for _, p := range e.functions {
				l.hint(l.base+uint64(p), 0, "", object.FromPData)
			}
			l.im.CallSites = append(l.im.CallSites, e.sites...)
		}
		if unreadable > 0 {
			l.im.Note("exception data of %d functions can't be read", unreadable)
		}
	}
}

func (l *loader) layoutOf(name string, users []handledFunction) layout {
	switch {
	case strings.Contains(name, "CxxFrameHandler4"), strings.HasSuffix(name, "GSHandlerCheck_EH4"):
		return (*loader).frameHandler4
	case strings.Contains(name, "CxxFrameHandler"), strings.HasSuffix(name, "GSHandlerCheck_EH"):
		return (*loader).frameHandler3
	case strings.Contains(name, "C_specific_handler"), strings.HasSuffix(name, "GSHandlerCheck_SEH"):
		return (*loader).scopeTable
	case strings.Contains(name, "_personality"):
		return (*loader).lsda
	case name != "":
		return nil
	}
	l.trying = true
	defer func() { l.trying = false }()
	const samples = 12
	sample := users[:min(len(users), samples)]
	for _, try := range []layout{(*loader).frameHandler3, (*loader).lsda, (*loader).frameHandler4, (*loader).scopeTable} {
		fits := true
		for _, f := range sample {
			if _, ok := try(l, f); !ok {
				fits = false
				break
			}
		}
		if fits {
			return try
		}
	}
	return nil
}

// handlerName names a handler from the symbol table, or from the import its
// thunk jumps to.
func (l *loader) handlerName(addr uint64) string {
	if name := l.coffNames[addr]; name != "" {
		return name
	}
	slot, ok := l.thunkSlot(addr)
	if !ok {
		return ""
	}
	for i := range l.im.Imports {
		if l.im.Imports[i].Slot == slot {
			return l.im.Imports[i].Name
		}
	}
	return ""
}

// thunkSlot decodes an import thunk: a jump through one slot.
func (l *loader) thunkSlot(addr uint64) (uint64, bool) {
	switch l.machine {
	case machineAMD64:
		if b := l.im.Bytes(addr, 6); len(b) == 6 && b[0] == 0xff && b[1] == 0x25 {
			return addr + 6 + uint64(int64(int32(le.Uint32(b[2:])))), true
		}
	case machineARM64, machineARM64X:
		b := l.im.Bytes(addr, 12)
		if len(b) < 12 {
			return 0, false
		}
		adrp, ldr, br := le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:])
		// adrp x16, page; ldr x16, [x16, #off]; br x16
		if adrp&0x9f00001f != 0x90000010 || ldr&0xffc003ff != 0xf9400210 || br != 0xd61f0200 {
			return 0, false
		}
		imm := int64(adrp>>5&0x7ffff)<<2 | int64(adrp>>29&3)
		imm = imm << 43 >> 43 // sign of 21 bits
		return addr&^0xfff + uint64(imm<<12) + uint64(ldr>>10&0xfff)*8, true
	}
	return 0, false
}

// code tells whether an RVA is in executable memory.
func (l *loader) code(rva uint32) bool { return l.executable(l.base + uint64(rva)) }

// scopeTable reads the table of __C_specific_handler: filters, termination
// handlers and the targets of __except blocks.
func (l *loader) scopeTable(f handledFunction) (entries, bool) {
	var e entries
	b := l.at(f.data, 4)
	if b == nil {
		return e, false
	}
	n := le.Uint32(b)
	if n == 0 || n > 1<<16 || f.data > 0xffffffff-4 {
		return e, false
	}
	b = l.at(f.data+4, int(n)*16)
	if b == nil || !l.spend(int(n)) {
		return e, false
	}
	for ; len(b) >= 16; b = b[16:] {
		begin, end, handler, target := le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:])
		const always = 1 // the filter that takes every exception
		if begin > end || !l.code(begin) || handler != always && !l.code(handler) || target != 0 && !l.code(target) {
			return e, false
		}
		if handler != always {
			e.pads = append(e.pads, handler)
			e.functions = append(e.functions, handler)
		}
		pad := target
		if target == 0 {
			pad = handler
		} else {
			e.pads = append(e.pads, target)
		}
		e.sites = append(e.sites, object.CallSite{
			Addr: l.base + uint64(begin), Size: uint64(end - begin), Pad: l.base + uint64(pad),
		})
	}
	return e, true
}

// lsda reads the call-site table that GNU personality routines use. Here the
// landing pads are offsets from the function's start.
func (l *loader) lsda(f handledFunction) (entries, bool) {
	var e entries
	b := l.from(f.data, 1<<20)
	if f.end <= f.begin || len(b) < 4 || b[0] != 0xff { // another base of landing pads is never written here
		return e, false
	}
	c := &leb{b[1:], true}
	if types := c.byte(); types != 0xff {
		c.uint()
	}
	if c.byte() != 1 { // call sites as ULEB128
		return e, false
	}
	size := c.uint()
	if !c.ok || size > uint64(len(c.b)) || !l.spend(int(size)/4) {
		return e, false
	}
	c.b = c.b[:size]
	span := uint64(f.end - f.begin)
	for len(c.b) > 0 {
		start, length, pad := c.uint(), c.uint(), c.uint()
		c.uint()
		if !c.ok || start > span || length > span-start {
			return e, false
		}
		if pad == 0 {
			continue
		}
		if pad > 1<<31 || !l.code(f.begin+uint32(pad)) {
			return e, false
		}
		base := l.base + uint64(f.begin)
		e.pads = append(e.pads, f.begin+uint32(pad))
		e.sites = append(e.sites, object.CallSite{Addr: base + start, Size: length, Pad: base + pad})
	}
	return e, true
}

// leb reads LEB128 numbers. ok turns false at the first misread.
type leb struct {
	b  []byte
	ok bool
}

func (c *leb) byte() byte {
	if len(c.b) == 0 {
		c.ok = false
		return 0
	}
	b := c.b[0]
	c.b = c.b[1:]
	return b
}

func (c *leb) uint() uint64 {
	var v uint64
	for shift := uint(0); shift < 64; shift += 7 {
		b := c.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 || !c.ok {
			return v
		}
	}
	c.ok = false
	return 0
}
