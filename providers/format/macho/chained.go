package macho

// Pointer formats of chained fixups.
const (
	formatARM64E            = 1
	format64                = 2
	format32                = 3
	format32Cache           = 4
	format32Firmware        = 5
	format64Offset          = 6
	formatARM64EKernel      = 7
	format64KernelCache     = 8
	formatARM64EUserland    = 9
	formatARM64EFirmware    = 10
	formatX86KernelCache    = 11
	formatARM64EUserland24  = 12
	formatARM64ESharedCache = 13
	formatARM64ESegmented   = 14
)

// chainLayout is how a format links its pointers.
type chainLayout struct {
	size      uint64 // of a pointer
	stride    uint64 // unit of the distance to the next one
	nextShift uint
	nextMask  uint64
}

var chainLayouts = map[uint16]chainLayout{
	formatARM64E:            {8, 8, 51, 0x7ff},
	format64:                {8, 4, 51, 0xfff},
	format32:                {4, 4, 26, 0x1f},
	format32Cache:           {4, 4, 30, 0x3},
	format32Firmware:        {4, 4, 26, 0x3f},
	format64Offset:          {8, 4, 51, 0xfff},
	formatARM64EKernel:      {8, 4, 51, 0x7ff},
	format64KernelCache:     {8, 4, 51, 0xfff},
	formatARM64EUserland:    {8, 8, 51, 0x7ff},
	formatARM64EFirmware:    {8, 4, 51, 0x7ff},
	formatX86KernelCache:    {8, 1, 51, 0xfff},
	formatARM64EUserland24:  {8, 8, 51, 0x7ff},
	formatARM64ESharedCache: {8, 8, 52, 0x7ff},
	formatARM64ESegmented:   {8, 4, 51, 0xfff},
}

// chainedFixups reads LC_DYLD_CHAINED_FIXUPS; false if the image has none.
func (l *loader) chainedFixups() bool {
	b := l.linkEdit("chained fixups", cmdChainedFixups)
	if b == nil {
		return false
	}
	if len(b) < 28 {
		l.im.Note("chained fixups header is cut off")
		return true
	}
	starts := uint64(l.u32(b[4:]))
	imports := l.chainedImports(b)
	if starts+4 > uint64(len(b)) {
		l.im.Note("chain starts lie beyond the chained fixups")
		return true
	}
	s := b[starts:]
	n := uint64(l.u32(s))
	if have := uint64(len(s)-4) / 4; n > have {
		l.im.Note("chained fixups claim %d segments", n)
		n = have
	}
	l.resolved = append([]byte(nil), l.data...)
	for i := range int(min(n, uint64(len(l.segments)))) {
		off := uint64(l.u32(s[4+4*i:]))
		if off == 0 {
			continue
		}
		if off+22 > uint64(len(s)) {
			l.im.Note("chain starts of segment %s lie beyond the chained fixups", l.segments[i].name)
			continue
		}
		l.segmentChains(&l.segments[i], s[off:], imports)
	}
	return true
}

// chainedImports reads the import table that binds index.
func (l *loader) chainedImports(b []byte) []bind {
	at, symbols := uint64(l.u32(b[8:])), uint64(l.u32(b[12:]))
	count, format := uint64(l.u32(b[16:])), l.u32(b[20:])
	if l.u32(b[24:]) != 0 {
		l.im.Note("names of chained imports are compressed, which is not read")
		return nil
	}
	size, ok := map[uint32]uint64{1: 4, 2: 8, 3: 16}[format]
	if count == 0 {
		return nil
	}
	if !ok || at >= uint64(len(b)) || symbols >= uint64(len(b)) {
		l.im.Note("chained import table of format %d at %#x can't be read", format, at)
		return nil
	}
	t := b[at:]
	if have := uint64(len(t)) / size; count > have {
		l.im.Note("chained fixups claim %d imports, the file holds %d", count, have)
		count = have
	}
	if !l.spend(int(count)) {
		return nil
	}
	out := make([]bind, 0, count)
	for ; count > 0; count, t = count-1, t[size:] {
		var ordinal int
		var weak bool
		var name uint64
		if format == 3 {
			v := l.order.Uint64(t)
			ordinal, weak, name = int(int16(v)), v>>16&1 != 0, v>>32
		} else {
			v := l.u32(t)
			ordinal, weak, name = int(int8(v)), v>>8&1 != 0, uint64(v>>9)
			if ordinal < -3 { // only -1 to -3 are special; others count up to 252
				ordinal = int(uint8(v))
			}
		}
		d := bind{weak: weak, kind: "bind", library: l.library(ordinal)}
		if name < uint64(len(b))-symbols {
			d.name, _ = l.name(b[symbols+name:])
		}
		if d.name == "" {
			l.im.Note("a chained import has no name")
		}
		out = append(out, d)
	}
	return out
}

