package dylib

import (
	"path"
	"strings"

	"rea/providers/format/macho"
)

// darwin is the rules of dyld.
type darwin struct {
	trace   *Trace
	root    *root
	o       *Options
	slice   string
	program place // of the main executable
	known   bool  // the main executable is known
}

func newDarwin(t *Trace, r *root, start *image, data []byte, o *Options) (*darwin, error) {
	desc, err := macho.Describe(data, o.Slice)
	if err != nil {
		return nil, err
	}
	d := &darwin{trace: t, root: r, o: o, slice: desc.Slice.Name()}
	t.Loader = "dyld"
	switch {
	case o.Executable != "":
		d.program, d.known = r.placeOf(o.Executable), true
	case desc.FileType == "MH_EXECUTE":
		d.program, d.known = start.at, true
	}
	for _, c := range desc.Commands {
		if c.Name == "LC_LOAD_DYLINKER" && len(c.Fields) > 0 {
			t.Interpreter = c.Fields[0].Value
		}
	}
	return d, nil
}

func (d *darwin) read(im *image, data []byte) ([]need, error) {
	desc, err := macho.Describe(data, d.slice)
	if err != nil {
		return nil, err
	}
	im.rpaths = nil
	for _, c := range desc.Commands {
		if c.Name == "LC_RPATH" && len(c.Fields) > 0 {
			im.rpaths = append(im.rpaths, c.Fields[0].Value)
		}
	}
	var out []need
	for _, l := range desc.Dylibs {
		if l.Kind == "id" {
			im.name = l.Path
			continue
		}
		out = append(out, need{name: l.Path, weak: l.Kind == "weak", delay: l.Kind == "lazy"})
	}
	return out, nil
}

func (d *darwin) fits(data []byte) string {
	if !macho.Is(data) {
		return "not_mach_o"
	}
	desc, err := macho.Describe(data, d.slice)
	if err != nil {
		return "wrong_architecture"
	}
	switch desc.FileType {
	case "MH_DYLIB", "MH_DYLIB_STUB", "MH_BUNDLE", "MH_DYLINKER":
		return ""
	}
	return "not_a_library"
}

// key is where the name leads to first: the same name means other files in
// other images.
func (d *darwin) key(n need, by *image) string {
	if c := d.look(n, by); len(c) > 0 && !strings.HasPrefix(n.name, "@rpath/") {
		return c[0].at.id()
	}
	return by.at.id() + "\x00" + n.name
}

func (d *darwin) keys(_ need, im *image) []string { return []string{im.at.id()} }

// place is a path of the system.
func (d *darwin) place(s string) place {
	if d.root.host == "" {
		return place{path.Clean(s), true}
	}
	return d.root.guest(s)
}

// expand resolves @loader_path and @executable_path for the image that has the
// path; ok is false when the executable is not known.
func (d *darwin) expand(s string, im *image) (place, bool) {
	if rest, ok := cutToken(s, "@loader_path"); ok {
		return im.at.dir().join(rest), true
	}
	if rest, ok := cutToken(s, "@executable_path"); ok {
		return d.program.dir().join(rest), d.known
	}
	if !path.IsAbs(s) {
		return im.at.dir().join(s), true
	}
	return d.place(s), true
}

func cutToken(s, token string) (string, bool) {
	rest, ok := strings.CutPrefix(s, token)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return rest, true
}

// systemPaths lie in the cache of the system and not on the disk.
var systemPaths = []string{"/usr/lib/", "/System/Library/", "/System/iOSSupport/", "/System/Cryptexes/", "/System/DriverKit/"}

func (d *darwin) look(n need, by *image) []candidate {
	var out []candidate
	leaf := path.Base(n.name)
	for _, p := range d.o.LibraryPath {
		out = append(out, candidate{rule: "DYLD_LIBRARY_PATH", at: d.place(p).join(leaf)})
	}
	rest, isRPath := cutToken(n.name, "@rpath")
	switch {
	case isRPath:
		for im := by; im != nil; im = im.parent {
			for _, p := range im.rpaths {
				at, ok := d.expand(p, im)
				if !ok {
					d.trace.note("@executable_path is not known: name the main program with executable")
					continue
				}
				out = append(out, candidate{rule: "LC_RPATH", at: at.join(rest)})
			}
		}
	default:
		at, ok := d.expand(n.name, by)
		rule := "install name"
		switch {
		case strings.HasPrefix(n.name, "@loader_path"):
			rule = "@loader_path"
		case strings.HasPrefix(n.name, "@executable_path"):
			rule = "@executable_path"
		}
		if !ok {
			return append(out, candidate{rule: rule, state: Unknown, why: "the main program is not known: name it with executable"})
		}
		out = append(out, candidate{rule: rule, at: at})
	}
	for _, p := range systemPaths {
		if strings.HasPrefix(n.name, p) {
			return append(out, candidate{rule: "shared cache", state: System, why: "the system keeps it in its cache of libraries, not as a file"})
		}
	}
	if !strings.HasPrefix(n.name, "@") {
		for _, dir := range []string{"/usr/local/lib", "/usr/lib"} {
			out = append(out, candidate{rule: "fallback", at: d.place(dir).join(leaf)})
		}
	}
	return out
}
