package swiftname

import (
	"slices"
	"strconv"
)

func (d *demangler) extension() *node {
	sig := d.pop(kSignature)
	module := d.module()
	t := d.must(d.popIf(func(k kind) bool { return isNominal(k) || k == kBound }))
	n := d.make(kExtension, "", module, t)
	if sig != nil {
		n.children = append(n.children, sig)
	}
	return n
}

// An entity's children are its context, its name, its labels and its type; any
// but the context may be nil.

func (d *demangler) function() *node {
	sig := d.pop(kSignature)
	t := d.functionType("")
	labels := d.labels(t)
	if sig != nil {
		t = d.make(kGeneric, "", sig, t)
	}
	name := d.must(d.popIf(isName))
	return d.make(kFunction, "", d.context(), name, labels, t)
}

func (d *demangler) variable() *node {
	t := d.popType()
	labels := d.labels(t)
	name := d.must(d.popIf(isName))
	return d.make(kVariable, "", d.context(), name, labels, t)
}

func (d *demangler) subscript() *node {
	private := d.pop(kPrivateName)
	t := d.popType()
	labels := d.labels(t)
	return d.accessor(d.make(kSubscript, "", d.context(), private, labels, t))
}

var accessors = map[byte]string{
	'm': "materializeForSet", 's': "setter", 'g': "getter", 'G': "getter", 'w': "willset", 'W': "didset", 'r': "read",
	'M': "modify", 'i': "init", 'x': "modify2", 'y': "read2",
}

// accessor reads which accessor of a storage is meant, p for the storage.
func (d *demangler) accessor(storage *node) *node {
	c := d.next()
	switch c {
	case 'p':
		return storage
	case 'a', 'l':
		word := map[string]string{
			"aO": "owningMutableAddressor", "ao": "nativeOwningMutableAddressor", "aP": "nativePinningMutableAddressor",
			"au": "unsafeMutableAddressor", "lO": "owningAddressor", "lo": "nativeOwningAddressor",
			"lp": "nativePinningAddressor", "lu": "unsafeAddressor",
		}[string([]byte{c, d.next()})]
		if word == "" {
			fail()
		}
		return d.make(kAccessor, word, storage)
	}
	word := accessors[c]
	if word == "" {
		fail()
	}
	return d.make(kAccessor, word, storage)
}

func (d *demangler) functionEntity() *node {
	switch c := d.next(); c {
	case 'D':
		return d.make(kDeallocator, "", d.context())
	case 'Z':
		return d.make(kDeallocator, "isolated", d.context())
	case 'd':
		return d.make(kDestructor, "", d.context())
	case 'E':
		return d.make(kSimpleEntity, "__ivar_destroyer", d.context())
	case 'e':
		return d.make(kSimpleEntity, "__ivar_initializer", d.context())
	case 'i':
		return d.make(kInitializer, "variable initialization expression of ", d.context())
	case 'P':
		return d.make(kInitializer, "property wrapper backing initializer of ", d.context())
	case 'W':
		return d.make(kInitializer, "property wrapper init from projected value of ", d.context())
	case 'A':
		n := d.make(kDefaultArgument, "")
		n.index = d.number()
		n.children = []*node{d.context()}
		return n
	case 'C', 'c':
		k := kAllocator
		if c == 'c' {
			k = kConstructor
		}
		private := d.pop(kPrivateName)
		t := d.popType()
		labels := d.labels(t)
		return d.make(k, "", d.context(), private, labels, t)
	case 'U', 'u':
		n := d.make(kClosure, "closure #")
		if c == 'u' {
			n.text = "implicit closure #"
		}
		n.index = d.number() + 1
		t := d.popType()
		n.children = []*node{d.context(), nil, nil, t}
		return n
	}
	fail()
	return nil
}

// conformance takes a type, a protocol and the module that joins them.
func (d *demangler) conformance() *node {
	sig := d.pop(kSignature)
	module := d.module()
	protocol := d.protocol()
	t := d.popType()
	if sig != nil {
		t = d.make(kGeneric, "", sig, t)
	}
	return d.make(kConformance, "", t, protocol, module)
}

func (d *demangler) retroactive() *node {
	d.number()
	if d.pop(kConformance) == nil {
		d.conformance()
	}
	return d.make(kRetroactive, "")
}

var metadataWords = map[byte]string{
	'a': "type metadata accessor for ", 'b': "canonical specialized generic type metadata accessor for ",
	'D': "demangling cache variable for type metadata for ", 'f': "full type metadata for ",
	'i': "type metadata instantiation function for ", 'I': "type metadata instantiation cache for ",
	'l': "type metadata singleton initialization cache for ", 'L': "lazy cache variable for type metadata for ",
	'm': "metaclass for ", 'M': "canonical specialized generic type metadata accessor for ", 'n': "nominal type descriptor for ",
	'o': "class metadata base offset for ", 'p': "protocol descriptor for ", 'P': "generic type metadata pattern for ",
	'r': "type metadata completion function for ", 's': "ObjC resilient class stub for ",
	't': "full ObjC resilient class stub for ", 'u': "method lookup function for ", 'U': "ObjC metadata update function for ",
	'A': "reflection metadata associated type descriptor ", 'B': "reflection metadata builtin descriptor ",
	'C': "reflection metadata superclass descriptor ", 'F': "reflection metadata field descriptor ",
	'S': "protocol self-conformance descriptor for ", 'N': "noncanonical specialized generic type metadata for ",
	'z': "flag for loading of canonical specialized generic type metadata for ",
}

