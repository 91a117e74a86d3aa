package bundle

import (
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// context reads the module that stands for all modules that a request may mean which
// is only known when the program runs:
//
//	var map = {"./a.js": "id", "./b.js": ["id", "chunk"]};
//	function context(request) { … return require(map[request]) }
//	context.keys = () => Object.keys(map);
//
// What it loads is what its table names, instead of what is not known.
func (d *detector) context(m *Module) {
	unknown, dynamic := 0, false
	for _, q := range m.Requires {
		if q.Unknown {
			unknown++
			dynamic = dynamic || q.Dynamic
		}
	}
	if unknown == 0 || m.Func == 0 {
		return
	}
	table := d.contextTable(d.Kid(m.Func, 2))
	if table == 0 {
		return
	}
	requires := m.Requires[:0:0]
	for _, q := range m.Requires {
		if !q.Unknown {
			requires = append(requires, q)
		}
	}
	for k := d.First(table); k != 0; k = d.Next(k) {
		request, _ := d.KeyOf(d.First(k), false)
		id := d.Kid(k, 1)
		chunks := false
		if d.Kind(id) == parse.Array {
			chunks = d.Kids(id) > 1
			id = d.First(id)
		}
		text, _ := d.Names.Constant(id)
		requires = append(requires, Require{ID: text, Specifier: request, Dynamic: dynamic || chunks, At: d.span(k)})
	}
	m.Requires = requires
}

// contextTable is the object whose keys a function of a module gives under the name
// keys, when each of its values is an id or a list that begins with one, or 0.
func (d *detector) contextTable(body parse.Ref) parse.Ref {
	for s := d.First(body); s != 0; s = d.Next(s) {
		if d.Kind(s) == parse.Block { // around code that is compiled at run time
			if table := d.contextTable(s); table != 0 {
				return table
			}
			continue
		}
		for _, part := range d.parts(s) {
			if d.Kind(part) == parse.ExprStmt {
				part = d.First(part)
			}
			target := d.First(part)
			if d.Kind(part) != parse.Assign || d.Kind(target) != parse.Dot || d.NameOf(d.Kid(target, 1)) != "keys" {
				continue
			}
			fn := d.Next(target)
			if d.Kind(fn) == parse.Ident { // function keys() { … }
				fn = d.functionOf(d.Scopes.Of[fn])
			}
			if table := d.objectOf(d.keysOf(fn)); table != 0 && d.namesModules(table) {
				return table
			}
		}
	}
	return 0
}

// functionOf is the function that a name is declared as, or 0.
func (d *detector) functionOf(b scope.BindingID) parse.Ref {
	if b == 0 || d.Scopes.Bindings[b].Decl == 0 {
		return 0
	}
	switch up := d.Parents[d.Scopes.Bindings[b].Decl]; d.Kind(up) {
	case parse.FuncDecl:
		return up
	case parse.Declarator:
		return d.Kid(up, 1)
	}
	return 0
}

// keysOf is the variable a in a function that is only return Object.keys(a), or 0.
func (d *detector) keysOf(fn parse.Ref) scope.BindingID {
	if !d.Kind(fn).IsFunction() {
		return 0
	}
	call := d.Kid(fn, 2)
	if d.Kind(call) == parse.Block {
		call = d.First(call)
	}
	if k := d.Kind(call); k == parse.Return || k == parse.ExprStmt {
		call = d.First(call)
	}
	if d.Kind(call) != parse.Call || d.Text(d.First(call)) != "Object.keys" || d.Kind(d.Kid(call, 1)) != parse.Ident {
		return 0
	}
	return d.Scopes.Of[d.Kid(call, 1)]
}

// objectOf is the object that a variable is declared with, or 0.
func (d *detector) objectOf(b scope.BindingID) parse.Ref {
	if b == 0 || d.Scopes.Bindings[b].Decl == 0 {
		return 0
	}
	if up := d.Parents[d.Scopes.Bindings[b].Decl]; d.Kind(up) == parse.Declarator && d.Kind(d.Kid(up, 1)) == parse.Object {
		return d.Kid(up, 1)
	}
	return 0
}

// namesModules reports whether all values of an object are ids, or lists that begin
// with one.
func (d *detector) namesModules(table parse.Ref) bool {
	for k := d.First(table); k != 0; k = d.Next(k) {
		if _, ok := d.KeyOf(d.First(k), d.At(k).Flags&parse.Computed != 0); !ok || d.Kind(k) != parse.Property {
			return false
		}
		id := d.Kid(k, 1)
		if d.Kind(id) == parse.Array {
			id = d.First(id)
		}
		if _, ok := d.Names.Constant(id); !ok {
			return false
		}
	}
	return d.First(table) != 0
}
