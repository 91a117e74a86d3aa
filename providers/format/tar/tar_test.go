package tar_test

import (
	stdtar "archive/tar"
	"bytes"
	"io"
	"strings"
	"testing"

	"rea/providers/format/container"
	"rea/providers/format/container/containertest"
	"rea/providers/format/tar"
)

func fromSource(src container.Source) (container.Reader, error) { return tar.Open(src), nil }

func fromStream(src container.Source) (container.Reader, error) {
	return tar.OpenStream(struct{ io.Reader }{src}), nil
}

func archive(t testing.TB, headers ...*stdtar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := stdtar.NewWriter(&b)
	for _, h := range headers {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		w.Write(bytes.Repeat([]byte{'x'}, int(h.Size)))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func several(t testing.TB) []byte {
	return archive(t,
		&stdtar.Header{Name: "dir/", Typeflag: stdtar.TypeDir, Mode: 0o755}, &stdtar.Header{Name: "dir/file", Typeflag: stdtar.TypeReg, Size: 1000, Mode: 0o4711},
		&stdtar.Header{Name: "link", Typeflag: stdtar.TypeSymlink, Linkname: "../../etc/passwd"}, &stdtar.Header{Name: "hard", Typeflag: stdtar.TypeLink, Linkname: "dir/file"},
		&stdtar.Header{Name: strings.Repeat("long/", 60) + "é", Typeflag: stdtar.TypeReg, Size: 3}, &stdtar.Header{Name: "null", Typeflag: stdtar.TypeChar, Devmajor: 1, Devminor: 3})
}

func TestEntries(t *testing.T) {
	for _, open := range []containertest.Open{fromSource, fromStream} {
		r, _ := open(containertest.Source(append(several(t), "surplus"...)))
		entries := containertest.Drain(t, r, 1<<20)
		want := []struct {
			path string
			kind container.Type
			size int
			mode int64
			link string
		}{
			{"dir/", container.Directory, 0, 0o755, ""}, {"dir/file", container.File, 1000, 0o4711, ""}, {"link", container.Symlink, 0, 0, "../../etc/passwd"},
			{"hard", container.Hardlink, 0, 0, "dir/file"}, {strings.Repeat("long/", 60) + "é", container.File, 3, 0, ""}, {"null", container.CharDev, 0, 0, ""},
		}
		if len(entries) != len(want) {
			t.Fatalf("%d entries", len(entries))
		}
		for i, w := range want {
			if e := entries[i]; e.Path != w.path || e.Type != w.kind || len(e.Content) != w.size || e.Mode != w.mode || e.Link != w.link || e.Err != nil {
				t.Errorf("entry %d is %+v, want %+v", i, e, w)
			}
		}
		if claims := r.Claims(); len(claims) != 1 || claims[0].Kind != "suffix" {
			t.Errorf("claims are %+v", claims)
		}
	}
}

func TestCut(t *testing.T) {
	data := several(t)
	for _, open := range []containertest.Open{fromSource, fromStream} {
		r, _ := open(containertest.Source(data[:1200])) // within dir/file
		entries := containertest.Drain(t, r, 1<<20)
		if last := entries[len(entries)-1]; container.KindOf(last.Err) != container.Corrupt {
			t.Errorf("the last entry is %+v", last)
		}
	}
}

func TestIs(t *testing.T) {
	data := several(t)
	if !tar.Is(data) || tar.Is(make([]byte, 1024)) || tar.Is([]byte(strings.Repeat("text\n", 200))) {
		t.Error("archives are not told from others")
	}
	data[0] ^= 1
	if tar.Is(data) {
		t.Error("a wrong checksum passes")
	}
}

func TestDamage(t *testing.T) {
	containertest.Damage(t, several(t), fromSource)
	containertest.Damage(t, several(t), fromStream)
}

func FuzzOpen(f *testing.F) {
	f.Add(several(f))
	f.Fuzz(func(t *testing.T, data []byte) { containertest.SourceAndStream(t, data, fromSource, fromStream) })
}
