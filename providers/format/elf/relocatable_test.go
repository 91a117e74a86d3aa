package elf

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rea/providers/format/object"
)

const objectSource = `
extern int external(int);
extern int shared_data;
static int counter;
int tentative[16];
const char *names[] = { "one", "two" };
static __attribute__((noinline)) int helper(int n) { return external(n) + shared_data; }
__attribute__((noinline)) int visible(int n) { counter += n; tentative[n & 15] = n; return helper(n) * helper(n + 1); }
static int first(int n) { return visible(n) + 1; }
static int second(int n) { return visible(n) - 1; }
int (*const table[])(int) = { first, second, external };
int pick(int n) { return table[n & 1](n) + names[n & 1][0] + counter; }
__attribute__((constructor)) void setup(void) { counter = external(3); }
`

var objectReloc = regexp.MustCompile(`^([0-9a-f]+)\s+[0-9a-f]+\s+(R_\w+)\s+([0-9a-f]+)\s+(\S+)(?: ([+-]) ([0-9a-f]+))?$`)

// TestRelocatableObjects applies relocations and compares each field with what
// readelf says about symbol and addend and with our own layout of sections.
func TestRelocatableObjects(t *testing.T) {
	for _, tt := range []struct {
		name, compiler string
		args           []string
	}{
		{"x86_64", "gcc", []string{"-c", "-O2", "-ffunction-sections"}},
		{"x86_64_pic", "gcc", []string{"-c", "-O2", "-fPIC", "-fcommon"}},
		{"x86_64_large", "gcc", []string{"-c", "-O1", "-mcmodel=large", "-fno-pic"}},
		{"x86_64_clang", "clang", []string{"-c", "-O2"}},
		{"i386", "gcc", []string{"-m32", "-c", "-O2", "-fno-pic"}},
		{"i386_pic", "gcc", []string{"-m32", "-c", "-O2", "-fPIC"}},
		{"aarch64", "aarch64-linux-gnu-gcc", []string{"-c", "-O2", "-ffunction-sections"}},
		{"aarch64_pic", "aarch64-linux-gnu-gcc", []string{"-c", "-O2", "-fPIC"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := compile(t, tt.compiler, objectSource, tt.args...)
			im := load(t, path)
			if im.Kind != object.Relocatable || im.FileType != "ET_REL" {
				t.Fatalf("kind %s, type %s", im.Kind, im.FileType)
			}
			checkFields(t, im, tool(t, "readelf", "-rW", path))
			checkObject(t, im)
		})
	}
}

