// Package toml edits TOML files in place.
//
// A table of TOML may be spread over a file: under headers, through dotted keys,
// as an inline table. The parser keeps every statement with its place, and an
// entry is what all statements below its path say together.
package toml

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"rea/cmd/setup/config/edit"
)

const maxDepth = 256

// A value is the right side of a statement, or a part of it.
type value struct {
	start, end int
	data       any
	inline     *inline // of an inline table
}

// inline is an inline table.
type inline struct {
	open, close int
	members     []statement
	trailing    bool // a comma behind the last member
}

// A statement gives a value to a key.
type statement struct {
	path       []string // of the key, below its table
	start, end int      // of the key
	value      value
}

// A section is a header and what follows it; the first one has no header.
type section struct {
	path       []string
	array      bool // [[…]]
	start, end int  // of the header
	statements []statement
}

// last is the offset behind the last thing of the section that is no comment.
func (s *section) last() int {
	if n := len(s.statements); n > 0 {
		return s.statements[n-1].value.end
	}
	return s.end
}

type parser struct {
	src []byte
	at  int
	// seen are the tables and keys that exist, by the names of names.
	seen   map[string]definition
	arrays map[string]int
}

// definition tells how a key came to be.
type definition int

const (
	implied definition = iota + 1 // by a key or header below it
	dotted                        // by a dotted key
	header
	closed // a value
)

func (p *parser) failf(offset int, format string, args ...any) error {
	return edit.Errorf(p.src, offset, format, args...)
}

func (p *parser) blank() {
	for p.at < len(p.src) && (p.src[p.at] == ' ' || p.src[p.at] == '\t') {
		p.at++
	}
}

// lineBreak skips a line break, and tells whether there was one.
func (p *parser) lineBreak() bool {
	switch {
	case bytes.HasPrefix(p.src[p.at:], []byte("\r\n")):
		p.at += 2
	case p.at < len(p.src) && p.src[p.at] == '\n':
		p.at++
	default:
		return false
	}
	return true
}

// comment skips a comment up to its line break.
func (p *parser) comment() error {
	if p.at >= len(p.src) || p.src[p.at] != '#' {
		return nil
	}
	end := edit.LineEnd(p.src, p.at)
	for i := p.at; i < end; i++ {
		if c := p.src[i]; c < 0x20 && c != '\t' || c == 0x7f {
			return p.failf(i, "a control character in a comment")
		}
	}
	p.at = end
	return nil
}

// lines skips white space, line breaks and comments.
func (p *parser) lines() error {
	for {
		p.blank()
		if err := p.comment(); err != nil {
			return err
		}
		if !p.lineBreak() {
			return nil
		}
	}
}

// endOfLine expects nothing but a comment on the rest of a line.
func (p *parser) endOfLine() error {
	p.blank()
	if err := p.comment(); err != nil {
		return err
	}
	if p.at < len(p.src) && !p.lineBreak() {
		return p.failf(p.at, "%s where the line should end", p.look())
	}
	return nil
}

func (p *parser) look() string {
	if p.at >= len(p.src) {
		return "the end of the file"
	}
	r, _ := utf8.DecodeRune(p.src[p.at:])
	return "the character " + edit.Quote(string(r))
}

func parse(src []byte) ([]*section, error) {
	begin, err := edit.Begin(src)
	if err != nil {
		return nil, err
	}
	p := &parser{src: src, at: begin, seen: map[string]definition{}, arrays: map[string]int{}}
	current := &section{start: begin, end: begin}
	out := []*section{current}
	for {
		if err := p.lines(); err != nil {
			return nil, err
		}
		if p.at == len(src) {
			return out, nil
		}
		if src[p.at] == '[' {
			if current, err = p.header(); err != nil {
				return nil, err
			}
			out = append(out, current)
			continue
		}
		s, err := p.statement(0)
		if err != nil {
			return nil, err
		}
		if err := p.defineKey(current, &s); err != nil {
			return nil, err
		}
		current.statements = append(current.statements, s)
		if err := p.endOfLine(); err != nil {
			return nil, err
		}
	}
}

func (p *parser) header() (*section, error) {
	s := &section{start: p.at}
	p.at++
	if p.at < len(p.src) && p.src[p.at] == '[' {
		s.array = true
		p.at++
	}
	p.blank()
	var err error
	if s.path, err = p.key(); err != nil {
		return nil, err
	}
	closing := "]"
	if s.array {
		closing = "]]"
	}
	if !bytes.HasPrefix(p.src[p.at:], []byte(closing)) {
		return nil, p.failf(p.at, "%s where %s should be", p.look(), closing)
	}
	p.at += len(closing)
	s.end = p.at
	if err := p.endOfLine(); err != nil {
		return nil, err
	}
	return s, p.defineHeader(s)
}

