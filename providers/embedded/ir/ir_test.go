package ir

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

var testArch = &Arch{Name: "test", Bits: 64, Register: []Register{{Name: "a", Bits: 64}, {Name: "f", Bits: 1}, {Name: "v", Bits: 128}}}

// TestFoldAgreesWithWide: every operation gives the same result computed on
// machine words and on big integers, which share no code.
func TestFoldAgreesWithWide(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	operand := func(bits uint16) uint64 {
		v := r.Uint64()
		switch r.IntN(4) {
		case 0:
			v = uint64(r.IntN(70))
		case 1:
			v = -uint64(r.IntN(3))
		case 2:
			v = 1 << (bits - 1)
		}
		return Constant(v, bits).N
	}
	for range 100_000 {
		op := Add + Op(r.IntN(int(ReverseBytes-Add)+1))
		bits := []uint16{8, 16, 32, 64}[r.IntN(4)]
		switch op {
		case Zext, Sext, Extract, Concat, Select:
			continue
		}
		a, b := operand(bits), operand(bits)
		if op == Shl && b > 1000 {
			b %= 100
		}
		in := Inst{Op: op, A: Constant(a, bits), B: Constant(b, bits)}
		want := modulo(computeWide(&in, new(big.Int).SetUint64(a), new(big.Int).SetUint64(b)), bits)
		got := Constant(fold(op, bits, a, b, bits), bits).N
		if want.Uint64() != got {
			t.Fatalf("%s:%d %#x, %#x: %#x on words, %#x on big integers", op, bits, a, b, got, want)
		}
	}
}

// TestRun evaluates a small program by hand.
func TestRun(t *testing.T) {
	var c Code
	a := testArch.Reg(0)
	sum := c.Add(a, Constant(5, 64))
	c.Set(testArch.Reg(1), c.Binary(LtU, sum, a))
	c.Set(a, c.Concat(c.Extract(sum, 0, 32), c.Extract(a, 32, 32)))
	c.Set(testArch.Reg(2), c.Sext(a, 128))
	if err := c.Check(testArch); err != nil {
		t.Fatal(err)
	}
	s := State{Regs: []*big.Int{new(big.Int).SetUint64(0xffffffff_fffffffe), nil, nil}}
	if err := Run(&c, &s); err != nil {
		t.Fatal(err)
	}
	if s.Regs[0].Uint64() != 0x00000003_ffffffff || s.Regs[1].Uint64() != 1 || s.Regs[2].Uint64() != 0x00000003_ffffffff || s.Flow != Undef {
		t.Errorf("a %#x, f %d, v %#x\n%s", s.Regs[0], s.Regs[1], s.Regs[2], c.Text(testArch))
	}
}

// TestUnknown: what is undefined or opaque stays unknown, and so does all that
// depends on it, but for a Select that does not choose it.
func TestUnknown(t *testing.T) {
	var c Code
	a, f := testArch.Reg(0), testArch.Reg(1)
	u := c.Undef(64)
	c.Set(testArch.Reg(2), c.Zext(c.Select(f, u, a), 128))
	c.Opaque(Effect{Name: "x", Writes: []Value{a}})
	for flag, known := range map[int64]bool{0: true, 1: false} {
		s := State{Regs: []*big.Int{big.NewInt(7), big.NewInt(flag), nil}}
		if err := Run(&c, &s); err != nil {
			t.Fatal(err)
		}
		if (s.Regs[2] != nil) != known || s.Regs[0] != nil {
			t.Errorf("flag %d: %v", flag, s.Regs)
		}
	}
}

// TestCheck refuses what breaks the rules.
func TestCheck(t *testing.T) {
	a, f := testArch.Reg(0), testArch.Reg(1)
	temp := func(n uint64, bits uint16) Value { return Value{Temp, bits, n} }
	for name, c := range map[string]Code{
		"width":        {Insts: []Inst{{Op: Add, Dst: temp(0, 64), A: a, B: Constant(1, 32)}}, Temps: 1},
		"unassigned":   {Insts: []Inst{{Op: Copy, Dst: a, A: temp(0, 64)}}, Temps: 1},
		"twice":        {Insts: []Inst{{Op: Copy, Dst: temp(0, 1), A: f}, {Op: Copy, Dst: temp(0, 1), A: f}}, Temps: 1},
		"destination":  {Insts: []Inst{{Op: Copy, A: a}}},
		"register":     {Insts: []Inst{{Op: Copy, Dst: Value{Reg, 64, 9}, A: a}}},
		"extract":      {Insts: []Inst{{Op: Extract, Dst: temp(0, 32), A: a, B: Constant(40, 16)}}, Temps: 1},
		"condition":    {Insts: []Inst{{Op: Branch, A: a, B: Constant(0, 64)}}},
		"store":        {Insts: []Inst{{Op: Store, A: a, B: f}}},
		"effect":       {Insts: []Inst{{Op: Opaque, Effect: 1}}},
		"no_operation": {Insts: []Inst{{Op: opCount}}},
	} {
		if c.Check(testArch) == nil {
			t.Errorf("%s passes:\n%s", name, strings.TrimSpace(c.Text(testArch)))
		}
	}
}
