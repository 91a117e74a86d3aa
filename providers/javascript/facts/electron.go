package facts

import (
	"path"
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
	"rea/providers/javascript/symbol"
)

// protocols reads schemes that a program answers or asks to be opened with.
func protocols(e *extractor, c *call) {
	if c.n == 0 {
		return
	}
	use := Value{"use", "answered"}
	switch c.name {
	case "setAsDefaultProtocolClient":
		use.Value = "opened-with"
	case "registerSchemesAsPrivileged":
		list := c.args[0]
		if e.f.Kind(list) != parse.Array {
			return
		}
		for k := e.f.First(list); k != 0; k = e.f.Next(k) {
			if scheme := e.Names.Member(e.Names.Literal(k), "scheme"); scheme != 0 {
				e.scheme(scheme, c.path, k, Value{"use", "privileged"})
			}
		}
		return
	}
	e.scheme(c.args[0], c.path, c.r, use)
}

func (e *extractor) scheme(r parse.Ref, via string, at parse.Ref, use Value) {
	if text, ok := e.Names.Constant(r); ok && text != "" {
		e.fact(Endpoint, text+":", via, at, use, Value{"protocol_handler", true})
	}
}

// deepLink reads how a program takes addresses that it is opened with.
func deepLink(e *extractor, c *call) {
	if event, ok := e.Names.Constant(c.args[0]); ok && (event == "open-url" || event == "open-file" || event == "second-instance") {
		e.fact(Route, event, c.path, c.r, Value{"side", "deep-link"})
	}
}

// feeds reads where updates are looked for.
func feeds(e *extractor, c *call) {
	if !symbol.Ends(c.path, "autoUpdater.setFeedURL") || c.n == 0 {
		return
	}
	feed := Value{"use", "update-feed"}
	options := e.Names.Literal(c.args[0])
	address := c.args[0]
	if options != 0 {
		if address = e.Names.Member(options, "url"); address == 0 {
			var parts []string
			for _, name := range []string{"provider", "owner", "repo", "bucket"} {
				if text, ok := e.Names.Constant(e.Names.Member(options, name)); ok {
					parts = append(parts, text)
				}
			}
			if len(parts) > 0 {
				e.fact(Endpoint, strings.Join(parts, "/"), c.path, c.r, feed)
				return
			}
		}
	}
	text, ok := "", false
	if address != 0 {
		text, ok = e.address(address)
	}
	e.fact(Endpoint, text, c.path, c.r, feed).Dynamic = !ok
}

// keychain reads secrets that are kept with the system.
func keychain(e *extractor, c *call) {
	access := Value{"access", "read"}
	if c.name == "encryptString" || c.name == "setPassword" || c.name == "deletePassword" {
		access.Value = "write"
	}
	switch {
	case symbol.Ends(c.path, "safeStorage."+c.name):
		e.fact(Storage, "safeStorage", c.path, c.r, Value{"area", "safe-storage"}, access)
	case strings.HasPrefix(c.path, "keytar."):
		e.named(Storage, c.args[0], c.path, c.r, Value{"area", "keychain"}, access)
	}
}

// exposes reads contextBridge.exposeInMainWorld(name, api).
func exposes(e *extractor, c *call) {
	if !strings.Contains(c.path, "contextBridge.") {
		return
	}
	name, api := c.args[0], c.args[1]
	if c.name == "exposeInIsolatedWorld" {
		name, api = c.args[1], c.args[2]
	}
	fact := e.named(BridgeAPI, name, c.path, c.r)
	members, complete := e.members(api, "", 0)
	fact.Details = append(fact.Details, Value{"members", members}, Value{"members_complete", complete})
	if object := e.Names.Literal(api); object != 0 {
		api = object
	}
	if api != 0 {
		fact.Within = e.span(api)
	}
}

// maxMembers bounds the members listed of an API.
const maxMembers = 2000

// members lists the members of an object, those of objects in it by path.
func (e *extractor) members(r parse.Ref, prefix string, depth int) (names []string, complete bool) {
	f := e.f
	object := e.Names.Literal(r)
	if object == 0 || depth > 8 {
		return []string{}, r != 0 && f.Kind(r).IsFunction()
	}
	names, complete = []string{}, f.Kind(r) != parse.Ident || !e.grows(e.Scopes.Of[r])
	for k := f.First(object); k != 0; k = f.Next(k) {
		if f.Kind(k) != parse.Property {
			complete = false
			continue
		}
		key, ok := f.KeyOf(f.First(k), f.At(k).Flags&parse.Computed != 0)
		if !ok || len(names) >= maxMembers {
			complete = false
			continue
		}
		names = append(names, prefix+key)
		if value := e.Names.Literal(f.Kid(k, 1)); value != 0 && f.Kind(f.Kid(k, 1)) == parse.Object {
			inner, all := e.members(value, prefix+key+".", depth+1)
			names = append(names, inner...)
			complete = complete && all
		}
	}
	return names, complete
}