func (d *demangler) metadata() *node {
	c := d.next()
	switch c {
	case 'c':
		return d.make(kDeclared, "protocol conformance descriptor for ", d.conformance())
	case 'V':
		return d.make(kDeclared, "property descriptor for ", d.must(d.popIf(isEntity)))
	case 'Q':
		return d.make(kDeclared, "opaque type descriptor for ", d.must(d.popIf(isEntity)))
	case 'p':
		return d.make(kDeclared, metadataWords[c], d.protocol())
	case 'X':
		word := map[byte]string{'M': "module descriptor ", 'X': "anonymous descriptor ", 'E': "extension descriptor "}[d.next()]
		if word == "" {
			fail()
		}
		return d.make(kDeclared, word, d.context())
	case 'A':
		if d.top() != nil && !isType(d.top().kind) {
			return d.make(kDeclared, metadataWords[c], d.conformance())
		}
	}
	word := metadataWords[c]
	if word == "" {
		fail()
	}
	return d.make(kDeclared, word, d.popType())
}

func (d *demangler) witness() *node {
	join := func(first string, a *node, middle string, b *node) *node {
		return d.make(kDeclared, first, d.make(kSequence, "", a, d.make(kText, middle), b))
	}
	switch c := d.next(); c {
	case 'V':
		return d.make(kDeclared, "value witness table for ", d.popType())
	case 'v':
		word := map[byte]string{'d': "direct field offset for ", 'i': "indirect field offset for "}[d.next()]
		if word == "" {
			fail()
		}
		return d.make(kDeclared, word, d.must(d.popIf(isEntity)))
	case 'P':
		return d.make(kDeclared, "protocol witness table for ", d.conformance())
	case 'p':
		return d.make(kDeclared, "protocol witness table pattern for ", d.conformance())
	case 'G':
		return d.make(kDeclared, "generic protocol witness table for ", d.conformance())
	case 'I':
		return d.make(kDeclared, "instantiation function for generic protocol witness table for ", d.conformance())
	case 'r':
		return d.make(kDeclared, "resilient protocol witness table for ", d.conformance())
	case 'a':
		return d.make(kDeclared, "protocol witness table accessor for ", d.conformance())
	case 'l', 'L':
		conf := d.conformance()
		word := "lazy protocol witness table accessor for type "
		if c == 'L' {
			word = "lazy protocol witness table cache variable for type "
		}
		return join(word, d.popType(), " and conformance ", conf)
	case 't':
		name := d.must(d.popIf(isName))
		return join("associated type metadata accessor for ", name, " in ", d.conformance())
	case 'b':
		protocol := d.protocol()
		return join("base witness table accessor for ", protocol, " in ", d.conformance())
	case 'Z', 'z':
		word := "one-time initialization function for "
		if c == 'z' {
			word = "one-time initialization token for "
		}
		names := d.make(kSequence, "")
		for d.pop(kFirst) != nil {
			if len(names.children) > 0 {
				names.children = append(names.children, d.make(kText, ", "))
			}
			names.children = append(names.children, d.must(d.popIf(isName)))
		}
		d.context()
		slices.Reverse(names.children)
		return d.make(kDeclared, word, names)
	case 'O':
		word := map[byte]string{
			'y': "outlined copy of ", 'e': "outlined consume of ", 'r': "outlined retain of ", 's': "outlined release of ",
			'b': "outlined init with take of ", 'c': "outlined init with copy of ", 'd': "outlined assign with take of ",
			'f': "outlined assign with copy of ", 'h': "outlined destroy of ", 'g': "outlined enum get tag of ",
			'i': "outlined enum tag store of ", 'j': "outlined enum project data for load of ",
		}[d.next()]
		if word == "" {
			fail()
		}
		d.pop(kSignature)
		return d.make(kDeclared, word, d.popType())
	}
	fail()
	return nil
}

var valueWitnesses = map[string]string{
	"al": "allocateBuffer", "ca": "assignWithCopy", "ta": "assignWithTake", "de": "deallocateBuffer", "xx": "destroy",
	"XX": "destroyBuffer", "Xx": "destroyArray", "CP": "initializeBufferWithCopyOfBuffer", "Cp": "initializeBufferWithCopy",
	"cp": "initializeWithCopy", "TK": "initializeBufferWithTakeOfBuffer", "Tk": "initializeBufferWithTake",
	"tk": "initializeWithTake", "pr": "projectBuffer", "Cc": "initializeArrayWithCopy", "Tt": "initializeArrayWithTakeFrontToBack",
	"tT": "initializeArrayWithTakeBackToFront", "xs": "storeExtraInhabitant", "xg": "getExtraInhabitantIndex",
	"ug": "getEnumTag", "up": "destructiveProjectEnumData", "ui": "destructiveInjectEnumTag",
	"et": "getEnumTagSinglePayload", "st": "storeEnumTagSinglePayload",
}