// segmentChains walks the chains of one segment, page by page.
func (l *loader) segmentChains(seg *segment, s []byte, imports []bind) {
	pageSize, format := uint64(l.order.Uint16(s[4:])), l.order.Uint16(s[6:])
	limit := l.u32(s[16:])
	pages := int(l.order.Uint16(s[20:]))
	layout, ok := chainLayouts[format]
	if !ok {
		l.im.Note("chained pointers of unknown format %d", format)
		return
	}
	if have := (len(s) - 22) / 2; pages > have {
		l.im.Note("chain starts of segment %s claim %d pages", seg.name, pages)
		pages = have
	}
	starts := s[22:]
	const none, multi, last = 0xffff, 0x8000, 0x8000
	for page := range pages {
		start := l.order.Uint16(starts[2*page:])
		if start == none {
			continue
		}
		begin := uint64(page) * pageSize
		if start&multi == 0 {
			l.chain(seg, begin, uint64(start), format, layout, imports, limit)
			continue
		}
		// 32-bit formats may need several chains in a page: the start is then
		// an index of a list after the pages, ended by a flag.
		for i := int(start &^ multi); ; i++ {
			if 2*i+2 > len(starts) || !l.spend(1) {
				l.im.Note("a list of chain starts has no end")
				return
			}
			v := l.order.Uint16(starts[2*i:])
			l.chain(seg, begin, uint64(v&^last), format, layout, imports, limit)
			if v&last != 0 {
				break
			}
		}
	}
}

func (l *loader) chain(seg *segment, page, start uint64, format uint16, layout chainLayout, imports []bind, limit uint32) {
	off := page + start
	for {
		if off > seg.size || seg.size-off < layout.size {
			l.im.Note("a pointer chain leaves segment %s", seg.name)
			return
		}
		if !l.spend(1) {
			return
		}
		addr := seg.addr + off
		raw, ok := l.rawPointer(addr)
		if layout.size == 4 {
			raw, ok = l.raw32(addr)
		}
		if !ok {
			l.im.Note("a pointer chain runs into bytes that are not in the file")
			return
		}
		l.chainedPointer(addr, raw, format, imports, limit)
		next := raw >> layout.nextShift & layout.nextMask
		if next == 0 {
			return
		}
		off += next * layout.stride
	}
}

func (l *loader) rawPointer(addr uint64) (uint64, bool) {
	b := l.im.Bytes(addr, 8)
	if len(b) < 8 {
		return 0, false
	}
	return l.order.Uint64(b), true
}

func (l *loader) raw32(addr uint64) (uint64, bool) {
	b := l.im.Bytes(addr, 4)
	if len(b) < 4 {
		return 0, false
	}
	return uint64(l.u32(b)), true
}

// store writes a resolved pointer into the copy that Bytes will show.
func (l *loader) store(addr, v uint64, size int) {
	s := l.im.SegmentAt(addr)
	if s == nil {
		return
	}
	if l.resolved == nil {
		l.resolved = append([]byte(nil), l.data...)
	}
	off := s.Offset + (addr - s.Addr)
	if off > uint64(len(l.resolved)) || uint64(len(l.resolved))-off < uint64(size) {
		return
	}
	if size == 4 {
		l.order.PutUint32(l.resolved[off:], uint32(v))
		return
	}
	l.order.PutUint64(l.resolved[off:], v)
}