// grows reports whether a variable's value is given members after it was made:
// api.a = …, Object.assign(api, …), or a call that is handed it and may.
func (e *extractor) grows(b scope.BindingID) bool {
	if e.grown == nil {
		e.grown = map[scope.BindingID]bool{}
		f := e.f
		for i := range f.Nodes {
			n := &f.Nodes[i]
			switch {
			case n.Kind == parse.Assign && (f.Kind(n.First()) == parse.Dot || f.Kind(n.First()) == parse.Index):
				if object := f.First(n.First()); f.Kind(object) == parse.Ident {
					e.grown[e.Scopes.Of[object]] = true
				}
			case n.Kind == parse.Call:
				if name, _ := f.PropertyOf(n.First()); name == "exposeInMainWorld" || name == "exposeInIsolatedWorld" || name == "freeze" || name == "keys" {
					continue
				}
				for k := f.Next(n.First()); k != 0; k = f.Next(k) {
					if f.Kind(k) == parse.Ident {
						e.grown[e.Scopes.Of[k]] = true
					}
				}
			}
		}
	}
	return e.grown[b]
}

// loads reads what a window shows.
func loads(e *extractor, c *call) {
	if c.n == 0 {
		return
	}
	if c.name == "loadFile" {
		e.located(Document, c.args[0], "loadFile", c.r)
		return
	}
	if text, ok := e.Names.Constant(c.args[0]); ok && !strings.Contains(text, "://") {
		e.fact(Document, text, "loadURL", c.r)
	} else if ok {
		e.endpoint(c.args[0], "loadURL", "", c.r)
	} else {
		e.located(Document, c.args[0], "loadURL", c.r)
	}
}

func preloads(e *extractor, c *call) {
	if c.n == 0 {
		return
	}
	list := c.args[0]
	if e.f.Kind(list) == parse.Object {
		if p := e.Names.Member(list, "filePath"); p != 0 {
			e.located(Preload, p, c.name, c.r)
		}
		return
	}
	if e.f.Kind(list) == parse.Array {
		for k := e.f.First(list); k != 0; k = e.f.Next(k) {
			e.located(Preload, k, c.name, k)
		}
	}
}

func forks(e *extractor, c *call) {
	switch {
	case strings.Contains(c.path, "utilityProcess."):
		e.located(ChildProcess, c.args[0], "utilityProcess.fork", c.r, Value{"process", "utility"})
	case strings.HasPrefix(c.path, "child_process.") || strings.HasPrefix(c.path, "cluster."):
		e.located(ChildProcess, c.args[0], c.path, c.r, Value{"process", "node"})
	}
}

func spawns(e *extractor, c *call) {
	root, _, _ := strings.Cut(c.path, ".")
	switch root {
	case "child_process", "execa", "cross-spawn", "node-pty":
		if c.n == 0 {
			return
		}
		e.named(ChildProcess, c.args[0], c.path, c.r, Value{"process", "program"})
	}
}

func dlopens(e *extractor, c *call) {
	if c.path == "process.dlopen" {
		e.located(NativeAddon, c.args[1], c.path, c.r)
	}
}

// binds reads require("bindings")("name") and require("node-gyp-build")(folder).
func binds(e *extractor, c *call) {
	switch c.path {
	case "bindings":
		if object := e.Names.Literal(c.args[0]); object != 0 {
			e.named(NativeBinding, e.Names.Member(object, "bindings"), c.path, c.r)
			return
		}
		e.named(NativeBinding, c.args[0], c.path, c.r)
	case "node-gyp-build", "@mapbox/node-pre-gyp.find", "node-pre-gyp.find":
		e.located(NativeBinding, c.args[0], c.path, c.r, Value{"folder", true})
	}
}

