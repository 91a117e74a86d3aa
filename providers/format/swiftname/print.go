package swiftname

import (
	"strconv"
	"strings"
)

// printer writes nodes as declarations with full types.
type printer struct {
	out   strings.Builder
	depth int
}

func (p *printer) put(parts ...string) {
	for _, s := range parts {
		if p.out.Len()+len(s) > maxOutput {
			fail()
		}
		p.out.WriteString(s)
	}
}

func (p *printer) list(nodes []*node, between string) {
	for i, n := range nodes {
		if i > 0 {
			p.put(between)
		}
		p.print(n)
	}
}

func (p *printer) print(n *node) {
	if left := p.context(n, false); left != nil {
		fail()
	}
}

// context writes a node. As a prefix of a name, what has more than one word
// can't be written: then it is returned, to follow the name.
func (p *printer) context(n *node, prefix bool) *node {
	if p.depth++; p.depth > maxDepth || n == nil {
		fail()
	}
	defer func() { p.depth-- }()
	switch n.kind {
	case kIdentifier, kModule, kOperator, kBuiltin, kParam, kText, kFirst:
		p.put(n.text)
	case kReturned:
		p.put("some")
	case kPrivateName:
		if len(n.children) > 1 {
			p.put("(")
			p.print(n.child(1))
			p.put(" in ", n.child(0).text, ")")
		} else {
			p.put("(in ", n.child(0).text, ")")
		}
	case kLocalName:
		p.print(n.child(0))
		p.put(" #", strconv.Itoa(n.index+1))
	case kRelatedName:
		p.put("related decl '", n.text, "' for ")
		p.print(n.child(0))
	case kClass, kStruct, kEnum, kProtocol, kAlias, kOtherNominal:
		return p.entity(n, prefix, noType, "", "")
	case kFunction, kVariable, kSubscript, kAllocator, kConstructor, kDeallocator, kDestructor, kSimpleEntity, kClosure, kAccessor:
		return p.declaration(n, prefix)
	case kInitializer:
		if prefix {
			return n
		}
		p.put(n.text)
		p.print(n.child(0))
	case kDefaultArgument:
		if prefix {
			return n
		}
		p.put("default argument ", strconv.Itoa(n.index), " of ")
		p.print(n.child(0))
	case kStatic:
		if prefix {
			return n
		}
		p.put(n.text)
		p.print(n.child(0))
	case kExtension:
		p.put("(extension in ")
		p.print(n.child(0))
		p.put("):")
		p.print(n.child(1))
		if sig := n.find(kSignature); sig != nil {
			p.signature(sig)
		}
	case kDeclared, kAttribute, kWrapped, kOpaque:
		p.put(n.text)
		p.list(n.children, "")
	case kSequence:
		p.list(n.children, "")
	case kConformance:
		p.print(n.child(0))
		p.put(" : ")
		p.print(n.child(1))
		p.put(" in ")
		p.print(n.child(2))
	case kSignature:
		p.signature(n)
	case kRequirement:
		p.print(n.child(0))
		p.put(n.text)
		p.print(n.child(1))
	default:
		p.typ(n)
	}
	return nil
}

func (p *printer) typ(n *node) {
	switch n.kind {
	case kBound:
		p.bound(n)
	case kFunctionType:
		p.functionType(n, nil)
	case kTuple:
		p.put("(")
		for i, e := range n.children {
			if i > 0 {
				p.put(", ")
			}
			if e.text != "" {
				p.put(e.text, ": ")
			}
			p.element(e)
		}
		p.put(")")
	case kMetatype:
		p.print(n.child(0))
		if n.child(0).kind == kProtocols || n.child(0).kind == kProtocol {
			p.put(".Protocol")
		} else {
			p.put(".Type")
		}
	case kExistentialMetatype:
		p.print(n.child(0))
		p.put(".Type")
	case kProtocols:
		p.protocols(n)
	case kMember:
		p.print(n.child(0))
		p.put(".")
		p.print(n.child(1))
	case kGeneric:
		p.print(n.child(0))
		if n.child(1).kind != kFunctionType {
			p.put(" ")
		}
		p.print(n.child(1))
	case kSelf:
		p.put("Self")
	case kBox:
		p.put("@box ")
		p.print(n.child(0))
	case kImplFunction:
		p.implFunction(n)
	case kThrows, kAsync, kSendable, kActor, kFunctionFlag, kEmptyList, kVariadic:
		fail()
	default:
		fail()
	}
}

