package x86

import (
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

// stateOf is a sample's registers for evaluation. Registers that samples don't
// set are unknown.
func stateOf(s *processor.State) (*ir.State, *page) {
	p := &page{}
	copy(p[1792:], s.Memory[:])
	st := &ir.State{Regs: make([]*big.Int, regCount), Memory: p}
	for i := range 16 {
		st.Regs[i] = new(big.Int).SetUint64(s.Regs[i])
		st.Regs[regVec0+i] = littleEndian(s.Vector[i][:])
	}
	for _, f := range flagBits {
		st.Regs[f.flag] = big.NewInt(int64(s.Flags >> f.bit & 1))
	}
	return st, p
}

// randomLiftable makes an instruction whose effects a sample can show.
func randomLiftable(r *rand.Rand, d *Decoder) (trial, bool) {
	code := make([]byte, 0, 16)
	if r.IntN(3) == 0 {
		code = append(code, 0x66)
	}
	if r.IntN(4) == 0 {
		code = append(code, []byte{0xf3, 0xf2}[r.IntN(2)])
	}
	if r.IntN(2) == 0 {
		code = append(code, 0x40|byte(r.IntN(16)))
	}
	switch r.IntN(7) {
	case 0:
		code = append(code, 0x0f)
		if r.IntN(6) == 0 {
			code = append(code, 0x38, 0xf0|byte(r.IntN(8)))
		} else {
			code = append(code, byte(r.IntN(256)))
		}
	case 1, 2:
		code = append(code, byte(r.IntN(256)))
	case 3: // BMI
		code = append(code[:0], 0xc4, 0xe0|byte(2+r.IntN(2)), byte(r.IntN(16))<<3|byte(r.IntN(4))|byte(r.IntN(2))<<7, 0xf0|byte(r.IntN(8)))
	case 5: // any VEX
		code = append(code[:0], 0xc4, 0xe0^byte(r.IntN(2))<<7|byte(1+r.IntN(3)), byte(r.IntN(256)), byte(r.IntN(256)))
	case 6: // any EVEX
		code = append(code[:0], 0x62, 0xf0^byte(r.IntN(2))<<7|byte(1+r.IntN(3)), byte(r.IntN(256))|4, byte(r.IntN(256))|8, byte(r.IntN(256)))
	case 4: // AVX moves and logic
		code = append(code[:0], 0xc4, 0xe1^byte(r.IntN(2))<<7, byte(r.IntN(256)), []byte{0x10, 0x11, 0x12, 0x13, 0x16, 0x17, 0x28, 0x29, 0x54, 0x55, 0x56, 0x57, 0x6e, 0x6f, 0x7e, 0x7f, 0xd6, 0xdb, 0xdf, 0xeb, 0xef, 0xe7, 0x77}[r.IntN(23)])
	}
	modrm := byte(r.IntN(256))
	switch {
	case modrm >= 0xc0:
		code = append(code, modrm)
	case r.IntN(3) == 0: // [rbx+index*scale+disp8]; the index is small
		code = append(code, modrm&0x38|0x44, byte(r.IntN(4))<<6|7<<3|3, byte(r.IntN(32)))
	default:
		code = append(code, modrm&0x38|0x43, byte(r.IntN(64)))
	}
	for range 4 {
		code = append(code, byte(r.IntN(256)))
	}
	var in isa.Inst
	d.Decode(code, processor.CodeAddress, &in)
	if in.Flow != isa.Next || int(in.Len) > len(code) || in.Mem.Segment != 0 {
		return trial{}, false
	}
	code = code[:in.Len]
	mnemonic, operands := d.Text(code, 0, nil)
	if mnemonic[0] == 'f' {
		return trial{}, false
	}
	for _, w := range strings.Fields(mnemonic) {
		switch w {
		case "rdtsc", "rdtscp", "rdpmc", "cpuid", "rdrand", "rdseed", "rdpru", "xgetbv", "popf", "popfw", "str", "sldt", "smsw", "sgdt", "sidt", "lar", "lsl", "verr", "verw",
			"rdpid", "enter", "enterw", "in", "out", "ins", "outs", "cli", "sti", "xabort", "clzero", "monitorx", "mwaitx", "xsave", "fwait", "std", "xrstor", "xsavec", "xsaveopt", "wrfsbase", "wrgsbase", "ldmxcsr", "vldmxcsr", "maskmovq",
			"lds", "les", "lss", "lfs", "lgs", "popa", "popaw", "into", "int1", "int3":
			return trial{}, false
		}
	}
	if in.HasMem && in.Mem.Base != 3 || in.HasMem && in.Mem.Index != isa.NoReg && in.Mem.Index != 7 {
		return trial{}, false
	}
	if strings.Contains(operands, "fs") || strings.Contains(operands, "gs") || strings.Contains(operands, "cr") || strings.Contains(operands, "dr") ||
		strings.Contains(operands, "ds, ") || strings.Contains(operands, ", ds") || strings.Contains(operands, "es, ") || strings.Contains(operands, "ss, ") {
		return trial{}, false
	}
	return trial{code, in, mnemonic}, true
}

// TestLift executes instructions on the processor and evaluates what they are
// lifted to. Every register and flag that the code leaves known must be as the
// processor left it, and memory too.
func TestLift(t *testing.T) {
	t.Run("amd64", func(t *testing.T) { lifts(t, "amd64", New(64), 30_000) })
	t.Run("386", func(t *testing.T) { lifts(t, "386", New(32), 20_000) })
}

func lifts(t *testing.T, arch string, d *Decoder, count int) {
	machine := processor.Start(t, arch)
	r := rand.New(rand.NewPCG(11, 5))
	var trials []trial
	var samples []processor.Sample
	for len(trials) < count {
		tr, ok := randomLiftable(r, d)
		if !ok {
			continue
		}
		s := processor.Sample{State: randomState(r), Len: uint64(len(tr.code))}
		if d.mode == 0 {
			for i := range s.Regs {
				s.Regs[i] &= 0xffffffff
			}
		}
		if tr.in.Mem.Index == 7 {
			s.Regs[7] = uint64(r.IntN(16))
		}
		if strings.Contains(tr.name, "movs") || strings.Contains(tr.name, "stos") || strings.Contains(tr.name, "cmps") || strings.Contains(tr.name, "scas") ||
			strings.Contains(tr.name, "lods") || strings.HasPrefix(tr.name, "xlat") {
			s.Regs[6], s.Regs[7] = processor.MemoryAddress+128, processor.MemoryAddress+128+uint64(r.IntN(64))
			s.Regs[1] = uint64(r.IntN(6))
			s.Flags |= uint64(r.IntN(2)) << 10
		}
		if tr.name == "leave" {
			s.Regs[5] = processor.MemoryAddress + 64
		}
		for i := range 16 {
			for k := range s.Vector[i] {
				s.Vector[i][k] = byte(r.Uint32())
			}
		}
		copy(s.Code[:], tr.code)
		trials = append(trials, tr)
		samples = append(samples, s)
	}
	out := machine.Run(t, samples)
	exact, opaque, faults := 0, map[string]int{}, 0
	kinds := map[string]int{}
	failures := 0
	for i, tr := range trials {
		var code ir.Code
		if n := d.Lift(tr.code, processor.CodeAddress, &code); n != len(tr.code) {
			t.Fatalf("% x: lifted %d bytes", tr.code, n)
		}
		if err := code.Check(d.Arch()); err != nil {
			t.Fatalf("% x %s: %v\n%s", tr.code, tr.name, err, code.Text(d.Arch()))
		}
		after := out[i]
		if after.Signal != 0 && (after.Signal != 8 || len(code.Effects) > 0) {
			faults++ // privileged, or a fault of memory, which the code does not represent
			continue
		}
		problem := compareState(d, &code, &samples[i], &after)
		if problem != "" {
			failures++
			if failures < 30 {
				m, o := d.Text(tr.code, processor.CodeAddress, nil)
				t.Errorf("% x %s %s: %s\n%s", tr.code, m, o, problem, code.Text(d.Arch()))
			}
		}
		kinds[tr.name]++
		if len(code.Effects) > 0 {
			opaque[tr.name]++
		} else {
			exact++
		}
	}
	t.Logf("%d exact, %d with opaque effects, %d not run; %d mnemonics", exact, len(trials)-exact-faults, faults, len(kinds))
	if exact < len(trials)/3 || len(kinds) < 150 {
		t.Error("too little was compared")
	}
}

// compareState evaluates code from a sample's state and returns the first
// difference from the state the processor left.
func compareState(d *Decoder, code *ir.Code, before *processor.Sample, after *processor.State) string {
	st, mem := stateOf(&before.State)
	for range 100 {
		err := ir.Run(code, st)
		if errors.Is(err, errOutside) {
			return ""
		}
		if err != nil {
			return err.Error()
		}
		if st.Flow == ir.Undef || st.Target.Uint64() != processor.CodeAddress {
			break
		}
	}
	if (st.Flow == ir.Trap) != (after.Signal != 0) {
		return fmt.Sprintf("trap %v, but signal %d", st.Flow == ir.Trap, after.Signal)
	}
	if st.Flow == ir.Trap {
		return ""
	}
	for k := range 16 {
		if v := st.Regs[k]; v != nil && v.Uint64() != after.Regs[k] {
			return fmt.Sprintf("%s is %#x, the processor has %#x", d.Arch().Register[k].Name, v, after.Regs[k])
		}
		if v := st.Regs[regVec0+k]; v != nil {
			low := new(big.Int).And(v, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)))
			if low.Cmp(littleEndian(after.Vector[k][:])) != 0 {
				return fmt.Sprintf("v%d is %x, the processor has %x", k, low, littleEndian(after.Vector[k][:]))
			}
		}
	}
	for _, f := range flagBits {
		if v := st.Regs[f.flag]; v != nil && v.Uint64() != after.Flags>>f.bit&1 {
			return fmt.Sprintf("%s is %d", d.Arch().Register[f.flag].Name, v)
		}
	}
	if !st.MemoryUnknown && string(mem[1792:1792+len(after.Memory)]) != string(after.Memory[:]) {
		return "memory differs"
	}
	return ""
}

