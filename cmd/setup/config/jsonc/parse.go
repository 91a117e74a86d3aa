// Package jsonc edits JSON files, with or without comments and trailing commas,
// in place.
//
// Comments and trailing commas are accepted everywhere, because most programs
// that read settings accept them, and never introduced where a file has none.
// Where a key occurs several times the last one counts, as in most readers.
package jsonc

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"rea/cmd/setup/config/edit"
)

// maxDepth bounds nesting; readers of settings give up earlier.
const maxDepth = 512

// A value is one JSON value. Only what lies on the path to the entry, and the
// entry itself, has content; everything else is a range.
type value struct {
	start, end int
	object     *object // nil for what is no object, or was not looked into
	items      []value
	kind       byte // { [ " 0 t n
}

type object struct {
	open, close int
	members     []member
}

type member struct {
	key        string
	start, end int // of the key
	value      value
	comma      int // offset of the comma behind the value, or -1
}

// last is the index of the last member named key, or -1.
func (o *object) last(key string) int {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].key == key {
			return i
		}
	}
	return -1
}

type parser struct {
	src  []byte
	at   int
	path edit.Path
	// The first things that JSON itself doesn't have.
	comment, comma *Extension
}

// extends notes a comment or a trailing comma.
func extends(first **Extension, offset int, what string) {
	if *first == nil {
		*first = &Extension{offset, what}
	}
}

func (p *parser) failf(offset int, format string, args ...any) error {
	return edit.Errorf(p.src, offset, format, args...)
}

// space skips white space and comments.
func (p *parser) space() error {
	for p.at < len(p.src) {
		switch p.src[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		case '/':
			end, ok := commentEnd(p.src, p.at)
			if !ok {
				return p.failf(p.at, "a comment that doesn't end, or a / outside a comment")
			}
			extends(&p.comment, p.at, "a comment")
			p.at = end
		default:
			return nil
		}
	}
	return nil
}

// commentEnd is the offset behind the comment that starts at i; the line break
// is no part of a line comment.
func commentEnd(src []byte, i int) (end int, ok bool) {
	if i+1 >= len(src) {
		return 0, false
	}
	switch src[i+1] {
	case '/':
		return edit.LineEnd(src, i), true
	case '*':
		j := bytes.Index(src[i+2:], []byte("*/"))
		return i + 2 + j + 2, j >= 0
	}
	return 0, false
}

// whole marks values of which everything is kept, skipped those of which only
// the range is.
const (
	whole   = -1
	skipped = -2
)

// value reads one value. step counts the steps of the path that led here, or is
// whole or skipped.
func (p *parser) value(step, depth int) (value, error) {
	if depth > maxDepth {
		return value{}, p.failf(p.at, "nested more than %d levels deep", maxDepth)
	}
	if step == len(p.path) {
		step = whole
	}
	if p.at >= len(p.src) {
		return value{}, p.failf(p.at, "the file ends where a value should be")
	}
	v := value{start: p.at}
	var err error
	switch c := p.src[p.at]; {
	case c == '{' && step == skipped:
		v.kind = '{'
		err = p.skipObject(depth)
	case c == '{':
		v.kind = '{'
		v.object, err = p.object(step, depth)
	case c == '[':
		v.kind = '['
		v.items, err = p.array(step, depth)
	case c == '"':
		v.kind = '"'
		_, err = p.text(false)
	case c == '-' || '0' <= c && c <= '9':
		v.kind = '0'
		err = p.word("a number")
	case 'a' <= c && c <= 'z':
		v.kind = c
		err = p.word("a value")
	default:
		err = p.failf(p.at, "%s where a value should be", p.seen())
	}
	v.end = p.at
	return v, err
}

// seen names the character at hand.
func (p *parser) seen() string {
	if p.at >= len(p.src) {
		return "the end of the file"
	}
	r, _ := utf8.DecodeRune(p.src[p.at:])
	return "the character " + edit.Quote(string(r))
}

// ends are the bytes at which a number or word ends.
var ends = func() (t [256]bool) {
	for _, c := range []byte(" \t\r\n,:]}[{\"/") {
		t[c] = true
	}
	return t
}()

func (p *parser) word(what string) error {
	start := p.at
	for p.at < len(p.src) && !ends[p.src[p.at]] {
		p.at++
	}
	word := p.src[start:p.at]
	if len(word) == 1 && '0' <= word[0] && word[0] <= '9' || string(word) == "true" || string(word) == "false" || string(word) == "null" {
		return nil
	}
	if !json.Valid(word) {
		return p.failf(start, "%s is not %s", edit.Quote(shorten(word)), what)
	}
	return nil
}

func shorten(b []byte) string {
	if len(b) > 40 {
		return string(b[:40]) + "…"
	}
	return string(b)
}

