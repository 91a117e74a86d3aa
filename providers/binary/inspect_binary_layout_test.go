package binary_test

import (
	"debug/elf"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/generated/wire"
	"rea/providers/binary"
	"rea/providers/enginetest"
	"rea/providers/format/native"
	"rea/runtime/session"
)

const source = `#include <stdio.h>
int shared_value = 7;
int exported(int x) { return x + shared_value; }
int main(int argc, char **argv) { printf("%d\n", exported(argc)); return 0; }
`

func build(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed, so there is nothing to look at")
	}
	dir := t.TempDir()
	file, path := filepath.Join(dir, "a.c"), filepath.Join(dir, "a")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-O1", "-g", "-rdynamic", "-o", path, file).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return path
}

// open serves the tool on a file; no engine takes part.
func open(t testing.TB, path string) *enginetest.Harness {
	recognize := func(_ string, data []byte, slice string) (session.Recognition, error) {
		im, err := native.Load(data, native.Options{Slice: slice})
		if err != nil {
			return session.Recognition{}, err
		}
		return session.Recognition{Kind: model.TargetKind(im.Kind), Format: model.TargetFormat(im.Format), Architecture: model.Architecture(im.Arch)}, nil
	}
	return enginetest.Open(t, enginetest.Provider{Fake: enginetest.Sample()}, recognize, path, tool.Families{Binary: binary.New(session.Target)})
}

func layout(t testing.TB, h *enginetest.Harness, input string) (*tool.InspectBinaryLayoutOutput, enginetest.Reply) {
	t.Helper()
	r := h.Call(t, "inspect_binary_layout", input)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	if !json.Valid([]byte(r.Output)) {
		t.Fatalf("not JSON: %s", r.Output)
	}
	return r.Result.Output.(*tool.InspectBinaryLayoutOutput), r
}

// TestLayoutAgreesWithTheStandardLibrary compares with debug/elf.
func TestLayoutAgreesWithTheStandardLibrary(t *testing.T) {
	path := build(t)
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, _ := os.Stat(path)
	out, r := layout(t, open(t, path), `{"symbol_limit":5000,"relocation_limit":5000,"section_limit":5000}`)

	if h := out.Target; h.Size != info.Size() || h.Bits != 64 || h.Endian != "little" || h.FileType != "ET_DYN" || h.Machine != file.Machine.String() ||
		h.Entry == nil || uint64(*h.Entry) != file.Entry || h.Stripped || !slices.Contains(h.Debug, "dwarf") || h.Kind != "executable" {
		t.Errorf("target = %+v", h)
	}
	var loads []*elf.Prog
	for _, p := range file.Progs {
		if p.Type == elf.PT_LOAD {
			loads = append(loads, p)
		}
	}
	if len(loads) != len(out.Segments) {
		t.Fatalf("%d segments, want %d", len(out.Segments), len(loads))
	}
	for i, p := range loads {
		want := model.SegmentRow{
			Name: "LOAD", Start: model.Address(p.Vaddr), Size: int64(p.Memsz), FileOffset: int64(p.Off), FileSize: int64(p.Filesz),
			Readable: p.Flags&elf.PF_R != 0, Writable: p.Flags&elf.PF_W != 0, Executable: p.Flags&elf.PF_X != 0,
		}
		if out.Segments[i] != want {
			t.Errorf("segment %+v, want %+v", out.Segments[i], want)
		}
	}
	checkSections(t, file, out)
	checkSymbols(t, file, out)

	libraries, _ := file.ImportedLibraries()
	if len(libraries) != len(out.Libraries) || libraries[0] != out.Libraries[0].Name {
		t.Errorf("libraries %+v, want %v", out.Libraries, libraries)
	}
	imported, _ := file.ImportedSymbols()
	for _, s := range imported {
		if !slices.ContainsFunc(out.Imports.Items, func(i tool.InspectBinaryLayoutOutputImportsItem) bool {
			return i.Name == s.Name && i.Version != nil && *i.Version == s.Version && i.Library != nil && *i.Library == s.Library && i.Slot != nil
		}) {
			t.Errorf("import %+v is missing in %+v", s, out.Imports.Items)
		}
	}
	if len(r.Limitations) > 0 {
		t.Errorf("limitations of a complete answer: %q", r.Limitations)
	}
}

func checkSections(t *testing.T, file *elf.File, out *tool.InspectBinaryLayoutOutput) {
	want := map[string]*elf.Section{}
	for _, s := range file.Sections[1:] { // the first is no section
		want[s.Name] = s
	}
	if int(out.Sections.Total) != len(want) || len(out.Sections.Items) != len(want) {
		t.Errorf("%d sections, want %d", out.Sections.Total, len(want))
	}
	for _, got := range out.Sections.Items {
		s := want[got.Name]
		if s == nil {
			t.Errorf("section %q is not in the file", got.Name)
			continue
		}
		if uint64(got.Start) != s.Addr || uint64(got.End-got.Start) != s.Size || !strings.EqualFold(got.Type, s.Type.String()) || got.Mapped != (s.Flags&elf.SHF_ALLOC != 0) {
			t.Errorf("section %+v, want %+v", got, s.SectionHeader)
		}
		stored := s.Type != elf.SHT_NOBITS && s.Size > 0
		if (got.Entropy != nil) != stored || (got.FileOffset != nil) != stored || stored && uint64(*got.FileOffset) != s.Offset {
			t.Errorf("section %s: entropy %v, offset %v of %+v", got.Name, got.Entropy, got.FileOffset, s.SectionHeader)
		}
	}
}