// name is the name of a table for the book of definitions. Tables of an array
// are told apart by their number.
func (p *parser) name(path []string) string {
	var b strings.Builder
	for _, part := range path {
		b.WriteString(strconv.Quote(part))
		if n := p.arrays[b.String()]; n > 0 {
			b.WriteString("#" + strconv.Itoa(n))
		}
		b.WriteByte('.')
	}
	return b.String()
}

func (p *parser) defineHeader(s *section) error {
	for i := 1; i < len(s.path); i++ {
		name := p.name(s.path[:i])
		if p.seen[name] == closed {
			return p.failf(s.start, "%s has a value already and can't be a table", strings.Join(s.path[:i], "."))
		}
		if p.seen[name] == 0 {
			p.seen[name] = implied
		}
	}
	name := p.name(s.path)
	if s.array {
		bare := p.name(s.path[:len(s.path)-1]) + strconv.Quote(s.path[len(s.path)-1])
		if p.arrays[bare] == 0 && p.seen[name] != 0 {
			return p.failf(s.start, "%s is defined twice", strings.Join(s.path, "."))
		}
		p.arrays[bare]++
		p.seen[p.name(s.path)] = header
		return nil
	}
	if d := p.seen[name]; d != 0 && d != implied {
		return p.failf(s.start, "%s is defined twice", strings.Join(s.path, "."))
	}
	p.seen[name] = header
	return nil
}

func (p *parser) defineKey(s *section, st *statement) error {
	full := append(slices.Clone(s.path), st.path...)
	for i := len(s.path) + 1; i < len(full); i++ {
		name := p.name(full[:i])
		switch p.seen[name] {
		case closed:
			return p.failf(st.start, "%s has a value already and can't be a table", strings.Join(full[:i], "."))
		case header:
			return p.failf(st.start, "%s is defined twice", strings.Join(full[:i], "."))
		}
		p.seen[name] = dotted
	}
	name := p.name(full)
	if p.seen[name] != 0 {
		return p.failf(st.start, "%s is defined twice", strings.Join(full, "."))
	}
	p.seen[name] = closed
	return nil
}

// key reads a dotted key and the blanks behind it.
func (p *parser) key() ([]string, error) {
	var path []string
	for {
		part, err := p.keyPart()
		if err != nil {
			return nil, err
		}
		if path = append(path, part); len(path) > maxDepth {
			return nil, p.failf(p.at, "a key with more than %d parts", maxDepth)
		}
		p.blank()
		if p.at >= len(p.src) || p.src[p.at] != '.' {
			return path, nil
		}
		p.at++
		p.blank()
	}
}

func (p *parser) keyPart() (string, error) {
	start := p.at
	if p.at < len(p.src) && (p.src[p.at] == '"' || p.src[p.at] == '\'') {
		if three := p.src[p.at:min(p.at+3, len(p.src))]; bytes.Equal(three, []byte(`"""`)) || bytes.Equal(three, []byte(`'''`)) {
			return "", p.failf(p.at, "a key can't have several lines")
		}
		return p.text()
	}
	for p.at < len(p.src) && bareKey(p.src[p.at]) {
		p.at++
	}
	if p.at == start {
		return "", p.failf(p.at, "%s where a key should be", p.look())
	}
	return string(p.src[start:p.at]), nil
}

