package yaml

import (
	"strconv"
	"strings"

	"rea/cmd/setup/config/edit"
)

type kind int

const (
	null kind = iota // nothing is written
	scalar
	alias
	mapping
	sequence
)

// A node is a value. Its range goes from the first character of the value to
// behind the last; anchors and tags lie before it.
type node struct {
	kind       kind
	start, end int
	flow       bool // between braces or brackets
	block      bool // a block scalar
	column     int  // of block collections
	pairs      []pair
	items      []item
	data       any // of scalars
}

// A pair is a key of a mapping with its value.
type pair struct {
	key    string
	start  int // of the key
	behind int // the colon
	value  *node
}

func (p *pair) end() int { return max(p.behind, p.value.end) }

type item struct {
	start int // the dash, or the value in flow style
	value *node
}

func (i *item) end() int { return max(i.start+1, i.value.end) }

// parse reads the only document of a file, and where it ends; the root is nil
// when there is nothing in it.
func parse(src []byte) (root *node, end int, err error) {
	begin, err := edit.Begin(src)
	if err != nil {
		return nil, 0, err
	}
	p := &parser{src: src, at: begin}
	if err := p.content(); err != nil {
		return nil, 0, err
	}
	if p.peek(0) == '%' {
		return nil, 0, p.failf(p.at, "a directive, which is not read here")
	}
	if p.marker("---") {
		p.at += 3
		if !p.lineDone() {
			return nil, 0, p.failf(p.at, "something on the line of ---, which is not read here")
		}
		if err := p.content(); err != nil {
			return nil, 0, err
		}
	}
	if !p.atEnd() {
		if root, err = p.node(-1, 0); err != nil {
			return nil, 0, err
		}
		if err := p.content(); err != nil {
			return nil, 0, err
		}
	}
	end = p.at
	if p.at < len(src) && p.marker("...") {
		p.at += 3
		if !p.lineDone() {
			return nil, 0, p.failf(p.at, "something on the line of ..., which is not read here")
		}
		if err := p.content(); err != nil {
			return nil, 0, err
		}
		if p.at < len(src) {
			return nil, 0, p.failf(p.at, "a second document, which is not read here")
		}
	}
	switch {
	case p.at < len(src) && p.marker("---"):
		return nil, 0, p.failf(p.at, "a second document, which is not read here")
	case p.at < len(src):
		return nil, 0, p.failf(p.at, "%s where a key should be", p.look())
	}
	return root, end, nil
}

// indentOf is by how much a mapping within a mapping is indented where the file
// has the first one, 0 when it has none.
func indentOf(n *node) int {
	for i := range n.pairs {
		v := n.pairs[i].value
		if n.kind == mapping && v.kind == mapping && !n.flow && !v.flow {
			return v.column - n.column
		}
		if found := indentOf(v); found > 0 {
			return found
		}
	}
	for i := range n.items {
		if found := indentOf(n.items[i].value); found > 0 {
			return found
		}
	}
	return 0
}

// node reads a value that stands below something indented by parent; the parser
// is at its first character.
func (p *parser) node(parent, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, p.failf(p.at, "nested more than %d levels deep", maxDepth)
	}
	p.properties()
	if p.lineDone() { // the value is below its anchor or tag
		if err := p.content(); err != nil {
			return nil, err
		}
		if p.atEnd() || p.column(p.at) <= parent {
			return nil, p.failf(p.at, "an anchor or tag without a value")
		}
	}
	switch {
	case p.peek(0) == '-' && p.blankAt(1):
		return p.sequence(depth)
	case p.peek(0) == '?' && p.blankAt(1):
		return nil, p.failf(p.at, "a key that begins with ?, which is not read here")
	}
	at := p.at
	if _, _, ok := p.key(); ok {
		p.at = at
		return p.mapping(depth)
	}
	p.at = at
	return p.inline(parent, depth)
}

// key reads a key of a block mapping, with the colon.
func (p *parser) key() (name string, behind int, ok bool) {
	start := p.at
	switch {
	case p.peek(0) == '"' || p.peek(0) == '\'':
		line := edit.LineEnd(p.src, start)
		q := parser{src: p.src[:line], at: start}
		text, err := q.quoted(-1)
		if err != nil {
			return "", 0, false
		}
		name, p.at = text, q.at
	case p.plainStart(false):
		end, err := p.plainLine(false)
		if err != nil || end == start {
			return "", 0, false
		}
		name, p.at = string(p.src[start:end]), end
	default:
		return "", 0, false
	}
	p.spaces()
	if p.peek(0) != ':' || p.at >= len(p.src) || !p.blankAt(1) {
		return "", 0, false
	}
	p.at++
	return name, p.at, true
}

