package values_test

import (
	"encoding/binary"
	"errors"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"rea/providers/embedded/arm64"
	"rea/providers/embedded/ir"
	"rea/providers/embedded/lower"
	"rea/providers/embedded/program"
	"rea/providers/embedded/ssa"
	"rea/providers/embedded/values"
	"rea/providers/embedded/x86"
	"rea/providers/format/native"
	"rea/providers/format/object"
)

// The evaluator of package ir runs functions of compiled programs from random
// states. Beside it the SSA form is evaluated on the same path: every general
// register must have exactly the value that the form says, and that value must
// be in the set that the analysis gives.

const source = `
#include <stdint.h>
#include <string.h>
#include <stdlib.h>
extern int opaque(int, const char *);
static const int squares[10] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81};
static const char *const names[4] = {"zero", "one", "two", "three"};
int global;
int bounded(unsigned n) { return n < 10 ? squares[n] : -1; }
const char *name(int n) { if (n < 0 || n > 3) return 0; return names[n]; }
int loop(int n) { int s = 0; for (int i = 0; i < n; i++) { s += i * 3; if (s > 1000) break; } return s; }
int down(unsigned char *p, int n) { int s = 0; while (n-- > 0) s ^= p[n & 15]; return s; }
int locals(int a, int b) { int x[8]; for (int i = 0; i < 8; i++) x[i] = a + i * b; int s = 0; for (int i = 0; i < 8; i++) s += x[(i * 3) & 7]; return s; }
int spill(int a, int b, int c, int d, int e, int f) { int r = opaque(a, "first"); r += opaque(b + c, "second"); return r + d * e - f; }
int escape(int a) { char buf[32]; memset(buf, a, sizeof buf); int k = 7; opaque(a, buf); return k + buf[3]; }
int choose(int op, int a, int b) {
  switch (op) { case 0: return a + b; case 1: return a - b; case 2: return a * b; case 3: return b ? a / b : 0; case 4: return a << (b & 7);
  case 5: return a >> (b & 7); case 6: return a ^ b; case 7: return a & b; case 9: return 99; default: return op; }
}
uint64_t mix(uint64_t x) { x ^= x >> 33; x *= 0xff51afd7ed558ccdULL; x ^= x >> 29; return x % 1000; }
short narrow(short a, signed char b, unsigned char c) { short r = a; if (b < c) r = b; if (r > 100) r = 100; if (r < -5) r = -5; return r; }
int64_t clamp(int64_t v, int64_t lo, int64_t hi) { if (lo > hi) return 0; return v < lo ? lo : v > hi ? hi : v; }
struct point { int x, y; long z; };
long area(struct point *p, int n) { long s = 0; for (int i = 0; i < n && i < 5; i++) s += (long)p[i].x * p[i].y - p[i].z; return s; }
int nested(int n) { int c = 0; for (int i = 0; i < 7; i++) for (int j = i; j < 9; j += 2) { if (j == n) goto out; c += i ^ j; } out: return c; }
int text(const char *s) { int n = 0; while (*s) { if (*s >= '0' && *s <= '9') n = n * 10 + (*s - '0'); s++; if (n > 5000) break; } return n; }
int bits(unsigned x) { int n = 0; while (x) { n += x & 1; x >>= 1; } return n; }
int many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j) { return a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8 + i * 9 + j * 10; }
int find(int x) { int lo = 0, hi = 9; while (lo <= hi) { int m = (lo + hi) / 2; if (squares[m] == x) return m; if (squares[m] < x) lo = m + 1; else hi = m - 1; } return -1; }
`

// image is what Memory and the runner read from the file.
type image struct {
	*object.Image
	fixed map[uint64]uint64
}

func newImage(im *object.Image) *image {
	out := &image{im, map[uint64]uint64{}}
	for i := range im.Relocations {
		if r := &im.Relocations[i]; r.HasTarget {
			out.fixed[r.Addr] = r.Target
		}
	}
	return out
}

func (im *image) Number(addr uint64, size int) (uint64, bool) {
	s := im.SegmentAt(addr)
	if s == nil || s.Perm.Write {
		return 0, false
	}
	b := im.Bytes(addr, size)
	if len(b) < size || size > 8 {
		return 0, false
	}
	var buf [8]byte
	copy(buf[:], b)
	return binary.LittleEndian.Uint64(buf[:]), true
}

// memory is what a run reads and writes: what it wrote, the file, else numbers
// made from the address.
type memory struct {
	im      *image
	written map[uint64]byte
}

