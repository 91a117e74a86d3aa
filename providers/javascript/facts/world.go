package facts

import (
	"strings"

	"rea/providers/javascript/address"
	"rea/providers/javascript/parse"
)

const (
	maxAddress   = 2000 // bytes of the text of an address
	maxAddresses = 16   // addresses in addresses
)

// endpoint is a request to an address, given by an expression.
func (e *extractor) endpoint(r parse.Ref, via, method string, at parse.Ref) {
	text, ok := e.address(r)
	if ok && text == "" {
		return
	}
	details := []Value{{"use", "request"}}
	if method != "" {
		details = append(details, Value{"method", strings.ToUpper(method)})
	}
	base, relative := e.relativeTo(r)
	e.addressed(e.fact(Endpoint, text, via, at, details...), relative, ok, base)
}

// addressed notes what is known of the address of an endpoint: whether text of it
// is, and the values of other modules in it.
func (e *extractor) addressed(fact *Fact, r parse.Ref, known bool, base *Base) {
	fact.Dynamic, fact.Base = !known, base
	pieces := e.pieces(r)
	if hasFrom(pieces) {
		fact.Pieces = pieces
	}
	fact.Wrapper = e.wrapperOf(pieces)
}

// address is the text of an address, with {} for parts that vary, free of what
// must not be kept.
func (e *extractor) address(r parse.Ref) (string, bool) {
	f := e.f
	if text, ok := e.Names.Constant(r); ok {
		return kept(text)
	}
	if e.addresses == maxAddresses {
		return "", false
	}
	e.addresses++
	defer func() { e.addresses-- }()
	if text, known, ok := e.composed(r, 8); ok {
		return text, known
	}
	k := f.Kind(r)
	var b strings.Builder
	known := false
	if k == parse.Call { // "a".concat(b)
		if callee := f.First(r); f.Kind(callee) != parse.Dot || f.NameOf(f.Kid(callee, 1)) != "concat" {
			return "", false
		}
		for i, p := range e.pieces(r) {
			switch {
			case p.plain():
				b.WriteString(p.Text)
				known = true
			case i == 0: // it may be a list
				return "", false
			default:
				b.WriteString("{}")
			}
		}
		if !known {
			return "", false
		}
		return kept(b.String())
	}
	if k != parse.Template && (k != parse.Binary || f.At(r).Op != parse.Plus) {
		return "", false
	}
	for part := f.First(r); part != 0 && b.Len() < maxAddress; part = f.Next(part) {
		if f.Kind(part) == parse.Chunk {
			b.WriteString(f.ChunkValue(part))
			known = known || f.At(part).End > f.At(part).Start
			continue
		}
		if text, ok := e.Names.Constant(part); ok {
			b.WriteString(text)
			known = true
		} else {
			b.WriteString("{}")
		}
	}
	if !known {
		return "", false
	}
	return kept(b.String())
}

// kept is an address without what must not be kept of it; ok is false for what
// can be none.
func kept(text string) (string, bool) {
	if len(text) > maxAddress || strings.ContainsAny(text, "\n\r\t\x00") {
		return "", false
	}
	return address.Clean(strings.TrimSpace(text)), true
}

var schemes = []string{"http://", "https://", "ws://", "wss://"}

// text reads addresses that stand in the program as text.
func (e *extractor) text(r parse.Ref, n *parse.Node) {
	f := e.f
	if n.End-n.Start > maxAddress || n.End-n.Start < 10 {
		return
	}
	start := f.Src[n.Start+1:]
	if c := start[0]; c != 'h' && c != 'w' {
		return
	}
	found := false
	for _, s := range schemes {
		found = found || strings.HasPrefix(start, s)
	}
	if !found {
		return
	}
	text, ok := e.address(r)
	if !ok || strings.ContainsAny(text, " <>\"`|\\") {
		return
	}
	host := text[strings.Index(text, "://")+3:]
	host, _, _ = strings.Cut(host, "/")
	if !plausibleHost(host) || namespace(text) {
		return
	}
	e.fact(Endpoint, text, "literal", r, Value{"use", "literal"})
}

func plausibleHost(host string) bool {
	if host == "" || len(host) > 255 || strings.HasSuffix(host, ":") { // joined to a port or a password
		return false
	}
	return strings.ContainsAny(host, ".:") || host == "localhost" || strings.Contains(host, "{}")
}

