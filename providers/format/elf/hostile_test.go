package elf

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"rea/providers/format/object"
)

// samples are the small committed binaries.
func samples(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.[eo]*")
	if err != nil || len(paths) < 8 {
		t.Fatalf("%d sample binaries: %v", len(paths), err)
	}
	out := map[string][]byte{}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(p)] = b
	}
	return out
}

// invariant checks what an Image promises whatever the input was.
func invariant(im *object.Image, data []byte) error {
	for i := 1; i < len(im.Segments); i++ {
		a, b := im.Segments[i-1], im.Segments[i]
		if b.Addr < a.Addr || b.Addr-a.Addr < a.Size {
			return fmt.Errorf("segments overlap: %+v, %+v", a, b)
		}
	}
	for _, s := range im.Segments {
		if s.Size == 0 || s.FileSize > s.Size || s.FileSize > 0 && (s.Offset > uint64(len(data)) || s.FileSize > uint64(len(data))-s.Offset) {
			return fmt.Errorf("segment %+v of a file of %d bytes", s, len(data))
		}
	}
	if !slices.IsSortedFunc(im.Hints, func(a, b object.FunctionHint) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Source, b.Source))
	}) {
		return errors.New("hints are not sorted")
	}
	for _, h := range im.Hints {
		if !im.Executable(h.Addr) {
			return fmt.Errorf("hint %+v is no code", h)
		}
	}
	for _, p := range im.LandingPads {
		if !im.Executable(p) {
			return fmt.Errorf("landing pad %#x is no code", p)
		}
	}
	if !slices.IsSortedFunc(im.Relocations, func(a, b object.Relocation) int { return cmp.Compare(a.Addr, b.Addr) }) {
		return errors.New("relocations are not sorted")
	}
	if n := len(im.Symbols) + len(im.Relocations) + len(im.Hints) + len(im.Sections) + len(im.Parts); n > len(data)+64 {
		return fmt.Errorf("%d items from %d bytes", n, len(data))
	}
	if len(im.Notes) > 300 {
		return fmt.Errorf("%d notes", len(im.Notes))
	}
	return nil
}

// try loads and checks, and fails when that takes unreasonably long.
func try(t testing.TB, what string, data []byte) *object.Image {
	t.Helper()
	start := time.Now()
	im, err := Load(data)
	if d := time.Since(start); d > 20*time.Second {
		t.Fatalf("%s: loading %d bytes took %v", what, len(data), d)
	}
	if err != nil {
		var format *object.FormatError
		if !errors.As(err, &format) || format.Format != object.ELF || format.What == "" {
			t.Fatalf("%s: error %v", what, err)
		}
		return nil
	}
	if err := invariant(im, data); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return im
}

func TestTruncatedAtEveryByte(t *testing.T) {
	for name, data := range samples(t) {
		whole := try(t, name, data)
		if whole == nil || len(whole.Hints) == 0 {
			t.Fatalf("%s does not load whole", name)
		}
		for n := range data {
			im := try(t, fmt.Sprintf("%s cut to %d", name, n), data[:n:n])
			if n < headerSize32 && im != nil {
				t.Fatalf("%s cut to %d bytes loads", name, n)
			}
			if im != nil && whole.Kind != object.Relocatable && n > 600 && n < len(data)/2 && len(im.Notes) == 0 {
				t.Errorf("%s cut to %d of %d bytes loads without a note", name, n, len(data))
			}
		}
	}
}

func TestEveryByteChanged(t *testing.T) {
	for name, data := range samples(t) {
		b := slices.Clone(data)
		for i := range b {
			for _, v := range []byte{0xff, data[i] ^ 0x80} {
				b[i] = v
				try(t, fmt.Sprintf("%s[%#x] = %#x", name, i, v), b)
			}
			b[i] = data[i]
		}
	}
}

func TestRandomWordsChanged(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := []uint64{0, 1, 1 << 31, 1 << 32, 1<<63 - 1, 1 << 63, 1<<64 - 1, 0x1000, 0xffffffff}
	names := make([]string, 0, 16)
	all := samples(t)
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for round := range 6000 {
		name := names[round%len(names)]
		b := slices.Clone(all[name])
		for range 1 + rng.IntN(6) {
			at := rng.IntN(len(b)-8) &^ 3
			if rng.IntN(2) == 0 {
				at = rng.IntN(min(len(b)-8, 400)) &^ 3 // headers
			}
			v := words[rng.IntN(len(words))]
			if rng.IntN(3) == 0 {
				v = uint64(rng.IntN(len(b)))
			}
			if rng.IntN(2) == 0 {
				binary.LittleEndian.PutUint32(b[at:], uint32(v))
			} else {
				binary.LittleEndian.PutUint64(b[at:], v)
			}
		}
		try(t, fmt.Sprintf("%s, round %d", name, round), b)
	}
}

