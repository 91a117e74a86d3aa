package semantic

import (
	"strings"

	"rea/providers/javascript/bundle"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
	"rea/providers/javascript/symbol"
)

// meaning of a call by the path of its callee.
type meaning struct {
	kind Kind
	how  Relation // of its arguments
	runs Relation // of functions among its arguments, 0 for Argument
}

var ordinary = meaning{Call, Argument, 0}

// meaningOf tells what a path does. last is its last step.
func meaningOf(path, last string) meaning {
	switch last {
	case "setTimeout", "setInterval", "setImmediate", "requestAnimationFrame", "requestIdleCallback", "queueMicrotask":
		return meaning{Timer, Argument, Schedules}
	case "nextTick":
		if path == "process.nextTick" {
			return meaning{Timer, Argument, Schedules}
		}
	case "then", "catch", "finally":
		return meaning{Promise, Argument, Continues}
	case "addEventListener", "on", "once", "addListener", "prependListener", "subscribe", "handle", "handleOnce":
		if path == "process.on" || path == "process.once" {
			return meaning{Signal, Argument, Listens}
		}
		return meaning{Listener, Argument, Listens}
	case "emit", "dispatchEvent", "postMessage", "send", "invoke":
		return meaning{Event, Argument, 0}
	case "fetch", "sendBeacon":
		return meaning{Request, Asks, 0}
	case "axios", "XMLHttpRequest", "WebSocket", "EventSource":
		return meaning{Request, Asks, 0}
	case "spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork":
		if strings.HasPrefix(path, "child_process.") || strings.Contains(path, "utilityProcess.") {
			return meaning{ChildProcess, Spawns, Continues}
		}
	case "parse":
		if path == "JSON.parse" || strings.HasSuffix(path, "chema.parse") {
			return meaning{Parsing, Parses, 0}
		}
	case "safeParse", "validate", "parseInt", "parseFloat", "test":
		return meaning{Parsing, Parses, 0}
	case "Promise":
		return meaning{Promise, Argument, Continues}
	case "createServer", "watch", "watchFile":
		return meaning{Listener, Argument, Listens}
	case "map", "forEach", "filter", "reduce", "reduceRight", "some", "every", "find", "findIndex", "findLast", "flatMap":
		return meaning{Call, Argument, Calls}
	}
	root, _, _ := strings.Cut(path, ".")
	switch root {
	case "fs", "fs/promises", "indexedDB", "localStorage", "sessionStorage", "caches", "net", "tls", "worker_threads":
		return meaning{Resource, Uses, Continues}
	case "http", "https", "axios", "got", "undici":
		return meaning{Request, Asks, Continues}
	case "Promise":
		return meaning{Promise, Argument, 0}
	case "process":
		if strings.HasPrefix(path, "process.std") {
			return meaning{Stdio, Argument, 0}
		}
	case "console":
		return meaning{Stdio, Argument, 0}
	}
	return ordinary
}

// call is the node of a call, with its arguments and its target.
func (e *extractor) call(r parse.Ref) int32 {
	if n, ok := e.rows.of(r); ok {
		return n
	}
	callee := e.First(r)
	if e.Kind(r) == parse.ImportCall {
		return e.importCall(r)
	}
	if specifier, in, ok := e.loads(r, callee); ok {
		n := e.node(Boundary, e.span(r), specifier)
		e.rows.give(r, n)
		if n != none {
			e.unit.Imports = append(e.unit.Imports, Import{n, specifier, "*", in})
		}
		return n
	}
	path := ""
	switch e.Kind(callee) {
	case parse.Ident, parse.Dot, parse.Index, parse.Sequence:
		path = e.Names.Path(callee)
	}
	m := ordinary
	if path != "" && path != symbol.Unknown {
		m = meaningOf(path, path[strings.LastIndexByte(path, '.')+1:])
	}
	n := e.node(m.kind, e.span(r), e.calleeLabel(callee, path))
	e.rows.give(r, n)
	if n == none {
		return n
	}
	target := e.target(callee)
	if f := e.functionOf(target); f != none {
		e.edge(Calls, n, f)
		e.edge(Results, f, n)
	}
	e.callee(callee, n, target)
	if k := e.Kind(target); k == parse.Class || k == parse.ClassDecl {
		if target = e.constructorOf(target, maxSupers); target != 0 {
			e.edge(Calls, n, e.functionOf(target))
		}
	}
	e.arguments(r, n, m, target)
	e.pipes(callee)
	return n
}

