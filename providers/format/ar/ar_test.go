package ar_test

import (
	"io"
	"testing"

	"rea/providers/format/ar"
	"rea/providers/format/container"
	"rea/providers/format/container/containertest"
)

func fromSource(src container.Source) (container.Reader, error) { return ar.Open(src), nil }

func fromStream(src container.Source) (container.Reader, error) {
	return ar.OpenStream(struct{ io.Reader }{src}), nil
}

// member writes the header and content of a member.
func member(name, content string) string {
	pad := func(s string, n int) string {
		for len(s) < n {
			s += " "
		}
		return s
	}
	size := ""
	for n := len(content); n > 0; n /= 10 {
		size = string(rune('0'+n%10)) + size
	}
	if size == "" {
		size = "0"
	}
	text := pad(name, 16) + pad("0", 12) + pad("0", 6) + pad("0", 6) + pad("100644", 8) + pad(size, 10) + "`\n" + content
	if len(content)%2 == 1 {
		text += "\n"
	}
	return text
}

var archives = []string{
	"!<arch>\n" + member("a.txt/", "hello\n") + member("odd/", "x"),
	"!<arch>\n" + member("//", "a_name_longer_than_sixteen/\nother/\n") + member("/0", "one") + member("/28", "two"),
	"!<arch>\n" + member("#1/20", "a_name_of_20_bytes\x00\x00content") + member("/", "symbols") + member("__.SYMDEF", "symbols"),
	"!<thin>\n" + member("/", "") + member("//", "dir/x.o/\n"),
}

func TestNames(t *testing.T) {
	for i, want := range [][]string{{"a.txt", "odd"}, {"a_name_longer_than_sixteen", "other"}, {"a_name_of_20_bytes"}, nil} {
		for _, open := range []containertest.Open{fromSource, fromStream} {
			r, _ := open(containertest.Source([]byte(archives[i])))
			entries := containertest.Drain(t, r, 1<<20)
			if len(entries) != len(want) {
				t.Errorf("archive %d: %d entries", i, len(entries))
				continue
			}
			for k, e := range entries {
				if e.Path != want[k] || e.Err != nil || e.Mode != 0o644 {
					t.Errorf("archive %d: %q (%v)", i, e.Path, e.Err)
				}
			}
		}
	}
}

func TestDamage(t *testing.T) {
	for _, a := range archives {
		containertest.Damage(t, []byte(a), fromSource)
		containertest.Damage(t, []byte(a), fromStream)
	}
}

func FuzzOpen(f *testing.F) {
	for _, a := range archives {
		f.Add([]byte(a))
	}
	f.Fuzz(func(t *testing.T, data []byte) { containertest.SourceAndStream(t, data, fromSource, fromStream) })
}