// text reads a string; it decodes it only when asked to.
func (p *parser) text(decode bool) (string, error) {
	start := p.at
	escaped := false
	for p.at++; p.at < len(p.src); p.at++ {
		c := p.src[p.at]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		switch {
		case c == '"':
			p.at++
			token := p.src[start:p.at]
			if !decode {
				return "", nil
			}
			if !escaped {
				return string(token[1 : len(token)-1]), nil
			}
			var s string
			if json.Unmarshal(token, &s) != nil {
				return "", p.failf(start, "a string that is not valid")
			}
			return s, nil
		case c == '\\':
			escaped = true
			n := escape(p.src[p.at:])
			if n == 0 {
				return "", p.failf(p.at, "an escape that JSON doesn't have")
			}
			p.at += n - 1
		default:
			return "", p.failf(p.at, "a line break or control character in a string")
		}
	}
	return "", p.failf(start, "a string that doesn't end")
}

// escape is the length of the escape that b begins with, 0 for none.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
				return 0
			}
		}
		return 6
	}
	return 0
}

// trailing notes the comma at offset, if there is one, as the last thing of a
// collection. A comment behind it came to notice before it and is kept.
func (p *parser) trailing(offset int) {
	if offset >= 0 {
		extends(&p.comma, offset, "a comma with nothing behind it")
	}
}

// skipObject reads an object of which nothing is kept.
func (p *parser) skipObject(depth int) error {
	comma, trailing := true, -1
	for p.at++; ; {
		if err := p.space(); err != nil {
			return err
		}
		switch {
		case p.at < len(p.src) && p.src[p.at] == '}':
			p.trailing(trailing)
			p.at++
			return nil
		case !comma:
			return p.failf(p.at, "%s where a comma or } should be", p.seen())
		}
		if _, _, err := p.key(false); err != nil {
			return err
		}
		if _, err := p.value(skipped, depth+1); err != nil {
			return err
		}
		if err := p.space(); err != nil {
			return err
		}
		trailing = -1
		if comma = p.at < len(p.src) && p.src[p.at] == ','; comma {
			trailing = p.at
			p.at++
		}
	}
}

// key reads a key with its colon, up to the value.
func (p *parser) key(decode bool) (name string, end int, err error) {
	if p.at >= len(p.src) || p.src[p.at] != '"' {
		return "", 0, p.failf(p.at, "%s where a key or } should be", p.seen())
	}
	if name, err = p.text(decode); err != nil {
		return "", 0, err
	}
	end = p.at
	if err := p.space(); err != nil {
		return "", 0, err
	}
	if p.at >= len(p.src) || p.src[p.at] != ':' {
		return "", 0, p.failf(p.at, "%s where a colon should be", p.seen())
	}
	p.at++
	return name, end, p.space()
}

func (p *parser) object(step, depth int) (*object, error) {
	o := &object{open: p.at}
	p.at++
	for {
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.at < len(p.src) && p.src[p.at] == '}' {
			if n := len(o.members); n > 0 {
				p.trailing(o.members[n-1].comma)
			}
			o.close = p.at
			p.at++
			return o, nil
		}
		if n := len(o.members); n > 0 && o.members[n-1].comma < 0 {
			return nil, p.failf(p.at, "%s where a comma or } should be", p.seen())
		}
		m := member{start: p.at, comma: -1}
		var err error
		if m.key, m.end, err = p.key(true); err != nil {
			return nil, err
		}
		next := step
		if step >= 0 {
			next = skipped
			if p.path[step].Key == m.key && !p.path[step].Item {
				next = step + 1
			}
		}
		if m.value, err = p.value(next, depth+1); err != nil {
			return nil, err
		}
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.at < len(p.src) && p.src[p.at] == ',' {
			m.comma = p.at
			p.at++
		}
		o.members = append(o.members, m)
	}
}

func (p *parser) array(step, depth int) ([]value, error) {
	var items []value
	open, comma, trailing := p.at, true, -1
	for p.at++; ; {
		if err := p.space(); err != nil {
			return nil, err
		}
		switch {
		case p.at >= len(p.src):
			return nil, p.failf(open, "a list that doesn't end")
		case p.src[p.at] == ']':
			p.trailing(trailing)
			p.at++
			return items, nil
		case !comma:
			return nil, p.failf(p.at, "%s where a comma or ] should be", p.seen())
		}
		next := skipped
		if step == whole {
			next = whole
		}
		v, err := p.value(next, depth+1)
		if err != nil {
			return nil, err
		}
		if step == whole {
			items = append(items, v)
		}
		if err := p.space(); err != nil {
			return nil, err
		}
		trailing = -1
		if comma = p.at < len(p.src) && p.src[p.at] == ','; comma {
			trailing = p.at
			p.at++
		}
	}
}

// decode gives a value that was kept whole.
func decode(src []byte, v value) any {
	switch v.kind {
	case '{':
		out := edit.Object{}
		for _, m := range v.object.members {
			out = append(out, edit.Member{Key: m.key, Value: decode(src, m.value)})
		}
		return out
	case '[':
		out := edit.Array{}
		for _, item := range v.items {
			out = append(out, decode(src, item))
		}
		return out
	}
	token := src[v.start:v.end]
	switch v.kind {
	case '"':
		var s string
		if json.Unmarshal(token, &s) == nil {
			return s
		}
	case 't', 'f':
		return v.kind == 't'
	case 'n':
		return nil
	case '0':
		var n int64
		if !strings.ContainsAny(string(token), ".eE") && json.Unmarshal(token, &n) == nil {
			return n
		}
	}
	return edit.Other{Source: string(token)}
}