// TestLiftControl executes conditional branches over an instruction that
// leaves a mark, and calls of the next instruction.
func TestLiftControl(t *testing.T) {
	machine := processor.Start(t, "amd64")
	d := New(64)
	r := rand.New(rand.NewPCG(2, 2))
	var samples []processor.Sample
	var heads [][]byte
	for range 60 {
		var codes [][]byte
		for cc := range byte(16) {
			codes = append(codes, []byte{0x70 | cc, 2}, []byte{0x0f, 0x80 | cc, 2, 0, 0, 0})
		}
		codes = append(codes, []byte{0xe0, 2}, []byte{0xe1, 2}, []byte{0xe2, 2}, []byte{0xe3, 2}, []byte{0x67, 0xe3, 2}, []byte{0x67, 0xe2, 2}, []byte{0xeb, 2}, []byte{0xe9, 2, 0, 0, 0})
		for _, head := range codes {
			s := processor.Sample{State: randomState(r)}
			s.Regs[1] = uint64(r.IntN(3)) | uint64(r.IntN(2))<<32
			s.Regs[0] &^= 0xff
			n := copy(s.Code[:], head)
			n += copy(s.Code[n:], []byte{0xb0, 0x55}) // mov al, 0x55
			s.Len = uint64(n)
			samples, heads = append(samples, s), append(heads, head)
		}
		for _, head := range [][]byte{{0xe8, 0, 0, 0, 0}, {0xff, 0xd3}, {0xff, 0x23}, {0xff, 0x13}, {0xc3}, {0xc2, 8, 0}} {
			s := processor.Sample{State: randomState(r)}
			n := copy(s.Code[:], head)
			s.Len = uint64(n)
			// The target is where the sample goes on: in RBX, or where RBX or RSP points.
			next := uint64(processor.CodeAddress + n)
			switch {
			case head[0] == 0xff && head[1] == 0xd3:
				s.Regs[3] = next
			case head[0] == 0xff:
				for i := range 8 {
					s.Memory[64+i] = byte(next >> (8 * i))
				}
			default:
				for i := range 8 {
					s.Memory[320+i] = byte(next >> (8 * i))
				}
			}
			samples, heads = append(samples, s), append(heads, head)
		}
	}
	for i, after := range machine.Run(t, samples) {
		if after.Signal != 0 {
			t.Fatalf("% x: signal %d", heads[i], after.Signal)
		}
		var code ir.Code
		d.Lift(heads[i], processor.CodeAddress, &code)
		if err := code.Check(d.Arch()); err != nil {
			t.Fatalf("% x: %v", heads[i], err)
		}
		st, _ := stateOf(&samples[i].State)
		if err := ir.Run(&code, st); err != nil {
			t.Fatalf("% x: %v", heads[i], err)
		}
		if samples[i].Len == uint64(len(heads[i])) { // always transferred
			if st.Flow == ir.Undef || st.Target.Uint64() != processor.CodeAddress+samples[i].Len {
				t.Errorf("% x: goes to %v", heads[i], st.Target)
			}
		} else if taken := after.Regs[0]&0xff != 0x55; taken != (st.Flow != ir.Undef) {
			t.Errorf("% x: taken %v, the processor %v", heads[i], st.Flow != ir.Undef, taken)
		}
		if samples[i].Len != uint64(len(heads[i])) {
			after.Regs[0] &^= 0xff // the mark
		}
		if problem := compareState(d, &code, &samples[i], &after); problem != "" {
			t.Errorf("% x: %s", heads[i], problem)
		}
	}
}

// FuzzLift: what any bytes are lifted to obeys the rules of the representation.
func FuzzLift(f *testing.F) {
	for _, s := range [][]byte{{0xf3, 0xa4}, {0x60}, {0x48, 0xf7, 0xf1}, {0x0f, 0xa5, 0xc1}, {0xc5, 0xfc, 0x28, 0xc1}, {0x62, 0xf1, 0x7c, 0x49, 0x58, 0xc1}, {0xc4, 0xe2, 0x69, 0x92, 0x04, 0x08}, {0x67, 0x8b, 0x46, 1}, {0xd9, 0xc0}, {0x0f, 0xc7, 0x0b}} {
		f.Add(s)
	}
	decoders := []*Decoder{New(32), New(64)}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, d := range decoders {
			var in isa.Inst
			var code ir.Code
			d.Decode(b, 0x401000, &in)
			if n := d.Lift(b, 0x401000, &code); n != int(in.Len) {
				t.Fatalf("% x: lifted %d bytes of %d", b, n, in.Len)
			}
			if err := code.Check(d.Arch()); err != nil {
				m, o := d.Text(b, 0x401000, nil)
				t.Fatalf("% x %s %s: %v\n%s", b, m, o, err, code.Text(d.Arch()))
			}
		}
	})
}
