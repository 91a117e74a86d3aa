package facts

import (
	"strings"

	"rea/providers/javascript/parse"
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
		if program := e.scriptOf(c); program != 0 {
			e.located(ChildProcess, program, c.path, c.r, Value{"process", "node"})
			return
		}
		e.named(ChildProcess, c.args[0], c.path, c.r, Value{"process", "program"})
	}
}

// scriptOf is the program that a command runs with Node, or 0.
func (e *extractor) scriptOf(c *call) parse.Ref {
	if c.n < 2 || e.Names.Path(c.args[0]) != "process.execPath" && e.Names.Path(c.args[0]) != "process.argv0" {
		if text, ok := e.Names.Constant(c.args[0]); !ok || text != "node" || c.n < 2 {
			return 0
		}
	}
	list := e.made(c.args[1])
	if e.f.Kind(list) != parse.Array {
		return 0
	}
	for k := e.f.First(list); k != 0; k = e.f.Next(k) {
		if text, ok := e.Names.Constant(k); !ok || !strings.HasPrefix(text, "-") {
			return k
		}
	}
	return 0
}

func dlopens(e *extractor, c *call) {
	if c.path == "process.dlopen" {
		e.located(NativeAddon, c.args[1], c.path, c.r)
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
	e.compiles(r, callee)
	switch name {
	case "BrowserWindow", "BrowserView", "WebContentsView":
		e.opened = append(e.opened, opening{r, e.windowsOf(r, arg, name, name)})
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
	case "Request":
		if path == name && arg != 0 {
			method := ""
			if object := e.Names.Literal(f.Next(arg)); object != 0 {
				method, _ = e.Names.Constant(e.Names.Member(object, "method"))
			}
			e.endpoint(arg, name, method, r)
		}
	case "URL":
		if base := f.Next(arg); arg != 0 && base != 0 && e.Names.Path(base) == "import.meta.url" {
			text, ok := e.Path(arg)
			e.out.Imports = append(e.out.Imports, Import{Specifier: relative(text), Kind: Resolve, Unknown: !ok, At: e.span(r)})
		}
	}
}
