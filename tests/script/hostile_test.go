package script

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rea/tests/built"
)

// Damaged programs end in a report or in a typed refusal, soon, and never in a
// failure of rea itself.
func TestDamaged_targets(t *testing.T) {
	rea := built.Rea(t)
	whole, err := os.ReadFile(built.C(t, "menu.c", "-O1", "-g"))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(20, 26))
	mutants := map[string][]byte{"empty_header": make([]byte, 64)}
	for i := range 24 {
		mutants[fmt.Sprintf("cut_%d", i)] = whole[:r.IntN(len(whole))]
		flipped := bytes.Clone(whole)
		for range 1 + r.IntN(40) {
			// Half of the damage goes to the headers, where sizes and offsets are.
			at := r.IntN(len(flipped))
			if r.IntN(2) == 0 {
				at = r.IntN(1024)
			}
			flipped[at] ^= 1 << r.IntN(8)
		}
		mutants[fmt.Sprintf("flipped_%d", i)] = flipped
		lying := bytes.Clone(whole)
		for range 4 {
			copy(lying[16+r.IntN(800):], []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}[:1<<r.IntN(4)])
		}
		mutants[fmt.Sprintf("lying_%d", i)] = lying
	}
	dir := t.TempDir()
	for name, data := range mutants {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		cmd := exec.CommandContext(ctx, rea, "analyze", "--format", "json", path)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		var exit *exec.ExitError
		switch {
		case ctx.Err() != nil:
			t.Errorf("%s: still running after 20 s", name)
		case err == nil && (len(out) == 0 || strings.Contains(string(out), `"execution_failure"`)):
			t.Errorf("%s: the report is %.300s", name, out)
		case err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 2 && exit.ExitCode() != 3 || len(out) > 0):
			t.Errorf("%s: %v\n%.600s", name, err, &stderr)
		}
		cancel()
	}
}
