package scope

import "rea/providers/javascript/parse"

// A declaration is one place where a scope declares a name.
type declaration struct {
	node parse.Ref
	atom parse.Atom
	how  Declaration
	next int32
}

type walker struct {
	steps        int
	stopped      bool
	f            *parse.File
	t            *Table
	declarations []declaration
	slot         []BindingID // by atom, of the scope that is being closed
	current      ID
	variable     []ID // scopes around, the current one included, in which var declares
}

func (w *walker) open(kind Kind, node parse.Ref) ID {
	was := w.current
	w.t.Scopes = parse.Append(w.t.Scopes, Scope{Kind: kind, Node: node, Parent: was, depth: w.t.Scopes[was].depth + 1})
	w.current = ID(len(w.t.Scopes) - 1)
	if kind.variable() {
		w.variable = append(w.variable, w.current)
	}
	return was
}

func (w *walker) shut(was ID) {
	w.close()
	if w.t.Scopes[w.current].Kind.variable() {
		w.variable = w.variable[:len(w.variable)-1]
	}
	w.current = was
}

// variable reports whether var declares in scopes of a kind.
func (k Kind) variable() bool {
	return k == File || k == Function || k == FieldScope || k == StaticScope
}

// close makes the bindings of the current scope.
func (w *walker) close() {
	s := &w.t.Scopes[w.current]
	s.First = BindingID(len(w.t.Bindings))
	// Lists have the latest first; bindings are made in order of declaration.
	var head int32
	for d := s.declared; d != 0; {
		next := w.declarations[d].next
		w.declarations[d].next = head
		head, d = d, next
	}
	for d := head; d != 0; d = w.declarations[d].next {
		w.declare(&w.declarations[d])
	}
	s.Count = int32(len(w.t.Bindings)) - int32(s.First)
	for i := s.First; i < s.First+BindingID(s.Count); i++ {
		w.slot[w.t.Bindings[i].Atom] = 0
	}
}

func (w *walker) declare(d *declaration) {
	b := w.slot[d.atom]
	if b == 0 {
		b = BindingID(len(w.t.Bindings))
		w.t.Bindings = parse.Append(w.t.Bindings, Binding{Atom: d.atom, Scope: w.current, How: d.how, Decl: d.node})
		w.slot[d.atom] = b
	}
	binding := &w.t.Bindings[b]
	if d.node == 0 {
		return
	}
	binding.Decls++
	if binding.Decl == 0 { // a declared name replaces the implicit arguments
		binding.Decl, binding.How = d.node, d.how
	}
	if w.t.Of[d.node] == 0 {
		w.t.Of[d.node] = b
	}
}

func (w *walker) define(scope ID, ident parse.Ref, how Declaration) {
	s := &w.t.Scopes[scope]
	w.declarations = parse.Append(w.declarations, declaration{ident, w.f.At(ident).Atom(), how, s.declared})
	s.declared = int32(len(w.declarations) - 1)
}

func (w *walker) use(ident parse.Ref, use Use) {
	w.t.References = append(w.t.References, Reference{Node: ident, where: uint32(w.current)<<useBits | uint32(use)})
}

// variableScope is where var declares.
func (w *walker) variableScope() ID { return w.variable[len(w.variable)-1] }

func (w *walker) kids(r parse.Ref) {
	for k := w.f.First(r); k != 0; k = w.f.Next(k) {
		w.visit(k)
	}
}

func (w *walker) siblings(k parse.Ref) {
	for ; k != 0; k = w.f.Next(k) {
		w.visit(k)
	}
}

