package rar_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"rea/providers/format/container"
	"rea/providers/format/container/containertest"
	"rea/providers/format/rar"
)

func open(src container.Source) (container.Reader, error) { return rar.Open(src), nil }

// archive writes stored files into an archive of the old format.
func archive(files ...[2]string) []byte {
	b := bytes.NewBufferString("Rar!\x1a\x07\x00")
	block := func(kind byte, flags uint16, body []byte) {
		h := make([]byte, 7)
		h[2] = kind
		binary.LittleEndian.PutUint16(h[3:], flags)
		binary.LittleEndian.PutUint16(h[5:], uint16(7+len(body)))
		h = append(h, body...)
		binary.LittleEndian.PutUint16(h, uint16(crc32.ChecksumIEEE(h[2:])))
		b.Write(h)
	}
	block(0x73, 0, make([]byte, 6))
	for _, f := range files {
		h := make([]byte, 25)
		binary.LittleEndian.PutUint32(h, uint32(len(f[1])))
		binary.LittleEndian.PutUint32(h[4:], uint32(len(f[1])))
		h[8] = 3 // Unix
		binary.LittleEndian.PutUint32(h[9:], crc32.ChecksumIEEE([]byte(f[1])))
		binary.LittleEndian.PutUint32(h[13:], 0x21<<16)
		h[17], h[18] = 20, 0x30
		binary.LittleEndian.PutUint16(h[19:], uint16(len(f[0])))
		binary.LittleEndian.PutUint32(h[21:], 0o100640)
		block(0x74, 0x8000, append(h, f[0]...))
		b.WriteString(f[1])
	}
	block(0x7b, 0x4000, nil)
	return b.Bytes()
}

var small = archive([2]string{"a.txt", "hello\n"}, [2]string{"dir/b", "stored content"})

func TestStored(t *testing.T) {
	entries := containertest.Drain(t, rar.Open(containertest.Source(small)), 1<<20)
	if len(entries) != 2 || entries[0].Path != "a.txt" || string(entries[0].Content) != "hello\n" || entries[1].Path != "dir/b" || string(entries[1].Content) != "stored content" || entries[0].Mode != 0o640 {
		t.Errorf("%+v", entries)
	}
}

// TestAgainstBsdtar: the other reader of the machine extracts the same.
func TestAgainstBsdtar(t *testing.T) {
	if _, err := exec.LookPath("bsdtar"); err != nil {
		t.Skip("no bsdtar on this machine")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.rar"), small, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("bsdtar", "-xf", filepath.Join(dir, "x.rar"), "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, e := range containertest.Drain(t, rar.Open(containertest.Source(small)), 1<<20) {
		if want, err := os.ReadFile(filepath.Join(dir, e.Path)); err != nil || !bytes.Equal(e.Content, want) {
			t.Errorf("%s is %q, want %q (%v)", e.Path, e.Content, want, err)
		}
	}
}

// TestChecksum: content that contradicts its checksum is given with a digest
// that it cannot match.
func TestChecksum(t *testing.T) {
	data := bytes.Replace(small, []byte("hello\n"), []byte("jello\n"), 1)
	for e, err := range rar.Open(containertest.Source(data)).Entries() {
		if err != nil {
			t.Fatal(err)
		}
		rc, err := e.Open()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(rc); err != nil {
			t.Fatal(err)
		}
		if d := e.Trailer(); b.String() != "jello\n" || len(d) != 1 || d[0].Value != "" {
			t.Errorf("%q, %+v", b.String(), d)
		}
		break
	}
}

func TestDamage(t *testing.T) { containertest.Damage(t, small, open) }

func FuzzOpen(f *testing.F) { containertest.Fuzz(f, open, small) }