// pipes relates a stream to the one that it is piped into: what the one gives, the other
// takes.
func (e *extractor) pipes(callee parse.Ref) {
	if e.Kind(callee) != parse.Dot {
		return
	}
	switch e.NameOf(e.Kid(callee, 1)) {
	case "pipe", "pipeTo", "pipeThrough":
	default:
		return
	}
	into := none
	switch to := e.Next(callee); e.Kind(to) {
	case parse.Ident:
		into = e.binding(e.Scopes.Of[to])
	case parse.Dot, parse.Index:
		into = e.slot(to)
	case parse.Call, parse.New:
		into = e.call(to)
	}
	if into != none {
		e.flow(e.First(callee), into, Uses, maxSteps)
	}
}

// callee relates a call to the value that it calls: a variable, a property of one,
// or at least the object of which it calls a method.
func (e *extractor) callee(callee parse.Ref, n int32, target parse.Ref) {
	switch e.Kind(callee) {
	case parse.Sequence: // (0, a.b)(…)
		e.callee(e.Last(callee), n, target)
	case parse.Dot, parse.Index:
		if target == 0 {
			if s := e.slot(callee); s != none {
				e.edge(Callee, s, n)
			}
		}
		e.flow(e.First(callee), n, Flows, 4) // a.then(…) depends on a
	case parse.Ident:
		if target == 0 {
			e.edge(Callee, e.binding(e.Scopes.Of[callee]), n)
		}
	case parse.Call: // a(…)(…)
		e.edge(Callee, e.call(callee), n)
	}
}

func (e *extractor) arguments(r parse.Ref, n int32, m meaning, target parse.Ref) {
	parameter := parse.Ref(0)
	if e.Kind(target).IsFunction() {
		parameter = e.First(e.Kid(target, 1))
	}
	if e.Kind(r) == parse.Tagged {
		e.substitutions(e.Next(e.First(r)), n, parameter)
		return
	}
	all := e.allOf(target)
	if m.runs == Calls && target != 0 {
		m.runs = 0 // a method that is known and runs what it runs
	}
	for k := e.Next(e.First(r)); k != 0; k = e.Next(k) {
		how := m.how
		if m.runs != 0 {
			if f := e.callback(k); f != none {
				e.edge(m.runs, n, f)
				if m.runs == Calls {
					e.edge(Results, f, n)
				}
				e.receives(k, n)
				how = Argument
			}
		}
		give := func(to int32, how Relation) { e.flow(k, to, how, maxSteps) }
		if e.Kind(k) == parse.String && e.At(k).End-e.At(k).Start <= maxLabel && (parameter != 0 || all != none) {
			text := e.node(Literal, e.span(k), e.literal(k)) // one for the call and the parameter
			give = func(to int32, how Relation) { e.edge(how, text, to) }
		}
		give(n, how)
		if all != none {
			give(all, Passes)
		}
		if e.Kind(k) == parse.Spread {
			parameter = 0
		}
		if parameter == 0 {
			continue
		}
		e.bound(parameter, func(ident parse.Ref) { give(e.binding(e.Scopes.Of[ident]), Passes) }, 8)
		if e.Kind(parameter) != parse.Rest {
			parameter = e.Next(parameter)
		}
	}
}

