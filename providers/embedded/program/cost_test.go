//go:build unix

package program

import (
	"context"
	"encoding/binary"
	"math/rand"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"rea/providers/embedded/isa"
	"rea/providers/embedded/x86"
)

// tangles are forms of code in which functions share what they reach. Each
// makes about size bytes.
var tangles = map[string]func(r *rand.Rand, size int) []byte{
	"call and je": func(r *rand.Rand, size int) []byte {
		return units(r, size, []byte{0xe8, 0, 0, 0, 0, 0x0f, 0x84, 0, 0, 0, 0}, 1, 7)
	},
	"call and jmp": func(r *rand.Rand, size int) []byte {
		return units(r, size, []byte{0xe8, 0, 0, 0, 0, 0x74, 5, 0xe9, 0, 0, 0, 0}, 1, 8)
	},
	"call, je, je": func(r *rand.Rand, size int) []byte {
		return units(r, size, []byte{0xe8, 0, 0, 0, 0, 0x0f, 0x84, 0, 0, 0, 0, 0x0f, 0x85, 0, 0, 0, 0}, 1, 7, 13)
	},
	"settled jumps that open one another": func(_ *rand.Rand, size int) []byte {
		const test, back = 11, 5 // xor eax, eax; jne; add ecx, 1 — and jmp to behind the next xor
		n := size / (test + back)
		var code []byte
		for i := range n {
			code = append(code, 0x31, 0xc0, 0x0f, 0x85)
			code = binary.LittleEndian.AppendUint32(code, uint32(n*test+1+i*back-(i*test+8)))
			code = append(code, 0x83, 0xc1, 1)
		}
		code = append(code, 0xc3)
		for i := range n - 1 {
			code = append(code, 0xe9)
			code = binary.LittleEndian.AppendUint32(code, uint32((i+1)*test+2-(n*test+1+(i+1)*back)))
		}
		return append(code, 0xc3)
	},
	"short calls and jumps": func(r *rand.Rand, size int) []byte {
		b := make([]byte, size)
		for i := range b {
			b[i] = []byte{0xe8, 0xeb, 0x74, 0, 0x90}[r.Intn(5)]
		}
		return b
	},
}

// units repeats a unit whose displacements lead anywhere in the code.
func units(r *rand.Rand, size int, unit []byte, at ...int) []byte {
	var code []byte
	for len(code)+len(unit) <= size {
		n := len(code)
		code = append(code, unit...)
		for _, k := range at {
			binary.LittleEndian.PutUint32(code[n+k:], uint32(r.Intn(size)-n-k-4))
		}
	}
	return code
}

