package conform

import (
	"bytes"
	"slices"
	"unicode/utf16"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/engine"
)

// bytesAt are stored bytes according to the segments of readelf.
func (f *Fixture) bytesAt(addr uint64, n int) []byte {
	for _, l := range f.Loads {
		if addr >= l.Addr && addr-l.Addr < l.FileSize {
			at := l.Offset + addr - l.Addr
			return f.Data[at:min(at+uint64(n), l.Offset+l.FileSize)]
		}
	}
	return nil
}

func segments(t T, s *suite) {
	list, _, err := s.eng.Segments(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != len(s.Loads) {
		t.Fatalf("%d segments; readelf lists %d", len(list), len(s.Loads))
	}
	for i, l := range s.Loads {
		g := list[i]
		if uint64(g.Start) != l.Addr || uint64(g.End) != l.Addr+l.Size || uint64(g.FileSize) != l.FileSize || g.FileOffset == nil || uint64(*g.FileOffset) != l.Offset {
			t.Errorf("segment %d is %+v; readelf has %+v", i, g, l)
		}
		for _, sec := range g.Sections {
			if sec.Start < g.Start || sec.End > g.End {
				t.Errorf("section %s lies outside of its segment", sec.Name)
			}
		}
	}
}

func readBytes(t T, s *suite) {
	for _, name := range Unambiguous() {
		sym := s.Find(t, name)
		got, err := s.eng.Bytes(t.Context(), model.Address(sym.Addr), int(sym.Size))
		if err != nil || !bytes.Equal(got, s.bytesAt(sym.Addr, int(sym.Size))) {
			t.Errorf("%s: % x, %v", name, got, err)
		}
	}
	last := s.Loads[len(s.Loads)-1]
	end := last.Addr + last.FileSize
	if got, err := s.eng.Bytes(t.Context(), model.Address(end-2), 100); err != nil || len(got) != 2 {
		t.Errorf("%d bytes before the end of what is stored: %v", len(got), err)
	}
	got, _ := s.eng.Bytes(t.Context(), model.Address(s.Find(t, "add").Addr), 4)
	for i := range got {
		got[i] = 0xcc // what is returned belongs to the caller
	}
	if again, _ := s.eng.Bytes(t.Context(), model.Address(s.Find(t, "add").Addr), 4); bytes.Equal(got, again) {
		t.Error("a caller can change the target")
	}
}

func fileOffsets(t T, s *suite) {
	for _, l := range s.Loads {
		at, err := s.eng.Locate(t.Context(), model.Address(l.Addr))
		if err != nil || at.FileOffset == nil || uint64(*at.FileOffset) != l.Offset || at.Segment == "" {
			t.Errorf("%#x is at %s; readelf has %#x", l.Addr, said(at, err), l.Offset)
		}
		if l.FileSize < l.Size {
			at, err := s.eng.Locate(t.Context(), model.Address(l.Addr+l.FileSize))
			if err != nil || at.FileOffset != nil || at.Reason == "" {
				t.Errorf("nothing is stored for %#x: %s", l.Addr+l.FileSize, said(at, err))
			}
		}
	}
	if at, err := s.eng.Locate(t.Context(), 1<<63); fault.CodeOf(err) != fault.AddressNotMappedCode {
		t.Errorf("an address that is not mapped: %s", said(at, err))
	}
}

func texts(t T, s *suite) {
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

func names(t T, s *suite) {
	list := all(t, s.eng.Names(t.Context()), func(n *model.NameItem) model.Address { return n.Address })
	has := func(addr uint64, name string, kind model.NameKind) bool {
		return slices.ContainsFunc(list, func(n model.NameItem) bool {
			return n.Name == name && n.Kind == kind && (addr == 0 || n.Address == model.Address(addr))
		})
	}
	for _, sym := range s.Symbols {
		if slices.Contains(own, sym.Name) && !has(sym.Addr, sym.Name, model.NameKindFunction) {
			t.Errorf("%s at %#x is not listed", sym.Name, sym.Addr)
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
func listing(t T, s *suite) {
	sym := s.Find(t, "loop")
	want := s.Inside(sym)
	at := want[0]
	for _, next := range want[1:] {
		item, err := s.eng.Item(t.Context(), at, 1)
		if err != nil || item == nil || item.Address != next || item.Kind != "instruction" {
			t.Fatalf("after %s comes %s; objdump has %s", at, said(item, err), next)
		}
		back, err := s.eng.Item(t.Context(), next, -1)
		if err != nil || back == nil || back.Address != at {
			t.Fatalf("before %s comes %s; objdump has %s", next, said(back, err), at)
		}
		at = next
	}
	first := model.Address(s.Loads[0].Addr)
	if item, err := s.eng.Item(t.Context(), first, -1); err != nil || item != nil {
		t.Errorf("before the first address comes %s", said(item, err))
	}
	last := s.Loads[len(s.Loads)-1]
	if item, err := s.eng.Item(t.Context(), model.Address(last.Addr+last.Size-1), 1); err != nil || item != nil {
		t.Errorf("after the last address comes %s", said(item, err))
	}
}