func TestLyingIdentification(t *testing.T) {
	for _, name := range []string{"shared_x86_64.elf", "shared_i386.elf", "shared_mips_be.elf"} {
		data := samples(t)[name]
		want := try(t, name, data)
		for _, change := range []struct {
			at int
			v  byte
		}{{4, 3 - data[4]}, {5, 3 - data[5]}, {4, 0}, {5, 0}, {5, 9}, {6, 7}} {
			b := slices.Clone(data)
			b[change.at] = change.v
			im := try(t, name, b)
			if im == nil || im.Arch != want.Arch || im.Bits != want.Bits || len(im.Symbols) != len(want.Symbols) {
				t.Errorf("%s with e_ident[%d] = %d: %+v", name, change.at, change.v, im)
			} else if change.at != 6 && len(im.Notes) == 0 {
				t.Errorf("%s with e_ident[%d] = %d: no note", name, change.at, change.v)
			}
		}
	}
}

// TestLargeLies builds files whose tables claim far more than they hold, or
// refer to one place many times.
func TestLargeLies(t *testing.T) {
	base := samples(t)["shared_x86_64.elf"]
	t.Run("overlapping_names", func(t *testing.T) {
		// A large string table without an end, used by many symbols.
		b := symbolFile(200000, 1<<22)
		try(t, "names", b)
	})
	t.Run("many_overlapping_segments", func(t *testing.T) {
		const n = 60000
		b := make([]byte, 64+56*n)
		copy(b, base[:64])
		le := binary.LittleEndian
		le.PutUint64(b[32:], 64)
		le.PutUint64(b[40:], 0)
		le.PutUint16(b[56:], n)
		le.PutUint16(b[60:], 0)
		for i := range n {
			p := b[64+56*i:]
			le.PutUint32(p, ptLoad)
			le.PutUint32(p[4:], pfR|pfX)
			le.PutUint64(p[16:], uint64(i*16))
			le.PutUint64(p[32:], uint64(len(b)))
			le.PutUint64(p[40:], 1<<40)
		}
		try(t, "segments", b)
	})
	t.Run("huge_counts", func(t *testing.T) {
		b := slices.Clone(base)
		le := binary.LittleEndian
		le.PutUint16(b[60:], 0) // e_shnum: the count is in the first section
		off := le.Uint64(b[40:])
		le.PutUint64(b[off+32:], 1<<60)
		im := try(t, "counts", b)
		if len(im.Notes) == 0 {
			t.Error("no note about 2^60 section headers")
		}
	})
}

// symbolFile is an executable with n symbols that all name the start of a
// string table of size bytes without a NUL.
func symbolFile(n, size int) []byte {
	le := binary.LittleEndian
	symAt := 64 + 3*64
	strAt := symAt + 24*n
	b := make([]byte, strAt+size)
	copy(b, "\x7fELF\x02\x01\x01")
	le.PutUint16(b[16:], etExec)
	le.PutUint16(b[18:], emX86_64)
	le.PutUint64(b[40:], 64)
	le.PutUint16(b[52:], 64)
	le.PutUint16(b[54:], 56)
	le.PutUint16(b[58:], 64)
	le.PutUint16(b[60:], 3)
	section := func(i int, typ uint32, off, size uint64, link uint32) {
		s := b[64+64*i:]
		le.PutUint32(s[4:], typ)
		le.PutUint64(s[24:], off)
		le.PutUint64(s[32:], size)
		le.PutUint32(s[40:], link)
	}
	section(1, shtSymtab, uint64(symAt), uint64(24*n), 2)
	section(2, shtStrtab, uint64(strAt), uint64(size), 0)
	for i := range n {
		s := b[symAt+24*i:]
		le.PutUint32(s, uint32(1+i%7))
		s[4] = stbGlobal<<4 | sttFunc
		le.PutUint16(s[6:], 1)
		le.PutUint64(s[8:], uint64(i))
	}
	for i := strAt; i < len(b)-1; i++ {
		b[i] = 'x'
	}
	return b
}

func FuzzLoad(f *testing.F) {
	for _, data := range samples(f) {
		f.Add(data)
	}
	f.Add([]byte("\x7fELF"))
	f.Add(symbolFile(3, 10))
	f.Fuzz(func(t *testing.T, data []byte) {
		if im := try(t, "fuzz", data); im != nil {
			for _, s := range im.Segments {
				im.Bytes(s.Addr+s.Size/2, 64)
			}
			for i := range im.Sections {
				im.SectionBytes(&im.Sections[i])
			}
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	for _, path := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/local/go/bin/go"} {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		b.Run(filepath.Base(path), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := Load(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