func bareKey(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// statement reads key = value.
func (p *parser) statement(depth int) (statement, error) {
	s := statement{start: p.at}
	var err error
	if s.path, err = p.key(); err != nil {
		return s, err
	}
	s.end = p.at
	if p.at >= len(p.src) || p.src[p.at] != '=' {
		return s, p.failf(p.at, "%s where = should be", p.look())
	}
	p.at++
	p.blank()
	s.value, err = p.value(depth)
	return s, err
}

var (
	integer = regexp.MustCompile(`^([+-]?(0|[1-9](_?[0-9])*)|0x[0-9A-Fa-f](_?[0-9A-Fa-f])*|0o[0-7](_?[0-7])*|0b[01](_?[01])*)$`)
	float   = regexp.MustCompile(`^[+-]?((0|[1-9](_?[0-9])*)(\.[0-9](_?[0-9])*)?([eE][+-]?[0-9](_?[0-9])*)?|inf|nan)$`)
	moment  = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?([Zz]|[+-][0-9]{2}:[0-9]{2})?)?|[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)$`)
)

func (p *parser) value(depth int) (value, error) {
	if depth > maxDepth {
		return value{}, p.failf(p.at, "nested more than %d levels deep", maxDepth)
	}
	v := value{start: p.at}
	var err error
	switch {
	case p.at >= len(p.src):
		return v, p.failf(p.at, "the file ends where a value should be")
	case p.src[p.at] == '"' || p.src[p.at] == '\'':
		v.data, err = p.text()
	case p.src[p.at] == '[':
		v.data, err = p.array(depth)
	case p.src[p.at] == '{':
		v.inline, err = p.inline(depth)
	default:
		v.data, err = p.word()
	}
	v.end = p.at
	return v, err
}

func (p *parser) word() (any, error) {
	start := p.at
	for p.at < len(p.src) && (bareKey(p.src[p.at]) || bytes.IndexByte([]byte("+.:"), p.src[p.at]) >= 0) {
		p.at++
	}
	// A date and a time may be separated by one space.
	if p.at-start == 10 && p.at+3 < len(p.src) && p.src[p.at] == ' ' && p.src[p.at+3] == ':' {
		for p.at++; p.at < len(p.src) && (bareKey(p.src[p.at]) || bytes.IndexByte([]byte("+.:"), p.src[p.at]) >= 0); {
			p.at++
		}
	}
	word := string(p.src[start:p.at])
	switch {
	case word == "":
		return nil, p.failf(p.at, "%s where a value should be", p.look())
	case word == "true" || word == "false":
		return word == "true", nil
	case integer.MatchString(word):
		if n, err := strconv.ParseInt(word, 10, 64); err == nil {
			return n, nil
		}
	case !float.MatchString(word) && !moment.MatchString(word):
		return nil, p.failf(start, "%s is not a value", edit.Quote(word[:min(len(word), 40)]))
	}
	return edit.Other{Source: word}, nil
}

func (p *parser) array(depth int) (any, error) {
	out := edit.Array{}
	open, comma := p.at, true
	for p.at++; ; {
		if err := p.lines(); err != nil {
			return nil, err
		}
		switch {
		case p.at >= len(p.src):
			return nil, p.failf(open, "a list that doesn't end")
		case p.src[p.at] == ']':
			p.at++
			return out, nil
		case !comma:
			return nil, p.failf(p.at, "%s where a comma or ] should be", p.look())
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if v.inline != nil {
			v.data = edit.Other{Source: string(p.src[v.start:v.end])}
		}
		out = append(out, v.data)
		if err := p.lines(); err != nil {
			return nil, err
		}
		if comma = p.at < len(p.src) && p.src[p.at] == ','; comma {
			p.at++
		}
	}
}

// inline reads an inline table; line breaks in it are accepted, as in TOML 1.1.
func (p *parser) inline(depth int) (*inline, error) {
	t := &inline{open: p.at}
	comma := true
	seen := map[string]bool{}
	for p.at++; ; {
		if err := p.lines(); err != nil {
			return nil, err
		}
		switch {
		case p.at >= len(p.src):
			return nil, p.failf(t.open, "a table that doesn't end")
		case p.src[p.at] == '}':
			t.close = p.at
			t.trailing = comma && len(t.members) > 0
			p.at++
			return t, nil
		case !comma:
			return nil, p.failf(p.at, "%s where a comma or } should be", p.look())
		}
		s, err := p.statement(depth + 1)
		if err != nil {
			return nil, err
		}
		if name := strings.Join(s.path, "\x00"); seen[name] {
			return nil, p.failf(s.start, "%s is defined twice", strings.Join(s.path, "."))
		} else {
			seen[name] = true
		}
		t.members = append(t.members, s)
		if err := p.lines(); err != nil {
			return nil, err
		}
		if comma = p.at < len(p.src) && p.src[p.at] == ','; comma {
			p.at++
		}
	}
}

// put sets a value at a path of o.
func put(o edit.Object, path []string, v any) edit.Object {
	for i := range o {
		if o[i].Key != path[0] {
			continue
		}
		if inner, ok := o[i].Value.(edit.Object); ok {
			if len(path) > 1 {
				o[i].Value = put(inner, path[1:], v)
			}
			return o
		}
	}
	if len(path) > 1 {
		v = put(edit.Object{}, path[1:], v)
	}
	return append(o, edit.Member{Key: path[0], Value: v})
}