func (p *printer) element(e *node) {
	p.print(e.child(0))
	if e.index == 1 {
		p.put("...")
	}
}

func (p *printer) protocols(n *node) {
	first := true
	if class := n.child(1); class != nil {
		p.print(class)
		first = false
	}
	for _, t := range n.child(0).children {
		if !first {
			p.put(" & ")
		}
		first = false
		p.print(t)
	}
	if first {
		p.put("Any")
	}
}

// bound writes optionals, arrays and dictionaries as one writes them.
func (p *printer) bound(n *node) {
	nominal := n.child(0)
	if name := nominal.child(1); name != nil && nominal.child(0).text == "Swift" && len(n.children) == 2 {
		args := n.child(1).children
		switch {
		case name.text == "Optional" && len(args) == 1:
			needs := args[0].kind == kFunctionType || args[0].kind == kImplFunction
			if needs {
				p.put("(")
			}
			p.print(args[0])
			if needs {
				p.put(")")
			}
			p.put("?")
			return
		case name.text == "Array" && len(args) == 1:
			p.put("[")
			p.print(args[0])
			p.put("]")
			return
		case name.text == "Dictionary" && len(args) == 2:
			p.put("[")
			p.print(args[0])
			p.put(" : ")
			p.print(args[1])
			p.put("]")
			return
		}
	}
	p.boundLevel(nominal, n.children[1:])
}

// boundLevel writes a type and those around it, each with its arguments.
func (p *printer) boundLevel(nominal *node, levels []*node) {
	if p.depth++; p.depth > maxDepth {
		fail()
	}
	defer func() { p.depth-- }()
	if len(levels) == 0 || !isNominal(nominal.kind) {
		p.print(nominal)
		return
	}
	outer := nominal.child(0)
	if len(levels) > 1 && isNominal(outer.kind) {
		p.boundLevel(outer, levels[1:])
		p.put(".")
		p.print(nominal.child(1))
	} else {
		p.print(nominal)
	}
	if args := levels[0].children; len(args) > 0 {
		p.put("<")
		p.list(args, ", ")
		p.put(">")
	}
}

// functionType writes parameters with labels, markers and the result.
func (p *printer) functionType(n, labels *node) {
	for _, m := range n.children[2:] {
		switch {
		case m.kind == kActor && len(m.children) > 0:
			p.put("@")
			p.print(m.child(0))
			p.put(" ")
		case m.kind == kActor || m.kind == kSendable:
			p.put(m.text)
		}
	}
	p.put(n.text)
	p.params(n.child(0), labels)
	if n.find(kAsync) != nil {
		p.put(" async")
	}
	if t := n.find(kThrows); t != nil {
		p.put(" throws")
		if len(t.children) > 0 {
			p.put("(")
			p.print(t.child(0))
			p.put(")")
		}
	}
	p.put(" -> ")
	if f := n.find(kFunctionFlag); f != nil {
		p.put(f.text)
	}
	p.print(n.child(1))
}

func (p *printer) params(t, labels *node) {
	label := func(i int) {
		if labels != nil && len(labels.children) > 0 {
			if i >= len(labels.children) {
				fail()
			}
			p.put(labels.children[i].text, ": ")
		}
	}
	if t.kind != kTuple {
		p.put("(")
		label(0)
		p.print(t)
		p.put(")")
		return
	}
	p.put("(")
	for i, e := range t.children {
		if i > 0 {
			p.put(", ")
		}
		label(i)
		if (labels == nil || len(labels.children) == 0) && e.text != "" {
			p.put(e.text, ": ")
		}
		p.element(e)
	}
	p.put(")")
}

func (p *printer) implFunction(n *node) {
	p.put(n.text)
	if sig := n.find(kSignature); sig != nil {
		p.signature(sig)
		p.put(" ")
	}
	for role, between := range []string{"", " -> "} {
		p.put(between, "(")
		first := true
		for _, part := range n.children {
			if part.kind != kImplPart || part.index != role {
				continue
			}
			if !first {
				p.put(", ")
			}
			first = false
			p.put(part.text, " ")
			p.print(part.child(0))
		}
		p.put(")")
	}
}

func (p *printer) signature(n *node) {
	p.put("<")
	level, conditions := 0, 0
	for _, c := range n.children {
		if c.kind == kList {
			if level > 0 {
				p.put("><")
			}
			p.list(c.children, ", ")
			level++
			continue
		}
		if conditions == 0 {
			p.put(" where ")
		} else {
			p.put(", ")
		}
		p.print(c)
		conditions++
	}
	p.put(">")
}
