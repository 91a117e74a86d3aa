// Package extract writes the contents of entries into a directory of its own,
// under names that are safe on every system.
//
// # Names
//
// A file stands where its logical path says, with a directory "name!" for what
// a container of that name holds. Names that would lead somewhere else are
// refused: absolute ones, those with "..", empty ones. Names that mean something
// special to some system are written with %XX in place of what is special, and
// names that one system takes for another get a number; both are reported.
package extract

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"rea/providers/format/container"
)

// maxName is the longest name that all systems take, in bytes, with room for a
// number.
const maxName = 200

// maxPath is the longest relative path that is written.
const maxPath = 3000

// maxComponents bounds how deep directories get.
const maxComponents = 128

// Unsafe says why a name is refused.
type Unsafe struct{ Reason string }

func (e *Unsafe) Error() string { return e.Reason }

// folder is a directory that is written, and what its names are taken for.
type folder struct {
	kids map[string]*folder // by raw name
	path string
	used map[string]bool // folded names of everything in it
}

func newFolder(path string) *folder {
	return &folder{kids: map[string]*folder{}, path: path, used: map[string]bool{}}
}

// places gives every logical path a file of its own.
type places struct{ top *folder }

// spot is where a content is written. renamed says why its name is not the one
// in the container.
type spot struct {
	in      *folder
	name    string
	renamed string
}

func (s *spot) path() string { return join(s.in.path, s.name) }

// next takes another name, because the system has that one already.
func (s *spot) next(raw string) { s.name, s.renamed = s.in.take(raw) }

// place finds a spot for a logical path, and the raw name of what stands there.
func (p *places) place(logical string) (s *spot, raw string, err error) {
	renamed := ""
	parts, err := components(logical)
	if err != nil {
		return nil, "", err
	}
	at := p.top
	for _, raw := range parts[:len(parts)-1] {
		kid := at.kids[raw]
		if kid == nil {
			name, why := at.take(raw)
			if renamed == "" {
				renamed = why
			}
			kid = newFolder(join(at.path, name))
			at.kids[raw] = kid
		} else if enc, why := encode(raw); renamed == "" && kid.path != join(at.path, enc) {
			renamed = "a directory has another name: it is taken for one that is there already"
		} else if renamed == "" {
			renamed = why
		}
		at = kid
	}
	raw = parts[len(parts)-1]
	name, why := at.take(raw)
	if why != "" {
		renamed = why
	}
	s = &spot{at, name, renamed}
	if n := len(s.path()); n > maxPath {
		return nil, "", &Unsafe{fmt.Sprintf("the path would have %d bytes", n)}
	}
	return s, raw, nil
}

// take reserves a name in the folder.
func (f *folder) take(raw string) (name, why string) {
	name, why = encode(raw)
	if key := fold(name); !f.used[key] {
		f.used[key] = true
		return name, why
	}
	for i := 2; ; i++ {
		numbered := fmt.Sprintf("%s~%d", name, i)
		if key := fold(numbered); !f.used[key] {
			f.used[key] = true
			return numbered, "some system takes its name for one that is there already"
		}
	}
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// fold makes names equal that some system takes for equal: it ignores case, in
// Turkish too, the way accents and ligatures are written, and characters that
// nothing is drawn for.
func fold(name string) string {
	if ascii(name) {
		return strings.ToLower(name)
	}
	s := norm.NFKD.String(cases.Fold().String(norm.NFKD.String(name)))
	s = strings.Map(func(r rune) rune {
		switch {
		case r == 'ı':
			return 'i'
		case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r), r == 0x34f:
			return -1
		}
		return caseless(r)
	}, s)
	return strings.ReplaceAll(s, "i\u0307", "i")
}

// caseless stands for all letters that differ from r in case only. Full folding
// leaves some apart: Cherokee has its small letters in two places.
func caseless(r rune) rune {
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	return unicode.ToLower(least)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// components are the raw names of a logical path, containers with "!" behind.
func components(logical string) ([]string, error) {
	var out []string
	levels := strings.Split(logical, container.Inside)
	for i, level := range levels {
		if level == "" && i == 0 && len(levels) > 1 {
			continue // the stream in the root
		}
		if level == "" { // the content of a stream
			if i == len(levels)-1 {
				out = append(out, "content")
			}
			continue
		}
		parts, err := split(container.Unescape(level))
		if err != nil {
			return nil, err
		}
		if i < len(levels)-1 {
			parts[len(parts)-1] += "!"
		}
		out = append(out, parts...)
	}
	if len(out) == 0 {
		out = []string{"content"}
	}
	if len(out) > maxComponents {
		return nil, &Unsafe{fmt.Sprintf("it lies %d directories deep", len(out))}
	}
	return out, nil
}

func split(raw string) ([]string, error) {
	switch {
	case strings.HasPrefix(raw, "/"):
		return nil, &Unsafe{"the name is absolute"}
	case strings.IndexByte(raw, 0) >= 0:
		return nil, &Unsafe{"the name has a NUL byte"}
	case len(raw) >= 2 && raw[1] == ':' && (len(raw) == 2 || raw[2] == '\\' || raw[2] == '/') && isLetter(raw[0]):
		return nil, &Unsafe{"the name begins with a drive"}
	case strings.HasPrefix(raw, `\`):
		return nil, &Unsafe{"the name is absolute on Windows"}
	}
	if slices.Contains(strings.FieldsFunc(raw, func(c rune) bool { return c == '/' || c == '\\' }), "..") {
		return nil, &Unsafe{`the name leaves the directory with ".."`}
	}
	var out []string
	for _, part := range strings.Split(raw, "/") {
		if part != "." && part != "" {
			out = append(out, part)
		}
	}
	if len(out) == 0 {
		return nil, &Unsafe{"the name is empty"}
	}
	return out, nil
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// encode writes a name so that no system takes it for something special.
func encode(raw string) (name, why string) {
	var b strings.Builder
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRuneInString(raw[i:])
		last := i+n == len(raw)
		if special := r == utf8.RuneError && n == 1 || unicode.IsControl(r) || strings.ContainsRune(`<>:"|?*\%`, r) || last && (r == '.' || r == ' '); special {
			for _, c := range []byte(raw[i : i+n]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
			why = "its name is special on some system"
		} else {
			b.WriteString(raw[i : i+n])
		}
		i += n
	}
	name = b.String()
	if reserved(name) {
		name, why = fmt.Sprintf("%%%02X%s", name[0], name[1:]), "its name is reserved on Windows"
	}
	if len(name) > maxName {
		sum := sha256.Sum256([]byte(raw))
		cut := maxName - 17
		for cut > 0 && !utf8.RuneStart(name[cut]) {
			cut--
		}
		name, why = name[:cut]+"~"+hex.EncodeToString(sum[:8]), "its name is too long"
	}
	return name, why
}

// reserved knows the names of devices, with whatever extension.
func reserved(name string) bool {
	base, _, _ := strings.Cut(strings.ToUpper(name), ".")
	base = strings.TrimRight(base, " ")
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	if len(base) >= 4 && (base[:3] == "COM" || base[:3] == "LPT") {
		switch base[3:] {
		case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
			return true
		}
	}
	return false
}