func (m *memory) at(a uint64) byte {
	if b, ok := m.written[a]; ok {
		return b
	}
	if b := m.im.Bytes(a, 1); len(b) == 1 {
		return b[0]
	}
	a ^= a >> 31
	a *= 0x9e3779b97f4a7c15
	return byte(a >> 57)
}

func (m *memory) Load(addr uint64, b []byte) error {
	for i := range b {
		b[i] = m.at(addr + uint64(i))
	}
	return nil
}

var errReadOnly = errors.New("store to read-only memory")

func (m *memory) Store(addr uint64, b []byte) error {
	if s := m.im.SegmentAt(addr); s != nil && !s.Perm.Write {
		return errReadOnly
	}
	for i := range b {
		m.written[addr+uint64(i)] = b[i]
	}
	return nil
}

func (m *memory) number(addr uint64, bytes int) *big.Int {
	b := make([]byte, bytes)
	m.Load(addr, b)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return new(big.Int).SetBytes(b)
}

// twin evaluates the SSA form.
type twin struct {
	f      *ssa.Func
	leaf   map[ssa.ID]*big.Int
	memo   map[ssa.ID]*big.Int
	afters map[ssa.ID][]ssa.ID // of each effect
}

func (w *twin) value(v ssa.ID) *big.Int {
	x := &w.f.Values[v]
	if x.Kind == ssa.Const {
		return new(big.Int).SetUint64(x.N)
	}
	if x.Kind != ssa.Expr {
		return w.leaf[v]
	}
	if n, ok := w.memo[v]; ok {
		return n
	}
	code := ir.Code{Temps: 4}
	state := ir.State{Regs: []*big.Int{nil, nil, nil}}
	in := ir.Inst{Op: x.Op, Dst: ir.Value{Kind: ir.Temp, Bits: x.Bits, N: 3}}
	for k, a := range x.Args {
		if a == 0 {
			continue
		}
		val := ir.Value{Kind: ir.Reg, Bits: w.f.Values[a].Bits, N: uint64(k)}
		if state.Regs[k] = w.value(a); state.Regs[k] == nil {
			w.memo[v] = nil
			return nil
		}
		switch k {
		case 0:
			in.A = val
		case 1:
			in.B = val
		case 2:
			in.C = val
		}
	}
	if x.Op == ir.Extract {
		in.B = ir.Constant(x.N, 16)
	}
	code.Insts = append(code.Insts, in, ir.Inst{Op: ir.Copy, Dst: ir.Value{Kind: ir.Reg, Bits: x.Bits, N: 0}, A: in.Dst})
	if ir.Run(&code, &state) != nil {
		return nil
	}
	w.memo[v] = state.Regs[0]
	return state.Regs[0]
}

// enter gives the phis of a block their values.
func (w *twin) enter(from, to int32) {
	blk := &w.f.Blocks[to]
	for i, p := range blk.Preds {
		if p != from {
			continue
		}
		news := make([]*big.Int, len(blk.Phis))
		for k, phi := range blk.Phis {
			news[k] = w.value(w.f.List(phi)[i])
		}
		for k, phi := range blk.Phis {
			w.leaf[phi] = news[k]
		}
		break
	}
	w.memo = map[ssa.ID]*big.Int{}
}

type runner struct {
	t       *testing.T
	im      *image
	lift    ssa.Lifter
	conv    *lower.Program
	f       *ssa.Func
	sets    *values.Analysis
	points  map[uint64]*ssa.Point
	steps   int // instructions compared
	known   int // registers compared
	bounded int // of them with a set that says something
	r       *rand.Rand
}

func (n *runner) random() *big.Int {
	switch n.r.IntN(3) {
	case 0:
		return big.NewInt(int64(n.r.IntN(20)))
	case 1:
		return new(big.Int).SetUint64(uint64(uint32(-n.r.IntN(20))))
	}
	return new(big.Int).SetUint64(n.r.Uint64())
}

