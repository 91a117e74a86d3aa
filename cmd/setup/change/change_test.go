package change

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// world is a folder with some files in known states, and a change of all of them.
type world struct {
	dir   string
	state State
}

func makeWorld(t *testing.T) world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := world{dir, State{Dir: filepath.Join(dir, "state")}}
	w.write(t, "one", "old one\n", 0o600)
	w.write(t, "sub/two", "old two\r\n", 0o640)
	w.write(t, "gone", "to be removed", 0o604)
	if err := os.Symlink(filepath.Join("sub", "two"), filepath.Join(dir, "link")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	return w
}

func (w world) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w world) write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(w.path(name), mode); err != nil {
		t.Fatal(err)
	}
}

func (w world) files() ([]*File, error) {
	var out []*File
	for _, c := range []struct{ name, text string }{
		{"one", "new one\n"}, {"link", "new two\r\n"}, {"made/deep/three", "new three\n"}, {"gone", ""},
	} {
		f, err := Load(w.path(c.name), os.ReadFile)
		if err != nil {
			return nil, err
		}
		f.After, f.Delete = []byte(c.text), c.text == ""
		out = append(out, f)
	}
	return out, nil
}

func (w world) apply(t *testing.T) error {
	files, err := w.files()
	if err != nil {
		return err
	}
	return w.state.Apply(t.Context(), files, Record{Version: 1, Files: []Written{{Path: "x"}}})
}

