package symbol

import (
	"strings"
	"unicode/utf8"
)

// golang reads what the Go linker does to names: dots of the last element of
// an import path and odd bytes are written as %xx, assembly writes · and ∕ for
// dot and slash, and the compiler adds closures, wrappers and shapes.
func golang(s string) Name {
	if !utf8.ValidString(s) || strings.ContainsAny(s, " \t\n?@") || !strings.Contains(s, ".") && !strings.Contains(s, "·") {
		return Name{}
	}
	for _, p := range []struct{ prefix, what string }{
		{"type:.eq.", "equality function of type "}, {"type:.hash.", "hash function of type "},
		{"type..eq.", "equality function of type "}, {"type..hash.", "hash function of type "},
		{"type:.namedata.", "name data "}, {"type:.importpath.", "import path "}, {"type:", "type "},
		{"go:itab.", "method table of "}, {"go.itab.", "method table of "},
		{"go:string.", "string constant "}, {"go:info.", "debug information of "},
	} {
		if rest, ok := strings.CutPrefix(s, p.prefix); ok && rest != "" {
			rest = unescape(rest)
			if concrete, iface, ok := strings.Cut(rest, ","); ok && strings.Contains(p.prefix, "itab") {
				rest = concrete + " as " + iface
			}
			return Name{Go, p.what + rest, rest}
		}
	}
	name := strings.ReplaceAll(strings.ReplaceAll(unescape(s), "·", "."), "∕", "/")
	readable, marked := name, name != s
	if base, ok := strings.CutSuffix(readable, "-fm"); ok {
		readable, marked = "method value "+base, true
	}
	if i := strings.Index(readable, "[go.shape."); i > 0 {
		readable, marked = strings.ReplaceAll(readable, "go.shape.", "shape of "), true
	}
	if owner, ok := closureOf(readable); ok {
		readable, marked = "closure in "+owner, true
	}
	if !marked {
		return Name{}
	}
	return Name{Go, readable, name}
}

// unescape resolves %xx.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if hi, lo := hexDigit(s[i+1]), hexDigit(s[i+2]); hi >= 0 && lo >= 0 {
				b.WriteByte(byte(hi<<4 | lo))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	if out := b.String(); utf8.ValidString(out) {
		return out
	}
	return s
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// closureOf takes the numbered parts that the compiler gives to function
// literals off the end of a name.
func closureOf(s string) (owner string, ok bool) {
	owner = s
	for {
		i := strings.LastIndexByte(owner, '.')
		if i <= 0 || !isClosure(owner[i+1:]) || !strings.Contains(owner[:i], ".") {
			return owner, ok
		}
		owner, ok = owner[:i], ok || !allDigits(owner[i+1:])
	}
}

func isClosure(s string) bool {
	for _, p := range []string{"func", "gowrap", "deferwrap", ""} {
		if rest, ok := strings.CutPrefix(s, p); ok && allDigits(strings.TrimSuffix(rest, "-range")) {
			return true
		}
	}
	return false
}

func allDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
