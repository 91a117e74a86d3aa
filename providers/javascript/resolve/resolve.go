// Package resolve finds the file that an import means, as Node and bundlers do:
// relative paths with extensions and index files, packages up the folders,
// exports and imports of package.json with their conditions and patterns, and
// packages that name themselves.
package resolve

import (
	"path"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Files is the application in which is looked.
type Files interface {
	// Has reports whether a file of that path is there.
	Has(path string) bool
	// Manifest of the folder, nil when it has no package.json that can be read.
	Manifest(dir string) *Manifest
}

// Links are files that know symbolic links, as workspaces and some package managers
// make them.
type Links interface {
	// Link is where the symbolic link at a path leads, relative to its folder; ok is
	// false for what is none.
	Link(path string) (target string, ok bool)
}

// A Manifest is what package.json says that matters here.
type Manifest struct {
	Name    string
	Version string
	Type    string
	Main    string
	Module  string
	Browser string // where it is a path
	// Replaced are, where browser is an object, the modules and files ("./…") that are
	// others in a browser; "" stands for an empty module.
	Replaced map[string]string
	Bin      map[string]string
	Exports  *Target
	Imports  *Target
	Raw      map[string]jsontext.Value
}

// A Target is a value of exports or imports: a path, nothing, alternatives, or
// conditions and subpaths in their order.
type Target struct {
	Path    string
	Null    bool
	List    []*Target
	Entries []Entry
}

// An Entry is one member of an object in exports or imports.
type Entry struct {
	Key   string
	Value *Target
}

const maxTargetDepth = 32

// ReadManifest reads the text of a package.json. Members of the wrong type are
// left out; ok is false when the text is not an object.
func ReadManifest(data []byte) (m *Manifest, ok bool) {
	data = []byte(strings.TrimPrefix(string(data), "\ufeff"))
	raw := map[string]jsontext.Value{}
	if err := json.Unmarshal(data, &raw, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil || data[0] == 'n' {
		return nil, false
	}
	m = &Manifest{Raw: raw, Bin: map[string]string{}}
	m.Name, m.Version, m.Type = text(raw["name"]), text(raw["version"]), text(raw["type"])
	m.Main, m.Module, m.Browser = text(raw["main"]), text(raw["module"]), text(raw["browser"])
	if bin := text(raw["bin"]); bin != "" {
		m.Bin[path.Base(m.Name)] = bin
	} else {
		_ = json.Unmarshal(raw["bin"], &m.Bin)
	}
	m.Replaced = replacements(raw["browser"])
	m.Exports, m.Imports = target(raw["exports"], 0), target(raw["imports"], 0)
	return m, true
}

// replacements reads an object in browser.
func replacements(v jsontext.Value) map[string]string {
	if v.Kind() != '{' {
		return nil
	}
	members := map[string]jsontext.Value{}
	if json.Unmarshal(v, &members, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return nil
	}
	out := map[string]string{}
	for from, to := range members {
		if to.Kind() == '"' || to.Kind() == 'f' {
			out[from] = text(to)
		}
	}
	return out
}

func text(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	s, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return string(s)
}

func target(v jsontext.Value, depth int) *Target {
	if len(v) == 0 || depth > maxTargetDepth {
		return nil
	}
	switch v.Kind() {
	case '"':
		return &Target{Path: text(v)}
	case 'n':
		return &Target{Null: true}
	case '[':
		var items []jsontext.Value
		if json.Unmarshal(v, &items) != nil {
			return nil
		}
		t := &Target{}
		for _, item := range items {
			if inner := target(item, depth+1); inner != nil {
				t.List = append(t.List, inner)
			}
		}
		return t
	case '{':
		t := &Target{}
		dec := jsontext.NewDecoder(strings.NewReader(string(v)), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		if _, err := dec.ReadToken(); err != nil {
			return nil
		}
		for dec.PeekKind() == '"' {
			name, err := dec.ReadToken()
			if err != nil {
				return nil
			}
			key := name.String()
			value, err := dec.ReadValue()
			if err != nil {
				return nil
			}
			if inner := target(value.Clone(), depth+1); inner != nil {
				t.Entries = append(t.Entries, Entry{key, inner})
			}
		}
		return t
	}
	return nil
}

// How an import is written decides the conditions that hold.
type How struct {
	Require bool // require, not import
	Browser bool
}

func (h How) holds(condition string) bool {
	switch condition {
	case "default", "module-sync":
		return true
	case "require":
		return h.Require
	case "import":
		return !h.Require
	case "node", "electron", "node-addons":
		return !h.Browser
	case "browser":
		return h.Browser
	}
	return false
}

// A Result is what an import means.
type Result struct {
	Path    string // of the file, "" when it was not found
	Package string // name of the package that was looked for
	Builtin bool
	URL     bool
	Address string // that an import map gives it, "" without
	// Reason why nothing was found.
	Reason string
}

// extensions that are tried, in order.
var extensions = []string{"", ".js", ".json", ".node", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts", ".cts"}

// replaced are extensions that sources write for what they will be compiled to.
var replaced = map[string][]string{".js": {".ts", ".tsx", ".jsx"}, ".mjs": {".mts"}, ".cjs": {".cts"}}

// A Resolver looks in one application.
type Resolver struct {
	files Files
	links Links // nil when the files know none
	// Partial: there may be more files than are known.
	Partial bool
}

// New makes the resolver of an application. Files that are Links, too, are looked
// at through them.
func New(files Files) *Resolver {
	links, _ := files.(Links)
	return &Resolver{files: files, links: links}
}

// Absent is why a file was not found: text, where all files are known.
func (r *Resolver) Absent(text string) string {
	if r.Partial {
		return text + ", as far as files were read: not all of them were"
	}
	return text
}

// maxLinks bounds the links on the way to one file, which may lead in circles.
const maxLinks = 40

// real is a path with its links followed, "" for one that leaves the application or
// does not end.
func (r *Resolver) real(p string) string {
	if r.links == nil {
		return p
	}
	p = path.Clean(p)
	for followed := 0; ; {
		found := false
		for end := 1; end <= len(p); end++ {
			if end < len(p) && p[end] != '/' {
				continue
			}
			to, ok := r.links.Link(p[:end])
			if !ok {
				continue
			}
			if followed++; followed > maxLinks || strings.HasPrefix(to, "/") {
				return ""
			}
			p = path.Join(path.Dir(p[:end]), to, p[end:])
			if p == ".." || strings.HasPrefix(p, "../") {
				return ""
			}
			found = true
			break
		}
		if !found {
			return p
		}
	}
}

func (r *Resolver) has(p string) bool {
	p = r.real(p)
	return p != "" && r.files.Has(p)
}

func (r *Resolver) manifest(dir string) *Manifest {
	if dir = r.real(dir); dir == "" {
		return nil
	}
	return r.files.Manifest(dir)
}

// Resolve finds what specifier means in the file at from.
func (r *Resolver) Resolve(from, specifier string, how How) Result {
	if how.Browser {
		if to, ok := r.replacement(path.Dir(from), specifier); ok {
			if to == "" {
				return Result{Reason: "package.json has an empty module in its place"}
			}
			specifier, from = to, path.Join(r.scopeOf(path.Dir(from)), "package.json")
		}
	}
	out := r.resolve(from, specifier, how)
	out.Path = r.real(out.Path)
	if out.Path == "." {
		out.Path = ""
	}
	if how.Browser && out.Path != "" {
		scope := r.scopeOf(path.Dir(out.Path))
		if m := r.manifest(scope); m != nil && m.Replaced != nil {
			rel := "./" + strings.TrimPrefix(strings.TrimPrefix(out.Path, scope), "/")
			if scope == "." {
				rel = "./" + out.Path
			}
			for _, key := range []string{rel, strings.TrimSuffix(rel, path.Ext(rel)), rel[2:]} {
				to, ok := m.Replaced[key]
				if !ok {
					continue
				}
				if to == "" {
					return Result{Package: out.Package, Reason: "package.json has an empty module in its place"}
				}
				if p := r.real(r.file(path.Join(scope, to))); p != "" && p != "." {
					out.Path = p
				}
				break
			}
		}
	}
	return out
}

// replacement is what package.json puts in the place of a module in a browser.
func (r *Resolver) replacement(dir, specifier string) (string, bool) {
	if strings.HasPrefix(specifier, ".") || strings.HasPrefix(specifier, "/") {
		return "", false
	}
	m := r.manifest(r.scopeOf(dir))
	if m == nil {
		return "", false
	}
	to, ok := m.Replaced[specifier]
	return to, ok && to != specifier
}

// scopeOf is the nearest folder with a package.json, "." without.
func (r *Resolver) scopeOf(dir string) string {
	if at, m := r.scope(dir); m != nil {
		return at
	}
	return "."
}

func (r *Resolver) resolve(from, specifier string, how How) Result {
	switch {
	case specifier == "" || len(specifier) > 4096 || strings.ContainsRune(specifier, 0):
		return Result{Reason: "it is not a specifier"}
	case strings.HasPrefix(specifier, "node:"):
		return Result{Package: specifier[len("node:"):], Builtin: true}
	case strings.HasPrefix(specifier, "data:") || strings.Contains(specifier, "://"):
		return Result{URL: true}
	}
	if i := strings.LastIndexByte(specifier, '!'); i >= 0 && !strings.HasPrefix(specifier[i:], "!/") { // loader!file
		specifier = specifier[i+1:]
	}
	if i := strings.IndexAny(specifier, "?"); i > 0 { // file?raw
		specifier = specifier[:i]
	}
	dir := path.Dir(from)
	switch {
	case strings.HasPrefix(specifier, "/"):
		if p := r.fileOrFolder(strings.TrimLeft(specifier, "/"), how); p != "" {
			return Result{Path: p}
		}
		return Result{Reason: r.Absent("no such file")}
	case specifier == "." || specifier == ".." || strings.HasPrefix(specifier, "./") || strings.HasPrefix(specifier, "../"):
		joined := path.Join(dir, specifier)
		if joined == ".." || strings.HasPrefix(joined, "../") {
			return Result{Reason: "it lies outside of the application"}
		}
		if p := r.fileOrFolder(joined, how); p != "" {
			return Result{Path: p}
		}
		if r.links != nil && r.real(joined) == "" {
			return Result{Reason: "it is behind a symbolic link that leads out of the application"}
		}
		return Result{Reason: r.Absent("no such file")}
	case strings.HasPrefix(specifier, "#"):
		return r.imports(dir, specifier, how)
	}
	return r.pkg(dir, specifier, how)
}

func (r *Resolver) fileOrFolder(p string, how How) string {
	if found := r.file(p); found != "" {
		return found
	}
	return r.folder(p, how)
}

func (r *Resolver) file(p string) string {
	for _, ext := range extensions {
		if r.has(p + ext) {
			return p + ext
		}
	}
	ext := path.Ext(p)
	for _, other := range replaced[ext] {
		if q := strings.TrimSuffix(p, ext) + other; r.has(q) {
			return q
		}
	}
	return ""
}

func (r *Resolver) folder(dir string, how How) string {
	if m := r.manifest(dir); m != nil {
		for _, main := range mains(m, how) {
			p := path.Join(dir, main)
			if found := r.file(p); found != "" {
				return found
			}
			if found := r.index(p); found != "" {
				return found
			}
		}
	}
	return r.index(dir)
}

func mains(m *Manifest, how How) (list []string) {
	if how.Browser && m.Browser != "" {
		list = append(list, m.Browser)
	}
	if !how.Require && m.Module != "" && how.Browser {
		list = append(list, m.Module)
	}
	if m.Main != "" {
		list = append(list, m.Main)
	}
	if m.Module != "" {
		list = append(list, m.Module)
	}
	return list
}

func (r *Resolver) index(dir string) string {
	for _, ext := range extensions[1:] {
		if p := path.Join(dir, "index"+ext); r.has(p) {
			return p
		}
	}
	return ""
}

// split parts a bare specifier into package and subpath.
func split(specifier string) (name, sub string, ok bool) {
	name = specifier
	i := strings.IndexByte(specifier, '/')
	if i >= 0 && strings.HasPrefix(specifier, "@") {
		j := strings.IndexByte(specifier[i+1:], '/')
		if j >= 0 {
			i += 1 + j
		} else {
			i = -1
		}
	}
	if i >= 0 {
		name, sub = specifier[:i], specifier[i+1:]
	}
	return name, sub, name != "" && name != "@" && !strings.HasPrefix(name, ".")
}

func (r *Resolver) pkg(dir, specifier string, how How) Result {
	name, sub, ok := split(specifier)
	if !ok {
		return Result{Reason: "it is not a specifier"}
	}
	if Builtin(specifier) {
		return Result{Package: specifier, Builtin: true}
	}
	reason := r.Absent("the package is not in the application")
	if self, m := r.scope(dir); m != nil && m.Name == name && m.Exports != nil {
		return r.exported(self, m, name, sub, how)
	}
	for d := dir; ; d = path.Dir(d) {
		if path.Base(d) != "node_modules" {
			at := path.Join(d, "node_modules", name)
			if m := r.manifest(at); m != nil && m.Exports != nil {
				return r.exported(at, m, name, sub, how)
			}
			if p := r.fileOrFolder(path.Join(at, sub), how); p != "" {
				return Result{Path: p, Package: name}
			}
			if r.manifest(at) != nil {
				reason = r.Absent("the package has no such file")
			}
		}
		if d == "." || d == "/" || d == "" {
			return Result{Package: name, Reason: reason}
		}
	}
}

// scope is the nearest folder with a package.json.
func (r *Resolver) scope(dir string) (string, *Manifest) {
	for d := dir; ; d = path.Dir(d) {
		if m := r.manifest(d); m != nil {
			return d, m
		}
		if d == "." || d == "/" || d == "" {
			return "", nil
		}
	}
}

func (r *Resolver) exported(at string, m *Manifest, name, sub string, how How) Result {
	key := "."
	if sub != "" {
		key = "./" + sub
	}
	t := m.Exports
	subpaths := false
	for _, e := range t.Entries {
		subpaths = subpaths || strings.HasPrefix(e.Key, ".")
	}
	var p string
	var found bool
	switch {
	case subpaths:
		p, found = match(t.Entries, key, how)
	case key == ".":
		p, found = pick(t, "", how, 0)
	}
	if !found {
		return Result{Package: name, Reason: "package.json does not export " + key}
	}
	full := path.Join(at, p)
	if full != at && !strings.HasPrefix(full, at+"/") && at != "." {
		return Result{Package: name, Reason: "package.json exports a path outside of the package"}
	}
	if !r.has(full) {
		return Result{Package: name, Reason: r.Absent("package.json exports " + key + " as " + p + ", which is not there")}
	}
	return Result{Path: full, Package: name}
}

func (r *Resolver) imports(dir, specifier string, how How) Result {
	at, m := r.scope(dir)
	if m == nil || m.Imports == nil {
		return Result{Reason: "no package.json with imports"}
	}
	p, found := match(m.Imports.Entries, specifier, how)
	if !found {
		return Result{Reason: "package.json does not import " + specifier}
	}
	if !strings.HasPrefix(p, "./") {
		return r.pkg(dir, p, how)
	}
	if full := path.Join(at, p); r.has(full) {
		return Result{Path: full}
	}
	return Result{Reason: r.Absent("package.json imports " + specifier + " as " + p + ", which is not there")}
}

// match finds the entry for a key: the same, or the pattern with the longest part
// before its star, the longer one of two with the same.
func match(entries []Entry, key string, how How) (string, bool) {
	best, star := -1, ""
	for i, e := range entries {
		if e.Key == key && !strings.Contains(key, "*") {
			return pick(e.Value, "", how, 0)
		}
		before, after, ok := strings.Cut(e.Key, "*")
		if !ok && strings.HasSuffix(e.Key, "/") { // folders, as once were
			before, after, ok = e.Key, "", true
		}
		if !ok || !strings.HasPrefix(key, before) || !strings.HasSuffix(key[len(before):], after) {
			continue
		}
		if best >= 0 {
			held, _, _ := strings.Cut(entries[best].Key, "*")
			if len(before) < len(held) || len(before) == len(held) && len(e.Key) <= len(entries[best].Key) {
				continue
			}
		}
		best, star = i, key[len(before):len(key)-len(after)]
	}
	if best < 0 {
		return "", false
	}
	p, ok := pick(entries[best].Value, star, how, 0)
	if ok && strings.HasSuffix(entries[best].Key, "/") {
		p += star
	}
	return p, ok
}

// pick is the path that a target gives under the conditions that hold.
func pick(t *Target, star string, how How, depth int) (string, bool) {
	if t == nil || t.Null || depth > maxTargetDepth {
		return "", false
	}
	if t.Path != "" {
		return strings.ReplaceAll(t.Path, "*", star), true
	}
	for _, inner := range t.List {
		if p, ok := pick(inner, star, how, depth+1); ok {
			return p, true
		}
	}
	for _, e := range t.Entries {
		if !how.holds(e.Key) {
			continue
		}
		if p, ok := pick(e.Value, star, how, depth+1); ok {
			return p, true
		}
		if e.Value.Null {
			return "", false
		}
	}
	return "", false
}

// Builtin reports whether a specifier is a module of Node or Electron.
func Builtin(specifier string) bool {
	name, _, _ := strings.Cut(specifier, "/")
	switch name {
	case "assert", "async_hooks", "buffer", "child_process", "cluster", "console", "constants", "crypto", "dgram",
		"diagnostics_channel", "dns", "domain", "electron", "events", "fs", "http", "http2", "https", "inspector", "module",
		"net", "original-fs", "os", "path", "perf_hooks", "process", "punycode", "querystring", "readline", "repl", "stream",
		"string_decoder", "sys", "timers", "tls", "trace_events", "tty", "url", "util", "v8", "vm", "wasi", "worker_threads", "zlib":
		return true
	}
	return false
}
