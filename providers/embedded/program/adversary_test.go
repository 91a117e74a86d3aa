package program

import (
	"context"
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"rea/providers/format/native"
	"rea/providers/format/object"
)

func loadQuietly(data []byte) *object.Image {
	im, err := native.Load(data, native.Options{})
	if err != nil {
		return nil
	}
	return im
}

// codeImage is an image of one code section at 0x400000 and one data section
// behind it.
func codeImage(code, data []byte) *object.Image {
	const base = 0x400000
	at := (base + uint64(len(code)) + 0xfff) &^ 0xfff
	im := &object.Image{
		Format: object.ELF, Arch: object.X86_64, Bits: 64, Kind: object.Executable, FileType: "ET_EXEC", Entry: base, HasEntry: true,
		Segments: []object.Segment{
			{Name: "LOAD", Addr: base, Size: uint64(len(code)), FileSize: uint64(len(code)), Perm: object.Permissions{Read: true, Execute: true}},
			{Name: "LOAD", Addr: at, Size: uint64(len(data)), Offset: uint64(len(code)), FileSize: uint64(len(data)), Perm: object.Permissions{Read: true}},
		},
		Sections: []object.Section{
			{Name: ".text", Addr: base, Size: uint64(len(code)), FileSize: uint64(len(code)), Mapped: true, Code: true, Perm: object.Permissions{Read: true, Execute: true}},
			{Name: ".rodata", Addr: at, Size: uint64(len(data)), Offset: uint64(len(code)), FileSize: uint64(len(data)), Mapped: true, Perm: object.Permissions{Read: true}},
		},
	}
	im.SetData(append(append([]byte(nil), code...), data...))
	im.Normalize()
	return im
}

func mustAnalyze(t *testing.T, im *object.Image, limit time.Duration) *Program {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	p, err := Analyze(ctx, im, Options{})
	if err != nil {
		t.Fatalf("not done within %v: %v", limit, err)
	}
	checkOrder(t, p)
	return p
}

// checkOrder verifies the order every list promises, and that indices fit.
func checkOrder(t *testing.T, p *Program) {
	t.Helper()
	sorted := slices.IsSortedFunc(p.Functions, func(a, b Function) int { return cmpUint(a.Entry, b.Entry) }) &&
		slices.IsSortedFunc(p.Calls, func(a, b Call) int { return cmpUint(a.From, b.From) }) &&
		slices.IsSortedFunc(p.Refs, compareRefs) &&
		slices.IsSortedFunc(p.Strings, func(a, b String) int { return cmpUint(a.Addr, b.Addr) }) &&
		slices.IsSortedFunc(p.Gaps, func(a, b Gap) int { return cmpUint(a.Start, b.Start) }) &&
		slices.IsSortedFunc(p.Tables, func(a, b Table) int { return cmpUint(a.Jump, b.Jump) })
	if !sorted {
		t.Error("a list is out of order")
	}
	for i := range p.Functions {
		bs := p.FunctionBlocks(i)
		for k := range bs {
			if bs[k].Function != uint32(i) || bs[k].Start >= bs[k].End || bs[k].Last < bs[k].Start || bs[k].Last >= bs[k].End {
				t.Fatalf("block %+v of function %d", bs[k], i)
			}
			for _, e := range p.BlockEdges(&bs[k]) {
				if e.To == 0 {
					t.Fatalf("edge to nowhere from %#x", bs[k].Start)
				}
			}
		}
	}
}

