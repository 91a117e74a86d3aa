package gopclntab

import (
	"strings"
)

// Symbol is the name of a function taken apart.
type Symbol struct {
	// Package is the import path; "" for what the compiler, the linker or C made.
	Package string
	// Type has the method, "" for functions. Pointer tells that its receiver is one.
	Type    string
	Pointer bool
	Name    string // of the function or method, with those of closures inside of it
}

// SplitName takes a function's name apart: import path, receiver, name. Type
// arguments are left out.
func SplitName(name string) Symbol {
	if strings.HasPrefix(name, "type:") || strings.HasPrefix(name, "type..") || strings.HasPrefix(name, "go:") || strings.HasPrefix(name, "go.") && strings.HasPrefix(name, "go.build") {
		return Symbol{Name: name}
	}
	plain := withoutArguments(name)
	slash := strings.LastIndexByte(head(plain), '/')
	dot := strings.IndexByte(plain[slash+1:], '.')
	if dot < 0 {
		return Symbol{Name: name}
	}
	dot += slash + 1
	s := Symbol{Package: unescapePath(plain[:dot]), Name: strings.TrimSuffix(plain[dot+1:], "-fm")}
	if rest, ok := strings.CutPrefix(s.Name, "(*"); ok {
		if t, method, ok := strings.Cut(rest, ")."); ok {
			s.Type, s.Pointer, s.Name = t, true, method
		}
		return s
	}
	t, method, ok := strings.Cut(s.Name, ".")
	if ok && t != "init" && t != "glob" && t != "" && method != "" && !isClosure(method) {
		s.Type, s.Name = t, method
	}
	return s
}

// head ends where the part of a name begins that may hold other slashes.
func head(s string) string {
	if i := strings.IndexAny(s, "(["); i >= 0 {
		return s[:i]
	}
	return s
}

// withoutArguments drops what stands in brackets.
func withoutArguments(s string) string {
	if !strings.Contains(s, "[") {
		return s
	}
	var b strings.Builder
	depth := 0
	for _, c := range []byte(s) {
		switch c {
		case '[':
			depth++
		case ']':
			depth = max(depth-1, 0)
		default:
			if depth == 0 {
				b.WriteByte(c)
			}
		}
	}
	return b.String()
}

// isClosure recognizes the names of function literals and wrappers.
func isClosure(s string) bool {
	s, _, _ = strings.Cut(s, ".")
	for _, p := range []string{"func", "gowrap", "deferwrap", ""} {
		if rest, ok := strings.CutPrefix(s, p); ok {
			digits, _, _ := strings.Cut(rest, "-")
			if digits != "" && strings.Trim(digits, "0123456789") == "" {
				return true
			}
		}
	}
	return false
}

// unescapePath resolves %xx, which the linker writes for dots in the last
// element of a path and for odd bytes.
func unescapePath(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	digit := func(c byte) int { return strings.IndexByte("0123456789abcdef", c|0x20) }
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && digit(s[i+1]) >= 0 && digit(s[i+2]) >= 0 {
			b.WriteByte(byte(digit(s[i+1])<<4 | digit(s[i+2])))
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
