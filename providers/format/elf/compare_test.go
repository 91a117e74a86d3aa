package elf

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rea/providers/format/object"
)

// systemBinaries are programs of the machine that are read when they exist.
func systemBinaries() []string {
	var out []string
	for _, p := range []string{
		"/bin/ls", "/bin/bash", "/usr/local/go/bin/go", "/usr/local/go/bin/gofmt", "/usr/bin/gcc", "/usr/bin/ld.bfd", "/usr/bin/perl",
		"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/lib/x86_64-linux-gnu/libm.so.6", "/usr/aarch64-linux-gnu/lib/libc.so.6", "/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1",
	} {
		if _, err := os.Stat(p); err == nil {
			out = append(out, p)
		}
	}
	return out
}

func tool(t *testing.T, name string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if len(out) == 0 && err != nil { // binutils also fail after mere warnings
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return string(out)
}

func load(t testing.TB, path string) *object.Image {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	im, err := Load(b)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return im
}

// compile builds a program with a C compiler and skips when that can't be done.
func compile(t *testing.T, compiler, source string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(compiler)
	if err != nil {
		t.Skipf("%s is not installed", compiler)
	}
	dir := t.TempDir()
	ext := ".c"
	if strings.HasSuffix(compiler, "++") {
		ext = ".cc"
	}
	src, out := filepath.Join(dir, "in"+ext), filepath.Join(dir, "out")
	if err := os.WriteFile(src, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append([]string{"-o", out, src}, args...)...)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("%s %v: %v\n%s", compiler, args, err, msg)
	}
	return out
}

