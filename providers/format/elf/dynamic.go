package elf

import (
	"strings"

	"rea/providers/format/object"
)

// Tags of the dynamic table.
const (
	dtNeeded, dtPltRelSz, dtPltGot, dtHash, dtStrtab, dtSymtab     = 1, 2, 3, 4, 5, 6
	dtRela, dtRelaSz, dtRelaEnt, dtStrSz, dtSymEnt, dtInit, dtFini = 7, 8, 9, 10, 11, 12, 13
	dtSOName, dtRPath, dtSymbolic, dtRel, dtRelSz, dtRelEnt        = 14, 15, 16, 17, 18, 19
	dtPltRel, dtTextRel, dtJmpRel, dtBindNow, dtInitArray          = 20, 22, 23, 24, 25
	dtFiniArray, dtInitArraySz, dtFiniArraySz, dtRunPath, dtFlags  = 26, 27, 28, 29, 30
	dtPreinitArray, dtPreinitArraySz                               = 32, 33
	dtRelrSz, dtRelr, dtRelrEnt                                    = 35, 36, 37
	dtGNUHash, dtVerSym, dtFlags1                                  = 0x6ffffef5, 0x6ffffff0, 0x6ffffffb
	dtVerDef, dtVerDefNum, dtVerNeed, dtVerNeedNum                 = 0x6ffffffc, 0x6ffffffd, 0x6ffffffe, 0x6fffffff
	dtAndroidRel, dtAndroidRelSz, dtAndroidRela, dtAndroidRelaSz   = 0x6000000f, 0x60000010, 0x60000011, 0x60000012
	dtAArch64BTIPLT, dtAArch64PACPLT                               = 0x70000001, 0x70000003

	dfTextRel, dfBindNow = 4, 8
	df1Now, df1PIE       = 1, 0x08000000
)

// dynamic is what the dynamic linker reads from PT_DYNAMIC. Of a tag given
// twice the last counts, as it does for the dynamic linker.
type dynamic struct {
	present          bool
	entries          int
	addr             uint64
	values           map[uint64]uint64
	strings          *stringTable
	needed           []string
	runpath, rpath   string
	pltgot           uint64
	flags, flags1    uint64
	textrel, bindNow bool
}

func (d *dynamic) get(tag uint64) (uint64, bool) {
	v, ok := d.values[tag]
	return v, ok
}

func (f *file) readDynamic() {
	d := &f.dynamic
	d.values = map[uint64]uint64{}
	table := f.dynamicBytes()
	if table == nil {
		return
	}
	d.present = true
	w := f.wordSize()
	type named struct{ tag, off uint64 }
	var names []named
	ended := false
	for ; uint64(len(table)) >= 2*w; table = table[2*w:] {
		tag, val := f.word(table), f.word(table[w:])
		if tag == 0 {
			ended = true
			break
		}
		d.entries++
		switch tag {
		case dtNeeded, dtSOName, dtRPath, dtRunPath:
			names = append(names, named{tag, val})
		default:
			d.values[tag] = val
		}
	}
	if !ended {
		f.im.Note("the dynamic table has no end mark")
	}
	if addr, ok := d.get(dtStrtab); ok {
		size, _ := d.get(dtStrSz)
		b := f.mapped(addr, size)
		if uint64(len(b)) < size {
			f.im.Note("the dynamic string table (%#x, %#x bytes) is only mapped for %#x bytes", addr, size, len(b))
		}
		d.strings = newStringTable(b)
	}
	for _, n := range names {
		s := ""
		if n.off < 1<<32 {
			s = d.strings.get(uint32(n.off))
		}
		if s == "" && n.tag == dtNeeded {
			f.im.Note("a needed library has no name (string offset %#x)", n.off)
			continue
		}
		switch n.tag {
		case dtNeeded:
			d.needed = append(d.needed, s)
			f.im.Libraries = append(f.im.Libraries, object.Library{Name: s})
		case dtSOName:
			f.im.SOName = s
		case dtRPath:
			d.rpath = s
		case dtRunPath:
			d.runpath = s
		}
	}
	d.pltgot, _ = d.get(dtPltGot)
	d.flags, _ = d.get(dtFlags)
	d.flags1, _ = d.get(dtFlags1)
	_, d.textrel = d.get(dtTextRel)
	d.textrel = d.textrel || d.flags&dfTextRel != 0
	_, d.bindNow = d.get(dtBindNow)
	d.bindNow = d.bindNow || d.flags&dfBindNow != 0 || d.flags1&df1Now != 0
	// DT_RUNPATH makes the dynamic linker ignore DT_RPATH.
	path := d.runpath
	if path == "" {
		path = d.rpath
	}
	if path != "" {
		f.im.RPaths = strings.Split(path, ":")
	}
}

// dynamicBytes finds the dynamic table in memory, as the dynamic linker does:
// it reads on to the end mark whatever p_filesz says.
func (f *file) dynamicBytes() []byte {
	if f.header.typ != etExec && f.header.typ != etDyn || f.debugFile() {
		return nil
	}
	if p := f.first(ptDynamic); p != nil {
		if b := f.mapped(p.vaddr, uint64(len(f.data))); b != nil {
			f.dynamic.addr = p.vaddr
			return b
		}
		if b := f.at(p.offset, p.filesz); len(b) > 0 {
			f.im.Note("the dynamic table at %#x is not mapped; its file offset is used", p.vaddr)
			return b
		}
		f.im.Note("the dynamic table at %#x is not in the file", p.vaddr)
		return nil
	}
	if s := f.typed(shtDynamic); s != nil && len(f.programs) == 0 {
		return f.contents(s)
	}
	return nil
}
