// Package yaml edits YAML files in place.
//
// It reads the block and flow styles that settings are written in: mappings,
// sequences, all kinds of scalars, comments, anchors, tags and aliases, in one
// document. What it doesn't read (complex keys, directives, several documents)
// it refuses with the place, and never changes such a file.
package yaml

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"rea/cmd/setup/config/edit"
)

const maxDepth = 200

type parser struct {
	src []byte
	at  int
}

func (p *parser) failf(offset int, format string, args ...any) error {
	return edit.Errorf(p.src, offset, format, args...)
}

// column of an offset, counted from 0.
func (p *parser) column(offset int) int { return offset - edit.LineStart(p.src, offset) }

func (p *parser) peek(i int) byte {
	if p.at+i < len(p.src) {
		return p.src[p.at+i]
	}
	return 0
}

// blankAt tells whether there is white space or the end at offset i from here.
func (p *parser) blankAt(i int) bool {
	if p.at+i >= len(p.src) {
		return true
	}
	switch p.src[p.at+i] {
	case ' ', '\t', '\n', '\r':
		return true
	}
	return false
}

func (p *parser) spaces() {
	for p.at < len(p.src) && (p.src[p.at] == ' ' || p.src[p.at] == '\t') {
		p.at++
	}
}

// lineDone tells whether nothing but a comment is left on the line, and skips it
// and the line break.
func (p *parser) lineDone() bool {
	i := p.at
	for i < len(p.src) && (p.src[i] == ' ' || p.src[i] == '\t') {
		i++
	}
	if i < len(p.src) && p.src[i] == '#' && (i > p.at || p.column(i) == 0 || p.src[i-1] == ' ') {
		i = edit.LineEnd(p.src, i)
	}
	if i < len(p.src) && p.src[i] != '\n' && !bytes.HasPrefix(p.src[i:], []byte("\r\n")) {
		return false
	}
	p.at = edit.NextLine(p.src, i)
	return true
}

// content moves to the next thing that is no white space or comment. It must be
// called where a line begins or with at most blanks before.
func (p *parser) content() error {
	for p.at < len(p.src) && p.lineDone() {
	}
	start := p.at
	for p.at < len(p.src) && p.src[p.at] == ' ' {
		p.at++
	}
	if p.at < len(p.src) && p.src[p.at] == '\t' {
		if start == edit.LineStart(p.src, start) {
			return p.failf(p.at, "a tab in the indentation")
		}
		p.spaces()
	}
	return nil
}

// marker tells whether a document marker stands here.
func (p *parser) marker(mark string) bool {
	return bytes.HasPrefix(p.src[p.at:], []byte(mark)) && p.column(p.at) == 0 &&
		(p.at+3 == len(p.src) || bytes.IndexByte([]byte(" \t\r\n"), p.src[p.at+3]) >= 0)
}

func (p *parser) atEnd() bool { return p.at >= len(p.src) || p.marker("---") || p.marker("...") }

func (p *parser) look() string {
	if p.at >= len(p.src) {
		return "the end of the file"
	}
	r, _ := utf8.DecodeRune(p.src[p.at:])
	return "the character " + edit.Quote(string(r))
}

// properties skips anchors and tags.
func (p *parser) properties() {
	for p.at < len(p.src) && (p.src[p.at] == '&' || p.src[p.at] == '!') {
		for !p.blankAt(0) {
			p.at++
		}
		p.spaces()
	}
}

// quoted reads a scalar between quotes. Lines that it goes on to are indented by
// more than parent.
func (p *parser) quoted(parent int) (string, error) {
	start, quote := p.at, p.src[p.at]
	var b strings.Builder
	for p.at++; p.at < len(p.src); {
		c := p.src[p.at]
		switch {
		case c == quote && quote == '\'' && p.peek(1) == '\'':
			b.WriteByte('\'')
			p.at += 2
		case c == quote:
			p.at++
			return b.String(), nil
		case c == '\\' && quote == '"':
			if err := p.escape(&b); err != nil {
				return "", err
			}
		case c == '\n' || c == '\r' && p.peek(1) == '\n':
			text := strings.TrimRight(b.String(), " \t")
			b.Reset()
			b.WriteString(text)
			p.fold(&b)
			if p.at < len(p.src) && (p.column(p.at) <= parent || p.atEnd()) {
				return "", p.failf(start, "a string that doesn't end before the indentation does")
			}
		case c < 0x20 && c != '\t':
			return "", p.failf(p.at, "a control character in a string")
		default:
			b.WriteByte(c)
			p.at++
		}
	}
	return "", p.failf(start, "a string that doesn't end")
}

// fold skips line breaks and the indentation behind them: one is a space,
// several are all but the first.
func (p *parser) fold(b *strings.Builder) {
	breaks := 0
	for p.at < len(p.src) && strings.IndexByte(" \t\r\n", p.src[p.at]) >= 0 {
		if p.src[p.at] == '\n' {
			breaks++
		}
		p.at++
	}
	if breaks == 1 {
		b.WriteByte(' ')
	}
	for ; breaks > 1; breaks-- {
		b.WriteByte('\n')
	}
}

