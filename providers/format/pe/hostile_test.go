package pe

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"testing"
	"time"

	"rea/providers/format/object"
)

// check loads hostile bytes and holds the promises of an image against it.
func check(t testing.TB, data []byte) {
	t.Helper()
	start := time.Now()
	im, err := Load(data)
	if d := time.Since(start); d > 20*time.Second {
		t.Fatalf("loading %d bytes took %v", len(data), d)
	}
	if err != nil {
		if im != nil {
			t.Fatal("an image beside an error")
		}
		return
	}
	entries := len(im.Symbols) + len(im.Imports) + len(im.Exports) + len(im.Relocations) + len(im.Hints) +
		len(im.Parts) + len(im.LandingPads)
	if limit := 4*len(data) + 100000; entries > limit {
		t.Fatalf("%d entries from %d bytes", entries, len(data))
	}
	if len(im.Notes) > 300 {
		t.Fatalf("%d notes", len(im.Notes))
	}
	if !sort.SliceIsSorted(im.Segments, func(i, j int) bool { return im.Segments[i].Addr < im.Segments[j].Addr }) ||
		!sort.SliceIsSorted(im.Hints, func(i, j int) bool { return im.Hints[i].Addr < im.Hints[j].Addr }) {
		t.Fatal("lists are not sorted")
	}
	for i, s := range im.Segments {
		if s.FileSize > s.Size || s.Offset+s.FileSize > uint64(len(data)) && s.FileSize > 0 {
			t.Fatalf("segment %+v reaches beyond %d bytes", s, len(data))
		}
		if i > 0 && s.Addr-im.Segments[i-1].Addr < im.Segments[i-1].Size {
			t.Fatalf("segments overlap: %+v", im.Segments[i-1:i+1])
		}
	}
	for _, h := range im.Hints {
		if !im.Executable(h.Addr) {
			t.Fatalf("hint %+v is not code", h)
		}
	}
	for _, r := range im.Relocations {
		if r.HasTarget && im.Kind != object.Relocatable && im.SegmentAt(r.Target) == nil {
			t.Fatalf("relocation %+v leads nowhere", r)
		}
	}
}

func TestTruncated_everywhere(t *testing.T) {
	for _, name := range fixtures {
		data := fixture(t, name)
		for n := range len(data) {
			check(t, data[:n:n])
		}
	}
}

// Every field of 32 bits, set to values that lie.
func TestLying_fields(t *testing.T) {
	step := 4
	if testing.Short() {
		step = 28
	}
	for _, name := range fixtures {
		data := fixture(t, name)
		for off := 0; off+4 <= len(data); off += step {
			old := binary.LittleEndian.Uint32(data[off:])
			for _, v := range []uint32{0, 1, 0xffffffff, 0x7fffffff, 0x80000000, uint32(len(data)), old + 1, old << 8} {
				binary.LittleEndian.PutUint32(data[off:], v)
				check(t, data)
			}
			binary.LittleEndian.PutUint32(data[off:], old)
		}
	}
}

func TestFlipped_bytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range fixtures {
		data := fixture(t, name)
		for range 1500 {
			m := append([]byte(nil), data...)
			for range 1 + rng.IntN(8) {
				m[rng.IntN(len(m))] = byte(rng.Uint32())
			}
			check(t, m)
		}
	}
}

func TestSame_bytes_same_image(t *testing.T) {
	for _, name := range fixtures {
		a, b := mustLoad(t, fixture(t, name)), mustLoad(t, fixture(t, name))
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s loads differently the second time", name)
		}
	}
}

// patched returns a fixture with bytes replaced at an RVA.
func patched(t *testing.T, name string, edit func(im *object.Image, at func(rva uint64) []byte)) []byte {
	t.Helper()
	data := fixture(t, name)
	im := mustLoad(t, data)
	edit(im, func(rva uint64) []byte {
		s := im.SegmentAt(im.Base + rva)
		return data[s.Offset+im.Base+rva-s.Addr:]
	})
	return data
}

// directoryRVA reads a data directory of a PE32+ image.
func directoryRVA(data []byte, i int) uint64 {
	pe := le.Uint32(data[60:])
	return uint64(le.Uint32(data[pe+24+112+8*uint32(i):]))
}

// A chain of unwind information that leads back to itself has no parent, and
// its entry stays a function.
func TestCyclic_unwind_chain(t *testing.T) {
	data := patched(t, "sample_x64.dll", func(im *object.Image, at func(uint64) []byte) {
		table := at(directoryRVA(im.Data(), dirException))
		info := at(uint64(le.Uint32(table[8:])))
		info[0] = 1 | unwindChained<<3
		info[2] = 0
		copy(info[4:16], table[:12]) // its own entry
	})
	im := mustLoad(t, data)
	if len(im.Parts) != 0 {
		t.Errorf("parts %+v", im.Parts)
	}
	if len(im.Notes) != 1 {
		t.Errorf("notes %q", im.Notes)
	}
	if !contains(hints(im, object.FromPData), im.Base+uint64(0x1000)) {
		t.Error("the entry is lost")
	}
}

