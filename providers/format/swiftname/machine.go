package swiftname

import (
	"strconv"
	"strings"
)

// demangler runs a name.
type demangler struct {
	text   string
	at     int
	stack  []*node
	substs []*node
	words  []string
	nodes  int
}

func (d *demangler) rest() string { return d.text[d.at:] }

func (d *demangler) peek() byte {
	if d.at >= len(d.text) {
		return 0
	}
	return d.text[d.at]
}

func (d *demangler) next() byte {
	if d.at >= len(d.text) {
		fail()
	}
	c := d.text[d.at]
	d.at++
	return c
}

func (d *demangler) eat(c byte) bool {
	if d.peek() != c || d.at >= len(d.text) {
		return false
	}
	d.at++
	return true
}

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func lower(c byte) bool  { return c >= 'a' && c <= 'z' }
func upper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func letter(c byte) bool { return lower(c) || upper(c) }

// natural reads a decimal number, -1 when there is none.
func (d *demangler) natural() int {
	n := -1
	for digit(d.peek()) {
		n = max(n, 0)*10 + int(d.next()-'0')
		if n > 1<<20 {
			fail()
		}
	}
	return n
}

// number reads an index: _ is 0, 0_ is 1, and so on.
func (d *demangler) number() int {
	if d.eat('_') {
		return 0
	}
	n := d.natural()
	if n < 0 || !d.eat('_') {
		fail()
	}
	return n + 1
}

func (d *demangler) make(k kind, text string, children ...*node) *node {
	if d.nodes++; d.nodes > maxNodes {
		fail()
	}
	return &node{kind: k, text: text, children: children}
}

func (d *demangler) push(n *node) {
	if n == nil {
		fail()
	}
	d.stack = append(d.stack, n)
}

func (d *demangler) top() *node {
	if len(d.stack) == 0 {
		return nil
	}
	return d.stack[len(d.stack)-1]
}

func (d *demangler) popIf(ok func(kind) bool) *node {
	n := d.top()
	if n == nil || !ok(n.kind) {
		return nil
	}
	d.stack = d.stack[:len(d.stack)-1]
	return n
}

func (d *demangler) pop(k kind) *node {
	return d.popIf(func(have kind) bool { return have == k })
}

func (d *demangler) must(n *node) *node {
	if n == nil {
		fail()
	}
	return n
}

func (d *demangler) popType() *node { return d.must(d.popIf(isType)) }

// remember gives a node the next substitution.
func (d *demangler) remember(n *node) *node {
	d.substs = append(d.substs, n)
	return n
}

// symbol runs the whole name and gathers what is left on the stack.
func (d *demangler) symbol() *node {
	for d.at < len(d.text) {
		if d.peek() == '.' {
			d.push(d.make(kText, " with unmangled suffix "+strconv.Quote(d.rest())))
			d.at = len(d.text)
			break
		}
		d.push(d.operator())
	}
	suffix := d.pop(kText)
	d.pop(kFirst)
	root := d.make(kSequence, "")
	for {
		a := d.pop(kAttribute)
		if a == nil {
			break
		}
		root.children = append(root.children, a)
	}
	if len(d.stack) != 1 {
		fail()
	}
	last := d.stack[0]
	if !isType(last.kind) && !isEntity(last.kind) && last.kind != kConformance {
		fail()
	}
	root.children = append(root.children, last)
	if suffix != nil {
		root.children = append(root.children, suffix)
	}
	return root
}

