package objc

import (
	"cmp"
	"slices"
	"strings"
)

// Flags of a class's read-only data.
const (
	roMeta  = 1 << 0
	roRoot  = 1 << 1
	roARC   = 1 << 7
	dataLow = 7 // low bits of the data pointer are flags
)

// objectiveC reads the lists that the runtime registers.
func (r *reader) objectiveC() {
	if len(r.sections("__module_info")) > 0 && r.size == 4 {
		r.note("metadata of the first Objective-C runtime is not read")
	}
	seen := map[uint64]bool{}
	r.pointerList(func(addr uint64) {
		if p, _ := r.pointer(addr); p != 0 && !seen[p] {
			seen[p] = true
			if proto, ok := r.protocol(p); ok {
				r.m.Protocols = append(r.m.Protocols, proto)
			}
		}
	}, "__objc_protolist")
	r.pointerList(func(addr uint64) {
		if p, _ := r.pointer(addr); p != 0 && !seen[p] {
			seen[p] = true
			if c, ok := r.class(p); ok {
				r.m.Classes = append(r.m.Classes, c)
			}
		}
	}, "__objc_classlist", "__objc_nlclslist")
	r.pointerList(func(addr uint64) {
		if p, _ := r.pointer(addr); p != 0 && !seen[p] {
			seen[p] = true
			if c, ok := r.category(p); ok {
				r.m.Categories = append(r.m.Categories, c)
			}
		}
	}, "__objc_catlist", "__objc_nlcatlist", "__objc_catlist2")
	r.pointerList(func(addr uint64) {
		if name := r.pointed(addr); name != "" {
			r.m.Selectors = append(r.m.Selectors, Reference{addr, name})
		}
	}, "__objc_selrefs")
	r.pointerList(func(addr uint64) {
		if name := r.className(addr); name != "" {
			r.m.ClassRefs = append(r.m.ClassRefs, Reference{addr, name})
		}
	}, "__objc_classrefs", "__objc_superrefs")
	r.messageStubs()
	slices.SortFunc(r.m.Classes, func(a, b Class) int { return cmp.Compare(a.Addr, b.Addr) })
	slices.SortFunc(r.m.Categories, func(a, b Category) int { return cmp.Compare(a.Addr, b.Addr) })
	slices.SortFunc(r.m.Protocols, func(a, b Protocol) int { return cmp.Compare(a.Addr, b.Addr) })
	slices.SortFunc(r.m.Selectors, func(a, b Reference) int { return cmp.Compare(a.Addr, b.Addr) })
	slices.SortFunc(r.m.ClassRefs, func(a, b Reference) int { return cmp.Compare(a.Addr, b.Addr) })
}

// symbolClass is the class that a class symbol stands for.
func symbolClass(symbol string) string {
	for _, prefix := range []string{"_OBJC_CLASS_$_", "_OBJC_METACLASS_$_", ".objc_class_name_"} {
		if name, ok := strings.CutPrefix(symbol, prefix); ok {
			return name
		}
	}
	return symbol
}

// className names the class that the pointer at addr leads to.
func (r *reader) className(addr uint64) string {
	p, symbol := r.pointer(addr)
	if p == 0 {
		return symbolClass(symbol)
	}
	ro, ok := r.readOnly(p)
	if !ok {
		return symbolClass(symbol)
	}
	return ro.name
}

// readOnly is the constant part of a class.
type readOnly struct {
	flags, instanceSize                          uint32
	name                                         string
	methods, protocols, ivars, properties, swift uint64
}

// readOnly reads what the class structure at addr points to.
func (r *reader) readOnly(addr uint64) (readOnly, bool) {
	if r.at(addr, 5*r.size) == nil {
		return readOnly{}, false
	}
	data, _ := r.pointer(addr + 4*r.size)
	ro := readOnly{swift: data & 3}
	data &^= dataLow
	lists := data + 12 // flags, instance start, instance size
	if r.size == 8 {
		lists = data + 16 // and padding
	}
	b := r.at(data, lists-data+7*r.size)
	if data == 0 || b == nil {
		return ro, false
	}
	ro.flags, ro.instanceSize = r.order.Uint32(b), r.order.Uint32(b[8:])
	field := func(i uint64) uint64 { return lists + i*r.size }
	ro.name = r.pointed(field(1))
	ro.methods, _ = r.pointer(field(2))
	ro.protocols, _ = r.pointer(field(3))
	ro.ivars, _ = r.pointer(field(4))
	ro.properties, _ = r.pointer(field(6))
	return ro, ro.name != ""
}