// checkFields verifies every field that a call, address or pointer relocation
// changed.
func checkFields(t *testing.T, im *object.Image, listing string) {
	t.Helper()
	var target *object.Section
	checked := 0
	for line := range strings.Lines(listing) {
		line = strings.TrimSpace(line)
		if _, rest, ok := strings.Cut(line, "Relocation section '"); ok {
			name, _, _ := strings.Cut(rest, "'")
			target = im.Section(strings.TrimPrefix(strings.TrimPrefix(name, ".rela"), ".rel"))
			continue
		}
		m := objectReloc.FindStringSubmatch(line)
		if m == nil || target == nil || !target.Mapped {
			continue
		}
		at := target.Addr + parseHex(t, m[1])
		addend := uint64(0)
		if m[6] != "" {
			addend = parseHex(t, m[6])
			if m[5] == "-" {
				addend = -addend
			}
		}
		symbol, ok := addressOf(im, m[4])
		if !ok {
			t.Errorf("%s: symbol %s has no address", line, m[4])
			continue
		}
		b := im.Bytes(at, 8)
		insn := binary.LittleEndian.Uint32(b)
		field32 := uint64(int64(int32(insn)))
		var got, want uint64
		switch m[2] {
		case "R_X86_64_PC32", "R_X86_64_PLT32", "R_AARCH64_PREL32":
			got, want = at+field32, symbol+addend
		case "R_386_PC32", "R_386_PLT32":
			got, want = uint64(uint32(at+field32)), uint64(uint32(symbol-4))
			if strings.HasPrefix(m[4], ".") && isFunction(im, got) {
				want = got // the addend was in the field: any function of the section
			}
		case "R_X86_64_64", "R_AARCH64_ABS64":
			got, want = binary.LittleEndian.Uint64(b), symbol+addend
		case "R_X86_64_32", "R_X86_64_32S":
			got, want = field32, symbol+addend
		case "R_386_32":
			// The addend was in the field; section symbols are the only ones with one here.
			got, want = uint64(insn), symbol
			if s := im.SectionAt(symbol); s != nil && s.Addr == symbol && got-s.Addr < s.Size {
				want = got
			}
		case "R_AARCH64_CALL26", "R_AARCH64_JUMP26":
			got, want = at+uint64(int64(int32(insn<<6))>>6<<2), symbol+addend
		case "R_AARCH64_ADR_PREL_PG_HI21":
			pages := int64(int32(insn>>5&0x7ffff<<2|insn>>29&3)<<11) >> 11
			got, want = at&^0xfff+uint64(pages<<12), (symbol+addend)&^0xfff
		case "R_AARCH64_ADD_ABS_LO12_NC":
			got, want = uint64(insn>>10&0xfff), (symbol+addend)&0xfff
		case "R_AARCH64_LDST32_ABS_LO12_NC":
			got, want = uint64(insn>>10&0xfff)*4, (symbol+addend)&0xfff
		case "R_AARCH64_LDST64_ABS_LO12_NC":
			got, want = uint64(insn>>10&0xfff)*8, (symbol+addend)&0xfff
		default:
			continue
		}
		checked++
		if got != want {
			t.Errorf("%s: the field leads to %#x, want %#x", line, got, want)
		}
	}
	if checked < 12 {
		t.Errorf("only %d fields were compared", checked)
	}
}

func isFunction(im *object.Image, addr uint64) bool {
	return slices.ContainsFunc(im.Symbols, func(s object.Symbol) bool { return s.Addr == addr && s.Kind == object.SymFunction })
}

func addressOf(im *object.Image, name string) (uint64, bool) {
	for _, s := range im.Symbols {
		if s.Name == name && s.Defined {
			return s.Addr, true
		}
	}
	for _, i := range im.Imports {
		if i.Name == name && i.Stub != 0 {
			return i.Stub, true
		}
	}
	return 0, false
}

// checkObject verifies what the loader derives: frames cover exactly the
// functions, the constructor is a hint, imports and exports are complete.
func checkObject(t *testing.T, im *object.Image) {
	t.Helper()
	var functions, frames []string
	constructor := false
	setup, _ := addressOf(im, "setup")
	for _, h := range im.Hints {
		switch h.Source {
		case object.FromSymbol:
			if h.Size > 0 { // assembler thunks have none
				functions = append(functions, fmt.Sprintf("%#x+%d", h.Addr, h.Size))
			}
		case object.FromEHFrame:
			frames = append(frames, fmt.Sprintf("%#x+%d", h.Addr, h.Size))
		case object.FromInitArray:
			constructor = constructor || h.Addr == setup
		}
	}
	if !constructor {
		t.Errorf("the constructor at %#x is not found", setup)
	}
	frames = slices.DeleteFunc(frames, func(f string) bool { // i386 PIC has a thunk per register
		return !slices.Contains(functions, f) && strings.HasSuffix(f, "+"+strconv.Itoa(4))
	})
	diff(t, "frame", functions, frames)
	var imports []string
	for _, i := range im.Imports {
		if !strings.HasPrefix(i.Name, "_GLOBAL_OFFSET") {
			imports = append(imports, i.Name)
		}
	}
	diff(t, "import", []string{"external", "shared_data"}, imports)
	var exports []string
	for _, e := range im.Exports {
		exports = append(exports, e.Name)
	}
	diff(t, "export", []string{"names", "pick", "setup", "table", "tentative", "visible"}, exports)
	for _, s := range im.Symbols {
		if s.Name == "tentative" && (s.Addr < RelocatableBase || im.SegmentAt(s.Addr) == nil) {
			t.Errorf("the tentative definition lies at %#x", s.Addr)
		}
	}
}
