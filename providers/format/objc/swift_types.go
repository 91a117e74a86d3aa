package objc

import (
	"strconv"
	"strings"
)

// standardTypes are the names that Swift's mangling abbreviates.
var standardTypes = map[byte]string{
	'A': "Swift.AutoreleasingUnsafeMutablePointer", 'a': "Swift.Array", 'b': "Swift.Bool", 'D': "Swift.Dictionary",
	'd': "Swift.Double", 'f': "Swift.Float", 'h': "Swift.Set", 'I': "Swift.DefaultIndices", 'i': "Swift.Int",
	'J': "Swift.Character", 'N': "Swift.ClosedRange", 'n': "Swift.Range", 'O': "Swift.ObjectIdentifier",
	'P': "Swift.UnsafePointer", 'p': "Swift.UnsafeMutablePointer", 'R': "Swift.UnsafeBufferPointer",
	'r': "Swift.UnsafeMutableBufferPointer", 'S': "Swift.String", 's': "Swift.Substring", 'u': "Swift.UInt",
	'V': "Swift.UnsafeRawPointer", 'v': "Swift.UnsafeMutableRawPointer", 'W': "Swift.UnsafeRawBufferPointer",
	'w': "Swift.UnsafeMutableRawBufferPointer", 'q': "Swift.Optional",
	'B': "Swift.BinaryFloatingPoint", 'E': "Swift.Encodable", 'e': "Swift.Decodable", 'F': "Swift.FloatingPoint",
	'G': "Swift.RandomNumberGenerator", 'H': "Swift.Hashable", 'j': "Swift.Numeric", 'K': "Swift.BidirectionalCollection",
	'k': "Swift.RandomAccessCollection", 'L': "Swift.Comparable", 'l': "Swift.Collection", 'M': "Swift.MutableCollection",
	'm': "Swift.RangeReplaceableCollection", 'Q': "Swift.Equatable", 'T': "Swift.Sequence", 't': "Swift.IteratorProtocol",
	'U': "Swift.UnsignedInteger", 'X': "Swift.RangeExpression", 'x': "Swift.Strideable", 'Y': "Swift.RawRepresentable",
	'y': "Swift.StringProtocol", 'Z': "Swift.SignedInteger", 'z': "Swift.BinaryInteger",
}

// typeParser reads the common part of Swift's type mangling: nominal types,
// optionals, generic arguments, tuples, functions, existentials, metatypes. It
// refuses what it does not know, and substitutions.
type typeParser struct {
	s     string
	stack []node
	steps int

	async, throws bool // of the function type that is being read
}

// node is a parsed type, or an identifier or marker on the way to one.
type node struct {
	text string
	kind byte // 't' type, 'i' identifier or module, '_' list marker, 'e' empty list
}

func (m mangledName) readable() string {
	var p typeParser
	for _, part := range m.parts {
		switch {
		case part.opaque:
			return ""
		case part.context != "":
			p.stack = append(p.stack, node{part.context, 't'})
		default:
			p.s = part.text
			if !p.run() {
				return ""
			}
		}
	}
	name, _ := p.result()
	return name
}

func (p *typeParser) whole() (string, bool) {
	if !p.run() {
		return "", false
	}
	return p.result()
}

func (p *typeParser) result() (string, bool) {
	if len(p.stack) != 1 || p.stack[0].kind != 't' {
		return "", false
	}
	return p.stack[0].text, true
}

func (p *typeParser) push(kind byte, text string) bool {
	p.stack = append(p.stack, node{text, kind})
	return len(p.stack) < 256 && len(text) < maxName
}

func (p *typeParser) pop(kinds string) (node, bool) {
	if len(p.stack) == 0 || !strings.Contains(kinds, string(p.stack[len(p.stack)-1].kind)) {
		return node{}, false
	}
	n := p.stack[len(p.stack)-1]
	p.stack = p.stack[:len(p.stack)-1]
	return n, true
}

// run consumes the current text.
func (p *typeParser) run() bool {
	for p.s != "" {
		if p.steps++; p.steps > 4096 || !p.step() {
			return false
		}
	}
	return true
}

func (p *typeParser) step() bool {
	c := p.s[0]
	switch {
	case c >= '1' && c <= '9':
		return p.identifier()
	case c == 'S' && len(p.s) > 1:
		return p.standard()
	}
	p.s = p.s[1:]
	switch c {
	case 's':
		return p.push('i', "Swift")
	case 'C', 'V', 'O', 'P', 'a':
		name, ok := p.pop("i")
		if !ok {
			return false
		}
		outer, ok := p.pop("it")
		return ok && p.push('t', outer.text+"."+name.text)
	case 'y':
		return p.push('e', "")
	case '_':
		return p.push('_', "")
	case 'G':
		return p.generic()
	case 't':
		elements, ok := p.list()
		return ok && p.push('t', "("+strings.Join(elements, ", ")+")")
	case 'p':
		return p.existential()
	case 'c':
		return p.function()
	case 'm':
		t, ok := p.pop("t")
		return ok && p.push('t', t.text+".Type")
	case 'z':
		t, ok := p.pop("t")
		return ok && p.push('t', "inout "+t.text)
	case 'K':
		p.throws = true
		return true
	case 'Y':
		if strings.HasPrefix(p.s, "a") {
			p.s, p.async = p.s[1:], true
			return true
		}
		return false
	case 'x':
		return p.push('t', "A")
	case 'q':
		return p.parameter()
	case 'X':
		return p.special()
	}
	return false
}