// look describes all files outside the state folder, with modes and links.
func (w world) look(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(w.dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if path == w.state.Dir {
			return filepath.SkipDir
		}
		name, _ := filepath.Rel(w.dir, path)
		switch {
		case info.Mode()&os.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			fmt.Fprintf(&b, "%s -> %s\n", name, to)
		case info.Mode().IsRegular():
			data, _ := os.ReadFile(path)
			fmt.Fprintf(&b, "%s %v %q\n", name, info.Mode(), data)
		default:
			fmt.Fprintf(&b, "%s/\n", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const changed = "./\nlink -> sub/two\nmade/\nmade/deep/\nmade/deep/three -rw------- \"new three\\n\"\n" +
	"one -rw------- \"new one\\n\"\nsub/\nsub/two -rw-r----- \"new two\\r\\n\"\n"

func TestAllChange(t *testing.T) {
	w := makeWorld(t)
	if err := w.apply(t); err != nil {
		t.Fatal(err)
	}
	if got := w.look(t); got != changed {
		t.Errorf("after the change:\n%s\nwant\n%s", got, changed)
	}
	if w.state.Interrupted() {
		t.Error("the journal is still there")
	}
	for _, old := range []string{"old one\n", "old two\r\n", "to be removed"} {
		if got, err := w.state.Backup(digest([]byte(old))); err != nil || string(got) != old {
			t.Errorf("backup of %q: %q, %v", old, got, err)
		}
	}
	info, err := os.Stat(w.state.backup(digest([]byte("old two\r\n"))))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a backup that others may read: %v, %v", info.Mode(), err)
	}
	if r, err := w.state.Record(); err != nil || len(r.Files) != 1 {
		t.Errorf("record: %+v, %v", r, err)
	}
}

// points counts the places where a change can be broken off.
func points(t *testing.T) int {
	w := makeWorld(t)
	n := 0
	w.state.stop = func(string) error { n++; return nil }
	if err := w.apply(t); err != nil {
		t.Fatal(err)
	}
	if n < 8 {
		t.Fatalf("only %d places", n)
	}
	return n
}

// TestFailureUndoes lets the change fail at every place.
func TestFailureUndoes(t *testing.T) {
	for i := range points(t) {
		w := makeWorld(t)
		before := w.look(t)
		failure := errors.New("broken")
		n := 0
		w.state.stop = func(string) error {
			if n++; n == i+1 {
				return failure
			}
			return nil
		}
		if err := w.apply(t); !errors.Is(err, failure) {
			t.Fatalf("place %d: %v", i, err)
		}
		if got := w.look(t); got != before {
			t.Errorf("place %d left\n%s\nwant\n%s", i, got, before)
		}
		if w.state.Interrupted() {
			t.Errorf("place %d: the journal is still there", i)
		}
		w.state.stop = nil
		if err := w.apply(t); err != nil {
			t.Errorf("place %d: the next run: %v", i, err)
		}
	}
}

const killAt = "REA_TEST_KILL_AT"

// TestKilled ends the process at every place, without a chance to undo anything,
// and recovers in another one.
func TestKilled(t *testing.T) {
	if at := os.Getenv(killAt); at != "" {
		place, dir, _ := strings.Cut(at, " ")
		n, last := 0, 0
		if last, _ = strconv.Atoi(place); last == 0 {
			t.Fatal(at)
		}
		w := world{dir, State{Dir: filepath.Join(dir, "state")}}
		w.state.stop = func(string) error {
			if n++; n == last {
				os.Exit(77)
			}
			return nil
		}
		t.Fatal(w.apply(t))
	}
	for i := range points(t) {
		w := makeWorld(t)
		before := w.look(t)
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", killAt, i+1, w.dir))
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 77 {
			t.Fatalf("place %d: %v\n%s", i, err, out)
		}
		if !w.state.Interrupted() {
			t.Errorf("place %d: nothing tells that it was broken off", i)
		}
		if err := w.apply(t); err == nil {
			t.Errorf("place %d: a new change begins on a broken one", i)
		}
		if _, err := w.state.Recover(); err != nil {
			t.Errorf("place %d: %v", i, err)
		}
		if got := w.look(t); got != before {
			t.Errorf("place %d: recovered to\n%s\nwant\n%s", i, got, before)
		}
		if r, err := w.state.Record(); err != nil || len(r.Files) != 0 {
			t.Errorf("place %d: the record speaks of what was undone: %+v, %v", i, r, err)
		}
		if err := w.apply(t); err != nil || w.look(t) != changed {
			t.Errorf("place %d: the next run: %v\n%s", i, err, w.look(t))
		}
	}
}

// TestForeignChangeSurvives holds that what somebody else wrote in the meantime
// is neither overwritten nor undone.
func TestForeignChangeSurvives(t *testing.T) {
	t.Run("before_it_is_replaced", func(t *testing.T) {
		w := makeWorld(t)
		w.state.stop = func(point string) error {
			if point == "replace" {
				w.write(t, "sub/two", "somebody else", 0o640)
			}
			return nil
		}
		if err := w.apply(t); err == nil || !strings.Contains(err.Error(), "somebody else") {
			t.Errorf("err = %v", err)
		}
		if got, _ := os.ReadFile(w.path("sub/two")); string(got) != "somebody else" {
			t.Errorf("it holds %q", got)
		}
		if got, _ := os.ReadFile(w.path("one")); string(got) != "old one\n" {
			t.Errorf("the other file holds %q", got)
		}
	})
	t.Run("after_it_was_replaced", func(t *testing.T) {
		w := makeWorld(t)
		w.state.stop = func(point string) error {
			if point == "read back" {
				w.write(t, "one", "somebody else", 0o600)
			}
			return nil
		}
		if err := w.apply(t); err == nil || !strings.Contains(err.Error(), "backup") {
			t.Errorf("err = %v", err)
		}
		if got, _ := os.ReadFile(w.path("one")); string(got) != "somebody else" {
			t.Errorf("it holds %q", got)
		}
		if got, _ := os.ReadFile(w.path("sub/two")); string(got) != "old two\r\n" {
			t.Errorf("the other file holds %q", got)
		}
	})
}

func TestRefusals(t *testing.T) {
	w := makeWorld(t)
	w.write(t, "fixed", "x", 0o444)
	w.write(t, "twin", "x", 0o600)
	if err := os.Link(w.path("twin"), w.path("twin2")); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	for _, l := range [][2]string{{"loop", "loop"}, {"dangling", "nowhere/else"}, {"chain", "link"}} {
		if err := os.Symlink(l[1], w.path(l[0])); err != nil {
			t.Fatal(err)
		}
	}
	load := func(name string) error {
		f, err := Load(w.path(name), os.ReadFile)
		if err != nil {
			return err
		}
		return f.Writable()
	}
	for name, want := range map[string]string{
		"fixed": "read-only", "twin": "hard links", "loop": "symbolic links", "sub": "folder", "link": "", "chain": "", "none": "",
	} {
		if err := load(name); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	f, err := Load(w.path("dangling"), os.ReadFile)
	if err != nil || f.Target != w.path("nowhere/else") || f.Exists {
		t.Errorf("dangling: %+v, %v", f, err)
	}
	if f, err := Load(w.path("chain"), os.ReadFile); err != nil || f.Target != w.path("sub/two") {
		t.Errorf("chain: %+v, %v", f, err)
	}
}

func TestOnlyOneAtATime(t *testing.T) {
	w := makeWorld(t)
	var inner error
	w.state.stop = func(point string) error {
		if point == "read back" {
			_, inner = State{Dir: w.state.Dir}.Recover()
		}
		return nil
	}
	if err := w.apply(t); err != nil {
		t.Fatal(err)
	}
	if inner == nil || !strings.Contains(inner.Error(), "running") {
		t.Errorf("a second one: %v", inner)
	}
}

// TestDiffApplies lets patch make the new file from the old one and the diff.
func TestDiffApplies(t *testing.T) {
	if _, err := exec.LookPath("patch"); err != nil {
		t.Skip("patch is not here")
	}
	numbered := func(n int, mark ...int) []byte {
		var b bytes.Buffer
		for i := range n {
			fmt.Fprintf(&b, "line %d\n", i)
			for _, m := range mark {
				if m == i {
					b.WriteString("new\n")
				}
			}
		}
		return b.Bytes()
	}
	for name, c := range map[string][2][]byte{
		"far_apart":      {numbered(40), numbered(40, 3, 30)},
		"close":          {numbered(40), numbered(40, 3, 8, 15)},
		"at_the_end":     {numbered(10), numbered(10, 9)},
		"at_the_start":   {numbered(10), append([]byte("new\n"), numbered(10)...)},
		"no_last_break":  {[]byte("a\nb"), []byte("a\nb,\nc")},
		"from_nothing":   {[]byte{}, []byte("a\nb\n")},
		"to_nothing":     {[]byte("a\nb\n"), []byte{}},
		"a_line_changes": {[]byte("{\n \"a\": 1\n}\n"), []byte("{\n \"a\": 1,\n \"b\": 2\n}\n")},
		"repeated":       {[]byte("x\nx\ny\nx\n"), []byte("x\ny\nx\nx\nz\n")},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "file")
		if err := os.WriteFile(file, c[0], 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("patch", "--binary", "-s", file)
		cmd.Stdin = strings.NewReader(Diff(file, c[0], c[1]))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s\n%s", name, err, out, Diff(file, c[0], c[1]))
			continue
		}
		got, _ := os.ReadFile(file)
		if !bytes.Equal(got, c[1]) {
			t.Errorf("%s: patched to %q", name, got)
		}
	}
}

func TestDiffHidesSecrets(t *testing.T) {
	before := []byte("{\n  \"GITHUB_TOKEN\": \"ghp_abcdefghij0123456789\",\n  \"Authorization\": \"Bearer abc.def.ghi\",\n" +
		"  \"db\": \"postgres://ana:hunter2@localhost/x\",\n  \"args\": [\"--api-key=xyzzy\", \"sk-abcdef012345\"],\n  \"a\": 1\n}\n")
	after := bytes.Replace(before, []byte("\"a\": 1"), []byte("\"a\": 1,\n  \"GHIDRA_INSTALL_DIR\": \"/opt/ghidra\""), 1)
	for _, d := range []string{Diff("x", before, after), Diff("x", nil, after)} {
		for _, secret := range []string{"ghp_abc", "abc.def", "hunter2", "xyzzy", "sk-abcdef"} {
			if strings.Contains(d, secret) {
				t.Errorf("the diff shows %s:\n%s", secret, d)
			}
		}
		if !strings.Contains(d, "/opt/ghidra") {
			t.Errorf("the diff hides what was added:\n%s", d)
		}
	}
}

func TestDiffOfOneLongLine(t *testing.T) {
	before := []byte("{" + strings.Repeat(`"key":"value",`, 100_000) + `"a":1}`)
	after := append(bytes.Clone(before[:len(before)-1]), `,"rea":{}}`...)
	d := Diff("x", before, after)
	if len(d) > 2000 || !strings.Contains(d, `"rea":{}`) {
		t.Errorf("%d bytes: %.300s", len(d), d)
	}
}

// TestTidy removes what was being written when a process was killed.
func TestTidy(t *testing.T) {
	s := State{Dir: t.TempDir()}
	for _, name := range []string{"journal.json.new", "record.json.new", "record.json"} {
		if err := os.WriteFile(filepath.Join(s.Dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.Tidy()
	for name, want := range map[string]bool{"journal.json.new": false, "record.json.new": false, "record.json": true} {
		if _, err := os.Stat(filepath.Join(s.Dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