func parseHex(t *testing.T, s string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSymbolsAgreeWithReadelf(t *testing.T) {
	for _, path := range systemBinaries() {
		t.Run(filepath.Base(path), func(t *testing.T) { compareSymbols(t, path, load(t, path)) })
	}
}

var symbolLine = regexp.MustCompile(`^\s*\d+: ([0-9a-f]+)\s+(\S+) (\S+)\s+(\S+)\s+(\S+)\s+(?:\[.*\]\s+)?(\S+) ?(.*)$`)

var versionIndex = regexp.MustCompile(` \(\d+\)$`)

// compareSymbols compares every symbol with readelf's listing.
func compareSymbols(t *testing.T, path string, im *object.Image) {
	t.Helper()
	var want []string
	source := ""
	for line := range strings.Lines(tool(t, "readelf", "-sW", path)) {
		line = strings.TrimRight(line, "\n")
		if strings.Contains(line, "Symbol table '.dynsym'") {
			source = "dynsym"
		} else if strings.Contains(line, "Symbol table '") {
			source = "symtab"
		}
		m := symbolLine.FindStringSubmatch(line)
		if m == nil || m[3] == "SECTION" || m[7] == "" {
			continue
		}
		size, err := strconv.ParseUint(m[2], 0, 64)
		if err != nil {
			t.Fatal(line)
		}
		name := versionIndex.ReplaceAllString(m[7], "")
		if source == "dynsym" || m[6] == "UND" {
			name, _, _ = strings.Cut(name, "@") // readelf adds the version it finds
		}
		if strings.HasPrefix(name, "$") && m[3] == "NOTYPE" {
			continue
		}
		addr := parseHex(t, m[1])
		if m[6] == "UND" {
			addr = 0
		}
		want = append(want, fmt.Sprintf("%s %x %d %s %s %v", source, addr, size, m[3], name, m[6] != "UND"))
	}
	var got []string
	for _, s := range im.Symbols {
		typ := map[object.SymbolKind]string{"function": "FUNC", "object": "OBJECT", "file": "FILE", "tls": "TLS", "label": "NOTYPE", "ifunc": "IFUNC"}[s.Kind]
		if typ == "" || s.Name == "" {
			continue
		}
		name := s.Name
		if s.Source == "symtab" && !s.Defined {
			name, _, _ = strings.Cut(name, "@")
		}
		got = append(got, fmt.Sprintf("%s %x %d %s %s %v", s.Source, s.Addr, s.Size, typ, name, s.Defined))
	}
	diff(t, "symbol", want, got)
}

// diff reports what two multisets of lines do not share.
func diff(t *testing.T, what string, want, got []string) {
	t.Helper()
	slices.Sort(want)
	slices.Sort(got)
	missing, extra := subtract(want, got), subtract(got, want)
	for i, list := range [][]string{missing, extra} {
		if len(list) > 0 {
			t.Errorf("%d of %d %ss %s: %q", len(list), len(want), what, []string{"missing", "too many"}[i], list[:min(len(list), 8)])
		}
	}
	if len(want) == 0 && len(got) == 0 {
		t.Logf("no %ss", what)
	}
}

func subtract(a, b []string) []string {
	var out []string
	for j := 0; len(a) > 0; a = a[1:] {
		for j < len(b) && b[j] < a[0] {
			j++
		}
		if j < len(b) && b[j] == a[0] {
			j++
			continue
		}
		out = append(out, a[0])
	}
	return out
}

var fdeLine = regexp.MustCompile(`^[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+)`)

var cieLine = regexp.MustCompile(`^([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ CIE`)

// TestFramesAgreeWithReadelf compares the code ranges of all FDEs.
func TestFramesAgreeWithReadelf(t *testing.T) {
	for _, path := range systemBinaries() {
		t.Run(filepath.Base(path), func(t *testing.T) {
			im := load(t, path)
			var want []string
			signal, cie := map[string]bool{}, ""
			for line := range strings.Lines(tool(t, "readelf", "--debug-dump=frames", path)) {
				if m := cieLine.FindStringSubmatch(line); m != nil {
					cie = m[1]
				}
				if strings.Contains(line, "Augmentation: ") && strings.Contains(line, "S") {
					signal[cie] = true
				}
				if m := fdeLine.FindStringSubmatch(line); m != nil {
					a, b := parseHex(t, m[2]), parseHex(t, m[3])
					if a%16 == 15 && signal[m[1]] && im.Arch == object.X86_64 {
						a++ // a signal trampoline
					}
					if b > a && !stubbed(im, a) {
						want = append(want, fmt.Sprintf("%x+%x", a, b-a))
					}
				}
			}
			slices.Sort(want)
			want = slices.Compact(want)
			var got []string
			for _, h := range im.Hints {
				if h.Source == object.FromEHFrame {
					got = append(got, fmt.Sprintf("%x+%x", h.Addr, h.Size))
				}
			}
			for _, p := range im.Parts {
				got = append(got, fmt.Sprintf("%x+%x", p.Addr, p.Size))
			}
			diff(t, "FDE", want, got)
		})
	}
}

func stubbed(im *object.Image, addr uint64) bool {
	return slices.ContainsFunc(im.Stubs, func(s object.Stub) bool { return addr-s.Addr < s.Size })
}

var relocLine = regexp.MustCompile(`^([0-9a-f]{8,16})\s+[0-9a-f]+\s+(R_\w+)\s*(.*)$`)

// relrLine is one place of a packed relative relocation.
var relrLine = regexp.MustCompile(`^([0-9a-f]{16})\s*$`)

var relativeName = map[object.Arch]string{object.X86_64: "R_X86_64_RELATI", object.ARM64: "R_AARCH64_RELATI"}

// TestRelocationsAgreeWithReadelf compares places, types and symbols.
func TestRelocationsAgreeWithReadelf(t *testing.T) {
	for _, path := range systemBinaries() {
		t.Run(filepath.Base(path), func(t *testing.T) {
			im := load(t, path)
			var want, got []string
			for line := range strings.Lines(tool(t, "readelf", "-rW", path)) {
				if m := relrLine.FindStringSubmatch(line); m != nil {
					want = append(want, fmt.Sprintf("%x %s ", parseHex(t, m[1]), relativeName[im.Arch]))
					continue
				}
				if m := relocLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
					typ, rest := m[2], strings.Fields(m[3])
					name := ""
					if len(rest) > 1 {
						name, _, _ = strings.Cut(rest[1], "@")
					}
					want = append(want, fmt.Sprintf("%x %s %s", parseHex(t, m[1]), strings.TrimSuffix(typ, "VE"), name))
				}
			}
			for _, r := range im.Relocations {
				got = append(got, fmt.Sprintf("%x %s %s", r.Addr, strings.TrimSuffix(r.Type, "VE"), r.Symbol))
			}
			diff(t, "relocation", want, got)
		})
	}
}

var stubLine = regexp.MustCompile(`^([0-9a-f]+) <(.*)@plt>:`)

// TestStubsAgreeWithObjdump compares PLT entries with objdump's synthetic
// symbols.
func TestStubsAgreeWithObjdump(t *testing.T) {
	for _, path := range systemBinaries() {
		im := load(t, path)
		if len(im.Relocations) == 0 {
			continue // a static program has no stubs
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			objdump := "objdump"
			if im.Arch == object.ARM64 {
				objdump = "aarch64-linux-gnu-objdump"
			}
			compareStubs(t, tool(t, objdump, "-d", "-j", ".plt", "-j", ".plt.sec", "-j", ".plt.got", path), im)
		})
	}
}

func compareStubs(t *testing.T, disassembly string, im *object.Image) {
	t.Helper()
	var want, got []string
	for line := range strings.Lines(disassembly) {
		if m := stubLine.FindStringSubmatch(line); m != nil {
			name, _, _ := strings.Cut(m[2], "@")
			if strings.HasPrefix(name, "*ABS*") {
				name = ""
			}
			want = append(want, fmt.Sprintf("%x %s", parseHex(t, m[1]), name))
		}
	}
	for _, s := range im.Stubs {
		if s.Kind == object.StubJump {
			got = append(got, fmt.Sprintf("%x %s", s.Addr, s.Name))
		}
	}
	diff(t, "stub", want, got)
}
