package dwarf_test

import (
	"cmp"
	stddwarf "debug/dwarf"
	stdelf "debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rea/providers/format/dwarf"
	"rea/providers/format/native"
	"rea/providers/format/object"
)

const cSource = `
#include <stdarg.h>
struct inner { int a : 3; unsigned b : 7; char c; };
enum color { RED = -1, GREEN = 5, BLUE = 300 };
union number { long l; double d; unsigned char raw[8]; };
typedef struct outer {
	struct inner in[4][2];
	enum color col;
	union number u;
	int (*cb)(const char *, struct outer *);
	int (*many[3])(void);
	struct outer *next;
	volatile short *const fixed;
	char flex[];
} outer_t;
typedef unsigned long word_t;
static word_t counter;
__attribute__((noinline)) static int helper(outer_t *o, const char *name, ...)
{
	va_list ap;
	va_start(ap, name);
	int local = o->col + va_arg(ap, int);
	va_end(ap);
	for (int i = 0; name[i]; i++) {
		word_t deep = name[i];
		counter += deep;
	}
	return local;
}
static inline int twice(int n) { return n * 2 + (int)counter; }
__attribute__((noreturn)) void leave(int code) { for (;;) counter += code; }
int main(int argc, char **argv)
{
	static outer_t o;
	o.col = argc > 2 ? GREEN : BLUE;
	int r = helper(&o, argv[0], twice(argc));
	if (r > 1000)
		leave(r);
	return twice(r);
}
`

const ccSource = `
namespace shapes {
struct point { double x, y; static int count; };
int point::count;
class base { public: virtual ~base() {} virtual double area() const = 0; protected: int id = 1; };
class box : public base, public point {
	double w, h;
public:
	box(double w, double h) : w(w), h(h) {}
	double area() const override { return w * h; }
	template <class T> T scaled(T by) const { return static_cast<T>(area() * by); }
};
enum class mode : unsigned char { fast = 1, slow = 200 };
}
static int risky(int n, shapes::mode m) { if (n == 3) throw n; return n + static_cast<int>(m); }
int main(int argc, char **) {
	shapes::box b(argc, 2);
	const shapes::base &r = b;
	try { return risky(argc, shapes::mode::slow) + static_cast<int>(r.area()) + b.scaled<int>(argc); } catch (int e) { return e; }
}
`

// programs are the compilers and options whose output is read.
var programs = []struct {
	name, compiler, source string
	args                   []string
}{
	{"gcc_dwarf2", "gcc", cSource, []string{"-O0", "-gdwarf-2", "-gstrict-dwarf"}},
	{"gcc_dwarf3", "gcc", cSource, []string{"-O1", "-gdwarf-3", "-gstrict-dwarf"}},
	{"gcc_dwarf4", "gcc", cSource, []string{"-O2", "-gdwarf-4"}},
	{"gcc_dwarf5", "gcc", cSource, []string{"-O2", "-gdwarf-5"}},
	{"gcc_dwarf64", "gcc", cSource, []string{"-O1", "-gdwarf-5", "-gdwarf64"}},
	{"gcc_compressed", "gcc", cSource, []string{"-O2", "-g", "-gz=zlib"}},
	{"gcc_zdebug", "gcc", cSource, []string{"-O2", "-g", "-gz=zlib-gnu"}},
	{"gcc_type_units4", "gcc", cSource, []string{"-O1", "-gdwarf-4", "-fdebug-types-section"}},
	{"gcc_type_units5", "gcc", cSource, []string{"-O1", "-gdwarf-5", "-fdebug-types-section"}},
	{"gcc_object", "gcc", cSource, []string{"-O1", "-g", "-c"}},
	{"gcc_cc", "g++", ccSource, []string{"-O1", "-g"}},
	{"gcc_cc_sections", "g++", ccSource, []string{"-O2", "-g", "-ffunction-sections", "-Wl,--gc-sections"}},
	{"clang_dwarf4", "clang", cSource, []string{"-O1", "-gdwarf-4"}},
	{"clang_dwarf5", "clang", cSource, []string{"-O2", "-gdwarf-5"}},
	{"clang_cc_lld", "clang++", ccSource, []string{"-O1", "-gdwarf-5", "-fuse-ld=lld", "-ffunction-sections", "-Wl,--gc-sections"}},
	{"aarch64", "aarch64-linux-gnu-gcc", cSource, []string{"-O2", "-g"}},
}

