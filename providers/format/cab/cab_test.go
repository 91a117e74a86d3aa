package cab_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"rea/providers/format/cab"
	"rea/providers/format/container"
	"rea/providers/format/container/containertest"
)

var (
	files = []string{"mszip.cab", "stored.cab"}
	open  = containertest.Opening(cab.Open)
)

func read(t testing.TB, data []byte) ([]containertest.Entry, *cab.Reader) {
	t.Helper()
	return readUpTo(t, data, 1<<20)
}

func readUpTo(t testing.TB, data []byte, most int64) ([]containertest.Entry, *cab.Reader) {
	t.Helper()
	r, err := cab.Open(containertest.Source(data))
	if err != nil {
		t.Fatal(err)
	}
	return containertest.Drain(t, r, most), r
}

func TestContent(t *testing.T) {
	for _, name := range files {
		entries, r := read(t, containertest.File(t, name))
		got := map[string]string{}
		for _, e := range entries {
			if e.Err != nil || e.Size != int64(len(e.Content)) || e.Method != strings.TrimSuffix(name, ".cab") {
				t.Errorf("%s: %+v", name, e)
			}
			got[e.Path] = string(e.Content)
		}
		if len(got) != 3 || got["a.txt"] != "hello\n" || !strings.HasSuffix(got["d/seq"], "199\n200\n") || got["e"] != "" || len(r.Claims()) != 0 {
			t.Errorf("%s: %.200q, %v", name, got, r.Claims())
		}
	}
}

// TestLies: what the lists say is held to what is there.
func TestLies(t *testing.T) {
	sound := containertest.File(t, "mszip.cab")
	first := int(binary.LittleEndian.Uint32(sound[16:]))
	block := int(binary.LittleEndian.Uint32(sound[36:]))
	for _, tt := range []struct {
		name   string
		change func(b []byte)
		kind   container.Kind
	}{
		{"size", func(b []byte) { b[first+2] = 1 }, container.Corrupt},
		{"offset", func(b []byte) { b[first+6] = 1 }, container.Corrupt},
		{"folder", func(b []byte) { b[first+8] = 9 }, container.Corrupt},
		{"next volume", func(b []byte) { b[first+8], b[first+9] = 0xfe, 0xff }, container.Absent},
		{"method", func(b []byte) { b[36+6] = 4 }, container.Unsupported},
		{"history", func(b []byte) { b[36+6] = 3 }, container.Corrupt},
		{"data", func(b []byte) { b[block+20] ^= 1 }, container.Corrupt},
		{"block", func(b []byte) { b[block+6] = 0; b[block+7] = 0; clear(b[block : block+4]) }, container.Absent},
	} {
		data := bytes.Clone(sound)
		tt.change(data)
		entries, _ := read(t, data)
		found := false
		for _, e := range entries {
			found = found || container.KindOf(e.Err) == tt.kind
		}
		if !found {
			t.Errorf("%s: %+v", tt.name, entries)
		}
	}
	// Two files over the same bytes are not decoded twice.
	data := bytes.Clone(sound)
	second := first + 16 + bytes.IndexByte(data[first+16:], 0) + 1
	binary.LittleEndian.PutUint32(data[second+4:], 3)
	if entries, _ := read(t, data); container.KindOf(entries[1].Err) != container.Corrupt || entries[0].Err != nil {
		t.Errorf("%+v", entries)
	}
	_, r := read(t, append(bytes.Clone(sound), "surplus"...))
	if c := r.Claims(); len(c) != 1 || c[0].Kind != "suffix" || c[0].Offset != int64(len(sound)) || c[0].Size != 7 {
		t.Errorf("%+v", c)
	}
}

func TestDamage(t *testing.T) {
	for _, name := range files {
		containertest.Damage(t, containertest.File(t, name), open)
	}
}

func FuzzOpen(f *testing.F) {
	seeds := [][]byte{containertest.File(f, files[0]), containertest.File(f, files[1])}
	text := bytes.Repeat([]byte("one and another, and the first one again; \xe8\x01\x02\x00\x00"), 20)
	for i, chunks := range [][][]byte{
		lzx(text, 15, true, []int{1}, []int{1 << 20}), lzx(text, 21, false, []int{2, 3}, []int{333}), lzx(text, 16, true, []int{3, 1}, []int{101}), quantum(text, 12),
	} {
		seeds = append(seeds, cabinet([]uint16{3 | 15<<8, 3 | 21<<8, 3 | 16<<8, 2 | 12<<8}[i], chunks, []int{len(text)}, "a"))
	}
	containertest.Fuzz(f, open, seeds...)
}
