package pe

import (
	stdpe "debug/pe"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"rea/providers/format/object"
)

// fixtures are the images that testdata/build.sh makes from testdata/src.
var fixtures = append(append([]string{}, images...), "throw_x64.obj")

var (
	samples = []string{"sample_x64.dll", "sample_arm64.dll", "sample_x86.dll", "sample_arm.dll"}
	images  = append(append([]string{}, samples...), "throw_x64.dll", "throw4_x64.dll")
)

func fixture(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func mustLoad(tb testing.TB, data []byte) *object.Image {
	tb.Helper()
	im, err := Load(data)
	if err != nil {
		tb.Fatal(err)
	}
	return im
}

// tool finds a program under its plain or versioned name.
func tool(t *testing.T, name string) string {
	t.Helper()
	for _, n := range []string{name + "-19", name + "-16", name, name + "-14"} {
		if p, err := exec.LookPath(n); err == nil {
			return p
		}
	}
	t.Skipf("%s is not installed", name)
	return ""
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(tool(t, name), args...).Output()
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return string(out)
}

// values collects the first group of a pattern in a tool's output.
func values(out, pattern string) []string {
	var vs []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(out, -1) {
		vs = append(vs, m[1])
	}
	return vs
}

func number(t *testing.T, s string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func numbers(t *testing.T, ss []string) []uint64 {
	var out []uint64
	for _, s := range ss {
		out = append(out, number(t, s))
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\n got %v\nwant %v", what, got, want)
	}
}

func hints(im *object.Image, from object.HintSource) []uint64 {
	var out []uint64
	for _, h := range im.Hints {
		if h.Source == from {
			out = append(out, h.Addr)
		}
	}
	return out
}

func TestHeaders_agree_with_debug_pe(t *testing.T) {
	for _, name := range fixtures {
		t.Run(name, func(t *testing.T) {
			im := mustLoad(t, fixture(t, name))
			f, err := stdpe.Open(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			var entry, base uint64
			switch o := f.OptionalHeader.(type) {
			case *stdpe.OptionalHeader64:
				entry, base = uint64(o.AddressOfEntryPoint), o.ImageBase
			case *stdpe.OptionalHeader32:
				entry, base = uint64(o.AddressOfEntryPoint), uint64(o.ImageBase)
			default:
				base = ObjectBase
			}
			equal(t, "base", im.Base, base)
			if entry != 0 {
				if im.Arch == object.ARM {
					entry &^= 1
				}
				equal(t, "entry", im.Entry, base+entry)
			}
			sections := map[string][]uint64{}
			for _, s := range im.Sections {
				if im.Kind == object.Relocatable {
					sections[s.Name] = append(sections[s.Name], s.Size, s.Offset)
				} else {
					sections[s.Name] = append(sections[s.Name], s.Size, s.Addr-base)
				}
			}
			want := map[string][]uint64{}
			for _, s := range f.Sections {
				if im.Kind == object.Relocatable {
					want[s.Name] = append(want[s.Name], uint64(s.Size), uint64(s.Offset))
				} else {
					want[s.Name] = append(want[s.Name], uint64(s.VirtualSize), uint64(s.VirtualAddress))
				}
			}
			for _, m := range []map[string][]uint64{sections, want} {
				for _, v := range m {
					sort.Slice(v, func(i, j int) bool { return v[i] < v[j] })
				}
			}
			equal(t, "sections", sections, want)
			if len(im.Notes) > 0 {
				t.Errorf("notes on an undamaged file: %q", im.Notes)
			}
		})
	}
}

// Import names and slots, against the tables as llvm-readobj prints them.
func TestImports_agree_with_llvm(t *testing.T) {
	for _, name := range images {
		t.Run(name, func(t *testing.T) {
			im := mustLoad(t, fixture(t, name))
			out := run(t, "llvm-readobj", "--coff-imports", filepath.Join("testdata", name))
			type entry struct {
				Library, Name string
				Slot          uint64
			}
			var want, got []entry
			ptr := uint64(im.Bits / 8)
			var lib string
			var slot uint64
			for _, line := range strings.Split(out, "\n") {
				f := strings.Fields(line)
				switch {
				case len(f) == 2 && f[0] == "Name:":
					lib = f[1]
				case len(f) == 2 && (f[0] == "ImportAddressTableRVA:" || f[0] == "ImportAddressTable:"):
					slot = im.Base + number(t, f[1])
				case len(f) >= 2 && f[0] == "Symbol:":
					n := strings.TrimSuffix(strings.TrimPrefix(f[len(f)-1], "("), ")")
					sym := f[1]
					if len(f) == 2 { // no name: by ordinal
						sym = "#" + n
					}
					want = append(want, entry{lib, sym, slot})
					slot += ptr
				}
			}
			for _, i := range im.Imports {
				got = append(got, entry{i.Library, i.Name, i.Slot})
			}
			sort.Slice(want, func(i, j int) bool { return want[i].Slot < want[j].Slot })
			if len(want) == 0 {
				t.Fatal("llvm-readobj shows no imports")
			}
			equal(t, "imports", got, want)
		})
	}
}

func TestDelay_imports_and_libraries(t *testing.T) {
	im := mustLoad(t, fixture(t, "sample_x64.dll"))
	equal(t, "libraries", im.Libraries, []object.Library{
		{Name: "sample_imports.dll"}, {Name: "sample_delayed.dll", Delay: true},
	})
}

func TestExports_agree_with_llvm(t *testing.T) {
	for _, name := range images {
		t.Run(name, func(t *testing.T) {
			im := mustLoad(t, fixture(t, name))
			out := run(t, "llvm-readobj", "--coff-exports", filepath.Join("testdata", name))
			re := regexp.MustCompile(`Ordinal: (\d+)\s+Name: ?(.*)\n\s+(?:ForwardedTo: (.*)\n|RVA: (0x[0-9A-F]+))`)
			want := map[string]string{}
			for _, m := range re.FindAllStringSubmatch(out, -1) {
				if m[2] == "" {
					m[2] = "#" + m[1]
				}
				if im.Arch == object.ARM && m[4] != "" && im.Executable(im.Base+number(t, m[4])) {
					m[4] = "0x" + strconv.FormatUint(number(t, m[4])&^1, 16)
				}
				if m[4] != "0x0" {
					want[m[2]] = m[1] + " " + m[3] + " " + strings.ToLower(m[4])
				}
			}
			got := map[string]string{}
			for _, e := range im.Exports {
				rva := ""
				if e.Forward == "" {
					rva = "0x" + strconv.FormatUint(e.Addr-im.Base, 16)
				} else if f := debugForward(t, name, e.Name); f != e.Forward {
					t.Errorf("%s forwards to %q, want %q", e.Name, e.Forward, f)
				}
				got[e.Name] = strconv.Itoa(e.Ordinal) + " " + "" + " " + rva
			}
			for k, v := range want { // llvm-readobj prints a forwarder's RVA or its name, by version
				if strings.Contains(got[k], "  ") && strings.HasSuffix(got[k], " ") {
					want[k] = strings.Fields(v)[0] + "  "
				}
			}
			equal(t, "exports", got, want)
		})
	}
}

// debugForward is the one forwarder that build.sh asks the linker for.
func debugForward(t *testing.T, file, name string) string {
	t.Helper()
	if file == "sample_arm.dll" && name == "forwarded" {
		return "ample_imports.imported_one" // the linker sets the Thumb bit of a name's address
	}
	if strings.HasPrefix(file, "sample_") && name == "forwarded" {
		return "sample_imports.imported_one"
	}
	return ""
}

func TestBase_relocations_agree_with_llvm(t *testing.T) {
	for _, name := range images {
		t.Run(name, func(t *testing.T) {
			im := mustLoad(t, fixture(t, name))
			out := run(t, "llvm-readobj", "--coff-basereloc", filepath.Join("testdata", name))
			var want []uint64
			for _, m := range regexp.MustCompile(`Type: (.+)\s+Address: (0x[0-9A-F]+)`).FindAllStringSubmatch(out, -1) {
				if m[1] != "ABSOLUTE" {
					want = append(want, im.Base+number(t, m[2]))
				}
			}
			var got []uint64
			for _, r := range im.Relocations {
				got = append(got, r.Addr)
				if !r.HasTarget {
					t.Errorf("relocation at %#x has no target", r.Addr)
				}
			}
			equal(t, "relocations", got, want)
		})
	}
}

func contains(list []uint64, v uint64) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}

func TestLoad_config_and_TLS_agree_with_llvm(t *testing.T) {
	for _, name := range samples {
		t.Run(name, func(t *testing.T) {
			im := mustLoad(t, fixture(t, name))
			path := filepath.Join("testdata", name)
			out := run(t, "llvm-readobj", "--coff-load-config", path)
			_, fids, _ := strings.Cut(out, "GuardFidTable [")
			want := numbers(t, values(fids, `(0x[0-9A-F]+)`))
			_, seh, _ := strings.Cut(out, "SEHTable [")
			if i := strings.Index(seh, "]"); i >= 0 {
				for _, v := range numbers(t, values(seh[:i], `(0x[0-9A-F]+)`)) {
					if !contains(want, v) {
						want = append(want, v)
					}
				}
			}
			sort.Slice(want, func(i, j int) bool { return want[i] < want[j] })
			equal(t, "guard functions", hints(im, object.FromCFG), want)
			if len(hints(im, object.FromTLSCallback)) != 1 {
				t.Errorf("TLS callbacks %#x, the source has one", hints(im, object.FromTLSCallback))
			}
			cookie := values(out, `SecurityCookie: (0x[0-9A-F]+)`)
			equal(t, "cookie", property(im, "security_cookie"), strings.ToLower(cookie[0]))
		})
	}
}

func property(im *object.Image, name string) string {
	for _, p := range im.Properties {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

func mitigation(im *object.Image, name string) string {
	for _, m := range im.Mitigations {
		if m.Name == name {
			return m.State
		}
	}
	return ""
}

func TestCharacteristics_agree_with_llvm(t *testing.T) {
	for _, name := range images {
		im := mustLoad(t, fixture(t, name))
		out := run(t, "llvm-readobj", "--file-headers", filepath.Join("testdata", name))
		for prop, pattern := range map[string]string{
			"dll_characteristics": `IMAGE_DLL_CHARACTERISTICS_(\w+)`, "characteristics": `IMAGE_FILE_((?:RELOCS|EXECUTABLE|LARGE|32BIT|DLL|DEBUG|LINE|LOCAL)\w*)`,
		} {
			got, want := strings.Fields(property(im, prop)), values(out, pattern)
			sort.Strings(got)
			sort.Strings(want)
			equal(t, name+" "+prop, got, want)
		}
	}
}

func TestIdentity(t *testing.T) {
	im := mustLoad(t, fixture(t, "sample_x64.dll"))
	out := run(t, "llvm-readobj", "--coff-debug-directory", filepath.Join("testdata", "sample_x64.dll"))
	guid := strings.ReplaceAll(values(out, `PDBGUID: [({]([0-9A-F -]+)[)}]`)[0], " ", "")
	if !strings.Contains(guid, "-") {
		// Raw bytes: the first three fields are little-endian numbers.
		swap := func(s string) (r string) {
			for i := len(s); i > 0; i -= 2 {
				r += s[i-2 : i]
			}
			return r
		}
		guid = swap(guid[:8]) + swap(guid[8:12]) + swap(guid[12:16]) + guid[16:]
	}
	guid = strings.ReplaceAll(guid, "-", "")
	equal(t, "build id", im.BuildID, strings.ToLower(guid)+"1")
	equal(t, "pdb", property(im, "pdb"), "sample.pdb")
	equal(t, "name", im.SOName, "sample_x64.dll")
	equal(t, "kind", im.Kind, object.SharedLibrary)
	for name, state := range map[string]string{"aslr": "enabled", "high_entropy_aslr": "enabled", "nx": "enabled", "cfg": "enabled", "canary": "enabled", "cet_shstk": "disabled", "authenticode": "disabled"} {
		equal(t, name, mitigation(im, name), state)
	}
	x86 := mustLoad(t, fixture(t, "sample_x86.dll"))
	equal(t, "safeseh", mitigation(x86, "safeseh"), "enabled")
	equal(t, "arch", x86.Arch, object.X86)
	arm := mustLoad(t, fixture(t, "sample_arm64.dll"))
	equal(t, "arch", arm.Arch, object.ARM64)
	equal(t, "machine", arm.Machine, "IMAGE_FILE_MACHINE_ARM64")
}

// Applied relocations of an object, against the disassembler's view of them.
func TestObject_relocations_are_applied(t *testing.T) {
	im := mustLoad(t, fixture(t, "throw_x64.obj"))
	var catcher uint64
	stubs := map[uint64]string{}
	for _, s := range im.Symbols {
		if s.Name == "catcher" {
			catcher = s.Addr
		}
	}
	for _, s := range im.Stubs {
		stubs[s.Addr] = s.Name
	}
	code := im.Bytes(catcher, 64)
	var called []string
	for i := 0; i+5 <= len(code); i++ {
		if code[i] == 0xe8 {
			called = append(called, stubs[catcher+uint64(i)+5+uint64(int64(int32(le.Uint32(code[i+1:]))))])
		}
	}
	out := run(t, "llvm-objdump", "-dr", "--disassemble-symbols=catcher", filepath.Join("testdata", "throw_x64.obj"))
	want := values(out, `IMAGE_REL_AMD64_REL32\s+(may_throw)`)
	if len(want) == 0 {
		t.Fatal("llvm-objdump shows no call")
	}
	found := 0
	for _, c := range called {
		if c == "may_throw" {
			found++
		}
	}
	equal(t, "calls of may_throw", found, len(want))
}

func TestNotPE(t *testing.T) {
	for _, tt := range []struct {
		name string
		data []byte
	}{
		{"empty", nil},
		{"one_byte", []byte("M")},
		{"dos_only", append([]byte("MZ"), make([]byte, 62)...)},
		{"offset_beyond_file", append(append([]byte("MZ"), make([]byte, 58)...), 0xff, 0xff, 0xff, 0x7f)},
		{"text", []byte(strings.Repeat("hello ", 100))},
		{"elf", append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 100)...)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			im, err := Load(tt.data)
			var fe *object.FormatError
			if !errors.As(err, &fe) || im != nil || fe.Format != object.PE {
				t.Errorf("got %v, %v; want a FormatError", im, err)
			}
		})
	}
}
