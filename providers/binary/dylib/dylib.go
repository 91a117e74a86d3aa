// Package dylib follows the rules by which systems find the libraries of a
// program: glibc and musl on Linux, dyld on macOS, the loader of Windows. It
// reads files and never runs anything.
//
// Libraries are looked for under a root, which is this machine or an unpacked
// system. Links are followed inside of the root, as the system would see them.
package dylib

import (
	"context"
	"fmt"
	"strings"

	"rea/providers/format/native"
	"rea/providers/format/object"
)

// State is what became of a dependency.
type State string

const (
	Found   State = "found"
	Loaded  State = "already_loaded" // by another request before
	Missing State = "missing"
	System  State = "system" // the system has it, not as a file
	Unknown State = "unknown"
)

// File is one that was read.
type File struct {
	Data   []byte
	SHA256 string
}

// Options say where to look and how far.
type Options struct {
	Root string // folder of a system; "" is this machine
	// LibraryPath are the folders of LD_LIBRARY_PATH, DYLD_LIBRARY_PATH or PATH.
	LibraryPath []string
	// Executable is the main program, where the traced file is a library.
	Executable string
	MaxDepth   int
	MaxImages  int
	Read       func(ctx context.Context, path string) (File, error)
	Slice      string // of a universal file
}

// Attempt is one place that was looked at.
type Attempt struct{ Rule, Path, Result string }

// Dependency is one request for a library.
type Dependency struct {
	Name, By     string
	Depth        int
	State        State
	Path         string // inside of the root; "" when there is no file
	SHA256       string
	Rule         string
	Reason       string
	Weak, Delay  bool
	Attempts     []Attempt
	AttemptsMore int
}

// Image is a file that takes part.
type Image struct {
	Path, Name, Arch, SHA256 string
	Depth, Needed            int
}

// Rule is a list of places in the order in which they are searched.
type Rule struct {
	Name  string
	Paths []string
}

// Trace is the whole answer.
type Trace struct {
	Loader       string
	Interpreter  string
	Rules        []Rule // of the traced file
	Images       []Image
	Dependencies []Dependency
	Notes        []string
}

func (t *Trace) note(format string, args ...any) {
	n := fmt.Sprintf(format, args...)
	for _, have := range t.Notes {
		if have == n {
			return
		}
	}
	if len(t.Notes) < 64 {
		t.Notes = append(t.Notes, n)
	}
}

// need is one library that an image asks for.
type need struct {
	name        string
	weak, delay bool
}

// image is a file with what its rules need.
type image struct {
	at     place
	name   string // its own name
	parent *image
	depth  int
	rpaths []string // with the tokens of their system
	weaker bool     // the list is DT_RUNPATH, which counts for this image alone
	nodefl bool
}

// candidate is a place to look at, or an answer that needs no file.
type candidate struct {
	rule  string
	at    place
	state State
	why   string
}

// system is the rules of one loader.
type system interface {
	// read takes from a file what its search needs.
	read(im *image, data []byte) ([]need, error)
	// fits tells why a file is none for this program, "" when it is.
	fits(data []byte) string
	// look lists where a library is searched for.
	look(n need, by *image) []candidate
	// keys are the names by which an image that is loaded answers requests.
	keys(n need, im *image) []string
	key(n need, by *image) string
}

const (
	maxAttempts = 64
	maxNeeds    = 4096
)

// Follow traces a file. Its data is given; the path tells where it lies.
func Follow(ctx context.Context, path string, data []byte, o Options) (*Trace, error) {
	r := &root{host: o.Root}
	start := &image{at: r.placeOf(path)}
	t := &Trace{}
	sys, err := systemOf(ctx, t, r, start, data, &o)
	if err != nil {
		return nil, err
	}
	w := &walk{ctx: ctx, o: &o, root: r, trace: t, sys: sys, loaded: map[string]*image{}, files: map[string]*image{}, hashes: map[*image]string{}}
	return t, w.run(start, data)
}

// systemOf chooses the rules by the format.
func systemOf(ctx context.Context, t *Trace, r *root, start *image, data []byte, o *Options) (system, error) {
	switch native.Detect(data) {
	case object.ELF:
		return newLinux(ctx, t, r, data, o)
	case object.MachO:
		return newDarwin(t, r, start, data, o)
	case object.PE:
		return newWindows(t, r, start, data, o)
	}
	return nil, &object.FormatError{What: "not an ELF, PE or Mach-O file"}
}

// walk is a breadth-first search, as loaders make it.
type walk struct {
	ctx    context.Context
	o      *Options
	root   *root
	trace  *Trace
	sys    system
	loaded map[string]*image // by the names that requests match
	files  map[string]*image // by real path
	hashes map[*image]string
}

type queued struct {
	im   *image
	data []byte
}

