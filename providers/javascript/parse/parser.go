package parse

import (
	"context"
	"fmt"
	"strings"
)

const (
	// TooDeep is the error of code beyond MaxDepth, which may be sound.
	TooDeep = "nested too deeply"
	// MaxDepth bounds the nesting of statements and expressions.
	MaxDepth = 6000
	// MaxChain bounds how far a chain of operators, members or calls leans to
	// the left, which is the other way in which a tree gets deep.
	MaxChain = 20000
	// MaxErrors is how many errors are kept.
	MaxErrors = 50
	// MaxSource is the longest text that is read.
	MaxSource = 1 << 30
)

// Options of [Parse].
type Options struct {
	Module bool // it is known to be one
}

// Parse reads a text. The result holds what could be read, also where the text
// is broken; the error is that of ctx, which is looked at between statements.
func Parse(ctx context.Context, src string, opts Options) (*File, error) {
	p := &parser{
		ctx:   ctx,
		f:     &File{Src: src, Module: opts.Module, done: ctx.Done()},
		atoms: make(map[string]Atom, 256+len(src)/400),
	}
	p.f.Nodes = make([]Node, 1, 64+expected(src))
	p.f.Atoms = make([]string, 0, len(words)+len(src)/400)
	for _, w := range words {
		p.intern(w)
	}
	if len(src) > MaxSource {
		p.note(0, fmt.Sprintf("the text has more than %d bytes", MaxSource))
		p.f.Root = p.node(Program, 0, 0)
		return p.f, ctx.Err()
	}
	p.fuel = 64<<20 + 8*len(src)
	p.newline = true
	if strings.HasPrefix(src, "\ufeff") {
		p.pos = len("\ufeff")
	}
	if strings.HasPrefix(src[p.pos:], "#!") {
		p.lineComment()
	}
	p.next()
	body, strict := p.statements(EOF, true)
	root := p.node(Program, 0, uint32(len(src)))
	p.f.Nodes[root].first = body
	if strict || p.f.Module {
		p.f.Nodes[root].Flags |= Strict
	}
	p.f.Root = root
	return p.f, ctx.Err()
}

// expected is about how many nodes a text has, measured on parts of it: a slice
// that has to grow holds everything twice for a moment.
func expected(src string) int {
	const part, parts = 8 << 10, 16
	if len(src) < part*parts {
		return len(src) / 4
	}
	words := 0
	for i := range parts {
		from := i * (len(src) / parts)
		sample := src[from : from+part]
		for i := 1; i < len(sample); i++ {
			// Every identifier is about one node, and so are these.
			switch c := sample[i]; c {
			case '(', '.', '{', '=', '[':
				words++
			default:
				if class[c] == 1 && class[sample[i-1]] == 0 {
					words++
				}
			}
		}
	}
	return words * (len(src) / (part * parts)) * 5 / 4
}

type parser struct {
	ctx   context.Context // of the one call of Parse that made this
	f     *File
	atoms map[string]Atom

	// The current token, and where reading goes on.
	pos        int
	start, end uint32
	prevEnd    uint32
	atom       Atom
	tok        Tok
	newline    bool // before it
	escaped    bool // in it

	failing bool // since an error, until the statement around it is left
	errorAt int
	depth   int
	fuel    int // bytes that may be read again because of errors

	// Where in the program we are.
	functions int
	async     bool
	generator bool
	noIn      bool
}

// note records an error.
func (p *parser) note(at int, what string) {
	p.f.Failed++
	if len(p.f.Errors) < MaxErrors {
		p.f.Errors = append(p.f.Errors, Error{uint32(at), what})
	}
}

// fail records an error at the current token and ends the statement. What is
// read until then sees the end of the text.
func (p *parser) fail(what string) Ref {
	if !p.failing {
		p.note(int(p.start), what)
		p.failing = true
		p.errorAt = int(p.start)
		p.tok = EOF
	}
	return p.node(Invalid, p.start, p.start)
}

func (p *parser) unexpected() Ref {
	switch {
	case p.failing:
		return p.node(Invalid, p.start, p.start)
	case p.tok == EOF:
		return p.fail("unexpected end")
	}
	text := p.f.Src[p.start:p.end]
	if len(text) > 20 {
		text = text[:20] + "…"
	}
	return p.fail(fmt.Sprintf("unexpected %q", text))
}

// expect steps over a token.
func (p *parser) expect(t Tok) {
	if p.tok != t {
		p.unexpected()
		return
	}
	p.next()
}

func (p *parser) accept(t Tok) bool {
	if p.tok != t {
		return false
	}
	p.next()
	return true
}

// is reports whether the current token is a word that is not reserved.
func (p *parser) is(word Atom) bool { return p.tok == Identifier && p.atom == word && !p.escaped }

// semicolon steps over the end of a statement, written or not.
func (p *parser) semicolon() {
	switch {
	case p.tok == Semicolon:
		p.next()
	case p.tok == BraceR || p.tok == EOF || p.newline:
	default:
		p.unexpected()
	}
}

// enter counts a level of nesting; the caller leaves it with leave.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > MaxDepth {
		p.fail(TooDeep)
		return false
	}
	return true
}

func (p *parser) leave() { p.depth-- }

// A mark is a place to which reading can return.
type mark struct {
	pos, comments       int
	start, end, prevEnd uint32
	atom                Atom
	tok                 Tok
	newline, escaped    bool
}