// construct reads new BrowserWindow(…), new Worker(…), new WebSocket(…).
func (e *extractor) construct(r parse.Ref, n *parse.Node) {
	f := e.f
	callee := n.First()
	name := ""
	switch f.Kind(callee) {
	case parse.Ident:
		name = f.NameOf(callee)
	case parse.Dot, parse.Index:
		name, _ = f.PropertyOf(callee)
	}
	path := e.Names.Path(callee)
	if i := strings.LastIndexByte(path, '.'); path != symbol.Unknown && path != "" {
		name = path[i+1:]
	}
	arg := f.Next(callee)
	switch name {
	case "BrowserWindow", "BrowserView", "WebContentsView":
		e.window(r, arg, name)
	case "Worker", "SharedWorker":
		if arg != 0 {
			fact := e.located(Worker, arg, name, r, Value{"shared", name == "SharedWorker"})
			if eval := e.Names.Member(e.Names.Literal(f.Next(arg)), "eval"); eval != 0 { // the argument is code
				fact.Name, fact.Dynamic = "", true
			}
		}
	case "WebSocket", "EventSource":
		if arg != 0 {
			e.endpoint(arg, name, "", r)
		}
	case "URL":
		if base := f.Next(arg); arg != 0 && base != 0 && e.Names.Path(base) == "import.meta.url" {
			text, ok := e.Names.Constant(arg)
			e.out.Imports = append(e.out.Imports, Import{Specifier: relative(text), Kind: Resolve, Unknown: !ok, At: e.span(r)})
		}
	}
}

// window reads the options of a window, as far as they are literal.
func (e *extractor) window(r, options parse.Ref, class string) {
	fact := e.fact(Window, class, class, r)
	object := e.Names.Literal(options)
	if object == 0 {
		fact.Dynamic = options != 0
		return
	}
	index := len(e.out.Facts) - 1
	details, known := e.options(object, "", 0)
	fact.Dynamic = !known
	preload := parse.Ref(0)
	if prefs := e.Names.Literal(e.option(object, "webPreferences", map[parse.Ref]bool{})); prefs != 0 {
		preload = e.option(prefs, "preload", map[parse.Ref]bool{})
		if preload != 0 {
			details = append(details, Value{"webPreferences.preload", e.pathOr(preload)})
		}
	}
	e.out.Facts[index].Details = details
	if preload != 0 {
		e.located(Preload, preload, "webPreferences.preload", preload)
	}
}

// maxOptions bounds the options kept of one window.
const maxOptions = 200

// option is the value of a member of an object or of those spread into it, the last
// that is seen, or 0. Each object is looked into once.
func (e *extractor) option(object parse.Ref, name string, seen map[parse.Ref]bool) (value parse.Ref) {
	f := e.f
	seen[object] = true
	for k := f.First(object); k != 0; k = f.Next(k) {
		if f.Kind(k) == parse.Spread {
			if inner := e.Names.Literal(f.First(k)); inner != 0 && !seen[inner] && len(seen) < maxSpread {
				if v := e.option(inner, name, seen); v != 0 {
					value = v
				}
			}
		} else if f.Kind(k) == parse.Property {
			if key, ok := f.KeyOf(f.First(k), f.At(k).Flags&parse.Computed != 0); ok && key == name {
				value = f.Kid(k, 1)
			}
		}
	}
	return value
}

// options are the literal members of an object; others are named as dynamic. They
// are not all known where another object is spread into it.
func (e *extractor) options(object parse.Ref, prefix string, depth int) (out []Value, known bool) {
	f := e.f
	known = true
	for k := f.First(object); k != 0 && len(out) < maxOptions; k = f.Next(k) {
		if f.Kind(k) != parse.Property {
			known = false
			continue
		}
		key, ok := f.KeyOf(f.First(k), f.At(k).Flags&parse.Computed != 0)
		if !ok {
			known = false
			continue
		}
		if prefix+key == "webPreferences.preload" {
			continue
		}
		value := f.Kid(k, 1)
		if inner := e.Names.Literal(value); inner != 0 && depth < 3 {
			more, all := e.options(inner, prefix+key+".", depth+1)
			out, known = append(out, more...), known && all
			continue
		}
		out = append(out, Value{prefix + key, e.plain(value)})
	}
	return out, known
}

// plain is the value of a literal, or the note that it is not one.
func (e *extractor) plain(r parse.Ref) any {
	switch e.f.Kind(r) {
	case parse.Number:
		if v, ok := e.f.NumberValue(r); ok {
			return v
		}
	case parse.Null:
		return nil
	}
	text, ok := e.Names.Constant(r)
	switch {
	case !ok:
		return Unsettled{}
	case e.f.Kind(r) == parse.True || e.f.Kind(r) == parse.False || e.f.Kind(r) == parse.Unary:
		return text == "true"
	}
	return text
}

