package zip_test

import (
	stdzip "archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"rea/providers/format/container"
	"rea/providers/format/container/containertest"
	"rea/providers/format/zip"
)

var open = containertest.Opening(zip.Open)

type file struct {
	name, text string
	method     uint16
}

// archive packs files with the standard library.
func archive(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := stdzip.NewWriter(&b)
	for _, f := range files {
		out, err := w.CreateHeader(&stdzip.FileHeader{Name: f.name, Method: f.method})
		if err != nil {
			t.Fatal(err)
		}
		out.Write([]byte(f.text))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func two(t testing.TB) []byte {
	return archive(t, file{"a.txt", "hello\n", 0}, file{"b.txt", strings.Repeat("text ", 100), 8})
}

func read(t testing.TB, data []byte) ([]containertest.Entry, *zip.Reader) {
	t.Helper()
	r, err := zip.Open(containertest.Source(data))
	if err != nil {
		t.Fatal(err)
	}
	return containertest.Drain(t, r, 1<<20), r
}

func noted(notes []string, text string) bool {
	return strings.Contains(strings.Join(notes, "\n"), text)
}

func claimed(r *zip.Reader, kind string) *container.Claim {
	for _, c := range r.Claims() {
		if c.Kind == kind {
			return &c
		}
	}
	return nil
}

func TestPrefix(t *testing.T) {
	for _, prefix := range []string{"#!/bin/sh\n", strings.Repeat("MZ", 5000)} {
		entries, r := read(t, append([]byte(prefix), two(t)...))
		if len(entries) != 2 || string(entries[0].Content) != "hello\n" || entries[1].Err != nil {
			t.Errorf("%+v", entries)
		}
		if c := claimed(r, "prefix"); c == nil || c.Size != int64(len(prefix)) {
			t.Errorf("prefix is %+v", c)
		}
	}
}

// TestLocalDisagrees changes the local header of the first entry, field by field.
func TestLocalDisagrees(t *testing.T) {
	for note, change := range map[string]func(b []byte){
		"another name: z.txt": func(b []byte) { b[30] = 'z' },
		"another method":      func(b []byte) { b[8] = 8 },
		"about encryption":    func(b []byte) { b[6] |= 1 },
	} {
		data := two(t)
		change(data)
		entries, _ := read(t, data)
		if !noted(entries[0].Notes, note) {
			t.Errorf("notes %q lack %q", entries[0].Notes, note)
		}
		if entries[0].Path != "a.txt" || string(entries[0].Content) != "hello\n" {
			t.Errorf("the directory decides, and it gives %q", entries[0].Path)
		}
	}
}

// directory finds the n-th entry of the central directory.
func directory(data []byte, n int) []byte {
	at := 0
	for range n + 1 {
		at += bytes.Index(data[at:], []byte("PK\x01\x02")) + 1
	}
	return data[at-1:]
}

func TestDirectoryLies(t *testing.T) {
	data := two(t)
	binary.LittleEndian.PutUint32(directory(data, 0)[42:], 1<<30)
	if entries, _ := read(t, data); container.KindOf(entries[0].Err) != container.Corrupt || entries[1].Err != nil {
		t.Errorf("an offset outside of the file: %+v", entries)
	}
	data = two(t)
	binary.LittleEndian.PutUint32(directory(data, 0)[20:], 1<<30)
	if entries, _ := read(t, data); container.KindOf(entries[0].Err) != container.Corrupt || !noted(entries[0].Notes, "runs over the end") {
		t.Errorf("a length outside of the file: %+v", entries)
	}
	data = two(t)
	directory(data, 1)[8] |= 1
	if entries, _ := read(t, data); container.KindOf(entries[1].Err) != container.Encrypted || !entries[1].Encrypted {
		t.Errorf("an encrypted entry: %+v", entries[1])
	}
	data = two(t)
	directory(data, 1)[10] = 97
	if entries, _ := read(t, data); container.KindOf(entries[1].Err) != container.Unsupported {
		t.Errorf("an unknown method: %+v", entries[1])
	}
	data = two(t)
	copy(directory(data, 1)[46:], "a.txt")
	if entries, _ := read(t, data); !noted(entries[1].Notes, "the same name") {
		t.Errorf("two entries of one name: %q", entries[1].Notes)
	}
	data = two(t)
	copy(directory(data, 1)[42:46], directory(data, 0)[42:46])
	if entries, r := read(t, data); !noted(entries[1].Notes, "overlap") || !noted(r.Notes(), "1 entries overlap") {
		t.Errorf("overlapping entries: %q, %q", entries[1].Notes, r.Notes())
	}
}

func TestEndLies(t *testing.T) {
	for name, change := range map[string]func(end []byte){
		"size":   func(end []byte) { end[15] = 0x7f },
		"offset": func(end []byte) { end[19] = 0x7f },
		"count":  func(end []byte) { end[11] = 0x7f },
	} {
		data := two(t)
		change(data[len(data)-22:])
		if _, err := zip.Open(containertest.Source(data)); container.KindOf(err) != container.Corrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
	data := two(t)
	data[len(data)-22+10] = 1
	if entries, r := read(t, data); len(entries) != 2 || !noted(r.Notes(), "counts 1 entries, the directory has 2") {
		t.Errorf("%d entries, %q", len(entries), r.Notes())
	}
	if _, r := read(t, append(two(t), "surplus"...)); claimed(r, "suffix") == nil {
		t.Error("a surplus is not claimed")
	}
}

// TestZip64 hides the values of an entry and of the end record in zip64 fields.
func TestZip64(t *testing.T) {
	var b bytes.Buffer
	w := stdzip.NewWriter(&b)
	for i := range 70_000 { // more than the end record can count
		if _, err := w.Create(fmt.Sprintf("f%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.Open(containertest.Source(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for e, err := range r.Entries() {
		if err != nil || e.Path != fmt.Sprintf("f%d", n) {
			t.Fatalf("entry %d is %v (%v)", n, e, err)
		}
		n++
	}
	if n != 70_000 || len(r.Notes()) > 0 {
		t.Errorf("%d entries, %q", n, r.Notes())
	}
	// Behind other data, where the locator's offset is wrong.
	moved := append(bytes.Repeat([]byte{'x'}, 1000), b.Bytes()...)
	if r, err = zip.Open(containertest.Source(moved)); err != nil {
		t.Fatal(err)
	}
	for e, err := range r.Entries() {
		if err != nil || len(e.Notes) > 0 {
			t.Fatalf("%v (%v)", e, err)
		}
		break
	}
}

func TestSigningBlock(t *testing.T) {
	data := two(t)
	at := bytes.Index(data, []byte("PK\x01\x02"))
	block := make([]byte, 8+16+24)
	binary.LittleEndian.PutUint64(block, uint64(len(block)-8))
	binary.LittleEndian.PutUint64(block[len(block)-24:], uint64(len(block)-8))
	copy(block[len(block)-16:], "APK Sig Block 42")
	signed := append(append(bytes.Clone(data[:at]), block...), data[at:]...)
	end := signed[len(signed)-22:]
	binary.LittleEndian.PutUint32(end[16:], uint32(at+len(block)))
	_, r := read(t, signed)
	if c := claimed(r, "signature"); c == nil || c.Offset != int64(at) || c.Size != int64(len(block)) {
		t.Errorf("signing block is %+v", c)
	}
}

func TestDamage(t *testing.T) { containertest.Damage(t, two(t), open) }

func FuzzOpen(f *testing.F) {
	containertest.Fuzz(f, open, two(f), append([]byte("prefix"), two(f)...), archive(f), archive(f, file{"dir/", "", 0}, file{"dir/x", "", 8}))
}

func BenchmarkList(b *testing.B) {
	var files []file
	for i := range 14_000 {
		files = append(files, file{fmt.Sprintf("dir/sub%d/file%d", i%50, i), "content", 8})
	}
	data := archive(b, files...)
	for b.Loop() {
		r, err := zip.Open(containertest.Source(data))
		if err != nil {
			b.Fatal(err)
		}
		for range r.Entries() {
		}
	}
}
