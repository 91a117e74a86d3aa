package cfb_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"rea/providers/format/cab"
	"rea/providers/format/cfb"
	"rea/providers/format/container"
	"rea/providers/format/container/containertest"
)

var open = containertest.Opening(cfb.Open)

func read(t testing.TB, data []byte) (map[string]containertest.Entry, *cfb.Reader) {
	t.Helper()
	r, err := cfb.Open(containertest.Source(data))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]containertest.Entry{}
	for _, e := range containertest.Drain(t, r, 1<<20) {
		out[e.Path] = e
	}
	return out, r
}

// TestInstaller: the streams of a package have their names, short and long ones
// their bytes, and the cabinet in it is one.
func TestInstaller(t *testing.T) {
	got, r := read(t, containertest.File(t, "small.msi.gz"))
	if r.Format() != "msi" || len(r.Claims())+len(r.Gaps()) != 0 {
		t.Errorf("%s, %v, %v", r.Format(), r.Claims(), r.Gaps())
	}
	for _, name := range []string{"!_Tables", "!_StringPool", "!_StringData", "!File", "Sample.cab", "\x05SummaryInformation"} {
		if e, ok := got[name]; !ok || e.Err != nil || e.Size != int64(len(e.Content)) || e.Size == 0 {
			t.Errorf("%s is %+v", name, e)
		}
	}
	if !bytes.Contains(got["!_StringData"].Content, []byte("INSTALLDIR")) {
		t.Error("the pool of strings has other content")
	}
	c, err := cab.Open(containertest.Source(got["Sample.cab"].Content))
	if err != nil {
		t.Fatal(err)
	}
	if files := containertest.Drain(t, c, 1<<20); len(files) != 1 || string(files[0].Content) != "hello\n" {
		t.Errorf("%+v", files)
	}
}

// TestLies: circles, chains out of the file and streams of impossible length
// end in errors.
func TestLies(t *testing.T) {
	sound := containertest.File(t, "small.msi.gz")
	le := binary.LittleEndian
	dir := (int(le.Uint32(sound[48:])) + 1) * 512
	for name, change := range map[string]func(b []byte){
		"a table that is not there": func(b []byte) { le.PutUint32(b[76:], 1<<20) },
		"too large a table":         func(b []byte) { le.PutUint32(b[44:], 1<<30) },
		"no root":                   func(b []byte) { b[dir+66] = 2 },
		"a directory elsewhere":     func(b []byte) { le.PutUint32(b[48:], 1<<20) },
		"another sector size":       func(b []byte) { b[30] = 20 },
	} {
		data := bytes.Clone(sound)
		change(data)
		if _, err := cfb.Open(containertest.Source(data)); container.KindOf(err) != container.Corrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
	data := bytes.Clone(sound)
	le.PutUint32(data[dir+128+68:], 1) // the first entry is its own neighbour
	le.PutUint32(data[dir+128+72:], 1)
	if _, r := read(t, data); len(r.Gaps()) == 0 {
		t.Error("a circle of entries is not told")
	}
	data = bytes.Clone(sound)
	for i := dir + 128; i < dir+512; i += 128 {
		le.PutUint32(data[i+120:], 1<<31)
	}
	failed := 0
	got, _ := read(t, data)
	for _, e := range got {
		if container.KindOf(e.Err) == container.Corrupt {
			failed++
		}
	}
	if failed == 0 {
		t.Error("streams of 2 GiB are in a file of some kilobytes")
	}
	if _, r := read(t, append(bytes.Clone(sound), make([]byte, 700)...)); len(r.Claims()) != 1 || r.Claims()[0].Kind != "suffix" || r.Claims()[0].Size < 700 {
		t.Errorf("%+v", r.Claims())
	}
}

func TestDamage(t *testing.T) { containertest.Damage(t, containertest.File(t, "small.msi.gz"), open) }

func FuzzOpen(f *testing.F) { containertest.Fuzz(f, open, containertest.File(f, "small.msi.gz")) }
