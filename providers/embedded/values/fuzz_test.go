package values_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"rea/providers/embedded/arm64"
	"rea/providers/embedded/ir"
	"rea/providers/embedded/ssa"
	"rea/providers/embedded/values"
	"rea/providers/embedded/x86"
)

const base = 0x1000

// machine is an architecture to build functions for.
type machine struct {
	code interface {
		ssa.Lifter
		Arch() *ir.Arch
	}
	sp     int
	pushes bool
	align  int
}

func machines() []machine {
	return []machine{{x86.New(64), 4, true, 1}, {x86.New(32), 4, true, 1}, {arm64.New(), 31, false, 4}}
}

// function cuts code into blocks of a few instructions and joins them as the
// edges say.
func (m machine) function(code []byte, lengths, edges []byte) *ssa.Input {
	in := &ssa.Input{
		Entry: base, Code: m.code, SP: m.sp, CallPushes: m.pushes, Results: []int{0}, Arguments: []int{1, 2}, Shared: []int{3},
		Call: func(site uint64) ssa.Effect {
			e := ssa.Effect{Args: []int{0, 1, 2}, StackArgs: 4}
			e.Keeps = e.Keeps.With(m.sp, 5, 6)
			if site%3 == 0 {
				e.Pops = 8
			}
			return e
		},
		Bytes: func(addr uint64, n int) []byte {
			if addr < base || addr-base >= uint64(len(code)) {
				return nil
			}
			b := code[addr-base:]
			return b[:min(n, len(b))]
		},
	}
	in.Saved = in.Saved.With(5, 6)
	at, k := 0, 0
	for at < len(code) {
		n := 4
		if len(lengths) > 0 {
			n = 1 + int(lengths[k%len(lengths)]%16)
		}
		if m.align == 4 {
			n *= 4
		}
		end := min(len(code), at+n)
		in.Blocks = append(in.Blocks, ssa.SourceBlock{Start: base + uint64(at), End: base + uint64(end), Taken: -1})
		in.Observe = append(in.Observe, base+uint64(at))
		at = end
		k++
	}
	for i := range in.Blocks {
		b := &in.Blocks[i]
		if len(edges) == 0 {
			continue
		}
		for j := range int(edges[i%len(edges)] % 4) {
			to := (i + 1 + int(edges[(i+j+1)%len(edges)])*7) % len(in.Blocks)
			if !slices.Contains(b.To, to) {
				b.To = append(b.To, to)
			}
		}
		if len(b.To) == 2 && edges[i%len(edges)]&8 != 0 {
			b.Taken = b.To[0]
		}
		b.Pad = edges[i%len(edges)]&0xf0 == 0xf0
	}
	return in
}

