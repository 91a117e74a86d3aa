// Package symbol makes mangled names readable, whatever language they are of.
package symbol

import (
	"strings"

	"github.com/ianlancetaylor/demangle"

	"rea/providers/format/msvcname"
	"rea/providers/format/swiftname"
)

// Scheme is a way of mangling.
type Scheme string

const (
	None       Scheme = ""
	Itanium    Scheme = "itanium"
	MSVC       Scheme = "msvc"
	RustV0     Scheme = "rust_v0"
	RustLegacy Scheme = "rust_legacy"
	Swift      Scheme = "swift"
	ObjectiveC Scheme = "objective_c"
	Go         Scheme = "go"
)

// A Name is what was found out about a symbol.
type Name struct {
	Scheme   Scheme
	Readable string // "" when it could not be read
	// Qualified is the name alone, without types; "" when it is not known.
	Qualified string
}

// maxName bounds what is handed to the demanglers, maxReadable (as a power of
// two) what they may answer.
const (
	maxName     = 16384
	maxReadable = 16
)

// Demangle reads a symbol by the first scheme that its form belongs to. A
// Scheme without Readable means that it begins like a name of that scheme and
// is none.
func Demangle(s string) Name {
	for _, read := range []func(string) Name{itanium, microsoft, swift, objectiveC, golang} {
		if n := read(s); n.Scheme != None {
			return n
		}
	}
	return Name{}
}

// As reads a symbol by one scheme; rust is either of its two.
func As(s, scheme string) Name {
	read := map[string]func(string) Name{
		"itanium": itanium, "msvc": microsoft, "rust": itanium, "swift": swift, "objective_c": objectiveC, "go": golang,
	}[scheme]
	if read == nil {
		return Name{}
	}
	n := read(s)
	rust := n.Scheme == RustV0 || n.Scheme == RustLegacy
	if (scheme == "rust") != rust && (scheme == "rust" || scheme == "itanium") {
		return Name{}
	}
	return n
}

// itanium reads C++ names and those of Rust, which uses the same form or one
// of its own. Mach-O and 32-bit PE put an underscore before them.
func itanium(s string) Name {
	raw := strings.TrimPrefix(s, "__imp_")
	if strings.HasPrefix(raw, "__Z") || strings.HasPrefix(raw, "__R") || strings.HasPrefix(raw, "___Z") {
		raw = raw[1:]
	}
	raw, version, versioned := strings.Cut(raw, "@")
	var n Name
	switch {
	case strings.HasPrefix(raw, "_R") && len(raw) > 3:
		n.Scheme = RustV0
	case rustHash(raw):
		n.Scheme = RustLegacy
	case strings.HasPrefix(raw, "_Z") || strings.HasPrefix(raw, "__Z") || strings.HasPrefix(raw, "_GLOBAL__"):
		n.Scheme = Itanium
	default:
		return Name{}
	}
	if len(raw) > maxName {
		return n
	}
	out, err := demangle.ToString(raw, demangle.MaxLength(maxReadable))
	if err != nil || out == raw {
		if n.Scheme == RustV0 && !looksV0(raw) {
			return Name{}
		}
		return n
	}
	n.Readable = out
	if versioned {
		n.Readable += "@" + version
	}
	if n.Scheme == Itanium {
		if q, err := demangle.ToString(raw, demangle.MaxLength(maxReadable), demangle.NoParams, demangle.NoEnclosingParams); err == nil {
			n.Qualified = q
		}
	} else {
		n.Qualified = out
	}
	return n
}

// rustHash reports whether a name ends as Rust's legacy names do: a hash of 16
// hexadecimal digits as the last component.
func rustHash(s string) bool {
	if !strings.HasPrefix(s, "_ZN") {
		return false
	}
	i := strings.LastIndex(s, "17h")
	if i < 0 || len(s) < i+20 || s[i+19] != 'E' {
		return false
	}
	for _, c := range []byte(s[i+3 : i+19]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return i+20 == len(s) || s[i+20] == '.'
}

// looksV0 tells a broken v0 name from a C name that begins with _R: after it
// stands the letter of a path.
func looksV0(s string) bool { return strings.IndexByte("CMXYNI", s[2]) >= 0 }

func microsoft(s string) Name {
	raw := strings.TrimPrefix(s, "__imp_")
	if !msvcname.Is(raw) {
		return Name{}
	}
	n := Name{Scheme: MSVC}
	if read, ok := msvcname.Demangle(raw); ok {
		n.Readable, n.Qualified = read.Full, read.Qualified
	} else if raw[0] == '.' {
		return Name{}
	}
	return n
}

func swift(s string) Name {
	if !swiftname.Is(s) {
		return Name{}
	}
	n := Name{Scheme: Swift}
	n.Readable, _ = swiftname.Demangle(s)
	return n
}