// Unsettled stands for a value that is only known when the program runs.
type Unsettled struct{}

// located is a fact that names a file. Paths that are joined to the folder of
// the program are given relative to it, beginning with "./" or "../".
func (e *extractor) located(kind Kind, r parse.Ref, via string, at parse.Ref, details ...Value) *Fact {
	text, ok := e.Path(r)
	fact := e.fact(kind, text, via, at, details...)
	fact.Dynamic = !ok
	return fact
}

func (e *extractor) pathOr(r parse.Ref) any {
	if text, ok := e.Path(r); ok {
		return text
	}
	return Unsettled{}
}

// Path is the file that an expression names: a constant, path.join(__dirname,
// "a"), new URL("a", import.meta.url) or a template that begins with a folder.
func (e *extractor) Path(r parse.Ref) (string, bool) { return e.filePath(r, 12) }

func (e *extractor) filePath(r parse.Ref, hops int) (string, bool) {
	f := e.f
	if r == 0 || hops == 0 {
		return "", false
	}
	if text, ok := e.Names.Constant(r); ok {
		return text, true
	}
	switch f.Kind(r) {
	case parse.Ident:
		if f.NameOf(r) == "__dirname" && e.Scopes.Of[r] == 0 {
			return ".", true
		}
		if value, ok := e.Names.Origin(e.Scopes.Of[r]); ok {
			return e.filePath(value, hops-1)
		}
	case parse.New, parse.Call:
		return e.joinedPath(r, hops)
	case parse.Template, parse.Binary:
		var b strings.Builder
		for k := f.First(r); k != 0; k = f.Next(k) {
			switch {
			case f.Kind(k) == parse.Chunk:
				b.WriteString(f.ChunkValue(k))
			default:
				part, ok := e.filePath(k, hops-1)
				if !ok {
					return "", false
				}
				b.WriteString(part)
			}
		}
		return relative(strings.TrimPrefix(b.String(), "file://")), true
	case parse.Dot:
		switch e.Names.Path(r) {
		case "import.meta.dirname":
			return ".", true
		}
		switch f.NameOf(f.Kid(r, 1)) {
		case "href", "pathname": // of new URL("a", import.meta.url)
			if f.Kind(f.First(r)) == parse.New {
				return e.filePath(f.First(r), hops-1)
			}
		}
	}
	return "", false
}

func (e *extractor) joinedPath(r parse.Ref, hops int) (string, bool) {
	f := e.f
	callee := f.First(r)
	p := e.Names.Path(callee)
	if f.Kind(r) == parse.New {
		if p != "URL" && !symbol.Ends(p, "url.URL") {
			return "", false
		}
		text, ok := e.Names.Constant(f.Next(callee))
		return relative(text), ok && f.Next(f.Next(callee)) != 0
	}
	switch {
	case symbol.Ends(p, "path.join"), symbol.Ends(p, "path.resolve"), strings.HasSuffix(p, ".join") && p != symbol.Unknown+".join", p == "?.join" && f.Kids(r) > 2:
		var parts []string
		for k := f.Next(callee); k != 0; k = f.Next(k) {
			part, ok := e.filePath(k, hops-1)
			if !ok {
				return "", false
			}
			parts = append(parts, part)
		}
		return relative(path.Join(parts...)), len(parts) > 0
	case symbol.Ends(p, "fileURLToPath"), symbol.Ends(p, "pathToFileURL"):
		return e.filePath(f.Next(callee), hops-1)
	case symbol.Ends(p, "path.dirname"):
		if inner := e.Names.Path(f.Next(callee)); inner == "__filename" || inner == "import.meta.filename" {
			return ".", true
		}
		if arg := f.Next(callee); f.Kind(arg) == parse.Call && symbol.Ends(e.Names.Path(f.First(arg)), "fileURLToPath") && e.Names.Path(f.Kid(arg, 1)) == "import.meta.url" {
			return ".", true
		}
	case strings.HasSuffix(p, ".toString"):
		return e.filePath(f.First(callee), hops-1)
	}
	return "", false
}

func relative(p string) string {
	if p == "" || strings.HasPrefix(p, "/") || strings.HasPrefix(p, "../") || strings.HasPrefix(p, "./") || strings.Contains(p, "://") {
		return p
	}
	return "./" + p
}
