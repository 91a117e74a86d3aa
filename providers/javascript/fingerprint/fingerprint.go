// Package fingerprint makes digests of code that stay the same when what does not
// matter changes.
//
// # Normal form
//
// A [Normalizer] makes the digest of a syntax tree in which local names are numbers in
// order of appearance, and layout, comments, quotes and parentheses are gone. Two
// texts with the same normal form do the same; it is what "unchanged" means.
//
// # Features
//
// Minifiers rewrite code: they merge statements, turn ifs into expressions, fold
// constants, drop names of functions. What they all keep are the names of
// properties, the texts of strings, regular expressions, and the globals that are
// used. [Features] is the digest of that set, so it is the same for a module
// before minification and after, whichever minifier it was. It finds candidates;
// equality of features alone does not say that code is unchanged.
//
// [Sketch] of the same set is a MinHash: the share of equal positions in two
// sketches estimates how much of two sets is the same.
package fingerprint

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// Positions of a sketch.
const Positions = 24

// A Set collects features.
type Set struct {
	hashes []uint64 // each once: in order when sorted, else in order of appearance
	table  []uint64 // of hashes by their low bits, 0 for free places
	sorted bool
}

const (
	offset64 = 14695981039346656037
	prime64  = 1099511628211
)

func hashOf(kind byte, text string) uint64 {
	h := (uint64(offset64) ^ uint64(kind)) * prime64
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * prime64
	}
	return mix(h)
}

// mix spreads the bits of a hash.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

func (s *Set) add(kind byte, text string) {
	h := max(hashOf(kind, text), 1)
	if 4*(len(s.hashes)+1) > 3*len(s.table) {
		s.table = make([]uint64, 1<<bits.Len(uint(2*len(s.hashes)+15)))
		for _, held := range s.hashes {
			s.table[s.place(held)] = held
		}
	}
	if at := s.place(h); s.table[at] == 0 {
		s.table[at] = h
		s.hashes = append(s.hashes, h)
		s.sorted = false
	}
}

// place is where a hash is in the table, or would be.
func (s *Set) place(h uint64) uint64 {
	mask := uint64(len(s.table) - 1)
	at := h & mask
	for s.table[at] != 0 && s.table[at] != h {
		at = (at + 1) & mask
	}
	return at
}

// settle sorts the features and gives up the table.
func (s *Set) settle() {
	if !s.sorted {
		slices.Sort(s.hashes)
		s.table, s.sorted = nil, true
	}
}

// Len is the number of features.
func (s *Set) Len() int {
	s.settle()
	return len(s.hashes)
}

