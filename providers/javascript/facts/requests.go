package facts

import (
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/symbol"
)

// fetches reads requests whose first argument is an address, or an object that
// has one.
func fetches(e *extractor, c *call) {
	switch {
	case c.name == "fetch" && (c.path == "fetch" || strings.HasSuffix(c.path, ".net.fetch") || client(c.path)):
	case c.name == "sendBeacon" && symbol.Ends(c.path, "navigator.sendBeacon"):
	case c.name == c.path && client(c.path): // axios(…), got(…)
	case (c.name == "request" || c.name == "ajax" || c.name == "stream") && client(c.path):
	case c.name == "request":
		if base, ok := e.instance(e.f.First(e.f.First(c.r))); ok {
			e.based(base, c, "")
		}
		return
	default:
		return
	}
	if c.n == 0 {
		return
	}
	method := ""
	options := e.Names.Literal(c.args[min(1, c.n-1)])
	address := c.args[0]
	if k := e.f.Kind(e.made(address)); k == parse.New && symbol.Ends(e.Names.Path(e.f.First(e.made(address))), "Request") {
		return // read where it is made
	}
	if options != 0 {
		if m := e.Names.Member(options, "method"); m != 0 {
			method, _ = e.Names.Constant(m)
		} else if c.name == "ajax" {
			method, _ = e.Names.Constant(e.Names.Member(options, "type"))
		}
		if options == address || c.n == 1 {
			switch u := e.Names.Member(options, "url"); {
			case u != 0:
				address = u
			case e.hosts(options, c, method):
				return
			}
		}
	}
	e.endpoint(address, c.path, method, c.r)
}

// fetchHooks reads requests of frameworks, as useFetch("/a"), whose first argument may be
// a key of something else.
func fetchHooks(e *extractor, c *call) {
	if c.n == 0 {
		return
	}
	if text, ok := e.address(c.args[0]); ok && (strings.HasPrefix(text, "/") || strings.Contains(text, "://")) {
		e.endpoint(c.args[0], c.name, "", c.r)
	}
}

// hosts reads http.request({hostname, path}).
func (e *extractor) hosts(options parse.Ref, c *call, method string) bool {
	host := e.Names.Member(options, "hostname")
	if host == 0 {
		host = e.Names.Member(options, "host")
	}
	name, ok := e.Names.Constant(host)
	if host == 0 {
		return false
	}
	scheme := "https"
	if strings.HasPrefix(c.path, "http.") {
		scheme = "http"
	}
	if text, ok := e.Names.Constant(e.Names.Member(options, "protocol")); ok {
		scheme = strings.TrimSuffix(text, ":")
	}
	if !ok {
		name = "{}"
	}
	if port := e.Names.Member(options, "port"); port != 0 {
		if text, ok := e.Names.Constant(port); ok {
			name += ":" + text
		}
	}
	where := e.Names.Member(options, "path")
	if where == 0 {
		where = e.Names.Member(options, "pathname")
	}
	rest := ""
	if where != 0 {
		if rest, ok = e.address(where); !ok {
			rest = "/{}"
		}
	}
	if name == "{}" && (rest == "" || rest == "/{}") {
		return false
	}
	details := []Value{{"use", "request"}}
	if method != "" {
		details = append(details, Value{"method", strings.ToUpper(method)})
	}
	text, ok := kept(scheme + "://" + name + rest)
	e.fact(Endpoint, text, c.path, c.r, details...).Dynamic = !ok
	return true
}

// client reports whether a path is one of a client of HTTP.
func client(path string) bool {
	root, _, _ := strings.Cut(path, ".")
	switch root {
	case "axios", "http", "https", "http2", "got", "ky", "superagent", "request", "needle", "node-fetch", "cross-fetch", "isomorphic-fetch", "ofetch", "undici", "jquery", "$", "jQuery":
		return true
	}
	return strings.Contains(path, "electron.net.")
}

// bases reads clients that are made for one address, as axios.create({baseURL}).
func bases(e *extractor, c *call) {
	if !client(c.path) || c.n == 0 {
		return
	}
	if base := e.baseOf(c.args[0]); base != 0 {
		if text, ok := e.address(base); ok && text != "" {
			e.fact(Endpoint, text, c.path, c.r, Value{"use", "base"})
		}
	}
}

func (e *extractor) baseOf(options parse.Ref) parse.Ref {
	object := e.Names.Literal(options)
	if object == 0 {
		return 0
	}
	for _, name := range []string{"baseURL", "prefixUrl", "baseUrl"} {
		if base := e.Names.Member(object, name); base != 0 {
			return base
		}
	}
	return 0
}

