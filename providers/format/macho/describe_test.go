package macho

import (
	stdmacho "debug/macho"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func sampleFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*_*")
	if err != nil || len(files) == 0 {
		t.Fatal("no samples", err)
	}
	return files
}

// TestDescribe_agrees_with_the_standard_library compares segments and sections.
func TestDescribe_agrees_with_the_standard_library(t *testing.T) {
	for _, path := range sampleFiles(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Describe(data, "")
		if err != nil {
			t.Fatal(path, err)
		}
		f, err := stdmacho.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		sections := 0
		for _, l := range f.Loads {
			s, ok := l.(*stdmacho.Segment)
			if !ok {
				continue
			}
			i := 0
			for i < len(d.Segments) && d.Segments[i].Name != s.Name {
				i++
			}
			if i == len(d.Segments) {
				t.Fatalf("%s: no segment %q", path, s.Name)
			}
			got := d.Segments[i]
			if got.Addr != s.Addr || got.Size != s.Memsz || got.Offset != s.Offset || got.FileSize != s.Filesz || got.Maximum != s.Maxprot || got.Initial != s.Prot || got.Flags != s.Flag {
				t.Errorf("%s: segment %+v, want %+v", path, got, s.SegmentHeader)
			}
			for _, g := range got.Sections {
				want := f.Sections[sections]
				sections++
				if g.Name != want.Name || g.Segment != want.Seg || g.Addr != want.Addr || g.Size != want.Size || g.Offset != want.Offset || g.Align != want.Align || g.Relocations != want.Nreloc {
					t.Errorf("%s: section %+v, want %+v", path, g, want.SectionHeader)
				}
			}
		}
		if sections != len(f.Sections) || len(d.Commands) != len(f.Loads) || d.CPUType != uint32(f.Cpu) || d.CPUSubtype != f.SubCpu {
			t.Errorf("%s: %d sections of %d, %d commands of %d", path, sections, len(f.Sections), len(d.Commands), len(f.Loads))
		}
	}
}

// TestDescribe_agrees_with_otool compares what only the commands say.
func TestDescribe_agrees_with_otool(t *testing.T) {
	otool, err := exec.LookPath("llvm-otool-14")
	if err != nil {
		t.Skip("llvm-otool is not installed")
	}
	for _, path := range sampleFiles(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Describe(data, "")
		if err != nil {
			t.Fatal(path, err)
		}
		out, err := exec.Command(otool, "-l", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		var names, dylibs []string
		uuid := ""
		for line := range strings.Lines(string(out)) {
			f := strings.Fields(line)
			switch {
			case len(f) == 2 && f[0] == "cmd":
				names = append(names, f[1])
			case len(f) == 2 && f[0] == "uuid":
				uuid = strings.ToLower(strings.ReplaceAll(f[1], "-", ""))
			case len(f) > 3 && f[0] == "name" && len(names) > 0 && strings.HasSuffix(names[len(names)-1], "_DYLIB"):
				dylibs = append(dylibs, f[1])
			case len(f) == 3 && f[0] == "current" && len(dylibs) > 0:
				dylibs[len(dylibs)-1] += " " + f[2]
			case len(f) == 3 && f[0] == "compatibility" && len(dylibs) > 0:
				dylibs[len(dylibs)-1] += " " + f[2]
			}
		}
		for i, c := range d.Commands {
			if i >= len(names) || c.Name != names[i] {
				t.Fatalf("%s: command %d is %s, otool says %v", path, i, c.Name, names)
			}
		}
		if d.UUID != uuid {
			t.Errorf("%s: uuid %s, want %s", path, d.UUID, uuid)
		}
		full := func(v string) string {
			if strings.Count(v, ".") == 1 {
				v += ".0"
			}
			return v
		}
		for i, l := range d.Dylibs {
			if got := l.Path + " " + full(l.Current) + " " + full(l.Compatibility); i >= len(dylibs) || got != dylibs[i] {
				t.Errorf("%s: library %s, otool says %v", path, got, dylibs)
			}
		}
		if len(d.Dylibs) != len(dylibs) {
			t.Errorf("%s: %d libraries, want %v", path, len(d.Dylibs), dylibs)
		}
	}
}

func TestArchitectures_universal(t *testing.T) {
	path := "testdata/universal.o"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := stdmacho.OpenFat(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, universal, notes, err := Architectures(data)
	if err != nil || !universal || len(notes) > 0 || len(list) != len(f.Arches) {
		t.Fatalf("%+v %v %v %v", list, universal, notes, err)
	}
	for i, a := range f.Arches {
		got := list[i]
		if got.CPUType != uint32(a.Cpu) || got.CPUSubtype != a.SubCpu || got.Offset != uint64(a.Offset) || got.Size != uint64(a.Size) || got.Align != a.Align {
			t.Errorf("%+v, want %+v", got, a.FatArchHeader)
		}
	}
}

func FuzzDescribe(f *testing.F) {
	for _, path := range append(sampleFiles(f), "testdata/universal.o") {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:min(len(data), 8192)])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		Architectures(data)
		if d, err := Describe(data, ""); err == nil {
			d.Contents("__TEXT,__info_plist")
		}
	})
}
