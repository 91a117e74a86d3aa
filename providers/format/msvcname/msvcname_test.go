package msvcname

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func names(t testing.TB) []string {
	t.Helper()
	b, err := os.ReadFile("testdata/names.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// TestAgreesWithLLVM compares every name, also those that are none.
func TestAgreesWithLLVM(t *testing.T) {
	undname := ""
	for _, name := range []string{"llvm-undname-19", "llvm-undname"} {
		if path, err := exec.LookPath(name); err == nil {
			undname = path
			break
		}
	}
	if undname == "" {
		t.Skip("llvm-undname is not installed")
	}
	all := names(t)
	cmd := exec.Command(undname)
	cmd.Stdin = strings.NewReader(strings.Join(all, "\n") + "\n")
	var out bytes.Buffer
	cmd.Stdout = &out
	cmd.Run() // it fails when one of the names is none
	blocks := strings.Split(out.String(), "\n\n")
	if len(blocks) < len(all) {
		t.Fatalf("%d answers for %d names", len(blocks), len(all))
	}
	read := 0
	for i, name := range all {
		given, want, _ := strings.Cut(blocks[i], "\n")
		if strings.TrimSpace(given) != name {
			t.Fatalf("answer %d is for %q, not %q", i, given, name)
		}
		want = strings.TrimSuffix(want, "\n")
		got, ok := Demangle(name)
		if got.Full != want || ok != (want != "") {
			t.Errorf("%s\n got %q\nwant %q", name, got.Full, want)
		}
		if ok {
			read++
		}
	}
	if read < 300 {
		t.Errorf("only %d names were read", read)
	}
}

func TestDemangle(t *testing.T) {
	for _, tt := range []struct{ name, full, qualified string }{
		{"?f@@YAXXZ", "void __cdecl f(void)", "f"},
		{"??0Foo@@QAE@XZ", "public: __thiscall Foo::Foo(void)", "Foo::Foo"},
		{"??_7Foo@@6B@", "const Foo::`vftable'", "Foo::`vftable'"},
		{".?AVtype_info@@", "class type_info `RTTI Type Descriptor Name'", ""},
		{"?x@Foo@@0HA", "private: static int Foo::x", "Foo::x"},
		// What llvm-undname does not know or says otherwise.
		{"?f@D@@G7EAAXXZ", "[thunk]: private: virtual void __cdecl D::f`adjustor{8}'(void)", "D::f"},
		{"?f@@YAX_L_M@Z", "void __cdecl f(__int128, unsigned __int128)", "f"},
		{"?f@@YAXBEAH@Z", "void __cdecl f(int &volatile)", "f"},
		{"?f@@YwXXZ", "void __regcall f(void)", "f"},
	} {
		got, ok := Demangle(tt.name)
		if !ok || got.Full != tt.full || got.Qualified != tt.qualified {
			t.Errorf("%s: %+v, want %q and %q", tt.name, got, tt.full, tt.qualified)
		}
	}
	for _, none := range []string{"", "main", "_Z1fv", "?", "??", "?f@@YAXXZx", "?f@@", ".text", "?" + strings.Repeat("a", MaxName), ".PE"} {
		if got, ok := Demangle(none); ok {
			t.Errorf("%q: %+v", none, got)
		}
	}
}

// TestReferencesDoNotExplode builds a name whose readable form would double
// with every level.
func TestReferencesDoNotExplode(t *testing.T) {
	name := "?f@@YAX"
	t0 := "U?$A@HH@@"
	for range 8 {
		t0 = "U?$A@" + t0 + t0 + "@@"
	}
	if got, ok := Demangle(name + t0 + "@Z"); ok && len(got.Full) > 2*maxOutput {
		t.Errorf("%d bytes", len(got.Full))
	}
	deep := "?f@@YAX" + strings.Repeat("PEA", 1000) + "H@Z"
	if _, ok := Demangle(deep); ok {
		t.Error("a type is nested a thousand times")
	}
}

func FuzzDemangle(f *testing.F) {
	for _, n := range names(f) {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got, ok := Demangle(name)
		if ok && (got.Full == "" || len(got.Full) > maxOutput) {
			t.Errorf("%q: %d bytes", name, len(got.Full))
		}
	})
}

func BenchmarkDemangle(b *testing.B) {
	all := names(b)
	for b.Loop() {
		for _, n := range all {
			Demangle(n)
		}
	}
}
