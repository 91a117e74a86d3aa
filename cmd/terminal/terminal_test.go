package terminal

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain text":          "plain text",
		"a\x1b[31mred":        `a\x1b[31mred`,
		"two\nlines\ttab\r":   `two\nlines\ttab\r`,
		"\x00\x7f":            `\x00\x7f`,
		"bad \xff\xc3 utf8":   `bad \xff\xc3 utf8`,
		"c1 \u009b2J":         `c1 \u009b2J`,
		"\u202Eevil\u2066":    `\u202eevil\u2066`,
		"zero\u200bwidth":     `zero\u200bwidth`,
		"tag\U000E0041":       `tag\U000e0041`,
		"line\u2028separator": `line\u2028separator`,
		"日本 é\u0301":          "日本 é\u0301",
		"\ufffd is a char":    "\ufffd is a char",
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
	}
	if got := EscapeLines("mov\teax\n\x1b"); got != "mov\teax\n\\x1b" {
		t.Errorf("EscapeLines kept %q", got)
	}
}

func TestWidth(t *testing.T) {
	for in, want := range map[string]int{
		"": 0, "abc": 3, "日本": 4, "é": 1, "e\u0301": 1, "😀x": 3, "한글": 4, "ﬀ": 1, "…": 1,
	} {
		if got := Width(in); got != want {
			t.Errorf("Width(%q) = %d, want %d", in, got, want)
		}
	}
}

func TestTruncate(t *testing.T) {
	for _, tt := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"x", 0, ""},
	} {
		if got := Truncate(tt.in, tt.width); got != tt.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", tt.in, tt.width, got, tt.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		in    string
		width int
		want  []string
	}{
		{"fits", 10, []string{"fits"}},
		{"two words", 5, []string{"two", "words"}},
		{"unbreakable", 4, []string{"unbr", "eaka", "ble"}},
		{"日本語", 1, []string{"日", "本", "語"}},
		{"a  b", 2, []string{"a", "b"}},
	} {
		if diff := cmp.Diff(tt.want, Wrap(tt.in, tt.width)); diff != "" {
			t.Errorf("Wrap(%q, %d) (-want +got):\n%s", tt.in, tt.width, diff)
		}
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("some words of different lengths 日本語", 7)
	f.Add("\xff\u0301", 1)
	f.Fuzz(func(t *testing.T, s string, width int) {
		width = max(2, width%200)
		s = Escape(s)
		if !utf8.ValidString(s) {
			t.Fatalf("escaped text is not UTF-8: %q", s)
		}
		lines := Wrap(s, width)
		for _, l := range lines {
			if Width(l) > width {
				t.Fatalf("line %q has %d cells, more than %d", l, Width(l), width)
			}
		}
		bare := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if got := bare(strings.Join(lines, "")); got != bare(s) {
			t.Fatalf("wrapped text is %q, was %q", got, bare(s))
		}
		if w := Width(Truncate(s, width)); w > width {
			t.Fatalf("truncated to %d cells, more than %d", w, width)
		}
	})
}

func TestOf_without_terminal(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(k string) string {
			for i := 0; i+1 < len(pairs); i += 2 {
				if pairs[i] == k {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	if got, want := Of(&bytes.Buffer{}, env()), (Screen{}); got != want {
		t.Errorf("a buffer is %+v", got)
	}
	if got, want := Of(&bytes.Buffer{}, env("COLUMNS", "132")), (Screen{Width: 132}); got != want {
		t.Errorf("COLUMNS gives %+v", got)
	}
	f, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := Of(f, env("COLUMNS", "no number")); got != (Screen{}) {
		t.Errorf("a file is %+v", got)
	}
	if got := (Screen{}).Paint(Red, "x"); got != "x" {
		t.Errorf("painted without colour: %q", got)
	}
}