func build(t testing.TB, compiler, source string, args ...string) string {
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
	if msg, err := exec.Command(path, append([]string{"-o", out, src}, args...)...).CombinedOutput(); err != nil {
		t.Skipf("%s %v: %v\n%s", compiler, args, err, msg)
	}
	return out
}

func open(t testing.TB, path string) (*object.Image, *dwarf.Data) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	im, err := native.Load(b, native.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := dwarf.Open(im)
	if err != nil {
		t.Fatal(err)
	}
	return im, d
}

func reference(t testing.TB, path string) *stddwarf.Data {
	t.Helper()
	f, err := stdelf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	d, err := f.DWARF()
	if err != nil {
		t.Skipf("the reference reader fails: %v", err)
	}
	return d
}

// TestAgreesWithTheLibrary compares functions, positions and type layouts with
// the Go library's reader.
func TestAgreesWithTheLibrary(t *testing.T) {
	for _, tt := range programs {
		t.Run(tt.name, func(t *testing.T) {
			path := build(t, tt.compiler, tt.source, tt.args...)
			im, d := open(t, path)
			bias := uint64(0)
			if im.Kind == object.Relocatable {
				bias = im.Section(".text").Addr
			}
			ref := reference(t, path)
			fs, err := d.Functions(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			compareFunctions(t, im, ref, fs, bias)
			compareLines(t, ref, d, fs, bias)
			compareTypes(t, ref, d)
		})
	}
}

func compareFunctions(t *testing.T, im *object.Image, ref *stddwarf.Data, fs []dwarf.Function, bias uint64) {
	t.Helper()
	var want []string
	names := map[uint64]string{}
	for r := ref.Reader(); ; {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			break
		}
		if e.Tag != stddwarf.TagSubprogram {
			continue
		}
		ranges, err := ref.Ranges(e)
		if err != nil {
			t.Fatal(err)
		}
		if len(ranges) == 0 || ranges[0][1] == ranges[0][0] || !im.Executable(ranges[0][0]+bias) {
			continue
		}
		entry := ranges[0]
		if low, ok := e.Val(stddwarf.AttrEntrypc).(uint64); ok {
			for _, x := range ranges {
				if x[0] == low {
					entry = x
				}
			}
		}
		want = append(want, fmt.Sprintf("%#x+%#x %s", entry[0]+bias, entry[1]-entry[0], refName(t, ref, e)))
		names[entry[0]+bias] = refName(t, ref, e)
	}
	var got []string
	for _, f := range fs {
		got = append(got, fmt.Sprintf("%#x+%#x %s", f.Addr, f.Size, f.Name))
		if !strings.HasPrefix(f.File, "/") || f.Line == 0 {
			t.Errorf("%s is declared at %q:%d", f.Name, f.File, f.Line)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) || len(want) == 0 {
		t.Errorf("functions %q, want %q", got, want)
	}
	// Every symbol of a function has one, with its linkage name.
	for _, s := range im.Symbols {
		if _, ok := names[s.Addr]; !ok || s.Kind != object.SymFunction || strings.HasSuffix(s.Name, ".cold") {
			continue
		}
		if !slices.ContainsFunc(fs, func(f dwarf.Function) bool {
			base, _, _ := strings.Cut(s.Name, ".")
			return f.Addr == s.Addr && (f.SymbolName() == base || f.Name == base || strings.HasPrefix(s.Name, "_ZN") && f.SymbolName() != "" && sameCtor(f.SymbolName(), s.Name))
		}) {
			t.Errorf("the symbol %s at %#x has no function of that name", s.Name, s.Addr)
		}
	}
}

// sameCtor tells whether two mangled names differ only in which variant of a
// constructor or destructor they are.
func sameCtor(a, b string) bool {
	clean := strings.NewReplacer("C1E", "C?E", "C2E", "C?E", "C4E", "C?E", "D0E", "D?E", "D1E", "D?E", "D2E", "D?E", "D4E", "D?E")
	return clean.Replace(a) == clean.Replace(b)
}

func refName(t *testing.T, ref *stddwarf.Data, e *stddwarf.Entry) string {
	t.Helper()
	for range 5 {
		if n, ok := e.Val(stddwarf.AttrName).(string); ok {
			return n
		}
		off, ok := e.Val(stddwarf.AttrSpecification).(stddwarf.Offset)
		if !ok {
			off, ok = e.Val(stddwarf.AttrAbstractOrigin).(stddwarf.Offset)
		}
		if !ok {
			break
		}
		r := ref.Reader()
		r.Seek(off)
		next, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		e = next
	}
	return ""
}

func compareLines(t *testing.T, ref *stddwarf.Data, d *dwarf.Data, fs []dwarf.Function, bias uint64) {
	t.Helper()
	type span struct {
		from, to uint64
		at       string
	}
	var spans []span
	for r := ref.Reader(); ; r.SkipChildren() {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			break
		}
		if e.Tag != stddwarf.TagCompileUnit {
			continue
		}
		lr, err := ref.LineReader(e)
		if err != nil || lr == nil {
			t.Fatal(err)
		}
		var last, line stddwarf.LineEntry
		for have := false; ; have = true {
			if err := lr.Next(&line); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if have && !last.EndSequence && line.Address > last.Address && last.File != nil {
				spans = append(spans, span{last.Address + bias, line.Address + bias, fmt.Sprintf("%s:%d:%d", last.File.Name, last.Line, last.Column)})
			}
			last = line
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	checked := 0
	for _, f := range fs {
		for addr := f.Addr; addr < f.Addr+f.Size; addr++ {
			i, found := slices.BinarySearchFunc(spans, addr, func(s span, a uint64) int { return cmp.Compare(s.from, a) })
			if !found {
				i--
			}
			if i < 0 || addr >= spans[i].to {
				continue
			}
			p, ok := d.Line(addr)
			if got := fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col); !ok || filepath.Base(got) != filepath.Base(spans[i].at) {
				t.Fatalf("%#x in %s: %s, want %s", addr, f.Name, got, spans[i].at)
			}
			checked++
		}
	}
	if checked < 40 {
		t.Errorf("only %d addresses were compared", checked)
	}
}

func compareTypes(t *testing.T, ref *stddwarf.Data, d *dwarf.Data) {
	t.Helper()
	checked := 0
	for r := ref.Reader(); ; {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			break
		}
		switch e.Tag {
		case stddwarf.TagStructType, stddwarf.TagUnionType, stddwarf.TagClassType, stddwarf.TagEnumerationType:
		default:
			continue
		}
		if e.Val(stddwarf.AttrDeclaration) != nil || e.Val(stddwarf.AttrSignature) != nil {
			continue
		}
		typ, err := ref.Type(e.Offset)
		if err != nil {
			t.Logf("the library can't read the type at %#x: %v", e.Offset, err)
			continue
		}
		got, ok := d.Type(dwarf.Ref(e.Offset))
		if !ok {
			t.Errorf("the type at %#x can't be read", e.Offset)
			continue
		}
		checked++
		compareType(t, typ, got)
	}
	if checked == 0 {
		t.Log("the program has no types of its own in .debug_info")
	}
}

