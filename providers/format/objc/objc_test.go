package objc

import (
	stdmacho "debug/macho"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"testing"
	"time"

	"rea/providers/format/macho"
	"rea/providers/format/object"
)

// fixtures are the files that testdata/build.sh makes from testdata/src.
var fixtures = []string{
	"shapes_x86_64.dylib", "shapes_arm64.dylib", "chained_x86_64.dylib", "chained_arm64.dylib",
	"swift_x86_64.dylib", "swift_arm64.dylib",
}

func fixture(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func read(tb testing.TB, name string) (*object.Image, *Metadata) {
	tb.Helper()
	im, err := macho.Load(fixture(tb, name), "")
	if err != nil {
		tb.Fatal(err)
	}
	m, err := Read(im)
	if err != nil {
		tb.Fatal(err)
	}
	if len(m.Notes) > 0 {
		tb.Errorf("%s: notes on an undamaged file: %q", name, m.Notes)
	}
	return im, m
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\n got %+v\nwant %+v", what, got, want)
	}
}

// The compiler gives every method a symbol with its name: implementations must
// be exactly these, whichever form the method lists have.
func TestImplementations_are_the_symbols(t *testing.T) {
	for _, name := range fixtures[:4] {
		t.Run(name, func(t *testing.T) {
			_, m := read(t, name)
			f, err := stdmacho.Open(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			want, got := map[string]uint64{}, map[string]uint64{}
			for _, s := range f.Symtab.Syms {
				if strings.HasPrefix(s.Name, "-[") || strings.HasPrefix(s.Name, "+[") {
					want[s.Name] = s.Value
				}
			}
			for _, h := range m.Hints() {
				got[h.Name] = h.Addr
				if h.Source != object.FromObjC {
					t.Errorf("%s comes from %s", h.Name, h.Source)
				}
			}
			if len(want) != 13 {
				t.Fatalf("the fixture has %d methods", len(want))
			}
			equal(t, "methods", got, want)
		})
	}
}

// Everything else, against the source that the fixtures are built from.
func TestClasses(t *testing.T) {
	for _, name := range fixtures[:4] {
		t.Run(name, func(t *testing.T) {
			_, m := read(t, name)
			classes := map[string]*Class{}
			for i := range m.Classes {
				classes[m.Classes[i].Name] = &m.Classes[i]
			}
			shape, child := classes["Shape"], classes["Child"]
			if shape == nil || child == nil || len(classes) != 2 {
				t.Fatalf("classes %+v", m.Classes)
			}
			equal(t, "superclasses", []string{shape.Super, child.Super}, []string{"Root", "External"})
			equal(t, "protocols", shape.Protocols, []string{"Named"})
			equal(t, "size", shape.InstanceSize, uint32(40))
			var ivars []Ivar
			for _, v := range shape.Ivars {
				if v.OffsetAddr == 0 {
					t.Errorf("%s has no offset variable", v.Name)
				}
				v.OffsetAddr = 0
				ivars = append(ivars, v)
			}
			equal(t, "ivars", ivars, []Ivar{
				{Name: "sides", Type: "i", Offset: 8, Size: 4},
				{Name: "scale", Type: "d", Offset: 16, Size: 8},
				{Name: "origin", Type: `{?="x"f"y"f}`, Offset: 24, Size: 8},
				{Name: "label", Type: "@", Offset: 32, Size: 8},
			})
		})
	}
}

func TestCategories_protocols_selectors(t *testing.T) {
	for _, name := range fixtures[:4] {
		t.Run(name, func(t *testing.T) {
			_, m := read(t, name)
			var cats, protos, sels []string
			for _, c := range m.Categories {
				cats = append(cats, c.Class+"("+c.Name+")")
			}
			for _, p := range m.Protocols {
				s := p.Name + "<" + strings.Join(p.Protocols, ",") + ">"
				for _, f := range p.Methods {
					s += " -" + f.Selector
					if f.Optional {
						s += "?"
					}
				}
				for _, f := range p.ClassMethods {
					s += " +" + f.Selector
				}
				protos = append(protos, s)
			}
			for _, s := range m.Selectors {
				sels = append(sels, s.Name)
			}
			sort.Strings(cats)
			sort.Strings(protos)
			sort.Strings(sels)
			equal(t, "categories", cats, []string{"External(Added)", "Shape(Extra)"})
			equal(t, "protocols", protos, []string{
				"Drawable<> -drawAt:y: -weightOf:? -corners? +standard",
				"Named<Drawable> -name",
			})
			for _, want := range []string{"remote", "sides", "square"} {
				if i := sort.SearchStrings(sels, want); i == len(sels) || sels[i] != want {
					t.Errorf("no reference to selector %s in %q", want, sels)
				}
			}
		})
	}
}

// The stubs that the linker made for two selectors have symbols.
func TestMessage_stubs(t *testing.T) {
	for _, name := range fixtures[2:4] {
		_, m := read(t, name)
		f, err := stdmacho.Open(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		want, got := map[string]uint64{}, map[string]uint64{}
		for _, s := range f.Symtab.Syms {
			if sel, ok := strings.CutPrefix(s.Name, "_objc_msgSend$"); ok {
				want[sel] = s.Value
			}
		}
		f.Close()
		for _, s := range m.Stubs {
			got[s.Selector] = s.Addr
		}
		if len(want) != 2 {
			t.Fatalf("%s has %d stubs", name, len(want))
		}
		equal(t, name, got, want)
	}
}

// The metadata of swift.s, written out by hand there.
func TestSwift(t *testing.T) {
	for _, name := range fixtures[4:] {
		t.Run(name, func(t *testing.T) {
			im, m := read(t, name)
			symbols := map[string]uint64{}
			for _, s := range im.Symbols {
				symbols[s.Name] = s.Addr
			}
			equal(t, "types", m.Types, []SwiftType{
				{
					Name: "Demo.Car", Kind: "class", Addr: symbols["car"], Accessor: symbols["accessor"],
					Methods: []uint64{symbols["method_one"], symbols["method_two"]},
					Fields: []Field{
						{Name: "wheels", Type: "Swift.Int", Mangled: "Si", Variable: true},
						{Name: "name", Type: "Swift.String?", Mangled: "SSSg"},
						{Name: "gear", Type: "Demo.Car.Gear?", Mangled: "4Demo3Car4GearOSg", Variable: true},
					},
				},
				{
					Name: "Demo.Car.Gear", Kind: "enum", Addr: symbols["gear"], Accessor: symbols["accessor"],
					Fields: []Field{{Name: "forward", Type: "Swift.Int", Mangled: "Si"}, {Name: "neutral"}},
				},
			})
			equal(t, "protocols", m.SwiftProtos, []SwiftProtocol{
				{Name: "Demo.Drivable", Addr: symbols["drivable"], Requirements: 3, Associated: []string{"Fuel", "Driver"}},
			})
			equal(t, "conformances", m.Conformances, []Conformance{
				{Addr: symbols["conformance"], Type: "Demo.Car", Protocol: "Demo.Drivable"},
			})
		})
	}
}

// Manglings put together by the published grammar of Swift's mangling.
func TestReadable_types(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"SS", "Swift.String"},
		{"SaySSG", "[Swift.String]"},
		{"SDySSSiG", "[Swift.String: Swift.Int]"},
		{"SDyS2SG", "[Swift.String: Swift.String]"},
		{"Si_SSt", "(Swift.Int, Swift.String)"},
		{"Si1a_SS1bt", "(a: Swift.Int, b: Swift.String)"},
		{"yyc", "() -> ()"},
		{"SSSiKc", "(Swift.Int) throws -> Swift.String"},
		{"yycSg", "(() -> ())?"},
		{"ypSg", "Any?"},
		{"yXl", "AnyObject"},
		{"s5Error_p", "any Swift.Error"},
		{"So8NSStringC", "__C.NSString"},
		{"4main3FooV3BarO", "main.Foo.Bar"},
		{"Sim", "Swift.Int.Type"},
		{"4main3FooVySiG", "main.Foo<Swift.Int>"},
		// Not understood, and said so by an empty text.
		{"AB", ""}, {"V", ""}, {"9999999999x", ""}, {"SiG", ""}, {"", ""}, {"SiSS", ""},
	} {
		got := mangledName{parts: []mangledPart{{text: tt.in}}, ok: true}.readable()
		if got != tt.want {
			t.Errorf("%q reads %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestOld_swift_names(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"_TtC4main3Foo", "main.Foo"},
		{"_TtCC4main5Outer5Inner", "main.Outer.Inner"},
		{"_TtP4main4Here_", "main.Here"},
		{"_TtCs12_SwiftObject", "Swift._SwiftObject"},
		{"_TtC4mainP33_0123456789ABCDEF0123456789ABCDEF3Foo", "main.Foo"},
		{"NSObject", ""}, {"_TtC", ""}, {"_TtC99main", ""}, {"_TtGC4main3Foo_", ""},
	} {
		if got := oldSwiftName(tt.in); got != tt.want {
			t.Errorf("%q reads %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestAddTo(t *testing.T) {
	im, m := read(t, "chained_arm64.dylib")
	m.AddTo(im)
	n, stubs := 0, 0
	for _, h := range im.Hints {
		if h.Source == object.FromObjC {
			n++
		}
	}
	for _, s := range im.Stubs {
		if strings.HasPrefix(s.Name, "_objc_msgSend$") {
			stubs++
		}
	}
	equal(t, "hints and stubs", [2]int{n, stubs}, [2]int{13, 2})
}

func check(tb testing.TB, data []byte) {
	tb.Helper()
	im, err := macho.Load(data, "")
	if err != nil {
		return
	}
	start := time.Now()
	m, err := Read(im)
	if err != nil {
		tb.Fatal(err)
	}
	if d := time.Since(start); d > 20*time.Second {
		tb.Fatalf("reading %d bytes took %v", len(data), d)
	}
	n := len(m.Classes) + len(m.Selectors) + len(m.Types) + len(m.Conformances)
	for _, c := range m.Classes {
		n += len(c.Methods) + len(c.ClassMethods) + len(c.Ivars)
	}
	if n > len(data)+10000 {
		tb.Fatalf("%d entries from %d bytes", n, len(data))
	}
	for _, h := range m.Hints() {
		if !im.Executable(h.Addr) {
			tb.Fatalf("hint %+v is not code", h)
		}
	}
}

// Damage in the segments that hold the metadata.
func TestDamaged(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, name := range fixtures {
		data := fixture(t, name)
		im, err := macho.Load(data, "")
		if err != nil {
			t.Fatal(err)
		}
		var at []int
		for _, s := range im.Sections {
			if strings.Contains(s.Name, "objc") || strings.Contains(s.Name, "swift") || strings.HasSuffix(s.Name, "__const") {
				for i := range int(s.FileSize) / 4 {
					at = append(at, int(s.Offset)+4*i)
				}
			}
		}
		for _, off := range at {
			for _, v := range []uint32{0, 1, 0xffffffff, 0x7fffffff, 0x80000000, uint32(off), 12} {
				m := append([]byte(nil), data...)
				binary.LittleEndian.PutUint32(m[off:], v)
				check(t, m)
			}
		}
		for range 500 {
			m := append([]byte(nil), data...)
			for range 4 {
				m[at[rng.IntN(len(at))]+rng.IntN(4)] = byte(rng.Uint32())
			}
			check(t, m)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range fixtures {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, data) })
}

func BenchmarkRead(b *testing.B) {
	im, err := macho.Load(fixture(b, "chained_arm64.dylib"), "")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Read(im); err != nil {
			b.Fatal(err)
		}
	}
}
