package msvcname

import (
	"strconv"
	"strings"
)

// writer gathers the readable form and gives up when it grows too long.
type writer struct{ strings.Builder }

func (w *writer) put(parts ...string) {
	for _, s := range parts {
		if w.Len()+len(s) > maxOutput {
			fail()
		}
		w.WriteString(s)
	}
}

// gap writes a space between words.
func (w *writer) gap() {
	s := w.String()
	if s == "" {
		return
	}
	switch c := s[len(s)-1]; {
	case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '>':
		w.put(" ")
	}
}

func (w *writer) list(nodes []node) {
	for i, n := range nodes {
		if i > 0 {
			w.put(", ")
		}
		whole(w, n)
	}
}

// A node is a type or a template argument: what stands before the name that it
// declares, and what stands after.
type node interface {
	before(*writer)
	after(*writer)
}

func whole(w *writer, n node) {
	n.before(w)
	n.after(w)
}

type quals uint8

const (
	isConst quals = 1 << iota
	isVolatile
	isRestrict
	isUnaligned
)

func (q quals) write(w *writer, spaceBefore bool) {
	for _, k := range []struct {
		bit  quals
		word string
	}{{isConst, "const"}, {isVolatile, "volatile"}, {isRestrict, "__restrict"}} {
		if q&k.bit == 0 {
			continue
		}
		if spaceBefore {
			w.put(" ")
		}
		w.put(k.word)
		spaceBefore = true
	}
}

// primitive is a type that is a word.
type primitive struct {
	word string
	q    quals
}

func (t *primitive) before(w *writer) { w.put(t.word); t.q.write(w, true) }
func (t *primitive) after(*writer)    {}

// tagged is a class, struct, union or enum, or a type without a keyword.
type tagged struct {
	keyword string
	name    *qualified
	q       quals
}

func (t *tagged) before(w *writer) {
	w.put(t.keyword)
	t.name.write(w)
	t.q.write(w, true)
}
func (t *tagged) after(*writer) {}

// pointer is a pointer or reference, to a member when class is set.
type pointer struct {
	mark  string // "*", "&", "&&"
	to    node
	class *qualified
	q     quals
}

func (t *pointer) before(w *writer) {
	f, function := t.to.(*function)
	if function {
		f.returns(w)
	} else {
		t.to.before(w)
	}
	w.gap()
	if t.q&isUnaligned != 0 {
		w.put("__unaligned ")
	}
	if _, list := t.to.(*array); list {
		w.put("(")
	} else if function {
		w.put("(", f.convention, " ")
	}
	if t.class != nil {
		t.class.write(w)
		w.put("::")
	}
	w.put(t.mark)
	t.q.write(w, false)
}

func (t *pointer) after(w *writer) {
	switch t.to.(type) {
	case *array, *function:
		w.put(")")
	}
	t.to.after(w)
}

type array struct {
	of   node
	dims []uint64
	q    quals
}

func (t *array) before(w *writer) { t.of.before(w); t.q.write(w, true) }

func (t *array) after(w *writer) {
	for _, d := range t.dims {
		w.put("[")
		if d != 0 {
			w.put(strconv.FormatUint(d, 10))
		}
		w.put("]")
	}
	t.of.after(w)
}

// function is a signature.
type function struct {
	access     string // "public", … or ""
	storage    string // "static ", "virtual ", `extern "C" ` or ""
	convention string
	result     node // nil for constructors and destructors
	params     []node
	variadic   bool
	unlisted   bool // without a parameter list
	noexcept   bool
	ref        string // "&", "&&"
	q          quals
	thunk      string // what a thunk adjusts, or ""
	isThunk    bool
}

// returns writes what stands before the calling convention.
func (f *function) returns(w *writer) {
	if f.isThunk {
		w.put("[thunk]: ")
	}
	if f.access != "" {
		w.put(f.access, ": ")
	}
	w.put(f.storage)
	if f.result != nil {
		f.result.before(w)
		w.put(" ")
	}
}

func (f *function) before(w *writer) {
	f.returns(w)
	w.put(f.convention)
}

