// Package libsig is a table of the declarations of well-known library
// functions: the C library, POSIX, the C++ and Objective-C runtimes, Win32.
//
// The table is text, one C declaration a line. "=" in front says that the
// function writes no memory its arguments point to and keeps none of them; "!"
// that it does not return. Types are written as the system's headers write them.
package libsig

import (
	_ "embed"
	"strings"
	"sync"

	"rea/providers/format/object"
)

//go:embed posix.txt
var posix string

//go:embed win32.txt
var win32 string

// Parameter of a function. Name may be empty.
type Parameter struct{ Type, Name string }

// Signature is a declaration.
type Signature struct {
	Name       string
	Result     string
	Parameters []Parameter
	Variadic   bool
	NoReturn   bool
	Pure       bool // neither writes through its arguments nor keeps them
	Windows    bool // declared by the Windows API, with its convention
}

// String is the declaration in C.
func (s *Signature) String() string {
	parts := make([]string, 0, len(s.Parameters)+1)
	for _, p := range s.Parameters {
		parts = append(parts, p.String())
	}
	if s.Variadic {
		parts = append(parts, "...")
	}
	if len(parts) == 0 {
		parts = append(parts, "void")
	}
	return declare(s.Result, s.Name+"("+strings.Join(parts, ", ")+")")
}

// String is the declaration of the parameter.
func (p Parameter) String() string {
	if i := strings.Index(p.Type, "(*)"); i >= 0 {
		return p.Type[:i+2] + p.Name + p.Type[i+2:]
	}
	return declare(p.Type, p.Name)
}

func declare(typ, name string) string {
	if name == "" {
		return typ
	}
	if strings.HasSuffix(typ, "*") {
		return typ + name
	}
	return typ + " " + name
}

// Floating says that a type is a floating-point number that travels in a vector
// register.
func Floating(typ string) bool {
	switch strings.TrimSpace(typ) {
	case "double", "float", "_Float64", "_Float32":
		return true
	}
	return false
}

// Floating says that the parameter is a floating-point number.
func (p Parameter) Floating() bool { return Floating(p.Type) }

type tables struct{ posix, win32 map[string]*Signature }

var parsed = sync.OnceValue(func() tables {
	return tables{table(posix, false), table(win32, true)}
})

func table(text string, windows bool) map[string]*Signature {
	out := map[string]*Signature{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if s, ok := parse(line); ok {
			s.Windows = windows
			out[s.Name] = s
		}
	}
	return out
}

// Lookup finds the declaration of an import by its name as the file has it:
// with the underscore of Mach-O and 32-bit PE, a symbol version or the size of
// its arguments.
func Lookup(name string, format object.Format) (*Signature, bool) {
	t := parsed()
	name = strings.TrimPrefix(name, "__imp_")
	if i := strings.IndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	names := []string{name}
	if rest, ok := strings.CutPrefix(name, "_"); ok && format != object.ELF {
		names = append(names, rest)
		if format == object.MachO {
			names[0], names[1] = rest, name
		}
	}
	for _, n := range names {
		if i := strings.IndexByte(n, '$'); i > 0 && format == object.MachO { // variants: open$NOCANCEL
			n = n[:i]
		}
		if format == object.PE {
			if s, ok := t.win32[n]; ok {
				return s, true
			}
		}
		if s, ok := t.posix[n]; ok {
			return s, true
		}
	}
	return nil, false
}

// All are the declarations of a format, for tests and completions: those that
// Lookup can find, in no order.
func All(format object.Format) []*Signature {
	t := parsed()
	var out []*Signature
	for _, s := range t.posix {
		out = append(out, s)
	}
	if format == object.PE {
		for _, s := range t.win32 {
			out = append(out, s)
		}
	}
	return out
}

// parse reads one declaration.
func parse(line string) (*Signature, bool) {
	s := &Signature{}
	switch line[0] {
	case '=':
		s.Pure, line = true, line[1:]
	case '!':
		s.NoReturn, line = true, line[1:]
	}
	open := strings.IndexByte(line, '(')
	if open < 0 || !strings.HasSuffix(line, ")") {
		return nil, false
	}
	s.Result, s.Name = split(line[:open])
	for _, part := range arguments(line[open+1 : len(line)-1]) {
		switch {
		case part == "...":
			s.Variadic = true
		case part == "void":
		default:
			s.Parameters = append(s.Parameters, parameter(part))
		}
	}
	return s, s.Name != "" && s.Result != ""
}

// split separates a type from the name that follows it.
func split(s string) (typ, name string) {
	s = strings.TrimSpace(s)
	i := len(s)
	for i > 0 && (s[i-1] == '_' || s[i-1] >= '0' && s[i-1] <= '9' || s[i-1] >= 'a' && s[i-1] <= 'z' || s[i-1] >= 'A' && s[i-1] <= 'Z') {
		i--
	}
	return strings.TrimSpace(s[:i]), s[i:]
}

// arguments separates at commas outside parentheses.
func arguments(s string) []string {
	var out []string
	depth, start := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(s[start:]))
}

func parameter(s string) Parameter {
	if i := strings.Index(s, "(*"); i >= 0 {
		if end := strings.IndexByte(s[i:], ')'); end > 0 {
			return Parameter{Type: s[:i+2] + s[i+end:], Name: s[i+2 : i+end]}
		}
	}
	typ, name := split(s)
	return Parameter{typ, name}
}
