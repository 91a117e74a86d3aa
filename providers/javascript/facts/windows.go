package facts

import (
	"maps"
	"slices"
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// An opening is an expression that makes a window: new BrowserWindow(…), or
// super(…) in a class that is one.
type opening struct {
	r    parse.Ref
	fact []int // of the windows: one for each caller that gives it options
}

// A showing is a call that loads a page into a window.
type showing struct {
	receiver parse.Ref
	fact     int
}

// windowsOf notes the windows that an expression makes. Where options are a
// parameter of the function around it, there is one for each caller that gives them.
func (e *extractor) windowsOf(r, options parse.Ref, class, via string) (list []int) {
	if callers := e.callersOf(options); len(callers) > 0 {
		for _, c := range callers {
			e.given = c.given
			list = append(list, e.window(c.call, options, class, via))
		}
		e.given = nil
		return list
	}
	return []int{e.window(r, options, class, via)}
}

// A caller gives parameters of a function their values.
type caller struct {
	call  parse.Ref
	given map[scope.BindingID]parse.Ref
}

// maxCallers bounds the callers of which each is looked at.
const maxCallers = 100

// callersOf are the calls of a function whose parameters an expression has, where
// all of its uses are calls.
func (e *extractor) callersOf(r parse.Ref) []caller {
	f := e.f
	if r == 0 {
		return nil
	}
	function := parse.Ref(0)
	start, end := f.At(r).Start, f.At(r).End
	for k := r; k > 0 && f.At(k).End > start; k-- { // children come before their parents
		if f.Kind(k) != parse.Ident || f.At(k).Start < start || f.At(k).End > end {
			continue
		}
		if of := e.parameterOf(k); of != 0 {
			function = of
			break
		}
	}
	if function == 0 {
		return nil
	}
	uses, closed := e.callsOf(function)
	if !closed || len(uses) > maxCallers {
		return nil
	}
	var list []caller
	for _, call := range uses {
		given := map[scope.BindingID]parse.Ref{}
		arg := f.Next(f.First(call))
		for p := f.First(f.Kid(function, 1)); p != 0; p = f.Next(p) {
			e.give(given, p, arg)
			if arg != 0 {
				arg = f.Next(arg)
			}
		}
		list = append(list, caller{call, given})
	}
	return list
}

// give binds a parameter to an argument.
func (e *extractor) give(given map[scope.BindingID]parse.Ref, parameter, arg parse.Ref) {
	f := e.f
	if f.Kind(parameter) == parse.AssignPattern {
		if arg == 0 {
			arg = f.Kid(parameter, 1)
		}
		parameter = f.First(parameter)
	}
	if arg == 0 {
		return
	}
	switch f.Kind(parameter) {
	case parse.Ident:
		given[e.Scopes.Of[parameter]] = arg
	case parse.ObjectPattern:
		object := e.Names.Literal(arg)
		if object == 0 {
			return
		}
		for k := f.First(parameter); k != 0; k = f.Next(k) {
			if f.Kind(k) != parse.Property {
				continue
			}
			if key, ok := f.KeyOf(f.First(k), f.At(k).Flags&parse.Computed != 0); ok {
				if value := f.Kid(k, 1); f.Kind(value) == parse.Ident || f.Kind(value) == parse.AssignPattern {
					e.give(given, value, e.Names.Member(object, key))
				}
			}
		}
	}
}

// parameterOf is the function of which a variable is a parameter, or 0.
func (e *extractor) parameterOf(r parse.Ref) parse.Ref {
	f := e.f
	b := e.Scopes.Binding(r)
	if b == nil || b.How != scope.Parameter || b.Decl == 0 || b.Writes > 0 {
		return 0
	}
	up := e.parents[b.Decl]
	for steps := 0; steps < 4 && up != 0 && f.Kind(up) != parse.Params; steps++ {
		up = e.parents[up]
	}
	if f.Kind(up) != parse.Params {
		return 0
	}
	return e.parents[up]
}

// callsOf are the calls of a function, or of the class whose constructor it is; they
// are closed when nothing else of this file uses it.
func (e *extractor) callsOf(function parse.Ref) (calls []parse.Ref, closed bool) {
	f := e.f
	outer := e.parents[function]
	name, kind := parse.Ref(0), parse.Call
	switch {
	case f.Kind(outer) == parse.Call && f.First(outer) == function: // it is called where it stands
		return []parse.Ref{outer}, true
	case f.Kind(function) == parse.FuncDecl:
		name = f.First(function)
	case f.Kind(outer) == parse.Declarator && f.Kind(f.First(outer)) == parse.Ident:
		name = f.First(outer)
	case f.Kind(outer) == parse.Member && f.Text(f.First(outer)) == "constructor":
		kind = parse.New
		class := e.parents[outer]
		if f.Kind(class) == parse.ClassDecl {
			name = f.First(class)
		} else if up := e.parents[class]; f.Kind(class) == parse.Class && f.Kind(up) == parse.Declarator && f.Kind(f.First(up)) == parse.Ident {
			name = f.First(up)
		}
	}
	if f.Kind(name) != parse.Ident {
		return nil, false
	}
	closed = true
	for _, use := range e.usesOf(e.declared(name)) {
		call := e.parents[use]
		if f.Kind(call) == kind && f.First(call) == use {
			calls = append(calls, call)
		} else {
			closed = false
		}
	}
	return calls, closed
}

// declared is the binding of a name where it is declared: that of a class inside of
// itself is another.
func (e *extractor) declared(name parse.Ref) scope.BindingID {
	b := e.Scopes.Of[name]
	if e.Scopes.Bindings[b].How != scope.ClassSelf {
		return b
	}
	if e.classes == nil {
		e.classes = map[parse.Ref]scope.BindingID{}
		for i := range e.Scopes.Bindings {
			if v := &e.Scopes.Bindings[i]; v.How == scope.ClassDecl {
				e.classes[v.Decl] = scope.BindingID(i)
			}
		}
	}
	return e.classes[name]
}

// value is an expression, or what the caller that is looked at gives for it.
func (e *extractor) value(r parse.Ref) parse.Ref {
	if len(e.given) == 0 {
		return r
	}
	f := e.f
	switch f.Kind(r) {
	case parse.Ident:
		if v, ok := e.given[e.Scopes.Of[r]]; ok && e.Scopes.Of[r] != 0 {
			return v
		}
	case parse.Dot, parse.Index:
		object := e.value(f.First(r))
		if name, ok := f.PropertyOf(r); ok && object != f.First(r) {
			if literal := e.Names.Literal(object); literal != 0 {
				if v := e.Names.Member(literal, name); v != 0 {
					return v
				}
			}
		}
	case parse.Logical: // options || {}
		if v := e.value(f.First(r)); v != f.First(r) {
			return v
		}
	}
	return r
}

func (e *extractor) literal(r parse.Ref) parse.Ref { return e.Names.Literal(e.value(r)) }

// window reads the options of a window, as far as they are literal. It gives the
// index of the fact.
func (e *extractor) window(r, options parse.Ref, class, via string) int {
	fact := e.fact(Window, class, via, r)
	index := len(e.out.Facts) - 1
	if !e.holds(options) {
		fact.Dynamic = options != 0
		return index
	}
	e.optionSteps, e.overridden = 0, map[string]bool{}
	details, known := e.options(options, "", 0)
	fact.Dynamic = !known
	preload := parse.Ref(0)
	if prefs := e.option(options, "webPreferences", map[parse.Ref]bool{}); prefs != 0 {
		preload = e.option(prefs, "preload", map[parse.Ref]bool{})
		if preload != 0 {
			details = append(details, Value{"webPreferences.preload", e.pathOr(preload)})
		}
	}
	e.out.Facts[index].Details = details
	for _, v := range details {
		if e.overridden[v.Name] {
			e.out.Facts[index].Overridden = append(e.out.Facts[index].Overridden, v.Name)
		}
	}
	if preload != 0 {
		e.located(Preload, preload, "webPreferences.preload", preload)
	}
	return index
}

// subclass reads super(…) in the constructor of a class that is a window.
func (e *extractor) subclass(r parse.Ref, n *parse.Node) {
	f := e.f
	class := e.parents[r]
	for class != 0 && f.Kind(class) != parse.Class && f.Kind(class) != parse.ClassDecl {
		class = e.parents[class]
	}
	if name := e.windowClass(f.Kid(class, 1)); class != 0 && name != "" {
		e.opened = append(e.opened, opening{r, e.windowsOf(r, f.Next(f.First(r)), name, "class")})
	}
}

// windowClass is the name of a class of Electron that an expression is, or "".
func (e *extractor) windowClass(r parse.Ref) string {
	p := e.Names.Path(r)
	switch name := p[strings.LastIndexByte(p, '.')+1:]; name {
	case "BrowserWindow", "BrowserView", "WebContentsView":
		return name
	}
	return ""
}

const (
	maxOptions = 200 // kept of one window
	maxNested  = 4   // objects in objects, and spread into them
	// maxOptionSteps bounds the objects that are looked at for one window.
	maxOptionSteps = 1000
)

// option is the value of a member of an object or of those spread into it, the last
// that is seen, or 0. Each object is looked into once.
func (e *extractor) option(r parse.Ref, name string, seen map[parse.Ref]bool) (value parse.Ref) {
	f := e.f
	object := e.literal(r)
	if e.merged(r) != 0 {
		object = e.value(r)
	}
	if object == 0 || seen[object] || len(seen) == maxSpread {
		return 0
	}
	seen[object] = true
	if args := e.merged(r); args != 0 {
		for ; args != 0; args = f.Next(args) {
			if v := e.option(args, name, seen); v != 0 {
				value = v
			}
		}
		return value
	}
	defer func() {
		for _, target := range e.laterOf(r).targets {
			if key, ok := f.PropertyOf(target); ok && key == name {
				value = f.Next(target)
			}
		}
	}()
	for k := f.First(object); k != 0; k = f.Next(k) {
		if f.Kind(k) == parse.Spread {
			if v := e.option(f.First(k), name, seen); v != 0 {
				value = v
			}
		} else if f.Kind(k) == parse.Property {
			if key, ok := f.KeyOf(f.First(k), f.At(k).Flags&parse.Computed != 0); ok && key == name {
				value = f.Kid(k, 1)
			}
		}
	}
	return value
}

// holds reports whether an expression is an object of which members are seen.
func (e *extractor) holds(r parse.Ref) bool { return e.literal(r) != 0 || e.merged(r) != 0 }

// merged is the first of the objects that Object.assign makes one of, or 0.
func (e *extractor) merged(r parse.Ref) parse.Ref {
	r = e.value(r)
	if f := e.f; f.Kind(r) == parse.Call && e.Names.Path(f.First(r)) == "Object.assign" {
		return f.Next(f.First(r))
	}
	return 0
}

// laterOf is what the object that a variable holds was given after it was made.
func (e *extractor) laterOf(r parse.Ref) growth {
	r = e.value(r)
	root := e.rootOf(r)
	if root == 0 || e.Scopes.Of[root] == 0 {
		return growth{}
	}
	if g := e.grows(e.Scopes.Of[root]); root == r {
		return g
	} else {
		return growth{open: g.open}
	}
}

// options are the literal members of an object and of those spread into it; others
// are named as dynamic. They are all known where every object that is spread is, and
// nothing else may have given them members.
func (e *extractor) options(r parse.Ref, prefix string, depth int) (out []Value, known bool) {
	f := e.f
	object := e.literal(r)
	later := e.laterOf(r)
	known = !later.open && len(later.assigned) == 0
	if e.optionSteps++; e.optionSteps > maxOptionSteps {
		return nil, false
	}
	preload := false
	// A member takes the place of one that was there, with all that is in it.
	drop := func(name string) {
		maps.DeleteFunc(e.overridden, func(v string, _ bool) bool { return v == name || strings.HasPrefix(v, name+".") })
		out = slices.DeleteFunc(out, func(v Value) bool { return v.Name == name || strings.HasPrefix(v.Name, name+".") })
	}
	set := func(key string, value parse.Ref) {
		if drop(prefix + key); prefix+key == "webPreferences.preload" {
			preload = true
			return
		}
		preload = preload || prefix+key == "webPreferences"
		if e.holds(value) && depth < maxNested {
			more, all := e.options(value, prefix+key+".", depth+1)
			out, known = append(out, more...), known && all
			return
		}
		out = append(out, Value{prefix + key, e.plain(value)})
	}
	// What may have any member may have each that was there.
	open := func() {
		known = false
		for _, v := range out {
			e.overridden[v.Name] = true
		}
		if preload {
			e.overridden["webPreferences.preload"] = true
		}
	}
	spread := func(value parse.Ref) {
		if !e.holds(value) || depth >= maxNested {
			open()
			return
		}
		outer := e.overridden
		e.overridden = map[string]bool{}
		more, all := e.options(value, prefix, depth+1)
		inner := e.overridden
		if e.overridden = outer; !all {
			open()
		}
		for _, v := range more {
			first, _, _ := strings.Cut(strings.TrimPrefix(v.Name, prefix), ".")
			drop(prefix + first)
		}
		maps.Copy(e.overridden, inner)
		out, known = append(out, more...), known && all
	}
	for arg := e.merged(r); arg != 0; arg = f.Next(arg) {
		if f.Kind(arg) == parse.Spread {
			open()
			continue
		}
		spread(arg)
	}
	for k := f.First(object); object != 0 && k != 0 && len(out) < maxOptions; k = f.Next(k) {
		if f.Kind(k) == parse.Spread {
			spread(f.First(k))
			continue
		}
		key, ok := f.KeyOf(f.First(k), f.At(k).Flags&parse.Computed != 0)
		if f.Kind(k) != parse.Property || !ok {
			open()
			continue
		}
		set(key, f.Kid(k, 1))
	}
	for _, target := range later.targets {
		if key, ok := f.PropertyOf(target); ok {
			set(key, f.Next(target))
		} else {
			open()
		}
	}
	if later.open || len(later.assigned) > 0 {
		open()
	}
	return out, known
}

// plain is the value of a literal, or the note that it is not one.
func (e *extractor) plain(r parse.Ref) any {
	r = e.value(r)
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
		return e.pathOr(r)
	case e.f.Kind(r) == parse.True || e.f.Kind(r) == parse.False || e.f.Kind(r) == parse.Unary:
		return text == "true"
	}
	return text
}

// Unsettled stands for a value that is only known when the program runs.
type Unsettled struct{}

// maxKind bounds the type that an address with data names.
const maxKind = 100