func (f *function) after(w *writer) {
	w.put(f.thunk)
	if !f.unlisted {
		w.put("(")
		w.list(f.params)
		if f.variadic {
			if len(f.params) > 0 {
				w.put(", ")
			}
			w.put("...")
		} else if len(f.params) == 0 {
			w.put("void")
		}
		w.put(")")
	}
	f.q.write(w, true)
	if f.q&isUnaligned != 0 {
		w.put(" __unaligned")
	}
	if f.noexcept {
		w.put(" noexcept")
	}
	if f.ref != "" {
		w.put(" ", f.ref)
	}
	if f.result != nil {
		f.result.after(w)
	}
}

// signed is an integer argument of a template.
type signed struct {
	n        uint64
	negative bool
}

func (s signed) text() string {
	out := strconv.FormatUint(s.n, 10)
	if s.negative {
		out = "-" + out
	}
	return out
}

func (s signed) before(w *writer) { w.put(s.text()) }
func (s signed) after(*writer)    {}

// reference is a template argument that names a symbol, with the offsets of a
// pointer to a member of a class with bases.
type reference struct {
	symbol  *symbol
	address bool
	offsets []signed
}

func (r *reference) before(w *writer) {
	if len(r.offsets) > 0 {
		w.put("{")
	} else if r.address {
		w.put("&")
	}
	if r.symbol != nil {
		r.symbol.write(w)
		if len(r.offsets) > 0 {
			w.put(", ")
		}
	}
	for i, o := range r.offsets {
		if i > 0 {
			w.put(", ")
		}
		w.put(o.text())
	}
	if len(r.offsets) > 0 {
		w.put("}")
	}
}
func (r *reference) after(*writer) {}

// A part is one component of a qualified name.
type part interface {
	write(*writer)
	key() string // equal for equal names
}

// word is a plain name, with arguments if it is of a template.
type word struct {
	text string
	args []node
	has  bool // is a template, whatever the number of arguments
}

func (n *word) write(w *writer) {
	w.put(n.text)
	n.arguments(w)
}

func (n *word) arguments(w *writer) {
	if n.has {
		w.put("<")
		w.list(n.args)
		w.put(">")
	}
}

func (n *word) key() string {
	w := &writer{}
	n.write(w)
	return w.String()
}

// structor is a constructor or destructor; of is the class, known only when
// the scopes were read.
type structor struct {
	destructor bool
	of         part
	args       word
}

func (n *structor) write(w *writer) {
	if n.destructor {
		w.put("~")
	}
	if n.of == nil {
		fail()
	}
	n.of.write(w)
	n.args.arguments(w)
}
func (n *structor) key() string { return "" }

// conversion is a conversion operator; to is known only when the type was read.
type conversion struct {
	to   node
	args word
}

func (n *conversion) write(w *writer) {
	w.put("operator")
	n.args.arguments(w)
	w.put(" ")
	if n.to == nil {
		fail()
	}
	whole(w, n.to)
}
func (n *conversion) key() string { return "" }

// initializer is the compiler's function that starts or ends a variable.
type initializer struct {
	destructor bool
	variable   *symbol
	name       *qualified
}

func (n *initializer) write(w *writer) {
	if n.destructor {
		w.put("`dynamic atexit destructor for ")
	} else {
		w.put("`dynamic initializer for ")
	}
	if n.variable != nil {
		w.put("`")
		n.variable.write(w)
		w.put("''")
		return
	}
	w.put("'")
	n.name.write(w)
	w.put("''")
}
func (n *initializer) key() string { return "" }

// qualified is a name with its scopes, outermost first.
type qualified struct{ parts []part }

func (q *qualified) write(w *writer) {
	for i, p := range q.parts {
		if i > 0 {
			w.put("::")
		}
		p.write(w)
	}
}

func (q *qualified) last() part { return q.parts[len(q.parts)-1] }

// symbol is a whole decorated name.
type symbol struct {
	lead  string // before everything
	decl  node   // type of the function or variable, or nil
	name  *qualified
	trail string
	for_  *qualified // of a table for a base class
}

func (s *symbol) write(w *writer) {
	w.put(s.lead)
	if s.decl != nil {
		s.decl.before(w)
	}
	if s.name != nil {
		if s.decl != nil {
			w.gap()
		}
		s.name.write(w)
	}
	if s.for_ != nil {
		w.put("{for `")
		s.for_.write(w)
		w.put("'}")
	}
	if s.decl != nil {
		s.decl.after(w)
	}
	if s.trail != "" {
		w.gap()
		w.put(s.trail)
	}
}
