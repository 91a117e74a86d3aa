package pe

import (
	"slices"
	"strings"

	"rea/providers/format/object"
)

// language finds landing pads in the language specific data of one function.
// Which layout it has depends on the handler; where the handler has no name,
// a layout is accepted only if all of it holds together.
func (l *loader) language(f runtimeFunction, u unwindInfo) {
	if !l.spend(1) {
		return
	}
	name := l.handlerName(u.handler)
	switch {
	case strings.Contains(name, "CxxFrameHandler4"), strings.Contains(name, "GSHandlerCheck_EH4"):
		if b := l.at(u.data, 4); b != nil {
			l.frameHandler4(f, le.Uint32(b))
		}
	case strings.Contains(name, "CxxFrameHandler"), strings.HasSuffix(name, "GSHandlerCheck_EH"):
		if b := l.at(u.data, 4); b != nil {
			l.frameHandler3(le.Uint32(b))
		}
	case strings.Contains(name, "C_specific_handler"), strings.Contains(name, "GSHandlerCheck_SEH"):
		l.scopeTable(f, u.data)
	case strings.Contains(name, "_personality"):
		l.lsda(f, u.data)
	case name == "":
		if b := l.at(u.data, 4); b != nil && l.frameHandler3(le.Uint32(b)) {
			return
		}
		if !l.scopeTable(f, u.data) {
			l.lsda(f, u.data)
		}
	}
}

// handlerName names a handler from the symbol table, or from the import its
// thunk jumps to.
func (l *loader) handlerName(rva uint32) string {
	if name, ok := l.handlerNames[rva]; ok {
		return name
	}
	addr := l.base + uint64(rva)
	name := l.coffNames[addr]
	if name == "" {
		if slot, ok := l.thunkSlot(addr); ok {
			name = l.slotNames()[slot]
		}
	}
	if l.handlerNames == nil {
		l.handlerNames = map[uint32]string{}
	}
	l.handlerNames[rva] = name
	return name
}

func (l *loader) slotNames() map[uint64]string {
	if l.slots == nil {
		l.slots = make(map[uint64]string, len(l.im.Imports))
		for _, im := range l.im.Imports {
			l.slots[im.Slot] = im.Name
		}
	}
	return l.slots
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

// scopeTable reads the table of __C_specific_handler: filters, termination
// handlers and the targets of __except blocks.
func (l *loader) scopeTable(f runtimeFunction, rva uint32) bool {
	b := l.at(rva, 4)
	if b == nil {
		return false
	}
	n := le.Uint32(b)
	if n == 0 || n > 1<<16 || rva > 0xffffffff-4 {
		return false
	}
	b = l.at(rva+4, int(n)*16)
	if b == nil || !l.spend(int(n)) {
		return false
	}
	var pads, functions []uint32
	for ; len(b) >= 16; b = b[16:] {
		begin, end, handler, target := le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:])
		if begin > end || !l.executable(l.base+uint64(begin)) {
			return false
		}
		if handler > 1 && !l.executable(l.base+uint64(handler)) || handler == 0 {
			return false
		}
		if target != 0 && !l.executable(l.base+uint64(target)) {
			return false
		}
		if handler > 1 {
			pads = append(pads, handler)
			functions = append(functions, handler)
		}
		if target != 0 {
			pads = append(pads, target)
		}
	}
	for _, p := range pads {
		l.pad(l.base + uint64(p))
	}
	for _, h := range functions {
		l.hint(l.base+uint64(h), 0, "", object.FromPData)
	}
	return true
}

// frameHandler3 reads the FuncInfo of __CxxFrameHandler3: the actions of the
// unwind map and the catch funclets.
func (l *loader) frameHandler3(rva uint32) bool {
	b := l.at(rva, 28)
	if b == nil {
		return false
	}
	if magic := le.Uint32(b) & 0x1fffffff; magic < 0x19930520 || magic > 0x19930522 {
		return false
	}
	if l.seenInfo(rva) {
		return true
	}
	states := l.table(le.Uint32(b[8:]), le.Uint32(b[4:]), 8, "C++ unwind map")
	for ; len(states) >= 8; states = states[8:] {
		if action := le.Uint32(states[4:]); action != 0 {
			l.pad(l.base + uint64(action))
		}
	}
	tries := l.table(le.Uint32(b[16:]), le.Uint32(b[12:]), 20, "C++ try block map")
	for ; len(tries) >= 20; tries = tries[20:] {
		catches := l.table(le.Uint32(tries[16:]), le.Uint32(tries[12:]), 20, "C++ handler map")
		for ; len(catches) >= 20; catches = catches[20:] {
			l.pad(l.base + uint64(le.Uint32(catches[12:])))
		}
	}
	return true
}

// seenInfo reports whether an exception table was read before: functions share
// theirs with their funclets.
func (l *loader) seenInfo(rva uint32) bool {
	if l.infos == nil {
		l.infos = map[uint32]struct{}{}
	}
	_, seen := l.infos[rva]
	l.infos[rva] = struct{}{}
	return seen
}

// compressed reads the numbers of __CxxFrameHandler4's tables. The trailing one
// bits of the first byte give the length. ok turns false at the first misread.
type compressed struct {
	b  []byte
	ok bool
}

