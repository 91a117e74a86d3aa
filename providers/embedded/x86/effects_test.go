package x86

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"rea/providers/embedded/isa"
	"rea/providers/embedded/processor"
)

// trial is one instruction with a starting state.
type trial struct {
	code []byte
	in   isa.Inst
	name string // mnemonic with operand kinds, under which trials are pooled
}

// randomInteger makes an instruction of the integer subset whose memory
// operands, if any, are in the window RBX and RSI…RSP point to.
func randomInteger(r *rand.Rand, d *Decoder) (trial, bool) {
	code := make([]byte, 0, 16)
	if r.IntN(4) == 0 {
		code = append(code, 0x66)
	}
	if r.IntN(8) == 0 {
		code = append(code, []byte{0xf3, 0xf2}[r.IntN(2)])
	}
	if r.IntN(2) == 0 {
		code = append(code, 0x40|byte(r.IntN(16)))
	}
	switch r.IntN(3) {
	case 0:
		code = append(code, 0x0f)
		if r.IntN(8) == 0 {
			code = append(code, 0x38, 0xf0|byte(r.IntN(8)))
		} else {
			code = append(code, byte(r.IntN(256)))
		}
	case 1:
		code = append(code, byte(r.IntN(256)))
	case 2: // BMI
		code = append(code[:0], 0xc4, 0xe0|2, byte(r.IntN(16))<<3|byte(r.IntN(4))|byte(r.IntN(2))<<7, 0xf0|byte(r.IntN(8)))
	}
	modrm := byte(r.IntN(256))
	if modrm < 0xc0 {
		modrm = modrm&0x38 | 0x40 | 3 // [rbx+disp8]
		code = append(code, modrm, byte(r.IntN(64)))
	} else {
		code = append(code, modrm)
	}
	for range 4 {
		code = append(code, byte(r.IntN(16)))
	}
	var in isa.Inst
	d.Decode(code, processor.CodeAddress, &in)
	if in.Flow != isa.Next || int(in.Len) > len(code) {
		return trial{}, false
	}
	code = code[:in.Len]
	mnemonic, operands := d.Text(code, 0, nil)
	if mnemonic[0] == 'f' { // x87 state is not part of the samples
		return trial{}, false
	}
	for _, w := range strings.Fields(mnemonic) {
		switch w {
		case "rdtsc", "rdtscp", "rdpmc", "cpuid", "rdrand", "rdseed", "rdpru", "xgetbv", "popf", "popfw", "str", "sldt", "smsw", "sgdt", "sidt", "lar", "lsl", "verr", "verw",
			"rdpid", "enter", "enterw", "leave", "leavew", "xabort", "in", "out", "ins", "outs", "fwait", "std", "cli", "sti", "bsf", "bsr", "bswap", "rep", "repz", "repnz", "lods", "scas", "movs", "cmps", "stos", "xlat":
			return trial{}, false
		}
	}
	if in.HasMem && in.Mem.Base != 3 || in.Writes>>4&1 == 1 && in.Class != isa.Push && in.Class != isa.Pop ||
		(in.Mem.Segment != 0) || strings.Contains(operands, "mm") || strings.Contains(operands, "fs") || strings.Contains(operands, "gs") ||
		strings.Contains(operands, "st") || strings.Contains(operands, "cr") || strings.Contains(operands, "dr") || strings.Contains(operands, "s,") {
		return trial{}, false
	}
	kind := "register"
	if in.HasMem {
		kind = "memory"
	}
	return trial{code, in, fmt.Sprintf("%s %s %d", mnemonic, kind, in.Size)}, true
}

func randomState(r *rand.Rand) processor.State {
	var s processor.State
	for i := range 16 {
		s.Regs[i] = r.Uint64()
		switch r.IntN(4) {
		case 0:
			s.Regs[i] = uint64(r.IntN(256))
		case 1:
			s.Regs[i] &= 0x1f1f1f1f1f1f1f1f // plausible counts and field positions
		}
	}
	s.Regs[3] = processor.MemoryAddress + 64
	s.Regs[4] = processor.MemoryAddress + 320
	s.Flags = 0x202 | r.Uint64()&0x8d5
	for i := range s.Memory {
		s.Memory[i] = byte(r.Uint32())
	}
	return s
}