func compareType(t *testing.T, typ stddwarf.Type, got *dwarf.Type) {
	t.Helper()
	switch typ := typ.(type) {
	case *stddwarf.StructType:
		if string(got.Kind) != typ.Kind || got.Size != uint64(typ.ByteSize) {
			t.Errorf("%s %s: %+v", typ.Kind, typ.StructName, got)
		}
		fields := slices.DeleteFunc(slices.Clone(got.Fields), func(f dwarf.Field) bool { return f.Base })
		if len(fields) != len(typ.Field) {
			// The library takes static members along.
			if len(fields) > len(typ.Field) {
				t.Errorf("%s: %d members, want %d", typ.StructName, len(fields), len(typ.Field))
			}
			return
		}
		for i, f := range typ.Field {
			g := fields[i]
			if g.Name != f.Name || f.BitSize == 0 && g.Offset != uint64(f.ByteOffset) || g.BitSize != uint64(f.BitSize) {
				t.Errorf("%s.%s: %+v, want %+v", typ.StructName, f.Name, g, f)
			}
			if f.BitSize > 0 && f.DataBitOffset > 0 && g.BitOffset != uint64(f.DataBitOffset) {
				t.Errorf("%s.%s: bit offset %d, want %d", typ.StructName, f.Name, g.BitOffset, f.DataBitOffset)
			}
			if size := f.Type.Size(); size > 0 && g.Size != uint64(size) {
				t.Errorf("%s.%s: size %d, want %d", typ.StructName, f.Name, g.Size, size)
			}
		}
	case *stddwarf.EnumType:
		if got.Kind != dwarf.KindEnum || got.Size != uint64(typ.ByteSize) || len(got.Enumerators) != len(typ.Val) {
			t.Errorf("enum %s: %+v", typ.EnumName, got)
			return
		}
		for i, v := range typ.Val {
			if g := got.Enumerators[i]; g.Name != v.Name || g.Value != v.Val {
				t.Errorf("%s.%s = %d, want %d", typ.EnumName, g.Name, g.Value, v.Val)
			}
		}
	}
}

