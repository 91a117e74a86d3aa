// Package containertest reads containers in tests and holds readers to what
// package container promises.
package containertest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rea/providers/format/container"
)

// An Entry with its content.
type Entry struct {
	container.Entry
	Content []byte
	Err     error // of opening or reading
}

// Source is a source over bytes.
func Source(b []byte) container.Source {
	return io.NewSectionReader(bytes.NewReader(b), 0, int64(len(b)))
}

// maxEntries ends the reading of hostile containers.
const maxEntries = 2000

// Drain reads entries and up to limit bytes of all contents together, and fails
// the test when the reader breaks a promise.
func Drain(t testing.TB, r container.Reader, limit int64) []Entry {
	t.Helper()
	var out []Entry
	var failed error
	for e, err := range r.Entries() {
		if failed != nil {
			t.Fatal("entries go on behind an error")
		}
		if err != nil {
			if e != nil || container.KindOf(err) == "" {
				t.Fatalf("entry %v, error %v, which is not one of package container", e, err)
			}
			failed = err
			out = append(out, Entry{Err: err})
			continue
		}
		check(t, e)
		x := Entry{Entry: *e}
		if e.Open != nil {
			x.Content, x.Err = read(e, &limit)
		}
		if e.Trailer != nil {
			e.Trailer()
		}
		if e.Section != nil && x.Err == nil && limit > 0 && int64(len(x.Content)) != e.Section.Size() {
			t.Fatalf("%q opens %d bytes, its section has %d", e.Path, len(x.Content), e.Section.Size())
		}
		if out = append(out, x); len(out) >= maxEntries {
			break
		}
	}
	r.Claims()
	r.Notes()
	return out
}

func check(t testing.TB, e *container.Entry) {
	t.Helper()
	for _, n := range []int64{e.Mode, e.Size, e.Packed, e.Offset} {
		if n < container.Unknown {
			t.Fatalf("%q has a negative number: %+v", e.Path, e)
		}
	}
	if e.Mode > 0o7777 || e.Type == "" || e.Path == "" && e.Type != container.Stream && e.Open == nil && e.Type == container.File {
		t.Fatalf("a strange entry: %+v", e)
	}
}

func read(e *container.Entry, limit *int64) ([]byte, error) {
	rc, err := e.Open()
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	b, err := io.ReadAll(io.LimitReader(rc, *limit))
	*limit -= int64(len(b))
	return b, err
}

// An Open makes a reader of a format.
type Open func(container.Source) (container.Reader, error)

// Opening adapts the constructor of a format.
func Opening[R container.Reader](open func(container.Source) (R, error)) Open {
	return func(src container.Source) (container.Reader, error) { return open(src) }
}

// Small fails the test unless the container holds the tree of testdata.sh; links
// may be absent where the format has none.
func Small(t testing.TB, data []byte, open Open) []Entry {
	t.Helper()
	r, err := open(Source(data))
	if err != nil {
		t.Fatal(err)
	}
	var seq strings.Builder
	for i := 1; i <= 200; i++ {
		fmt.Fprintln(&seq, i)
	}
	want := map[string]string{"a.txt": "hello\n", "d/seq": seq.String(), "e": "", "d": "directory"}
	entries := Drain(t, r, 1<<20)
	for i := range entries {
		e := &entries[i]
		if e.Err != nil {
			t.Errorf("%q: %v", e.Path, e.Err)
			continue
		}
		name := strings.TrimPrefix(path.Clean("/"+e.Path), "/opt/thing")
		name = strings.TrimPrefix(name, "/")
		got := string(e.Content)
		switch {
		case e.Type == container.Directory:
			got = "directory"
		case e.Type == container.Symlink && name == "l":
			if e.Link != "a.txt" {
				t.Errorf("the link leads to %q", e.Link)
			}
			continue
		}
		if text, ok := want[name]; ok {
			if got != text {
				t.Errorf("%q is %.40q", e.Path, got)
			}
			delete(want, name)
		} else if e.Type != container.Directory {
			t.Errorf("%q is not in the tree", e.Path)
		}
		if e.Type == container.File && e.Size >= 0 && e.Size != int64(len(e.Content)) {
			t.Errorf("%q has %d bytes, declared are %d", e.Path, len(e.Content), e.Size)
		}
	}
	for name := range want {
		t.Errorf("%q is missing", name)
	}
	return entries
}

// Damage opens the container cut at many places and with many bytes changed.
// Nothing may panic, and it may not take long.
func Damage(t testing.TB, data []byte, open Open) {
	t.Helper()
	begin := time.Now()
	try := func(b []byte) {
		if r, err := open(Source(b)); err == nil {
			Drain(t, r, 1<<20)
		} else if container.KindOf(err) == "" {
			t.Errorf("error %v is not one of package container", err)
		}
	}
	step := max(1, len(data)/150)
	for i := 0; i < len(data); i += step {
		try(data[:i])
		for _, v := range []byte{0, 1, 0x80, 0xff} {
			if data[i] != v {
				b := bytes.Clone(data)
				b[i] = v
				try(b)
			}
		}
	}
	if d := time.Since(begin); d > time.Minute {
		t.Errorf("it took %v", d)
	}
}

// Fuzz runs the reader over changed containers.
func Fuzz(f *testing.F, open Open, seeds ...[]byte) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := open(Source(data)); err == nil {
			Drain(t, r, 1<<18)
		} else if container.KindOf(err) == "" {
			t.Errorf("error %v is not one of package container", err)
		}
	})
}

// File reads testdata; what is compressed is decompressed.
func File(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if base, ok := strings.CutSuffix(name, ".gz"); ok && strings.Contains(base, ".") {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if b, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// SourceAndStream holds the two ways into a format to one answer: as long as
// both go on they give the same entries.
func SourceAndStream(t testing.TB, data []byte, source, stream Open) {
	t.Helper()
	a, _ := source(Source(data))
	b, _ := stream(Source(data))
	x, y := Drain(t, a, 1<<18), Drain(t, b, 1<<18)
	for i := range min(len(x), len(y)) {
		if x[i].Path != y[i].Path || x[i].Type != y[i].Type || x[i].Size != y[i].Size && x[i].Type != container.Slice {
			t.Fatalf("entry %d is %q of %d bytes in a source and %q of %d in a stream", i, x[i].Path, x[i].Size, y[i].Path, y[i].Size)
		}
	}
}
