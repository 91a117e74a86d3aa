package dwarf_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"rea/providers/format/dwarf"
	"rea/providers/format/elf"
	"rea/providers/format/object"
)

func samples(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.o")
	if err != nil || len(paths) < 4 {
		t.Fatalf("%d sample objects: %v", len(paths), err)
	}
	out := map[string][]byte{}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(p)] = b
	}
	return out
}

// readAll asks for everything there is and fails when that takes unreasonably
// long. It returns how much was found.
func readAll(t testing.TB, what string, im *object.Image) (functions, types int) {
	t.Helper()
	start := time.Now()
	d, err := dwarf.Open(im)
	if err != nil {
		return 0, 0
	}
	ctx := context.Background()
	fs, err := d.Functions(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range fs {
		if !im.Executable(f.Addr) || f.Size == 0 {
			t.Fatalf("%s: function %+v", what, f)
		}
		if i < 64 {
			if s, ok := d.Signature(f.Ref); ok && len(s.String()) > 1<<20 {
				t.Fatalf("%s: a signature of %d bytes", what, len(s.String()))
			}
			d.Line(f.Addr)
			d.Line(f.Addr + f.Size/2)
		}
	}
	ts, _, err := d.Types(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range ts {
		if i < 64 {
			d.Type(n.Ref)
		}
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Fatalf("%s: reading %d bytes took %v", what, len(im.Data()), d)
	}
	if n := len(im.Data()); len(fs) > n || len(ts) > n {
		t.Fatalf("%s: %d functions and %d types of %d bytes", what, len(fs), len(ts), n)
	}
	return len(fs), len(ts)
}

func loadObject(t testing.TB, data []byte) *object.Image {
	t.Helper()
	im, err := elf.Load(data)
	if err != nil {
		return nil
	}
	return im
}

// debugBytes are the places of the debug sections' bytes in the file.
func debugBytes(im *object.Image) []int {
	var out []int
	for _, s := range im.Sections {
		switch s.Name {
		case ".debug_info", ".debug_abbrev", ".debug_line", ".debug_rnglists", ".debug_ranges", ".debug_str_offsets", ".debug_addr", ".debug_types":
			for i := range s.FileSize {
				out = append(out, int(s.Offset+i))
			}
		}
	}
	return out
}

func TestEveryByteChanged(t *testing.T) {
	for name, data := range samples(t) {
		im := loadObject(t, data)
		functions, types := readAll(t, name, im)
		if functions < 2 || types < 4 {
			t.Fatalf("%s: %d functions, %d types", name, functions, types)
		}
		b := slices.Clone(data)
		for _, i := range debugBytes(im) {
			for _, v := range []byte{0xff, 0x00, data[i] ^ 0x81} {
				b[i] = v
				readAll(t, fmt.Sprintf("%s[%#x] = %#x", name, i, v), loadObject(t, b))
			}
			b[i] = data[i]
		}
	}
}

func TestRandomDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	all := samples(t)
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for round := range 4000 {
		name := names[round%len(names)]
		b := slices.Clone(all[name])
		places := debugBytes(loadObject(t, b))
		for range 1 + rng.IntN(8) {
			at := places[rng.IntN(len(places))]
			switch rng.IntN(3) {
			case 0:
				b[at] = byte(rng.Uint32())
			case 1:
				binary.LittleEndian.PutUint32(b[min(at, len(b)-4):], 0xffffffff)
			default:
				copy(b[at:], b[places[rng.IntN(len(places))]:][:min(16, len(b)-at)])
			}
		}
		if im := loadObject(t, b); im != nil {
			readAll(t, fmt.Sprintf("%s, round %d", name, round), im)
		}
	}
}

// synthetic is an image that holds nothing but debug sections and some code.
func synthetic(sections map[string][]byte) *object.Image {
	im := &object.Image{Format: object.ELF, Arch: object.X86_64, Bits: 64}
	var data []byte
	for _, name := range []string{".debug_info", ".debug_abbrev", ".debug_str", ".debug_line", ".debug_types", ".debug_ranges"} {
		b := sections[name]
		im.Sections = append(im.Sections, object.Section{Name: name, Offset: uint64(len(data)), FileSize: uint64(len(b)), Size: uint64(len(b))})
		data = append(data, b...)
	}
	im.SetData(data)
	im.Segments = []object.Segment{{Addr: 0x1000, Size: 0x10000, Perm: object.Permissions{Execute: true}}}
	im.Normalize()
	return im
}

// TestSharedTables builds information whose units all use the same, large and
// unfinished tables at different places.
func TestSharedTables(t *testing.T) {
	le := binary.LittleEndian
	const units = 100000
	t.Run("abbreviations", func(t *testing.T) {
		var info []byte
		for i := range units {
			info = le.AppendUint32(info, 8)
			info = le.AppendUint16(info, 4)
			info = le.AppendUint32(info, uint32(i*3))
			info = append(info, 8, 1)
		}
		abbrev := make([]byte, 1<<20)
		for i := range abbrev {
			abbrev[i] = byte(i%100) | 1
		}
		readAll(t, "abbreviations", synthetic(map[string][]byte{".debug_info": info, ".debug_abbrev": abbrev}))
	})
	t.Run("names", func(t *testing.T) {
		// Functions that share one name of 64 KiB.
		abbrev := []byte{1, 0x11, 1, 0, 0, 2, 0x2e, 0, 0x03, 0x0e, 0x11, 0x01, 0x12, 0x06, 0, 0, 0}
		var dies []byte
		for range units {
			dies = append(dies, 2)
			dies = le.AppendUint32(dies, 0)
			dies = le.AppendUint64(dies, 0x1000)
			dies = le.AppendUint32(dies, 16)
		}
		info := le.AppendUint32(nil, uint32(len(dies)+8))
		info = le.AppendUint16(info, 4)
		info = le.AppendUint32(info, 0)
		info = append(append(info, 8, 1), dies...)
		str := make([]byte, 1<<16)
		for i := range str[:len(str)-1] {
			str[i] = 'n'
		}
		if n, _ := readAll(t, "names", synthetic(map[string][]byte{".debug_info": info, ".debug_abbrev": abbrev, ".debug_str": str})); n < 100 {
			t.Errorf("%d functions were read", n)
		}
	})
	t.Run("deep_types", func(t *testing.T) {
		// A chain of pointers that ends in itself.
		abbrev := []byte{1, 0x11, 1, 0, 0, 2, 0x16, 0, 0x03, 0x08, 0x49, 0x13, 0, 0, 3, 0x0f, 0, 0x49, 0x13, 0, 0, 0}
		body := []byte{1, 2, 'a', 0}
		body = le.AppendUint32(body, uint32(11+1+7))
		for i := range units {
			body = append(body, 3)
			next := 11 + 1 + 7 + 5*(i+1)
			if i == units-1 {
				next = 11 + 1 + 7
			}
			body = le.AppendUint32(body, uint32(next))
		}
		info := le.AppendUint32(nil, uint32(len(body)+7))
		info = le.AppendUint16(info, 4)
		info = le.AppendUint32(info, 0)
		info = append(append(info, 8), body...)
		if _, n := readAll(t, "types", synthetic(map[string][]byte{".debug_info": info, ".debug_abbrev": abbrev})); n != 1 {
			t.Errorf("%d types", n)
		}
	})
}

func FuzzRead(f *testing.F) {
	for _, data := range samples(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if im := loadObject(t, data); im != nil {
			readAll(t, "fuzz", im)
		}
	})
}

func BenchmarkFunctions(b *testing.B) {
	im, _ := open(b, build(b, "g++", ccSource, "-O1", "-g", "-include", "map", "-include", "regex", "-include", "iostream"))
	size := im.Section(".debug_info").Size
	b.SetBytes(int64(size))
	for b.Loop() {
		d, err := dwarf.Open(im)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := d.Functions(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