func (d *demangler) operator() *node {
	c := d.next()
	switch {
	case digit(c):
		d.at--
		return d.identifier()
	}
	switch c {
	case 'A':
		return d.substitution()
	case 'B':
		return d.builtin()
	case 'C':
		return d.nominal(kClass)
	case 'V':
		return d.nominal(kStruct)
	case 'O':
		return d.nominal(kEnum)
	case 'P':
		return d.nominal(kProtocol)
	case 'a':
		return d.nominal(kAlias)
	case 'D':
		return d.popType()
	case 'E':
		return d.extension()
	case 'F':
		return d.function()
	case 'G':
		return d.bound()
	case 'I':
		return d.implFunction()
	case 'K':
		return d.make(kThrows, "throws")
	case 'L':
		return d.localName()
	case 'M':
		return d.metadata()
	case 'N':
		return d.make(kDeclared, "type metadata for ", d.popType())
	case 'Q':
		return d.archetype()
	case 'R':
		return d.requirement()
	case 'S':
		return d.standard()
	case 'T':
		return d.thunk()
	case 'W':
		return d.witness()
	case 'X':
		return d.special()
	case 'Y':
		return d.annotation()
	case 'Z':
		return d.make(kStatic, "static ", d.must(d.popIf(isEntity)))
	case 'c':
		return d.functionType("")
	case 'd':
		return d.make(kVariadic, "")
	case 'f':
		return d.functionEntity()
	case 'g':
		return d.retroactive()
	case 'h':
		return d.make(kWrapped, "__shared ", d.popType())
	case 'n':
		return d.make(kWrapped, "__owned ", d.popType())
	case 'z':
		return d.make(kWrapped, "inout ", d.popType())
	case 'i':
		return d.subscript()
	case 'l':
		return d.signature(false)
	case 'r':
		return d.signature(true)
	case 'm':
		return d.make(kMetatype, "", d.popType())
	case 'o':
		return d.operatorName()
	case 'p':
		return d.make(kProtocols, "", d.protocolList())
	case 'q':
		return d.param()
	case 'x':
		return d.make(kParam, paramName(0, 0))
	case 's':
		return d.make(kModule, "Swift")
	case 't':
		return d.tuple()
	case 'u':
		sig := d.must(d.pop(kSignature))
		return d.make(kGeneric, "", sig, d.popType())
	case 'v':
		return d.accessor(d.variable())
	case 'w':
		return d.valueWitness()
	case 'y':
		return d.make(kEmptyList, "")
	case '_':
		return d.make(kFirst, "_")
	}
	fail()
	return nil
}

// identifier reads a name, in which letters after a 0 stand for words of
// earlier names.
func (d *demangler) identifier() *node {
	substituted, punycoded := false, false
	if d.eat('0') {
		if d.eat('0') {
			punycoded = true
		} else {
			substituted = true
		}
	}
	var name strings.Builder
	for {
		for substituted && letter(d.peek()) {
			c := d.next()
			i := int(c - 'a')
			if upper(c) {
				i, substituted = int(c-'A'), false
			}
			if i >= len(d.words) {
				fail()
			}
			name.WriteString(d.words[i])
			if name.Len() > MaxName {
				fail()
			}
		}
		if d.eat('0') {
			break
		}
		n := d.natural()
		if n <= 0 {
			fail()
		}
		if punycoded {
			d.eat('_')
		}
		if n > len(d.rest()) {
			fail()
		}
		s := d.rest()[:n]
		d.at += n
		if punycoded {
			s = fromPunycode(s)
		} else {
			d.addWords(s)
		}
		name.WriteString(s)
		if !substituted {
			break
		}
	}
	if name.Len() == 0 {
		fail()
	}
	return d.remember(d.make(kIdentifier, name.String()))
}

// addWords finds the words of a name: a capital after a small letter begins
// one, an underscore ends one.
func (d *demangler) addWords(s string) {
	start := -1
	for i := 0; i <= len(s); i++ {
		var c byte
		if i < len(s) {
			c = s[i]
		}
		if start >= 0 && (c == '_' || c == 0 || !upper(s[i-1]) && upper(c)) {
			if i-start >= 2 && len(d.words) < 26 {
				d.words = append(d.words, s[start:i])
			}
			start = -1
		}
		if start < 0 && c != 0 && c != '_' && !digit(c) {
			start = i
		}
	}
}