// Digest of the set, "" for one that is too small to tell anything.
func (s *Set) Digest() string {
	s.settle()
	if len(s.hashes) < 3 {
		return ""
	}
	h := sha256.New()
	var b [8]byte
	for _, v := range s.hashes {
		binary.LittleEndian.PutUint64(b[:], v)
		h.Write(b[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Sketch of the set: Positions 16-bit values in hexadecimal, "" for an empty set.
func (s *Set) Sketch() string {
	s.settle()
	if len(s.hashes) == 0 {
		return ""
	}
	var out [2 * Positions]byte
	for i := range Positions {
		least := ^uint64(0)
		seed := mix(uint64(i)*0x9e3779b97f4a7c15 + 1)
		for _, h := range s.hashes {
			hi, lo := bits.Mul64(h^seed, 0xd6e8feb86659fd93)
			least = min(least, hi^lo)
		}
		binary.BigEndian.PutUint16(out[2*i:], uint16(least>>48)^uint16(least))
	}
	return hex.EncodeToString(out[:])
}

// Similar is the share of positions in which two sketches agree, from 0 to 1.
func Similar(a, b string) float64 {
	if len(a) != 4*Positions || len(b) != 4*Positions {
		return 0
	}
	same := 0
	for i := 0; i < len(a); i += 4 {
		if a[i:i+4] == b[i:i+4] {
			same++
		}
	}
	return float64(same) / Positions
}

// Feature adds what a node shows of itself to a set, if it does. parent is the
// kind of the node around it.
func Feature(s *Set, f *parse.File, t *scope.Table, r parse.Ref, parent parse.Kind) {
	n := f.At(r)
	switch n.Kind {
	case parse.Name, parse.PrivateName:
		switch parent {
		case parse.Labeled, parse.Break, parse.Continue: // labels are local
			return
		}
		if name := f.NameOf(r); n.Kind == parse.Name && t.Of[r] == 0 && len(name) >= 2 {
			s.add('n', name)
		}
	case parse.String:
		if n.End-n.Start < 1<<16 {
			text(s, f.StringValue(r))
		}
	case parse.Chunk:
		if n.End-n.Start < 1<<16 {
			text(s, f.ChunkValue(r))
		}
	case parse.Regex:
		s.add('r', pattern(f.Text(r)))
	case parse.Ident:
		if t.Of[r] == 0 && n.Flags&parse.Shorthand == 0 {
			switch name := f.NameOf(r); name {
			case "undefined", "arguments", "Boolean", "NaN", "Infinity", "require", "module", "exports", "define":
			default:
				s.add('n', name)
			}
		}
	}
}

// Exported adds the names that an export statement gives to what it declares, which
// are those of export {a as b}: minifiers write the one for the other.
func Exported(s *Set, f *parse.File, r parse.Ref) {
	switch f.Kind(r) {
	case parse.ExportDef:
		s.add('n', "default")
	case parse.ExportDecl:
		switch d := f.First(r); f.Kind(d) {
		case parse.FuncDecl, parse.ClassDecl:
			s.pattern(f, f.First(d), 0)
		case parse.VarDecl:
			for k := f.First(d); k != 0; k = f.Next(k) {
				s.pattern(f, f.First(k), 0)
			}
		}
	}
}

// pattern adds the names that a pattern declares.
func (s *Set) pattern(f *parse.File, r parse.Ref, depth int) {
	switch f.Kind(r) {
	case parse.Ident:
		if name := f.NameOf(r); len(name) >= 2 {
			s.add('n', name)
		}
	case parse.AssignPattern, parse.Rest:
		if depth < 64 {
			s.pattern(f, f.First(r), depth+1)
		}
	case parse.Property:
		if depth < 64 {
			s.pattern(f, f.Kid(r, 1), depth+1)
		}
	case parse.ArrayPattern, parse.ObjectPattern:
		for k := f.First(r); k != 0 && depth < 64; k = f.Next(k) {
			s.pattern(f, k, depth+1)
		}
	}
}

// text adds a string. Names and strings are one: a["b"] is a.b. Strings that
// minifiers make or drop are left out.
func text(s *Set, v string) {
	switch v {
	case "use strict", "undefined", "object", "function", "string", "number", "boolean", "symbol":
		return
	}
	// Joined and divided texts have the same words, but for those at the joints,
	// which are rarely as long.
	start := -1
	for i := 0; i <= len(v); i++ {
		if i < len(v) && wordByte(v[i]) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && i-start >= 3 && (v[start] < '0' || v[start] > '9') {
			s.add('n', v[start:i])
		}
		start = -1
	}
}

func wordByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

// pattern is a regular expression with its escapes of characters resolved.
func pattern(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		n := 0
		switch text[i+1] {
		case '/':
			b.WriteByte('/')
			i++
			continue
		case 'u':
			n = 4
		case 'x':
			n = 2
		}
		if n > 0 && i+2+n <= len(text) {
			if v, err := strconv.ParseUint(text[i+2:i+2+n], 16, 32); err == nil {
				b.WriteRune(rune(v))
				i += 1 + n
				continue
			}
		}
		b.WriteString(text[i : i+2])
		i++
	}
	return b.String()
}

// A Normalizer makes digests of normal forms of parts of one file.
type Normalizer struct {
	f *parse.File
	t *scope.Table
	h hash.Hash

	// Numbers of local names, by binding: number holds when stamp is the current
	// generation.
	stamp, number []uint32
	generation    uint32
	count         uint32

	// Digests of code that is in texts of the file and compiled from them, by String: they
	// count in the place of the texts. Nil for none.
	Compiled map[parse.Ref]string

	require func(scope.BindingID) bool
	buf     []byte
	shallow bool       // leaves out what is inside of inner functions
	inside  parse.Span // names declared outside of it are kept; empty for none
	spoken  []bool     // scopes whose names code may speak of, by index; nil for none
	private privateNames
	labels  []string // around the statement
	steps   int
	stopped bool
}

// NewNormalizer makes the normalizer of a file.
func NewNormalizer(f *parse.File, t *scope.Table) *Normalizer {
	return &Normalizer{f: f, t: t, h: sha256.New(), stamp: make([]uint32, len(t.Bindings)), number: make([]uint32, len(t.Bindings)), buf: make([]byte, 0, 8192), spoken: spoken(f, t)}
}

func (w *Normalizer) begin(shallow bool, require func(scope.BindingID) bool) {
	w.h.Reset()
	w.generation++
	w.count, w.shallow, w.require, w.inside = 0, shallow, require, parse.Span{}
	w.private, w.labels = privateNames{}, w.labels[:0]
}

// Code is the digest of the normal form of code: the statements or expressions
// from first on that lie in a range. require tells the bindings that load
// modules: ids in their calls are left out, since bundlers number modules anew in
// every build.
func (w *Normalizer) Code(first parse.Ref, at parse.Span, require func(scope.BindingID) bool) string {
	w.begin(false, require)
	return w.statements(first, at)
}

// Joined is Code of a module that shares a scope with others: names that are
// declared outside of it say which of the others it uses, and are kept.
func (w *Normalizer) Joined(first parse.Ref, at parse.Span) string {
	w.begin(false, nil)
	w.inside = at
	return w.statements(first, at)
}

func (w *Normalizer) statements(first parse.Ref, at parse.Span) string {
	for r := first; r != 0 && w.f.At(r).Start < at.End; r = w.f.Next(r) {
		if w.f.At(r).End > at.Start {
			w.node(r, 0)
		}
	}
	w.flush()
	return hex.EncodeToString(w.h.Sum(nil))
}

// Function is the digest of the normal form of one function, in which inner
// functions count as places only.
func (w *Normalizer) Function(fn parse.Ref) [16]byte {
	w.begin(true, nil)
	w.node(fn, 0)
	w.flush()
	return [16]byte(w.h.Sum(nil)[:16])
}

func (w *Normalizer) put(tag byte, v uint32) {
	w.buf = binary.LittleEndian.AppendUint32(append(w.buf, tag), v)
	if len(w.buf) > 4000 {
		w.flush()
	}
}

func (w *Normalizer) flush() {
	w.h.Write(w.buf)
	w.buf = w.buf[:0]
}

func (w *Normalizer) text(tag byte, s string) {
	w.put(tag, uint32(len(s)))
	w.buf = append(w.buf, s...)
}

const keptFlags = parse.Async | parse.Generator | parse.Computed | parse.Static | parse.Getter | parse.Setter | parse.IsMethod |
	parse.Optional | parse.Prefix | parse.Delegate | parse.IsAccessor

func (w *Normalizer) node(r parse.Ref, depth int) {
	if w.steps++; w.steps%parse.Stride == 0 {
		w.stopped = w.stopped || w.f.Stopped()
	}
	if w.stopped {
		return
	}
	n := w.f.At(r)
	kind := n.Kind
	if kind == parse.Index && w.f.Kind(w.f.Next(n.First())) == parse.String { // a["b"] is a.b
		kind = parse.Dot
	}
	w.put(byte(kind), uint32(n.Op)<<16|uint32(n.Flags&keptFlags))
	switch n.Kind {
	case parse.Ident:
		w.ident(r)
		return
	case parse.Name:
		w.text('n', w.f.NameOf(r))
		return
	case parse.PrivateName:
		w.privateName(r)
		return
	case parse.Class, parse.ClassDecl:
		w.private.enter(w.f, r)
		defer w.private.leave()
	case parse.Labeled:
		w.labels = append(w.labels, w.f.NameOf(n.First()))
		w.node(w.f.Next(n.First()), depth+1)
		w.labels = w.labels[:len(w.labels)-1]
		w.put(0xff, 0)
		return
	case parse.Break, parse.Continue:
		w.label(n.First())
		return
	case parse.Property:
		if w.sharesPrototype(n) {
			w.put(0xfe, 0)
		}
	case parse.String:
		if code, ok := w.Compiled[r]; ok {
			w.text('c', code)
			return
		}
		w.text('s', w.f.StringUnits(r))
		return
	case parse.Number:
		v, ok := w.f.NumberKey(r)
		if !ok {
			v = w.f.Text(r)
		}
		if strings.HasSuffix(w.f.Text(r), "n") {
			w.text('b', v)
		} else {
			w.text('#', v)
		}
		return
	case parse.Regex, parse.JSXText:
		w.text('r', w.f.Text(r))
		return
	case parse.Chunk:
		w.text('t', w.f.ChunkUnits(r))
		return
	case parse.ExprStmt:
		if w.undirected(n.First()) {
			w.put(0xfe, 0)
		}
	case parse.Dot, parse.Index:
		w.chainEnd(n)
	case parse.Call:
		w.chainEnd(n)
		if callee := n.First(); w.f.Kind(callee) == parse.Ident && w.require != nil && w.require(w.t.Of[callee]) {
			w.put('R', 0)
			return
		}
	case parse.Func, parse.FuncDecl, parse.Arrow:
		if w.shallow && depth > 0 {
			w.put('F', uint32(w.f.Kids(w.f.Kid(r, 1))))
			return
		}
	}
	if depth > 4*parse.MaxDepth {
		w.text('d', w.f.Text(r))
		return
	}
	partial := w.inside.End > 0 && (n.Start < w.inside.Start || n.End > w.inside.End) // others have parts of it
	for k := n.First(); k != 0; k = w.f.Next(k) {
		if c := w.f.At(k); partial && (c.End <= w.inside.Start || c.Start >= w.inside.End) && c.End > c.Start {
			continue
		}
		switch {
		case n.Kind == parse.Tagged && w.f.Kind(k) == parse.Template && k != n.First():
			w.raw(k, depth+1)
		case kind != n.Kind && k != n.First(), k == n.First() && n.Flags&parse.Computed == 0 && (n.Kind == parse.Property || n.Kind == parse.Member):
			w.key(k, depth+1)
		case n.Kind == parse.Arrow && w.f.Kind(k) == parse.Block && w.given(k) != 0:
			w.node(w.given(k), depth+1)
		default:
			w.node(k, depth+1)
		}
	}
	w.put(0xff, 0)
}

// raw writes a template as its tag sees it: with its texts as written.
func (w *Normalizer) raw(template parse.Ref, depth int) {
	w.put(byte(parse.Template), 0)
	for k := w.f.First(template); k != 0; k = w.f.Next(k) {
		if w.f.Kind(k) == parse.Chunk {
			w.text('t', w.f.ChunkRaw(k))
		} else {
			w.node(k, depth+1)
		}
	}
	w.put(0xff, 0)
}

// chainEnd marks the parentheses that end an optional chain before a link:
// (a?.b).c throws where a?.b.c is undefined.
func (w *Normalizer) chainEnd(link *parse.Node) {
	r := link.First()
	if link.Flags&parse.Optional != 0 || w.f.At(r).Flags&parse.Paren == 0 {
		return
	}
	for {
		n := w.f.At(r)
		switch n.Kind {
		case parse.Dot, parse.Index, parse.Call:
		default:
			return
		}
		if n.Flags&parse.Optional != 0 {
			w.put(0xfe, 0)
			return
		}
		if r = n.First(); w.f.At(r).Flags&parse.Paren != 0 {
			return
		}
	}
}

// undirected reports whether an expression is a string that is no directive wherever
// it stands, since it is in parentheses or spells "use strict" with escapes.
func (w *Normalizer) undirected(r parse.Ref) bool {
	n := w.f.At(r)
	return n.Kind == parse.String && (n.Flags&parse.Paren != 0 ||
		n.End-n.Start != uint32(len(`"use strict"`)) && w.f.StringValue(r) == "use strict")
}

func (w *Normalizer) ident(r parse.Ref) {
	b := w.t.Of[r]
	if b == 0 {
		w.text('g', w.f.NameOf(r))
		return
	}
	if w.inside.End > 0 {
		if d := w.t.Bindings[b].Decl; d != 0 && (w.f.At(d).Start < w.inside.Start || w.f.At(d).Start >= w.inside.End) {
			w.text('o', w.f.NameOf(r))
			return
		}
	}
	if w.stamp[b] != w.generation {
		w.stamp[b], w.number[b] = w.generation, w.count
		w.count++
	}
	w.put('l', w.number[b])
	if w.spoken != nil && w.spoken[w.t.Bindings[b].Scope] {
		w.text('n', w.f.NameOf(r))
	}
}