func (p *parser) escape(b *strings.Builder) error {
	bad := p.failf(p.at, "an escape that YAML doesn't have")
	c := p.peek(1)
	if c == '\n' || c == '\r' { // a folded line without the space
		p.at++
		var none strings.Builder
		p.fold(&none)
		return nil
	}
	const from = "0abtnvfre \"/\\N_LP"
	to := []string{"\x00", "\a", "\b", "\t", "\n", "\v", "\f", "\r", "\x1b", " ", "\"", "/", "\\", "\u0085", "\u00a0", "\u2028", "\u2029"}
	if c == '\t' {
		b.WriteByte('\t')
		p.at += 2
		return nil
	}
	if i := strings.IndexByte(from, c); i >= 0 && p.at+1 < len(p.src) {
		b.WriteString(to[i])
		p.at += 2
		return nil
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	if digits == 0 || p.at+2+digits > len(p.src) {
		return bad
	}
	var n rune
	for _, d := range p.src[p.at+2 : p.at+2+digits] {
		v := strings.IndexByte("0123456789abcdef", d|0x20)
		if d < '0' || v < 0 || n > utf8.MaxRune {
			return bad
		}
		n = n<<4 | rune(v)
	}
	if n > utf8.MaxRune {
		return bad
	}
	b.WriteRune(n)
	p.at += 2 + digits
	return nil
}

// plainStart tells whether a plain scalar may begin here.
func (p *parser) plainStart(flow bool) bool {
	c := p.peek(0)
	switch {
	case p.at >= len(p.src) || strings.IndexByte(",[]{}#&*!|>'\"%@`", c) >= 0:
		return false
	case strings.IndexByte("-?:", c) >= 0:
		next := p.peek(1)
		return !p.blankAt(1) && !(flow && strings.IndexByte(",[]{}", next) >= 0)
	}
	return c > 0x20 && c != 0x7f
}

// plainLine reads a plain scalar up to the end of its line and returns where it
// ends, without blanks. It stops before a colon that ends a key.
func (p *parser) plainLine(flow bool) (end int, err error) {
	end = p.at
	for p.at < len(p.src) {
		c := p.src[p.at]
		switch {
		case c == '\n' || c == '\r' && p.peek(1) == '\n':
			return end, nil
		case c == '#' && end < p.at:
			return end, nil
		case c == ':' && (p.blankAt(1) || flow && strings.IndexByte(",[]{}", p.peek(1)) >= 0):
			return end, nil
		case flow && strings.IndexByte(",[]{}", c) >= 0:
			return end, nil
		case c == ' ' || c == '\t':
			p.at++
			continue
		case c < 0x20 || c == 0x7f:
			return end, p.failf(p.at, "a control character")
		}
		p.at++
		end = p.at
	}
	return end, nil
}

// plain reads a plain scalar that may go on on lines indented by more than parent.
func (p *parser) plain(parent int, flow bool) (text string, end int, err error) {
	var b strings.Builder
	for {
		start := p.at
		if end, err = p.plainLine(flow); err != nil {
			return "", 0, err
		}
		b.Write(p.src[start:end])
		if p.peek(0) == ':' && p.at < len(p.src) {
			if !flow {
				return "", 0, p.failf(p.at, "a second colon; a value with a colon and a space must be quoted")
			}
			return b.String(), end, nil
		}
		if p.at < len(p.src) && (p.src[p.at] == '#' || flow && p.src[p.at] != '\n' && p.src[p.at] != '\r') {
			p.at = end
			return b.String(), end, nil
		}
		p.at = end
		next := parser{src: p.src, at: end}
		next.spaces()
		var folded strings.Builder
		next.fold(&folded)
		if next.atEnd() || next.peek(0) == '#' || next.column(next.at) <= parent || edit.LineStart(p.src, next.at) <= end ||
			flow && strings.IndexByte(",[]{}:", next.peek(0)) >= 0 {
			return b.String(), end, nil
		}
		if bytes.IndexByte(p.src[edit.LineStart(p.src, next.at):next.at], '\t') >= 0 && parent >= 0 {
			return "", 0, p.failf(next.at, "a tab in the indentation")
		}
		b.WriteString(folded.String())
		p.at = next.at
	}
}

// block skips a block scalar (| or >) whose lines are indented by more than
// parent, and returns where its last line ends.
func (p *parser) block(parent int) (end int, err error) {
	start := p.at
	p.at++
	keep, indent := false, 0
	for !p.blankAt(0) {
		switch c := p.src[p.at]; {
		case c == '+':
			keep = true
		case c == '-':
		case '1' <= c && c <= '9' && indent == 0:
			indent = max(parent, 0) + int(c-'0')
		default:
			return 0, p.failf(p.at, "%s in the head of a block of text", p.look())
		}
		p.at++
	}
	end = p.at
	if !p.lineDone() {
		return 0, p.failf(p.at, "%s in the head of a block of text", p.look())
	}
	for p.at < len(p.src) {
		line := p.at
		for p.at < len(p.src) && p.src[p.at] == ' ' {
			p.at++
		}
		n := p.at - line
		lineEnd := edit.LineEnd(p.src, p.at)
		if p.at == lineEnd { // empty
			if keep {
				end = lineEnd
			}
			p.at = edit.NextLine(p.src, lineEnd)
			continue
		}
		if indent == 0 && n > parent {
			indent = n
		}
		if n < indent || n <= parent || n == 0 && p.atEnd() {
			p.at = line
			break
		}
		end = lineEnd
		p.at = edit.NextLine(p.src, lineEnd)
	}
	if end < start {
		end = start
	}
	return end, nil
}
