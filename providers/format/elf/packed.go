package elf

// readAndroidRelocs decodes Android's packed relocations ("APS2"): groups of
// delta-coded records whose shared parts are written once.
func (f *file) readAndroidRelocs() {
	for _, t := range [][2]uint64{{dtAndroidRel, dtAndroidRelSz}, {dtAndroidRela, dtAndroidRelaSz}} {
		addr, ok := f.dynamic.get(t[0])
		size, sized := f.dynamic.get(t[1])
		if !ok || !sized {
			continue
		}
		b := f.mapped(addr, size)
		if len(b) < 4 || string(b[:4]) != "APS2" {
			f.im.Note("the packed relocations at %#x have no APS2 header", addr)
			continue
		}
		if !f.unpackAndroid(b[4:]) {
			f.im.Note("the packed relocations at %#x break off", addr)
		}
	}
}

// Flags of a group.
const (
	groupedByInfo, groupedByOffset, groupedByAddend, groupHasAddend = 1, 2, 4, 8
)

// unpackAndroid decodes one table. A group can say everything once, so the
// number of records is bounded by the words of the file, not by the table.
func (f *file) unpackAndroid(b []byte) bool {
	bad := false
	next := func() uint64 {
		v, shift := uint64(0), uint(0)
		for i, c := range b {
			if shift < 64 {
				v |= uint64(c&0x7f) << shift
			}
			shift += 7
			if c&0x80 == 0 {
				if shift < 64 && c&0x40 != 0 {
					v |= ^uint64(0) << shift
				}
				b = b[i+1:]
				return v
			}
			if i > 10 {
				break
			}
		}
		bad = true
		return 0
	}
	total, offset := next(), next()
	limit := uint64(len(f.data)) / f.wordSize()
	if bad || total > limit {
		return false
	}
	addend := uint64(0)
	for done := uint64(0); done < total; {
		count, flags := next(), next()
		if bad || count == 0 || count > total-done {
			return false
		}
		var delta, info uint64
		if flags&groupedByOffset != 0 {
			delta = next()
		}
		if flags&groupedByInfo != 0 {
			info = next()
		}
		if flags&groupHasAddend == 0 {
			addend = 0
		} else if flags&groupedByAddend != 0 {
			addend += next()
		}
		for range count {
			d := delta
			if flags&groupedByOffset == 0 {
				d = next()
			}
			offset += d
			if flags&groupedByInfo == 0 {
				info = next()
			}
			if flags&groupHasAddend != 0 && flags&groupedByAddend == 0 {
				addend += next()
			}
			if bad {
				return false
			}
			r := reloc{addr: offset, table: &f.dynsym, addend: addend}
			r.sym, r.typ = f.relocInfo(info)
			r.class = classify(f.header.machine, r.typ)
			if flags&groupHasAddend == 0 {
				r.addend = f.implicitAddend(r)
			}
			f.relocs = append(f.relocs, r)
		}
		done += count
	}
	return true
}
