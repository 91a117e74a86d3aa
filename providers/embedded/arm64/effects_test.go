package arm64

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"rea/providers/embedded/isa"
	"rea/providers/embedded/processor"
)

// randomWord makes an allocated instruction of the integer, memory or
// floating-point groups that can run as a sample: memory operands are in the
// window X3 or SP points to, and it is unprivileged and falls through.
func randomWord(r *rand.Rand, d *Decoder) (uint32, isa.Inst, string, bool) {
	w := r.Uint32()
	groups := []uint32{8, 9, 4, 6, 12, 14, 5, 13, 5, 13, 7, 15, 2}
	w = w&^(15<<25) | groups[r.IntN(len(groups))]<<25
	group := w >> 25 & 15
	if group == 5 || group == 13 {
		if r.IntN(2) == 0 { // the sparse part
			w = w&0xe01fffff | 0x1ac00000
			if r.IntN(2) == 0 {
				w &^= 0x8000
			}
			if r.IntN(2) == 0 {
				w &^= 0x1f0000
			}
		}
	}
	if group&5 == 4 { // loads and stores
		w = w&^0x3e0 | 3<<5
		if r.IntN(4) == 0 {
			w |= 0x3e0
		}
		if w>>24&1 == 1 && w>>27&7 == 7 {
			w &^= 0x3fc000 // small offsets
		}
	}
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], w)
	var in isa.Inst
	d.Decode(b[:], processor.CodeAddress, &in)
	if in.Flow != isa.Next {
		return 0, in, "", false
	}
	name, operands := d.Text(b[:], 0, nil)
	if group == 2 && strings.Contains(operands, "[") { // the size of what is accessed depends on the vector length
		return 0, in, "", false
	}
	if in.HasMem && in.Class != isa.Address {
		if in.Mem.Base == isa.PC || in.Mem.Base != 3 && in.Mem.Base != isa.SP || in.Mem.Index != isa.NoReg || in.Mem.Disp < -64 || in.Mem.Disp > 64 {
			return 0, in, "", false
		}
	}
	for _, p := range []string{"st64", "ld64", "ldraa", "ldrab", "pac", "aut", "xpac", "irg", "ldg", "stg", "stzg", "st2g", "stz2g", "cpy", "set", "prf", "stxr", "stlxr", "stxp", "stlxp", "ldt", "stt", "addg", "subg", "gmi"} {
		if strings.HasPrefix(name, p) {
			return 0, in, "", false
		}
	}
	kind := name
	if i := strings.IndexAny(operands, "[#"); i >= 0 {
		kind += operands[i : i+1]
	}
	return w, in, kind, true
}

func randomState(r *rand.Rand) processor.State {
	var s processor.State
	for i := range 31 {
		s.Regs[i] = r.Uint64()
		if r.IntN(4) == 0 {
			s.Regs[i] = uint64(r.IntN(256))
		}
	}
	s.Regs[3] = processor.MemoryAddress + 128
	s.Regs[31] = processor.MemoryAddress + 256
	s.Flags = r.Uint64() & 0xf0000000
	for i := range s.Memory {
		s.Memory[i] = byte(r.Uint32())
	}
	for i := range s.Vector {
		for k := range 16 {
			s.Vector[i][k] = byte(r.Uint32())
		}
	}
	return s
}

// TestEffects checks Reads and Writes by execution: a register that is not in
// Writes never changes; one that is not in Reads never influences anything but
// itself; and one that is does so at least once in the trials of its
// instruction.
func TestEffects(t *testing.T) {
	machine := processor.Start(t, "arm64")
	d := New()
	r := rand.New(rand.NewPCG(3, 13))
	type trial struct {
		w    uint32
		in   isa.Inst
		kind string
	}
	var trials []trial
	var samples []processor.Sample
	const runs = 33
	for len(trials) < 1500 {
		w, in, kind, ok := randomWord(r, d)
		if !ok {
			continue
		}
		trials = append(trials, trial{w, in, kind})
		s := processor.Sample{State: randomState(r), Len: 4}
		binary.LittleEndian.PutUint32(s.Code[:], w)
		samples = append(samples, s)
		for reg := range 32 {
			disturbed := s
			switch reg {
			case 3, 31:
				disturbed.Regs[reg] += 16
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
		p := pools[tr.kind]
		if p == nil {
			p = &pool{}
			pools[tr.kind] = p
		}
		p.trials++
		var wrote, mattered uint64
		for k := range runs {
			before, after := samples[i*runs+k], out[i*runs+k]
			for reg := range 32 {
				if after.Signal == 0 && before.Regs[reg] != after.Regs[reg] {
					wrote |= 1 << reg
				}
			}
		}
		for reg := range 32 {
			after := out[i*runs+1+reg]
			if after.Signal != 0 || after.Flags != base.Flags || after.Memory != base.Memory || after.Vector != base.Vector {
				mattered |= 1 << reg
			}
			for k := range 32 {
				if after.Regs[k] != base.Regs[k] && (k != reg || tr.in.Writes>>k&1 == 1) {
					mattered |= 1 << reg
				}
			}
		}
		var b [4]byte
		binary.LittleEndian.PutUint32(b[:], tr.w)
		name, operands := d.Text(b[:], 0, nil)
		if wrote&^tr.in.Writes != 0 {
			t.Errorf("%08x %s %s: writes %#x, claimed %#x", tr.w, name, operands, wrote, tr.in.Writes)
		}
		if mattered&^tr.in.Reads != 0 {
			t.Errorf("%08x %s %s: depends on %#x, claimed %#x", tr.w, name, operands, mattered, tr.in.Reads)
		}
		if tr.in.Writes&^wrote != 0 {
			p.idleWrites++
		}
		if tr.in.Reads&^mattered != 0 {
			p.idleReads++
		}
	}
	t.Logf("%d of %d instructions ran, of %d kinds", ran, len(trials), len(pools))
	if ran < len(trials)/2 || len(pools) < 100 {
		t.Error("too few instructions ran")
	}
	var names []string
	for name, p := range pools {
		if p.trials >= 6 && (p.idleReads == p.trials || p.idleWrites == p.trials) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, n := range names {
		t.Errorf("claims more than happens: %s %+v", n, *pools[n])
	}
}
