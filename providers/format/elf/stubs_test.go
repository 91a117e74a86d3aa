package elf

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rea/providers/format/object"
)

// pltProgram calls through the PLT, takes addresses through the GOT (which
// makes .plt.got entries) and has a pointer to an import in data.
const pltProgram = `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int (*table[])(const char *) = { puts, puts };
void *volatile sink;
int main(int argc, char **argv) {
	sink = (void *)&free;
	char *p = malloc(argc + 10);
	strcpy(p, argv[0]);
	table[argc & 1](p);
	free(p);
	printf("%d %s\n", argc, p);
	return atoi(argv[0]);
}
`

// standalone is the same without a C library.
const standalone = `
extern int puts(const char *);
extern void free(void *);
extern void *malloc(unsigned long);
void *volatile sink;
int exported(int n) { return n + 1; }
int _start_here(int argc) {
	sink = (void *)&free;
	char *p = malloc(argc + 10);
	puts(p);
	free(p);
	return exported(argc);
}
`

var moldStubs = []string{"__cxa_finalize", "free", "malloc", "printf", "strcpy", "strtol"}

// builds are compiler and linker options that give different stubs.
var builds = []struct {
	name, compiler string
	source         string
	args           []string
	want           []string // where the disassembler does not know the linker's stubs
}{
	{"gcc_lazy", "gcc", pltProgram, []string{"-O2", "-Wl,-z,lazy"}, nil},
	{"gcc_now", "gcc", pltProgram, []string{"-O2", "-Wl,-z,now"}, nil},
	{"gcc_no_pie", "gcc", pltProgram, []string{"-O2", "-no-pie"}, nil},
	{"gcc_ibt", "gcc", pltProgram, []string{"-O2", "-fcf-protection", "-Wl,-z,ibtplt", "-Wl,-z,lazy"}, nil},
	{"gcc_ibt_now", "gcc", pltProgram, []string{"-O2", "-fcf-protection", "-Wl,-z,ibtplt,-z,now"}, nil},
	{"gcc_bndplt", "gcc", pltProgram, []string{"-O2", "-Wl,-z,bndplt", "-Wl,-z,lazy"}, nil},
	{"gcc_no_plt", "gcc", pltProgram, []string{"-O2", "-fno-plt"}, nil},
	{"gcc_gold", "gcc", pltProgram, []string{"-O2", "-fuse-ld=gold"}, nil},
	{"clang_lld", "clang", pltProgram, []string{"-O2", "-fuse-ld=lld"}, nil},
	{"clang_lld_lazy", "clang", pltProgram, []string{"-O2", "-fuse-ld=lld", "-Wl,-z,lazy"}, nil},
	{"clang_lld_ibt", "clang", pltProgram, []string{"-O2", "-fuse-ld=lld", "-fcf-protection", "-Wl,-z,force-ibt"}, nil},
	{"gcc_mold", "gcc", pltProgram, []string{"-O2", "-fuse-ld=mold"}, moldStubs},
	{"gcc_mold_lazy", "gcc", pltProgram, []string{"-O2", "-fuse-ld=mold", "-Wl,-z,lazy"}, moldStubs},
	{"gcc_32_pic", "gcc", standalone, []string{"-m32", "-O2", "-fPIC", "-shared", "-nostdlib", "-Wl,-z,lazy"}, nil},
	{"gcc_32_no_pic", "gcc", standalone, []string{"-m32", "-O2", "-fno-pic", "-no-pie", "-nostdlib", "-Wl,-e,_start_here", "-Wl,--unresolved-symbols=ignore-all", "-Wl,-z,lazy", "-Wl,--dynamic-linker=/lib/ld-linux.so.2"}, nil},
	{"gcc_32_ibt", "gcc", standalone, []string{"-m32", "-O2", "-fPIC", "-shared", "-nostdlib", "-fcf-protection", "-Wl,-z,ibtplt", "-Wl,-z,lazy"}, nil},
	{"clang_32_lld", "clang", standalone, []string{"-m32", "-O2", "-fPIC", "-shared", "-nostdlib", "-fuse-ld=lld"}, nil},
	{"aarch64_gcc", "aarch64-linux-gnu-gcc", pltProgram, []string{"-O2", "-Wl,-z,lazy"}, nil},
	{"aarch64_bti_pac", "aarch64-linux-gnu-gcc", pltProgram, []string{"-O2", "-mbranch-protection=standard", "-Wl,-z,force-bti", "-Wl,-z,pac-plt", "-Wl,-z,lazy"}, nil},
	{"aarch64_lld", "clang", standalone, []string{"--target=aarch64-linux-gnu", "-O2", "-fPIC", "-shared", "-nostdlib", "-fuse-ld=lld"}, nil},
	{"aarch64_lld_bti", "clang", standalone, []string{"--target=aarch64-linux-gnu", "-O2", "-fPIC", "-shared", "-nostdlib", "-fuse-ld=lld", "-mbranch-protection=standard", "-Wl,-z,force-bti", "-Wl,-z,pac-plt"}, nil},
	{"arm_lld", "clang", standalone, []string{"--target=armv7-linux-gnueabihf", "-O2", "-fPIC", "-shared", "-nostdlib", "-fuse-ld=lld"}, []string{"free", "malloc", "puts"}},
}