func checkSymbols(t *testing.T, file *elf.File, out *tool.InspectBinaryLayoutOutput) {
	symbols, _ := file.Symbols()
	for _, s := range symbols {
		if s.Name == "" {
			continue
		}
		if !slices.ContainsFunc(out.Symbols.Items, func(g tool.InspectBinaryLayoutOutputSymbolsItem) bool {
			return g.Source == "symtab" && g.Name == s.Name && uint64(g.Size) == s.Size && g.Global == (elf.ST_BIND(s.Info) != elf.STB_LOCAL) &&
				g.Defined == (s.Section != elf.SHN_UNDEF) && (!g.Defined || uint64(g.Address) == s.Value)
		}) {
			t.Errorf("symbol %+v is missing", s)
		}
	}
	dynamic, _ := file.DynamicSymbols()
	for _, s := range dynamic {
		exported := s.Section != elf.SHN_UNDEF
		found := slices.ContainsFunc(out.Exports.Items, func(g tool.InspectBinaryLayoutOutputExportsItem) bool {
			return g.Name == s.Name && uint64(g.Address) == s.Value
		})
		if found != exported {
			t.Errorf("dynamic symbol %+v: exported %v, listed %v", s, exported, found)
		}
	}
}

func TestLayoutPages(t *testing.T) {
	h := open(t, build(t))
	all, _ := layout(t, h, `{"symbol_limit":5000,"relocation_limit":5000}`)
	var symbols []tool.InspectBinaryLayoutOutputSymbolsItem
	for input, pages := `{"symbol_limit":7,"symbol_offset":0}`, 0; ; pages++ {
		page, r := layout(t, h, input)
		symbols = append(symbols, page.Symbols.Items...)
		if page.Symbols.NextOffset == nil {
			break
		}
		if !strings.Contains(strings.Join(r.Limitations, "\n"), "symbols: 7 of") {
			t.Fatalf("limitations = %q", r.Limitations)
		}
		if pages > 100 {
			t.Fatal("the pages do not end")
		}
		next, _ := json.Marshal(map[string]int64{"symbol_limit": 7, "symbol_offset": *page.Symbols.NextOffset})
		input = string(next)
	}
	if len(symbols) != len(all.Symbols.Items) || int64(len(symbols)) != all.Symbols.Total {
		t.Errorf("pages have %d symbols, the whole %d", len(symbols), all.Symbols.Total)
	}
	for i := range symbols {
		if symbols[i].Name != all.Symbols.Items[i].Name || symbols[i].Address != all.Symbols.Items[i].Address {
			t.Fatalf("symbol %d is %+v, want %+v", i, symbols[i], all.Symbols.Items[i])
		}
	}
	none, r := layout(t, h, `{"symbol_limit":0,"relocation_limit":0,"import_limit":0,"section_limit":1,"symbol_offset":3}`)
	if len(none.Symbols.Items)+len(none.Relocations.Items)+len(none.Imports.Items)+len(none.Exports.Items) != 0 || len(none.Sections.Items) != 1 {
		t.Errorf("limits of 0: %+v", none)
	}
	if none.Symbols.NextOffset == nil || *none.Symbols.NextOffset != 3 || none.Symbols.Total != all.Symbols.Total || none.Relocations.Total != all.Relocations.Total {
		t.Errorf("symbols = %+v, relocations = %+v", none.Symbols, none.Relocations)
	}
	if len(r.Limitations) != 5 {
		t.Errorf("limitations = %q", r.Limitations)
	}
	if end, _ := layout(t, h, `{"symbol_offset":1000000000,"relocation_offset":1000000000,"relocation_limit":5000}`); len(end.Symbols.Items)+len(end.Relocations.Items) != 0 || end.Symbols.NextOffset != nil {
		t.Errorf("behind the end: %+v", end.Symbols)
	}
}

func TestLayoutNeedsATarget(t *testing.T) {
	h := open(t, build(t))
	if _, err := h.Session.Close(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if r := h.Call(t, "inspect_binary_layout", `{}`); r.Code != "no_target_open" {
		t.Errorf("code = %q (err: %v)", r.Code, r.Err)
	}
}

// TestLayoutOfDamagedFiles: whatever a loader accepts can be shown.
func TestLayoutOfDamagedFiles(t *testing.T) {
	data, err := os.ReadFile(build(t))
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for i := 0; i < 200; i++ {
		bad := slices.Clone(data)
		// Headers, program headers and section headers in turn.
		at := []int{i % 64, 64 + i*7%728, len(bad) - 1 - i*13%2432}[i%3]
		bad[at] ^= byte(1 << (i % 8))
		if i%5 == 0 {
			bad = bad[:len(bad)*(i+1)/200]
		}
		if _, err := native.Load(bad, native.Options{}); err != nil || len(bad) == 0 {
			continue
		}
		path := filepath.Join(t.TempDir(), "bad")
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		out, r := layout(t, open(t, path), `{"symbol_limit":5000,"relocation_limit":5000}`)
		for _, s := range out.Sections.Items {
			if s.FileSize < 0 || s.FileOffset != nil && *s.FileOffset < 0 {
				t.Errorf("section %+v", s)
			}
		}
		// What is written satisfies the contract.
		var again tool.InspectBinaryLayoutOutput
		if err := decode(r.Output, &again); err != nil {
			t.Errorf("change %d: %v", i, err)
		}
		shown++
	}
	if shown < 30 {
		t.Errorf("only %d damaged files could be shown", shown)
	}
}

func BenchmarkLayout(b *testing.B) {
	h := open(b, build(b))
	for b.Loop() {
		layout(b, h, `{}`)
	}
}

func decode(text string, out *tool.InspectBinaryLayoutOutput) error {
	return wire.Decode([]byte(text), wire.RecordDepth, out, (*tool.InspectBinaryLayoutOutput).DecodeJSON)
}
