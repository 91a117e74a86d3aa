package x86

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rea/providers/embedded/ir"
	"rea/providers/embedded/isa"
	"rea/providers/embedded/processor"
)

// promotedBytes makes an EVEX instruction of map 4, or a REX2 one.
func promotedBytes(r *rand.Rand) []byte {
	b := make([]byte, 16)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	if r.IntN(4) == 0 {
		copy(b, []byte{0xd5, byte(r.IntN(256)), byte(r.IntN(256))})
		return b
	}
	b[0], b[1] = 0x62, b[1]&0xf8|4
	if r.IntN(8) == 0 { // moved from VEX
		b[1] = b[1]&0xf8 | byte(1+r.IntN(3))
		b[4] = []byte{0x49, 0x4b, 0x90, 0x91, 0x92, 0x93, 0xe0 | b[4]&15, 0xf0 | b[4]&7}[r.IntN(8)]
	}
	if r.IntN(2) == 0 {
		b[2] |= 0x78
		b[3] |= 8
	}
	b[3] &^= 0xe3
	if r.IntN(4) == 0 {
		b[3] |= byte(r.IntN(4))
	}
	if b[1]&7 != 4 && b[5] < 0xc0 || r.IntN(2) == 0 {
		b[2] |= 4
	}
	return b
}

var encodings = regexp.MustCompile(`^n(\d+):|encoding: \[([0-9a-fx,]+)\]`)

// assemble gives the bytes of lines that an assembler understands, by line.
func assemble(t *testing.T, lines []string) map[int][]byte {
	tool, err := exec.LookPath("llvm-mc-19")
	if err != nil {
		t.Skip("llvm-mc-19 is not installed")
	}
	cmd := exec.CommandContext(t.Context(), tool, "-triple=x86_64", "-show-encoding", "-x86-asm-syntax=intel",
		"-mattr=+egpr,+ndd,+nf,+ccmp,+cf,+zu,+push2pop2,+ppx,+usermsr,+avx512bw,+avx512dq,+amx-tile,+cmpccxadd,+bmi,+bmi2,+adx,+movbe,+raoint,+enqcmd,+movdiri,+movdir64b,+shstk,+invpcid,+crc32,+popcnt,+lzcnt")
	var text bytes.Buffer
	for i, s := range lines {
		fmt.Fprintf(&text, "n%d:\n%s\n", i, s)
	}
	cmd.Stdin = &text
	out, _ := cmd.Output() // it fails for any line that is not understood
	all := map[int][]byte{}
	at := -1
	for s := range strings.Lines(string(out)) {
		for _, m := range encodings.FindAllStringSubmatch(s, -1) {
			if m[1] != "" {
				at, _ = strconv.Atoi(m[1])
				continue
			}
			b, err := hex.DecodeString(strings.ReplaceAll(strings.ReplaceAll(m[2], "0x", ""), ",", ""))
			if err == nil && all[at] == nil {
				all[at] = b
			}
		}
	}
	return all
}

// TestAPX: what the text of an instruction says is what it encodes, since an
// assembler makes an instruction of it that has the same text, and the same
// effects on registers.
func TestAPX(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	d := New(64)
	var lines []string
	var codes [][]byte
	var names []string
	for len(lines) < 12_000 {
		b := promotedBytes(r)
		var in isa.Inst
		d.Decode(b, 0, &in)
		name, operands := d.Text(b, 0, nil)
		if in.Flow != isa.Next || in.Mem.Base == isa.PC || in.HasMem && in.Mem.Base == isa.NoReg || in.Len == 15 || foreign(name, operands) {
			continue
		}
		lines, names = append(lines, name+" "+operands), append(names, name)
		codes = append(codes, b[:in.Len])
	}
	assembled := assemble(t, lines)
	kinds, refused := map[string]bool{}, map[string]int{}
	failures := 0
	for i, line := range lines {
		b := assembled[i]
		if b == nil {
			refused[names[i]]++
			if refused[names[i]] == 1 {
				t.Logf("% x: %q is not understood", codes[i], line)
			}
			continue
		}
		kinds[names[i]] = true
		name, operands := d.Text(b, 0, nil)
		var in, again isa.Inst
		d.Decode(codes[i], 0, &in)
		d.Decode(b, 0, &again)
		same := in.Reads == again.Reads && in.Writes == again.Writes && in.Class == again.Class && in.Dst == again.Dst && in.Size == again.Size
		if got := name + " " + operands; got != line || !same && in.Class != isa.Nop {
			failures++
			if failures < 20 {
				t.Errorf("% x is %q; assembled, % x is %q\n%+v\n%+v", codes[i], line, b, got, in, again)
			}
		}
	}
	n := 0
	for _, k := range refused {
		n += k
	}
	t.Logf("%d instructions, %d mnemonics, %d failures; %d instructions of %d mnemonics not understood", len(lines), len(kinds), failures, n, len(refused))
	if len(kinds) < 150 || n > len(lines)/20 {
		t.Error("too little was compared")
	}
}