func cmpUint(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func TestHundredThousandBlocks(t *testing.T) {
	var code []byte
	for range 100000 { // test edi, edi; je +0 ; every jump splits a block
		code = append(code, 0x85, 0xff, 0x74, 0x00)
	}
	code = append(code, 0xc3)
	p := mustAnalyze(t, codeImage(code, nil), 30*time.Second)
	if len(p.Blocks) < 100000 {
		t.Errorf("%d blocks", len(p.Blocks))
	}
}

func TestLadderOfBackwardJumps(t *testing.T) {
	var code []byte
	for i := range 20000 { // test edi, edi; jne to the first instruction
		code = append(code, 0x85, 0xff, 0x0f, 0x85, 0, 0, 0, 0)
		binary.LittleEndian.PutUint32(code[len(code)-4:], uint32(-8*(i+1)))
	}
	code = append(code, 0xc3)
	if p := mustAnalyze(t, codeImage(code, nil), 30*time.Second); len(p.Functions) != 1 {
		t.Errorf("%d functions", len(p.Functions))
	}
}

func TestOverlappingInstructions(t *testing.T) {
	// jmp into the immediate of a mov, whose bytes are instructions themselves
	code := []byte{0x74, 0x01, 0xb8, 0x90, 0x90, 0x90, 0xc3, 0xc3}
	p := mustAnalyze(t, codeImage(code, nil), 5*time.Second)
	found := false
	for _, u := range p.Unresolved {
		found = found || u.Kind == OverlappingCode
	}
	if !found {
		t.Errorf("overlap is not reported: %+v", p.Unresolved)
	}
}

func TestGiantTable(t *testing.T) {
	// cmp edi, 0x7fffffff; ja ret; jmp [rdi*8+table]; ret
	code := []byte{0x81, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x77, 0x07, 0xff, 0x24, 0xfd, 0, 0, 0, 0, 0xc3}
	data := make([]byte, 1<<20)
	binary.LittleEndian.PutUint32(code[11:], 0x401000)
	for i := 0; i < len(data); i += 8 {
		binary.LittleEndian.PutUint64(data[i:], 0x40000f)
	}
	p := mustAnalyze(t, codeImage(code, data), 10*time.Second)
	for _, table := range p.Tables {
		if len(table.Targets) > maxTable {
			t.Errorf("a table of %d entries", len(table.Targets))
		}
	}
}

func TestCallChain(t *testing.T) {
	var code []byte
	for range 50000 { // each function calls the next one
		code = append(code, 0xe8, 0x03, 0, 0, 0, 0xc3, 0x90, 0x90)
	}
	code = append(code, 0xc3)
	p := mustAnalyze(t, codeImage(code, nil), 60*time.Second)
	if len(p.Functions) < 50000 {
		t.Errorf("%d functions", len(p.Functions))
	}
}

func TestChainThatNeverReturns(t *testing.T) {
	var code []byte
	for range 20000 { // each function calls the next one, the last one halts
		code = append(code, 0xe8, 0x03, 0, 0, 0, 0xc3, 0x90, 0x90)
	}
	code = append(code, 0xf4)
	p := mustAnalyze(t, codeImage(code, nil), 60*time.Second)
	if len(p.Functions) < 20000 || !p.Functions[0].NoReturn {
		t.Errorf("%d functions, the first %+v", len(p.Functions), p.Functions[0])
	}
}

func TestRandomCode(t *testing.T) {
	code := make([]byte, 1<<18)
	x := uint32(12345)
	for i := range code {
		x = x*1664525 + 1013904223
		code[i] = byte(x >> 24)
	}
	mustAnalyze(t, codeImage(code, nil), 60*time.Second)
	arm := codeImage(code, nil)
	arm.Arch = object.ARM64
	mustAnalyze(t, arm, 60*time.Second)
}

func TestEmptyImages(t *testing.T) {
	p := mustAnalyze(t, codeImage(nil, []byte("hello, world\x00")), 5*time.Second)
	if len(p.Functions) != 0 || len(p.Notes) == 0 {
		t.Errorf("functions %v, notes %q", p.Functions, p.Notes)
	}
	if len(p.Strings) != 1 || p.Text(p.Strings[0]) != "hello, world" {
		t.Errorf("strings %+v", p.Strings)
	}
}

// dense fills size bytes with copies of a unit whose 32-bit displacement at
// offset at leads anywhere in the code.
func dense(size int, unit []byte, at int) []byte {
	code := make([]byte, 0, size)
	x := uint32(1)
	for len(code)+len(unit) <= size {
		i := len(code)
		code = append(code, unit...)
		x = x*1664525 + 1013904223
		binary.LittleEndian.PutUint32(code[i+at:], uint32(int(x>>8)%size-i))
	}
	return code
}

func TestDenseFlow(t *testing.T) {
	for name, code := range map[string][]byte{
		"calls":       dense(1<<18, []byte{0xe8, 0, 0, 0, 0}, 1),
		"branches":    dense(1<<18, []byte{0x0f, 0x84, 0, 0, 0, 0}, 2),
		"jumps":       dense(1<<18, []byte{0x74, 0x05, 0xe9, 0, 0, 0, 0}, 3),
		"returns":     dense(1<<18, []byte{0x90, 0x90, 0x90, 0x90, 0xc3}, 0),
		"table jumps": dense(1<<18, []byte{0x83, 0xff, 0x05, 0x77, 0x07, 0xff, 0x24, 0xfd, 0, 0, 0, 0, 0x90, 0x90}, 8),
	} {
		t.Run(name, func(t *testing.T) { mustAnalyze(t, codeImage(code, nil), 60*time.Second) })
	}
}

// TestRowOfUnusedFunctions has many small functions behind one another that
// nothing leads to: all are found, and in few rounds.
func TestRowOfUnusedFunctions(t *testing.T) {
	const functions = 5000
	code := []byte{0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}
	for range functions { // push rbp; mov rbp, rsp; xor eax, eax; pop rbp; ret
		code = append(code, 0x55, 0x48, 0x89, 0xe5, 0x31, 0xc0, 0x5d, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90)
	}
	p := mustAnalyze(t, codeImage(code, nil), time.Minute)
	if len(p.Functions) != functions+1 {
		t.Errorf("%d functions", len(p.Functions))
	}
}
