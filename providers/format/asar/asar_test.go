package asar_test

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"rea/providers/format/asar"
	"rea/providers/format/container"
	"rea/providers/format/container/containertest"
)

func open(src container.Source) (container.Reader, error) {
	return asar.Open(src, func(path string) (io.ReadCloser, int64, error) {
		if path != "native.node" {
			return nil, 0, fs.ErrNotExist
		}
		return io.NopCloser(strings.NewReader("unpacked")), 8, nil
	})
}

// archive puts a header and contents together.
func archive(header, contents string) []byte {
	padded := (len(header) + 3) / 4 * 4
	b := make([]byte, 16, 16+padded)
	binary.LittleEndian.PutUint32(b, 4)
	binary.LittleEndian.PutUint32(b[4:], uint32(padded+8))
	binary.LittleEndian.PutUint32(b[8:], uint32(padded+4))
	binary.LittleEndian.PutUint32(b[12:], uint32(len(header)))
	b = append(b, header...)
	b = append(b, make([]byte, padded-len(header))...)
	return append(b, contents...)
}

func drain(t testing.TB, header, contents string) []containertest.Entry {
	t.Helper()
	data := archive(header, contents)
	if !asar.Is(data) {
		t.Fatalf("%s is not recognised", header)
	}
	r, err := open(containertest.Source(data))
	if err != nil {
		t.Fatal(err)
	}
	return containertest.Drain(t, r, 1<<20)
}

const sound = `{"files":{"b":{"files":{"x.js":{"size":5,"offset":"3","executable":true}}},"a":{"size":3,"offset":"0"},"native.node":{"size":8,"unpacked":true},"gone":{"size":1,"unpacked":true},"l":{"link":"b/x.js"},"files":{"size":0,"offset":"0"}}}`

func TestEntries(t *testing.T) {
	want := []struct {
		path, content string
		kind          container.Type
		why           container.Kind
	}{
		{"b", "", container.Directory, ""}, {"b/x.js", "defgh", container.File, ""}, {"a", "abc", container.File, ""}, {"native.node", "unpacked", container.File, ""},
		{"gone", "", container.File, container.Absent}, {"l", "", container.Symlink, ""}, {"files", "", container.File, ""},
	}
	got := drain(t, sound, "abcdefgh")
	if len(got) != len(want) {
		t.Fatalf("%d entries", len(got))
	}
	for i, w := range want {
		if e := got[i]; e.Path != w.path || string(e.Content) != w.content || e.Type != w.kind || container.KindOf(e.Err) != w.why {
			t.Errorf("entry %d is %+v, want %+v", i, e, w)
		}
	}
	if got[1].Mode != 0o755 || got[5].Link != "b/x.js" || !got[3].Unpacked {
		t.Errorf("%+v", got)
	}
}

// TestLies: entries that contradict the archive are errors of their own.
func TestLies(t *testing.T) {
	for name, header := range map[string]string{
		"outside":       `{"files":{"a":{"size":3,"offset":"100"}}}`,
		"too long":      `{"files":{"a":{"size":300,"offset":"0"}}}`,
		"negative":      `{"files":{"a":{"size":3,"offset":"-16"}}}`,
		"overflow":      `{"files":{"a":{"size":9223372036854775807,"offset":"9223372036854775807"}}}`,
		"no size":       `{"files":{"a":{"offset":"0"}}}`,
		"size of text":  `{"files":{"a":{"size":"3","offset":"0"}}}`,
		"offset number": `{"files":{"a":{"size":3,"offset":0}}}`,
	} {
		entries := drain(t, header, "abcdefgh")
		if len(entries) != 1 || container.KindOf(entries[0].Err) != container.Corrupt {
			t.Errorf("%s: %+v", name, entries)
		}
	}
	for name, header := range map[string]string{
		"cut": `{"files":{"a":{"size":3`, "text": `{"files":"a"}`, "list": `{"files":{"a":[]}}`,
		"deep": `{"files":` + strings.Repeat(`{"d":{"files":`, 300) + `{}` + strings.Repeat(`}}`, 300) + `}`,
	} {
		entries := drain(t, header, "")
		if last := entries[len(entries)-1]; container.KindOf(last.Err) != container.Corrupt {
			t.Errorf("%s: %+v", name, last)
		}
	}
	for _, e := range drain(t, `{"files":{"../x":{"size":3,"offset":"0"}}}`, "abc") {
		if len(e.Notes) == 0 || e.Path != "../x" {
			t.Errorf("a name of several components: %+v", e)
		}
	}
}

func TestHeaderLies(t *testing.T) {
	data := archive(sound, "abcdefgh")
	binary.LittleEndian.PutUint32(data[12:], 1<<30)
	if _, err := open(containertest.Source(data)); container.KindOf(err) != container.Corrupt {
		t.Errorf("a header longer than its pickle: %v", err)
	}
	if _, err := asar.Open(containertest.Source(data[:10]), nil); container.KindOf(err) != container.Corrupt {
		t.Errorf("a cut header: %v", err)
	}
}

func TestWithoutCompanion(t *testing.T) {
	r, err := asar.Open(containertest.Source(archive(sound, "abcdefgh")), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range containertest.Drain(t, r, 1<<20) {
		if e.Unpacked && container.KindOf(e.Err) != container.Absent {
			t.Errorf("%s: %v", e.Path, e.Err)
		}
		if e.Unpacked && errors.Is(e.Err, fs.ErrNotExist) {
			t.Errorf("%s was looked for", e.Path)
		}
	}
}

func TestDamage(t *testing.T) { containertest.Damage(t, archive(sound, "abcdefgh"), open) }

func FuzzOpen(f *testing.F) {
	containertest.Fuzz(f, open, archive(sound, "abcdefgh"), archive(`{"files":{"a":{"size":4,"offset":"0","integrity":{"algorithm":"SHA256","hash":"00","blockSize":2,"blocks":["00","11"]}}}}`, "abcd"))
}