// measure returns the work of an analysis and the bytes it allocates.
func measure(t *testing.T, code []byte) (effort int64, allocated uint64, p *Program) {
	t.Helper()
	im := codeImage(code, nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := newRecovery(context.Background(), im, x86.New(64), Options{Workers: 1})
	if err := r.run(); err != nil {
		t.Fatal(err)
	}
	p, err := r.build()
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return r.effort.Load(), after.TotalAlloc - before.TotalAlloc, p
}

// TestTangledCodeCostsLinearTime quadruples crafted code: the work and the
// memory may not grow much more than that.
func TestTangledCodeCostsLinearTime(t *testing.T) {
	for name, tangle := range tangles {
		t.Run(name, func(t *testing.T) {
			small := tangle(rand.New(rand.NewSource(1)), 1<<15)
			large := tangle(rand.New(rand.NewSource(1)), 1<<17)
			work1, mem1, _ := measure(t, small)
			work4, mem4, p := measure(t, large)
			if work4 > 8*work1+effortSlack || mem4 > 8*mem1+64<<20 {
				t.Errorf("four times the code: work %d → %d, memory %d → %d KB", work1, work4, mem1>>10, mem4>>10)
			}
			owned := 0
			for _, g := range p.Ranges {
				owned += int(g.End - g.Start)
			}
			if owned > 4*len(large) {
				t.Errorf("functions own %d bytes of %d", owned, len(large))
			}
			checkOrder(t, p)
		})
	}
}

func TestDividedCodeIsNoted(t *testing.T) {
	code := tangles["call and je"](rand.New(rand.NewSource(1)), 1<<17)
	_, _, p := measure(t, code)
	if !slices.ContainsFunc(p.Notes, func(n string) bool { return strings.Contains(n, "divided") }) {
		t.Errorf("notes: %q", p.Notes)
	}
	for i := range p.Functions { // what was divided is shared no more
		for _, b := range p.FunctionBlocks(i) {
			if b.Function != uint32(i) {
				t.Fatalf("block %#x of function %d is listed with %d", b.Start, b.Function, i)
			}
		}
	}
}

func TestTangledCodeSameForAnyWorkers(t *testing.T) {
	code := tangles["call, je, je"](rand.New(rand.NewSource(2)), 1<<16)
	analyzeWith := func(workers int) *Program {
		p, err := Analyze(context.Background(), codeImage(code, nil), Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	want := analyzeWith(1)
	for _, w := range []int{2, 5} {
		got := analyzeWith(w)
		if !slices.EqualFunc(got.Functions, want.Functions, func(a, b Function) bool { return a == b }) || !slices.Equal(got.Calls, want.Calls) || !slices.Equal(got.Blocks, want.Blocks) {
			t.Fatalf("another answer with %d workers", w)
		}
	}
}

// brittle is a decoder that breaks down after so many instructions.
type brittle struct {
	isa.Decoder
	left *atomic.Int64
}

func (d brittle) Decode(b []byte, addr uint64, in *isa.Inst) {
	if d.left.Add(-1) < 0 {
		panic("broken decoder")
	}
	d.Decoder.Decode(b, addr, in)
}

// TestPanicsAreErrors breaks the decoder down in every stage.
func TestPanicsAreErrors(t *testing.T) {
	b := build(t, "gcc", []string{"switchy.c"}, "-O2")
	total := &atomic.Int64{}
	total.Store(1 << 40)
	if _, err := analyze(context.Background(), b.im, brittle{x86.New(64), total}, Options{Workers: 2}); err != nil {
		t.Fatal(err)
	}
	all := 1<<40 - total.Load()
	for _, workers := range []int{1, 2, 4} {
		for k := range int64(20) {
			left := &atomic.Int64{}
			left.Store(all * k / 20)
			p, err := analyze(context.Background(), b.im, brittle{x86.New(64), left}, Options{Workers: workers})
			if p != nil || err == nil || !strings.Contains(err.Error(), "broken decoder") {
				t.Fatalf("%d workers, broken after %d instructions: program %v, error %v", workers, all*k/20, p != nil, err)
			}
		}
	}
}

// straight repeats a unit without displacements.
func straight(size int, unit ...byte) []byte {
	var code []byte
	for len(code)+len(unit) < size {
		code = append(code, unit...)
	}
	return append(code, 0xc3)
}

// TestLongListsCostLinearTime has one very large function and lists that are
// looked through for each of its pieces.
func TestLongListsCostLinearTime(t *testing.T) {
	const size = 1 << 20
	pointers := func(step int) []byte { // to every step-th byte of the code
		var data []byte
		for a := 0; a < size; a += step {
			data = binary.LittleEndian.AppendUint64(data, uint64(0x400000+a))
		}
		return data
	}
	table := func() []byte { // 65,536 targets, all different
		code := []byte{0x81, 0xff, 0xff, 0xff, 0, 0, 0x77, 0x07, 0xff, 0x24, 0xfd, 0, 0, 0, 0, 0xc3}
		code = append(code, straight(1<<17, 0x90, 0xc3)...)
		binary.LittleEndian.PutUint32(code[11:], uint32((0x400000+len(code)+0xfff)&^0xfff))
		return code
	}()
	targets := []byte{}
	for i := range 1 << 16 {
		targets = binary.LittleEndian.AppendUint64(targets, uint64(0x400010+2*i))
	}
	for name, c := range map[string]struct{ code, data []byte }{
		"padding chain":     {straight(size, 0x74, 0x00, 0x66, 0x90), nil},
		"jumps to padding":  {append(straight(size/2, 0x74, 0x01, 0x90, 0x90), straight(size/2, 0x90)...), nil},
		"pointers to calls": {straight(size, 0xe8, 0, 0, 0, 0, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90), pointers(16)},
		"wide table":        {table, targets},
		"computed jumps":    {straight(size, 0xff, 0xe0), nil},
	} {
		t.Run(name, func(t *testing.T) {
			start := cpuTime(t)
			mustAnalyze(t, codeImage(c.code, c.data), 3*time.Minute)
			if used := cpuTime(t) - start; used > 20*time.Second {
				t.Errorf("took %v of processor time", used)
			}
		})
	}
}

func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