// TestStubsOfLinkers compares the stubs of each linker with objdump or
// llvm-objdump, then takes the section headers away and expects the same.
func TestStubsOfLinkers(t *testing.T) {
	for _, tt := range builds {
		t.Run(tt.name, func(t *testing.T) {
			path := compile(t, tt.compiler, tt.source, tt.args...)
			im := load(t, path)
			want := tt.want
			if want == nil {
				want = objdumpStubs(t, path, im)
			}
			got := stubNames(im)
			if !slices.Equal(want, got) {
				t.Errorf("stubs %q, want %q", got, want)
			}
			for _, i := range im.Imports {
				if i.Name == "malloc" && i.Stub == 0 && slices.Contains(want, "malloc") {
					t.Errorf("the import of malloc has no stub: %+v", i)
				}
				if i.Name == "malloc" && i.Slot == 0 {
					t.Errorf("the import of malloc has no slot: %+v", i)
				}
			}
			bare := stubNames(withoutSections(t, path))
			if !slices.Equal(want, bare) {
				t.Errorf("without section headers: stubs %q, want %q", bare, want)
			}
		})
	}
}

func stubNames(im *object.Image) []string {
	var out []string
	for _, s := range im.Stubs {
		if s.Kind == object.StubJump {
			out = append(out, s.Name)
		}
	}
	slices.Sort(out)
	return out
}

// objdumpStubs lists the names of PLT entries by a disassembler's synthetic
// symbols.
func objdumpStubs(t *testing.T, path string, im *object.Image) []string {
	t.Helper()
	objdump := "objdump"
	switch im.Arch {
	case object.ARM64:
		objdump = "aarch64-linux-gnu-objdump"
	case object.ARM:
		objdump = "arm-linux-gnueabihf-objdump"
	}
	if _, err := exec.LookPath(objdump); err != nil {
		objdump = "llvm-objdump"
	}
	var out []string
	for line := range strings.Lines(tool(t, objdump, "-d", path)) {
		if m := stubLine.FindStringSubmatch(strings.TrimLeft(line, "0")); m != nil {
			name, _, _ := strings.Cut(m[2], "@")
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// withoutSections loads a file after its section headers are wiped.
func withoutSections(t *testing.T, path string) *object.Image {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wipeSections(b)
	im, err := Load(b)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

func wipeSections(b []byte) {
	o := binary.ByteOrder(binary.LittleEndian)
	if b[5] == 2 {
		o = binary.BigEndian
	}
	if b[4] == 2 {
		o.PutUint64(b[40:], 0)
		o.PutUint16(b[60:], 0)
		o.PutUint16(b[62:], 0)
	} else {
		o.PutUint32(b[32:], 0)
		o.PutUint16(b[48:], 0)
		o.PutUint16(b[50:], 0)
	}
}

// TestWithoutSectionHeaders expects the dynamic view of system libraries to be
// the same whether or not section headers exist.
func TestWithoutSectionHeaders(t *testing.T) {
	for _, path := range systemBinaries() {
		t.Run(filepath.Base(path), func(t *testing.T) {
			full, bare := load(t, path), withoutSections(t, path)
			if len(bare.Sections) != 0 {
				t.Errorf("%d sections", len(bare.Sections))
			}
			dynamic := func(im *object.Image) []object.Symbol {
				var out []object.Symbol
				for _, s := range im.Symbols {
					if s.Dynamic && s.Kind != object.SymSection {
						s.Section = ""
						out = append(out, s)
					}
				}
				return out
			}
			compareLists(t, "symbols", dynamic(full), dynamic(bare))
			compareLists(t, "imports", full.Imports, bare.Imports)
			compareLists(t, "exports", full.Exports, bare.Exports)
			compareLists(t, "relocations", full.Relocations, bare.Relocations)
			compareLists(t, "stubs", full.Stubs, bare.Stubs)
			compareLists(t, "parts", full.Parts, bare.Parts)
			compareLists(t, "landing pads", full.LandingPads, bare.LandingPads)
			frames := func(im *object.Image) []object.FunctionHint {
				return slices.DeleteFunc(slices.Clone(im.Hints), func(h object.FunctionHint) bool { return h.Source == object.FromSymbol })
			}
			compareLists(t, "hints", frames(full), frames(bare))
		})
	}
}

func compareLists[T comparable](t *testing.T, what string, want, got []T) {
	t.Helper()
	if slices.Equal(want, got) {
		return
	}
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			t.Errorf("%s: %d and %d, the first difference at %d: %+v, want %+v", what, len(got), len(want), i, got[i], want[i])
			return
		}
	}
	t.Errorf("%s: %d, want %d", what, len(got), len(want))
}