// Chained unwind information ties a range to the function that begins it.
func TestChained_unwind_makes_parts(t *testing.T) {
	var first, second runtimeFunction
	data := patched(t, "sample_x64.dll", func(im *object.Image, at func(uint64) []byte) {
		table := at(directoryRVA(im.Data(), dirException))
		first, second = readRuntimeFunction(table), readRuntimeFunction(table[12:])
		info := at(uint64(second.unwind))
		info[0] = 1 | unwindChained<<3
		info[2] = 0
		copy(info[4:16], table[:12])
	})
	im := mustLoad(t, data)
	equal(t, "parts", im.Parts[:1], []object.FunctionPart{{
		Addr: im.Base + uint64(second.begin), Size: uint64(second.end - second.begin),
		Parent: im.Base + uint64(first.begin), Source: object.FromPData,
	}})
	for _, h := range im.Hints {
		if h.Addr == im.Base+uint64(second.begin) && h.Size > 0 {
			t.Error("a part is hinted at as a function of its own")
		}
	}
}

// A forwarder to itself is data, not something to follow.
func TestForwarder_to_itself(t *testing.T) {
	data := patched(t, "sample_x64.dll", func(im *object.Image, at func(uint64) []byte) {
		i := -1
		for j, b := range im.Data() {
			if b == 's' && string(im.Data()[j:j+27]) == "sample_imports.imported_one" {
				i = j
				break
			}
		}
		copy(im.Data()[i:], "sample_x64.forwarded\x00")
	})
	im := mustLoad(t, data)
	for _, e := range im.Exports {
		if e.Name == "forwarded" && e.Forward != "sample_x64.forwarded" {
			t.Errorf("forwarder %+v", e)
		}
	}
}

// Many import descriptors that share one long table cost no more than honest ones.
func TestOverlapping_imports_are_bounded(t *testing.T) {
	data := overlappingImports(t)
	check(t, data)
	im := mustLoad(t, data)
	if n := len(im.Imports); n == 0 || n > len(data)/8 {
		t.Errorf("%d imports", n)
	}
}

func overlappingImports(tb testing.TB) []byte {
	data := fixture(tb, "sample_x64.dll")
	data = append(data, make([]byte, 4<<20)...)
	pe := le.Uint32(data[60:])
	sec := data[pe+24+uint32(le.Uint16(data[pe+20:])):]
	const rva, raw, size = 0x10000, 0x2000, 4<<20 - 0x2000
	le.PutUint32(sec[8:], size)
	le.PutUint32(sec[12:], rva)
	le.PutUint32(sec[16:], size)
	le.PutUint32(sec[20:], raw)
	le.PutUint32(data[pe+24+112+8*dirImport:], rva)
	body := data[raw:]
	const thunks = 2 << 20
	for i := 0; i+20 < thunks-1024; i += 20 {
		le.PutUint32(body[i:], rva+thunks)
		le.PutUint32(body[i+12:], rva+size-64)
		le.PutUint32(body[i+16:], rva+thunks)
	}
	copy(body[size-64:], "x.dll\x00")
	for i := thunks; i+8 < size-(64<<10); i += 8 {
		le.PutUint64(body[i:], 1<<63|1)
	}
	return data
}

// The record of the Microsoft linker, put where it would be: each word is
// mixed with the key, the first says where it begins.
func TestRich_header(t *testing.T) {
	data := fixture(t, "sample_x64.dll")
	const key, at = 0xcafe1234, 0x40
	words := []uint32{0x536e6144, 0, 0, 0, 0x0105<<16 | 33145, 12, 0x0102<<16 | 36248, 1}
	for i, w := range words {
		le.PutUint32(data[at+4*i:], w^key)
	}
	copy(data[at+32:], "Rich")
	le.PutUint32(data[at+36:], key)
	if pe := le.Uint32(data[60:]); pe < at+40 {
		t.Fatalf("the fixture has no room: PE header at %#x", pe)
	}
	im := mustLoad(t, data)
	equal(t, "compiler", im.Compiler, []string{
		"Rich: C++ build 33145, 12 objects", "Rich: Linker build 36248, 1 objects",
	})
	copy(data[at:], "none")
	if im = mustLoad(t, data); len(im.Compiler) != 0 || len(im.Notes) != 1 {
		t.Errorf("without a beginning: %q, notes %q", im.Compiler, im.Notes)
	}
}

// Bytes behind the sections are an overlay unless the certificate table
// accounts for them.
func TestOverlay_and_certificates(t *testing.T) {
	data := append(fixture(t, "sample_x64.dll"), make([]byte, 256)...)
	im := mustLoad(t, data)
	equal(t, "overlay", property(im, "overlay"), "256 bytes at file offset 0x1200")
	equal(t, "authenticode", mitigation(im, "authenticode"), "disabled")
	dir := data[le.Uint32(data[60:])+24+112+8*dirSecurity:]
	le.PutUint32(dir, uint32(len(data)-256))
	le.PutUint32(dir[4:], 256)
	im = mustLoad(t, data)
	equal(t, "overlay", property(im, "overlay"), "")
	equal(t, "authenticode", mitigation(im, "authenticode"), "enabled")
	le.PutUint32(dir[4:], 1<<20)
	equal(t, "authenticode", mitigation(mustLoad(t, data), "authenticode"), "unknown")
}

func FuzzLoad(f *testing.F) {
	for _, name := range fixtures {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, data) })
}

func BenchmarkLoad(b *testing.B) {
	data := fixture(b, "throw_x64.dll")
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		mustLoad(b, data)
	}
}

// Cost of the worst input known: descriptors that all share one table.
func BenchmarkOverlapping_imports(b *testing.B) {
	data := overlappingImports(b)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		mustLoad(b, data)
	}
}
