package pe

// frameHandler3 reads the FuncInfo of __CxxFrameHandler3: the actions of the
// unwind map and the catch funclets.
func (l *loader) frameHandler3(f handledFunction) (entries, bool) {
	var e entries
	b := l.at(f.data, 4)
	if b == nil {
		return e, false
	}
	rva := le.Uint32(b)
	if b = l.at(rva, 28); b == nil {
		return e, false
	}
	if magic := le.Uint32(b) & 0x1fffffff; magic < 0x19930520 || magic > 0x19930522 {
		return e, false
	}
	if l.readBefore(rva) {
		return e, true
	}
	states := l.table(le.Uint32(b[8:]), le.Uint32(b[4:]), 8, "C++ unwind map")
	for ; len(states) >= 8; states = states[8:] {
		if action := le.Uint32(states[4:]); action != 0 && l.code(action) {
			e.pads = append(e.pads, action)
			e.functions = append(e.functions, action)
		}
	}
	tries := l.table(le.Uint32(b[16:]), le.Uint32(b[12:]), 20, "C++ try block map")
	for ; len(tries) >= 20; tries = tries[20:] {
		catches := l.table(le.Uint32(tries[16:]), le.Uint32(tries[12:]), 20, "C++ handler map")
		for ; len(catches) >= 20; catches = catches[20:] {
			if handler := le.Uint32(catches[12:]); l.code(handler) {
				e.pads = append(e.pads, handler)
				e.functions = append(e.functions, handler)
			}
		}
	}
	return e, true
}

// readBefore reports whether the funclets of an exception table are in the
// image: functions share theirs with their funclets. While a layout is only
// tried nothing is marked.
func (l *loader) readBefore(rva uint32) bool {
	if l.trying {
		return false
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
	for i, b := range c.take(n)[:n] {
		v |= uint32(b) << (8 * i)
	}
	return v >> shift
}

// FuncInfo4 header bits.
const (
	info4BasicBlocks = 1 << 2
	info4UnwindMap   = 1 << 3
	info4TryMap      = 1 << 4
	info4Reserved    = 1 << 7
)

// frameHandler4 reads the compressed FuncInfo of __CxxFrameHandler4. It has no
// magic, so everything it names must hold.
func (l *loader) frameHandler4(f handledFunction) (entries, bool) {
	var e entries
	b := l.at(f.data, 4)
	if b == nil {
		return e, false
	}
	rva := le.Uint32(b)
	c := &compressed{l.from(rva, 64), true}
	header := c.byte()
	if header&info4Reserved != 0 {
		return e, false
	}
	if header&info4BasicBlocks != 0 {
		c.uint()
	}
	var unwind, tries uint32
	if header&info4UnwindMap != 0 {
		unwind = c.rva()
	}
	if header&info4TryMap != 0 {
		tries = c.rva()
	}
	// The map from code to states, or a list of such maps, is always there.
	if states := c.rva(); !c.ok || l.at(states, 1) == nil {
		return e, false
	}
	if l.readBefore(rva) {
		return e, true
	}
	ok := (header&info4UnwindMap == 0 || l.unwindMap4(unwind, &e)) && (header&info4TryMap == 0 || l.tryMap4(f, tries, &e))
	return e, ok
}

// entries4 opens a counted map. No entry is shorter than a byte.
func (l *loader) entries4(rva uint32) (*compressed, int) {
	c := &compressed{l.from(rva, 1<<20), true}
	n := int(c.uint())
	if !c.ok || n == 0 || n > len(c.b) || !l.spend(n) {
		return nil, 0
	}
	return c, n
}

// unwindMap4 reads the actions that leave a state: funclets, or destructors
// that are called for an object on the frame.
func (l *loader) unwindMap4(rva uint32, e *entries) bool {
	c, n := l.entries4(rva)
	if c == nil {
		return false
	}
	for range n {
		kind := c.uint() & 3
		if kind == 0 {
			continue
		}
		action := c.rva()
		if kind != 3 {
			c.uint() // where the object is
		}
		if !c.ok || !l.code(action) {
			return false
		}
		e.functions = append(e.functions, action)
		if kind == 3 {
			e.pads = append(e.pads, action)
		}
	}
	return c.ok
}

func (l *loader) tryMap4(f handledFunction, rva uint32, e *entries) bool {
	c, n := l.entries4(rva)
	if c == nil {
		return false
	}
	for range n {
		low, high, catchHigh := c.uint(), c.uint(), c.uint()
		handlers := c.rva()
		if !c.ok || low > high || high > catchHigh || !l.handlerMap4(f, handlers, e) {
			return false
		}
	}
	return true
}

// handlerMap4 reads catch funclets and the addresses they continue at.
func (l *loader) handlerMap4(f handledFunction, rva uint32, e *entries) bool {
	c, n := l.entries4(rva)
	if c == nil {
		return false
	}
	for range n {
		header := c.byte()
		if header&1 != 0 {
			c.uint() // adjectives
		}
		if header&2 != 0 {
			c.rva() // type
		}
		if header&4 != 0 {
			c.uint() // where the object goes
		}
		handler := c.rva()
		if !c.ok || !l.code(handler) {
			return false
		}
		e.pads = append(e.pads, handler)
		e.functions = append(e.functions, handler)
		for range header >> 4 & 3 {
			var next uint32
			if header&8 != 0 {
				next = c.rva()
			} else {
				next = f.begin + c.uint()
			}
			if !c.ok || !l.code(next) {
				return false
			}
			e.pads = append(e.pads, next)
		}
	}
	return true
}
