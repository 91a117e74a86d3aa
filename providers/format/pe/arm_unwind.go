package pe

import "rea/providers/format/object"

// unwindARM reads the function tables of ARM (Thumb, unit 2) and ARM64
// (unit 4): an entry is a start and either packed unwind data or the RVA of an
// .xdata record. Functions that were split (or that are longer than a record
// can say) have fragment entries: these have no prologue and name no owner, so
// a fragment belongs to the function it follows, or to one unknown.
func (l *loader) unwindARM(table []byte, unit uint64) {
	handlers := map[uint32][]handledFunction{}
	var owner, end uint64
	orphans := 0
	for ; len(table) >= 8; table = table[8:] {
		begin, data := le.Uint32(table), le.Uint32(table[4:])
		if begin == 0 && data == 0 {
			continue
		}
		addr := l.base + uint64(begin)
		if unit == 2 {
			addr &^= 1
		}
		if !l.executable(addr) {
			l.im.Note("function table has an entry that covers no code (%#x)", begin)
			continue
		}
		var size uint64
		var fragment bool
		var x xdata
		switch data & 3 {
		case 0:
			var ok bool
			if x, ok = l.xdata(data, unit); !ok {
				l.im.Note("unwind record at %#x can't be read", l.base+uint64(data))
			}
			size, fragment = x.size, x.fragment
		case 1, 2:
			size, fragment = uint64(data>>2&0x7ff)*unit, data&3 == 2
		default:
			l.im.Note("function table has an entry with reserved packed data (%#x)", begin)
			continue
		}
		switch {
		case !fragment:
			l.hint(addr, size, "", object.FromPData)
			owner = addr
		case owner != 0 && addr >= end && addr-end <= maxFragmentGap:
			l.im.Parts = append(l.im.Parts, object.FunctionPart{Addr: addr, Size: size, Parent: owner, Source: object.FromPData})
		default:
			orphans++
			owner = 0
			l.im.Parts = append(l.im.Parts, object.FunctionPart{Addr: addr, Size: size, Source: object.FromPData})
		}
		end = addr + size
		if x.handler != 0 {
			f := handledFunction{runtimeFunction{begin: begin, end: begin + uint32(size)}, x.data}
			handlers[x.handler] = append(handlers[x.handler], f)
		}
	}
	if orphans > 0 {
		l.im.Note("%d function fragments name no owner", orphans)
	}
	l.languageData(handlers)
}

// maxFragmentGap is how far a fragment may lie behind its function: room for a
// trap after a call that does not return, and alignment.
const maxFragmentGap = 16

type xdata struct {
	size     uint64
	fragment bool
	handler  uint32
	data     uint32
}

// xdata reads an .xdata record. An ARM64 fragment's unwind codes begin with
// end_c (0xe5); an ARM record has a bit for it.
func (l *loader) xdata(rva uint32, unit uint64) (xdata, bool) {
	b := l.at(rva, 4)
	if b == nil {
		return xdata{}, false
	}
	w := le.Uint32(b)
	x := xdata{size: uint64(w&0x3ffff) * unit}
	var epilogs, words uint64
	var hasHandler, singleEpilog bool
	if unit == 4 {
		hasHandler, singleEpilog = w>>20&1 != 0, w>>21&1 != 0
		epilogs, words = uint64(w>>22&0x1f), uint64(w>>27&0x1f)
	} else {
		hasHandler, singleEpilog = w>>20&1 != 0, w>>21&1 != 0
		x.fragment = w>>22&1 != 0
		epilogs, words = uint64(w>>23&0x1f), uint64(w>>28&0xf)
	}
	at := uint64(rva) + 4
	if epilogs == 0 && words == 0 {
		b := l.at(uint32(at), 4)
		if b == nil {
			return x, false
		}
		w := le.Uint32(b)
		epilogs, words = uint64(w&0xffff), uint64(w>>16&0xff)
		at += 4
	}
	if !singleEpilog {
		at += 4 * epilogs
	}
	if unit == 4 && words > 0 && at <= 0xffffffff {
		if c := l.at(uint32(at), 1); c != nil {
			x.fragment = c[0] == 0xe5
		}
	}
	at += 4 * words
	if hasHandler {
		if at > 0xffffffff-8 {
			return x, false
		}
		b := l.at(uint32(at), 4)
		if b == nil {
			return x, false
		}
		x.handler, x.data = le.Uint32(b), uint32(at)+4
	}
	return x, true
}