func (p *typeParser) identifier() bool {
	digits := 0
	for digits < len(p.s) && p.s[digits] >= '0' && p.s[digits] <= '9' {
		digits++
	}
	n, err := strconv.Atoi(p.s[:digits])
	if err != nil || n > len(p.s)-digits {
		return false
	}
	name := p.s[digits : digits+n]
	p.s = p.s[digits+n:]
	return p.push('i', name)
}

// standard reads "S" with a letter: known types, the imported modules, and the
// suffix of optionals.
func (p *typeParser) standard() bool {
	c := p.s[1]
	p.s = p.s[2:]
	switch c {
	case 'o':
		return p.push('i', "__C")
	case 'C':
		return p.push('i', "__C_Synthesized")
	case 'g':
		t, ok := p.pop("t")
		if ok && strings.ContainsAny(t.text, " &") {
			t.text = "(" + t.text + ")"
		}
		return ok && p.push('t', t.text+"?")
	}
	count := 1
	if c >= '2' && c <= '9' && p.s != "" { // a run of the same type
		count, c, p.s = int(c-'0'), p.s[0], p.s[1:]
	}
	name, ok := standardTypes[c]
	for ; ok && count > 0; count-- {
		ok = p.push('t', name)
	}
	return ok
}

// parameter reads "q" with an index: a generic parameter beyond the first.
func (p *typeParser) parameter() bool {
	switch {
	case strings.HasPrefix(p.s, "_"):
		p.s = p.s[1:]
		return p.push('t', "B")
	case strings.HasPrefix(p.s, "0_"):
		p.s = p.s[2:]
		return p.push('t', "C")
	}
	return false
}

// list pops the elements of a list back to its beginning: the first element is
// followed by a marker, an empty list is a 'y'.
func (p *typeParser) list() ([]string, bool) {
	if _, ok := p.pop("e"); ok {
		return nil, true
	}
	var out []string
	for {
		_, first := p.pop("_")
		label, labelled := p.pop("i")
		t, ok := p.pop("t")
		if !ok {
			return nil, false
		}
		if labelled {
			t.text = label.text + ": " + t.text
		}
		out = append([]string{t.text}, out...)
		if first {
			return out, true
		}
	}
}

// generic applies arguments: a type, 'y', the arguments, 'G'. Arguments of
// outer types are separated by '_'.
func (p *typeParser) generic() bool {
	var args []string
	for {
		if _, ok := p.pop("e"); ok {
			break
		}
		if _, ok := p.pop("_"); ok {
			continue
		}
		t, ok := p.pop("t")
		if !ok {
			return false
		}
		args = append([]string{t.text}, args...)
	}
	t, ok := p.pop("t")
	if !ok || len(args) == 0 {
		return false
	}
	switch {
	case t.text == "Swift.Array" && len(args) == 1:
		return p.push('t', "["+args[0]+"]")
	case t.text == "Swift.Dictionary" && len(args) == 2:
		return p.push('t', "["+args[0]+": "+args[1]+"]")
	case t.text == "Swift.Optional" && len(args) == 1:
		return p.push('t', args[0]+"?")
	}
	return p.push('t', t.text+"<"+strings.Join(args, ", ")+">")
}

// existential reads a list of protocols, which are written without an operator.
func (p *typeParser) existential() bool {
	if _, ok := p.pop("e"); ok {
		return p.push('t', "Any")
	}
	names, ok := p.protocols()
	return ok && p.push('t', "any "+strings.Join(names, " & "))
}

func (p *typeParser) protocols() ([]string, bool) {
	var out []string
	for {
		_, first := p.pop("_")
		name, ok := p.pop("t")
		if !ok {
			own, isName := p.pop("i")
			outer, hasOuter := p.pop("it")
			if !isName || !hasOuter {
				return nil, false
			}
			name.text = outer.text + "." + own.text
		}
		out = append([]string{name.text}, out...)
		if first {
			return out, true
		}
	}
}

// function reads result and parameters, which precede the operator.
func (p *typeParser) function() bool {
	params, ok := p.pop("te")
	if !ok {
		return false
	}
	result, ok := p.pop("te")
	if !ok {
		return false
	}
	text := params.text
	if !strings.HasPrefix(text, "(") {
		text = "(" + text + ")"
	}
	if result.kind == 'e' {
		result.text = "()"
	}
	if p.async {
		text += " async"
	}
	if p.throws {
		text += " throws"
	}
	p.async, p.throws = false, false
	return p.push('t', text+" -> "+result.text)
}

// special reads "X" with a letter: references and existentials with them.
func (p *typeParser) special() bool {
	if p.s == "" {
		return false
	}
	c := p.s[0]
	p.s = p.s[1:]
	switch c {
	case 'l':
		if _, ok := p.pop("e"); ok {
			return p.push('t', "AnyObject")
		}
		names, ok := p.protocols()
		return ok && p.push('t', "any "+strings.Join(append(names, "AnyObject"), " & "))
	case 'p':
		t, ok := p.pop("t")
		return ok && p.push('t', t.text+".Type")
	case 'B', 'C':
		if !p.function() {
			return false
		}
		t, ok := p.pop("t")
		convention := map[byte]string{'B': "@convention(block) ", 'C': "@convention(c) "}[c]
		return ok && p.push('t', convention+t.text)
	case 'w', 'o', 'u':
		t, ok := p.pop("t")
		word := map[byte]string{'w': "weak ", 'o': "unowned ", 'u': "unowned(unsafe) "}[c]
		return ok && p.push('t', word+t.text)
	}
	return false
}