// substitutions are the arguments of a tag: its first parameter is the texts between
// them.
func (e *extractor) substitutions(template parse.Ref, n int32, parameter parse.Ref) {
	for k := e.First(template); k != 0; k = e.Next(k) {
		if e.Kind(k) == parse.Chunk {
			continue
		}
		if parameter != 0 && e.Kind(parameter) != parse.Rest {
			parameter = e.Next(parameter)
		}
		e.flow(k, n, Argument, maxSteps)
		if parameter != 0 {
			e.bound(parameter, func(ident parse.Ref) { e.flow(k, e.binding(e.Scopes.Of[ident]), Passes, maxSteps) }, 8)
		}
	}
}

// callback is the function that an argument is, or none.
func (e *extractor) callback(r parse.Ref) int32 {
	switch e.Kind(r) {
	case parse.Func, parse.Arrow:
		return e.functionOf(r)
	case parse.Ident, parse.Dot:
		return e.functionOf(e.target(r))
	}
	return none
}

// maxReceived bounds the parameters that what runs a function is related to.
const maxReceived = 64

// receives relates what runs a callback to its parameters: what an event brings
// and what a promise gives comes in there.
func (e *extractor) receives(r parse.Ref, from int32) {
	function := e.target(r)
	if !e.Kind(function).IsFunction() {
		return
	}
	e.edge(Passes, from, e.allOf(function))
	left := maxReceived
	for k := e.First(e.Kid(function, 1)); k != 0 && left > 0; k, left = e.Next(k), left-1 {
		e.bound(k, func(ident parse.Ref) { e.edge(Passes, from, e.binding(e.Scopes.Of[ident])) }, 8)
	}
}

// bound gives the names that a pattern binds.
func (e *extractor) bound(pattern parse.Ref, yield func(ident parse.Ref), depth int) {
	if depth == 0 {
		return
	}
	switch e.Kind(pattern) {
	case parse.Ident:
		yield(pattern)
	case parse.AssignPattern, parse.Rest:
		e.bound(e.First(pattern), yield, depth-1)
	case parse.Property:
		e.bound(e.Kid(pattern, 1), yield, depth-1)
	case parse.ObjectPattern, parse.ArrayPattern:
		for k := e.First(pattern); k != 0; k = e.Next(k) {
			e.bound(k, yield, depth-1)
		}
	}
}

func (e *extractor) calleeLabel(callee parse.Ref, path string) string {
	if path != "" && path != symbol.Unknown {
		return path
	}
	switch e.Kind(callee) {
	case parse.Ident:
		return e.NameOf(callee)
	case parse.Dot, parse.Index:
		name, _ := e.PropertyOf(callee)
		return "?." + name
	}
	return ""
}

// loads tells calls that load a module: its name, and the bundle whose id that
// is, or how it is loaded.
func (e *extractor) loads(r, callee parse.Ref) (specifier string, in int, ok bool) {
	if e.Kind(callee) != parse.Ident {
		return "", 0, false
	}
	if e.roles[e.Scopes.Of[callee]] == bundle.RequireRole && e.Scopes.Of[callee] != 0 {
		id, known := e.Names.Constant(e.Next(callee))
		return id, 0, known
	}
	if s, known := e.Names.Required(r); known {
		return s, ByRequire, true
	}
	return "", 0, false
}

func (e *extractor) importCall(r parse.Ref) int32 {
	specifier, ok := e.Constant(e.First(r))
	kind := Boundary
	if !ok {
		kind = Unknown
	}
	n := e.node(kind, e.span(r), specifier)
	e.rows.give(r, n)
	if ok && n != none {
		e.unit.Imports = append(e.unit.Imports, Import{n, specifier, "*", ByImport})
	}
	return n
}

// target is the function that a callee always is, or 0.
func (e *extractor) target(callee parse.Ref) parse.Ref {
	return e.targetOf(callee, 8)
}