// namespace reports addresses that identify a vocabulary and are never asked.
func namespace(text string) bool {
	for _, p := range []string{"http://www.w3.org/", "https://www.w3.org/", "http://ns.adobe.com/", "http://schemas.", "http://purl.org/", "http://json-schema.org/", "https://json-schema.org/", "http://xmlns."} {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return false
}

// member reads process.env.A, import.meta.env.A and localStorage.a.
func (e *extractor) member(r parse.Ref, n *parse.Node) {
	f := e.f
	name, ok := e.Names.Key(r)
	object := n.First()
	if !ok {
		e.chooses(r, object)
	}
	switch f.Kind(object) {
	case parse.Dot, parse.Index:
		if inner, known := e.Names.Key(object); !known || inner != "env" {
			if ok && name == "env" && e.Names.Path(r) == "process.env" {
				e.handsOnEnvironment(r)
			}
			return
		}
		switch e.Names.Path(object) {
		case "process.env", "import.meta.env":
		default:
			return
		}
		fact := e.environmentVariable(name, ok, e.Names.Path(object), r)
		if p := e.f.Kind(e.parents[r]); p == parse.Assign && e.f.First(e.parents[r]) == r {
			fact.Details = append(fact.Details, Value{"write", true})
		}
	case parse.Ident:
		switch f.NameOf(object) {
		case "process":
			if name == "env" && e.Scopes.Of[object] == 0 {
				e.handsOnEnvironment(r)
			}
			return
		case "localStorage", "sessionStorage":
		default:
			if e.environment(object) { // const env = process.env; env.A
				e.environmentVariable(name, ok, "process.env", r)
			}
			return
		}
		if e.Scopes.Of[object] != 0 || storageMethod(name) {
			return
		}
		area := strings.TrimSuffix(f.NameOf(object), "Storage")
		fact := e.fact(Storage, name, f.NameOf(object), r, Value{"area", area})
		fact.Dynamic = !ok
	}
}

// environmentVariable is a member r of the variables of the environment.
func (e *extractor) environmentVariable(name string, known bool, via string, r parse.Ref) *Fact {
	if known || e.f.Kind(r) != parse.Index {
		fact := e.fact(Environment, name, via, r)
		fact.Dynamic = !known
		return fact
	}
	return e.named(Environment, e.f.Kid(r, 1), via, r)
}

func storageMethod(name string) bool {
	switch name {
	case "getItem", "setItem", "removeItem", "clear", "key", "length":
		return true
	}
	return false
}

// environment reports whether a variable is process.env.
func (e *extractor) environment(r parse.Ref) bool {
	b := e.Scopes.Of[r]
	if b == 0 || e.f.Kind(r) != parse.Ident {
		return false
	}
	switch value, path, _ := e.Names.From(b); {
	case value == 0:
		return false
	case path == ".env": // const {env} = process
	case path == "" && e.f.Kind(value) == parse.Ident:
	case path == "" && (e.f.Kind(value) == parse.Dot || e.f.Kind(value) == parse.Index):
		if name, ok := e.Names.Key(value); !ok || name != "env" {
			return false
		}
	default:
		return false
	}
	return e.Names.Path(r) == "process.env"
}

// handsOnEnvironment notes uses of all variables of the environment at once, as
// {...process.env}.
func (e *extractor) handsOnEnvironment(r parse.Ref) {
	f := e.f
	up := e.parents[r]
	switch f.Kind(up) {
	case parse.Spread, parse.Property, parse.ForIn:
	case parse.Call:
		if f.First(up) == r {
			return
		}
	default:
		return
	}
	e.fact(Environment, "", "process.env", r, Value{"all", true}).Dynamic = true
}

// pattern reads const {A, B} = process.env.
func (e *extractor) pattern(r parse.Ref, n *parse.Node) {
	f := e.f
	parent := e.parents[r]
	inner := "" // const {env: {A}} = process
	if f.Kind(parent) == parse.Property && f.Kind(e.parents[parent]) == parse.ObjectPattern && f.Text(f.First(parent)) == "env" {
		parent, inner = e.parents[e.parents[parent]], ".env"
	}
	if k := f.Kind(parent); k != parse.Declarator && k != parse.Assign {
		return
	}
	value := f.Kid(parent, 1)
	if k := f.Kind(value); k != parse.Dot && (k != parse.Ident || inner == "" && !e.environment(value)) {
		return
	}
	p := e.Names.Path(value) + inner
	if p != "process.env" && p != "import.meta.env" {
		return
	}
	for k := n.First(); k != 0; k = f.Next(k) {
		if f.Kind(k) != parse.Property { // the rest of them
			e.fact(Environment, "", p, k, Value{"all", true}).Dynamic = true
			continue
		}
		if name, ok := f.KeyOf(f.First(k), f.At(k).Flags&parse.Computed != 0); ok {
			e.fact(Environment, name, p, k)
		}
	}
}

// routeObject reads {path: "/a", component: …}, as routers take.
func (e *extractor) routeObject(r parse.Ref, n *parse.Node) {
	f := e.f
	route, target, method := parse.Ref(0), false, parse.Ref(0)
	side := "client"
	for k := n.First(); k != 0; k = f.Next(k) {
		if f.Kind(k) != parse.Property || f.Kind(f.First(k)) != parse.Name {
			continue
		}
		switch f.NameOf(f.First(k)) {
		case "path":
			route = f.Kid(k, 1)
		case "url": // {method: "GET", url: "/a", handler}
			if route == 0 {
				route, side = f.Kid(k, 1), "server"
			}
		case "method":
			method = f.Kid(k, 1)
		case "overrideBrowserWindowOptions": // what setWindowOpenHandler gives
			e.windowsOf(k, f.Kid(k, 1), "BrowserWindow", "setWindowOpenHandler")
		case "handler":
			target = target || side == "server" || method != 0
		case "component", "components", "element", "Component", "loadChildren", "loadComponent", "lazy", "redirectTo", "redirect", "children", "loader":
			target = true
		}
	}
	if route == 0 || !target || side == "server" && method == 0 {
		return
	}
	if text, ok := e.Names.Constant(route); ok && len(text) <= 500 && !strings.ContainsAny(text, " \n\\") {
		if side == "client" {
			text = e.nested(r, text)
		}
		e.fact(Route, text, "route object", r, Value{"side", side}, Value{"use", "definition"})
	}
}

// maxRoutes bounds the routes around one.
const maxRoutes = 16

// nested is the pattern of a route of a page within the routes around it: those of
// which it is among the children.
func (e *extractor) nested(r parse.Ref, text string) string {
	f := e.f
	for steps, routes := 0, 0; steps < 8*maxRoutes && routes < maxRoutes && !strings.HasPrefix(text, "/"); steps++ {
		up := e.parents[r]
		outer := parse.Ref(0) // the pattern of the route around
		switch f.Kind(up) {
		case parse.Array, parse.JSXBody, parse.Sequence:
		case parse.Property:
			if key, ok := f.KeyOf(f.First(up), f.At(up).Flags&parse.Computed != 0); !ok || key != "children" && key != "routes" {
				return text
			}
		case parse.Object:
			outer = e.Names.Member(up, "path")
		case parse.Call: // createElement(Route, {path}, …)
			if object := f.Kid(up, 2); f.Kind(object) == parse.Object && object != r && f.Kid(up, 1) != r {
				outer = e.Names.Member(object, "path")
			}
		case parse.JSXElement:
			for k := f.Next(f.First(up)); k != 0; k = f.Next(k) {
				if f.Kind(k) == parse.JSXAttribute && f.NameOf(f.First(k)) == "path" {
					outer = f.Kid(k, 1)
				}
			}
		default:
			return text
		}
		r = up
		if outer == 0 {
			continue
		}
		prefix, ok := e.Names.Constant(outer)
		if f.Kind(outer) == parse.JSXText {
			prefix, ok = f.Text(outer), true
		}
		if !ok || len(prefix)+len(text) > maxRoute {
			return text
		}
		routes++
		text = strings.TrimSuffix(strings.TrimSuffix(prefix, "*"), "/") + "/" + text
	}
	return text
}

// element reads <Route path="/a">.
func (e *extractor) element(r parse.Ref, n *parse.Node) {
	f := e.f
	if f.Kind(n.First()) != parse.Ident || f.NameOf(n.First()) != "Route" {
		return
	}
	for k := f.Next(n.First()); k != 0; k = f.Next(k) {
		if f.Kind(k) != parse.JSXAttribute || f.NameOf(f.First(k)) != "path" {
			continue
		}
		value := f.Kid(k, 1)
		text, ok := f.Text(value), f.Kind(value) == parse.JSXText
		if !ok {
			text, ok = e.Names.Constant(value)
		}
		if ok {
			text = e.nested(r, text)
			e.fact(Route, text, "<Route>", r, Value{"side", "client"}, Value{"use", "definition"})
		}
	}
}

// assigned reads assignments to properties that are not exports.
func (e *extractor) assigned(r, target, value parse.Ref) {
	f := e.f
	if f.Kind(target) != parse.Dot {
		return
	}
	switch f.NameOf(f.Kid(target, 1)) {
	case "cookie":
		if e.Names.Path(target) == "document.cookie" {
			name, dynamic := "", true
			first := value
			if k := f.Kind(value); k == parse.Binary || k == parse.Template {
				first = f.First(value)
			}
			text, ok := "", false
			if f.Kind(first) == parse.Chunk {
				text, ok = f.ChunkValue(first), true
			} else {
				text, ok = e.Names.Constant(first)
			}
			if key, _, found := strings.Cut(text, "="); ok && found {
				name, dynamic = strings.TrimSpace(key), false
			}
			fact := e.fact(Storage, name, "document.cookie", r, Value{"area", "cookie"})
			fact.Dynamic = dynamic
		}
	}
}
