package gopclntab

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"rea/providers/format/object"
)

// Magic numbers.
const (
	magic12, magic116, magic118, magic120 = 0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1
)

func layoutOf(magic uint32) Layout {
	switch magic {
	case magic12:
		return Go12
	case magic116:
		return Go116
	case magic118:
		return Go118
	case magic120:
		return Go120
	}
	return ""
}

// reader holds the sub-tables of one table. Each is cut out of the mapped
// bytes; offsets are checked at every use.
type reader struct {
	im      *object.Image
	order   binary.ByteOrder
	layout  Layout
	ptr     uint64
	quantum uint64
	count   uint64
	header  uint64 // textStart as the header gives it
	nameOff uint64 // distance of the name table from the header

	data     []byte // from the header on
	names    []byte
	cutab    []byte
	files    []byte
	pctab    []byte
	funcdata []byte
	functab  []byte
	budget   int // name bytes that may still be handed out
}

func (r *reader) u32(b []byte, off uint64) uint32 {
	if off > uint64(len(b)) || uint64(len(b))-off < 4 {
		return 0
	}
	return r.order.Uint32(b[off:])
}

func (r *reader) word(b []byte, off uint64) uint64 {
	if off > uint64(len(b)) || uint64(len(b))-off < r.ptr {
		return 0
	}
	if r.ptr == 4 {
		return uint64(r.order.Uint32(b[off:]))
	}
	return r.order.Uint64(b[off:])
}

// tail returns b from off on, nil when off lies outside.
func tail(b []byte, off uint64) []byte {
	if off >= uint64(len(b)) {
		return nil
	}
	return b[off:]
}

// parse reads the table at addr. With anyMagic a magic number that is not
// known does not matter if one layout verifies.
func parse(im *object.Image, addr uint64, anyMagic bool) *Table {
	data := im.Bytes(addr, len(im.Data()))
	if len(data) < 16 {
		return nil
	}
	layouts := []Layout{layoutOf(order(im).Uint32(data))}
	damaged := false
	if layouts[0] == "" || !plausibleHeader(data) {
		if !anyMagic {
			return nil
		}
		damaged = true
		layouts = []Layout{Go118, Go116, Go12}
	}
	for _, l := range layouts {
		r := &reader{im: im, order: order(im), layout: l, data: data, quantum: uint64(data[6]), ptr: uint64(data[7])}
		if !plausibleHeader(data) {
			r.ptr, r.quantum = uint64(im.Bits/8), 1
			if im.Arch == object.ARM || im.Arch == object.ARM64 {
				r.quantum = 4
			}
		}
		if !r.split() {
			continue
		}
		t := &Table{Addr: addr, Layout: l, PtrSize: int(r.ptr), Quantum: int(r.quantum), r: r}
		if l == Go118 || l == Go120 {
			if !r.agrees() {
				continue
			}
			start, ok := r.textStart(addr)
			if !ok {
				continue
			}
			t.TextStart = start
		}
		if !t.readFunctions() {
			continue
		}
		if damaged {
			t.Notes = append(t.Notes, fmt.Sprintf("the Go function table at %#x has a changed header; its structure verifies as layout %s or later", addr, l))
		}
		return t
	}
	return nil
}

// split cuts the sub-tables out of the data and checks that the function
// index fits.
func (r *reader) split() bool {
	d := r.data
	field := func(i uint64) uint64 { return r.word(d, 8+i*r.ptr) }
	r.count = field(0)
	if r.count == 0 || r.count > uint64(len(d))/4 {
		return false
	}
	size := (2*r.count + 1) * r.entrySize()
	switch r.layout {
	case Go12:
		if !r.splitOld() {
			return false
		}
	default:
		first := uint64(3)
		if r.layout == Go116 {
			first = 2
		} else {
			r.header = field(2)
		}
		r.nameOff = field(first)
		next := field(first + 1)
		if r.nameOff >= next || next > uint64(len(d)) {
			return false
		}
		r.names = d[r.nameOff:next]
		r.cutab, r.files, r.pctab = tail(d, next), tail(d, field(first+2)), tail(d, field(first+3))
		r.funcdata = tail(d, field(first+4))
		r.functab = r.funcdata
	}
	r.budget = 16*len(r.names) + 1<<20
	if uint64(len(r.functab)) < size {
		return false
	}
	r.functab = r.functab[:size]
	return true
}