func (p *parser) mark() mark {
	return mark{p.pos, len(p.f.Comments), p.start, p.end, p.prevEnd, p.atom, p.tok, p.newline, p.escaped}
}

func (p *parser) reset(m mark) {
	p.pos, p.start, p.end, p.prevEnd, p.atom, p.tok, p.newline, p.escaped = m.pos, m.start, m.end, m.prevEnd, m.atom, m.tok, m.newline, m.escaped
	p.f.Comments = p.f.Comments[:m.comments]
}

// node makes a node with children.
func (p *parser) node(kind Kind, start, end uint32, kids ...Ref) Ref {
	r := p.push(kind, start, end)
	last := Ref(0)
	for _, k := range kids {
		if k == 0 {
			k = p.empty(start)
		}
		if last == 0 {
			p.f.Nodes[r].first = k
		} else {
			p.f.Nodes[last].Next = k
		}
		last = k
	}
	return r
}

func (p *parser) push(kind Kind, start, end uint32) Ref {
	if len(p.f.Nodes) == cap(p.f.Nodes) {
		p.grow()
	}
	p.f.Nodes = append(p.f.Nodes, Node{Kind: kind, Start: start, End: end})
	return Ref(len(p.f.Nodes) - 1)
}

// grow makes room for the nodes of the rest of the text, if it is as dense as what
// was read.
func (p *parser) grow() {
	n := len(p.f.Nodes)
	most := int(float64(n) * float64(len(p.f.Src)) / float64(max(p.pos, 1)))
	room := min(max(most+most/64, n+n/16), 2*n) + 64
	p.f.Nodes = Moved(p.f.Nodes, room)
}

// Moved is a copy of a long slice with room for more. It is made piece by piece: the
// runtime can't interrupt what append does, and all goroutines wait when it wants to.
func Moved[T any](s []T, room int) []T {
	const piece = 8 << 10
	out := make([]T, 0, max(room, len(s)))
	for len(s) > piece {
		out, s = append(out, s[:piece]...), s[piece:]
	}
	return append(out, s...)
}

// Append appends to a slice that may get long; see [Moved].
func Append[T any](s []T, v T) []T {
	if len(s) == cap(s) {
		s = Moved(s, len(s)+len(s)/4+64)
	}
	return append(s, v)
}

// done ends a node behind the last token that was read.
func (p *parser) done(kind Kind, start uint32, kids ...Ref) Ref {
	return p.node(kind, start, max(start, p.prevEnd), kids...)
}

func (p *parser) empty(at uint32) Ref {
	return p.push(Empty, at, at)
}

// A list is a row of siblings.
type list struct{ first, last Ref }

func (p *parser) add(l *list, r Ref) {
	if r == 0 {
		r = p.empty(p.start)
	}
	if l.last == 0 {
		l.first = r
	} else {
		p.f.Nodes[l.last].Next = r
	}
	l.last = r
}

// with makes a node whose children are kids followed by l.
func (p *parser) with(kind Kind, start uint32, l list, kids ...Ref) Ref {
	r := p.done(kind, start, kids...)
	if len(kids) == 0 {
		p.f.Nodes[r].first = l.first
		return r
	}
	k := p.f.Nodes[r].first
	for range len(kids) - 1 {
		k = p.f.Nodes[k].Next
	}
	p.f.Nodes[k].Next = l.first
	return r
}

// word makes a node of the current token, an identifier or a reserved word.
func (p *parser) word(kind Kind) Ref {
	r := p.node(kind, p.start, p.end)
	p.f.Nodes[r].first = Ref(p.atom)
	if p.escaped {
		p.f.Nodes[r].Flags |= Escaped
	}
	p.next()
	return r
}

// literal makes a node of the current token.
func (p *parser) literal(kind Kind) Ref {
	r := p.node(kind, p.start, p.end)
	if p.escaped && kind == String {
		p.f.Nodes[r].Flags |= Escaped
	}
	p.next()
	return r
}

// recover leaves the statement that began at from, in which an error was found,
// and moves to where the next one may begin.
func (p *parser) recover(from uint32) {
	p.failing = false
	at := max(p.errorAt, int(from))
	p.fuel -= max(p.pos-at, 0) + 64
	if p.fuel < 0 || p.ctx.Err() != nil {
		p.stop()
		return
	}
	p.pos = at
	p.newline = false
	p.space()
	p.scan()
	first := true
	for level := 0; p.tok != EOF; p.next() {
		switch {
		case p.tok == BraceL || p.tok == ParenL || p.tok == BracketL:
			level++
		case p.tok == BraceR && level == 0:
			return
		case p.tok == BraceR || p.tok == ParenR || p.tok == BracketR:
			level = max(level-1, 0)
		case p.tok == Semicolon && level == 0:
			p.next()
			return
		case p.newline && !first && p.opensStatement():
			return
		}
		first = false
	}
}

func (p *parser) opensStatement() bool {
	switch p.tok {
	case KeyVar, KeyConst, KeyFunction, KeyClass, KeyIf, KeyFor, KeyWhile, KeyDo, KeyReturn, KeySwitch, KeyThrow, KeyTry, KeyImport, KeyExport:
		return true
	}
	return p.is(atomLet)
}

// stop ends the reading of a text that is too broken.
func (p *parser) stop() {
	if p.ctx.Err() == nil {
		p.note(p.pos, "too many errors; the rest was not read")
	}
	p.pos = len(p.f.Src)
	p.start, p.end = uint32(p.pos), uint32(p.pos)
	p.tok = EOF
}
