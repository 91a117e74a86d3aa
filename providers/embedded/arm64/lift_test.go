package arm64

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"rea/providers/embedded/ir"
	"rea/providers/embedded/isa"
	"rea/providers/embedded/processor"
)

// page is the memory of a sample: zero but for the window.
type page [4096]byte

const pageAddress = processor.MemoryAddress - 1792

var errOutside = errors.New("outside the page")

func (p *page) Load(addr uint64, b []byte) error {
	if addr < pageAddress || addr-pageAddress+uint64(len(b)) > uint64(len(p)) {
		return errOutside
	}
	copy(b, p[addr-pageAddress:])
	return nil
}

func (p *page) Store(addr uint64, b []byte) error {
	if addr < pageAddress || addr-pageAddress+uint64(len(b)) > uint64(len(p)) {
		return errOutside
	}
	copy(p[addr-pageAddress:], b)
	return nil
}

func littleEndian(b []byte) *big.Int {
	r := slices.Clone(b)
	slices.Reverse(r)
	return new(big.Int).SetBytes(r)
}

// nzcv is the flags in the order of their bits from 28 on.
var nzcv = [4]int{regV, regC, regZ, regN}

// stateOf is a sample's registers for evaluation.
func stateOf(s *processor.State) (*ir.State, *page) {
	p := &page{}
	copy(p[1792:], s.Memory[:])
	st := &ir.State{Regs: make([]*big.Int, regCount), Memory: p}
	for i := range 32 {
		st.Regs[i] = new(big.Int).SetUint64(s.Regs[i])
		st.Regs[regVec0+i] = littleEndian(s.Vector[i][:16])
	}
	for i, f := range nzcv {
		st.Regs[f] = big.NewInt(int64(s.Flags >> (28 + i) & 1))
	}
	return st, p
}

// compareState evaluates code from a sample's state and returns the first
// difference from the state the processor left.
func compareState(code *ir.Code, before *processor.Sample, after *processor.State) string {
	st, mem := stateOf(&before.State)
	err := ir.Run(code, st)
	if errors.Is(err, errOutside) {
		return ""
	}
	if err != nil {
		return err.Error()
	}
	if st.Flow == ir.Trap {
		return "trap"
	}
	for k := range 32 {
		if v := st.Regs[k]; v != nil && v.Uint64() != after.Regs[k] {
			return fmt.Sprintf("%s is %#x, the processor has %#x", arch.Register[k].Name, v, after.Regs[k])
		}
		if v := st.Regs[regVec0+k]; v != nil && v.Cmp(littleEndian(after.Vector[k][:16])) != 0 {
			return fmt.Sprintf("v%d is %x, the processor has %x", k, v, littleEndian(after.Vector[k][:16]))
		}
	}
	for i, f := range nzcv {
		if v := st.Regs[f]; v != nil && v.Uint64() != after.Flags>>(28+i)&1 {
			return fmt.Sprintf("%s is %d", arch.Register[f].Name, v)
		}
	}
	if !st.MemoryUnknown && string(mem[1792:1792+len(after.Memory)]) != string(after.Memory[:]) {
		return "memory differs"
	}
	return ""
}