// TestEffects checks Reads and Writes against the processor. A register that
// is not in Writes never changes; one that is not in Reads never influences
// anything but itself. And a register that is in them does so at least once in
// the trials of its instruction.
func TestEffects(t *testing.T) {
	machine := processor.Start(t, "amd64")
	d := New(64)
	r := rand.New(rand.NewPCG(7, 7))
	var trials []trial
	var samples []processor.Sample
	const runs = 17 // the state itself, then each register disturbed
	for len(trials) < 2500 {
		tr, ok := randomInteger(r, d)
		if !ok {
			continue
		}
		trials = append(trials, tr)
		s := processor.Sample{State: randomState(r), Len: uint64(len(tr.code))}
		copy(s.Code[:], tr.code)
		samples = append(samples, s)
		for reg := range 16 {
			disturbed := s
			switch reg {
			case 3:
				disturbed.Regs[3] += 8
			case 4:
				disturbed.Regs[4] += 8
			default:
				disturbed.Regs[reg] = randomState(r).Regs[reg]
			}
			samples = append(samples, disturbed)
		}
	}
	out := machine.Run(t, samples)
	type pool struct{ trials, idleReads, idleWrites int }
	pools := map[string]*pool{}
	ran := 0
	for i, tr := range trials {
		base := out[i*runs]
		if base.Signal != 0 {
			continue
		}
		ran++
		p := pools[tr.name]
		if p == nil {
			p = &pool{}
			pools[tr.name] = p
		}
		p.trials++
		wrote := uint64(0)
		for k := range runs {
			before, after := samples[i*runs+k], out[i*runs+k]
			if after.Signal != 0 {
				continue
			}
			for reg := range 16 {
				if before.Regs[reg] != after.Regs[reg] {
					wrote |= 1 << reg
				}
			}
		}
		m, o := d.Text(tr.code, 0, nil)
		if extra := wrote &^ tr.in.Writes; extra != 0 {
			t.Errorf("% x %s %s: writes %#x, claimed %#x", tr.code, m, o, wrote, tr.in.Writes)
		}
		if tr.in.Writes&^wrote != 0 {
			p.idleWrites++
		}
		mattered := uint64(0)
		for reg := range 16 {
			after := out[i*runs+1+reg]
			if after.Signal != 0 || influences(base, after, samples[i*runs], samples[i*runs+1+reg], tr.in, reg) {
				mattered |= 1 << reg
			}
		}
		if extra := mattered &^ tr.in.Reads; extra != 0 {
			t.Errorf("% x %s %s: depends on %#x, claimed %#x", tr.code, m, o, mattered, tr.in.Reads)
		}
		for reg := range 16 {
			if out[i*runs+1+reg].Flags != base.Flags { // proof of a use, though not of none: some flags are undefined
				mattered |= 1 << reg
			}
		}
		if tr.in.Reads&^mattered != 0 {
			p.idleReads++
		}
	}
	t.Logf("%d of %d instructions ran, of %d kinds", ran, len(trials), len(pools))
	if ran < len(trials)/4 || len(pools) < 100 {
		t.Errorf("too few instructions ran")
	}
	var idle []string
	for name, p := range pools {
		if p.trials >= 8 && (p.idleReads == p.trials || p.idleWrites == p.trials) {
			idle = append(idle, fmt.Sprintf("%s (%d trials: %d idle reads, %d idle writes)", name, p.trials, p.idleReads, p.idleWrites))
		}
	}
	slices.Sort(idle)
	for _, s := range idle {
		t.Errorf("claims more than happens: %s", s)
	}
}

// influences reports whether disturbing a register changed anything but the
// register itself where it is left alone, or the part of it that a narrow
// write leaves. The flags are not compared: some are undefined.
func influences(base, after processor.State, from, disturbed processor.Sample, in isa.Inst, reg int) bool {
	if base.Memory != after.Memory {
		return true
	}
	for k := range 16 {
		a, b := base.Regs[k], after.Regs[k]
		if k != reg {
			if a != b {
				return true
			}
			continue
		}
		if in.Writes>>k&1 == 0 {
			continue
		}
		// A partial write keeps the other bytes: compare only bytes that differ from what was there.
		for n := 0; n < 64; n += 8 {
			x, y := byte(a>>n), byte(b>>n)
			if x != y && !(x == byte(from.Regs[k]>>n) && y == byte(disturbed.Regs[k]>>n)) {
				return true
			}
		}
	}
	return false
}
