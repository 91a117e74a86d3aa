package facts

import (
	"rea/providers/javascript/parse"
	"rea/providers/javascript/symbol"
)

// handedOn notes where something that takes names is not called but given away, kept
// or chosen among others: what names it takes there is only known when the program
// runs.
func (e *extractor) handedOn(r parse.Ref) {
	f := e.f
	if e.Scopes.Of[r] != 0 {
		return
	}
	name := f.NameOf(r)
	switch name {
	case "fetch", "localStorage", "sessionStorage", "require", "WebSocket", "EventSource", "Worker", "SharedWorker":
	default:
		return
	}
	if name == "require" && (e.f.Module || len(e.Roles) > 0) {
		return
	}
	at := r
	if up := e.parents[r]; f.Kind(up) == parse.Dot && f.Kid(up, 1) == r { // window.fetch
		return
	}
	if !e.isGiven(at) {
		return
	}
	switch name {
	case "fetch", "WebSocket", "EventSource":
		e.fact(Endpoint, "", name, r).Dynamic = true
	case "Worker", "SharedWorker":
		e.fact(Worker, "", name, r).Dynamic = true
	case "require":
		e.out.Imports = append(e.out.Imports, Import{Kind: Require, Unknown: true, At: e.span(r)})
	default:
		e.fact(Storage, "", name, r, Value{"area", name[:len(name)-len("Storage")]}).Dynamic = true
	}
}

// listensSomehow notes a call of a method of ipcMain that is chosen, or made, when the
// program runs.
func (e *extractor) listensSomehow(r, receiver parse.Ref) {
	switch e.f.Kind(receiver) {
	case parse.Ident, parse.Dot, parse.Index:
	default:
		return
	}
	if path := e.Names.Path(receiver); symbol.Ends(path, "ipcMain") {
		e.fact(Message, "", path, r, Value{"operation", "handle"}, Value{"direction", toMain}, Value{"side", "handler"}).Dynamic = true
	}
}

// isGiven reports whether an expression is given to a call, kept in a variable or a
// property, or chosen among others.
func (e *extractor) isGiven(r parse.Ref) bool {
	f := e.f
	switch up := e.parents[r]; f.Kind(up) {
	case parse.Call, parse.New:
		return f.First(up) != r
	case parse.Declarator:
		return f.Kid(up, 1) == r && f.NameOf(r) != "localStorage" && f.NameOf(r) != "sessionStorage" // its uses are read
	case parse.Assign:
		return f.Kid(up, 1) == r
	case parse.Property:
		return f.Kid(up, 1) == r && f.Kind(e.parents[up]) == parse.Object
	case parse.Cond:
		return f.First(up) != r
	case parse.Array, parse.Return, parse.Spread:
		return true
	case parse.Arrow:
		return f.Kid(up, 2) == r
	}
	return false
}