// TestLayoutsAsWritten checks layouts and declarations against the source.
func TestLayoutsAsWritten(t *testing.T) {
	for _, tt := range programs {
		if tt.source != cSource {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			_, d := open(t, build(t, tt.compiler, tt.source, tt.args...))
			checkLayout(t, d)
			checkSignatures(t, d)
		})
	}
}

func checkLayout(t *testing.T, d *dwarf.Data) {
	t.Helper()
	found, err := d.FindTypes(t.Context(), "struct outer")
	if err != nil || len(found) != 1 {
		t.Fatalf("struct outer: %v, %v", found, err)
	}
	typ, ok := d.Type(found[0].Ref)
	if !ok {
		t.Fatal("struct outer can't be read")
	}
	var got []string
	for _, f := range typ.Fields {
		got = append(got, fmt.Sprintf("%d %s %s %d", f.Offset, f.Type, f.Name, f.Size))
	}
	want := []string{
		"0 struct inner[4][2] in 32", "32 enum color col 4", "40 union number u 8", "48 int (*)(const char *, struct outer *) cb 8",
		"56 int (*[3])(void) many 24", "80 struct outer * next 8", "88 volatile short * const fixed 8", "96 char[] flex 0",
	}
	norm := func(s []string) string { // compilers spell base types and open arrays differently
		return strings.NewReplacer("short int", "short", "char[0]", "char[]").Replace(strings.Join(s, "\n"))
	}
	if norm(got) != norm(want) || typ.Size != 96 {
		t.Errorf("struct outer, %d bytes:\n%s\nwant\n%s", typ.Size, norm(got), norm(want))
	}
	inner, err := d.FindTypes(t.Context(), "inner")
	if err != nil || len(inner) != 1 {
		t.Fatalf("inner: %v, %v", inner, err)
	}
	bits, _ := d.Type(inner[0].Ref)
	if len(bits.Fields) != 3 || bits.Fields[0].BitOffset != 0 || bits.Fields[0].BitSize != 3 || bits.Fields[1].BitOffset != 3 || bits.Fields[1].BitSize != 7 || bits.Fields[2].Offset != 2 {
		t.Errorf("struct inner: %+v", bits.Fields)
	}
	word, err := d.FindTypes(t.Context(), "word_t")
	if err != nil || len(word) != 1 {
		t.Fatalf("word_t: %v, %v", word, err)
	}
	if w, _ := d.Type(word[0].Ref); w.Kind != dwarf.KindTypedef || w.Size != 8 || !strings.Contains(w.Underlying, "unsigned") {
		t.Errorf("word_t: %+v", w)
	}
}