func (e *extractor) targetOf(r parse.Ref, hops int) parse.Ref {
	if hops == 0 || r == 0 {
		return 0
	}
	switch e.Kind(r) {
	case parse.Func, parse.Arrow, parse.Class, parse.FuncDecl, parse.ClassDecl:
		return r
	case parse.Sequence:
		return e.targetOf(e.Last(r), hops-1)
	case parse.Super:
		return e.superOf(e.owner)
	case parse.Ident:
		id := e.Scopes.Of[r]
		b := e.Scopes.Binding(r)
		if b == nil {
			return 0
		}
		switch b.How {
		case scope.FunctionDecl, scope.ClassDecl, scope.FunctionSelf, scope.ClassSelf:
			if b.Writes == 0 && b.Decls == 1 {
				return e.Parents[b.Decl]
			}
			return 0
		}
		if value, ok := e.Names.Origin(id); ok {
			return e.targetOf(value, hops-1)
		}
	case parse.Dot, parse.Index:
		name, ok := e.PropertyOf(r)
		if !ok {
			return 0
		}
		object := e.First(r)
		switch e.Kind(object) {
		case parse.This:
			return e.memberOf(e.owner, name)
		case parse.Super:
			return e.memberOf(e.superOf(e.owner), name)
		case parse.Ident:
			if class := e.targetOf(object, hops-1); e.Kind(class) == parse.Class || e.Kind(class) == parse.ClassDecl {
				return e.methods(class)[static+name]
			}
		case parse.New: // new A().b(…)
			for class, left := e.targetOf(e.First(object), hops-1), maxSupers; left > 0 && (e.Kind(class) == parse.Class || e.Kind(class) == parse.ClassDecl); left-- {
				if f := e.methods(class)[name]; f != 0 {
					return f
				}
				class = e.superOf(class)
			}
			return 0
		}
		if literal := e.Names.Literal(object); literal != 0 {
			return e.targetOf(e.Names.Member(literal, name), hops-1)
		}
	}
	return 0
}

// memberOf is the method of a class or object, or 0.
func (e *extractor) memberOf(owner parse.Ref, name string) parse.Ref {
	switch e.Kind(owner) {
	case parse.Object:
		if v := e.Names.Member(owner, name); e.Kind(v).IsFunction() {
			return v
		}
	case parse.Class, parse.ClassDecl:
		m := e.methods(owner)
		own, all := m[name], m[static+name]
		if own == 0 || all != 0 && e.static {
			return all
		}
		return own
	}
	return 0
}

// static stands before the names of methods that a class has itself.
const static = "\x00"

// maxSupers bounds the classes between one and the class that has its constructor.
const maxSupers = 8

// superOf is the class that a class extends, or 0.
func (e *extractor) superOf(class parse.Ref) parse.Ref {
	if k := e.Kind(class); k != parse.Class && k != parse.ClassDecl {
		return 0
	}
	super := e.targetOf(e.Kid(class, 1), 8)
	if k := e.Kind(super); k != parse.Class && k != parse.ClassDecl {
		return 0
	}
	return super
}

// constructorOf is the function that makes what a class makes, or 0.
func (e *extractor) constructorOf(class parse.Ref, left int) parse.Ref {
	for ; class != 0 && left > 0; left-- {
		if f := e.methods(class)["constructor"]; f != 0 {
			return f
		}
		class = e.superOf(class)
	}
	return 0
}

// methods of a class, by name.
func (e *extractor) methods(class parse.Ref) map[string]parse.Ref {
	if m, ok := e.classes[class]; ok {
		return m
	}
	m := map[string]parse.Ref{}
	for k := e.First(class); k != 0; k = e.Next(k) {
		n := e.At(k)
		if n.Kind != parse.Member || n.Flags&parse.IsMethod == 0 {
			continue
		}
		if key, ok := e.KeyOf(n.First(), n.Flags&parse.Computed != 0); ok {
			if n.Flags&parse.Static != 0 {
				key = static + key
			}
			m[key] = e.Next(n.First())
		}
	}
	e.classes[class] = m
	return m
}