// run executes the function once.
func (n *runner) run(entry uint64) {
	f := n.f
	arch := f.Arch
	regs := make([]*big.Int, len(arch.Register))
	fresh := func(r int) {
		bits := arch.Register[r].Bits
		if bits == 0 || arch.Register[r].Abstract {
			return
		}
		v := n.random()
		regs[r] = v.And(v, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(min(bits, 64))), big.NewInt(1)))
	}
	for r := range regs {
		fresh(r)
	}
	c := n.conv.Convention
	regs[c.SP] = new(big.Int).SetUint64(0x7ffe_0000_0008)
	if arch.Bits == 64 && c.CallPushes {
		regs[22] = new(big.Int) // the direction flag is clear
	}
	mem := &memory{n.im, map[uint64]byte{}}
	w := &twin{f: f, leaf: map[ssa.ID]*big.Int{}, memo: map[ssa.ID]*big.Int{}, afters: map[ssa.ID][]ssa.ID{}}
	sp := regs[c.SP].Uint64()
	cell := func(v ssa.Var) *big.Int {
		if k := f.CellOf(v); k != nil && k.Base == 0 {
			return mem.number(sp+uint64(k.Offset), int(k.Size))
		}
		return nil
	}
	variable := func(v ssa.Var) *big.Int {
		if int(v) < f.Registers() && v >= 0 {
			return regs[v]
		}
		return cell(v)
	}
	for v := range f.Values {
		switch x := &f.Values[v]; x.Kind {
		case ssa.Entry:
			w.leaf[ssa.ID(v)] = variable(x.Var)
		case ssa.After:
			w.afters[x.Args[0]] = append(w.afters[x.Args[0]], ssa.ID(v))
		}
	}
	block := int32(-1)
	for _, s := range f.Blocks[0].Succs {
		if f.Blocks[s].Start == entry {
			block = s
		}
	}
	if block < 0 {
		return
	}
	w.enter(0, block)
	place := 0
	pc := entry
	for step := 0; step < 3000; step++ {
		blk := &f.Blocks[block]
		if pc == blk.End {
			next := nearest(f, blk, pc)
			if next < 0 {
				return
			}
			w.enter(block, next)
			block, place, pc = next, 0, f.Blocks[next].Start
			continue
		}
		n.compare(pc, block, regs, w)
		var effects []ssa.ID
		for ; place < len(blk.Code) && f.Values[blk.Code[place]].Addr == pc; place++ {
			v := blk.Code[place]
			switch f.Values[v].Kind {
			case ssa.Load:
				if a := w.value(f.Values[v].Args[0]); a != nil {
					w.leaf[v] = mem.number(a.Uint64(), int(f.Values[v].Bits/8))
				}
			case ssa.Call, ssa.Opaque, ssa.Store:
				effects = append(effects, v)
			}
		}
		w.memo = map[ssa.ID]*big.Int{}
		var code ir.Code
		size := n.lift.Lift(n.im.Bytes(pc, 16), pc, &code)
		state := ir.State{Regs: regs, Memory: mem}
		for again := 0; ; again++ {
			if err := ir.Run(&code, &state); err != nil || again > 200 || state.Flow == ir.Trap {
				return
			}
			if !(len(code.Insts) > 4 && (state.Flow == ir.Jump || state.Flow == ir.Branch) && state.Target != nil && state.Target.Uint64() == pc) {
				break
			}
		}
		state.MemoryUnknown = false
		if state.Flow == ir.Call {
			e := n.conv.Effect(pc)
			for r := range regs {
				if r != c.SP && !e.Keeps.Has(r) {
					fresh(r)
				}
			}
			if c.CallPushes {
				regs[c.SP] = new(big.Int).Add(regs[c.SP], big.NewInt(c.Word+e.Pops))
			}
			state.Flow = ir.Undef
		}
		for r := range regs {
			if regs[r] == nil {
				fresh(r)
			}
		}
		for _, e := range effects {
			for _, a := range w.afters[e] {
				w.leaf[a] = variable(f.Values[a].Var)
			}
		}
		if state.Target != nil && state.Target.Uint64() == pc+uint64(size) { // a repeated instruction has ended
			state.Flow = ir.Undef
		}
		switch state.Flow {
		case ir.Return:
			return
		case ir.Jump, ir.Branch:
			if state.Target == nil {
				return
			}
			next := nearest(f, blk, state.Target.Uint64())
			if next < 0 {
				return
			}
			w.enter(block, next)
			block, place, pc = next, 0, f.Blocks[next].Start
		default:
			pc += uint64(size)
		}
	}
}

// nearest is the successor that starts at addr or behind the padding there, or -1.
func nearest(f *ssa.Func, blk *ssa.Block, addr uint64) int32 {
	next, far := int32(-1), uint64(32)
	for _, s := range blk.Succs {
		if d := f.Blocks[s].Start - addr; d < far {
			next, far = s, d
		}
	}
	return next
}

