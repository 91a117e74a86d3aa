package enginetest

import (
	"bytes"
	"slices"
	"testing"
	"unicode/utf16"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/engine"
)

// bytesAt are stored bytes according to the segments of readelf.
func (f *fixture) bytesAt(addr uint64, n int) []byte {
	for _, l := range f.loads {
		if addr >= l.addr && addr-l.addr < l.fileSize {
			at := l.offset + addr - l.addr
			return f.data[at:min(at+uint64(n), l.offset+l.fileSize)]
		}
	}
	return nil
}

func segments(t *testing.T, s *suite) {
	list, _, err := s.eng.Segments(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != len(s.loads) {
		t.Fatalf("%d segments; readelf lists %d", len(list), len(s.loads))
	}
	for i, l := range s.loads {
		g := list[i]
		if uint64(g.Start) != l.addr || uint64(g.End) != l.addr+l.size || uint64(g.FileSize) != l.fileSize || g.FileOffset == nil || uint64(*g.FileOffset) != l.offset {
			t.Errorf("segment %d is %+v; readelf has %+v", i, g, l)
		}
		for _, sec := range g.Sections {
			if sec.Start < g.Start || sec.End > g.End {
				t.Errorf("section %s lies outside of its segment", sec.Name)
			}
		}
	}
}

func readBytes(t *testing.T, s *suite) {
	for _, name := range unambiguous() {
		sym := s.find(t, name)
		got, err := s.eng.Bytes(t.Context(), model.Address(sym.addr), int(sym.size))
		if err != nil || !bytes.Equal(got, s.bytesAt(sym.addr, int(sym.size))) {
			t.Errorf("%s: % x, %v", name, got, err)
		}
	}
	last := s.loads[len(s.loads)-1]
	end := last.addr + last.fileSize
	if got, err := s.eng.Bytes(t.Context(), model.Address(end-2), 100); err != nil || len(got) != 2 {
		t.Errorf("%d bytes before the end of what is stored: %v", len(got), err)
	}
	got, _ := s.eng.Bytes(t.Context(), model.Address(s.find(t, "add").addr), 4)
	for i := range got {
		got[i] = 0xcc // what is returned belongs to the caller
	}
	if again, _ := s.eng.Bytes(t.Context(), model.Address(s.find(t, "add").addr), 4); bytes.Equal(got, again) {
		t.Error("a caller can change the target")
	}
}

func fileOffsets(t *testing.T, s *suite) {
	for _, l := range s.loads {
		at, err := s.eng.Locate(t.Context(), model.Address(l.addr))
		if err != nil || at.FileOffset == nil || uint64(*at.FileOffset) != l.offset || at.Segment == "" {
			t.Errorf("%#x is at %+v, %v; readelf has %#x", l.addr, at, err, l.offset)
		}
		if l.fileSize < l.size {
			at, err := s.eng.Locate(t.Context(), model.Address(l.addr+l.fileSize))
			if err != nil || at.FileOffset != nil || at.Reason == "" {
				t.Errorf("nothing is stored for %#x: %+v, %v", l.addr+l.fileSize, at, err)
			}
		}
	}
	if at, err := s.eng.Locate(t.Context(), 1<<63); fault.CodeOf(err) != fault.AddressNotMappedCode {
		t.Errorf("an address that is not mapped: %+v, %v", at, err)
	}
}

func texts(t *testing.T, s *suite) {
	list := all(t, s.eng.Strings(t.Context(), 1), func(x *model.StringItem) model.Address { return x.Address })
	for _, want := range []struct {
		value    string
		encoding model.StringEncoding
		used     bool
	}{
		{"conformance greeting %d\n", model.StringEncodingAscii, true},
		{"conformance case two", model.StringEncodingAscii, true},
		{"too many conformance arguments", model.StringEncodingAscii, true},
		{"Grüße aus der Konformität", model.StringEncodingUTF8, true},
		{"wide conformance text", model.StringEncodingUTF16LE, true},
	} {
		i := slices.IndexFunc(list, func(x model.StringItem) bool { return x.Value == want.value })
		if i < 0 {
			t.Errorf("%q is not listed", want.value)
			continue
		}
		got := list[i]
		stored := []byte(want.value)
		if want.encoding == model.StringEncodingUTF16LE {
			stored = nil
			for _, u := range utf16.Encode([]rune(want.value)) {
				stored = append(stored, byte(u), byte(u>>8))
			}
		}
		if got.Encoding != want.encoding || got.ByteLength != int64(len(stored)) || got.ValueTruncated || (got.Uses > 0) != want.used {
			t.Errorf("%q is listed as %+v", want.value, got)
		}
		if !bytes.Equal(s.bytesAt(uint64(got.Address), len(stored)), stored) {
			t.Errorf("%q is not at %s", want.value, got.Address)
		}
		refs, err := s.eng.References(t.Context(), got.Address, engine.To)
		if err != nil || want.used && len(refs) == 0 {
			t.Errorf("%q is used %d times, and %d references lead to it: %v", want.value, got.Uses, len(refs), err)
		}
	}
	for _, x := range all(t, s.eng.Strings(t.Context(), 20), func(x *model.StringItem) model.Address { return x.Address }) {
		if x.ByteLength < 20 {
			t.Errorf("shorter than 20 bytes: %+v", x)
		}
	}
}

func names(t *testing.T, s *suite) {
	list := all(t, s.eng.Names(t.Context()), func(n *model.NameItem) model.Address { return n.Address })
	has := func(addr uint64, name string, kind model.NameKind) bool {
		return slices.ContainsFunc(list, func(n model.NameItem) bool {
			return n.Name == name && n.Kind == kind && (addr == 0 || n.Address == model.Address(addr))
		})
	}
	for _, sym := range s.symbols {
		if slices.Contains(own, sym.name) && !has(sym.addr, sym.name, model.NameKindFunction) {
			t.Errorf("%s at %#x is not listed", sym.name, sym.addr)
		}
	}
	if !has(0, "puts", model.NameKindImport) {
		t.Error("the import puts is not listed")
	}
	if !has(0, "handler", model.NameKindObject) {
		t.Error("the object handler is not listed")
	}
	for _, n := range list {
		if n.Kind == model.NameKindAnalyst {
			t.Errorf("an analyst's name: %+v", n)
		}
	}
}

// listing walks over the items of a function, forward and back.
func listing(t *testing.T, s *suite) {
	sym := s.find(t, "loop")
	want := s.inside(sym)
	at := want[0]
	for _, next := range want[1:] {
		item, err := s.eng.Item(t.Context(), at, 1)
		if err != nil || item == nil || item.Address != next || item.Kind != "instruction" {
			t.Fatalf("after %s comes %+v, %v; objdump has %s", at, item, err, next)
		}
		back, err := s.eng.Item(t.Context(), next, -1)
		if err != nil || back == nil || back.Address != at {
			t.Fatalf("before %s comes %+v, %v; objdump has %s", next, back, err, at)
		}
		at = next
	}
	first := model.Address(s.loads[0].addr)
	if item, err := s.eng.Item(t.Context(), first, -1); err != nil || item != nil {
		t.Errorf("before the first address comes %+v, %v", item, err)
	}
	last := s.loads[len(s.loads)-1]
	if item, err := s.eng.Item(t.Context(), model.Address(last.addr+last.size-1), 1); err != nil || item != nil {
		t.Errorf("after the last address comes %+v, %v", item, err)
	}
}
