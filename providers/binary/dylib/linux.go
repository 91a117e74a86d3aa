package dylib

import (
	"context"
	"path"
	"slices"
	"strings"

	"rea/providers/format/elf"
	"rea/providers/format/ldso"
	"rea/providers/format/object"
)

// linux is the rules of glibc (ld.so(8)) and of musl.
type linux struct {
	trace    *Trace
	root     *root
	o        *Options
	main     *elf.Linkage
	musl     bool
	interp   string
	cache    map[string][]ldso.Entry
	conf     []string // of ld.so.conf, where there is no cache
	defaults []string
	musldirs []string
	links    map[*image]*elf.Linkage
}

var triples = map[object.Arch]string{
	object.X86_64: "x86_64-linux-gnu", object.X86: "i386-linux-gnu", object.ARM64: "aarch64-linux-gnu", object.ARM: "arm-linux-gnueabihf",
}

func newLinux(_ context.Context, t *Trace, r *root, data []byte, o *Options) (*linux, error) {
	main, err := elf.ReadLinkage(data)
	if err != nil {
		return nil, err
	}
	l := &linux{trace: t, root: r, o: o, main: main, interp: main.Interp, links: map[*image]*elf.Linkage{}}
	t.Loader, t.Interpreter = "glibc", main.Interp
	if strings.Contains(main.Interp, "ld-musl") || main.Interp == "" && r.read("/etc/ld.so.cache") == nil && r.isMusl() {
		l.musl, t.Loader = true, "musl"
		l.readMusl()
		return l, nil
	}
	if main.Interp != "" && !strings.Contains(main.Interp, "ld-linux") && !strings.Contains(main.Interp, "ld.so") && !strings.Contains(main.Interp, "ld64") {
		t.note("the interpreter %s is not glibc's; glibc's rules are followed", main.Interp)
	}
	l.readCache()
	triple := triples[main.Arch]
	if triple != "" {
		l.defaults = append(l.defaults, "/lib/"+triple, "/usr/lib/"+triple)
	}
	if main.Bits == 64 {
		l.defaults = append(l.defaults, "/lib64", "/usr/lib64")
	}
	l.defaults = append(l.defaults, "/lib", "/usr/lib")
	return l, nil
}

// isMusl looks for musl's dynamic linker.
func (r *root) isMusl() bool {
	for _, arch := range []string{"x86_64", "aarch64", "i386", "armhf"} {
		if _, ok := r.find(r.guest("/lib/ld-musl-" + arch + ".so.1")); ok {
			return true
		}
	}
	return false
}

// kinds are the flags of cache entries that a program takes.
func (l *linux) kinds() []int32 {
	switch {
	case l.main.Arch == object.X86_64 && l.main.Bits == 32:
		return []int32{ldso.X32}
	case l.main.Arch == object.X86_64:
		return []int32{ldso.X86_64}
	case l.main.Arch == object.ARM64:
		return []int32{ldso.ARM64}
	case l.main.Arch == object.ARM:
		return []int32{ldso.ARMHF, ldso.ARMSF, ldso.X86}
	}
	return []int32{ldso.X86}
}

func (l *linux) readCache() {
	data := l.root.read("/etc/ld.so.cache")
	if data == nil {
		l.conf = l.readConf("/etc/ld.so.conf", 0)
		l.trace.note("there is no /etc/ld.so.cache; the directories that ldconfig would take into it are searched instead")
		return
	}
	entries, err := ldso.ParseCache(data)
	if err != nil {
		l.trace.note("/etc/ld.so.cache: %v", err)
		return
	}
	l.cache = map[string][]ldso.Entry{}
	variants := 0
	for _, e := range entries {
		if !slices.Contains(l.kinds(), e.Flags) {
			continue
		}
		if e.HWCap != 0 {
			variants++
			continue
		}
		l.cache[e.Name] = append(l.cache[e.Name], e)
	}
	if variants > 0 {
		l.trace.note("%d libraries of the cache have variants for certain processors, which are not chosen here", variants)
	}
}

// readConf gathers the directories of a list and of those that it includes.
func (l *linux) readConf(name string, depth int) []string {
	data := l.root.read(name)
	if data == nil || depth > 8 {
		return nil
	}
	c := ldso.ParseConf(data)
	out := c.Directories
	for _, pattern := range c.Includes {
		if !path.IsAbs(pattern) {
			pattern = path.Join(path.Dir(name), pattern)
		}
		dir, base := path.Split(pattern)
		for _, e := range l.root.list(l.root.hostPath(l.root.guest(dir))) {
			if ok, err := path.Match(base, e.Name()); ok && err == nil && len(out) < 4096 {
				out = append(out, l.readConf(path.Join(dir, e.Name()), depth+1)...)
			}
		}
	}
	return out
}

func (l *linux) readMusl() {
	arch := strings.TrimSuffix(strings.TrimPrefix(path.Base(l.interp), "ld-musl-"), ".so.1")
	l.musldirs = []string{"/lib", "/usr/local/lib", "/usr/lib"}
	if data := l.root.read("/etc/ld-musl-" + arch + ".path"); data != nil {
		l.musldirs = ldso.ParsePath(data)
	}
}

