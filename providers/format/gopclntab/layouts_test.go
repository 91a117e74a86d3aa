package gopclntab

import (
	"bytes"
	"debug/gosym"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"rea/providers/format/elf"
	"rea/providers/format/object"
)

// Addresses of the synthetic programs.
const (
	testText  = 0x401000
	testTable = 0x500000
)

// testFunc is one function of a synthetic table: its first line, and that the
// second half of it is on the next line.
type testFunc struct {
	name string
	size uint64
	file int // index into the two files
	line int
}

var testFuncs = []testFunc{
	{"runtime.text.start", 32, 0, 10}, {"main.main", 64, 1, 20}, {"main.(*T).String", 16, 1, 200}, {"main.generic[go.shape.int]", 128, 0, 3000},
}

var testFiles = []string{"/src/runtime/asm.s", "/src/main/main.go"}

// writer builds a table in one of the layouts, following the runtime's
// description of it.
type writer struct {
	order  binary.AppendByteOrder
	layout Layout
	ptr    int
	b      []byte
}

func (w *writer) word(v uint64) {
	if w.ptr == 4 {
		w.b = w.order.AppendUint32(w.b, uint32(v))
	} else {
		w.b = w.order.AppendUint64(w.b, v)
	}
}

func (w *writer) u32(v uint32) { w.b = w.order.AppendUint32(w.b, v) }

// varint pairs of a value table: the value changes by delta for size bytes.
func pairs(first, second int, size uint64) []byte {
	zigzag := func(d int) uint64 { return uint64(d<<1 ^ d>>63) }
	b := binary.AppendUvarint(nil, zigzag(first+1))
	b = binary.AppendUvarint(b, size/2)
	b = binary.AppendUvarint(b, zigzag(second-first))
	b = binary.AppendUvarint(b, size/2)
	return append(b, 0)
}

// table writes the whole table with quantum 1.
func table(layout Layout, order binary.AppendByteOrder, ptr int) []byte {
	magic := map[Layout]uint32{Go12: magic12, Go116: magic116, Go118: magic118, Go120: magic120}[layout]
	w := &writer{order: order, layout: layout, ptr: ptr}
	w.u32(magic)
	w.b = append(w.b, 0, 0, 1, byte(ptr))
	w.word(uint64(len(testFuncs)))
	if layout == Go12 {
		return w.old()
	}
	names, nameOff := text(funcNames())
	files, fileOff := text(testFiles)
	var cu []byte
	for _, off := range fileOff {
		cu = order.AppendUint32(cu, off)
	}
	pctab := []byte{0}
	var pcfile, pcline []uint32
	for _, f := range testFuncs {
		pcfile = append(pcfile, uint32(len(pctab)))
		pctab = append(pctab, single(f.file, f.size)...)
		pcline = append(pcline, uint32(len(pctab)))
		pctab = append(pctab, pairs(f.line, f.line+1, f.size)...)
	}
	w.word(uint64(len(testFiles)))
	words := 7
	if layout != Go116 {
		words = 8
		w.word(testText)
	}
	header := 8 + words*ptr
	pad := func(b []byte) []byte { return append(b, make([]byte, -len(b)&7)...) }
	parts := [][]byte{pad(names), pad(cu), pad(files), pad(pctab)}
	at := header
	for _, p := range parts {
		w.word(uint64(at))
		at += len(p)
	}
	w.word(uint64(at))
	for _, p := range parts {
		w.b = append(w.b, p...)
	}
	// The index, then the records.
	entry := 4
	if layout == Go116 {
		entry = ptr
	}
	record := entry + 40
	index := (2*len(testFuncs) + 1) * entry
	put := func(v uint64) {
		if entry == 4 {
			w.u32(uint32(v))
		} else {
			w.word(v)
		}
	}
	base := uint64(0)
	if layout == Go116 {
		base = testText
	}
	pc := base
	for i, f := range testFuncs {
		put(pc)
		put(uint64(index + i*record))
		pc += f.size
	}
	put(pc)
	pc = base
	for i, f := range testFuncs {
		put(pc)
		for _, v := range []uint32{nameOff[i], 0, 0, 0, pcfile[i], pcline[i], 0, 0, uint32(f.line), 0} {
			w.u32(v)
		}
		pc += f.size
	}
	return w.b
}