func (r *reader) class(addr uint64) (Class, bool) {
	ro, ok := r.readOnly(addr)
	if !ok {
		r.note("the class at %#x can't be read", addr)
		return Class{}, false
	}
	c := Class{
		Name: ro.name, SwiftName: oldSwiftName(ro.name), Addr: addr, Root: ro.flags&roRoot != 0, Swift: ro.swift != 0,
		ARC: ro.flags&roARC != 0, InstanceSize: ro.instanceSize,
	}
	c.Super = r.className(addr + r.size)
	c.SuperAddr, _ = r.pointer(addr + r.size)
	c.Methods = r.methods(ro.methods, false)
	c.Protocols = r.protocolNames(ro.protocols)
	c.Ivars = r.ivars(ro.ivars)
	c.Properties = r.properties(ro.properties)
	c.Metaclass, _ = r.pointer(addr)
	if meta, ok := r.readOnly(c.Metaclass); ok && c.Metaclass != 0 && meta.flags&roMeta != 0 {
		c.ClassMethods = r.methods(meta.methods, false)
		c.ClassProperties = r.properties(meta.properties)
	}
	return c, true
}

func (r *reader) category(addr uint64) (Category, bool) {
	if r.at(addr, 6*r.size) == nil {
		r.note("the category at %#x can't be read", addr)
		return Category{}, false
	}
	field := func(i uint64) uint64 {
		p, _ := r.pointer(addr + i*r.size)
		return p
	}
	c := Category{Name: r.pointed(addr), Class: r.className(addr + r.size), Addr: addr}
	c.Methods = r.methods(field(2), false)
	c.ClassMethods = r.methods(field(3), false)
	c.Protocols = r.protocolNames(field(4))
	c.Properties = r.properties(field(5))
	// Newer compilers add class properties and then the size of the structure.
	if n, ok := r.u32(addr + 7*r.size); ok && uint64(n) == 7*r.size+8 || ok && uint64(n) == 7*r.size+4 {
		c.ClassProperties = r.properties(field(6))
	}
	return c, c.Name != ""
}

func (r *reader) protocol(addr uint64) (Protocol, bool) {
	if r.at(addr, 8*r.size) == nil {
		r.note("the protocol at %#x can't be read", addr)
		return Protocol{}, false
	}
	field := func(i uint64) uint64 {
		p, _ := r.pointer(addr + i*r.size)
		return p
	}
	p := Protocol{Name: r.protocolName(addr), Addr: addr, Protocols: r.protocolNames(field(2))}
	p.Methods = append(r.methods(field(3), false), r.methods(field(5), true)...)
	p.ClassMethods = append(r.methods(field(4), false), r.methods(field(6), true)...)
	p.Properties = r.properties(field(7))
	return p, p.Name != ""
}

func (r *reader) protocolName(addr uint64) string {
	if name, ok := r.protos[addr]; ok {
		return name
	}
	name := r.pointed(addr + r.size)
	if swift := oldSwiftName(name); swift != "" {
		name = swift
	}
	r.protos[addr] = name
	return name
}

// protocolNames reads a counted list of protocols.
func (r *reader) protocolNames(addr uint64) []string {
	b := r.at(addr, r.size)
	if addr == 0 || b == nil {
		return nil
	}
	n := uint64(r.order.Uint32(b))
	if r.size == 8 {
		n = r.order.Uint64(b)
	}
	if n > uint64(r.budget) || r.at(addr+r.size, n*r.size) == nil || !r.spend(int(n)) {
		return nil
	}
	var out []string
	for i := range n {
		p, symbol := r.pointer(addr + (1+i)*r.size)
		name := symbol
		if p != 0 {
			name = r.protocolName(p)
		}
		if name != "" {
			out = append(out, name)
		}
	}
	return out
}