// foreign reports instructions whose text assemblers read differently.
func foreign(name, operands string) bool {
	for _, w := range strings.Fields(name) {
		switch w {
		case "rep", "repz", "repnz", "lock", "xacquire", "xrelease", "bnd", "nop", "movabs", "ud0", "ud1", "in", "out", "ins", "outs", "enter", "int", "int1", "into", "leave", "retf", "iret", "xchg":
			return true
		}
	}
	return strings.Contains(name, "movs") || strings.HasPrefix(name, "xsha") || strings.HasPrefix(name, "xcrypt") || strings.HasSuffix(operands, ", 0x1") || strings.HasPrefix(name, "f") || strings.Contains(operands, "st(") || strings.Contains(operands, "mm") ||
		strings.Contains(operands, "bnd") || strings.Contains(operands, "s,") || strings.HasSuffix(operands, "s")
}

// TestAPXLift compares the meaning of an instruction in its new form with that
// of the same instruction in its old one.
func TestAPXLift(t *testing.T) {
	d := New(64)
	r := rand.New(rand.NewPCG(1, 2))
	compared := map[string]bool{}
	for range 40_000 {
		// A plain instruction on the first eight registers, and its EVEX form.
		old := []byte{0x48, 0, 0, byte(r.IntN(64)), byte(r.IntN(64)), 0, 0, 0}
		op, p := byte(r.IntN(256)), byte(r.IntN(256))|0xc0
		if r.IntN(2) == 0 {
			p = p&0x38 | 0x43 // [rbx+disp8]
		}
		wide := r.IntN(3)
		old[0], old[1], old[2] = []byte{0x40, 0x66, 0x48}[wide], op, p
		vvvv, nd, nf := byte(r.IntN(16)), byte(r.IntN(2)), byte(r.IntN(2))
		if nd == 0 {
			vvvv = 0
		}
		form := []byte{0x62, 0xf4, ^vvvv&15<<3 | 4, nd<<4 | nf<<2 | 8, op, p, old[3], old[4], old[5], old[6], old[7]}
		form[2] |= []byte{0, 1, 0x80}[wide]
		var in, promoted isa.Inst
		d.Decode(old, processor.CodeAddress, &in)
		d.Decode(form, processor.CodeAddress, &promoted)
		name, _ := d.Text(old, 0, nil)
		formName, _ := d.Text(form, 0, nil)
		if in.Flow != isa.Next || promoted.Flow != isa.Next || strings.TrimPrefix(formName, "{nf} ") != name || strings.Contains(name, "crc") {
			continue
		}
		compared[fmt.Sprint(formName, nd)] = true
		var a, b ir.Code
		d.Lift(old, processor.CodeAddress, &a)
		d.Lift(form, processor.CodeAddress, &b)
		if err := b.Check(d.Arch()); err != nil {
			t.Fatalf("% x %s: %v\n%s", form, formName, err, b.Text(d.Arch()))
		}
		start := randomState(r)
		before, mem := stateOf(&start)
		was, _ := stateOf(&start)
		x, xm := stateOf(&start)
		errA, errB := ir.Run(&a, before), ir.Run(&b, x)
		if errA != nil || errB != nil || before.Flow == ir.Trap {
			if (errA != nil) != (errB != nil) || before.Flow != x.Flow {
				t.Fatalf("% x %s: %v, %v", form, formName, errA, errB)
			}
			continue
		}
		if nd == 0 && *mem != *xm {
			t.Fatalf("% x %s: memory differs", form, formName)
		}
		for f := regCF; f <= regOF; f++ {
			want := before.Regs[f]
			if nf == 1 {
				want = was.Regs[f]
			}
			if got := x.Regs[f]; (got == nil) != (want == nil) || got != nil && got.Cmp(want) != 0 {
				t.Fatalf("% x %s: flag %d is %v, want %v\n%s", form, formName, f, got, want, b.Text(d.Arch()))
			}
		}
		if nd == 0 {
			for g := range 16 {
				if before.Regs[g].Cmp(x.Regs[g]) != 0 {
					t.Fatalf("% x %s: register %d is %x, want %x", form, formName, g, x.Regs[g], before.Regs[g])
				}
			}
			continue
		}
		// The new destination has what the old one had, and the old keeps its value.
		if *xm != (page{}) && *xm != *mustPage(&start) {
			t.Fatalf("% x %s: memory changed", form, formName)
		}
		bits := map[int]uint16{0: 32, 1: 16, 2: 64}[wide]
		if in.Size == 1 {
			bits = 8
		}
		var want uint64
		switch {
		case in.HasMem && in.Dst == isa.NoReg:
			for k := range int(bits / 8) {
				want |= uint64(mem[in.Mem.Disp+processor.MemoryAddress+64-pageAddress+int64(k)]) << (8 * k)
			}
		case in.Dst != isa.NoReg:
			want = before.Regs[in.Dst].Uint64()
			if bits == 8 && old[0] == 0x66 {
				continue // second byte registers
			}
		default:
			continue
		}
		if bits < 64 {
			want &= 1<<bits - 1
		}
		if got := x.Regs[vvvv]; got == nil || got.Uint64() != want {
			t.Fatalf("% x %s: new destination %d is %x, want %x\n%s%s", form, formName, vvvv, got, want, a.Text(d.Arch()), b.Text(d.Arch()))
		}
	}
	if len(compared) < 40 {
		t.Errorf("only %d forms compared", len(compared))
	}
}