func single(value int, size uint64) []byte {
	b := binary.AppendUvarint(nil, uint64(value+1)<<1)
	return append(binary.AppendUvarint(b, size), 0)
}

func funcNames() []string {
	var out []string
	for _, f := range testFuncs {
		out = append(out, f.name)
	}
	return out
}

// text writes NUL-ended strings and tells where each begins.
func text(list []string) (b []byte, at []uint32) {
	for _, s := range list {
		at = append(at, uint32(len(b)))
		b = append(append(b, s...), 0)
	}
	return b, at
}

// old writes what follows the count in layout 1.2: everything is addressed from
// the start of the table.
func (w *writer) old() []byte {
	start := len(w.b)
	index := (2*len(testFuncs)+1)*w.ptr + 4
	record := w.ptr + 32
	records := start + index
	strings := records + record*len(testFuncs)
	names, nameOff := text(funcNames())
	files, fileOff := text(testFiles)
	fileAt := strings + len(names)
	fileTab := fileAt + len(files)
	fileTab += -fileTab & 3
	pctab := fileTab + 4*(len(testFiles)+1)
	var tables []byte
	var pcfile, pcline []uint32
	for _, f := range testFuncs {
		pcfile = append(pcfile, uint32(pctab+len(tables)))
		tables = append(tables, single(f.file+1, f.size)...)
		pcline = append(pcline, uint32(pctab+len(tables)))
		tables = append(tables, pairs(f.line, f.line+1, f.size)...)
	}
	pc := uint64(testText)
	for i, f := range testFuncs {
		w.word(pc)
		w.word(uint64(records + i*record))
		pc += f.size
	}
	w.word(pc)
	w.u32(uint32(fileTab))
	pc = testText
	for i, f := range testFuncs {
		w.word(pc)
		for _, v := range []uint32{uint32(strings) + nameOff[i], 0, 0, 0, pcfile[i], pcline[i], 0, 0} {
			w.u32(v)
		}
		pc += f.size
	}
	w.b = append(append(w.b, names...), files...)
	for len(w.b) < fileTab {
		w.b = append(w.b, 0)
	}
	w.u32(uint32(len(testFiles) + 1))
	for _, off := range fileOff {
		w.u32(uint32(fileAt) + off)
	}
	return append(w.b, tables...)
}

// image maps a table and the code it describes.
func image(data []byte, big bool, bits int) *object.Image {
	im := &object.Image{Format: object.ELF, Arch: object.Unknown, Bits: bits, BigEndian: big}
	im.SetData(data)
	im.Segments = []object.Segment{
		{Addr: testText, Size: 0x1000, Perm: object.Permissions{Read: true, Execute: true}},
		{Addr: testTable, Size: uint64(len(data)), FileSize: uint64(len(data)), Perm: object.Permissions{Read: true}},
	}
	im.Normalize()
	return im
}

var layouts = []struct {
	layout Layout
	order  binary.AppendByteOrder
	ptr    int
}{
	{Go12, binary.LittleEndian, 8}, {Go12, binary.BigEndian, 4}, {Go116, binary.LittleEndian, 8}, {Go116, binary.BigEndian, 8}, {Go116, binary.LittleEndian, 4},
	{Go118, binary.LittleEndian, 8}, {Go118, binary.BigEndian, 4}, {Go120, binary.LittleEndian, 8}, {Go120, binary.BigEndian, 8}, {Go120, binary.LittleEndian, 4},
}