// follow builds and evaluates a function under bounds.
func follow(t testing.TB, in *ssa.Input) *ssa.Func {
	t.Helper()
	f, err := ssa.Build(t.Context(), in)
	var limit *ssa.LimitError
	switch {
	case errors.As(err, &limit), errors.Is(err, ssa.ErrEntry):
		return nil
	case err != nil:
		t.Fatal(err)
	}
	sets, err := values.Analyze(t.Context(), f, values.NoMemory{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range f.Points {
		for _, v := range p.Regs {
			if v != 0 {
				sets.At(v, p.Block)
				values.Expression(f, v, &values.Names{SP: in.SP})
			}
		}
	}
	return f
}

func FuzzCodeToValues(f *testing.F) {
	f.Add([]byte{0x55, 0x48, 0x89, 0xe5, 0x83, 0xff, 0x0a, 0x77, 0x05, 0x8d, 0x47, 0x01, 0x5d, 0xc3}, []byte{7, 9}, []byte{10, 3, 1})
	f.Add([]byte{0xf3, 0xa4, 0xe8, 0, 0, 0, 0, 0x5b, 0xff, 0xd0, 0xc3}, []byte{2}, []byte{1, 0xf1, 2})
	f.Add([]byte{0xff, 0x43, 0x00, 0xd1, 0x1f, 0x28, 0x00, 0x71, 0xe8, 0x00, 0x00, 0x54, 0xc0, 0x03, 0x5f, 0xd6}, []byte{1, 2}, []byte{2, 10, 1})
	f.Fuzz(func(t *testing.T, code, lengths, edges []byte) {
		if len(code) == 0 || len(code) > 2048 {
			return
		}
		for _, m := range machines() {
			in := m.function(code, lengths, edges)
			in.Limits = ssa.Limits{Blocks: 4096, Statements: 1 << 16, Values: 1 << 17, Cells: 128}
			if g := follow(t, in); g != nil {
				if err := g.Check(); err != nil {
					t.Fatalf("%v\n%s", err, g.Text())
				}
			}
		}
	})
}

// TestAdversarialFunctionsEnd builds functions made to be expensive. Each ends
// in time and memory proportional to its size, or is refused with its bound.
func TestAdversarialFunctionsEnd(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	m := machines()[0]
	add := []byte{0x48, 0x01, 0xd8}                                             // add rax, rbx
	spill := []byte{0x48, 0x89, 0x44, 0x24, 0x08, 0x48, 0x8b, 0x5c, 0x24, 0x10} // mov [rsp+8], rax; mov rbx, [rsp+16]
	repeat := func(code []byte, n int) (out []byte, starts []int) {
		for range n {
			starts = append(starts, len(out))
			out = append(out, code...)
		}
		return out, starts
	}
	shape := func(code []byte, n int, to func(i int) []int) *ssa.Input {
		bytes, starts := repeat(code, n)
		in := m.function(bytes, nil, nil)
		in.Blocks, in.Observe = nil, nil
		for i, s := range starts {
			in.Blocks = append(in.Blocks, ssa.SourceBlock{Start: base + uint64(s), End: base + uint64(s+len(code)), To: to(i), Taken: -1})
		}
		return in
	}
	const n = 100_000
	for _, tt := range []struct {
		name string
		in   *ssa.Input
	}{
		{"chain", shape(add, n, func(i int) []int {
			if i+1 < n {
				return []int{i + 1}
			}
			return nil
		})},
		{"nested_loops", shape(add, n, func(i int) []int {
			if i+1 < n {
				return []int{i + 1, n - 1 - i}
			}
			return []int{0}
		})},
		{"irreducible", shape(spill, n, func(i int) []int { return []int{(i + 1) % n, r.IntN(n)} })},
		{"ladder", shape(add, n, func(i int) []int { return []int{min(i+1, n-1), min(i+2, n-1)} })},
		{"star", shape(add, n, func(i int) []int {
			if i > 0 {
				return []int{0}
			}
			out := make([]int, n-1)
			for k := range out {
				out[k] = k + 1
			}
			return out
		})},
		{"straight", func() *ssa.Input {
			bytes, _ := repeat(add, n)
			in := m.function(bytes, nil, nil)
			in.Observe, in.Blocks = nil, []ssa.SourceBlock{{Start: base, End: base + uint64(len(bytes)), Taken: -1}}
			return in
		}()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			f, err := ssa.Build(t.Context(), tt.in)
			built := time.Since(start)
			var limit *ssa.LimitError
			if errors.As(err, &limit) {
				t.Logf("refused after %v: %v", built, err)
			} else if err != nil {
				t.Fatal(err)
			} else {
				sets, err := values.Analyze(t.Context(), f, values.NoMemory{})
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%d values; built in %v, evaluated in %v (given up: %v)", len(f.Values), built, time.Since(start)-built, sets.Exhausted())
			}
			runtime.ReadMemStats(&after)
			mb := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%d MB allocated", mb)
			if d := time.Since(start); d > time.Minute {
				t.Errorf("it took %v", d)
			}
			if mb > 4096 {
				t.Errorf("%d MB were allocated", mb)
			}
		})
	}
}

func TestAnalysisIsCancelled(t *testing.T) {
	m := machines()[0]
	in := m.function(make([]byte, 400), nil, []byte{2, 1})
	f, err := ssa.Build(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := values.Analyze(ctx, f, values.NoMemory{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

func BenchmarkFunction(b *testing.B) {
	for _, blocks := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(blocks), func(b *testing.B) {
			m := machines()[0]
			r := rand.New(rand.NewPCG(1, 2))
			code := make([]byte, 0, blocks*12)
			for range blocks {
				code = append(code, 0x83, 0xc7, 1, 0x39, 0xf7, 0x48, 0x89, 0x7c, 0x24, byte(r.IntN(8)*8), 0x7c, 0)
			}
			in := m.function(code, []byte{11}, []byte{2, 10, 1})
			in.Observe = nil
			b.SetBytes(int64(len(code)))
			for b.Loop() {
				f, err := ssa.Build(b.Context(), in)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := values.Analyze(b.Context(), f, values.NoMemory{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