func (w *walker) visit(r parse.Ref) {
	f := w.f
	if w.steps++; w.steps%parse.Stride == 0 {
		w.stopped = w.stopped || f.Stopped()
	}
	if w.stopped {
		return
	}
	n := &f.Nodes[r]
	switch n.Kind {
	case parse.Ident:
		w.use(r, Read)
	case parse.Name, parse.PrivateName, parse.String, parse.Number, parse.Empty, parse.Chunk:
	case parse.Dot:
		w.visit(n.First())
	case parse.Property:
		w.property(r, n)
	case parse.VarDecl:
		w.variables(r, false)
	case parse.Assign:
		use := Write
		if n.Op != parse.Equal {
			use |= Read
		}
		w.target(n.First(), use)
		w.visit(f.Next(n.First()))
	case parse.Update:
		if f.Kind(n.First()) == parse.Ident {
			w.use(n.First(), Read|Write)
		} else {
			w.visit(n.First())
		}
	case parse.Func, parse.FuncDecl, parse.Arrow:
		w.function(r, n)
	case parse.Class, parse.ClassDecl:
		w.class(r, n)
	case parse.Block:
		was := w.open(BlockScope, r)
		w.kids(r)
		w.shut(was)
	case parse.For, parse.ForIn, parse.ForOf:
		w.loop(r, n)
	case parse.Switch:
		w.visit(n.First())
		was := w.open(SwitchScope, r)
		w.siblings(f.Next(n.First()))
		w.shut(was)
	case parse.Catch:
		was := w.open(CatchScope, r)
		w.pattern(n.First(), CatchParameter, w.current, false)
		w.visit(f.Next(n.First()))
		w.shut(was)
	case parse.With:
		w.visit(n.First())
		was := w.open(WithScope, r)
		w.siblings(f.Next(n.First()))
		w.shut(was)
	case parse.Import:
		w.imports(n)
	case parse.ExportNames:
		w.exports(n)
	case parse.ExportAll:
	case parse.JSXAttribute:
		w.siblings(f.Next(n.First()))
	default:
		w.kids(r)
	}
}

func (w *walker) property(r parse.Ref, n *parse.Node) {
	if n.Flags&parse.Computed != 0 {
		w.visit(n.First())
	}
	w.visit(w.f.Next(n.First()))
}

// target visits what is assigned to: names in it are written.
func (w *walker) target(r parse.Ref, use Use) {
	f := w.f
	n := f.At(r)
	switch n.Kind {
	case parse.Ident:
		w.use(r, use)
	case parse.ArrayPattern, parse.ObjectPattern, parse.Rest:
		for k := n.First(); k != 0; k = f.Next(k) {
			w.target(k, use)
		}
	case parse.Property:
		if n.Flags&parse.Computed != 0 {
			w.visit(n.First())
		}
		w.target(f.Next(n.First()), use)
	case parse.AssignPattern:
		w.target(n.First(), use)
		w.visit(f.Next(n.First()))
	default:
		w.visit(r)
	}
}

// pattern declares the names of a pattern in scope; they are also written when
// a value comes with the declaration.
func (w *walker) pattern(r parse.Ref, how Declaration, scope ID, written bool) {
	f := w.f
	n := f.At(r)
	switch n.Kind {
	case parse.Ident:
		w.define(scope, r, how)
		if written {
			w.use(r, Write|Init)
		}
	case parse.ArrayPattern, parse.ObjectPattern, parse.Rest:
		for k := n.First(); k != 0; k = f.Next(k) {
			w.pattern(k, how, scope, written)
		}
	case parse.Property:
		if n.Flags&parse.Computed != 0 {
			w.visit(n.First())
		}
		w.pattern(f.Next(n.First()), how, scope, written)
	case parse.AssignPattern:
		w.pattern(n.First(), how, scope, written || how == Parameter)
		w.visit(f.Next(n.First()))
	case parse.Empty:
	default:
		w.visit(r)
	}
}

// variables visits a declaration; each tells that a loop gives the values.
func (w *walker) variables(r parse.Ref, each bool) {
	f := w.f
	how, scope := Var, w.current
	switch f.At(r).Op {
	case parse.KeyVar:
		scope = w.variableScope()
	case parse.KeyLet:
		how = Let
	default:
		how = Const
	}
	for d := f.First(r); d != 0; d = f.Next(d) {
		if f.Kind(d) != parse.Declarator {
			w.visit(d)
			continue
		}
		target := f.First(d)
		value := f.Next(target)
		w.pattern(target, how, scope, each || f.Kind(value) != parse.Empty)
		w.visit(value)
	}
}

