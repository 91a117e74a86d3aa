package program

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"rea/providers/format/native"
)

// digest covers every list of a program, in order.
func digest(p *Program) string {
	h := sha256.New()
	fmt.Fprint(h, p.Functions, p.Ranges, p.Blocks, p.Edges, p.Calls, p.Tables, p.Refs, p.Strings, p.Unresolved, p.Gaps, p.Names, p.Notes, p.CodeBytes, p.Instructions, p.starts, p.refsByTo, p.callsByTo, p.nameOrder, p.byRange)
	return fmt.Sprintf("%x", h.Sum(nil))
}

// withoutUnwind copies a program without its unwind tables and symbols, so that
// every stage of recovery has work to do.
func withoutUnwind(t *testing.T, path string) string {
	t.Helper()
	if _, err := exec.LookPath("objcopy"); err != nil {
		t.Skip("needs objcopy")
	}
	out := filepath.Join(t.TempDir(), filepath.Base(path))
	if msg, err := exec.Command("objcopy", "--strip-all", "--remove-section", ".eh_frame", "--remove-section", ".eh_frame_hdr", path, out).CombinedOutput(); err != nil {
		t.Fatalf("objcopy: %v\n%s", err, msg)
	}
	return out
}

// TestSameAnswerForAnyProcessors analyses whole programs of the machine with
// one to four processors and workers: everything found is the same, to the order.
func TestSameAnswerForAnyProcessors(t *testing.T) {
	name := "bash"
	if testing.Short() {
		name = "ls"
	}
	file, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("needs %s", name)
	}
	if file, err = filepath.EvalSymlinks(file); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"with unwind tables": file, "without": withoutUnwind(t, file)}
	if root, err := exec.Command("go", "env", "GOROOT").Output(); err == nil && !testing.Short() {
		files["Go"] = filepath.Join(strings.TrimSpace(string(root)), "bin", "gofmt")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for name, path := range files {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			for _, n := range []int{1, 2, 4} {
				runtime.GOMAXPROCS(n)
				im, err := native.Load(data, native.Options{})
				if err != nil {
					t.Skipf("no program that is read: %v", err)
				}
				p, err := Analyze(context.Background(), im, Options{Workers: n})
				if err != nil {
					t.Fatal(err)
				}
				if got := digest(p); want == "" {
					want = got
				} else if got != want {
					t.Fatalf("another answer with %d processors", n)
				}
				for _, note := range p.Notes {
					if strings.Contains(note, "before it settled") {
						t.Errorf("note: %s", note)
					}
				}
			}
		})
	}
}
