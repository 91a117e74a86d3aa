package dylib

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRootKeepsLinksInside(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"usr/lib", "a"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(d)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{"usr/lib/x": "x", "usr/Lib2": "y"} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"lib": "/usr/lib", "a/up": "../../../../usr/lib/x", "a/loop": "loop", "a/out": "/etc/passwd", "a/chain": "../lib/x", "a/dir": "/usr/lib",
	} {
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Skip(err)
		}
	}
	r := &root{host: dir}
	for _, tt := range []struct {
		path, want string
		found      bool
	}{
		{"/lib/x", "/usr/lib/x", true}, {"/a/up", "/usr/lib/x", true}, {"/a/chain", "/usr/lib/x", true}, {"/a/dir/x", "/usr/lib/x", true},
		{"/../../usr/lib/x", "/usr/lib/x", true}, {"/a/loop", "", false}, {"/a/out", "", false}, {"/usr/lib", "", false}, {"/missing/x", "", false}, {"/a\x00", "", false},
	} {
		got, ok := r.find(place{tt.path, false})
		if ok != tt.found || ok && (got.path != tt.want || got.outside) {
			t.Errorf("%s: %+v %v, want %s %v", tt.path, got, ok, tt.want, tt.found)
		}
	}
	if got := r.fold(r.guest("/USR/LIB2")); got.path != "/usr/Lib2" {
		t.Errorf("%+v", got)
	}
	if got := r.placeOf(filepath.Join(dir, "usr", "lib", "x")); got.outside || got.path != "/usr/lib/x" {
		t.Errorf("%+v", got)
	}
	if got := r.placeOf("/etc/passwd"); !got.outside {
		t.Errorf("%+v", got)
	}
}

func TestTokens(t *testing.T) {
	for s, want := range map[string]string{"@loader_path": "", "@loader_path/x": "/x"} {
		if got, ok := cutToken(s, "@loader_path"); !ok || got != want {
			t.Errorf("%s: %q %v", s, got, ok)
		}
	}
	if _, ok := cutToken("@loader_pathology/x", "@loader_path"); ok {
		t.Error("a longer word is taken for the token")
	}
	for s, want := range map[string]string{"KERNEL32": "KERNEL32.dll", "a.drv": "a.drv", `sub.dir\x`: `sub.dir\x.dll`} {
		if got := dllName(s); got != want {
			t.Errorf("%s: %s, want %s", s, got, want)
		}
	}
}
