package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// next reads the next token. A slash is read as an operator; the parser asks
// for a regular expression where one may stand.
func (p *parser) next() {
	p.prevEnd = p.end
	p.newline = false
	if p.failing {
		p.tok = EOF
		return
	}
	p.space()
	p.scan()
}

// space skips blanks and comments.
func (p *parser) space() {
	src := p.f.Src
	for p.pos < len(src) {
		switch c := src[p.pos]; {
		case c == ' ' || c == '\t' || c == '\v' || c == '\f':
			p.pos++
		case c == '\n' || c == '\r':
			p.newline = true
			p.pos++
		case c == '/' && p.pos+1 < len(src) && src[p.pos+1] == '/':
			p.lineComment()
		case c == '/' && p.pos+1 < len(src) && src[p.pos+1] == '*':
			end := strings.Index(src[p.pos+2:], "*/")
			stop := len(src)
			if end >= 0 {
				stop = p.pos + 2 + end + 2
			} else {
				p.note(p.pos, "comment without end")
			}
			text := src[p.pos:stop]
			if !p.newline && (strings.ContainsAny(text, "\n\r") || strings.Contains(text, "\u2028") || strings.Contains(text, "\u2029")) {
				p.newline = true
			}
			p.f.Comments = append(p.f.Comments, Span{uint32(p.pos), uint32(stop)})
			p.pos = stop
		case c == '<' && strings.HasPrefix(src[p.pos:], "<!--") && !p.f.Module:
			p.lineComment()
		case c == '-' && strings.HasPrefix(src[p.pos:], "-->") && (p.newline || p.prevEnd == 0) && !p.f.Module:
			p.lineComment()
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(src[p.pos:])
			switch {
			case r == '\u2028' || r == '\u2029':
				p.newline = true
			case r != '\ufeff' && !unicode.Is(unicode.Zs, r):
				return
			}
			p.pos += n
		default:
			return
		}
	}
}

func (p *parser) lineComment() {
	src := p.f.Src
	start := p.pos
	for p.pos < len(src) {
		c := src[p.pos]
		if c == '\n' || c == '\r' || c == 0xe2 && (strings.HasPrefix(src[p.pos:], "\u2028") || strings.HasPrefix(src[p.pos:], "\u2029")) {
			break
		}
		p.pos++
	}
	p.f.Comments = append(p.f.Comments, Span{uint32(start), uint32(p.pos)})
}

// class of ASCII bytes: 1 begins an identifier, 2 goes on in one.
var class = func() (t [256]uint8) {
	for c := 0; c < 128; c++ {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '$' || c == '_':
			t[c] = 1
		case c >= '0' && c <= '9':
			t[c] = 2
		}
	}
	return t
}()

func (p *parser) scan() {
	src := p.f.Src
	p.start = uint32(p.pos)
	p.escaped = false
	if p.pos >= len(src) {
		p.tok, p.end = EOF, p.start
		return
	}
	c := src[p.pos]
	switch {
	case class[c] == 1 || c == '\\' || c >= utf8.RuneSelf:
		p.identifier()
	case class[c] == 2 || c == '.' && p.pos+1 < len(src) && class[src[p.pos+1]] == 2:
		p.number()
		p.tok = Num
	case c == '"' || c == '\'':
		p.str(c)
	case c == '#':
		p.pos++
		p.identifier()
		if p.tok == Identifier || p.tok.reserved() {
			p.tok = Private
		}
	default:
		p.punctuator(c)
	}
	p.end = uint32(p.pos)
}

func (p *parser) identifier() {
	src := p.f.Src
	start := p.pos
	for p.pos < len(src) && class[src[p.pos]] != 0 {
		p.pos++
	}
	if p.pos < len(src) && (src[p.pos] == '\\' || src[p.pos] >= utf8.RuneSelf) {
		p.unusualIdentifier(start)
		return
	}
	if p.pos == start {
		p.tok = Bad
		if p.pos < len(src) {
			p.pos++
		}
		return
	}
	p.atom = p.intern(src[start:p.pos])
	p.tok = Identifier
	if p.atom <= atomReserved {
		p.tok = KeyBreak + Tok(p.atom-1)
	}
}

