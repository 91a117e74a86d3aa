package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// entries are the names in dir.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func content(t *testing.T, path string) string {
	t.Helper()
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.json")
	abs, err := File(t.Context(), path, Options{}, text("one"))
	if err != nil || abs != path || content(t, path) != "one" {
		t.Fatalf("published %q, %v", abs, err)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
	_, err = File(t.Context(), path, Options{}, text("two"))
	if e := new(Error); !errors.As(err, &e) || e.Kind != Exists || content(t, path) != "one" {
		t.Errorf("a second publication gives %v", err)
	}
	if _, err = File(t.Context(), path, Options{Overwrite: true}, text("three")); err != nil || content(t, path) != "three" {
		t.Errorf("overwriting gives %v", err)
	}
	if got := entries(t, dir); len(got) != 1 {
		t.Errorf("the directory holds %v", got)
	}
}

func TestFile_keeps_what_the_caller_wants_kept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := 0
	keep := func(reason string) Options {
		return Options{Overwrite: true, Keep: func(file *os.File) string {
			asked++
			if content, err := io.ReadAll(file); err != nil || string(content) != "old" {
				t.Errorf("is asked about %q, %v", content, err)
			}
			return reason
		}}
	}
	_, err := File(t.Context(), path, keep("it is dear"), text("new"))
	if e := new(Error); !errors.As(err, &e) || e.Kind != Protected || e.Reason != "it is dear" || content(t, path) != "old" {
		t.Errorf("error is %v", err)
	}
	if _, err := File(t.Context(), path, keep(""), text("new")); err != nil || content(t, path) != "new" || asked < 2 {
		t.Errorf("asked %d times, error is %v", asked, err)
	}
	// Nobody is asked about what is not there or may not be overwritten.
	asked = 0
	never := keep("")
	if _, err := File(t.Context(), filepath.Join(t.TempDir(), "other"), never, text("x")); err != nil || asked != 0 {
		t.Errorf("asked %d times, error is %v", asked, err)
	}
}

func TestFile_relative(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	path, err := File(t.Context(), "out.json", Options{}, text("x"))
	if err != nil || filepath.Base(path) != "out.json" || !filepath.IsAbs(path) {
		t.Errorf("published %q, %v", path, err)
	}
}

func TestFile_refuses(t *testing.T) {
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(filepath.Join(dir, "real"), 0o700))
	must(os.WriteFile(filepath.Join(dir, "plain"), []byte("plain"), 0o600))
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	must(os.Symlink("plain", filepath.Join(dir, "alias")))
	must(os.Symlink("nowhere", filepath.Join(dir, "dangling")))
	for name, tt := range map[string]struct {
		path string
		kind Kind
	}{
		"symlinked_parent":   {"link/out", Symlink},
		"symlinked_grand":    {"link/sub/out", Symlink},
		"symlink":            {"alias", Symlink},
		"dangling_symlink":   {"dangling", Symlink},
		"directory":          {"real", NotRegular},
		"trailing_separator": {"real/", NotRegular},
		"parent_is_a_file":   {"plain/out", NotRegular},
		"missing_parent":     {"no/such/out", Missing},
		"nul":                {"a\x00b", IO},
	} {
		t.Run(name, func(t *testing.T) {
			called := false
			_, err := File(t.Context(), dir+"/"+tt.path, Options{Overwrite: true}, func(io.Writer) error {
				called = true
				return nil
			})
			if e := new(Error); !errors.As(err, &e) || e.Kind != tt.kind || e.Reason == "" {
				t.Errorf("error is %v, want kind %s", err, tt.kind)
			}
			if called {
				t.Error("the producer ran although the destination is refused")
			}
		})
	}
	if got := content(t, filepath.Join(dir, "plain")); got != "plain" {
		t.Errorf("a refused destination holds %q", got)
	}
	if _, err := File(t.Context(), "", Options{}, text("")); err == nil {
		t.Error("an empty path is accepted")
	}
}

func TestFile_failures_leave_nothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	if _, err := File(t.Context(), path, Options{}, text("old")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("producer")
	for name, run := range map[string]func() error{
		"producer_fails": func() error {
			_, err := File(t.Context(), path, Options{Overwrite: true}, func(w io.Writer) error {
				w.Write(bytes.Repeat([]byte("x"), 1<<20))
				return broken
			})
			if !errors.Is(err, broken) {
				return fmt.Errorf("error is %v", err)
			}
			return nil
		},
		"cancelled": func() error {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := File(ctx, path, Options{Overwrite: true}, func(w io.Writer) error {
				w.Write([]byte("x"))
				cancel()
				return nil
			})
			if !errors.Is(err, context.Canceled) {
				return fmt.Errorf("error is %v", err)
			}
			return nil
		},
		"panic": func() (err error) {
			defer func() {
				if recover() == nil {
					err = errors.New("the panic was swallowed")
				}
			}()
			File(t.Context(), path, Options{Overwrite: true}, func(io.Writer) error { panic("producer") })
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := run(); err != nil {
				t.Error(err)
			}
			if got := entries(t, dir); len(got) != 1 || content(t, path) != "old" {
				t.Errorf("the directory holds %v", got)
			}
		})
	}
}

