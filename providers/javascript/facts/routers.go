package facts

import (
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// A Router is a variable with whose methods a server defines routes, or the
// parameter of a function that is handed one.
type Router struct {
	Prefix string   // of its own
	Export []string // under which other modules have it, nil for none
	At     parse.Span
	holder parse.Ref
}

// A Mount puts a router behind a prefix of another.
type Mount struct {
	Parent int // index of the router, -1 where it is not known
	Prefix string
	Child  int        // index of the router, -1 for one of From
	From   *Reference // of another module
	At     parse.Span
}

// verbs are the methods with which routers define routes.
func verb(name string) bool {
	switch name {
	case "get", "post", "put", "patch", "delete", "del", "head", "options", "all", "use":
		return true
	}
	return false
}

// maxRoute bounds the pattern of a route.
const maxRoute = 500

func routePattern(text string) bool {
	return (strings.HasPrefix(text, "/") || text == "*" || strings.HasPrefix(text, "*/")) && len(text) <= maxRoute && !strings.ContainsAny(text, " \n<>")
}

// getOrRoute reads axios.get(address), app.get("/route", handler),
// router.route("/a").get(handler) and router.use("/a", other).
func getOrRoute(e *extractor, c *call) {
	f := e.f
	callee := f.First(c.r)
	if verb(c.name) && c.name != "use" {
		if pattern := e.chained(callee); pattern != 0 {
			e.route(pattern, c.name, c.r, e.routerOf(e.chainRoot(callee)))
			return
		}
	}
	if c.n == 0 || f.Kind(callee) == parse.Ident {
		return
	}
	if client(c.path) && c.name != "use" && c.name != "route" && c.name != "all" && c.name != "options" {
		method := strings.ToUpper(c.name)
		if c.name == "getJSON" {
			method = "GET"
		}
		e.endpoint(c.args[0], c.path, method, c.r)
		return
	}
	if base, ok := e.instance(f.First(callee)); ok && verb(c.name) && c.name != "use" {
		e.based(base, c, strings.ToUpper(c.name))
		return
	}
	if up := e.parents[c.r]; c.name == "route" && f.Kind(up) == parse.Dot && f.First(up) == c.r && f.Kind(e.parents[up]) == parse.Call {
		return // its methods are read
	}
	first := 0
	if text, ok := e.Names.Constant(c.args[0]); ok && !routePattern(text) && c.n > 2 && c.name != "use" { // a name comes first
		first = 1
	}
	handled := c.name == "route"
	router := -1
	for _, a := range c.args[first:c.n] {
		k := f.Kind(a)
		handled = handled || k.IsFunction() || k == parse.Ident || k == parse.Dot || k == parse.Call && a != c.args[first]
	}
	prefix, known := e.Names.Constant(c.args[first])
	if (c.name == "use" || c.name == "route") && (handled || f.Kind(c.args[0]) == parse.Call) {
		for arg := f.Next(callee); arg != 0; arg = f.Next(arg) {
			if arg == c.args[0] && known {
				continue
			}
			if !known {
				prefix = ""
			}
			e.mount(callee, prefix, arg, c.r)
		}
	}
	if !handled {
		return
	}
	router = e.routerOf(f.First(callee))
	list := c.args[first]
	if f.Kind(list) == parse.Array {
		for k := f.First(list); k != 0; k = f.Next(k) {
			e.route(k, c.name, c.r, router)
		}
		return
	}
	e.route(list, c.name, c.r, router)
}

// route is one that a server answers.
func (e *extractor) route(pattern parse.Ref, method string, at parse.Ref, router int) {
	text, ok := e.Names.Constant(pattern)
	if !ok || !routePattern(text) {
		return
	}
	e.fact(Route, text, method, at, Value{"side", "server"}, Value{"method", method}).Router = router + 1
}

// chained is the pattern in router.route("/a").get(…).post, or 0.
func (e *extractor) chained(callee parse.Ref) parse.Ref {
	f := e.f
	object := f.First(callee)
	for steps := 0; steps < 20 && f.Kind(callee) == parse.Dot && f.Kind(object) == parse.Call && f.Kind(f.First(object)) == parse.Dot; steps++ {
		inner := f.First(object)
		switch name := f.NameOf(f.Kid(inner, 1)); {
		case name == "route":
			return f.Next(inner)
		case !verb(name):
			return 0
		}
		object = f.First(inner)
	}
	return 0
}

// chainRoot is what the first method of a chain is called on.
func (e *extractor) chainRoot(callee parse.Ref) parse.Ref {
	f := e.f
	object := f.First(callee)
	for f.Kind(object) == parse.Call && f.Kind(f.First(object)) == parse.Dot {
		object = f.First(f.First(object))
	}
	return object
}

// maxRouters bounds the routers of one file.
const maxRouters = 2000

// routerOf is the index of the router that an expression is, or -1.
func (e *extractor) routerOf(r parse.Ref) int {
	f := e.f
	switch f.Kind(r) {
	case parse.Call: // app.get(…).get(…)
		if f.Kind(f.First(r)) == parse.Dot {
			return e.routerOf(e.chainRoot(f.First(r)))
		}
		return -1
	case parse.Ident:
	default:
		return -1
	}
	b := e.Scopes.Of[r]
	if b == 0 {
		return -1
	}
	i, ok := e.routers[b]
	if ok {
		return i
	}
	if len(e.out.Routers) >= maxRouters {
		return -1
	}
	if e.routers == nil {
		e.routers = map[scope.BindingID]int{}
	}
	i = len(e.out.Routers)
	e.routers[b] = i
	router := Router{holder: r}
	binding := &e.Scopes.Bindings[b]
	if binding.How == scope.Parameter && binding.Decl != 0 {
		if up := e.parents[binding.Decl]; f.Kind(up) == parse.Params && f.First(up) == binding.Decl {
			router.holder = e.parents[up] // the function is what is handed on
		}
	} else if value, ok := e.Names.Origin(b); ok {
		router.holder = value
		router.Prefix = e.prefixOf(value)
	}
	router.At = e.span(router.holder)
	e.out.Routers = append(e.out.Routers, router)
	return i
}

// prefixOf is the prefix that a router is made with.
func (e *extractor) prefixOf(made parse.Ref) string {
	f := e.f
	for steps := 0; steps < 20; steps++ {
		if k := f.Kind(made); k != parse.New && k != parse.Call {
			return ""
		}
		callee := f.First(made)
		if f.Kind(callee) == parse.Dot && f.NameOf(f.Kid(callee, 1)) == "basePath" {
			text, _ := e.Names.Constant(f.Next(callee))
			return text
		}
		if object := e.Names.Literal(f.Next(callee)); object != 0 {
			if text, ok := e.Names.Constant(e.Names.Member(object, "prefix")); ok {
				return text
			}
		}
		if f.Kind(callee) != parse.Dot {
			return ""
		}
		made = f.First(callee)
	}
	return ""
}

// mount notes that a router is put behind a prefix; it reports whether the argument
// may be one.
func (e *extractor) mount(callee parse.Ref, prefix string, arg, at parse.Ref) bool {
	f := e.f
	m := Mount{Parent: e.routerOf(f.First(callee)), Prefix: prefix, Child: -1, At: e.span(at)}
	if f.Kind(arg) == parse.Call && f.Kind(f.First(arg)) == parse.Dot { // router.routes()
		if name := f.NameOf(f.Kid(f.First(arg), 1)); name == "routes" || name == "middleware" {
			arg = f.First(f.First(arg))
		}
	}
	if f.Kind(arg).IsFunction() {
		if first := f.First(f.Kid(arg, 1)); f.Kind(first) == parse.Ident {
			m.Child = e.routerOf(first)
			e.out.Mounts = append(e.out.Mounts, m)
		}
		return true
	}
	if m.From = e.reference(arg, maxHops); m.From != nil {
		if m.From.Own {
			return false
		}
		e.out.Mounts = append(e.out.Mounts, m)
		return true
	}
	if b := e.Scopes.Binding(arg); f.Kind(arg) == parse.Ident && b != nil {
		if b.How == scope.FunctionDecl && b.Decl != 0 { // a function that is handed the router
			if first := f.First(f.Kid(e.parents[b.Decl], 1)); f.Kind(first) == parse.Ident {
				m.Child = e.routerOf(first)
			}
		} else {
			m.Child = e.routerOf(arg)
		}
		if m.Child >= 0 {
			e.out.Mounts = append(e.out.Mounts, m)
			return true
		}
	}
	return false
}

// plugin reads fastify.register(routes, {prefix: "/a"}).
func (e *extractor) plugin(c *call) bool {
	f := e.f
	callee := f.First(c.r)
	if c.n < 1 || f.Kind(callee) != parse.Dot || f.Kind(f.First(callee)) != parse.Ident {
		return false
	}
	prefix := ""
	if object := e.Names.Literal(c.args[1]); object != 0 {
		prefix, _ = e.Names.Constant(e.Names.Member(object, "prefix"))
	}
	if k := f.Kind(c.args[0]); k == parse.String {
		return false
	}
	return e.mount(callee, prefix, c.args[0], c.r)
}

// exportRouters tells under which names routers are exported.
func (e *extractor) exportRouters() {
	if len(e.out.Routers) == 0 {
		return
	}
	for path, given := range e.exportedValues {
		value := e.function(given)
		for k := range e.out.Routers {
			if r := &e.out.Routers[k]; r.Export == nil && (value == r.holder || e.sameVariable(given, r.holder)) {
				r.Export = path
			}
		}
	}
}

func (e *extractor) sameVariable(a, b parse.Ref) bool {
	f := e.f
	for f.Kind(a) == parse.Assign {
		a = f.Last(a)
	}
	return f.Kind(a) == parse.Ident && f.Kind(b) == parse.Ident && e.Scopes.Of[a] != 0 && e.Scopes.Of[a] == e.Scopes.Of[b]
}
