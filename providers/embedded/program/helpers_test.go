package program

import (
	"context"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rea/providers/format/native"
	"rea/providers/format/object"
)

// built is a program made for a test, with the truth of its unstripped form.
type built struct {
	im    *object.Image
	data  []byte
	truth map[uint64]string // function starts, from its symbol table
	cold  map[uint64]bool   // split parts
	sizes map[uint64]uint64
	path  string // the unstripped file
}

// build compiles sources from testdata, strips the result and loads it.
func build(t testing.TB, cc string, sources []string, flags ...string) *built {
	t.Helper()
	if _, err := exec.LookPath(cc); err != nil {
		t.Skipf("needs %s: %v", cc, err)
	}
	dir := t.TempDir()
	full := filepath.Join(dir, "full")
	args := append([]string{"-o", full}, flags...)
	for _, s := range sources {
		args = append(args, filepath.Join("testdata", s))
	}
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Skipf("%s does not build the test program: %v\n%s", cc, err, out)
	}
	strip := "strip"
	if strings.HasPrefix(cc, "aarch64") {
		strip = "aarch64-linux-gnu-strip"
	}
	stripped := filepath.Join(dir, "stripped")
	if out, err := exec.Command(strip, "-s", "-o", stripped, full).CombinedOutput(); err != nil {
		t.Skipf("%s: %v\n%s", strip, err, out)
	}
	return loadBuilt(t, full, stripped)
}

func loadBuilt(t testing.TB, full, stripped string) *built {
	t.Helper()
	data, err := os.ReadFile(stripped)
	if err != nil {
		t.Fatal(err)
	}
	im, err := native.Load(data, native.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := &built{im: im, data: data, truth: map[uint64]string{}, cold: map[uint64]bool{}, sizes: map[uint64]uint64{}, path: full}
	f, err := elf.Open(full)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range syms {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Section == elf.SHN_UNDEF || int(s.Section) >= len(f.Sections) {
			continue
		}
		if name := f.Sections[s.Section].Name; name == ".init" || name == ".fini" || strings.HasPrefix(name, ".plt") {
			continue
		}
		if strings.Contains(s.Name, ".cold") {
			b.cold[s.Value] = true
			continue
		}
		b.truth[s.Value] = s.Name
		b.sizes[s.Value] = max(b.sizes[s.Value], s.Size)
	}
	return b
}

// addr returns the address of a function of the truth.
func (b *built) addr(t testing.TB, name string) uint64 {
	t.Helper()
	for a, n := range b.truth {
		if n == name {
			return a
		}
	}
	t.Fatalf("the test program has no %s", name)
	return 0
}

func (b *built) analyze(t testing.TB, workers int) *Program {
	t.Helper()
	p, err := Analyze(context.Background(), b.im, Options{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// score compares function starts with the truth. Linker stubs and what lies in
// .init and .fini are left out on both sides.
func (b *built) score(t testing.TB, p *Program) (missing, wrong []uint64) {
	t.Helper()
	found := map[uint64]bool{}
	for i := range p.Functions {
		f := &p.Functions[i]
		if f.Kind == KindImportStub || f.Kind == KindPart {
			continue
		}
		if s := sectionIndex(b.im, f.Entry); s >= 0 {
			if n := b.im.Sections[s].Name; n == ".init" || n == ".fini" || strings.HasPrefix(n, ".plt") {
				continue
			}
		}
		found[f.Entry] = true
		if b.truth[f.Entry] == "" {
			wrong = append(wrong, f.Entry)
		}
	}
	for a := range b.truth {
		if !found[a] {
			missing = append(missing, a)
		}
	}
	slices.Sort(missing)
	return missing, wrong
}

// analyzeFile analyses the file at path.
func analyzeFile(t testing.TB, path string) *Program {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	im, err := native.Load(data, native.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Analyze(context.Background(), im, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
