package object

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOverlay compares overlapping segments with mapping them byte by byte.
func TestOverlay(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		const size = 64
		data := make([]byte, 256)
		for i := range data {
			data[i] = byte(i)
		}
		im := &Image{}
		im.SetData(data)
		var mapped [size]int // -1 unmapped, -2 zero fill, else the byte
		for i := range mapped {
			mapped[i] = -1
		}
		for range 1 + rng.IntN(6) {
			s := Segment{Addr: uint64(rng.IntN(size)), Size: uint64(rng.IntN(24)), Offset: uint64(rng.IntN(200))}
			s.Size = min(s.Size, size-s.Addr)
			s.FileSize = uint64(rng.IntN(int(s.Size) + 3))
			im.Segments = append(im.Segments, s)
			for i := range s.Size {
				mapped[s.Addr+i] = -2
				if i < s.FileSize {
					mapped[s.Addr+i] = int(data[s.Offset+i])
				}
			}
		}
		im.Normalize()
		for addr, want := range mapped {
			b := im.Bytes(uint64(addr), 1)
			got := -1
			if im.SegmentAt(uint64(addr)) != nil {
				got = -2
			}
			if len(b) == 1 {
				got = int(b[0])
			}
			if got != want {
				t.Fatalf("address %d: %d, want %d; %+v", addr, got, want, im.Segments)
			}
		}
	}
}

func TestSegmentsAtTheEndOfTheAddressSpace(t *testing.T) {
	im := &Image{Segments: []Segment{{Addr: ^uint64(0) - 15, Size: 64, FileSize: 64}, {Addr: 0, Size: ^uint64(0), FileSize: 8}}}
	im.SetData(make([]byte, 64))
	im.Normalize()
	for _, addr := range []uint64{0, 7, 1 << 40, ^uint64(0) - 15, ^uint64(0)} {
		if im.SegmentAt(addr) == nil && addr != ^uint64(0) {
			t.Errorf("%#x is not mapped: %+v", addr, im.Segments)
		}
		im.Bytes(addr, 1<<30)
	}
}

func TestHintsKeepTheOneThatKnowsMost(t *testing.T) {
	im := &Image{Hints: []FunctionHint{
		{Addr: 8, Source: FromEHFrame}, {Addr: 8, Size: 4, Source: FromEHFrame}, {Addr: 4, Source: FromSymbol},
		{Addr: 8, Size: 9, Source: FromDWARF}, {Addr: 8, Size: 4, Name: "f", Source: FromDWARF},
	}}
	im.Normalize()
	want := []FunctionHint{{Addr: 4, Source: FromSymbol}, {Addr: 8, Size: 4, Name: "f", Source: FromDWARF}, {Addr: 8, Size: 4, Source: FromEHFrame}}
	if !slices.Equal(im.Hints, want) {
		t.Errorf("%+v, want %+v", im.Hints, want)
	}
}

// TestOrderDoesNotDependOnInput shuffles the lists.
func TestOrderDoesNotDependOnInput(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var relocs []Relocation
	var symbols []Symbol
	for i := range 200 {
		relocs = append(relocs, Relocation{Addr: uint64(i % 50), Type: string(rune('a' + i%3)), Target: uint64(i)})
		symbols = append(symbols, Symbol{Addr: uint64(i % 40), Name: string(rune('a' + i%5)), Size: uint64(i)})
	}
	var first *Image
	for range 5 {
		im := &Image{Relocations: slices.Clone(relocs), Symbols: slices.Clone(symbols)}
		rng.Shuffle(len(im.Relocations), func(i, j int) { im.Relocations[i], im.Relocations[j] = im.Relocations[j], im.Relocations[i] })
		rng.Shuffle(len(im.Symbols), func(i, j int) { im.Symbols[i], im.Symbols[j] = im.Symbols[j], im.Symbols[i] })
		im.Normalize()
		if first == nil {
			first = im
		}
		if !slices.Equal(first.Relocations, im.Relocations) || !slices.Equal(first.Symbols, im.Symbols) {
			t.Fatal("the order depends on the input")
		}
	}
}

func TestNotesAreBounded(t *testing.T) {
	im := &Image{}
	for i := range 10000 {
		im.Note("note %d", i)
		im.Note("note %d", i)
	}
	if len(im.Notes) != noteLimit+1 {
		t.Errorf("%d notes", len(im.Notes))
	}
}
