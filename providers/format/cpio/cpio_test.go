package cpio_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rea/providers/format/container"
	"rea/providers/format/container/containertest"
	"rea/providers/format/cpio"
)

var files = []string{"newc.cpio", "crc.cpio", "odc.cpio", "bin.cpio"}

func fromSource(src container.Source) (container.Reader, error) { return cpio.Open(src), nil }

func fromStream(src container.Source) (container.Reader, error) {
	return cpio.OpenStream(struct{ io.Reader }{src}), nil
}

func TestSmall(t *testing.T) {
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			containertest.Small(t, containertest.File(t, name), fromSource)
			containertest.Small(t, containertest.File(t, name), fromStream)
		})
	}
}

func TestDamage(t *testing.T) {
	for _, name := range files {
		containertest.Damage(t, containertest.File(t, name), fromSource)
		containertest.Damage(t, containertest.File(t, name), fromStream)
	}
}

// newc is one entry of inode 7.
func newc(name string, nlink int, text string) string {
	s := fmt.Sprintf("070701%08x%08x%08x%08x%08x%08x%08x%032x%08x%08x%s\x00", 7, 0o100644, 0, 0, nlink, 0, len(text), 0, len(name)+1, 0, name)
	s += strings.Repeat("\x00", -len(s)&3)
	return s + text + strings.Repeat("\x00", -len(text)&3)
}

func FuzzOpen(f *testing.F) {
	for _, name := range files {
		f.Add(containertest.File(f, name))
	}
	f.Add([]byte(newc("a", 4, "") + newc("b", 4, "") + newc("c", 4, "text") + newc("d", 4, "") + newc("e", 2, "") + newc("TRAILER!!!", 1, "")))
	f.Fuzz(func(t *testing.T, data []byte) { containertest.SourceAndStream(t, data, fromSource, fromStream) })
}

// TestLinks holds the names of one inode to what cpio itself unpacks.
func TestLinks(t *testing.T) {
	tool, err := exec.LookPath("cpio")
	if err != nil {
		t.Skip("cpio is not installed")
	}
	tree, out := t.TempDir(), t.TempDir()
	run := func(dir string, in []byte, args ...string) []byte {
		t.Helper()
		cmd := exec.Command(tool, args...)
		cmd.Dir, cmd.Stdin = dir, bytes.NewReader(in)
		b, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, text := range map[string]string{"a": "shared\n", "e1": "", "solo": ""} {
		if err := os.WriteFile(filepath.Join(tree, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range [][2]string{{"a", "b"}, {"a", "c"}, {"e1", "e2"}} {
		if err := os.Link(filepath.Join(tree, l[0]), filepath.Join(tree, l[1])); err != nil {
			t.Skipf("no hard links here: %v", err)
		}
	}
	for _, format := range []string{"newc", "crc", "odc", "bin"} {
		for _, names := range []string{"a b solo c e1 e2", "b solo a e2"} {
			data := run(tree, []byte(strings.ReplaceAll(names, " ", "\n")+"\n"), "-o", "--quiet", "-H", format)
			dir := filepath.Join(out, format+names)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			run(dir, data, "-idm", "--quiet")
			for _, open := range []containertest.Open{fromSource, fromStream} {
				r, _ := open(containertest.Source(data))
				got, linked := map[string]string{}, map[string]string{}
				for _, e := range containertest.Drain(t, r, 1<<20) {
					switch {
					case e.Err != nil:
						t.Fatal(e.Err)
					case e.Type == container.Hardlink:
						linked[e.Path] = e.Link
					default:
						got[e.Path] = string(e.Content)
					}
				}
				if want := strings.Count(names, "a") + strings.Count(names, "b") + strings.Count(names, "c") - 1; (format == "newc" || format == "crc") && len(linked) != want {
					t.Errorf("%s %s: links %v", format, names, linked)
				}
				for name, to := range linked {
					text, ok := got[to]
					if !ok {
						t.Errorf("%s: %q leads to %q, which is no file", format, name, to)
					}
					got[name] = text
				}
				for _, name := range strings.Fields(names) {
					want, err := os.ReadFile(filepath.Join(dir, name))
					if text, ok := got[name]; err != nil || !ok || text != string(want) {
						t.Errorf("%s: %q is %q, cpio has %q (%v)", format, name, text, want, err)
					}
				}
			}
		}
		data := run(tree, []byte("a\nb\nc\n"), "-o", "--quiet", "-H", format)
		containertest.Damage(t, data, fromSource)
		containertest.Damage(t, data, fromStream)
	}
}

// TestLinksCut says of names whose content was cut off that it is not there.
func TestLinksCut(t *testing.T) {
	for _, open := range []containertest.Open{fromSource, fromStream} {
		r, _ := open(containertest.Source([]byte(newc("a", 2, ""))))
		entries := containertest.Drain(t, r, 1<<20)
		if len(entries) != 1 || container.KindOf(entries[0].Err) != container.Absent || entries[0].Size != container.Unknown {
			t.Errorf("%+v", entries)
		}
	}
}