// TestAllLayouts reads synthetic tables and has the Go library confirm both
// that they are what it takes for a table and what they say.
func TestAllLayouts(t *testing.T) {
	for _, tt := range layouts {
		t.Run(fmt.Sprintf("%s_%v_%d", tt.layout, tt.order, tt.ptr), func(t *testing.T) {
			data := table(tt.layout, tt.order, tt.ptr)
			tab := Find(image(data, tt.order == binary.AppendByteOrder(binary.BigEndian), tt.ptr*8))
			if tab == nil || tab.Layout != tt.layout || tab.Addr != testTable {
				t.Fatalf("table %+v", tab)
			}
			ref, err := gosym.NewTable(nil, gosym.NewLineTable(data, testText))
			if err != nil || len(ref.Funcs) != len(testFuncs) {
				t.Fatalf("the library reads %d functions: %v", len(ref.Funcs), err)
			}
			pc := uint64(testText)
			for i, want := range testFuncs {
				f := tab.Functions()[i]
				if f.Name != want.name || f.Entry != pc || f.End != pc+want.size {
					t.Errorf("function %d: %+v, want %+v at %#x", i, f, want, pc)
				}
				if tt.layout == Go120 && f.StartLine != want.line {
					t.Errorf("%s starts at line %d, want %d", f.Name, f.StartLine, want.line)
				}
				for at := pc; at < pc+want.size; at++ {
					file, line, ok := tab.Line(at)
					refFile, refLine, _ := ref.PCToLine(at)
					if !ok || file != refFile || line != refLine || file != testFiles[want.file] {
						t.Fatalf("%#x: %s:%d, the library says %s:%d", at, file, line, refFile, refLine)
					}
				}
				pc += want.size
			}
		})
	}
}

// TestChangedHeader takes away what leads to the table: the section name, the
// magic number, then all section headers and symbols.
func TestChangedHeader(t *testing.T) {
	path := build(t, []string{"GOOS=linux", "GOARCH=amd64"})
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	im := load(t, path)
	whole := Find(im)
	if whole == nil {
		t.Fatal("no table")
	}
	seg := im.SegmentAt(whole.Addr)
	at := seg.Offset + whole.Addr - seg.Addr
	for _, tt := range []struct {
		name   string
		change func(b []byte)
		note   bool
	}{
		{"no_sections", func(b []byte) { binary.LittleEndian.PutUint64(b[40:], 0); binary.LittleEndian.PutUint16(b[60:], 0) }, false},
		{"other_magic", func(b []byte) { copy(b[at:], "\xde\xad\xbe\xef") }, true},
		{"other_magic_no_sections", func(b []byte) {
			copy(b[at:], "\xde\xad\xbe\xef")
			binary.LittleEndian.PutUint64(b[40:], 0)
			binary.LittleEndian.PutUint16(b[60:], 0)
		}, true},
		{"count", func(b []byte) { binary.LittleEndian.PutUint64(b[at+8:], 1<<40) }, true},
		{"half_wiped", func(b []byte) { copy(b[at:], make([]byte, 16)) }, true},
		{"all_wiped", func(b []byte) { copy(b[at:], make([]byte, 72)) }, true},
		{"all_overwritten_no_sections", func(b []byte) {
			copy(b[at:], bytes.Repeat([]byte("\x5a\xc3\x11"), 24))
			binary.LittleEndian.PutUint64(b[40:], 0)
			binary.LittleEndian.PutUint16(b[60:], 0)
		}, true},
		{"wiped_header_no_sections", func(b []byte) {
			copy(b[at:], make([]byte, 8))
			binary.LittleEndian.PutUint64(b[40:], 0)
			binary.LittleEndian.PutUint16(b[60:], 0)
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := slices.Clone(data)
			tt.change(b)
			im, err := elf.Load(b)
			if err != nil {
				t.Fatal(err)
			}
			tab := Find(im)
			if tab == nil || tab.Addr != whole.Addr || len(tab.Functions()) != len(whole.Functions()) || tab.TextStart != whole.TextStart {
				t.Fatalf("table %+v", tab)
			}
			if (len(tab.Notes) > 0) != tt.note {
				t.Errorf("notes %q", tab.Notes)
			}
			if f := tab.FuncAt(im.Entry); f == nil || !strings.HasPrefix(f.Name, "_rt0_") {
				t.Errorf("the entry point lies in %+v", f)
			}
		})
	}
}