// chainedPointer decodes one pointer of a chain and records what it stands for.
func (l *loader) chainedPointer(addr, raw uint64, format uint16, imports []bind, limit uint32) {
	v := decodeChained(raw, format)
	size := int(chainLayouts[format].size)
	if v.bind {
		kind := "bind"
		if v.auth {
			kind = "auth_bind"
		}
		if v.ordinal >= uint64(len(imports)) {
			l.im.Note("a chained pointer names import %d of %d", v.ordinal, len(imports))
			l.store(addr, 0, size)
			return
		}
		b := imports[v.ordinal]
		b.addr, b.kind = addr, kind
		l.addBind(b)
		l.store(addr, 0, size)
		return
	}
	kind, target := "rebase", v.target
	if v.auth {
		kind = "auth_rebase"
	}
	switch {
	case v.segment >= 0:
		if v.segment >= len(l.segments) {
			l.im.Note("a chained pointer names segment %d of %d", v.segment, len(l.segments))
			return
		}
		target += l.segments[v.segment].addr
	case v.offset:
		target += l.im.Base
	case size == 4 && limit != 0 && target > uint64(limit):
		// Above the limit lie plain numbers, stored with a bias.
		l.store(addr, uint64(uint32(target)-(0x04000000+limit)/2), size)
		return
	}
	l.addRebase(addr, target, uint8(size), kind)
	l.store(addr, target|v.high8<<56, size)
}

// chainedValue is a decoded pointer: an import or a place in the image.
type chainedValue struct {
	bind, auth bool
	ordinal    uint64
	target     uint64
	offset     bool // target counts from the image base
	segment    int  // target counts from this segment; -1 when not
	high8      uint64
}

func bitsOf(v uint64, shift, width uint) uint64 { return v >> shift & (1<<width - 1) }

func decodeChained(raw uint64, format uint16) chainedValue {
	v := chainedValue{segment: -1}
	switch format {
	case formatARM64E, formatARM64EKernel, formatARM64EUserland, formatARM64EFirmware, formatARM64EUserland24:
		v.auth, v.bind = raw>>63 != 0, raw>>62&1 != 0
		switch {
		case v.bind && format == formatARM64EUserland24:
			v.ordinal = bitsOf(raw, 0, 24)
		case v.bind:
			v.ordinal = bitsOf(raw, 0, 16)
		case v.auth:
			v.target, v.offset = bitsOf(raw, 0, 32), true
		default:
			v.target, v.high8 = bitsOf(raw, 0, 43), bitsOf(raw, 43, 8)
			v.offset = format != formatARM64E && format != formatARM64EFirmware
		}
	case format64, format64Offset:
		v.bind = raw>>63 != 0
		if v.bind {
			v.ordinal = bitsOf(raw, 0, 24)
		} else {
			v.target, v.high8, v.offset = bitsOf(raw, 0, 36), bitsOf(raw, 36, 8), format == format64Offset
		}
	case format32:
		v.bind = raw>>31 != 0
		if v.bind {
			v.ordinal = bitsOf(raw, 0, 20)
		} else {
			v.target = bitsOf(raw, 0, 26)
		}
	case format32Cache:
		v.target, v.offset = bitsOf(raw, 0, 30), true
	case format32Firmware:
		v.target = bitsOf(raw, 0, 26)
	case format64KernelCache, formatX86KernelCache:
		v.target, v.offset, v.auth = bitsOf(raw, 0, 30), true, raw>>63 != 0
	case formatARM64ESharedCache:
		v.target, v.offset, v.auth = bitsOf(raw, 0, 34), true, raw>>63 != 0
		if !v.auth {
			v.high8 = bitsOf(raw, 34, 8)
		}
	case formatARM64ESegmented:
		v.target, v.segment, v.auth = bitsOf(raw, 0, 28), int(bitsOf(raw, 28, 4)), raw>>63 != 0
	}
	return v
}