func (p *parser) mapping(depth int) (*node, error) {
	m := &node{kind: mapping, start: p.at, column: p.column(p.at)}
	seen := map[string]bool{}
	for {
		start := p.at
		name, behind, ok := p.key()
		if !ok {
			return nil, p.failf(start, "a line that is no key with a colon")
		}
		if seen[name] {
			return nil, p.failf(start, "%s is defined twice", edit.Quote(name))
		}
		seen[name] = true
		v, err := p.below(behind, m.column, depth)
		if err != nil {
			return nil, err
		}
		m.pairs = append(m.pairs, pair{name, start, behind, v})
		m.end = max(behind, v.end)
		more, err := p.next(m.column)
		if err != nil || !more {
			return m, err
		}
	}
}

func (p *parser) sequence(depth int) (*node, error) {
	s := &node{kind: sequence, start: p.at, column: p.column(p.at)}
	for {
		if p.peek(0) != '-' || !p.blankAt(1) {
			// A mapping goes on behind a sequence at its own indentation.
			p.at = edit.LineStart(p.src, p.at)
			return s, nil
		}
		dash := p.at
		p.at++
		v, err := p.item(s.column, depth)
		if err != nil {
			return nil, err
		}
		s.items = append(s.items, item{dash, v})
		s.end = max(dash+1, v.end)
		more, err := p.next(s.column)
		if err != nil || !more {
			return s, err
		}
	}
}

// next moves to the next line with content, and tells whether it is at column.
func (p *parser) next(column int) (bool, error) {
	if !p.lineDone() && p.at > 0 && p.src[p.at-1] != '\n' {
		return false, p.failf(p.at, "%s where the line should end", p.look())
	}
	if err := p.content(); err != nil {
		return false, err
	}
	if p.atEnd() {
		return false, nil
	}
	at := p.column(p.at)
	if at > column {
		return false, p.failf(p.at, "a line that is indented more than those before it")
	}
	if at < column {
		p.at = edit.LineStart(p.src, p.at)
		return false, nil
	}
	return true, nil
}

// below reads what stands behind the colon of a key at column.
func (p *parser) below(behind, column, depth int) (*node, error) {
	p.spaces()
	p.properties()
	if !p.lineDone() {
		if p.peek(0) == '-' && p.blankAt(1) {
			return nil, p.failf(p.at, "a list on the line of its key")
		}
		return p.inline(column, depth+1)
	}
	line := p.at
	if err := p.content(); err != nil {
		return nil, err
	}
	at := p.column(p.at)
	if !p.atEnd() && (at > column || at == column && p.peek(0) == '-' && p.blankAt(1)) {
		return p.node(column, depth+1)
	}
	p.at = line
	return &node{kind: null, start: behind, end: behind}, nil
}

// item reads what stands behind a dash at column.
func (p *parser) item(column, depth int) (*node, error) {
	dash := p.at
	p.spaces()
	p.properties()
	if !p.lineDone() {
		return p.node(column, depth+1)
	}
	line := p.at
	if err := p.content(); err != nil {
		return nil, err
	}
	if !p.atEnd() && p.column(p.at) > column {
		return p.node(column, depth+1)
	}
	p.at = line
	return &node{kind: null, start: dash, end: dash}, nil
}

// inline reads a scalar, an alias or a flow collection.
func (p *parser) inline(parent, depth int) (*node, error) {
	n := &node{kind: scalar, start: p.at}
	switch c := p.peek(0); {
	case c == '|' || c == '>':
		n.block = true
		end, err := p.block(parent)
		n.end = end
		return n, err
	case c == '{' || c == '[':
		return p.flow(parent, depth)
	case c == '*':
		n.kind = alias
		for !p.blankAt(0) {
			p.at++
		}
		n.end = p.at
		return n, nil
	case c == '"' || c == '\'':
		text, err := p.quoted(parent)
		n.data, n.end = text, p.at
		return n, err
	case !p.plainStart(false):
		return nil, p.failf(p.at, "%s where a value should be", p.look())
	}
	text, end, err := p.plain(parent, false)
	n.data, n.end = meaning(text), end
	return n, err
}

