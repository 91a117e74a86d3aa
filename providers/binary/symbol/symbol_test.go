package symbol

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestDemangle(t *testing.T) {
	for _, tt := range []struct {
		in        string
		scheme    Scheme
		readable  string
		qualified string
	}{
		{"_ZN3foo3barEi", Itanium, "foo::bar(int)", "foo::bar"},
		{"__ZN3foo3barEi", Itanium, "foo::bar(int)", "foo::bar"},
		{"_ZNSt6vectorIiSaIiEE9push_backEOi", Itanium, "std::vector<int, std::allocator<int> >::push_back(int&&)", "std::vector<int, std::allocator<int> >::push_back"},
		{"_ZNSs4_Rep20_S_empty_rep_storageE@@GLIBCXX_3.4", Itanium, "std::string::_Rep::_S_empty_rep_storage@@GLIBCXX_3.4", "std::string::_Rep::_S_empty_rep_storage"},
		{"_Znope", Itanium, "", ""},
		{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", RustLegacy, "core::fmt::Formatter::pad", "core::fmt::Formatter::pad"},
		{"_RNvC4main3foo", RustV0, "main::foo", "main::foo"},
		{"_Reset", None, "", ""},
		{"?f@@YAXH@Z", MSVC, "void __cdecl f(int)", "f"},
		{"__imp_?f@@YAXH@Z", MSVC, "void __cdecl f(int)", "f"},
		{"?nope", MSVC, "", ""},
		{".text", None, "", ""},
		{"$s4main3fooyyF", Swift, "main.foo() -> ()", ""},
		{"_$s4main3fooyyF", Swift, "main.foo() -> ()", ""},
		{"$snope", Swift, "", ""},
		{"-[Foo bar:baz:]", ObjectiveC, "-[Foo bar:baz:]", "-[Foo bar:baz:]"},
		{"_OBJC_CLASS_$_Foo", ObjectiveC, "class Foo", "Foo"},
		{"_OBJC_METACLASS_$__TtC4main3Foo", ObjectiveC, "metaclass main.Foo", "main.Foo"},
		{"_OBJC_IVAR_$_Foo._bar", ObjectiveC, "offset of instance variable Foo._bar", "Foo._bar"},
		{"__OBJC_$_CATEGORY_NSString_$_Mine", ObjectiveC, "category NSString(Mine)", "NSString(Mine)"},
		{"_objc_msgSend$setObject:forKey:", ObjectiveC, "stub that sends setObject:forKey:", "setObject:forKey:"},
		{"___24-[Foo bar]_block_invoke_2", ObjectiveC, "block 2 in -[Foo bar]", "-[Foo bar]"},
		{"___main_block_invoke", ObjectiveC, "block in main", "main"},
		{"gopkg.in/yaml%2ev3.Unmarshal", Go, "gopkg.in/yaml.v3.Unmarshal", "gopkg.in/yaml.v3.Unmarshal"},
		{"runtime·memmove", Go, "runtime.memmove", "runtime.memmove"},
		{"main.(*T).Method-fm", Go, "method value main.(*T).Method", "main.(*T).Method-fm"},
		{"main.main.func1.2", Go, "closure in main.main", "main.main.func1.2"},
		{"main.F[go.shape.int]", Go, "main.F[shape of int]", "main.F[go.shape.int]"},
		{"go:itab.*os.File,io.Reader", Go, "method table of *os.File as io.Reader", "*os.File as io.Reader"},
		{"type:.eq.main.T", Go, "equality function of type main.T", "main.T"},
		{"main", None, "", ""},
		{"printf", None, "", ""},
		{"main.main", None, "", ""},
		{"", None, "", ""},
	} {
		got := Demangle(tt.in)
		if want := (Name{tt.scheme, tt.readable, tt.qualified}); got != want {
			t.Errorf("%s: %+v, want %+v", tt.in, got, want)
		}
	}
}

func TestAs(t *testing.T) {
	for _, tt := range []struct {
		in, scheme string
		want       Scheme
	}{
		{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "rust", RustLegacy},
		{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "itanium", None},
		{"_ZN3foo3barEi", "rust", None},
		{"_ZN3foo3barEi", "msvc", None},
		{"_ZN3foo3barEi", "nonsense", None},
	} {
		if got := As(tt.in, tt.scheme); got.Scheme != tt.want {
			t.Errorf("%s as %s: %+v", tt.in, tt.scheme, got)
		}
	}
}

// filter runs c++filt over names.
func filter(t *testing.T, names []string, flags ...string) []string {
	t.Helper()
	if _, err := exec.LookPath("c++filt"); err != nil {
		t.Skip("c++filt is not installed")
	}
	cmd := exec.Command("c++filt", append(flags, "-r")...)
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

func symbolsOf(t *testing.T, path string, flags ...string) []string {
	t.Helper()
	if _, err := exec.LookPath("nm"); err != nil {
		t.Skip("nm is not installed")
	}
	out, err := exec.Command("nm", append(flags, path)...).Output()
	if err != nil {
		t.Skipf("nm %s: %v", path, err)
	}
	var names []string
	for _, line := range strings.Split(string(out), "\n") {
		if f := strings.Fields(line); len(f) > 0 {
			name, _, _ := strings.Cut(f[len(f)-1], "@")
			names = append(names, name)
		}
	}
	return names
}

// TestAgreesWithCxxfilt compares every C++ name of the C++ library.
func TestAgreesWithCxxfilt(t *testing.T) {
	libraries, _ := filepath.Glob("/usr/lib/*/libstdc++.so.6")
	if len(libraries) == 0 {
		t.Skip("there is no libstdc++")
	}
	names := symbolsOf(t, libraries[0], "-D")
	want := filter(t, names)
	read, differ := 0, 0
	for i, name := range names {
		n := Demangle(name)
		if n.Scheme != Itanium || n.Readable == "" {
			if want[i] != name {
				t.Errorf("%s was not read, c++filt says %s", name, want[i])
			}
			continue
		}
		read++
		if same := func(s string) string { return strings.ReplaceAll(expanded.Replace(s), " >", ">") }; same(n.Readable) != same(want[i]) {
			if differ++; differ < 5 {
				t.Logf("%s\n got %s\nwant %s", name, n.Readable, want[i])
			}
		}
	}
	if read < 3000 || differ*1000 > read {
		t.Errorf("%d of %d names are read otherwise", differ, read)
	}
}

// TestAgreesWithCxxfiltOnRust compares names that rustc made, in both ways.
func TestAgreesWithCxxfiltOnRust(t *testing.T) {
	b, err := os.ReadFile("testdata/rust.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(b))
	want := filter(t, names, "-s", "rust")
	read := map[Scheme]int{}
	for i, name := range names {
		n := As(name, "rust")
		read[n.Scheme]++
		if withoutHashes(n.Readable) != withoutHashes(want[i]) {
			t.Errorf("%s\n got %s\nwant %s", name, n.Readable, want[i])
		}
	}
	if read[RustV0] < 20 || read[RustLegacy] < 20 {
		t.Errorf("%v were read", read)
	}
}

// shown are what c++filt writes and we do not: hashes of crates, of names, and
// the types of constants.
var shown = regexp.MustCompile(`\[[0-9a-f]{8,16}\]|::h[0-9a-f]{16}$|: usize`)

func withoutHashes(s string) string { return shown.ReplaceAllString(s, "") }

// expanded writes the names that c++filt does not shorten in scopes.
var expanded = strings.NewReplacer(
	"std::istream", "std::basic_istream<char, std::char_traits<char> >",
	"std::ostream", "std::basic_ostream<char, std::char_traits<char> >",
	"std::iostream", "std::basic_iostream<char, std::char_traits<char> >",
	"std::string", "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
)

func FuzzDemangle(f *testing.F) {
	for _, s := range []string{"_ZN3foo3barEi", "_RNvC4main3foo", "?f@@YAXH@Z", "$s4main3fooyyF", "___24-[Foo bar]_block_invoke_2", "gopkg.in/yaml%2ev3.F", "_OBJC_CLASS_$_Foo"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n := Demangle(s); n.Scheme == None && n.Readable != "" {
			t.Errorf("%q: %+v", s, n)
		}
	})
}
