package facts

import (
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/symbol"
)

// A call is one call with a known path.
type call struct {
	r    parse.Ref
	path string // of the callee
	name string // its last step
	args [4]parse.Ref
	n    int
}

// readers of calls, by the last step of the callee's path.
var readers = map[string]func(*extractor, *call){
	"fetch":                            fetches,
	"open":                             opens,
	"sendBeacon":                       fetches,
	"request":                          fetches,
	"get":                              getOrRoute,
	"post":                             getOrRoute,
	"put":                              getOrRoute,
	"patch":                            getOrRoute,
	"delete":                           getOrRoute,
	"head":                             getOrRoute,
	"all":                              getOrRoute,
	"options":                          getOrRoute,
	"del":                              getOrRoute,
	"got":                              fetches,
	"ky":                               fetches,
	"needle":                           fetches,
	"superagent":                       fetches,
	"node-fetch":                       fetches,
	"cross-fetch":                      fetches,
	"isomorphic-fetch":                 fetches,
	"ofetch":                           fetches,
	"$fetch":                           fetchHooks,
	"useFetch":                         fetchHooks,
	"useLazyFetch":                     fetchHooks,
	"useSWR":                           fetchHooks,
	"stream":                           fetches,
	"extend":                           bases,
	"use":                              getOrRoute,
	"route":                            getOrRoute,
	"axios":                            fetches,
	"importScripts":                    importsScripts,
	"getItem":                          storageKey,
	"setItem":                          storageKey,
	"removeItem":                       storageKey,
	"deleteDatabase":                   opens,
	"register":                         registers,
	"exposeInMainWorld":                exposes,
	"exposeInIsolatedWorld":            exposes,
	"on":                               message,
	"once":                             message,
	"addListener":                      message,
	"handle":                           message,
	"handleOnce":                       message,
	"removeHandler":                    message,
	"removeListener":                   message,
	"removeAllListeners":               message,
	"off":                              message,
	"prependListener":                  message,
	"reply":                            message,
	"sendTo":                           message,
	"sendToFrame":                      message,
	"send":                             message,
	"sendSync":                         message,
	"sendToHost":                       message,
	"invoke":                           message,
	"postMessage":                      message,
	"loadFile":                         loads,
	"loadURL":                          loads,
	"setPreloads":                      preloads,
	"registerPreloadScript":            preloads,
	"fork":                             forks,
	"spawn":                            spawns,
	"spawnSync":                        spawns,
	"addModule":                        worklets,
	"ajax":                             fetches,
	"getJSON":                          getOrRoute,
	"create":                           bases,
	"openExternal":                     opened,
	"setFeedURL":                       feeds,
	"encryptString":                    keychain,
	"decryptString":                    keychain,
	"setPassword":                      keychain,
	"getPassword":                      keychain,
	"deletePassword":                   keychain,
	"findCredentials":                  keychain,
	"find":                             binds,
	"execa":                            spawns,
	"execaSync":                        spawns,
	"cross-spawn":                      spawns,
	"registerSchemesAsPrivileged":      protocols,
	"registerStringProtocol":           protocols,
	"registerBufferProtocol":           protocols,
	"registerStreamProtocol":           protocols,
	"interceptFileProtocol":            protocols,
	"interceptHttpProtocol":            protocols,
	"interceptStreamProtocol":          protocols,
	"exec":                             spawns,
	"execSync":                         spawns,
	"execFile":                         spawns,
	"execFileSync":                     spawns,
	"dlopen":                           dlopens,
	"bindings":                         binds,
	"node-gyp-build":                   binds,
	"node-gyp-build-optional-packages": binds,
	"prebuildify":                      binds,
	"pkg-prebuilds":                    binds,
	"@mapbox/node-pre-gyp":             nil,
	"push":                             routes,
	"replace":                          nil,
	"navigate":                         routes,
	"isFeatureEnabled":                 flag,
	"isEnabled":                        flag,
	"isFlagEnabled":                    flag,
	"useFeature":                       flag,
	"useFlag":                          flag,
	"useFeatureFlag":                   flag,
	"useFeatureFlagEnabled":            flag,
	"hasFeature":                       flag,
	"getFeatureFlag":                   flag,
	"featureEnabled":                   flag,
	"checkGate":                        flag,
	"useGate":                          flag,
	"getFeatureGate":                   flag,
	"variation":                        flag,
	"boolVariation":                    flag,
	"stringVariation":                  flag,
	"getTreatment":                     flag,
	"getBooleanValue":                  flag,
	"getFeatureValue":                  flag,
	"isOn":                             flag,
	"getExperiment":                    flag,
	"setAsDefaultProtocolClient":       protocols,
	"registerFileProtocol":             protocols,
	"registerHttpProtocol":             protocols,
}

