// Package containertest reads containers in tests and holds readers to what
// package container promises.
package containertest

import (
	"bytes"
	"io"
	"testing"

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