// unusualIdentifier reads an identifier with an escape or beyond ASCII.
func (p *parser) unusualIdentifier(start int) {
	src := p.f.Src
	var b strings.Builder
	b.WriteString(src[start:p.pos])
	for p.pos < len(src) {
		c := src[p.pos]
		if class[c] != 0 {
			b.WriteByte(c)
			p.pos++
			continue
		}
		if c == '\\' {
			r, n := unicodeEscape(src[p.pos:])
			if n == 0 {
				break
			}
			p.escaped = true
			b.WriteRune(r)
			p.pos += n
			continue
		}
		if c < utf8.RuneSelf {
			break
		}
		r, n := utf8.DecodeRuneInString(src[p.pos:])
		if !(unicode.IsLetter(r) || unicode.IsMark(r) || unicode.Is(unicode.Nd, r) || unicode.Is(unicode.Nl, r) || unicode.Is(unicode.Pc, r) ||
			unicode.Is(unicode.Other_ID_Start, r) || unicode.Is(unicode.Other_ID_Continue, r) || r == '\u200c' || r == '\u200d') {
			break
		}
		b.WriteString(src[p.pos : p.pos+n])
		p.pos += n
	}
	if p.pos == start || b.Len() == 0 {
		_, n := utf8.DecodeRuneInString(src[p.pos:])
		p.pos += n
		p.tok = Bad
		return
	}
	p.atom = p.intern(b.String())
	p.tok = Identifier // a word with an escape is never reserved
}