// TestDamagedHeaderOfEveryTarget wipes the header in programs whose pointers are
// written in different ways: the functions stay those of the whole file.
func TestDamagedHeaderOfEveryTarget(t *testing.T) {
	for _, tt := range []struct {
		name string
		env  []string
		args []string
	}{
		{"pie", []string{"GOOS=linux", "GOARCH=amd64"}, []string{"-buildmode=pie"}},
		{"arm64", []string{"GOOS=linux", "GOARCH=arm64"}, nil},
		{"386", []string{"GOOS=linux", "GOARCH=386"}, nil},
		{"s390x_big_endian", []string{"GOOS=linux", "GOARCH=s390x"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := build(t, tt.env, append(tt.args, "-trimpath", "-ldflags=-s -w")...)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			im := load(t, path)
			whole := Find(im)
			if whole == nil {
				t.Fatal("no table")
			}
			seg := im.SegmentAt(whole.Addr)
			clear(data[seg.Offset+whole.Addr-seg.Addr:][:8+8*whole.PtrSize])
			if im, err = elf.Load(data); err != nil {
				t.Fatal(err)
			}
			tab := Find(im)
			if tab == nil || tab.Addr != whole.Addr || tab.TextStart != whole.TextStart || len(tab.Notes) != 1 {
				t.Fatalf("table %+v", tab)
			}
			same := func(a, b Func) bool { return a.Name == b.Name && a.Entry == b.Entry && a.End == b.End }
			if !slices.EqualFunc(tab.Functions(), whole.Functions(), same) {
				t.Errorf("%d functions, of the whole file %d", len(tab.Functions()), len(whole.Functions()))
			}
			f := &whole.Functions()[len(whole.Functions())/2]
			file, line, ok := whole.Line(f.Entry)
			if gotFile, gotLine, got := tab.Line(f.Entry); got != ok || gotFile != file || gotLine != line {
				t.Errorf("%s is at %s:%d, in the whole file at %s:%d", f.Name, gotFile, gotLine, file, line)
			}
		})
	}
}

// moduleData is the runtime's for a synthetic table, as the linker writes it.
func moduleData(layout Layout, order binary.AppendByteOrder, ptr int, data []byte) []byte {
	w := &writer{order: order, layout: layout, ptr: ptr}
	slice := func(at, n uint64) {
		w.word(at)
		w.word(n)
		w.word(n)
	}
	r := &reader{order: order.(binary.ByteOrder), ptr: uint64(ptr)}
	field := func(i int) uint64 { return r.word(data, uint64(8+i*ptr)) }
	end := uint64(testText)
	for _, f := range testFuncs {
		end += f.size
	}
	if layout == Go12 {
		slice(testTable, uint64(len(data)))
		slice(testTable+8+uint64(ptr), field(0)+1)
		slice(testTable, 1) // not looked at
	} else {
		first := 3
		if layout == Go116 {
			first = 2
		}
		w.word(testTable)
		for k, width := range []uint64{1, 4, 1, 1} {
			at := field(first + k)
			slice(testTable+at, (field(first+k+1)-at)/width)
		}
		at := field(first + 4)
		slice(testTable+at, uint64(len(data))-at)
		slice(testTable+at, field(0)+1)
	}
	for _, v := range []uint64{testTable, testText, end, testText, testText + 0x1000} {
		w.word(v)
	}
	for range 16 { // what else there is
		w.word(0)
	}
	return w.b
}

