package cab_test

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"rea/providers/format/container"
)

// sample is machine code, text, a long run and noise.
func sample(n int) []byte {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		panic(err)
	}
	var b bytes.Buffer
	noise := rand.New(rand.NewSource(1))
	for i := 0; b.Len() < n; i++ {
		at := (1<<20 + i*90001) % (len(program) - 40000)
		b.Write(program[at : at+40000])
		for j := range 500 {
			fmt.Fprintf(&b, "line %d of %d\n", j, i)
		}
		b.Write(make([]byte, 3000))
		for range 700 {
			b.WriteByte(byte(noise.Int()))
		}
	}
	return b.Bytes()[:n]
}

type compressed struct {
	name, method string
	data, cab    []byte
}

// compress makes cabinets with every type of block, size of history and odd end.
var compress = sync.OnceValue(func() (out []compressed) {
	small, large := sample(150001), sample(900000)
	add := func(name, method string, data []byte, number, bits uint, chunks [][]byte) {
		out = append(out, compressed{name, method, data, cabinet(uint16(number|bits<<8), chunks, frames(len(data)), "file")})
	}
	for bits := uint(15); bits <= 21; bits++ {
		add(fmt.Sprintf("lzx_%d", bits), "lzx", small, 3, bits, lzx(small, bits, bits%2 == 0, []int{1, 2}, []int{50000}))
	}
	for _, tt := range []struct {
		name      string
		translate bool
		kinds     []int
		sizes     []int
	}{
		{"verbatim", false, []int{1}, []int{1 << 23}},
		{"aligned", true, []int{2}, []int{1 << 23}},
		{"uncompressed", false, []int{3}, []int{70000}},
		{"odd", true, []int{3, 1, 3, 2}, []int{4097, 333, 32767, 1, 32769}},
		{"frames", false, []int{1, 3, 2}, []int{frame}},
	} {
		add("lzx_"+tt.name, "lzx", small, 3, 18, lzx(small, 18, tt.translate, tt.kinds, tt.sizes))
	}
	add("lzx_large", "lzx", large, 3, 21, lzx(large, 21, true, []int{2, 1, 3}, []int{200000}))
	for _, bits := range []uint{10, 15, 21} {
		add(fmt.Sprintf("quantum_%d", bits), "quantum", small, 2, bits, quantum(small, bits))
	}
	add("quantum_large", "quantum", large, 2, 20, quantum(large, 20))
	return out
})

func TestCompressed(t *testing.T) {
	for _, c := range compress() {
		entries, _ := readUpTo(t, c.cab, 1<<20)
		if len(entries) != 1 || entries[0].Err != nil || !bytes.Equal(entries[0].Content, c.data) || entries[0].Method != c.method {
			t.Errorf("%s: %d entries, %v", c.name, len(entries), entries[0].Err)
		}
	}
}

// TestOthersAgree: the cabinets that were made here are cabinets to others.
func TestOthersAgree(t *testing.T) {
	for program, args := range map[string][]string{"cabextract": {"-q", "-d", "OUT", "CAB"}, "7zz": {"x", "-bd", "-oOUT", "CAB"}} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
		for _, c := range compress() {
			dir := t.TempDir()
			path := filepath.Join(dir, "x.cab")
			if err := os.WriteFile(path, c.cab, 0o600); err != nil {
				t.Fatal(err)
			}
			args := append([]string(nil), args...)
			for i, a := range args {
				args[i] = strings.NewReplacer("OUT", filepath.Join(dir, "out"), "CAB", path).Replace(a)
			}
			said, err := exec.Command(program, args...).CombinedOutput()
			got, _ := os.ReadFile(filepath.Join(dir, "out", "file"))
			if err != nil || !bytes.Equal(got, c.data) {
				t.Errorf("%s: %s: %v, %d bytes\n%s", program, c.name, err, len(got), said)
			}
		}
	}
}

// TestCompressed_lies: damage is told, and matches stay in what was decoded.
func TestCompressed_lies(t *testing.T) {
	for _, c := range compress() {
		if c.name == "lzx_uncompressed" { // nothing in it can be told from other bytes
			continue
		}
		for _, at := range []int{70, 100, len(c.cab) / 2} {
			bad := bytes.Clone(c.cab)
			for i := range 40 {
				bad[at+i] ^= 0xa5
			}
			entries, _ := readUpTo(t, bad, 1<<20)
			if e := entries[0]; e.Err == nil && bytes.Equal(e.Content, c.data) || e.Err != nil && container.KindOf(e.Err) == "" {
				t.Errorf("%s at %d: %v", c.name, at, e.Err)
			}
		}
	}
	data := []byte("four")
	early := lzx(data, 15, false, []int{1}, []int{1 << 20})
	for _, bits := range []uint{14, 22} {
		entries, _ := read(t, cabinet(uint16(3|bits<<8), early, []int{4}, "file"))
		if container.KindOf(entries[0].Err) != container.Corrupt {
			t.Errorf("a history of 2^%d: %v", bits, entries[0].Err)
		}
	}
}

func BenchmarkCompressed(b *testing.B) {
	for _, c := range compress() {
		if strings.HasSuffix(c.name, "_large") {
			b.Run(c.name, func(b *testing.B) {
				b.SetBytes(int64(len(c.data)))
				for b.Loop() {
					readUpTo(b, c.cab, 1<<20)
				}
			})
		}
	}
}
