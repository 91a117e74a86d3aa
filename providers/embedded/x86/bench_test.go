package x86

import (
	"debug/elf"
	"os"
	"testing"

	"rea/providers/embedded/ir"
	"rea/providers/embedded/isa"
)

// benchmarkCode is the text of a program that is on every machine that runs the tests: the test itself.
func benchmarkCode(b *testing.B) []byte {
	path, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	f, err := elf.Open(path)
	if err != nil {
		b.Skip("the test program is not ELF")
	}
	defer f.Close()
	data, err := f.Section(".text").Data()
	if err != nil {
		b.Fatal(err)
	}
	return data
}

// BenchmarkDecode reports the time per instruction of a linear sweep.
func BenchmarkDecode(b *testing.B) {
	code := benchmarkCode(b)
	d := New(64)
	var in isa.Inst
	off := 0
	b.ReportAllocs()
	for b.Loop() {
		if off >= len(code) {
			off = 0
		}
		d.Decode(code[off:], uint64(off), &in)
		off += int(in.Len)
	}
}

// BenchmarkNew is the cost of compiling the tables.
func BenchmarkNew(b *testing.B) {
	tables, err := readTables()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := buildSet(tables, 1); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLift reports the time per instruction to lift a linear sweep.
func BenchmarkLift(b *testing.B) {
	code := benchmarkCode(b)
	d := New(64)
	var out ir.Code
	off := 0
	b.ReportAllocs()
	for b.Loop() {
		if off >= len(code) {
			off = 0
		}
		if len(out.Insts) > 2000 {
			out.Reset()
		}
		off += d.Lift(code[off:], uint64(off), &out)
	}
}
