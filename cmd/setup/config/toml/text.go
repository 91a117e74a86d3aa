package toml

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// text reads a string of any of the four kinds.
func (p *parser) text() (string, error) {
	start := p.at
	quote := p.src[p.at]
	rest := p.src[p.at:]
	if bytes.HasPrefix(rest, bytes.Repeat([]byte{quote}, 3)) {
		p.at += 3
		p.lineBreak()
		return p.long(start, quote)
	}
	p.at++
	var b strings.Builder
	for p.at < len(p.src) {
		switch c := p.src[p.at]; {
		case c == quote:
			p.at++
			return b.String(), p.utf8(start)
		case c == '\\' && quote == '"':
			if err := p.escape(&b); err != nil {
				return "", err
			}
		case c < 0x20 && c != '\t' || c == 0x7f:
			return "", p.failf(p.at, "a line break or control character in a string")
		default:
			b.WriteByte(c)
			p.at++
		}
	}
	return "", p.failf(start, "a string that doesn't end")
}

// long reads the rest of a string of several lines.
func (p *parser) long(start int, quote byte) (string, error) {
	closing := bytes.Repeat([]byte{quote}, 3)
	var b strings.Builder
	for p.at < len(p.src) {
		switch c := p.src[p.at]; {
		case bytes.HasPrefix(p.src[p.at:], closing):
			p.at += 3
			// Up to two quotes may stand before the closing ones.
			for range 2 {
				if p.at < len(p.src) && p.src[p.at] == quote {
					b.WriteByte(quote)
					p.at++
				}
			}
			return b.String(), p.utf8(start)
		case c == '\\' && quote == '"':
			if p.folded() {
				continue
			}
			if err := p.escape(&b); err != nil {
				return "", err
			}
		case c == '\r' && !bytes.HasPrefix(p.src[p.at:], []byte("\r\n")),
			c < 0x20 && c != '\t' && c != '\n' && c != '\r', c == 0x7f:
			return "", p.failf(p.at, "a control character in a string")
		default:
			b.WriteByte(c)
			p.at++
		}
	}
	return "", p.failf(start, "a string that doesn't end")
}

// folded skips a backslash at the end of a line with the white space behind it.
func (p *parser) folded() bool {
	i := p.at + 1
	for i < len(p.src) && (p.src[i] == ' ' || p.src[i] == '\t') {
		i++
	}
	if i >= len(p.src) || p.src[i] != '\n' && !bytes.HasPrefix(p.src[i:], []byte("\r\n")) {
		return false
	}
	for i < len(p.src) && bytes.IndexByte([]byte(" \t\r\n"), p.src[i]) >= 0 {
		i++
	}
	p.at = i
	return true
}

func (p *parser) escape(b *strings.Builder) error {
	bad := p.failf(p.at, "an escape that TOML doesn't have")
	if p.at+1 >= len(p.src) {
		return bad
	}
	c := p.src[p.at+1]
	if i := strings.IndexByte(`btnfre"\`, c); i >= 0 {
		b.WriteByte("\b\t\n\f\r\x1b\"\\"[i])
		p.at += 2
		return nil
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	if digits == 0 || p.at+2+digits > len(p.src) {
		return bad
	}
	n, err := strconv.ParseUint(string(p.src[p.at+2:p.at+2+digits]), 16, 32)
	if err != nil || n > utf8.MaxRune || 0xd800 <= n && n < 0xe000 {
		return bad
	}
	b.WriteRune(rune(n))
	p.at += 2 + digits
	return nil
}

func (p *parser) utf8(start int) error {
	if !utf8.Valid(p.src[start:p.at]) {
		return p.failf(start, "a string that is not UTF-8")
	}
	return nil
}
