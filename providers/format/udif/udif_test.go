package udif_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ulikunitz/xz"

	"rea/providers/format/container/containertest"
	"rea/providers/format/udif"
)

// part is a run of an image under construction.
type part struct {
	kind   uint32
	size   int // of the content
	packed []byte
}

// image puts a disk image of one partition together.
func image(parts []part, name string) []byte {
	var data, table bytes.Buffer
	be := binary.BigEndian
	first := 0
	row := func(kind uint32, at, n, offset, length int) {
		b := make([]byte, 40)
		be.PutUint32(b, kind)
		be.PutUint64(b[8:], uint64(at))
		be.PutUint64(b[16:], uint64(n))
		be.PutUint64(b[24:], uint64(offset))
		be.PutUint64(b[32:], uint64(length))
		table.Write(b)
	}
	for _, p := range parts {
		row(p.kind, first, p.size/512, data.Len(), len(p.packed))
		data.Write(p.packed)
		first += p.size / 512
	}
	row(0xffffffff, first, 0, data.Len(), 0)
	mish := make([]byte, 204)
	copy(mish, "mish")
	be.PutUint32(mish[4:], 1)
	be.PutUint64(mish[16:], uint64(first))
	be.PutUint32(mish[200:], uint32(len(parts)+1))
	mish = append(mish, table.Bytes()...)
	plist := fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict><key>resource-fork</key><dict><key>blkx</key><array><dict>
<key>Attributes</key><string>0x0050</string><key>CFName</key><string>%[1]s</string>
<key>Data</key><data>
%[2]s
</data><key>ID</key><string>0</string><key>Name</key><string>%[1]s</string></dict></array></dict></dict></plist>
`, name, base64.StdEncoding.EncodeToString(mish))
	out := append(bytes.Clone(data.Bytes()), plist...)
	koly := make([]byte, 512)
	copy(koly, "koly")
	be.PutUint32(koly[4:], 4)
	be.PutUint32(koly[8:], 512)
	be.PutUint32(koly[12:], 1)
	be.PutUint64(koly[32:], uint64(data.Len()))
	be.PutUint32(koly[56:], 1)
	be.PutUint32(koly[60:], 1)
	be.PutUint64(koly[216:], uint64(data.Len()))
	be.PutUint64(koly[224:], uint64(len(plist)))
	be.PutUint32(koly[488:], 1)
	be.PutUint64(koly[492:], uint64(first))
	return append(out, koly...)
}

func zipped(b []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func xzed(t testing.TB, b []byte) []byte {
	var out bytes.Buffer
	w, err := xz.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(b)
	w.Close()
	return out.Bytes()
}

// adc packs into literals and one match that repeats the last byte.
func adc(b []byte) []byte {
	out := []byte{0x80, b[0]}
	for left := len(b) - 1; left > 0; {
		n := min(left, 67)
		if n < 4 {
			out = append(append(out, byte(0x80|(n-1))), b[len(b)-left:len(b)-left+n]...)
		} else {
			out = append(out, byte(0x40|(n-4)), 0, 0)
		}
		left -= n
	}
	return out
}

// content is text, noise and repetition in sectors.
func content(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "line %d of a text with some repetition, and %x\n", i, r.Uint64()>>(i%50))
	}
	return b.Bytes()[:n]
}

// TestAgainst7z: every kind of run is decoded as 7-Zip decodes it.
func TestAgainst7z(t *testing.T) {
	if _, err := exec.LookPath("7zz"); err != nil {
		t.Skip("no 7zz on this machine")
	}
	text := content(1 << 16)
	same := bytes.Repeat([]byte{7}, 1<<12)
	zlib, stored, nothing := part{0x80000005, len(text), zipped(text)}, part{1, 4096, text[:4096]}, part{0, 1 << 20, nil}
	for _, tt := range []struct {
		name  string
		parts []part
	}{
		{"zlib", []part{zlib, nothing, stored, zlib, {2, 1 << 16, nil}}},
		{"xz", []part{{0x80000008, len(text), xzed(t, text)}, stored}},
		{"adc", []part{{0x80000004, len(same), adc(same)}, stored}},
		{"lzfse_literals", []part{{0x80000007, len(text), lzfse(text, false)}, stored}},
		{"lzfse_matches", []part{{0x80000007, len(text), lzfse(text, true)}, stored}},
		{"lzvn", []part{{0x80000007, len(text), lzvn(text)}, stored}},
	} {
		t.Run(tt.name, func(t *testing.T) { against7z(t, image(tt.parts, "Data (Apple_Test : 1)")) })
	}
}

func against7z(t *testing.T, dmg []byte) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.dmg"), dmg, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("7zz", "x", "-bd", "-oout", "-tDmg", "x.dmg")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "out", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("7zz wrote %v (%v)", files, err)
	}
	want, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	r, err := udif.Open(containertest.Source(dmg))
	if err != nil {
		t.Fatal(err)
	}
	entries := containertest.Drain(t, r, 1<<30)
	if len(entries) != 1 || entries[0].Err != nil {
		t.Fatalf("%+v", entries)
	}
	if !bytes.Equal(entries[0].Content, want) {
		t.Errorf("%d bytes differ from the %d of 7zz", len(entries[0].Content), len(want))
	}
	// Any place can be read by itself.
	at := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		off := at.IntN(len(want))
		b := make([]byte, at.IntN(70_000))
		n, err := entries[0].Section.ReadAt(b, int64(off))
		if err != nil && err != io.EOF || !bytes.Equal(b[:n], want[off:min(off+len(b), len(want))]) {
			t.Fatalf("%d bytes at %d differ (%v)", n, off, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	text := content(1 << 12)
	f.Add(image([]part{{0x80000005, len(text), zipped(text)}, {0, 4096, nil}, {1, 1024, text[:1024]}}, "a"))
	f.Add(image([]part{{0x80000007, len(text), lzfse(text, true)}, {0x80000004, 512, adc(make([]byte, 512))}, {2, 512, nil}}, "b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := udif.Open(containertest.Source(data)); err == nil {
			containertest.Drain(t, r, 1<<20)
		}
	})
}
