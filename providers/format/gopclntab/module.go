package gopclntab

import (
	"fmt"

	"rea/providers/format/object"
)

// The runtime itself hardly reads the header of its function table: its module
// data (runtime.moduledata) holds a slice for every part of it. A program whose
// header was damaged still runs, and is read by way of them.

// Words of runtime.moduledata since Go 1.16: a pointer to the header, slices of
// names, compilation units, files, values, records and the index, a pointer, the
// least and the highest address, and the bounds of the text.
const (
	moduleHeader  = 0
	moduleSlices  = 6
	moduleIndex   = 16
	moduleMinPC   = 20
	moduleEndText = 23
)

// Words of it before: slices of the whole table, the index and the files, then
// as above.
const (
	oldModuleSlices  = 3
	oldModuleIndex   = 3
	oldModuleMinPC   = 10
	oldModuleEndText = 13
)

// findByModule looks for module data in what the program may write.
func findByModule(im *object.Image) *Table {
	r := &reader{im: im, order: order(im), ptr: uint64(im.Bits / 8)}
	if r.ptr != 4 && r.ptr != 8 {
		return nil
	}
	tried := 0
	for _, s := range im.Segments {
		if !s.Perm.Write || s.Perm.Execute {
			continue
		}
		b := im.Bytes(s.Addr, int(min(s.FileSize, uint64(len(im.Data())))))
		for i := uint64(0); i+(moduleEndText+1)*r.ptr <= uint64(len(b)) && tried < maxCandidates; i += r.ptr {
			m := module{r, s.Addr + i, b[i:]}
			for _, read := range []func() *Table{m.read, m.readOld} {
				if t := read(); t != nil {
					t.Notes = append(t.Notes, fmt.Sprintf("the header of the Go function table at %#x is damaged; the runtime's data at %#x leads to its parts, layout %s or later", t.Addr, m.addr, t.Layout))
					return t
				}
			}
			if m.slices(1, moduleSlices) || m.slices(0, oldModuleSlices) {
				tried++
			}
		}
	}
	return nil
}

// module is what may be module data.
type module struct {
	*reader
	addr uint64
	b    []byte
}

// size is the length of the slice whose words begin at word i.
func (m module) size(i uint64) uint64 { return m.word(m.b, (i+1)*m.ptr) }

// slices says whether n slices begin at word i, each as long as it may become,
// as those of constant data are.
func (m module) slices(i, n uint64) bool {
	for ; n > 0; i, n = i+3, n-1 {
		size := m.size(i)
		if size == 0 || size >= uint64(len(m.im.Data())) || m.word(m.b, (i+2)*m.ptr) != size {
			return false
		}
	}
	return true
}

// slice returns where the slice at word i begins, and its bytes, if the file
// holds all of them.
func (m module) slice(i, width uint64) (uint64, []byte) {
	p, ok := m.pointerAt(m.addr + i*m.ptr)
	if !ok {
		return 0, nil
	}
	n := m.size(i) * width
	if b := m.im.Bytes(p, int(n)); uint64(len(b)) == n {
		return p, b
	}
	return 0, nil
}

// text returns where the code begins if what the words from the least address
// on say of it can be.
func (m module) bounds(minPC, endText uint64) (uint64, bool) {
	var at [4]uint64
	for k := range at {
		p, ok := m.pointerAt(m.addr + (minPC+uint64(k))*m.ptr)
		if !ok {
			return 0, false
		}
		at[k] = p
	}
	low, high, start, end := at[0], at[1], at[2], at[3]
	return start, minPC+3 == endText && start <= low && low < high && high <= end && m.im.Executable(low) && m.im.Executable(high-1)
}

func (m module) quantumOf() uint64 {
	if m.im.Arch == object.ARM || m.im.Arch == object.ARM64 {
		return 4
	}
	return 1
}

// read reads the layouts since 1.16.
func (m module) read() *Table {
	if !m.slices(1, moduleSlices) {
		return nil
	}
	start, ok := m.bounds(moduleMinPC, moduleEndText)
	if !ok {
		return nil
	}
	header, ok := m.pointerAt(m.addr + moduleHeader*m.ptr)
	if !ok {
		return nil
	}
	r := reader{im: m.im, order: m.order, ptr: m.ptr, quantum: m.quantumOf(), count: m.size(moduleIndex) - 1}
	var records, index uint64
	_, r.names = m.slice(1, 1)
	_, r.cutab = m.slice(4, 4)
	_, r.files = m.slice(7, 1)
	_, r.pctab = m.slice(10, 1)
	records, r.funcdata = m.slice(13, 1)
	index, _ = m.slice(moduleIndex, 1)
	if r.names == nil || r.pctab == nil || r.funcdata == nil || index != records || r.count == 0 {
		return nil
	}
	r.data, r.functab = r.funcdata, r.funcdata
	layouts := []Layout{Go118, Go116}
	if b := m.im.Bytes(header, 4); len(b) == 4 {
		if l := layoutOf(m.order.Uint32(b)); l != "" && l != Go12 {
			layouts = []Layout{l} // the damage lies elsewhere
		}
	}
	for _, l := range layouts {
		r.layout = l
		if t := r.verified(header, start); t != nil {
			return t
		}
	}
	return nil
}

// readOld reads layout 1.2, in which only the count is lost with the header.
func (m module) readOld() *Table {
	if !m.slices(0, oldModuleSlices) {
		return nil
	}
	if _, ok := m.bounds(oldModuleMinPC, oldModuleEndText); !ok {
		return nil
	}
	table, data := m.slice(0, 1)
	index, _ := m.slice(oldModuleIndex, 1)
	if data == nil || index != table+8+m.ptr {
		return nil
	}
	r := reader{im: m.im, order: m.order, ptr: m.ptr, quantum: m.quantumOf(), layout: Go12, count: m.size(oldModuleIndex) - 1, data: data}
	if r.count == 0 || !r.splitOld() {
		return nil
	}
	return r.verified(table, 0)
}

// verified is the table whose parts are in place, if its records bear it out.
func (r reader) verified(addr, start uint64) *Table {
	size := (2*r.count + 1) * r.entrySize()
	if r.count > uint64(len(r.functab))/4 || uint64(len(r.functab)) < size {
		return nil
	}
	r.functab = r.functab[:size]
	r.budget = 16*len(r.names) + 1<<20
	t := &Table{Addr: addr, Layout: r.layout, PtrSize: int(r.ptr), Quantum: int(r.quantum), r: &r}
	if r.layout == Go118 || r.layout == Go120 {
		if t.TextStart = start; !r.agrees() {
			return nil
		}
	}
	if !t.readFunctions() {
		return nil
	}
	return t
}