// instance is the base address of a client that a variable holds, 0 where it has
// none; ok is false for what is none.
func (e *extractor) instance(r parse.Ref) (base parse.Ref, ok bool) {
	f := e.f
	made := e.made(r)
	if k := f.Kind(made); k == parse.Dot {
		if made, _ = e.field(made); made != 0 {
			made = e.made(made)
		}
	}
	if f.Kind(made) != parse.Call || f.Kind(f.First(made)) != parse.Dot {
		return 0, false
	}
	switch f.NameOf(f.Kid(f.First(made), 1)) {
	case "create", "extend", "instance", "defaults":
	default:
		return 0, false
	}
	if !client(e.Names.Path(f.First(made))) {
		return 0, false
	}
	return e.baseOf(f.Next(f.First(made))), true
}

// based is a request of a client that has a base address.
func (e *extractor) based(base parse.Ref, c *call, method string) {
	if c.n == 0 {
		return
	}
	target := c.args[0]
	if options := e.Names.Literal(target); options != 0 {
		if target = e.Names.Member(options, "url"); target == 0 {
			return
		}
		if m := e.Names.Member(options, "method"); m != 0 {
			method, _ = e.Names.Constant(m)
		}
	}
	details := []Value{{"use", "request"}}
	if method != "" {
		details = append(details, Value{"method", strings.ToUpper(method)})
	}
	rest, ok := e.address(target)
	if base != 0 && ok {
		start, known := e.address(base)
		if !known {
			start = "{}"
		}
		if !strings.Contains(rest, "://") && !strings.HasPrefix(rest, "//") {
			rest = strings.TrimSuffix(start, "/") + "/" + strings.TrimPrefix(rest, "/")
		}
	}
	if ok && rest == "" {
		return
	}
	fact := e.fact(Endpoint, rest, "client."+c.name, c.r, details...)
	fact.Dynamic = !ok
	if base == 0 {
		e.addressed(fact, target, ok, nil)
		return
	}
	if start, known := e.address(base); known {
		e.addressed(fact, target, ok, &Base{start, true})
	}
}

// composed is the address that an object for addresses has: new URL("a", base), new
// Request("a"), and the texts of such; ok is false for what is none.
func (e *extractor) composed(r parse.Ref, hops int) (text string, known, ok bool) {
	f := e.f
	if hops <= 0 {
		return "", false, false
	}
	switch f.Kind(r) {
	case parse.Ident:
		if made := e.made(r); made != r {
			return e.composed(made, hops-1)
		}
	case parse.Dot:
		switch f.NameOf(f.Kid(r, 1)) {
		case "href", "url":
			return e.composed(f.First(r), hops-1)
		}
	case parse.Call:
		callee := f.First(r)
		if f.Kind(callee) == parse.Dot && f.NameOf(f.Kid(callee, 1)) == "toString" {
			return e.composed(f.First(callee), hops-1)
		}
		if f.Kind(callee) == parse.Ident && f.NameOf(callee) == "String" && e.Scopes.Of[callee] == 0 && f.Next(callee) != 0 {
			return e.composed(f.Next(callee), hops-1)
		}
	case parse.New:
		callee := f.First(r)
		arg := f.Next(callee)
		switch p := e.Names.Path(callee); {
		case arg == 0:
		case symbol.Ends(p, "Request"):
			text, known = e.address(arg)
			return text, known, true
		case p == "URL", symbol.Ends(p, "url.URL"):
			text, known = e.joined(arg, f.Next(arg))
			return text, known, true
		}
	}
	return "", false, false
}

// joined is an address that is relative to another.
func (e *extractor) joined(rel, base parse.Ref) (string, bool) {
	text, ok := e.address(rel)
	if base == 0 || !ok && base == 0 {
		return text, ok
	}
	start, known := e.address(base)
	switch p := e.Names.Path(base); {
	case ok && (strings.Contains(text, "://") || strings.HasPrefix(text, "//")):
		return text, true
	case p == "import.meta.url", strings.HasSuffix(p, "location"), strings.HasSuffix(p, "location.href"), strings.HasSuffix(p, "location.origin"), strings.HasSuffix(p, "baseURI"):
		return text, ok
	case !known && !ok:
		return "", false
	case !known:
		return "{}/" + strings.TrimPrefix(text, "/"), true
	case !ok:
		text = "{}"
	}
	return resolved(start, text), true
}

// resolved is an address behind the folder of another, as the URL standard has it.
func resolved(start, text string) string {
	scheme, rest, has := strings.Cut(start, "://")
	if !has {
		return strings.TrimSuffix(start, "/") + "/" + strings.TrimPrefix(text, "/")
	}
	rest, _, _ = strings.Cut(rest, "?")
	host, folder, _ := strings.Cut(rest, "/")
	if strings.HasPrefix(text, "/") {
		return scheme + "://" + host + text
	}
	folder = folder[:strings.LastIndexByte(folder, '/')+1]
	for strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") {
		if up, is := strings.CutPrefix(text, "../"); is {
			text = up
			folder = strings.TrimSuffix(folder, "/")
			folder = folder[:strings.LastIndexByte(folder, '/')+1]
		} else {
			text = text[2:]
		}
	}
	return scheme + "://" + host + "/" + folder + text
}
