package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"rea/cmd/setup/config/edit"
)

// kinds are the folders of testdata, with the path of an entry in such files.
var kinds = []struct {
	dir    string
	format Format
	path   edit.Path
}{
	{"json", JSON, edit.Keys("mcpServers", "rea")},
	{"toml", TOML, edit.Keys("mcp_servers", "rea")},
	{"yaml", YAML, edit.Keys("extensions", "rea")},
	{"yaml-list", YAML, edit.Path{{Key: "mcpServers"}, {Key: "rea", Item: true}}},
}

func entry(command string) edit.Object {
	return edit.Object{
		{Key: "name", Value: "rea"},
		{Key: "command", Value: command},
		{Key: "args", Value: edit.Array{"mcp"}},
		{Key: "timeout", Value: int64(300), Initial: true},
		{Key: "env", Value: edit.Object{{Key: "GHIDRA_INSTALL_DIR", Value: `C:\ghidra "12"`}}},
	}
}

type sample struct {
	name   string
	format Format
	path   edit.Path
	src    []byte
}

// samples are the files of testdata and variants of each: with CRLF, with a
// byte order mark, without the last line break.
func samples(t testing.TB) []sample {
	var out []sample
	for _, k := range kinds {
		files, err := filepath.Glob("testdata/" + k.dir + "/*")
		if err != nil || len(files) == 0 {
			t.Fatalf("no files in testdata/%s", k.dir)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := k.dir + "/" + filepath.Base(file)
			variants := map[string][]byte{"": src}
			if len(src) > 0 {
				variants["+crlf"] = bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n"))
				variants["+cut"] = bytes.TrimRight(src, "\n")
			}
			for v, b := range maps.Clone(variants) {
				variants[v+"+bom"] = append([]byte("\xef\xbb\xbf"), b...)
			}
			for _, v := range slices.Sorted(maps.Keys(variants)) {
				out = append(out, sample{name + v, k.format, k.path, variants[v]})
			}
		}
	}
	return out
}

func open(t testing.TB, s sample, src []byte) File {
	t.Helper()
	f, err := Open(s.format, src, s.path)
	if err != nil {
		t.Fatalf("open: %v\n%s", err, src)
	}
	return f
}

func put(t testing.TB, s sample, src []byte, command string) []byte {
	t.Helper()
	out, err := open(t, s, src).Put(entry(command))
	if err != nil {
		t.Fatalf("put: %v\n%s", err, src)
	}
	return out
}

// TestNothingElseChanges holds that bytes outside the entry stay, that a second
// run changes nothing, and that removing the entry restores the file.
func TestNothingElseChanges(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			f := open(t, s, s.src)
			if _, _, found := f.Entry(); found {
				t.Fatal("the file has an entry before there is one")
			}
			made := f.Missing()
			one := put(t, s, s.src, "/usr/bin/rea")
			if !contains(one, s.src) {
				t.Errorf("a byte of the file was lost:\n%s", one)
			}
			if crlf := bytes.Count(s.src, []byte("\r\n")); crlf > 0 && crlf == bytes.Count(s.src, []byte("\n")) &&
				bytes.Count(one, []byte("\r\n")) != bytes.Count(one, []byte("\n")) {
				t.Errorf("mixed line ends:\n%q", one)
			}
			if again := put(t, s, one, "/usr/bin/rea"); !bytes.Equal(again, one) {
				t.Errorf("a second run changes the file:\n%s", again)
			}
			two := put(t, s, one, "/opt/rea 2/rea")
			if want := bytes.Replace(one, []byte("/usr/bin/rea"), []byte("/opt/rea 2/rea"), 1); !equalButQuotes(two, want) {
				t.Errorf("another command changes more than the command:\n%s", two)
			}
			back, err := open(t, s, two).Remove(made)
			if err != nil {
				t.Fatalf("remove: %v\n%s", err, two)
			}
			if strings.Contains(s.name, "open-braces") { // nobody can tell them from {}
				back = bytes.Replace(back, []byte("{}"), s.src[bytes.LastIndexByte(s.src, '{'):bytes.IndexByte(s.src, '}')+1], 1)
			}
			if !bytes.Equal(back, s.src) {
				t.Errorf("removing doesn't restore the file:\n%q\nwant\n%q", back, s.src)
			}
			if none, err := open(t, s, back).Remove(0); err != nil || !bytes.Equal(none, back) {
				t.Errorf("removing what isn't there: %v\n%s", err, none)
			}
		})
	}
}

func equalButQuotes(a, b []byte) bool {
	strip := func(b []byte) string { return strings.ReplaceAll(string(b), `"`, "") }
	return strip(a) == strip(b)
}

// contains tells whether the bytes of part are in whole, in order.
func contains(whole, part []byte) bool {
	for _, b := range whole {
		if len(part) > 0 && part[0] == b {
			part = part[1:]
		}
	}
	return len(part) == 0
}

// TestOtherReaders lets other programs read the files before and after: after is
// before and the entry.
func TestOtherReaders(t *testing.T) {
	if out, err := exec.Command("python3", "-c", "import tomllib, yaml").CombinedOutput(); err != nil {
		t.Skipf("python3 with tomllib and yaml is not here: %s", out)
	}
	dir := t.TempDir()
	list := samples(t)
	for i, s := range list {
		ext := string(s.format)
		two := put(t, s, put(t, s, s.src, "/usr/bin/rea"), "/usr/local/bin/rea")
		for name, data := range map[string][]byte{"before": s.src, "after": two} {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d-%s.%s", i, name, ext)), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	out, err := exec.Command("python3", "testdata/read.py", dir).Output()
	if err != nil {
		t.Fatalf("read.py: %v", err)
	}
	var read map[string]any
	if err := json.Unmarshal(out, &read); err != nil {
		t.Fatal(err)
	}
	for i, s := range list {
		t.Run(s.name, func(t *testing.T) {
			before := read[fmt.Sprintf("%d-before.%s", i, s.format)]
			after := read[fmt.Sprintf("%d-after.%s", i, s.format)]
			want := with(before, s.path, map[string]any{
				"name": "rea", "command": "/usr/local/bin/rea", "args": []any{"mcp"}, "timeout": 300.0,
				"env": map[string]any{"GHIDRA_INSTALL_DIR": `C:\ghidra "12"`},
			})
			if !reflect.DeepEqual(after, want) {
				t.Errorf("read %v\nwant %v", after, want)
			}
		})
	}
}

// with adds an entry to a decoded file.
func with(doc any, path edit.Path, v map[string]any) any {
	if len(path) == 0 {
		return v
	}
	if path[0].Item {
		list, _ := doc.([]any)
		return append(list, v)
	}
	object, ok := doc.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	object[path[0].Key] = with(object[path[0].Key], path[1:], v)
	return object
}
