package evidence

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"rea/runtime/evidence/publish"
)

// TestExport_memory exports much in a process of its own: 100 MB, or 1 GB when
// REA_TEST_LARGE is set.
func TestExport_memory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes much")
	}
	if os.Getenv("REA_TEST_EXPORT") == "" {
		if _, err := os.Stat("/proc/self/status"); err != nil {
			t.Skip("needs /proc")
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestExport_memory$", "-test.v")
		cmd.Env = append(os.Environ(), "REA_TEST_EXPORT=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		t.Logf("%s", out)
		return
	}
	count := 100
	if os.Getenv("REA_TEST_LARGE") != "" {
		count = 1000
	}
	l := NewLedger(t.TempDir(), 0)
	defer l.Clear()
	for i := range count {
		if _, err := l.Append(numbered(t, i, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	before := procStatus(t, "VmRSS")
	view := l.View()
	defer view.Close()
	path := filepath.Join(t.TempDir(), "out")
	start := time.Now()
	if _, err := publish.File(context.Background(), path, publish.Options{}, func(w io.Writer) error {
		_, err := view.WriteBundle(context.Background(), w)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	after := procStatus(t, "VmHWM")
	t.Logf("%d MB in %v, %.0f MB/s; resident %d MB before, peak %d MB", view.Size()>>20, took, float64(view.Size())/1e6/took.Seconds(), before>>10, after>>10)
	if after-before > 100<<10 {
		t.Errorf("exporting took %d MB of memory", (after-before)>>10)
	}
}
