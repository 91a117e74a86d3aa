package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// mutate changes a few bytes or lines of a file.
func mutate(r *rand.Rand, src []byte) []byte {
	out := bytes.Clone(src)
	for range 1 + r.IntN(3) {
		lines := bytes.SplitAfter(out, []byte("\n"))
		i, j := r.IntN(len(lines)), r.IntN(len(lines))
		switch r.IntN(6) {
		case 0: // a line goes
			lines[i] = nil
		case 1: // a line comes twice
			lines[i] = append(bytes.Clone(lines[i]), lines[i]...)
		case 2: // two lines change places
			lines[i], lines[j] = lines[j], lines[i]
		case 3: // a line moves in or out
			if r.IntN(2) == 0 {
				lines[i] = append([]byte("  "), lines[i]...)
			} else {
				lines[i] = bytes.TrimPrefix(lines[i], []byte("  "))
			}
		case 4: // a comment or blank line comes
			text := []string{"\n", "# note\n", "// note\n", "  # note\n", "    \n"}[r.IntN(5)]
			lines[i] = append([]byte(text), lines[i]...)
		case 5: // a byte changes
			if len(out) > 0 {
				k := r.IntN(len(out))
				out[k] = " \n\"'{}[],:#-=.\\x1&*|>~"[r.IntN(22)]
				continue
			}
		}
		out = bytes.Join(lines, nil)
	}
	return out
}

// TestMutationsAgainstOtherReaders edits thousands of slightly broken files. What
// another program can read before, it must read the same after, with the entry.
func TestMutationsAgainstOtherReaders(t *testing.T) {
	if out, err := exec.Command("python3", "-c", "import tomllib, yaml").CombinedOutput(); err != nil {
		t.Skipf("python3 with tomllib and yaml is not here: %s", out)
	}
	perSample := 12
	if testing.Short() {
		perSample = 2
	}
	r := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	type job struct {
		sample
		after []byte
	}
	var jobs []job
	refused := 0
	for _, s := range samples(t) {
		if strings.Contains(s.name, "+") {
			continue
		}
		for range perSample {
			m := s
			m.src = mutate(r, s.src)
			f, err := Open(m.format, m.src, m.path)
			if err != nil {
				refused++
				continue
			}
			if _, _, found := f.Entry(); found {
				continue
			}
			after, err := f.Put(entry("/usr/bin/rea"))
			if err != nil {
				refused++
				continue
			}
			if !contains(after, m.src) {
				t.Errorf("%s: lost a byte:\n%s\n%s", m.name, m.src, after)
			}
			for part, data := range map[string][]byte{"before": m.src, "after": after} {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d-%s.%s", len(jobs), part, m.format)), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			jobs = append(jobs, job{m, after})
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
	checked, tolerated := 0, 0
	for i, j := range jobs {
		before := read[fmt.Sprintf("%d-before.%s", i, j.format)]
		after := read[fmt.Sprintf("%d-after.%s", i, j.format)]
		if text, ok := before.(string); ok && strings.HasPrefix(text, "unreadable: ") {
			tolerated++
			continue
		}
		checked++
		want := with(before, j.path, map[string]any{
			"name": "rea", "command": "/usr/bin/rea", "args": []any{"mcp"}, "timeout": 300.0,
			"env": map[string]any{"GHIDRA_INSTALL_DIR": `C:\ghidra "12"`},
		})
		if !reflect.DeepEqual(after, want) {
			t.Errorf("%s:\n%s\nbecame\n%s\nread as %v\nwant %v", j.name, j.src, j.after, after, want)
		}
	}
	t.Logf("%d files compared, %d refused, %d edited that the other reader can't read", checked, refused, tolerated)
	if checked < perSample*len(kinds) {
		t.Errorf("only %d files were compared", checked)
	}
}
