package partition_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"unicode/utf16"

	"rea/providers/format/container"
	"rea/providers/format/container/containertest"
	"rea/providers/format/partition"
)

var open = containertest.Opening(partition.Open)

// gpt makes a disk of two partitions of one and two sectors.
func gpt() []byte {
	le := binary.LittleEndian
	disk := make([]byte, 512*40)
	h := disk[512:]
	copy(h, "EFI PART")
	le.PutUint64(h[72:], 2)
	le.PutUint32(h[80:], 4)
	le.PutUint32(h[84:], 128)
	for i, name := range []string{"first", "second"} {
		b := disk[1024+128*i:]
		b[0] = byte(i + 1)
		le.PutUint64(b[32:], uint64(10+i))
		le.PutUint64(b[40:], uint64(10+2*i))
		for k, u := range utf16.Encode([]rune(name)) {
			le.PutUint16(b[56+2*k:], u)
		}
	}
	copy(disk[512*10:], bytes.Repeat([]byte{'a'}, 512))
	copy(disk[512*11:], bytes.Repeat([]byte{'b'}, 1024))
	return disk
}

// apple makes a disk with a map of itself and one volume.
func apple() []byte {
	be := binary.BigEndian
	disk := make([]byte, 512*10)
	copy(disk, "ER")
	be.PutUint16(disk[2:], 512)
	be.PutUint32(disk[4:], 10)
	for i, row := range []struct {
		at, n uint32
		name  string
	}{{1, 2, "Apple_partition_map"}, {4, 3, "Apple_HFS"}} {
		b := disk[512*(i+1):]
		copy(b, "PM")
		be.PutUint32(b[4:], 2)
		be.PutUint32(b[8:], row.at)
		be.PutUint32(b[12:], row.n)
		copy(b[16:], "name")
		copy(b[48:], row.name)
	}
	copy(disk[512*4:], bytes.Repeat([]byte{'v'}, 512*3))
	return disk
}

func TestTables(t *testing.T) {
	for name, tt := range map[string]struct {
		disk []byte
		want []string
		last []byte
	}{
		"gpt":   {gpt(), []string{"1 first 00000001-0000-0000-0000-000000000000", "2 second 00000002-0000-0000-0000-000000000000"}, bytes.Repeat([]byte{'b'}, 1024)},
		"apple": {apple(), []string{"1 name Apple_partition_map", "2 name Apple_HFS"}, bytes.Repeat([]byte{'v'}, 1536)},
	} {
		r, err := partition.Open(containertest.Source(tt.disk))
		if err != nil {
			t.Fatal(err)
		}
		entries := containertest.Drain(t, r, 1<<20)
		if len(entries) != 2 || entries[0].Path != tt.want[0] || entries[1].Path != tt.want[1] {
			t.Fatalf("%s: %+v", name, entries)
		}
		last := entries[1].Content
		if !bytes.Equal(last, tt.last) {
			t.Errorf("%s: the second is %.20q of %d bytes", name, last, len(last))
		}
	}
}

// TestAgainst7z: 7-Zip finds the same partitions.
func TestAgainst7z(t *testing.T) {
	if _, err := exec.LookPath("7zz"); err != nil {
		t.Skip("no 7zz on this machine")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.img"), apple(), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("7zz", "x", "-bd", "-tAPM", "-oout", "x.img")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "out", "*"))
	r, err := partition.Open(containertest.Source(apple()))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range containertest.Drain(t, r, 1<<20) {
		for _, f := range files {
			if data, err := os.ReadFile(f); err == nil && bytes.Equal(data, e.Content) {
				found++
				break
			}
		}
	}
	if found == 0 {
		t.Errorf("none of %v is a partition", files)
	}
}

func TestLies(t *testing.T) {
	disk := gpt()
	binary.LittleEndian.PutUint64(disk[1024+32:], 1<<40)
	binary.LittleEndian.PutUint64(disk[1024+40:], 1<<41)
	r, err := partition.Open(containertest.Source(disk))
	if err != nil {
		t.Fatal(err)
	}
	if entries := containertest.Drain(t, r, 1<<20); len(entries) != 1 || len(r.Gaps()) != 1 {
		t.Errorf("%+v, %q", entries, r.Gaps())
	}
	if _, err := partition.Open(containertest.Source([]byte("neither"))); container.KindOf(err) != container.Corrupt {
		t.Error(err)
	}
}

func TestDamage(t *testing.T) {
	containertest.Damage(t, gpt(), open)
	containertest.Damage(t, apple(), open)
}

func FuzzOpen(f *testing.F) { containertest.Fuzz(f, open, gpt(), apple()) }
