package extract

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"

	"rea/providers/artifacts/inventory"
	"rea/providers/format/container"
)

// TestFold: names that file systems take for one another have one key.
func TestFold(t *testing.T) {
	for _, same := range [][]string{
		{"Case", "cASE"},
		{"straße", "STRASSE", "strasse", "STRA\u1e9eE"}, // full case folding, as APFS and ext4 do it
		{"caf\u00e9", "cafe\u0301", "CAF\u00c9"},        // NFC and NFD
		{"Iıİi", "iiii", "IIII"},                        // Turkish
		{"ﬁle", "file"},                                 // a ligature
		{"\u212a", "k"},                                 // the Kelvin sign
		{"ΣΊΣΥΦΟΣ", "σίσυφος", "σίσυφοσ"},               // a final sigma
		{".g\u200cit", ".git", ".g\ufeffIt"},            // what HFS+ ignores
		{"a\ufe0f", "a"},
		{"\u01c5", "dž"},
	} {
		for _, name := range same[1:] {
			if fold(name) != fold(same[0]) {
				t.Errorf("%q is %q, %q is %q", name, fold(name), same[0], fold(same[0]))
			}
		}
	}
	for _, pair := range [][2]string{{"a", "b"}, {"straße", "strase"}, {"é", "e"}, {"ö", "oe"}} {
		if fold(pair[0]) == fold(pair[1]) {
			t.Errorf("%q and %q are one", pair[0], pair[1])
		}
	}
}

// TestFold_every_letter: no letter is kept apart from one that the Unicode tables
// pair with it, by case or by the way it is written.
func TestFold_every_letter(t *testing.T) {
	other := []func(string) string{
		strings.ToLower, strings.ToUpper, strings.ToTitle, norm.NFC.String, norm.NFKD.String,
		cases.Fold().String, cases.Upper(language.Und).String, cases.Lower(language.Turkish).String,
		func(s string) string { r, _ := utf8.DecodeRuneInString(s); return string(unicode.SimpleFold(r)) },
	}
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.S) {
			continue
		}
		name := string(r)
		for _, f := range other {
			if o := f(name); o != name && fold(o) != fold(name) {
				t.Errorf("%U is %q, %q is %q", r, fold(name), o, fold(o))
			}
		}
	}
}

// TestEncode: what is special to some system is written in another way.
func TestEncode(t *testing.T) {
	for raw, want := range map[string]string{
		"plain.txt": "plain.txt", "CON": "%43ON", "con.tar.gz": "%63on.tar.gz", "CON .txt": "%43ON .txt", "aux": "%61ux", "COM1": "%43OM1", "com¹": "%63om¹", "COM10": "COM10",
		"LPT0.log": "%4CPT0.log", "CONIN$": "%43ONIN$", "console": "console", "nul": "%6Eul", "name.": "name%2E", "name..": "name.%2E", "name ": "name%20", "...": "..%2E",
		"file:stream": "file%3Astream", "file::$DATA": "file%3A%3A$DATA", "a\\b": "a%5Cb", "a\tb": "a%09b", "a\u0085b": "a%C2%85b", "\xff": "%FF", "what?*": "what%3F%2A", "100%": "100%25",
	} {
		got, why := encode(raw)
		if got != want || (got != raw) != (why != "") {
			t.Errorf("%q is %q (%s), want %q", raw, got, why, want)
		}
	}
	long, why := encode(strings.Repeat("é", 200))
	if len(long) > maxName || why == "" {
		t.Errorf("a name of 400 bytes has %d (%s)", len(long), why)
	}
}

// TestPlaces: every logical path gets a spot of its own, and none outside.
func TestPlaces(t *testing.T) {
	p := &places{newFolder("")}
	seen := map[string]bool{}
	for _, logical := range []string{"a/STRASSE", "a/straße", "A/x", "a/x", "a", "a/b/c", "a/B/c", "a/b/C", "nul/x", "NUL/x", "x.!/y", "x.!/y"} {
		s, _, err := p.place(logical)
		if err != nil {
			t.Fatal(err)
		}
		key := fold(s.path())
		if seen[key] {
			t.Errorf("%s is taken: %s", logical, s.path())
		}
		seen[key] = true
	}
	for _, logical := range []string{"..", "a/../..", "/etc", "a/..", `..\\x`, `C:\\x`, "c:x/..", `\\\\server\\share`, strings.Repeat("d/", 200) + "x", strings.Repeat(strings.Repeat("n", 190)+"/", 20) + "x"} {
		var unsafe *Unsafe
		if s, _, err := p.place(logical); !errors.As(err, &unsafe) {
			t.Errorf("%.40q goes to %v (%v)", logical, s, err)
		}
	}
}

func FuzzPlace(f *testing.F) {
	for _, s := range []string{"a/b", "..", "CON/nul.", "x!/y", "é/e\u0301", `\\x00`, "straße"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		p := &places{newFolder("")}
		one, _, err := p.place(a)
		if err != nil {
			return
		}
		two, _, err := p.place(b)
		if err != nil {
			return
		}
		for _, s := range []*spot{one, two} {
			for part := range strings.SplitSeq(s.path(), "/") {
				if part == "" || part == "." || part == ".." || reserved(part) || strings.ContainsAny(part, "<>:\"|?*\\\x00") || len(part) > maxName+20 || strings.TrimRight(part, ". ") != part {
					t.Fatalf("%q is written as %q", a, s.path())
				}
			}
		}
		if fold(one.path()) == fold(two.path()) {
			t.Fatalf("%q and %q are both %q", a, b, one.path())
		}
	})
}

// TestTaken: a name that the system has already, for whatever reason, is not
// written over.
func TestTaken(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	d, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Discard()
	if err := os.WriteFile(filepath.Join(d.Path, "PROGRA~1"), []byte("there"), 0o600); err != nil {
		t.Fatal(err)
	}
	it := &inventory.Item{Path: "PROGRA~1", Type: container.File}
	w, err := d.Begin(it, false)
	if err != nil {
		t.Fatal(err)
	}
	w.Write([]byte("new"))
	if err := d.End(it, nil); err != nil {
		t.Fatal(err)
	}
	if f := d.Files[0]; f.Name != "PROGRA~1~2" || f.Renamed == "" {
		t.Errorf("%+v", f)
	}
}