// TestLift executes instructions and evaluates what they are lifted to. Every
// register and flag that the code leaves known must be as the processor left
// it, and memory too.
func TestLift(t *testing.T) {
	machine := processor.Start(t, "arm64")
	d := New()
	r := rand.New(rand.NewPCG(4, 4))
	var words []uint32
	var names []string
	var samples []processor.Sample
	for len(words) < 20_000 {
		w, in, name, ok := randomWord(r, d)
		if !ok || in.HasMem && in.Mem.Base == isa.PC {
			continue
		}
		s := processor.Sample{State: randomState(r), Len: 4}
		if r.IntN(4) == 0 { // equal operands
			s.Regs[w>>16&31] = s.Regs[w>>5&31]
			s.Regs[3], s.Regs[31] = processor.MemoryAddress+128, processor.MemoryAddress+256
		}
		if strings.HasPrefix(name, "cas") {
			s.Regs[3], s.Regs[31] = processor.MemoryAddress+128, processor.MemoryAddress+256
			if r.IntN(2) == 0 && w>>16&31 != 31 && w>>16&31 != 3 {
				s.Regs[w>>16&31] = binary.LittleEndian.Uint64(s.Memory[128:])
			}
		}
		binary.LittleEndian.PutUint32(s.Code[:], w)
		words, names, samples = append(words, w), append(names, name), append(samples, s)
	}
	exact, faults, failures := 0, 0, 0
	kinds := map[string]bool{}
	for i, after := range machine.Run(t, samples) {
		var code ir.Code
		d.Lift(samples[i].Code[:4], processor.CodeAddress, &code)
		mnemonic, operands := d.Text(samples[i].Code[:4], processor.CodeAddress, nil)
		if err := code.Check(arch); err != nil {
			t.Fatalf("%08x %s %s: %v\n%s", words[i], mnemonic, operands, err, code.Text(arch))
		}
		if after.Signal != 0 {
			faults++
			continue
		}
		if problem := compareState(&code, &samples[i], &after); problem != "" {
			failures++
			if failures < 30 {
				t.Errorf("%08x %s %s: %s\n%s", words[i], mnemonic, operands, problem, code.Text(arch))
			}
		}
		if len(code.Effects) == 0 {
			exact++
		}
		kinds[names[i]] = true
	}
	t.Logf("%d exact, %d with opaque effects, %d not run; %d kinds", exact, len(words)-exact-faults, faults, len(kinds))
	if exact < len(words)/2 || len(kinds) < 200 {
		t.Error("too little was compared")
	}
}

// TestLiftControl executes branches over an instruction that leaves a mark.
func TestLiftControl(t *testing.T) {
	machine := processor.Start(t, "arm64")
	d := New()
	r := rand.New(rand.NewPCG(8, 8))
	var samples []processor.Sample
	for range 40 {
		words := []uint32{0x14000002, 0x94000002, 0xd61f00a0, 0xd63f00a0, 0xd65f00a0}
		for cond := range uint32(16) {
			words = append(words, 0x54000040|cond)
		}
		for _, n := range []uint32{6, 31} {
			words = append(words, 0x34000040|n, 0xb5000040|n, 0x36080040|n, 0xb7080040|n)
		}
		for _, w := range words {
			s := processor.Sample{State: randomState(r), Len: 8}
			s.Regs[5] = processor.CodeAddress + 8
			s.Regs[6] = uint64(r.IntN(3)) | uint64(r.IntN(2))<<33
			binary.LittleEndian.PutUint32(s.Code[:], w)
			binary.LittleEndian.PutUint32(s.Code[4:], 0xd2800aa7) // mov x7, #0x55
			s.Regs[7] = 0
			samples = append(samples, s)
		}
	}
	for i, after := range machine.Run(t, samples) {
		head := samples[i].Code[:4]
		if after.Signal != 0 {
			t.Fatalf("% x: signal %d", head, after.Signal)
		}
		var code ir.Code
		d.Lift(head, processor.CodeAddress, &code)
		if err := code.Check(arch); err != nil {
			t.Fatalf("% x: %v", head, err)
		}
		st, _ := stateOf(&samples[i].State)
		if err := ir.Run(&code, st); err != nil {
			t.Fatalf("% x: %v", head, err)
		}
		taken := after.Regs[7] == 0
		if taken != (st.Flow != ir.Undef) || taken && st.Target.Uint64() != processor.CodeAddress+8 {
			t.Errorf("% x: taken %v to %v, the processor %v", head, st.Flow != ir.Undef, st.Target, taken)
		}
		after.Regs[7] = 0
		if problem := compareState(&code, &samples[i], &after); problem != "" {
			t.Errorf("% x: %s", head, problem)
		}
	}
}

// FuzzLift: what any word is lifted to obeys the rules of the representation.
func FuzzLift(f *testing.F) {
	for _, w := range []uint32{0xd65f0fff, 0xc85f7c20, 0x4cdf7000, 0x0420e3e7, 0xf8e00041, 0x6f00e401, 0x48227c00, 0x1e601000, 0xa4004000, 0xc0080000} {
		f.Add(w)
	}
	d := New()
	f.Fuzz(func(t *testing.T, w uint32) {
		b := binary.LittleEndian.AppendUint32(nil, w)
		var code ir.Code
		d.Lift(b, 0x401000, &code)
		if err := code.Check(arch); err != nil {
			m, o := d.Text(b, 0x401000, nil)
			t.Fatalf("%08x %s %s: %v\n%s", w, m, o, err, code.Text(arch))
		}
	})
}