func TestFile_appears_while_writing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	_, err := File(t.Context(), path, Options{}, func(io.Writer) error {
		return os.WriteFile(path, []byte("theirs"), 0o600)
	})
	if e := new(Error); !errors.As(err, &e) || e.Kind != Exists || content(t, path) != "theirs" {
		t.Errorf("error is %v", err)
	}
}

func TestFile_concurrently(t *testing.T) {
	for _, overwrite := range []bool{false, true} {
		dir := t.TempDir()
		path := filepath.Join(dir, "out")
		var wg sync.WaitGroup
		var won atomic.Int32
		for i := range 16 {
			wg.Go(func() {
				want := strings.Repeat(fmt.Sprint(i%10), 100_000)
				_, err := File(t.Context(), path, Options{Overwrite: overwrite}, text(want))
				if err == nil {
					won.Add(1)
				} else if e := new(Error); !errors.As(err, &e) || e.Kind != Exists {
					t.Errorf("error is %v", err)
				}
			})
		}
		wg.Wait()
		if want := map[bool]int32{false: 1, true: 16}[overwrite]; won.Load() != want {
			t.Errorf("overwrite %v: %d publications succeeded, want %d", overwrite, won.Load(), want)
		}
		if got := content(t, path); len(got) != 100_000 || strings.Trim(got, got[:1]) != "" {
			t.Errorf("the file is a mixture of %d bytes", len(got))
		}
		if got := entries(t, dir); len(got) != 1 {
			t.Errorf("the directory holds %v", got)
		}
	}
}

func TestFile_removes_left_overs_and_nothing_else(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	living, err := newStaging(root)
	if err != nil {
		t.Fatal(err)
	}
	defer living.discard()
	dead := stagingName("0123456789abcdef")
	others := []string{
		".rea-staging-0123456789abcdef0123456789abcdef", // the second half does not follow from the first
		".rea-staging-", ".rea-staging-notes.txt", dead + ".bak", strings.TrimPrefix(dead, "."), "rea-staging",
	}
	for _, name := range append(others, dead) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder := stagingName("fedcba9876543210")
	if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := File(t.Context(), filepath.Join(dir, "out"), Options{}, text("x")); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(entries(t, dir), "\n") + "\n"
	for _, name := range append(others, folder, living.name, "out") {
		if !strings.Contains(got, name+"\n") {
			t.Errorf("%q was removed", name)
		}
	}
	if strings.Contains(got, dead+"\n") {
		t.Error("the left-over is still there")
	}
}

// TestFile_killed kills a publishing process at random moments: the destination
// is absent, old or complete, and the next publication clears the directory.
func TestFile_killed(t *testing.T) {
	const size = 4 << 20
	if dir := os.Getenv("REA_TEST_PUBLISH_DIR"); dir != "" {
		for i := 0; ; i++ {
			fill := bytes.Repeat([]byte{'a' + byte(i%26)}, size)
			if _, err := File(context.Background(), filepath.Join(dir, "out"), Options{Overwrite: true}, func(w io.Writer) error {
				_, err := w.Write(fill)
				return err
			}); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			if i == 0 {
				fmt.Println("ready")
			}
		}
	}
	dir := t.TempDir()
	rounds := 12
	if os.Getenv("REA_TEST_LARGE") != "" {
		rounds = 200
	}
	lefts := 0
	for range rounds {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFile_killed$")
		cmd.Env = append(os.Environ(), "REA_TEST_PUBLISH_DIR="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 6)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond)
		cmd.Process.Kill()
		cmd.Wait()
		if got := content(t, filepath.Join(dir, "out")); len(got) != size || strings.Trim(got, got[:1]) != "" {
			t.Fatalf("the destination holds %d bytes of a mixture", len(got))
		}
		lefts += len(entries(t, dir)) - 1
		if _, err := File(t.Context(), filepath.Join(dir, "out"), Options{Overwrite: true}, text(strings.Repeat("z", size))); err != nil {
			t.Fatal(err)
		}
		if got := entries(t, dir); len(got) != 1 {
			t.Fatalf("the directory holds %v after the next publication", got)
		}
	}
	t.Logf("%d of %d kills left a staging file, all were removed", lefts, rounds)
}