// splitOld is split for layout 1.2, whose parts are addressed from the start of
// the table.
func (r *reader) splitOld() bool {
	d := r.data
	r.names, r.pctab, r.funcdata = d, d, d
	r.functab = tail(d, 8+r.ptr)
	size := (2*r.count + 1) * r.entrySize()
	if r.count > uint64(len(d))/4 || uint64(len(r.functab)) < size+4 {
		return false
	}
	r.files = tail(d, uint64(r.u32(r.functab, size)))
	return true
}

func (r *reader) entrySize() uint64 {
	if r.layout == Go118 || r.layout == Go120 {
		return 4
	}
	return r.ptr
}

// entry returns what the index says of function i: its address (still relative
// to the text start in later layouts) and the offset of its record.
func (r *reader) entry(i uint64) (pc, off uint64) {
	n := r.entrySize()
	if n == 4 {
		return uint64(r.u32(r.functab, 2*i*n)), uint64(r.u32(r.functab, (2*i+1)*n))
	}
	return r.word(r.functab, 2*i*n), r.word(r.functab, (2*i+1)*n)
}

// maxName bounds a function name; generic instantiations make long ones.
const maxName = 1 << 16

func (r *reader) name(off uint64) (string, bool) {
	if off >= uint64(len(r.names)) {
		return "", false
	}
	rest := r.names[off:min(uint64(len(r.names)), off+maxName)]
	n := bytes.IndexByte(rest, 0)
	if n < 0 {
		return "", false
	}
	if r.budget -= n; r.budget < 0 {
		return "", false
	}
	return string(rest[:n]), true
}

// fields of a function record after its entry.
const (
	fieldName, fieldPCFile, fieldPCLine, fieldCU, fieldStartLine = 0, 16, 20, 28, 32
)

// field reads a 32-bit field of the record at off.
func (r *reader) field(off, field uint64) uint32 {
	return r.u32(r.funcdata, off+r.entrySize()+field)
}

// readFunctions reads and verifies the index: addresses rise and lie in code,
// each record repeats its address and has a name.
func (t *Table) readFunctions() bool {
	r := t.r
	funcs := make([]Func, 0, min(r.count, 1<<15))
	bad := 0
	last := uint64(0)
	for i := range r.count {
		pc, off := r.entry(i)
		end, _ := r.entry(i + 1)
		recorded := r.word(r.funcdata, off)
		if r.entrySize() == 4 {
			recorded = uint64(r.u32(r.funcdata, off))
		}
		name, ok := r.name(uint64(r.field(off, fieldName)))
		pc, end, recorded = pc+t.TextStart, end+t.TextStart, recorded+t.TextStart
		if !ok || name == "" || recorded != pc || end < pc || pc < last || !r.im.Executable(pc) {
			if bad++; bad > 8 && bad > len(funcs)/16 {
				return false
			}
			continue
		}
		last = pc
		if end == pc {
			continue
		}
		f := Func{Name: name, Entry: pc, End: r.trim(pc, end), offset: off}
		if r.layout == Go120 {
			f.StartLine = int(int32(r.field(off, fieldStartLine)))
		}
		funcs = append(funcs, f)
	}
	if len(funcs) == 0 || bad > len(funcs)/16 {
		return false
	}
	if bad > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d of %d records of the Go function table can't be read", bad, r.count))
	}
	t.funcs = funcs
	return true
}

// agreeing is how many records are enough to see that a table is none.
const agreeing = 1 << 10

// agrees tells from the first records, before the text start is looked for,
// whether readFunctions might take the table: as there, each record is to repeat
// its address.
func (r *reader) agrees() bool {
	bad := uint64(0)
	for i := range min(r.count, agreeing) {
		pc, off := r.entry(i)
		if uint64(r.u32(r.funcdata, off)) != pc {
			if bad++; bad > 8 && bad > (i+1-bad)/16 {
				return false
			}
		}
	}
	return true
}

// lastPC is the end of the last function: the index has one more address than
// functions.
func (r *reader) lastPC() uint64 {
	pc, _ := r.entry(r.count)
	return pc
}

// trim takes the padding between functions off the end of one.
func (r *reader) trim(pc, end uint64) uint64 {
	code := r.im.Bytes(pc, int(min(end-pc, uint64(len(r.data)))))
	if uint64(len(code)) < end-pc {
		return end
	}
	n := len(code)
	switch r.im.Arch {
	case object.X86, object.X86_64:
		for n > 1 && len(code)-n < 64 && code[n-1] == 0xcc {
			n--
		}
	case object.ARM, object.ARM64:
		for n > 4 && len(code)-n < 64 && r.u32(code, uint64(n-4)) == 0 {
			n -= 4
		}
	}
	return pc + uint64(n)
}
