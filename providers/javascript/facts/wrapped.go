package facts

import (
	"slices"
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// A Wrapper is a function whose callers choose the name of a fact, or parts of it:
//
//	function request(path) { return fetch("/api" + path) }
type Wrapper struct {
	// Pieces of the name; those with a Parameter are chosen by callers.
	Pieces []Piece
	// Member of an object or class in which the function lies, with a path to it, and the
	// object.
	Member string
	Object parse.Span

	function parse.Ref
	class    parse.Ref // in which it is a method, or 0
	static   bool
	// Exports are those under which other modules have it.
	Exports [][]string
}

// A Base is an address to which others are relative.
type Base struct {
	Text   string
	Client bool // it is that of a client, which puts all behind it
}

// prototype stands in a path of exports for what is made of a class.
const prototype = "prototype"

const (
	maxLevels  = 6    // of functions that hand on to others
	maxHanding = 5000 // facts and calls that are added for callers in one file
	maxShared  = 8    // pieces of a text that callers choose
)

// join is an address behind the base.
func (b *Base) join(text string) string {
	switch {
	case b == nil || strings.Contains(text, "://") || strings.HasPrefix(text, "//"):
		return text
	case b.Client:
		return strings.TrimSuffix(b.Text, "/") + "/" + strings.TrimPrefix(text, "/")
	}
	return resolved(b.Text, text)
}

// relativeTo takes an object for addresses apart: the address to which it is relative,
// nil for none, and what is.
func (e *extractor) relativeTo(r parse.Ref) (*Base, parse.Ref) {
	f := e.f
	for steps := 0; steps < 8; steps++ {
		r = e.made(r)
		switch f.Kind(r) {
		case parse.Dot:
			if name := f.NameOf(f.Kid(r, 1)); name != "href" && name != "url" || e.f.Kind(e.made(f.First(r))) != parse.New {
				return nil, r
			}
			r = f.First(r)
		case parse.Call:
			callee := f.First(r)
			switch {
			case f.Kind(callee) == parse.Dot && f.NameOf(f.Kid(callee, 1)) == "toString" && f.Kind(e.made(f.First(callee))) == parse.New:
				r = f.First(callee)
			case f.Kind(callee) == parse.Ident && f.NameOf(callee) == "String" && e.Scopes.Of[callee] == 0 && f.Next(callee) != 0:
				r = f.Next(callee)
			default:
				return nil, r
			}
		case parse.New:
			callee := f.First(r)
			arg := f.Next(callee)
			switch path := e.Names.Path(callee); {
			case arg == 0:
				return nil, r
			case path == "Request":
				r = arg
			case path == "URL" && f.Next(arg) != 0:
				start, known := e.address(f.Next(arg))
				if !known {
					return nil, arg
				}
				return &Base{Text: start}, arg
			case path == "URL":
				r = arg
			default:
				return nil, r
			}
		default:
			return nil, r
		}
	}
	return nil, r
}

// parameterPiece is the piece that a parameter of a function is, or a member of one.
func (e *extractor) parameterPiece(r parse.Ref) (Piece, bool) {
	f := e.f
	member := ""
	if k := f.Kind(r); k == parse.Dot || k == parse.Index {
		name, ok := f.PropertyOf(r)
		if !ok {
			return Piece{}, false
		}
		r, member = f.First(r), name
	}
	if f.Kind(r) != parse.Ident {
		return Piece{}, false
	}
	b := e.Scopes.Binding(r)
	if b == nil || b.How != scope.Parameter || b.Decl == 0 || b.Writes > 0 {
		return Piece{}, false
	}
	at := b.Decl
	up := e.parents[at]
	if f.Kind(up) == parse.AssignPattern && f.First(up) == at {
		at, up = up, e.parents[up]
	}
	if f.Kind(up) == parse.Property && f.Kind(e.parents[up]) == parse.ObjectPattern && member == "" { // ({path})
		key, ok := f.KeyOf(f.First(up), f.At(up).Flags&parse.Computed != 0)
		if !ok {
			return Piece{}, false
		}
		member, at = key, e.parents[up]
		if up = e.parents[at]; f.Kind(up) == parse.AssignPattern && f.First(up) == at {
			at, up = up, e.parents[up]
		}
	}
	if f.Kind(up) != parse.Params {
		return Piece{}, false
	}
	index := 1
	for k := f.First(up); k != at; k = f.Next(k) {
		index++
	}
	return Piece{Unknown: true, Parameter: index, Member: member, function: e.parents[up]}, true
}

// chosenByCallers reports whether callers choose a piece.
func chosenByCallers(pieces []Piece) bool {
	return slices.ContainsFunc(pieces, func(p Piece) bool { return p.Parameter > 0 })
}

// textual reports whether pieces begin with text of a path or an address, though not all
// of them are known.
func textual(pieces []Piece) bool {
	return len(pieces) > 1 && pieces[0].From == nil && !pieces[0].Unknown && strings.Contains(pieces[0].Text, "/")
}

// wrapperOf is the function whose callers choose pieces, nil for none. Of functions
// inside of each other it is the innermost.
func (e *extractor) wrapperOf(pieces []Piece) *Wrapper {
	function := parse.Ref(0)
	for i := range pieces {
		if p := &pieces[i]; p.Parameter > 0 && (function == 0 || e.f.At(p.function).Start > e.f.At(function).Start) {
			function = p.function
		}
	}
	if function == 0 {
		return nil
	}
	w := &Wrapper{Pieces: slices.Clone(pieces), function: function}
	for i := range w.Pieces {
		if p := &w.Pieces[i]; p.Parameter > 0 && p.function != function {
			*p = Piece{Unknown: true}
		}
	}
	w.Member, w.Object = e.memberPath(function)
	if member := e.parents[function]; e.f.Kind(member) == parse.Member && w.Member == "" {
		if name, ok := e.f.KeyOf(e.f.First(member), e.f.At(member).Flags&parse.Computed != 0); ok {
			w.Member, w.class, w.static = name, e.parents[member], e.f.At(member).Flags&parse.Static != 0
		}
	}
	return w
}

// callersHere are the calls of a function in this file: closed when nothing else uses it.
func (e *extractor) callersHere(w *Wrapper) (calls []parse.Ref, closed bool) {
	f := e.f
	if w.Member == "" {
		return e.callsOf(w.function)
	}
	name := w.Member[strings.LastIndexByte(w.Member, '.')+1:]
	for _, call := range e.methodsOf().calls[name] {
		object := f.First(f.First(call))
		switch {
		case w.class == 0: // a member of an object
			if literal := e.Names.Literal(object); literal != 0 && literal == e.parents[e.parents[w.function]] {
				calls = append(calls, call)
			}
		case f.Kind(object) == parse.This:
			if e.classAround(call) == w.class {
				calls = append(calls, call)
			}
		case w.static:
			if e.classNamed(object) == w.class {
				calls = append(calls, call)
			}
		default:
			if made := e.instanceOf(call); made != 0 && e.classNamed(f.First(made)) == w.class {
				calls = append(calls, call)
			}
		}
	}
	return calls, false
}

// pieces are all that arguments are put together of.
func (c *Call) pieces() (out []Piece) {
	for i := range c.Texts {
		out = append(out, c.Texts[i]...)
	}
	for _, name := range []string{"url", "uri", "path", "pathname", "endpoint", "route", "channel", "href"} {
		for i := range c.Texts {
			out = append(out, c.Members[Member{i, name}]...)
		}
	}
	return out
}

// Given are the pieces of an argument, or of a member of it; nil where they are unknown.
func (c *Call) Given(p *Piece) []Piece {
	switch i := p.Parameter - 1; {
	case i >= len(c.Texts):
		return nil
	case p.Member != "":
		return c.Members[Member{i, p.Member}]
	default:
		return c.Texts[i]
	}
}

// Instantiate is what pieces are where a caller gives what they leave open.
func Instantiate(pieces []Piece, given func(*Piece) []Piece) []Piece {
	var out []Piece
	for i := range pieces {
		p := &pieces[i]
		list := pieces[i : i+1]
		if p.Parameter > 0 {
			if list = given(p); list == nil {
				list = []Piece{{Unknown: true}}
			}
		}
		for k := range list {
			if n := len(out); n > 0 && list[k].plain() && out[n-1].plain() {
				out[n-1].Text += list[k].Text
			} else {
				out = append(out, list[k])
			}
			if len(out) > maxPieces || len(out[len(out)-1].Text) > maxText {
				return []Piece{{Unknown: true}}
			}
		}
	}
	return out
}

func (p *Piece) plain() bool { return p.From == nil && !p.Unknown && !p.Chunk }

// Told reports whether text of pieces is known.
func Told(pieces []Piece) bool {
	return slices.ContainsFunc(pieces, func(p Piece) bool { return p.From != nil || p.Text != "" })
}

// givenAt are the pieces that a call in this file gives for a parameter.
func (e *extractor) givenAt(call parse.Ref) func(*Piece) []Piece {
	return func(p *Piece) []Piece {
		arg := e.f.Kid(call, p.Parameter)
		if p.Member != "" {
			if literal := e.Names.Literal(arg); literal != 0 {
				arg = e.Names.Member(literal, p.Member)
			} else if piece, ok := e.parameterPiece(arg); ok && piece.Member == "" {
				piece.Member = p.Member
				return []Piece{piece}
			} else {
				return nil
			}
		}
		if arg == 0 || e.f.Kind(arg) == parse.Spread {
			return nil
		}
		return e.pieces(arg)
	}
}

// callWrappers adds the facts that calls of wrappers in this file are, over several
// levels, and the calls of what other modules export that are made so.
func (e *extractor) callWrappers() {
	left := maxHanding
	type open struct {
		fact  int // index, -1 for a call
		call  int
		w     *Wrapper
		level int
	}
	var list []open
	for i := range e.out.Facts {
		if w := e.out.Facts[i].Wrapper; w != nil {
			list = append(list, open{i, -1, w, 0})
		}
	}
	for i := range e.out.Calls {
		if w := e.out.Calls[i].Wrapper; w != nil {
			list = append(list, open{-1, i, w, 0})
		}
	}
	if len(list) == 0 {
		return
	}
	e.told = map[placed]bool{}
	for i := range e.out.Facts {
		f := &e.out.Facts[i]
		e.told[placed{f.At, f.Kind, f.Name}] = true
	}
	carried := map[int]Fact{} // by negative index, facts that are not listed
	for len(list) > 0 && left > 0 {
		o := list[0]
		list = list[1:]
		if o.level == maxLevels {
			continue
		}
		calls, _ := e.callersHere(o.w)
		for _, call := range calls {
			if left--; left < 0 {
				break
			}
			given := e.givenAt(call)
			if o.call >= 0 {
				old := e.out.Calls[o.call]
				made := Call{From: old.From, At: e.span(call)}
				for i := range old.Texts {
					if pieces := Instantiate(old.Texts[i], given); Told(pieces) || chosenByCallers(pieces) {
						made.Texts[i] = pieces
					}
				}
				for m, pieces := range old.Members {
					if pieces = Instantiate(pieces, given); Told(pieces) || chosenByCallers(pieces) {
						if made.Members == nil {
							made.Members = map[Member][]Piece{}
						}
						made.Members[m] = pieces
					}
				}
				all := made.pieces()
				if len(all) == 0 || len(e.out.Calls) >= maxGlobals {
					continue
				}
				made.Wrapper = e.wrapperOf(all)
				e.out.Calls = append(e.out.Calls, made)
				if made.Wrapper != nil {
					list = append(list, open{-1, len(e.out.Calls) - 1, made.Wrapper, o.level + 1})
				}
				continue
			}
			fact, isCarried := carried[o.fact]
			if !isCarried {
				fact = e.out.Facts[o.fact]
			}
			made := fact
			made.At, made.Details, made.Wrapper, made.Inferred = e.span(call), slices.Clone(fact.Details), nil, byCallerHere
			before := o.w.Pieces
			if o.w.class != 0 && !o.w.static {
				if instance := e.instanceOf(call); instance != 0 {
					before = e.constructed(before, instance)
				}
			}
			pieces := Instantiate(before, given)
			made.Wrapper = e.wrapperOf(pieces)
			if index, ok := e.handed(&made, pieces, o.w.Pieces); ok && made.Wrapper != nil {
				list = append(list, open{index, -1, e.out.Facts[index].Wrapper, o.level + 1})
			} else if !ok && made.Wrapper != nil {
				index := -2 - len(carried)
				carried[index] = made
				list = append(list, open{index, -1, made.Wrapper, o.level + 1})
				e.out.Wrappers = append(e.out.Wrappers, made)
			}
		}
	}
}

// placed is what tells facts apart.
type placed struct {
	at   parse.Span
	kind Kind
	name string
}

// byCallerHere is why a name is known that a caller gives.
const byCallerHere = "a function that is called with it here hands it on"

// handed adds a fact of a caller, where more of its name is known than the function
// says itself. It gives its index.
func (e *extractor) handed(fact *Fact, pieces, before []Piece) (int, bool) {
	whole := !slices.ContainsFunc(pieces, func(p Piece) bool { return p.Unknown || p.From != nil })
	if !Told(pieces) || !whole && fact.Kind != Endpoint && !settled(pieces) || knownText(pieces) <= knownText(before) {
		return 0, false
	}
	var text strings.Builder
	for i := range pieces {
		if pieces[i].plain() {
			text.WriteString(pieces[i].Text)
		} else {
			text.WriteString("{}")
		}
	}
	fact.Name, fact.Pieces, fact.Dynamic = text.String(), nil, true
	if !whole && fact.Kind != Endpoint {
		fact.Name = ""
	}
	switch {
	case hasFrom(pieces):
		fact.Pieces = pieces
		fallthrough
	case whole, fact.Kind == Endpoint:
		if fact.Kind == Endpoint {
			clean, ok := kept(fact.Base.join(fact.Name))
			if !ok || clean == "" {
				return 0, false
			}
			fact.Name = clean
		}
		fact.Dynamic = !whole && fact.Kind != Endpoint
	}
	if e.told[placed{fact.At, fact.Kind, fact.Name}] {
		return 0, false
	}
	e.told[placed{fact.At, fact.Kind, fact.Name}] = true
	e.out.Facts = append(e.out.Facts, *fact)
	return len(e.out.Facts) - 1, true
}

// knownText is how much of pieces is known.
func knownText(pieces []Piece) (n int) {
	for i := range pieces {
		if p := &pieces[i]; p.From != nil {
			n++
		} else {
			n += len(p.Text)
		}
	}
	return n
}

// wrappers tells under which names functions are exported that hand on the name of
// a fact, or arguments.
func (e *extractor) wrappers() {
	var list []*Wrapper
	for _, facts := range [][]Fact{e.out.Facts, e.out.Wrappers} {
		for i := range facts {
			if w := facts[i].Wrapper; w != nil {
				list = append(list, w)
			}
		}
	}
	for i := range e.out.Calls {
		if w := e.out.Calls[i].Wrapper; w != nil {
			list = append(list, w)
		}
	}
	e.exportClients()
	if len(list) == 0 {
		return
	}
	byFunction, byObject, byClass := map[parse.Ref][]*Wrapper{}, map[parse.Span][]*Wrapper{}, map[parse.Ref][]*Wrapper{}
	for _, w := range list {
		byFunction[w.function] = append(byFunction[w.function], w)
		switch {
		case w.class != 0:
			byClass[w.class] = append(byClass[w.class], w)
		case w.Member != "":
			byObject[w.Object] = append(byObject[w.Object], w)
		}
	}
	tell := func(list []*Wrapper, path []string, more ...string) {
		for _, w := range list {
			out := append(append([]string{}, path...), more...)
			if w.Member != "" {
				out = append(out, strings.Split(w.Member, ".")...)
			}
			w.Exports = append(w.Exports, out)
		}
	}
	for path, given := range e.exportedValues {
		value := e.function(given)
		for _, w := range byFunction[value] {
			w.Exports = append(w.Exports, path)
		}
		tell(byObject[e.span(value)], path)
		made := e.made(given)
		if e.f.Kind(made) == parse.New {
			e.exportInstance(made, path, e.classNamed(e.f.First(made)), tell)
			continue
		}
		class := e.classNamed(given)
		if k := e.f.Kind(value); class == 0 && (k == parse.Class || k == parse.ClassDecl) {
			class = value
		}
		for _, w := range byClass[class] {
			if w.static {
				tell([]*Wrapper{w}, path)
			} else {
				tell([]*Wrapper{w}, path, prototype)
			}
		}
	}
}

// exportClients makes wrappers of the methods of clients that are exported.
func (e *extractor) exportClients() {
	for path, given := range e.exportedValues {
		options, ok := e.instance(given)
		if !ok {
			continue
		}
		var base *Base
		if options != 0 {
			if start, known := e.address(options); known {
				base = &Base{start, true}
			}
		}
		client := func(method, member string, more ...string) {
			details := []Value{{"use", "request"}}
			if method != "" {
				details = append(details, Value{"method", strings.ToUpper(method)})
			}
			e.out.Wrappers = append(e.out.Wrappers, Fact{
				Kind: Endpoint, Via: "client", At: e.span(given), Details: details, Base: base,
				Wrapper: &Wrapper{Pieces: []Piece{{Unknown: true, Parameter: 1, Member: member}}, Exports: [][]string{append(append([]string{}, path...), more...)}},
			})
		}
		for _, method := range []string{"get", "post", "put", "patch", "delete", "head", "options"} {
			client(method, "", method)
		}
		for _, member := range []string{"", "url"} {
			client("", member, "request")
			client("", member)
		}
	}
}
