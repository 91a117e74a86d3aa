// Package corpus measures the analysis of native programs against a corpus of
// stripped binaries with known truth. $CORPUS names a directory that holds
// sets of bin/<name> and truth/<name>.json; without it the test is skipped.
package corpus

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"rea/providers/embedded/program"
	"rea/providers/format/native"
)

type truth struct {
	Meta struct {
		Lang string `json:"lang"`
		EH   bool   `json:"eh"`
	} `json:"meta"`
	Functions []struct {
		Addr uint64 `json:"addr"`
		Size uint64 `json:"size"`
	} `json:"functions"`
	Cold         []uint64    `json:"cold"`
	Ignore       []uint64    `json:"ignore"`
	IgnoreRanges [][2]uint64 `json:"ignore_ranges"`
	TailCalls    [][2]uint64 `json:"tailcalls"`
}

// tally counts function starts: found and true, found and wrong, missed, and
// split parts taken for functions.
type tally struct{ right, wrong, missed, cold int }

func (t *tally) add(o tally) {
	t.right += o.right
	t.wrong += o.wrong
	t.missed += o.missed
	t.cold += o.cold
}

// f1 is the harmonic mean of precision and recall; strict counts parts as wrong.
func (t tally) f1(strict bool) float64 {
	wrong := t.wrong
	if strict {
		wrong += t.cold
	}
	return 2 * float64(t.right) / float64(2*t.right+wrong+t.missed)
}

func (t *truth) neutral(a uint64) bool {
	if slices.Contains(t.Ignore, a) {
		return true
	}
	return slices.ContainsFunc(t.IgnoreRanges, func(r [2]uint64) bool { return a >= r[0] && a < r[1] })
}

func (t *truth) functions(p *program.Program) tally {
	want := map[uint64]bool{}
	for _, f := range t.Functions {
		want[f.Addr] = true
	}
	var out tally
	for i := range p.Functions {
		f := &p.Functions[i]
		switch {
		case f.Kind == program.KindPart:
		case want[f.Entry]:
			out.right++
			delete(want, f.Entry)
		case slices.Contains(t.Cold, f.Entry):
			out.cold++
		case !t.neutral(f.Entry):
			out.wrong++
		}
	}
	out.missed = len(want)
	return out
}

// tailCalls compares function-level edges of jumps between functions.
func (t *truth) tailCalls(p *program.Program) tally {
	starts := make([]uint64, len(t.Functions))
	isStart := map[uint64]bool{}
	for i, f := range t.Functions {
		starts[i] = f.Addr
		isStart[f.Addr] = true
	}
	owner := func(a uint64) uint64 {
		i := sort.Search(len(starts), func(i int) bool { return starts[i] > a }) - 1
		if i < 0 || t.Functions[i].Size > 0 && a >= starts[i]+t.Functions[i].Size {
			return 0
		}
		return starts[i]
	}
	want := map[[2]uint64]bool{}
	for _, e := range t.TailCalls {
		want[[2]uint64{owner(e[0]), e[1]}] = true
	}
	var out tally
	seen := map[[2]uint64]bool{}
	for _, c := range p.Calls {
		e := [2]uint64{owner(c.From), c.To}
		if c.Kind != program.TailCall || e[0] == 0 || !isStart[c.To] || e[0] == c.To || seen[e] {
			continue
		}
		seen[e] = true
		if want[e] {
			out.right++
			delete(want, e)
		} else {
			out.wrong++
		}
	}
	out.missed = len(want)
	return out
}

func TestCorpus(t *testing.T) {
	root := os.Getenv("CORPUS")
	if root == "" {
		t.Skip("CORPUS names no corpus")
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "truth", "*.json"))
	if err != nil || len(files) == 0 {
		t.Skipf("no truth below %s (%v)", root, err)
	}
	groups := map[string]*tally{}
	count := func(name string, x tally) {
		if groups[name] == nil {
			groups[name] = &tally{}
		}
		groups[name].add(x)
	}
	for _, file := range files {
		var want truth
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		bin := filepath.Join(filepath.Dir(filepath.Dir(file)), "bin", strings.TrimSuffix(filepath.Base(file), ".json"))
		data, err := os.ReadFile(bin)
		if err != nil {
			t.Fatal(err)
		}
		im, err := native.Load(data, native.Options{})
		if err != nil {
			t.Errorf("%s: %v", bin, err)
			continue
		}
		p, err := program.Analyze(context.Background(), im, program.Options{})
		if err != nil {
			t.Errorf("%s: %v", bin, err)
			continue
		}
		x := want.functions(p)
		count("all", x)
		count("lang="+want.Meta.Lang, x)
		count(map[bool]string{true: "eh=yes", false: "eh=no"}[want.Meta.EH], x)
		count("tail calls", want.tailCalls(p))
	}
	least := map[string]float64{"all": 0.995, "eh=yes": 0.998, "eh=no": 0.985, "lang=asm": 0.95, "tail calls": 0.98}
	names := make([]string, 0, len(groups))
	for n := range groups {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		g := groups[n]
		limit, ok := least[n]
		if !ok {
			limit = 0.98
		}
		t.Logf("%-12s right %6d wrong %4d missed %4d parts %3d  F1 %.4f strict %.4f", n, g.right, g.wrong, g.missed, g.cold, g.f1(false), g.f1(true))
		if g.f1(true) < limit {
			t.Errorf("%s: strict F1 %.4f, want at least %.4f", n, g.f1(true), limit)
		}
	}
}