// fromPunycode decodes RFC 3492 with Swift's digits: letters a to z and A to J.
func fromPunycode(s string) string {
	var out []rune
	if i := strings.LastIndexByte(s, '_'); i >= 0 {
		out = []rune(s[:i])
		s = s[i+1:]
	}
	n, bias, index := 128, 72, 0
	for i := 0; i < len(s); {
		old, weight := index, 1
		for k := 36; ; k += 36 {
			if i >= len(s) {
				fail()
			}
			c := s[i]
			i++
			var v int
			switch {
			case lower(c):
				v = int(c - 'a')
			case c >= 'A' && c <= 'J':
				v = int(c-'A') + 26
			default:
				fail()
			}
			index += v * weight
			if index > 1<<24 {
				fail()
			}
			t := min(max(k-bias, 1), 26)
			if v < t {
				break
			}
			weight *= 36 - t
			if weight > 1<<24 {
				fail()
			}
		}
		size := len(out) + 1
		delta := index - old
		if old == 0 {
			delta /= 700
		} else {
			delta /= 2
		}
		delta += delta / size
		k := 0
		for delta > 455 {
			delta /= 35
			k += 36
		}
		bias = k + 36*delta/(delta+38)
		n += index / size
		index %= size
		if n > 0x10ffff {
			fail()
		}
		r := rune(n)
		if n >= 0xd800 && n < 0xd880 { // characters that linkers do not like
			r = rune(n - 0xd800)
		}
		out = append(out[:index], append([]rune{r}, out[index:]...)...)
		index++
	}
	return string(out)
}

// substitution pushes earlier nodes again: small letters go on, a capital ends.
func (d *demangler) substitution() *node {
	repeat := -1
	for {
		c := d.next()
		switch {
		case lower(c):
			d.push(d.repeated(repeat, int(c-'a')))
			repeat = -1
		case upper(c):
			return d.repeated(repeat, int(c-'A'))
		case c == '_':
			return d.repeated(-1, repeat+27)
		default:
			d.at--
			if repeat = d.natural(); repeat < 0 {
				fail()
			}
		}
	}
}

func (d *demangler) repeated(times, i int) *node {
	if times > 2048 || i >= len(d.substs) {
		fail()
	}
	n := d.substs[i]
	for ; times > 1; times-- {
		d.push(n)
	}
	return n
}

var standardTypes = map[byte]struct {
	kind kind
	name string
}{
	'A': {kStruct, "AutoreleasingUnsafeMutablePointer"}, 'a': {kStruct, "Array"}, 'b': {kStruct, "Bool"},
	'D': {kStruct, "Dictionary"}, 'd': {kStruct, "Double"}, 'f': {kStruct, "Float"}, 'h': {kStruct, "Set"},
	'I': {kStruct, "DefaultIndices"}, 'i': {kStruct, "Int"}, 'J': {kStruct, "Character"}, 'N': {kStruct, "ClosedRange"},
	'n': {kStruct, "Range"}, 'O': {kStruct, "ObjectIdentifier"}, 'P': {kStruct, "UnsafePointer"},
	'p': {kStruct, "UnsafeMutablePointer"}, 'R': {kStruct, "UnsafeBufferPointer"}, 'r': {kStruct, "UnsafeMutableBufferPointer"},
	'S': {kStruct, "String"}, 's': {kStruct, "Substring"}, 'u': {kStruct, "UInt"}, 'V': {kStruct, "UnsafeRawPointer"},
	'v': {kStruct, "UnsafeMutableRawPointer"}, 'W': {kStruct, "UnsafeRawBufferPointer"},
	'w': {kStruct, "UnsafeMutableRawBufferPointer"}, 'q': {kEnum, "Optional"},
	'B': {kProtocol, "BinaryFloatingPoint"}, 'E': {kProtocol, "Encodable"}, 'e': {kProtocol, "Decodable"},
	'F': {kProtocol, "FloatingPoint"}, 'G': {kProtocol, "RandomNumberGenerator"}, 'H': {kProtocol, "Hashable"},
	'j': {kProtocol, "Numeric"}, 'K': {kProtocol, "BidirectionalCollection"}, 'k': {kProtocol, "RandomAccessCollection"},
	'L': {kProtocol, "Comparable"}, 'l': {kProtocol, "Collection"}, 'M': {kProtocol, "MutableCollection"},
	'm': {kProtocol, "RangeReplaceableCollection"}, 'Q': {kProtocol, "Equatable"}, 'T': {kProtocol, "Sequence"},
	't': {kProtocol, "IteratorProtocol"}, 'U': {kProtocol, "UnsignedInteger"}, 'X': {kProtocol, "RangeExpression"},
	'x': {kProtocol, "Strideable"}, 'Y': {kProtocol, "RawRepresentable"}, 'y': {kProtocol, "StringProtocol"},
	'Z': {kProtocol, "SignedInteger"}, 'z': {kProtocol, "BinaryInteger"},
}