func (w *walk) run(start *image, data []byte) error {
	queue := []queued{{start, data}}
	w.preload(start)
	for len(queue) > 0 {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		next := queue[0]
		queue = queue[1:]
		needs, err := w.sys.read(next.im, next.data)
		if err != nil {
			w.trace.note("%s: %v", next.im.at.path, err)
			if next.im.parent == nil {
				return err
			}
			continue
		}
		if next.im.parent == nil {
			w.register(need{name: next.im.at.base()}, next.im)
			w.trace.Rules = rulesOf(w.sys, next.im)
		}
		if len(needs) > maxNeeds {
			w.trace.note("%s asks for %d libraries; the first %d are looked for", next.im.at.path, len(needs), maxNeeds)
			needs = needs[:maxNeeds]
		}
		w.trace.Images = append(w.trace.Images, Image{
			Path: next.im.at.path, Name: next.im.name, Depth: next.im.depth, Needed: len(needs), SHA256: w.hashes[next.im],
		})
		for _, n := range needs {
			d, im, data := w.resolve(n, next.im)
			if im != nil {
				if im.depth >= w.o.MaxDepth || len(w.trace.Images)+len(queue) >= w.o.MaxImages {
					w.trace.note("what the libraries at depth %d and beyond, or after the first %d files, ask for was not followed", w.o.MaxDepth, w.o.MaxImages)
				} else {
					queue = append(queue, queued{im, data})
				}
			}
			w.trace.Dependencies = append(w.trace.Dependencies, d)
		}
	}
	return nil
}

// preload lets a system register what is loaded before the program: the
// dynamic linker itself.
func (w *walk) preload(start *image) {
	l, ok := w.sys.(*linux)
	if !ok || l.interp == "" {
		return
	}
	im := &image{at: w.root.guest(l.interp), parent: start}
	real, ok := w.root.find(im.at)
	if !ok {
		w.trace.note("the interpreter %s is not there", l.interp)
		return
	}
	file, err := w.o.Read(w.ctx, w.root.hostPath(real))
	if err != nil {
		return
	}
	if _, err := l.read(im, file.Data); err != nil {
		return
	}
	im.at = real
	w.hashes[im] = file.SHA256
	w.register(need{name: im.at.base()}, im)
}

func (w *walk) register(n need, im *image) {
	for _, k := range w.sys.keys(n, im) {
		if _, ok := w.loaded[k]; !ok {
			w.loaded[k] = im
		}
	}
	w.files[im.at.id()] = im
}

// resolve looks for one library. The image is nil unless it is new.
func (w *walk) resolve(n need, by *image) (Dependency, *image, []byte) {
	d := Dependency{Name: n.name, By: by.at.path, Depth: by.depth + 1, Weak: n.weak, Delay: n.delay, State: Missing}
	key := w.sys.key(n, by)
	if im, ok := w.loaded[key]; ok {
		d.State, d.Path, d.SHA256 = Loaded, im.at.path, w.hashes[im]
		return d, nil, nil
	}
	for _, c := range w.sys.look(n, by) {
		if c.state != "" {
			d.State, d.Rule, d.Reason = c.state, c.rule, c.why
			return d, nil, nil
		}
		real, ok := w.root.find(c.at)
		if !ok {
			d.attempt(c, "missing")
			continue
		}
		if im, ok := w.files[real.id()]; ok {
			d.attempt(c, "found")
			d.State, d.Rule, d.Path, d.SHA256 = Loaded, c.rule, real.path, w.hashes[im]
			w.register(n, im)
			return d, nil, nil
		}
		file, err := w.o.Read(w.ctx, w.root.hostPath(real))
		if err != nil {
			d.attempt(c, "unreadable")
			continue
		}
		if why := w.sys.fits(file.Data); why != "" {
			d.attempt(c, why)
			continue
		}
		d.attempt(c, "found")
		im := &image{at: real, parent: by, depth: by.depth + 1}
		w.hashes[im] = file.SHA256
		if _, err := w.sys.read(im, file.Data); err != nil {
			w.trace.note("%s: %v", real.path, err)
		}
		w.register(n, im)
		d.State, d.Rule, d.Path, d.SHA256 = Found, c.rule, real.path, file.SHA256
		return d, im, file.Data
	}
	if d.Reason == "" {
		d.Reason = "it is in none of the places that are searched"
	}
	return d, nil, nil
}

func (d *Dependency) attempt(c candidate, result string) {
	if len(d.Attempts) == maxAttempts {
		d.AttemptsMore++
		return
	}
	d.Attempts = append(d.Attempts, Attempt{c.rule, c.at.path, result})
}

// probe is the name of a library that does not exist.
const probe = "\x00"

// rulesOf shows where a library would be looked for.
func rulesOf(sys system, im *image) []Rule {
	var out []Rule
	for _, c := range sys.look(need{name: probe}, im) {
		if c.state != "" {
			continue
		}
		path := strings.TrimSuffix(strings.TrimSuffix(c.at.path, probe), "/")
		if n := len(out); n > 0 && out[n-1].Name == c.rule {
			out[n-1].Paths = append(out[n-1].Paths, path)
		} else {
			out = append(out, Rule{c.rule, []string{path}})
		}
	}
	return out
}