// unicodeEscape reads \uXXXX or \u{X…}; n is 0 where there is none.
func unicodeEscape(s string) (r rune, n int) {
	if len(s) < 3 || s[1] != 'u' {
		return 0, 0
	}
	if s[2] == '{' {
		for i := 3; i < len(s); i++ {
			if s[i] == '}' && i > 3 {
				return r, i + 1
			}
			d := hexDigit(s[i])
			if d < 0 || r > unicode.MaxRune {
				return 0, 0
			}
			r = r<<4 | rune(d)
		}
		return 0, 0
	}
	if len(s) < 6 {
		return 0, 0
	}
	for i := 2; i < 6; i++ {
		d := hexDigit(s[i])
		if d < 0 {
			return 0, 0
		}
		r = r<<4 | rune(d)
	}
	return r, 6
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

func (p *parser) number() {
	src := p.f.Src
	start := p.pos
	hex := strings.HasPrefix(src[p.pos:], "0x") || strings.HasPrefix(src[p.pos:], "0X")
	dot := false
	for p.pos < len(src) {
		switch c := src[p.pos]; {
		case class[c] != 0 && c != '$':
			p.pos++
			if !hex && (c == 'e' || c == 'E') && p.pos < len(src) && (src[p.pos] == '+' || src[p.pos] == '-') && decimal(src[start:p.pos-1]) {
				p.pos++
			}
		case c == '.' && !hex && !dot && decimal(src[start:p.pos]):
			dot = true
			p.pos++
		default:
			return
		}
	}
}

// decimal reports whether s can be the digits before a point or an exponent.
func decimal(s string) bool {
	if len(s) > 1 && s[0] == '0' && class[s[1]] == 2 { // 010.toString() is an octal number and a property
		for i := range len(s) {
			if s[i] == '8' || s[i] == '9' {
				return true
			}
		}
		return false
	}
	for i := range len(s) {
		if c := s[i]; class[c] != 2 && c != '.' && c != '_' {
			return false
		}
	}
	return true
}

func (p *parser) str(quote byte) {
	src := p.f.Src
	p.tok = Str
	for p.pos++; p.pos < len(src); {
		switch c := src[p.pos]; c {
		case quote:
			p.pos++
			return
		case '\\':
			p.escaped = true
			p.pos++
			if strings.HasPrefix(src[p.pos:], "\r\n") {
				p.pos++
			}
			p.pos++
		case '\n', '\r':
			p.tok = Bad
			return
		default:
			p.pos++
		}
	}
	p.pos = len(src)
	p.tok = Bad
}

// regex reads the regular expression whose first slash is the current token.
func (p *parser) regex() bool {
	src := p.f.Src
	inClass := false
	for p.pos = int(p.start) + 1; p.pos < len(src); p.pos++ {
		switch c := src[p.pos]; {
		case c == '\n' || c == '\r':
			return false
		case c == '\\':
			p.pos++
			if p.pos < len(src) && (src[p.pos] == '\n' || src[p.pos] == '\r') {
				return false
			}
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		case c == '/' && !inClass:
			for p.pos++; p.pos < len(src) && class[src[p.pos]] != 0; p.pos++ {
			}
			p.end = uint32(p.pos)
			return true
		}
	}
	return false
}

// operators by their first byte, longest first.
var operators = func() (t [128][]operator) {
	for _, o := range []operator{
		{"{", BraceL}, {"}", BraceR}, {"(", ParenL}, {")", ParenR}, {"[", BracketL}, {"]", BracketR}, {";", Semicolon}, {",", Comma},
		{":", Colon}, {"...", Ellipsis}, {".", Period}, {"??=", NullishEqual}, {"??", Nullish}, {"?.", QuestionDot}, {"?", Question},
		{"===", EqEqEq}, {"==", EqEq}, {"=>", FatArrow}, {"=", Equal}, {"@", At},
		{"!==", NotEqEq}, {"!=", NotEq}, {"!", Not}, {"~", Tilde},
		{"++", Increment}, {"+=", PlusEqual}, {"+", Plus}, {"--", Decrement}, {"-=", MinusEqual}, {"-", Minus},
		{"**=", PowerEqual}, {"**", Power}, {"*=", StarEqual}, {"*", Star}, {"/=", SlashEqual}, {"/", Slash}, {"%=", PercentEqual}, {"%", Percent},
		{"<<=", ShlEqual}, {"<<", Shl}, {"<=", LessEq}, {"<", Less},
		{">>>=", UshrEqual}, {">>>", Ushr}, {">>=", ShrEqual}, {">>", Shr}, {">=", GreaterEq}, {">", Greater},
		{"&&=", LandEqual}, {"&&", Land}, {"&=", AndEqual}, {"&", And}, {"||=", LorEqual}, {"||", Lor}, {"|=", OrEqual}, {"|", Or},
		{"^=", XorEqual}, {"^", Xor}, {"`", Backquote},
	} {
		t[o.text[0]] = append(t[o.text[0]], o)
	}
	return t
}()

type operator struct {
	text string
	tok  Tok
}

func (p *parser) punctuator(c byte) {
	rest := p.f.Src[p.pos:]
	if c < 128 {
		for _, o := range operators[c] {
			if !strings.HasPrefix(rest, o.text) {
				continue
			}
			if o.tok == QuestionDot && len(rest) > 2 && class[rest[2]] == 2 { // a?.5:1
				continue
			}
			p.tok = o.tok
			p.pos += len(o.text)
			return
		}
	}
	p.tok = Bad
	p.pos++
}

// chunk reads template text from the current position up to "`" or "${", and
// reports which of them ended it.
func (p *parser) chunk() (span Span, more, ok bool) {
	src := p.f.Src
	start := p.pos
	for p.pos < len(src) {
		switch src[p.pos] {
		case '`':
			span = Span{uint32(start), uint32(p.pos)}
			p.pos++
			return span, false, true
		case '$':
			if p.pos+1 < len(src) && src[p.pos+1] == '{' {
				span = Span{uint32(start), uint32(p.pos)}
				p.pos += 2
				return span, true, true
			}
			p.pos++
		case '\\':
			p.pos += 2
		default:
			p.pos++
		}
	}
	p.pos = len(src)
	return Span{uint32(start), uint32(p.pos)}, false, false
}

func (p *parser) intern(s string) Atom {
	if a, ok := p.atoms[s]; ok {
		return a
	}
	a := Atom(len(p.f.Atoms))
	p.f.Atoms = append(p.f.Atoms, s)
	p.atoms[s] = a
	return a
}