func (d *demangler) valueWitness() *node {
	word := valueWitnesses[string([]byte{d.next(), d.next()})]
	if word == "" {
		fail()
	}
	return d.make(kDeclared, word+" value witness for ", d.popType())
}

var attributes = map[byte]string{
	'o': "@objc ", 'O': "@nonobjc ", 'D': "dynamic ", 'd': "super ", 'a': "partial apply ObjC forwarder for ",
	'A': "partial apply forwarder for ", 'm': "merged ", 'E': "distributed thunk ", 'F': "distributed accessor for ",
	'X': "dynamically replaceable variable for ", 'x': "dynamically replaceable key for ",
	'I': "dynamically replaceable thunk for ", 'u': "async function pointer to ",
}

var entityThunks = map[byte]string{'c': "curry thunk of ", 'j': "dispatch thunk of ", 'q': "method descriptor for "}

// thunk reads what a compiler-made function does for the entity before it.
func (d *demangler) thunk() *node {
	c := d.next()
	if word := attributes[c]; word != "" {
		return d.make(kAttribute, word)
	}
	if word := entityThunks[c]; word != "" {
		return d.make(kDeclared, word, d.must(d.popIf(isEntity)))
	}
	join := func(first string, a *node, middle string, b *node) *node {
		return d.make(kDeclared, first, d.make(kSequence, "", a, d.make(kText, middle), b))
	}
	switch c {
	case 'Y':
		return d.make(kAttribute, "("+strconv.Itoa(d.number())+") suspend resume partial function for ")
	case 'Q':
		return d.make(kAttribute, "("+strconv.Itoa(d.number())+") await resume partial function for ")
	case 'v':
		return d.make(kAttribute, "outlined variable #"+strconv.Itoa(d.number())+" of ")
	case 'V':
		base := d.must(d.popIf(isEntity))
		return join("vtable thunk for ", base, " dispatching to ", d.must(d.popIf(isEntity)))
	case 'W':
		entity := d.must(d.popIf(isEntity))
		return join("protocol witness for ", entity, " in conformance ", d.conformance())
	case 'S':
		entity := d.must(d.popIf(isEntity))
		return d.make(kDeclared, "protocol self-conformance witness for ", entity)
	case 'l':
		name := d.must(d.popIf(isName))
		return d.make(kDeclared, "associated type descriptor for ", d.make(kMember, "", d.context(), name))
	case 'L':
		return d.make(kDeclared, "protocol requirements base descriptor for ", d.protocol())
	case 'M':
		name := d.must(d.popIf(isName))
		return d.make(kDeclared, "default associated type metadata accessor for ", d.make(kMember, "", d.context(), name))
	case 'b':
		requirement := d.protocol()
		return join("base conformance descriptor for ", d.protocol(), ": ", requirement)
	case 'n':
		requirement := d.protocol()
		path := d.associatedPath()
		of := d.popType()
		return d.make(kDeclared, "associated conformance descriptor for ",
			d.make(kSequence, "", of, d.make(kText, "."), path, d.make(kText, ": "), requirement))
	case 'R', 'r':
		word := "reabstraction thunk helper "
		if c == 'r' {
			word = "reabstraction thunk "
		}
		parts := d.make(kSequence, "")
		if sig := d.pop(kSignature); sig != nil {
			parts.children = append(parts.children, sig, d.make(kText, " "))
		}
		to := d.popType()
		parts.children = append(parts.children, d.make(kText, "from "), d.popType(), d.make(kText, " to "), to)
		return d.make(kDeclared, word, parts)
	case 'g', 'G', 'B', 's', 'i':
		word := map[byte]string{
			'g': "generic specialization", 'G': "generic not re-abstracted specialization",
			'B': "generic specialization", 's': "prespecialized generic specialization",
			'i': "inlined generic function",
		}[c]
		return d.specialization(word)
	}
	fail()
	return nil
}

func (d *demangler) associatedPath() *node {
	var names []*node
	for first := false; !first; {
		first = d.pop(kFirst) != nil
		names = append(names, d.associatedName())
	}
	s := d.make(kSequence, "")
	for _, n := range slices.Backward(names) {
		if len(s.children) > 0 {
			s.children = append(s.children, d.make(kText, "."))
		}
		s.children = append(s.children, n)
	}
	return s
}

// specialization is a copy of a generic function for given types.
func (d *demangler) specialization(word string) *node {
	d.eat('m')
	serialized := d.eat('q')
	d.eat('a')
	if !digit(d.peek()) {
		fail()
	}
	d.next() // the pass that made it
	parts := d.make(kSequence, "")
	if serialized {
		parts.children = append(parts.children, d.make(kText, "serialized"))
	}
	for _, t := range d.typeList() {
		if len(parts.children) > 0 {
			parts.children = append(parts.children, d.make(kText, ", "))
		}
		parts.children = append(parts.children, t)
	}
	return d.make(kAttribute, word+" <", parts, d.make(kText, "> of "))
}