func (c *compressed) take(n int) []byte {
	if !c.ok || len(c.b) < n {
		c.ok = false
		return make([]byte, 8)
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *compressed) byte() byte { return c.take(1)[0] }

func (c *compressed) rva() uint32 { return le.Uint32(c.take(4)) }

func (c *compressed) uint() uint32 {
	if !c.ok || len(c.b) == 0 {
		c.ok = false
		return 0
	}
	n, shift := 1, uint(1)
	switch b := c.b[0]; {
	case b&1 == 0:
	case b&3 == 1:
		n, shift = 2, 2
	case b&7 == 3:
		n, shift = 3, 3
	case b&15 == 7:
		n, shift = 4, 4
	default:
		c.take(1)
		return c.rva()
	}
	var v uint32
	for i, b := range c.take(n) {
		if i < n {
			v |= uint32(b) << (8 * i)
		}
	}
	return v >> shift
}

// frameHandler4 reads the compressed FuncInfo of __CxxFrameHandler4.
func (l *loader) frameHandler4(f runtimeFunction, rva uint32) {
	if l.seenInfo(rva) {
		return
	}
	c := &compressed{l.from(rva, 64), true}
	header := c.byte()
	if header&4 != 0 {
		c.uint() // basic block flags
	}
	var unwind, tries uint32
	if header&8 != 0 {
		unwind = c.rva()
	}
	if header&16 != 0 {
		tries = c.rva()
	}
	if !c.ok {
		l.im.Note("C++ exception table at %#x can't be read", l.base+uint64(rva))
		return
	}
	var pads []uint32
	ok := true
	if unwind != 0 {
		ok = l.unwindMap4(unwind, &pads)
	}
	if tries != 0 {
		ok = l.tryMap4(f, tries, &pads) && ok
	}
	if !ok {
		l.im.Note("C++ exception table at %#x can't be read to its end", l.base+uint64(rva))
	}
	for _, p := range pads {
		l.pad(l.base + uint64(p))
	}
}

// entries4 opens a counted map. No entry is shorter than a byte.
func (l *loader) entries4(rva uint32) (*compressed, int) {
	c := &compressed{l.from(rva, 1<<20), true}
	n := int(c.uint())
	if !c.ok || n > len(c.b) || !l.spend(n) {
		return nil, 0
	}
	return c, n
}

func (l *loader) unwindMap4(rva uint32, pads *[]uint32) bool {
	c, n := l.entries4(rva)
	if c == nil {
		return false
	}
	for range n {
		switch c.uint() & 3 {
		case 1, 2:
			action := c.rva()
			c.uint()
			*pads = append(*pads, action)
		case 3:
			*pads = append(*pads, c.rva())
		}
		if !c.ok {
			*pads = (*pads)[:max(len(*pads)-1, 0)]
			return false
		}
	}
	return true
}

func (l *loader) tryMap4(f runtimeFunction, rva uint32, pads *[]uint32) bool {
	c, n := l.entries4(rva)
	if c == nil {
		return false
	}
	for range n {
		c.uint()
		c.uint()
		c.uint()
		handlers := c.rva()
		if !c.ok || !l.handlerMap4(f, handlers, pads) {
			return false
		}
	}
	return true
}

func (l *loader) handlerMap4(f runtimeFunction, rva uint32, pads *[]uint32) bool {
	c, n := l.entries4(rva)
	if c == nil {
		return false
	}
	for range n {
		header := c.byte()
		if header&1 != 0 {
			c.uint()
		}
		if header&2 != 0 {
			c.rva()
		}
		if header&4 != 0 {
			c.uint()
		}
		found := []uint32{c.rva()}
		for range header >> 4 & 3 {
			if header&8 != 0 {
				found = append(found, c.rva())
			} else {
				found = append(found, f.begin+c.uint())
			}
		}
		if !c.ok {
			return false
		}
		*pads = append(*pads, found...)
	}
	return true
}

// lsda reads the call-site table that GNU personality routines use. Here the
// landing pads are offsets from the function's start.
func (l *loader) lsda(f runtimeFunction, rva uint32) bool {
	if f.end <= f.begin {
		return false
	}
	b := l.from(rva, 1<<20)
	if len(b) < 4 || b[0] != 0xff { // another base of landing pads is never written here
		return false
	}
	c := &leb{b[1:], true}
	if types := c.byte(); types != 0xff {
		c.uint()
	}
	if c.byte() != 1 { // call sites as ULEB128
		return false
	}
	size := c.uint()
	if !c.ok || size > uint64(len(c.b)) || !l.spend(int(size)/4) {
		return false
	}
	c.b = c.b[:size]
	span := uint64(f.end - f.begin)
	var pads []uint64
	for len(c.b) > 0 {
		start, length, pad := c.uint(), c.uint(), c.uint()
		c.uint()
		if !c.ok || start > span || length > span-start || pad >= span {
			return false
		}
		if pad != 0 {
			pads = append(pads, l.base+uint64(f.begin)+pad)
		}
	}
	slices.Sort(pads)
	for _, p := range slices.Compact(pads) {
		l.pad(p)
	}
	return true
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