func (w *walker) function(r parse.Ref, n *parse.Node) {
	f := w.f
	name := n.First()
	params := f.Next(name)
	body := f.Next(params)
	outer := w.current
	if f.Kind(name) == parse.Ident {
		if n.Kind == parse.FuncDecl {
			w.define(w.current, name, FunctionDecl)
		} else {
			w.open(FunctionName, r)
			w.define(w.current, name, FunctionSelf)
		}
	}
	was := w.open(Function, r)
	if n.Kind != parse.Arrow {
		s := &w.t.Scopes[w.current]
		w.declarations = parse.Append(w.declarations, declaration{0, parse.AtomArguments, Arguments, s.declared})
		s.declared = int32(len(w.declarations) - 1)
	}
	for k := f.First(params); k != 0; k = f.Next(k) {
		w.pattern(k, Parameter, w.current, false)
	}
	if f.Kind(body) == parse.Block {
		w.kids(body)
	} else if body != 0 {
		w.visit(body)
	}
	w.shut(was)
	if w.current != outer {
		w.shut(outer)
	}
}

func (w *walker) class(r parse.Ref, n *parse.Node) {
	f := w.f
	name := n.First()
	super := f.Next(name)
	named := f.Kind(name) == parse.Ident
	if named && n.Kind == parse.ClassDecl {
		w.define(w.current, name, ClassDecl)
	}
	for k := f.Next(super); k != 0; k = f.Next(k) {
		if f.Kind(k) == parse.Decorator {
			w.kids(k)
		}
	}
	w.visit(super)
	was := w.open(ClassScope, r)
	if named {
		w.define(w.current, name, ClassSelf)
	}
	for k := f.Next(super); k != 0; k = f.Next(k) {
		switch f.Kind(k) {
		case parse.Member:
			w.member(k)
		case parse.StaticBlock:
			was := w.open(StaticScope, k)
			w.kids(k)
			w.shut(was)
		}
	}
	w.shut(was)
}

func (w *walker) member(r parse.Ref) {
	f := w.f
	n := f.At(r)
	value := f.Next(n.First())
	w.siblings(f.Next(value)) // decorators
	if n.Flags&parse.Computed != 0 {
		w.visit(n.First())
	}
	if n.Flags&(parse.IsMethod|parse.Getter|parse.Setter) != 0 || f.Kind(value) == parse.Empty {
		w.visit(value)
		return
	}
	was := w.open(FieldScope, value)
	w.visit(value)
	w.shut(was)
}

func (w *walker) loop(r parse.Ref, n *parse.Node) {
	f := w.f
	head := n.First()
	was := w.current
	if f.Kind(head) == parse.VarDecl && f.At(head).Op != parse.KeyVar {
		w.open(ForScope, r)
	}
	switch {
	case n.Kind == parse.For:
		w.visit(head)
	case f.Kind(head) == parse.VarDecl:
		w.variables(head, true)
	default:
		w.target(head, Write)
	}
	w.siblings(f.Next(head))
	if w.current != was {
		w.shut(was)
	}
}

func (w *walker) imports(n *parse.Node) {
	f := w.f
	for k := f.Next(n.First()); k != 0; k = f.Next(k) {
		switch f.Kind(k) {
		case parse.ImportName:
			w.define(w.current, f.Kid(k, 1), ImportName)
		case parse.ImportDef, parse.ImportAll:
			w.define(w.current, f.First(k), ImportName)
		}
	}
}

// exports visits export {a, b as c}: without a source the names are uses.
func (w *walker) exports(n *parse.Node) {
	f := w.f
	if f.Kind(n.First()) != parse.Empty {
		return
	}
	for k := f.Next(n.First()); k != 0; k = f.Next(k) {
		if f.Kind(k) == parse.ExportName && f.Kind(f.First(k)) == parse.Name {
			w.use(f.First(k), Read)
		}
	}
}
