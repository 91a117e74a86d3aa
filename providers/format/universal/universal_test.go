package universal_test

import (
	"encoding/binary"
	"testing"

	"rea/providers/format/container"
	"rea/providers/format/container/containertest"
	"rea/providers/format/universal"
)

func open(src container.Source) (container.Reader, error) { return universal.Open(src), nil }

type slice struct {
	cpu, at, size uint32
}

// binaryOf makes a universal header and fills the rest with bytes.
func binaryOf(total int, slices ...slice) []byte {
	be := binary.BigEndian
	b := make([]byte, total)
	be.PutUint32(b, 0xcafebabe)
	be.PutUint32(b[4:], uint32(len(slices)))
	for i, s := range slices {
		row := b[8+20*i:]
		be.PutUint32(row, s.cpu)
		be.PutUint32(row[8:], s.at)
		be.PutUint32(row[12:], s.size)
	}
	return b
}

func TestSlices(t *testing.T) {
	data := binaryOf(4096, slice{0x1000007, 1000, 32}, slice{0x100000c, 2000, 32}, slice{7, 5000, 10}, slice{7, 4000, 1000})
	for i, at := range []int{1000, 2000} { // headers of thin files
		binary.LittleEndian.PutUint32(data[at:], 0xfeedfacf)
		binary.LittleEndian.PutUint32(data[at+4:], []uint32{0x1000007, 0x100000c}[i])
	}
	r := universal.Open(containertest.Source(data))
	entries := containertest.Drain(t, r, 1<<20)
	if len(entries) != 3 || entries[0].Path != "x86_64" || entries[1].Path != "arm64" || entries[2].Path != "cpu-0x7" || len(entries[0].Content) != 32 {
		t.Fatalf("%+v", entries)
	}
	if len(entries[2].Content) != 96 || len(entries[2].Notes) != 1 || len(r.Gaps()) != 1 {
		t.Errorf("slices outside of the file: %+v, %q", entries[2], r.Gaps())
	}
}

func TestIs(t *testing.T) {
	if !universal.Is(binaryOf(64, slice{})) || universal.Is([]byte("\xca\xfe\xba\xbe\x00\x00\x00\x34")) {
		t.Error("a Java class is taken for a universal binary, or the other way around")
	}
}

func TestDamage(t *testing.T) { containertest.Damage(t, binaryOf(256, slice{7, 100, 50}), open) }

func FuzzOpen(f *testing.F) {
	containertest.Fuzz(f, open, binaryOf(256, slice{7, 100, 50}, slice{0x1000007, 150, 50}))
}