func checkSignatures(t *testing.T, d *dwarf.Data) {
	t.Helper()
	fs, err := d.Functions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, f := range fs {
		s, ok := d.Signature(f.Ref)
		if !ok {
			t.Errorf("no signature of %s", f.Name)
			continue
		}
		switch f.Name {
		case "helper":
			checked++
			if got := s.String(); got != "int helper(outer_t * o, const char * name, ...)" {
				t.Errorf("%s", got)
			}
			locals := map[string]string{}
			for _, v := range s.Locals {
				locals[v.Name] = v.Type
			}
			if locals["local"] != "int" || locals["i"] != "int" || locals["deep"] != "word_t" {
				t.Errorf("locals of helper: %v", s.Locals)
			}
		case "main":
			checked++
			if got := s.String(); got != "int main(int argc, char ** argv)" {
				t.Errorf("%s", got)
			}
		case "leave":
			checked++
			if got := s.String(); got != "void leave(int code)" {
				t.Errorf("%s", got)
			}
		}
	}
	if checked < 3 {
		t.Errorf("%d of 3 functions found", checked)
	}
}

func TestScopedNames(t *testing.T) {
	_, d := open(t, build(t, "g++", ccSource, "-O1", "-g"))
	for _, name := range []string{"shapes::box", "box", "shapes::mode", "shapes::point"} {
		found, err := d.FindTypes(t.Context(), name)
		if err != nil || len(found) != 1 || !strings.HasPrefix(found[0].Name, "shapes::") {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
	found, err := d.FindTypes(t.Context(), "shapes::box")
	if err != nil || len(found) == 0 {
		t.Fatal(err)
	}
	box, _ := d.Type(found[0].Ref)
	var got []string
	for _, f := range box.Fields {
		got = append(got, fmt.Sprintf("%d %s %s %v", f.Offset, f.Name, f.Type, f.Base))
	}
	want := []string{"0  shapes::base true", "16  shapes::point true", "32 w double false", "40 h double false"}
	if !slices.Equal(got, want) {
		t.Errorf("box: %q, want %q", got, want)
	}
}

// TestNoReturn expects the declaration to reach the image.
func TestNoReturn(t *testing.T) {
	im, d := open(t, build(t, "gcc", cSource, "-O1", "-g"))
	if _, err := d.AddTo(t.Context(), im); err != nil {
		t.Fatal(err)
	}
	for _, s := range im.Symbols {
		if s.Kind == object.SymFunction && slices.Contains(im.NoReturn, s.Addr) != (s.Name == "leave") {
			t.Errorf("%s at %#x; not returning are %#x", s.Name, s.Addr, im.NoReturn)
		}
	}
}

// TestColdRanges expects the split part of a function to be a part of it.
func TestColdRanges(t *testing.T) {
	im, d := open(t, build(t, "g++", ccSource, "-O2", "-g", "-freorder-blocks-and-partition"))
	n, err := d.AddTo(t.Context(), im)
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
	for _, s := range im.Symbols {
		base, cold := strings.CutSuffix(s.Name, ".cold")
		if !cold {
			continue
		}
		if !slices.ContainsFunc(im.Parts, func(p object.FunctionPart) bool {
			return p.Addr == s.Addr && slices.ContainsFunc(im.Symbols, func(o object.Symbol) bool { return o.Addr == p.Parent && o.Name == base })
		}) {
			t.Errorf("%s at %#x is no part of its function: %+v", s.Name, s.Addr, im.Parts)
		}
	}
}

func TestNoDebugInformation(t *testing.T) {
	path := build(t, "gcc", cSource, "-O2", "-s")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	im, err := native.Load(b, native.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dwarf.Open(im); !errors.Is(err, dwarf.ErrNone) {
		t.Errorf("error %v", err)
	}
}