// flow reads a collection between brackets or braces.
func (p *parser) flow(parent, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, p.failf(p.at, "nested more than %d levels deep", maxDepth)
	}
	n := &node{kind: sequence, start: p.at, flow: true}
	closing := byte(']')
	if p.src[p.at] == '{' {
		n.kind, closing = mapping, '}'
	}
	seen := map[string]bool{}
	comma := true
	for p.at++; ; {
		if err := p.flowSpace(parent); err != nil {
			return nil, err
		}
		switch {
		case p.at >= len(p.src):
			return nil, p.failf(n.start, "a list or mapping that doesn't end")
		case p.src[p.at] == closing:
			p.at++
			n.end = p.at
			return n, nil
		case !comma:
			return nil, p.failf(p.at, "%s where a comma or %c should be", p.look(), closing)
		}
		start := p.at
		v, err := p.flowValue(parent, depth)
		if err != nil {
			return nil, err
		}
		if n.kind == sequence {
			n.items = append(n.items, item{start, v})
		} else {
			name, ok := v.data.(string)
			if !ok {
				name = string(p.src[v.start:v.end])
			}
			if v.kind != scalar {
				return nil, p.failf(start, "a key that is no plain text, which is not read here")
			}
			if seen[name] {
				return nil, p.failf(start, "%s is defined twice", edit.Quote(name))
			}
			seen[name] = true
			pr := pair{key: name, start: start, behind: v.end, value: &node{start: v.end, end: v.end}}
			if err := p.flowSpace(parent); err != nil {
				return nil, err
			}
			if p.peek(0) == ':' {
				p.at++
				pr.behind = p.at
				if err := p.flowSpace(parent); err != nil {
					return nil, err
				}
				if c := p.peek(0); c != ',' && c != '}' {
					if pr.value, err = p.flowValue(parent, depth); err != nil {
						return nil, err
					}
				}
			}
			n.pairs = append(n.pairs, pr)
		}
		if err := p.flowSpace(parent); err != nil {
			return nil, err
		}
		if comma = p.peek(0) == ','; comma {
			p.at++
		}
	}
}

// flowSpace skips white space, line breaks and comments between brackets.
func (p *parser) flowSpace(parent int) error {
	for p.at < len(p.src) {
		switch c := p.src[p.at]; {
		case c == '#' && p.at > 0 && strings.IndexByte(" \t\n", p.src[p.at-1]) >= 0:
			p.at = edit.LineEnd(p.src, p.at)
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' && p.peek(1) == '\n':
			p.at++
		default:
			if p.atEnd() {
				return p.failf(p.at, "a document marker inside brackets")
			}
			return nil
		}
	}
	return nil
}

func (p *parser) flowValue(parent, depth int) (*node, error) {
	p.properties()
	n := &node{kind: scalar, start: p.at}
	switch c := p.peek(0); {
	case c == '{' || c == '[':
		return p.flow(parent, depth+1)
	case c == '*':
		n.kind = alias
		for !p.blankAt(0) && strings.IndexByte(",[]{}", p.src[p.at]) < 0 {
			p.at++
		}
		n.end = p.at
		return n, nil
	case c == '"' || c == '\'':
		text, err := p.quoted(-1)
		n.data, n.end = text, p.at
		return n, err
	case !p.plainStart(true):
		return nil, p.failf(p.at, "%s where a value should be", p.look())
	}
	text, end, err := p.plain(-1, true)
	n.data, n.end = meaning(text), end
	return n, err
}

// meaning tells text from the words that YAML reads as something else.
func meaning(text string) any {
	switch text {
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	case "null", "Null", "NULL", "~":
		return nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	return text
}

// decode gives a value for whoever looks at an entry.
func decode(src []byte, n *node) any {
	switch n.kind {
	case scalar:
		if n.block {
			return edit.Other{Source: string(src[n.start:n.end])}
		}
		return n.data
	case mapping:
		out := edit.Object{}
		for i := range n.pairs {
			out = append(out, edit.Member{Key: n.pairs[i].key, Value: decode(src, n.pairs[i].value)})
		}
		return out
	case sequence:
		out := edit.Array{}
		for i := range n.items {
			out = append(out, decode(src, n.items[i].value))
		}
		return out
	case alias:
		return edit.Other{Source: string(src[n.start:n.end])}
	}
	return nil
}
