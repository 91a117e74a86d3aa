// Package built gives tests the program as a user has it: built once for each
// test binary, with the fixtures that it is tried on.
package built

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// A build is made at first use, so that tests that need none pay nothing.
type build struct {
	once sync.Once
	path string
	err  error
}

var (
	dir   string // of everything built here
	plain build
	race  build
)

// Main runs the tests of a package and removes what was built for them. Use it
// as the body of TestMain.
func Main(m *testing.M) {
	var err error
	if dir, err = os.MkdirTemp("", "rea-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// Rea is the path of the program.
func Rea(t testing.TB) string {
	t.Helper()
	return plain.make(t, "rea", []string{"CGO_ENABLED=0"})
}

// RaceRea is the path of the program with the race detector; without a C
// compiler, which the detector needs, the test is skipped.
func RaceRea(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("the race detector needs a C compiler: ", err)
	}
	return race.make(t, "rea-race", []string{"CGO_ENABLED=1"}, "-race")
}

func (b *build) make(t testing.TB, name string, env []string, flags ...string) string {
	t.Helper()
	b.once.Do(func() {
		b.path = filepath.Join(dir, name)
		if runtime.GOOS == "windows" {
			b.path += ".exe"
		}
		// Without a revision in it the program names the same version everywhere.
		args := append(append([]string{"build", "-buildvcs=false"}, flags...), "-o", b.path, "rea/cmd/rea")
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if b.err != nil {
		t.Fatal(b.err)
	}
	return b.path
}

// C compiles a source of tests/fixtures with gcc and the given flags; the test
// is skipped where there is no compiler.
func C(t testing.TB, source string, flags ...string) string {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("the fixture needs gcc: ", err)
	}
	_, self, _, _ := runtime.Caller(0)
	out := filepath.Join(t.TempDir(), "fixture")
	args := append([]string{"-o", out, filepath.Join(filepath.Dir(self), "..", "fixtures", source)}, flags...)
	if msg, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, msg)
	}
	return out
}
