package swiftname

import (
	"slices"
	"strconv"
)

func (d *demangler) builtin() *node {
	word := map[byte]string{
		'b': "BridgeObject", 'B': "UnsafeValueBuffer", 'e': "Executor", 'I': "IntLiteral", 'O': "UnknownObject",
		'o': "NativeObject", 'p': "RawPointer", 't': "SILToken", 'w': "Word", 'c': "RawUnsafeContinuation",
		'D': "DefaultActorStorage", 'd': "NonDefaultDistributedActorStorage", 'j': "Job", 'P': "PackIndex",
	}
	c := d.next()
	if w := word[c]; w != "" {
		return d.make(kBuiltin, "Builtin."+w)
	}
	switch c {
	case 'f':
		return d.make(kBuiltin, "Builtin.FPIEEE"+strconv.Itoa(d.number()-1))
	case 'i':
		return d.make(kBuiltin, "Builtin.Int"+strconv.Itoa(d.number()-1))
	case 'v':
		n := d.number() - 1
		t := d.must(d.pop(kBuiltin))
		name, _ := cutBuiltin(t.text)
		return d.make(kBuiltin, "Builtin.Vec"+strconv.Itoa(n)+"x"+name)
	}
	fail()
	return nil
}

func cutBuiltin(s string) (string, bool) {
	const prefix = "Builtin."
	if len(s) < len(prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// paramName is the letter of a generic parameter.
func paramName(depth, index int) string {
	s := ""
	for {
		s += string(rune('A' + index%26))
		if index /= 26; index == 0 {
			break
		}
	}
	if depth > 0 {
		s += strconv.Itoa(depth)
	}
	return s
}

func (d *demangler) param() *node {
	if d.eat('d') {
		depth := d.number() + 1
		return d.make(kParam, paramName(depth, d.number()))
	}
	if d.eat('z') {
		return d.make(kParam, paramName(0, 0))
	}
	return d.make(kParam, paramName(0, d.number()+1))
}

// bound applies types to a nominal type and to those around it.
func (d *demangler) bound() *node {
	for d.pop(kRetroactive) != nil {
	}
	n := d.make(kBound, "", nil)
	for {
		l := d.make(kList, "")
		for {
			t := d.popIf(isType)
			if t == nil {
				break
			}
			l.children = append(l.children, t)
		}
		slices.Reverse(l.children)
		n.children = append(n.children, l)
		if d.pop(kEmptyList) != nil {
			break
		}
		d.must(d.pop(kFirst))
	}
	n.children[0] = d.must(d.popIf(isNominal))
	return d.remember(n)
}

// functionType takes the markers of a function, its parameters and its result.
func (d *demangler) functionType(convention string) *node {
	n := d.make(kFunctionType, convention, nil, nil)
	for {
		m := d.popIf(func(k kind) bool {
			return k == kThrows || k == kAsync || k == kSendable || k == kActor || k == kFunctionFlag
		})
		if m == nil {
			break
		}
		n.children = append(n.children, m)
	}
	n.children[0] = d.functionPart()
	n.children[1] = d.functionPart()
	return n
}

func (d *demangler) functionPart() *node {
	if d.pop(kEmptyList) != nil {
		return d.make(kTuple, "")
	}
	return d.popType()
}

// labels takes as many labels as a function has parameters. An empty list
// stands for none at all.
func (d *demangler) labels(t *node) *node {
	if d.pop(kEmptyList) != nil {
		return d.make(kLabels, "")
	}
	if t.kind == kGeneric {
		t = t.child(1)
	}
	if t.kind != kFunctionType {
		return nil
	}
	count := 1
	if params := t.child(0); params.kind == kTuple {
		count = len(params.children)
	}
	if count == 0 {
		return nil
	}
	l := d.make(kLabels, "")
	named := false
	for range count {
		label := d.popIf(func(k kind) bool { return k == kIdentifier || k == kFirst })
		if label == nil {
			fail()
		}
		named = named || label.kind == kIdentifier
		l.children = append(l.children, label)
	}
	if !named {
		l.children = nil
	}
	slices.Reverse(l.children)
	return l
}

func (d *demangler) tuple() *node {
	n := d.make(kTuple, "")
	if d.pop(kEmptyList) != nil {
		return n
	}
	for first := false; !first; {
		first = d.pop(kFirst) != nil
		e := d.make(kElement, "", nil)
		if d.pop(kVariadic) != nil {
			e.index = 1
		}
		if id := d.pop(kIdentifier); id != nil {
			e.text = id.text
		}
		e.children[0] = d.popType()
		n.children = append(n.children, e)
	}
	slices.Reverse(n.children)
	return n
}

func (d *demangler) typeList() []*node {
	if d.pop(kEmptyList) != nil {
		return nil
	}
	var out []*node
	for first := false; !first; {
		first = d.pop(kFirst) != nil
		out = append(out, d.popType())
	}
	slices.Reverse(out)
	return out
}

func (d *demangler) protocol() *node {
	if t := d.pop(kProtocol); t != nil {
		return t
	}
	name := d.must(d.popIf(isName))
	return d.make(kProtocol, "", d.context(), name)
}

func (d *demangler) protocolList() *node {
	l := d.make(kList, "")
	if d.pop(kEmptyList) != nil {
		return l
	}
	for first := false; !first; {
		first = d.pop(kFirst) != nil
		l.children = append(l.children, d.protocol())
	}
	slices.Reverse(l.children)
	return l
}

// signature reads how many parameters each level has and takes the
// requirements.
func (d *demangler) signature(counted bool) *node {
	n := d.make(kSignature, "")
	var counts []int
	if counted {
		for !d.eat('l') {
			count := 0
			if !d.eat('z') {
				count = d.number() + 1
			}
			if count > 256 || len(counts) > 64 {
				fail()
			}
			counts = append(counts, count)
		}
	} else {
		counts = []int{1}
	}
	for depth, count := range counts {
		l := d.make(kList, "")
		for i := range count {
			l.children = append(l.children, d.make(kParam, paramName(depth, i)))
		}
		n.children = append(n.children, l)
	}
	at := len(n.children)
	for {
		r := d.pop(kRequirement)
		if r == nil {
			break
		}
		n.children = append(n.children, r)
	}
	slices.Reverse(n.children[at:])
	return n
}

var layouts = map[byte]string{
	'U': "_UnknownLayout", 'R': "_RefCountedObject", 'N': "_NativeRefCountedObject", 'C': "AnyObject", 'D': "_NativeClass",
	'T': "_Trivial", 'B': "_BridgeObject",
}

// requirement reads one condition of a signature: what of, and which.
func (d *demangler) requirement() *node {
	c := d.next()
	const base, same, layout, conforms = "cCbB", "tTsS", "mMlL", "pPQ"
	of, relation := byte('g'), " : "
	pos := func(s string) int {
		for i := range len(s) {
			if s[i] == c {
				return i
			}
		}
		return -1
	}
	isLayout, isProtocol := false, false
	kinds := "aAgs" // associated, compound, generic parameter, substitution
	switch {
	case pos(base) >= 0:
		of = kinds[pos(base)]
	case pos(same) >= 0:
		of, relation = kinds[pos(same)], " == "
	case pos(layout) >= 0:
		of, isLayout = kinds[pos(layout)], true
	case pos(conforms) >= 0:
		of, isProtocol = "aAs"[pos(conforms)], true
	default:
		d.at--
		isProtocol = true
	}
	var subject *node
	switch of {
	case 'g':
		subject = d.param()
	case 'a':
		subject = d.remember(d.associated(d.param()))
	case 'A':
		subject = d.remember(d.compound(d.param()))
	case 's':
		subject = d.popType()
	}
	var object *node
	switch {
	case isLayout:
		name := layouts[d.next()]
		if name == "" {
			fail()
		}
		object = d.make(kBuiltin, name)
	case isProtocol:
		object = d.protocol()
	default:
		object = d.popType()
	}
	if relation == " : " {
		relation = ": "
	}
	return d.make(kRequirement, relation, subject, object)
}

// associated makes a member type; without a parameter its base is a type.
func (d *demangler) associated(base *node) *node {
	name := d.associatedName()
	if base == nil {
		base = d.popType()
	}
	return d.make(kMember, "", base, name)
}

func (d *demangler) compound(base *node) *node {
	var names []*node
	for first := false; !first; {
		first = d.pop(kFirst) != nil
		names = append(names, d.associatedName())
	}
	if base == nil {
		base = d.popType()
	}
	for _, n := range slices.Backward(names) {
		base = d.make(kMember, "", base, n)
	}
	return base
}

func (d *demangler) associatedName() *node {
	d.pop(kProtocol)
	return d.must(d.pop(kIdentifier))
}

func (d *demangler) archetype() *node {
	switch d.next() {
	case 'a':
		id := d.must(d.pop(kIdentifier))
		return d.make(kMember, "", d.popType(), id)
	case 'x':
		return d.remember(d.associated(nil))
	case 'X':
		return d.remember(d.compound(nil))
	case 'y':
		return d.remember(d.associated(d.param()))
	case 'Y':
		return d.remember(d.compound(d.param()))
	case 'z':
		return d.remember(d.associated(d.make(kParam, paramName(0, 0))))
	case 'Z':
		return d.remember(d.compound(d.make(kParam, paramName(0, 0))))
	case 'r':
		return d.make(kReturned, "some")
	case 'R':
		d.number()
		return d.make(kReturned, "some")
	case 'O':
		return d.make(kDeclared, "opaque return type of ", d.context())
	case 'o':
		d.number()
		for d.pop(kRetroactive) != nil {
		}
		for d.pop(kEmptyList) == nil {
			if d.popIf(isType) == nil && d.pop(kFirst) == nil {
				fail()
			}
		}
		of := d.must(d.pop(kDeclared))
		return d.make(kOpaque, "some type of ", of.child(0))
	}
	fail()
	return nil
}

func (d *demangler) special() *node {
	switch d.next() {
	case 'E':
		return d.functionType("")
	case 'A':
		return d.functionType("@autoclosure ")
	case 'K':
		return d.functionType("@autoclosure ")
	case 'f':
		return d.functionType("@convention(thin) ")
	case 'U':
		return d.functionType("")
	case 'B', 'L':
		return d.functionType("@convention(block) ")
	case 'C':
		return d.functionType("@convention(c) ")
	case 'o':
		return d.make(kWrapped, "unowned ", d.popType())
	case 'u':
		return d.make(kWrapped, "unowned(unsafe) ", d.popType())
	case 'w':
		return d.make(kWrapped, "weak ", d.popType())
	case 'b':
		return d.make(kBox, "", d.popType())
	case 'D':
		return d.make(kSelf, "Self", d.popType())
	case 'M':
		return d.make(kWrapped, d.representation(), d.make(kMetatype, "", d.popType()))
	case 'm':
		return d.make(kWrapped, d.representation(), d.make(kExistentialMetatype, "", d.popType()))
	case 'p':
		return d.make(kExistentialMetatype, "", d.popType())
	case 'c':
		class := d.popType()
		return d.make(kProtocols, "", d.protocolList(), class)
	case 'l':
		return d.make(kProtocols, "", d.protocolList(), d.make(kBuiltin, "Swift.AnyObject"))
	case 'e':
		return d.make(kBuiltin, "<ERROR TYPE>")
	case 'S':
		switch d.next() {
		case 'q':
			return d.boundTo("Optional", kEnum, d.popType())
		case 'a':
			return d.boundTo("Array", kStruct, d.popType())
		case 'D':
			v := d.popType()
			return d.boundTo("Dictionary", kStruct, d.popType(), v)
		case 'p':
			return d.make(kWrapped, "", d.popType())
		}
	}
	fail()
	return nil
}

func (d *demangler) representation() string {
	s := map[byte]string{'t': "@thin ", 'T': "@thick ", 'o': "@objc_metatype "}[d.next()]
	if s == "" {
		fail()
	}
	return s
}

func (d *demangler) annotation() *node {
	switch d.next() {
	case 'a':
		return d.make(kAsync, "async")
	case 'b':
		return d.make(kSendable, "@Sendable ")
	case 'c':
		return d.make(kActor, "@", d.popType())
	case 'A':
		return d.make(kActor, "@isolated(any) ")
	case 'T':
		return d.make(kFunctionFlag, "sending ")
	case 'K':
		return d.make(kThrows, "throws", d.popType())
	case 't':
		return d.make(kWrapped, "_const ", d.popType())
	case 'i':
		return d.make(kWrapped, "isolated ", d.popType())
	case 'u':
		return d.make(kWrapped, "sending ", d.popType())
	case 'k':
		return d.make(kWrapped, "@noDerivative ", d.popType())
	case 'j':
		word := map[byte]string{'d': "@differentiable ", 'l': "@differentiable(_linear) ", 'f': "@differentiable(_forward) ", 'r': "@differentiable(reverse) "}[d.next()]
		if word == "" {
			fail()
		}
		return d.make(kActor, word)
	}
	fail()
	return nil
}

// Conventions of lowered functions.
var (
	implCallee = map[byte]string{'y': "@callee_unowned ", 'g': "@callee_guaranteed ", 'x': "@callee_owned ", 't': "@convention(thin) "}
	implParams = map[byte]string{
		'i': "@in", 'c': "@in_constant", 'l': "@inout", 'b': "@inout_aliasable", 'n': "@in_guaranteed", 'x': "@owned",
		'g': "@guaranteed", 'e': "@deallocating", 'y': "@unowned", 'v': "@pack_owned", 'p': "@pack_guaranteed", 'm': "@pack_inout",
	}
	implResults = map[byte]string{
		'r': "@out", 'o': "@owned", 'd': "@unowned", 'u': "@unowned_inner_pointer", 'a': "@autoreleased", 'k': "@pack_out",
	}
)

// implFunction is a function as the compiler lowers it.
func (d *demangler) implFunction() *node {
	sig := d.pop(kSignature)
	if sig != nil {
		d.eat('P')
	}
	n := d.make(kImplFunction, "")
	if d.eat('e') {
		n.text = "@escaping "
	}
	if d.eat('A') {
		n.text += "@isolated(any) "
	}
	callee := implCallee[d.next()]
	if callee == "" {
		fail()
	}
	n.text += callee
	switch {
	case d.eat('B'):
		n.text += "@convention(block) "
	case d.eat('C'):
		n.text += "@convention(c) "
	case d.eat('M'):
		n.text += "@convention(method) "
	case d.eat('W'):
		n.text += "@convention(witness_method) "
	}
	switch {
	case d.eat('A'):
		n.text += "@yield_once "
	case d.eat('G'):
		n.text += "@yield_many "
	}
	if d.eat('h') {
		n.text += "@Sendable "
	}
	if d.eat('H') {
		n.text += "@async "
	}
	parts := func(role int, words map[byte]string) {
		for words[d.peek()] != "" {
			p := d.make(kImplPart, words[d.next()], nil)
			p.index = role
			n.children = append(n.children, p)
		}
	}
	parts(0, implParams)
	parts(1, implResults)
	for d.eat('Y') {
		p := d.make(kImplPart, "@yields "+implParams[d.next()], nil)
		p.index = 1
		n.children = append(n.children, p)
	}
	if d.eat('z') {
		w := implResults[d.next()]
		if w == "" {
			fail()
		}
		p := d.make(kImplPart, "@error "+w, nil)
		p.index = 1
		n.children = append(n.children, p)
	}
	if !d.eat('_') {
		fail()
	}
	for _, p := range slices.Backward(n.children) {
		p.children[0] = d.popType()
	}
	if sig != nil {
		n.children = append(n.children, sig)
	}
	return n
}
