package macho

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
	im, err := Load(data, "")
	if d := time.Since(start); d > 20*time.Second {
		t.Fatalf("loading %d bytes took %v", len(data), d)
	}
	if _, _, cerr := Commands(data, ""); (cerr == nil) != (err == nil) {
		t.Fatalf("Commands: %v, Load: %v", cerr, err)
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

// interesting leaves the zeros between segments out of the positions that are tried.
func interesting(data []byte, off int) bool {
	for _, b := range data[max(off-16, 0):min(off+16, len(data))] {
		if b != 0 {
			return true
		}
	}
	return false
}

func all() []string {
	return append(append([]string{"universal.o"}, objects...), images...)
}

func TestTruncated_everywhere(t *testing.T) {
	for _, name := range all() {
		data := fixture(t, name)
		for n := range len(data) {
			if interesting(data, n) {
				check(t, data[:n:n])
			}
		}
	}
}

// Every field of 32 bits, set to values that lie.
func TestLying_fields(t *testing.T) {
	step := 4
	if testing.Short() {
		step = 28
	}
	for _, name := range all() {
		data := fixture(t, name)
		for off := 0; off+4 <= len(data); off += step {
			if !interesting(data, off) {
				continue
			}
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
	for _, name := range all() {
		data := fixture(t, name)
		for range 800 {
			m := append([]byte(nil), data...)
			for n := 1 + rng.IntN(8); n > 0; {
				if at := rng.IntN(len(m)); interesting(data, at) {
					m[at] = byte(rng.Uint32())
					n--
				}
			}
			check(t, m)
		}
	}
}

func TestSame_bytes_same_image(t *testing.T) {
	for _, name := range all() {
		a, b := mustLoad(t, fixture(t, name), ""), mustLoad(t, fixture(t, name), "")
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s loads differently the second time", name)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, name := range all() {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, data) })
}

func BenchmarkLoad(b *testing.B) {
	data := fixture(b, "chained_x86_64.dylib")
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		mustLoad(b, data, "")
	}
}