func TestModuleDataLeadsToAllLayouts(t *testing.T) {
	for _, tt := range layouts {
		t.Run(fmt.Sprintf("%s_%v_%d", tt.layout, tt.order, tt.ptr), func(t *testing.T) {
			big := tt.order == binary.AppendByteOrder(binary.BigEndian)
			data := table(tt.layout, tt.order, tt.ptr)
			module := moduleData(tt.layout, tt.order, tt.ptr, data)
			words := 8
			switch tt.layout {
			case Go12:
				words = 1
			case Go116:
				words = 7
			}
			size := len(data)
			clear(data[:8+words*tt.ptr])
			for len(data)%16 != 0 {
				data = append(data, 0)
			}
			at := len(data)
			im := image(append(append(data, make([]byte, 32)...), module...), big, tt.ptr*8)
			im.Segments[1].Size, im.Segments[1].FileSize = uint64(size), uint64(size)
			rest := uint64(len(im.Data()) - at)
			im.Segments = append(im.Segments, object.Segment{Addr: 0x600000, Offset: uint64(at), Size: rest, FileSize: rest, Perm: object.Permissions{Read: true, Write: true}})
			im.Normalize()
			tab := Find(im)
			if tab == nil || len(tab.Functions()) != len(testFuncs) || len(tab.Notes) != 1 {
				t.Fatalf("table %+v", tab)
			}
			pc := uint64(testText)
			for i, want := range testFuncs {
				f := tab.Functions()[i]
				file, line, ok := tab.Line(pc)
				if f.Name != want.name || f.Entry != pc || f.End != pc+want.size || !ok || file != testFiles[want.file] || line != want.line {
					t.Errorf("function %d: %+v at %s:%d, want %+v", i, f, file, line, want)
				}
				pc += want.size
			}
		})
	}
}

func TestEveryByteChanged(t *testing.T) {
	for _, tt := range layouts {
		data := table(tt.layout, tt.order, tt.ptr)
		b := slices.Clone(data)
		for i := range b {
			for _, v := range []byte{0x00, 0xff, data[i] ^ 0x80, data[i] + 1} {
				b[i] = v
				use(t, image(b, tt.order == binary.AppendByteOrder(binary.BigEndian), tt.ptr*8))
			}
			b[i] = data[i]
		}
		for n := range data {
			use(t, image(data[:n], tt.order == binary.AppendByteOrder(binary.BigEndian), tt.ptr*8))
		}
	}
}

// use reads everything a table has and checks what it promises.
func use(t testing.TB, im *object.Image) {
	t.Helper()
	start := time.Now()
	tab := Find(im)
	if tab == nil {
		return
	}
	last := uint64(0)
	for _, f := range tab.Functions() {
		if f.Name == "" || f.End <= f.Entry || f.Entry < last || !im.Executable(f.Entry) {
			t.Fatalf("function %+v after %#x", f, last)
		}
		last = f.Entry
		tab.Line(f.Entry)
		tab.Line(f.End - 1)
	}
	if len(tab.Functions()) > len(im.Data()) {
		t.Fatalf("%d functions of %d bytes", len(tab.Functions()), len(im.Data()))
	}
	if d := time.Since(start); d > time.Second {
		t.Fatalf("%d bytes took %v", len(im.Data()), d)
	}
}

func FuzzFind(f *testing.F) {
	for _, tt := range layouts {
		data, big := table(tt.layout, tt.order, tt.ptr), tt.order == binary.AppendByteOrder(binary.BigEndian)
		f.Add(data, big, tt.ptr == 8)
		module := moduleData(tt.layout, tt.order, tt.ptr, data)
		clear(data[:16])
		f.Add(append(append(data, make([]byte, -len(data)&15)...), module...), big, tt.ptr == 8)
	}
	f.Fuzz(func(t *testing.T, data []byte, big, wide bool) {
		bits := 32
		if wide {
			bits = 64
		}
		im := image(data, big, bits)
		im.Segments = append(im.Segments, object.Segment{Addr: 0x600000, Size: uint64(len(data)), FileSize: uint64(len(data)), Perm: object.Permissions{Read: true, Write: true}})
		im.Normalize()
		use(t, im)
	})
}

func BenchmarkFind(b *testing.B) {
	const path = "/usr/local/go/bin/go"
	if _, err := os.Stat(path); err != nil {
		b.Skip(err)
	}
	im := load(b, path)
	for b.Loop() {
		if Find(im) == nil {
			b.Fatal("no table")
		}
	}
}