func (l *linux) read(im *image, data []byte) ([]need, error) {
	link, err := elf.ReadLinkage(data)
	if err != nil {
		return nil, err
	}
	l.links[im] = link
	im.name, im.nodefl = link.SOName, link.NoDefaultLibs
	list := link.RPath
	if link.RunPath != "" {
		list, im.weaker = link.RunPath, true
	}
	im.rpaths = nil
	if list != "" {
		im.rpaths = strings.Split(list, ":")
	}
	var out []need
	for _, n := range link.Needed {
		out = append(out, need{name: n})
	}
	return out, nil
}

func (l *linux) fits(data []byte) string {
	link, err := elf.ReadLinkage(data)
	switch {
	case err != nil:
		return "not_elf"
	case link.Machine != l.main.Machine || link.Bits != l.main.Bits || link.BigEndian != l.main.BigEndian:
		return "wrong_architecture"
	}
	return ""
}

func (l *linux) key(n need, _ *image) string { return n.name }

func (l *linux) keys(n need, im *image) []string {
	if im.parent == nil {
		return nil // a program answers no requests
	}
	out := []string{n.name}
	if im.name != "" {
		out = append(out, im.name)
	}
	return out
}

// expand resolves the tokens of a path for the image that has it.
func (l *linux) expand(s string, im *image) place {
	origin := im.at.dir()
	for _, token := range []string{"$ORIGIN", "${ORIGIN}"} {
		if rest, ok := strings.CutPrefix(s, token); ok {
			return origin.join(l.tokens(rest))
		}
	}
	s = l.tokens(s)
	if !path.IsAbs(s) { // relative to the current directory, which a file does not tell
		l.trace.note("the search path %q of %s is relative to the current directory; the program's own is taken", s, im.at.path)
		return origin.join(s)
	}
	return l.place(s)
}

// place is a path of the system.
func (l *linux) place(s string) place {
	if l.root.host == "" {
		return place{path.Clean(s), true}
	}
	return l.root.guest(s)
}

func (l *linux) tokens(s string) string {
	lib := "lib"
	if triple := triples[l.main.Arch]; triple != "" && l.root.isDir("/lib/"+triple) {
		lib = "lib/" + triple
	} else if l.main.Bits == 64 && l.root.isDir("/lib64") {
		lib = "lib64"
	}
	platform := map[object.Arch]string{object.X86_64: "x86_64", object.X86: "i686", object.ARM64: "aarch64", object.ARM: "v7l"}[l.main.Arch]
	return strings.NewReplacer("${LIB}", lib, "$LIB", lib, "${PLATFORM}", platform, "$PLATFORM", platform).Replace(s)
}

func (l *linux) look(n need, by *image) []candidate {
	if strings.Contains(n.name, "/") {
		return []candidate{{rule: "path", at: l.expand(n.name, by)}}
	}
	if l.musl {
		return l.lookMusl(n, by)
	}
	var out []candidate
	dir := func(rule string, at place) {
		l.variants(at, n.name)
		out = append(out, candidate{rule: rule, at: at.join(n.name)})
	}
	if !by.weaker { // an image with DT_RUNPATH looks at no DT_RPATH, not even at others'
		for im := by; im != nil; im = im.parent {
			if im.weaker {
				continue
			}
			for _, p := range im.rpaths {
				if p != "" {
					dir("DT_RPATH", l.expand(p, im))
				}
			}
		}
	}
	for _, p := range l.o.LibraryPath {
		dir("LD_LIBRARY_PATH", l.place(p))
	}
	if by.weaker {
		for _, p := range by.rpaths {
			if p != "" {
				dir("DT_RUNPATH", l.expand(p, by))
			}
		}
	}
	if by.nodefl {
		return out
	}
	for _, e := range l.cache[n.name] {
		out = append(out, candidate{rule: "ld.so.cache", at: l.place(e.Path)})
	}
	if n.name == probe && l.cache != nil {
		out = append(out, candidate{rule: "ld.so.cache", at: l.place("/etc/ld.so.cache")})
	}
	for _, d := range l.conf {
		dir("ld.so.conf", l.place(d))
	}
	for _, d := range l.defaults {
		dir("default", l.place(d))
	}
	return out
}

// variants notes the builds of a library for certain processors. glibc (2.33 and
// later) looks for them below every folder, before it looks into the folder;
// which one a machine takes is not told by files.
func (l *linux) variants(dir place, name string) {
	base := dir.join("glibc-hwcaps")
	for _, level := range l.root.list(l.root.hostPath(base)) {
		if at := base.join(level.Name()).join(name); level.IsDir() && l.exists(at) {
			l.trace.note("%s is taken instead where the processor is of that level", at.path)
		}
	}
}

func (l *linux) exists(at place) bool {
	_, ok := l.root.find(at)
	return ok
}

func (l *linux) lookMusl(n need, by *image) []candidate {
	if strings.HasPrefix(n.name, "libc.musl-") || n.name == "libc.so" {
		return []candidate{{rule: "interpreter", at: l.place(l.interp)}}
	}
	var out []candidate
	for _, p := range l.o.LibraryPath {
		out = append(out, candidate{rule: "LD_LIBRARY_PATH", at: l.place(p).join(n.name)})
	}
	for im := by; im != nil; im = im.parent {
		for _, p := range im.rpaths {
			if p != "" {
				out = append(out, candidate{rule: "DT_RUNPATH", at: l.expand(p, im).join(n.name)})
			}
		}
	}
	for _, d := range l.musldirs {
		out = append(out, candidate{rule: "default", at: l.place(d).join(n.name)})
	}
	return out
}