func (e *extractor) call(r parse.Ref, n *parse.Node) {
	if e.requires(r, n) {
		return
	}
	e.defines(r, n)
	f := e.f
	callee := n.First()
	e.compiles(r, callee)
	e.outside(r, callee)
	name := ""
	switch f.Kind(callee) {
	case parse.Ident:
		name = f.NameOf(callee)
		if _, known := readers[name]; !known {
			if e.Scopes.Of[callee] == 0 {
				return
			}
			name = "" // a local name of something else
		}
	case parse.Dot, parse.Index:
		var ok bool
		if name, ok = e.Names.Key(callee); !ok {
			e.listensSomehow(r, f.First(callee))
			return
		}
		switch name {
		case "call", "apply":
			e.applied(r, f.First(callee), name == "apply", f.Next(f.Next(callee)))
			return
		case "bind":
			if k := f.Kind(f.First(callee)); k == parse.Dot || k == parse.Index {
				if method, known := f.PropertyOf(f.First(callee)); known && (method == "handle" || method == "on" || method == "once") {
					e.listensSomehow(r, f.First(f.First(callee)))
				}
			}
		case "defineProperty":
			return
		}
	case parse.Super:
		e.subclass(r, n)
		return
	case parse.Call: // require("bindings")("name")
	case parse.Sequence: // (0, a.fetch)(…)
	default:
		return
	}
	if name != "" {
		if _, known := readers[name]; !known {
			return
		}
	}
	path := e.Names.Path(callee)
	last := path[strings.LastIndexByte(path, '.')+1:]
	read := readers[last]
	if path == symbol.Unknown && f.Kind(callee) == parse.Ident {
		if _, ok := e.instance(callee); ok { // of a client that is called itself
			last, read = "request", func(e *extractor, c *call) {
				base, _ := e.instance(e.f.First(c.r))
				e.based(base, c, "")
			}
		}
	}
	if read == nil {
		return
	}
	c := &call{r: r, path: path, name: last}
	c.give(f, f.Next(callee))
	read(e, c)
}

// give gives a call its arguments, from the first on.
func (c *call) give(f *parse.File, first parse.Ref) {
	for k := first; k != 0 && c.n < len(c.args); k = f.Next(k) {
		c.args[c.n] = k
		c.n++
	}
}

// applied reads fetch.call(null, …) and fetch.apply(null, […]). What a list that is
// not literal has is not known.
func (e *extractor) applied(r, function parse.Ref, list bool, first parse.Ref) {
	f := e.f
	if k := f.Kind(function); k != parse.Ident && k != parse.Dot && k != parse.Index || first == 0 {
		return
	}
	path := e.Names.Path(function)
	c := &call{r: r, path: path, name: path[strings.LastIndexByte(path, '.')+1:]}
	switch c.name { // those that look at nothing but the path and the arguments
	case "fetch", "sendBeacon", "getItem", "setItem", "removeItem", "handle", "handleOnce", "on", "once", "invoke", "send", "sendSync", "open",
		"spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork", "importScripts":
	default:
		return
	}
	if list && f.Kind(e.made(first)) == parse.Array {
		first = f.First(e.made(first))
	}
	c.give(f, first)
	readers[c.name](e, c)
}

// opened reads addresses that are given to the browser of the system.
func opened(e *extractor, c *call) {
	if !symbol.Ends(c.path, "shell.openExternal") || c.n == 0 {
		return
	}
	if text, ok := e.address(c.args[0]); ok && text != "" {
		e.fact(Endpoint, text, c.path, c.r, Value{"use", "opened"})
	}
}

func opens(e *extractor, c *call) {
	switch {
	case symbol.Ends(c.path, "indexedDB."+c.name):
		e.named(Storage, c.args[0], "indexedDB."+c.name, c.r, Value{"area", "indexed-db"})
	case symbol.Ends(c.path, "caches.open"):
		e.named(Storage, c.args[0], "caches.open", c.r, Value{"area", "cache"})
	case c.name == "open" && c.n >= 2 && !strings.HasPrefix(c.path, "fs") && c.path != "open":
		if method, ok := e.Names.Constant(c.args[0]); ok && httpMethod(method) {
			e.endpoint(c.args[1], "XMLHttpRequest.open", strings.ToUpper(method), c.r)
		}
	}
}

func httpMethod(s string) bool {
	switch strings.ToUpper(s) {
	case "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS":
		return true
	}
	return false
}

func importsScripts(e *extractor, c *call) {
	if c.path != "importScripts" {
		return
	}
	for _, a := range c.args[:c.n] {
		text, ok := e.Names.Constant(a)
		e.out.Imports = append(e.out.Imports, Import{Specifier: relative(text), Kind: Static, Unknown: !ok, At: e.span(c.r)})
	}
}

func storageKey(e *extractor, c *call) {
	area := ""
	switch {
	case symbol.Ends(c.path, "localStorage."+c.name):
		area = "local"
	case symbol.Ends(c.path, "sessionStorage."+c.name):
		area = "session"
	default:
		return
	}
	e.named(Storage, c.args[0], area+"Storage."+c.name, c.r, Value{"area", area})
}

func registers(e *extractor, c *call) {
	if !strings.Contains(c.path, "serviceWorker") && e.plugin(c) {
		return
	}
	if symbol.Ends(c.path, "serviceWorker.register") {
		e.located(ServiceWorker, c.args[0], "navigator.serviceWorker.register", c.r)
	}
}

func routes(e *extractor, c *call) {
	if c.n == 0 {
		return
	}
	if root := c.path; !strings.Contains(strings.ToLower(root), "router") && !strings.Contains(strings.ToLower(root), "history") && c.name != "navigate" {
		return
	}
	if text, ok := e.Names.Constant(c.args[0]); ok && strings.HasPrefix(text, "/") && len(text) <= 500 {
		e.fact(Route, text, c.path, c.r, Value{"side", "client"}, Value{"use", "navigation"})
	}
}

func flag(e *extractor, c *call) {
	if c.n == 0 || c.name == "isEnabled" && c.n > 2 {
		return
	}
	text, ok := e.Names.Constant(c.args[0])
	if ok && text != "" && len(text) <= 200 && !strings.ContainsAny(text, " \n/") {
		e.fact(Flag, text, c.name, c.r)
	}
}

// worklets reads audioWorklet.addModule("a.js").
func worklets(e *extractor, c *call) {
	if c.n > 0 && strings.Contains(c.path, "orklet.") {
		e.located(Worker, c.args[0], c.path, c.r, Value{"worklet", true})
	}
}
