package swiftname

import (
	"strconv"
	"strings"
)

// typing says how the type of an entity follows its name.
type typing int

const (
	noType     typing = iota
	withColon         // name : type
	asFunction        // name(parameters) -> result
)

// declaration writes an entity that has a type.
func (p *printer) declaration(n *node, prefix bool) *node {
	switch n.kind {
	case kFunction:
		return p.entity(n, prefix, asFunction, "", "")
	case kVariable:
		return p.entity(n, prefix, withColon, "", "")
	case kSubscript:
		return p.entity(n, prefix, withColon, "subscript", "")
	case kAccessor:
		storage := n.child(0)
		name := ""
		if storage.kind == kSubscript {
			name = "subscript"
		}
		return p.entity(storage, prefix, withColon, name, n.text)
	case kAllocator:
		name := "init"
		if c := n.child(0); c.kind == kClass || c.kind == kBound && c.child(0).kind == kClass {
			name = "__allocating_init"
		}
		return p.entity(n, prefix, asFunction, name, "")
	case kConstructor:
		return p.entity(n, prefix, asFunction, "init", "")
	case kDeallocator:
		name := "deinit"
		if n.child(0).kind == kClass {
			name = "__deallocating_deinit"
		}
		if n.text != "" {
			name = "__isolated_deallocating_deinit"
		}
		return p.entity(n, prefix, noType, name, "")
	case kDestructor:
		return p.entity(n, prefix, noType, "deinit", "")
	case kSimpleEntity:
		return p.entity(n, prefix, noType, n.text, "")
	}
	return p.entity(n, prefix, asFunction, "", n.text+strconv.Itoa(n.index)) // a closure
}

// entity writes context, name and type. name replaces the entity's own; extra
// follows it. A name of several words, as closures and local functions have,
// comes before its context: "closure #1 () -> () in f() -> ()".
func (p *printer) entity(n *node, prefix bool, t typing, name, extra string) *node {
	own := n.child(1)
	words := strings.Contains(extra, " ") || own != nil && own.kind == kLocalName
	if prefix && (t != noType || words) {
		return n
	}
	var after *node
	context := n.child(0)
	if words {
		after = context
	} else {
		at := p.out.Len()
		after = p.context(context, true)
		if p.out.Len() != at {
			p.put(".")
		}
	}
	at := p.out.Len()
	switch {
	case name != "":
		p.put(name)
	case own != nil && n.kind != kSubscript:
		p.print(own)
	}
	if name != "" && own != nil && own.kind == kPrivateName {
		p.print(own)
	}
	if extra != "" {
		if p.out.Len() != at {
			p.put(".")
		}
		p.put(extra)
	}
	if t != noType {
		p.entityType(n, t, words)
	}
	if after != nil && !prefix {
		p.put(" in ")
		p.print(after)
		after = nil
	}
	return after
}

// entityType writes " : type", or the type right after the name of a function.
func (p *printer) entityType(n *node, t typing, words bool) {
	typ, labels := n.child(3), n.child(2)
	if typ == nil {
		return
	}
	switch {
	case t == withColon:
		p.put(" : ")
	case words:
		p.put(" ")
	}
	if typ.kind == kGeneric {
		p.signature(typ.child(0))
		typ = typ.child(1)
		if typ.kind != kFunctionType {
			p.put(" ")
		}
	}
	if typ.kind == kFunctionType {
		p.functionType(typ, labels)
		return
	}
	p.print(typ)
}