func mustPage(s *processor.State) *page {
	_, p := stateOf(s)
	return p
}

// TestAPXFlow: forms with a meaning of their own.
func TestAPXFlow(t *testing.T) {
	d := New(64)
	var in isa.Inst
	d.Decode([]byte{0xd5, 0, 0xa1, 8, 7, 6, 5, 4, 3, 2, 1}, 0x1000, &in)
	if in.Flow != isa.Jump || in.Target != 0x0102030405060708 || in.Len != 11 {
		t.Errorf("jmpabs: %+v", in)
	}
	d.Decode([]byte{0x62, 0xf4, 0x74, 0x18, 0xff, 0xf3}, 0, &in) // push2 rcx, rbx
	if in.Class != isa.Push || in.Size != 16 || in.Src != 1 || in.Src2 != 3 || in.Reads != 1<<1|1<<3|1<<4 || in.Writes != 1<<4 {
		t.Errorf("push2: %+v", in)
	}
	for _, tt := range []struct {
		code string
		want string
	}{
		{"62f4e40439c3", "ccmpe {dfv=of,sf} rbx, rax"},
		{"62f47f1840c0", "setzuo al"},
		{"62f47d186bcb03", "imulzu cx, bx, 0x3"},
		{"d5580001", "add byte ptr [r17], r16b"},
		{"d50850", "pushp rax"},
		{"62fcf4108fc0", "pop2p r17, r16"},
		{"d570a10102030405060708", "jmpabs 0x807060504030201"},
	} {
		b, _ := hex.DecodeString(tt.code)
		name, operands := d.Text(append(slices.Clone(b), make([]byte, 8)...), 0, nil)
		if got := name + " " + operands; got != tt.want {
			t.Errorf("%s is %q, want %q", tt.code, got, tt.want)
		}
	}
}
