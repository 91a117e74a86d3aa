package program

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rea/providers/format/native"
	"rea/providers/format/object"
)

// BenchmarkGoTool analyses the go command itself, a program of some 15 MB.
func BenchmarkGoTool(b *testing.B) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skipf("needs go: %v", err)
	}
	data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "bin", "go"))
	if err != nil {
		b.Skipf("needs the go command: %v", err)
	}
	im, err := native.Load(data, native.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, workers := range []int{1, 2} {
		b.Run(map[int]string{1: "one", 2: "two"}[workers], func(b *testing.B) {
			for b.Loop() {
				p, err := Analyze(context.Background(), im, Options{Workers: workers})
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(p.CodeBytes))
			}
		})
	}
}

// BenchmarkSize shows how time grows with code: the same functions over and
// over, from 64 KB to 4 MB. MB/s must stay about the same.
func BenchmarkSize(b *testing.B) {
	for _, kb := range []int{64, 256, 1024, 4096} {
		b.Run(map[int]string{64: "64K", 256: "256K", 1024: "1M", 4096: "4M"}[kb], func(b *testing.B) {
			im := repeated(kb << 10)
			for b.Loop() {
				p, err := Analyze(context.Background(), im, Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(p.CodeBytes))
			}
		})
	}
}

// repeated is code of size bytes: functions with a branch, a loop and a call
// of the next one.
func repeated(size int) *object.Image {
	unit := []byte{
		0x55, 0x48, 0x89, 0xe5, 0x85, 0xff, 0x74, 0x09, // push rbp; mov rbp, rsp; test edi, edi; je
		0xff, 0xcf, 0x75, 0xfc, 0xe8, 0x0f, 0, 0, 0, // dec edi; jne; call next
		0x5d, 0xc3, // pop rbp; ret
		0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, // up to 32
	}
	var code []byte
	for len(code)+2*len(unit) < size {
		code = append(code, unit...)
	}
	return codeImage(append(code, 0xc3), nil)
}