var concurrencyTypes = map[byte]struct {
	kind kind
	name string
}{
	'A': {kProtocol, "Actor"}, 'C': {kStruct, "CheckedContinuation"}, 'c': {kStruct, "UnsafeContinuation"},
	'E': {kStruct, "CancellationError"}, 'e': {kStruct, "UnownedSerialExecutor"}, 'F': {kProtocol, "Executor"},
	'f': {kProtocol, "SerialExecutor"}, 'G': {kStruct, "TaskGroup"}, 'g': {kStruct, "ThrowingTaskGroup"},
	'h': {kProtocol, "TaskExecutor"}, 'I': {kProtocol, "AsyncIteratorProtocol"}, 'i': {kProtocol, "AsyncSequence"},
	'J': {kStruct, "UnownedJob"}, 'M': {kClass, "MainActor"}, 'P': {kStruct, "TaskPriority"}, 'S': {kStruct, "AsyncStream"},
	's': {kStruct, "AsyncThrowingStream"}, 'T': {kStruct, "Task"}, 't': {kStruct, "UnsafeCurrentTask"},
}

// standard pushes a type of the standard library, or a module of imported C.
func (d *demangler) standard() *node {
	switch d.peek() {
	case 'o':
		d.next()
		return d.make(kModule, "__C")
	case 'C':
		d.next()
		return d.make(kModule, "__C_Synthesized")
	case 'g':
		d.next()
		return d.remember(d.boundTo("Optional", kEnum, d.popType()))
	}
	repeat := d.natural()
	types := standardTypes
	if d.eat('c') {
		types = concurrencyTypes
	}
	t, ok := types[d.next()]
	if !ok || repeat > 2048 {
		fail()
	}
	n := d.make(t.kind, "", d.make(kModule, "Swift"), d.make(kIdentifier, t.name))
	for ; repeat > 1; repeat-- {
		d.push(n)
	}
	return n
}

func (d *demangler) boundTo(name string, k kind, args ...*node) *node {
	nominal := d.make(k, "", d.make(kModule, "Swift"), d.make(kIdentifier, name))
	return d.make(kBound, "", nominal, d.make(kList, "", args...))
}

const operatorChars = "& @/= >    <*!|+?%-~   ^ ."

func (d *demangler) operatorName() *node {
	id := d.must(d.pop(kIdentifier))
	var b strings.Builder
	for _, c := range []byte(id.text) {
		if c >= 0x80 {
			b.WriteByte(c)
			continue
		}
		if !lower(c) || operatorChars[c-'a'] == ' ' {
			fail()
		}
		b.WriteByte(operatorChars[c-'a'])
	}
	place := map[byte]string{'i': " infix", 'p': " prefix", 'P': " postfix"}[d.next()]
	if place == "" {
		fail()
	}
	return d.make(kOperator, b.String()+place)
}

func (d *demangler) localName() *node {
	switch c := d.peek(); {
	case c == 'L':
		d.next()
		place := d.must(d.pop(kIdentifier))
		return d.make(kPrivateName, "", place, d.must(d.popIf(isName)))
	case c == 'l':
		d.next()
		return d.make(kPrivateName, "", d.must(d.pop(kIdentifier)))
	case c >= 'a' && c <= 'j', c >= 'A' && c <= 'J':
		d.next()
		return d.make(kRelatedName, string(c), d.must(d.popIf(isName)))
	}
	n := d.make(kLocalName, "")
	n.index = d.number()
	n.children = []*node{d.must(d.popIf(isName))}
	return n
}

// module takes a module: an identifier becomes one.
func (d *demangler) module() *node {
	if id := d.pop(kIdentifier); id != nil {
		return d.make(kModule, id.text)
	}
	return d.must(d.pop(kModule))
}

func (d *demangler) context() *node {
	if id := d.pop(kIdentifier); id != nil {
		return d.make(kModule, id.text)
	}
	return d.must(d.popIf(isContext))
}

func (d *demangler) nominal(k kind) *node {
	name := d.must(d.popIf(isName))
	return d.remember(d.make(k, "", d.context(), name))
}
