package ldso

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestParseCache_agrees_with_ldconfig compares with what ldconfig prints of the
// cache of this machine.
func TestParseCache_agrees_with_ldconfig(t *testing.T) {
	data, err := os.ReadFile("/etc/ld.so.cache")
	if err != nil {
		t.Skip("this machine has no cache of the dynamic linker")
	}
	out, err := exec.Command("/sbin/ldconfig", "-p").Output()
	if err != nil {
		t.Skipf("ldconfig does not run: %v", err)
	}
	entries, err := ParseCache(data)
	if err != nil {
		t.Fatal(err)
	}
	var have, want []string
	for _, e := range entries {
		have = append(have, e.Name+" => "+e.Path)
	}
	for line := range strings.Lines(string(out)) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), " (")
		_, path, ok2 := strings.Cut(rest, ") => ")
		if ok && ok2 {
			want = append(want, name+" => "+path)
		}
	}
	if !slices.Equal(have, want) {
		t.Errorf("%d entries, ldconfig prints %d", len(have), len(want))
	}
}

func TestParseConf(t *testing.T) {
	c := ParseConf([]byte("# comment\ninclude /etc/ld.so.conf.d/*.conf\n/usr/local/lib # more\nhwcap 1 x\n/opt/lib/=libc6\nrelative\n"))
	if !slices.Equal(c.Directories, []string{"/usr/local/lib", "/opt/lib"}) || !slices.Equal(c.Includes, []string{"/etc/ld.so.conf.d/*.conf"}) {
		t.Errorf("%+v", c)
	}
}

func FuzzParseCache(f *testing.F) {
	row := append([]byte("\x03\x03\x00\x00\x48\x00\x00\x00\x4b\x00\x00\x00\x00\x00\x00\x00"), make([]byte, 8)...)
	f.Add(append(append([]byte("glibc-ld.so.cache1.1\x01\x00\x00\x00\x08\x00\x00\x00"), make([]byte, 20)...), append(row, "lc\x00/lc\x00"...)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		ParseCache(data)
		ParseConf(data)
		ParsePath(data)
	})
}
