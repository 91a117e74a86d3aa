package elf

// symbolTable is one decoded symbol table.
type symbolTable struct {
	symbols []symbol
	count   int
}

// symbol is one raw entry.
type symbol struct {
	name        string
	value, size uint64
	shndx       uint32 // real index, or a reserved one as in the file
	info, other byte
}

func (s *symbol) typ() byte        { return s.info & 15 }
func (s *symbol) bind() byte       { return s.info >> 4 }
func (s *symbol) visibility() byte { return s.other & 3 }

func (t *symbolTable) get(i uint64) *symbol {
	if i >= uint64(len(t.symbols)) {
		return nil
	}
	return &t.symbols[i]
}

func (f *file) symbolSize() uint64 {
	if f.is64 {
		return 24
	}
	return 16
}

// decodeSymbols reads whole entries only. extended holds 32-bit section
// indices for symbols whose own field is too small, or nil.
func (f *file) decodeSymbols(b []byte, names *stringTable, extended []byte) symbolTable {
	size := int(f.symbolSize())
	n := len(b) / size
	t := symbolTable{symbols: make([]symbol, n), count: n}
	for i := range t.symbols {
		e, s := b[i*size:], &t.symbols[i]
		if f.is64 {
			s.info, s.other, s.shndx = e[4], e[5], uint32(f.order.Uint16(e[6:]))
			s.value, s.size = f.order.Uint64(e[8:]), f.order.Uint64(e[16:])
		} else {
			s.value, s.size = uint64(f.order.Uint32(e[4:])), uint64(f.order.Uint32(e[8:]))
			s.info, s.other, s.shndx = e[12], e[13], uint32(f.order.Uint16(e[14:]))
		}
		s.name = names.get(f.order.Uint32(e))
		if s.shndx == shnXindex && 4*i+4 <= len(extended) {
			s.shndx = f.u32(extended[4*i:])
		}
	}
	if names != nil && names.denied {
		f.im.Note("some symbol names are left out: they are longer than %d bytes or overlap beyond reason", maxName)
	}
	return t
}

// readDynsym finds the dynamic symbols through DT_SYMTAB. The dynamic table
// does not say how many there are: hash tables, the section header and the
// place of the next table do, in this order of trust.
func (f *file) readDynsym() {
	addr, ok := f.dynamic.get(dtSymtab)
	if !ok {
		if s := f.typed(shtDynsym); s != nil && (f.header.typ == etExec || f.header.typ == etDyn) {
			f.decodeDynsymSection(s)
		}
		return
	}
	size := f.symbolSize()
	b := f.mapped(addr, uint64(len(f.data)))
	if len(b) == 0 {
		f.im.Note("the dynamic symbol table at %#x is not mapped", addr)
		return
	}
	room := uint64(len(b)) / size
	n, exact := f.hashCount()
	n = max(n, f.relocatedSymbols())
	if s := f.typed(shtDynsym); !exact && s != nil && s.addr == addr && s.size/size >= n && s.size/size <= room {
		n, exact = s.size/size, true
	}
	if !exact {
		if next := f.nextTable(addr); next > addr {
			n = max(n, f.plausibleSymbols(b, min(room, (next-addr)/size), n))
		}
	}
	if n > room {
		f.im.Note("the dynamic symbol table claims %d entries, %d are mapped", n, room)
		n = room
	}
	f.dynsym = f.decodeSymbols(b[:n*size], f.dynamic.strings, nil)
}

func (f *file) decodeDynsymSection(s *section) {
	if int(s.link) < len(f.sections) {
		f.dynsym = f.decodeSymbols(f.contents(s), newStringTable(f.contents(&f.sections[s.link])), nil)
	}
}

// hashCount returns how many dynamic symbols the hash tables prove. DT_HASH
// has one chain entry for each symbol; DT_GNU_HASH leaves out the undefined
// ones when it is empty, so its answer is then only a lower bound.
func (f *file) hashCount() (n uint64, exact bool) {
	if addr, ok := f.dynamic.get(dtHash); ok {
		b := f.mapped(addr, 16)
		entry := uint64(4)
		if f.is64 && (f.header.machine == 0x9026 || f.header.machine == 22) { // Alpha and S/390 use 8-byte words
			entry = 8
		}
		if entry == 4 && len(b) >= 8 {
			buckets, chains := uint64(f.u32(b)), uint64(f.u32(b[4:]))
			if table := 8 + 4*(buckets+chains); uint64(len(f.mapped(addr, table))) == table {
				return chains, true
			}
			f.im.Note("the hash table at %#x claims more entries than are mapped", addr)
		}
	}
	addr, ok := f.dynamic.get(dtGNUHash)
	if !ok {
		return 0, false
	}
	return f.gnuHashCount(addr)
}

func (f *file) gnuHashCount(addr uint64) (n uint64, exact bool) {
	h := f.mapped(addr, 16)
	if len(h) < 16 {
		f.im.Note("the GNU hash table at %#x is not mapped", addr)
		return 0, false
	}
	buckets, offset, bloom := uint64(f.u32(h)), uint64(f.u32(h[4:])), uint64(f.u32(h[8:]))
	start := addr + 16 + bloom*f.wordSize()
	b := f.mapped(start, buckets*4)
	if uint64(len(b)) < buckets*4 {
		f.im.Note("the GNU hash table at %#x claims more buckets than are mapped", addr)
		return 0, false
	}
	last := uint64(0)
	for ; len(b) >= 4; b = b[4:] {
		last = max(last, uint64(f.u32(b)))
	}
	if last < offset || last == 0 {
		return offset, false
	}
	// The chain of the highest bucket ends with the last symbol.
	chains := start + buckets*4
	b = f.mapped(chains+(last-offset)*4, uint64(len(f.data)))
	for ; len(b) >= 4; b, last = b[4:], last+1 {
		if f.u32(b)&1 != 0 {
			return last + 1, true
		}
	}
	f.im.Note("the last chain of the GNU hash table at %#x has no end", addr)
	return 0, false
}

// nextTable is the lowest address above addr at which the dynamic table puts
// something else.
func (f *file) nextTable(addr uint64) uint64 {
	next := uint64(0)
	for _, tag := range []uint64{dtStrtab, dtHash, dtGNUHash, dtVerSym, dtVerNeed, dtVerDef, dtRela, dtRel, dtRelr, dtJmpRel, dtInit, dtInitArray, dtPltGot} {
		if v, ok := f.dynamic.get(tag); ok && v > addr && (next == 0 || v < next) {
			next = v
		}
	}
	return next
}

// plausibleSymbols counts entries up to limit that could be symbols: between
// the table and the next one there may be padding or something else.
func (f *file) plausibleSymbols(b []byte, limit, known uint64) uint64 {
	size := f.symbolSize()
	for i := known; i < limit; i++ {
		e := b[i*size:]
		name, info := f.u32(e), e[12]
		if f.is64 {
			info = e[4]
		}
		typ, bind := info&15, info>>4
		if i > 0 && (name == 0 || f.dynamic.strings.get(name) == "") || typ > sttIfunc || bind > stbUnique {
			return i
		}
	}
	return limit
}