func (n *runner) compare(pc uint64, block int32, regs []*big.Int, w *twin) {
	p := n.points[pc]
	if p == nil || p.Block != block {
		return
	}
	n.steps++
	for r, v := range p.Regs {
		if v == 0 || regs[r] == nil {
			continue
		}
		if got := w.value(v); got != nil {
			n.known++
			if got.Cmp(regs[r]) != 0 {
				n.t.Fatalf("%#x: %s is %#x, the form says %s = %#x\n%s", pc, n.f.Arch.Register[r].Name, regs[r], n.f.ValueText(v, 5), got, n.f.Text())
			}
		}
		set := n.sets.At(v, block)
		if !set.IsAll(n.f.Values[v].Bits) {
			n.bounded++
		}
		if !set.Has(regs[r].Uint64()) {
			n.t.Fatalf("%#x: %s is %#x, which is not in %v of %s\n%s", pc, n.f.Arch.Register[r].Name, regs[r], set, n.f.ValueText(v, 5), n.f.Text())
		}
	}
}

func TestRunsStayWithinValues(t *testing.T) {
	for _, compiler := range []struct {
		name, objdump string
		arch          object.Arch
		flags         []string
	}{
		{"gcc", "", object.X86_64, []string{"-O0"}}, {"gcc", "", object.X86_64, []string{"-O1"}}, {"gcc", "", object.X86_64, []string{"-O2"}}, {"gcc", "", object.X86_64, []string{"-O3", "-march=haswell"}},
		{"clang", "", object.X86_64, []string{"-O0"}}, {"clang", "", object.X86_64, []string{"-O2"}}, {"clang", "", object.X86_64, []string{"-Os"}},
		{"aarch64-linux-gnu-gcc", "", object.ARM64, []string{"-O0"}}, {"aarch64-linux-gnu-gcc", "", object.ARM64, []string{"-O2"}},
		{"x86_64-w64-mingw32-gcc", "", object.X86_64, []string{"-O2"}},
	} {
		name := compiler.name
		for _, f := range compiler.flags {
			name += f
		}
		t.Run(name, func(t *testing.T) {
			cc, err := exec.LookPath(compiler.name)
			if err != nil {
				t.Skip("no such compiler")
			}
			dir := t.TempDir()
			src, bin := filepath.Join(dir, "a.c"), filepath.Join(dir, "a.so")
			if err := os.WriteFile(src, []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"-shared", "-fPIC", "-o", bin, src}, compiler.flags...)
			if compiler.name == "x86_64-w64-mingw32-gcc" {
				args = append([]string{"-c", "-o", bin, src}, compiler.flags...)
			}
			if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
				t.Skipf("%v\n%s", err, out)
			}
			checkRuns(t, bin, 1)
		})
	}
}

// checkRuns runs every step-th function.
func checkRuns(t *testing.T, path string, step int) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Skip(err)
	}
	im, err := native.Load(data, native.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := program.Analyze(t.Context(), im, program.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, ok := lower.New(p)
	if !ok {
		t.Fatal("no lifter")
	}
	var lift ssa.Lifter = x86.New(64)
	if im.Arch == object.ARM64 {
		lift = arm64.New()
	}
	total := runner{}
	for i := 0; i < len(p.Functions); i += step {
		blocks := p.FunctionBlocks(i)
		if len(blocks) == 0 || len(blocks) > 400 {
			continue
		}
		var observe []uint64
		for _, b := range blocks {
			for a := range p.InstructionsBetween(b.Start, b.End) {
				observe = append(observe, a)
			}
		}
		f, err := ssa.Build(t.Context(), l.Function(i, observe...))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Check(); err != nil {
			t.Fatal(err)
		}
		img := newImage(im)
		sets, err := values.Analyze(t.Context(), f, img)
		if err != nil {
			t.Fatal(err)
		}
		n := runner{t: t, im: img, lift: lift, conv: l, f: f, sets: sets, points: map[uint64]*ssa.Point{}, r: rand.New(rand.NewPCG(uint64(i), 7))}
		for k := range f.Points {
			n.points[f.Points[k].Addr] = &f.Points[k]
		}
		for range 12 {
			n.run(p.Functions[i].Entry)
		}
		total.steps += n.steps
		total.known += n.known
		total.bounded += n.bounded
	}
	t.Logf("%d instructions, %d registers equal, %d sets that say something", total.steps, total.known, total.bounded)
	if total.steps < 1000 || total.bounded < 500 {
		t.Fatalf("only %d instructions were compared, %d sets said something", total.steps, total.bounded)
	}
}

func TestRunsOfSystemPrograms(t *testing.T) {
	for _, path := range []string{"/bin/ls", "/bin/bash", "/usr/lib/x86_64-linux-gnu/libz.so.1"} {
		t.Run(filepath.Base(path), func(t *testing.T) { checkRuns(t, path, 40) })
	}
}
