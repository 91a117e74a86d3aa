package objc

import (
	"cmp"
	"slices"

	"rea/providers/format/object"
)

// SwiftType is a nominal type: a class, struct or enum.
type SwiftType struct {
	Name     string // module-qualified
	Kind     string // "class", "struct", "enum"
	Addr     uint64 // of its context descriptor
	Generic  bool
	Super    string // of a class
	Accessor uint64 // the function that gives the type's metadata
	Fields   []Field
	// Methods are the implementations in a class's virtual table, in order.
	Methods []uint64
}

// Field is a stored property or an enum case.
type Field struct {
	Name string
	// Type is readable where the mangled name is understood, else "".
	Type string
	// Mangled is the type's mangled name with its symbolic references written
	// out; "" for a case without a payload.
	Mangled  string
	Variable bool
	Indirect bool // an indirect enum case
}

// SwiftProtocol is a protocol declared in Swift.
type SwiftProtocol struct {
	Name         string
	Addr         uint64
	Requirements int
	Associated   []string // names of associated types
}

// Conformance says that a type conforms to a protocol.
type Conformance struct {
	Addr           uint64
	Type, Protocol string
	Witness        uint64 // the witness table's pattern, or 0
}

// Kinds of context descriptors.
const (
	contextModule    = 0
	contextExtension = 1
	contextAnonymous = 2
	contextProtocol  = 3
	contextOpaque    = 4
	contextClass     = 16
	contextStruct    = 17
	contextEnum      = 18
)

var kindNames = map[uint32]string{contextClass: "class", contextStruct: "struct", contextEnum: "enum"}

// Context flags.
const (
	contextKindMask   = 0x1f
	contextIsGeneric  = 0x80
	flagVTable        = 1 << 31
	flagResilientBase = 1 << 29
	flagInitShift     = 16 // two bits: how metadata is initialised
)

const maxContextDepth = 32

func (r *reader) swift() {
	r.fields = map[uint64]fieldDescriptor{}
	r.fieldDescriptors()
	seen := map[uint64]bool{}
	r.relativeList(func(at uint64) {
		addr, _ := r.indirectable(at, 3)
		if addr == 0 || seen[addr] {
			return
		}
		seen[addr] = true
		if t, ok := r.swiftType(addr); ok {
			r.m.Types = append(r.m.Types, t)
		}
	}, "__swift5_types", "__swift5_types2", "swift5_type_metadata", ".sw5tymd")
	r.relativeList(func(at uint64) {
		addr, _ := r.indirectable(at, 1)
		if addr == 0 || seen[addr] {
			return
		}
		seen[addr] = true
		if p, ok := r.swiftProtocol(addr); ok {
			r.m.SwiftProtos = append(r.m.SwiftProtos, p)
		}
	}, "__swift5_protos", "swift5_protocols", ".sw5prt")
	r.relativeList(func(at uint64) {
		addr := r.relative(at)
		if addr == 0 || seen[addr] {
			return
		}
		seen[addr] = true
		if c, ok := r.conformance(addr); ok {
			r.m.Conformances = append(r.m.Conformances, c)
		}
	}, "__swift5_proto", "swift5_protocol_conformances", ".sw5prtc")
	slices.SortFunc(r.m.Types, func(a, b SwiftType) int { return cmp.Compare(a.Addr, b.Addr) })
	slices.SortFunc(r.m.SwiftProtos, func(a, b SwiftProtocol) int { return cmp.Compare(a.Addr, b.Addr) })
	slices.SortFunc(r.m.Conformances, func(a, b Conformance) int { return cmp.Compare(a.Addr, b.Addr) })
}

// relativeList visits the address of every 32-bit entry of the named sections.
func (r *reader) relativeList(visit func(addr uint64), names ...string) {
	for _, s := range r.sections(names...) {
		n := min(s.Size, s.FileSize) / 4
		if !r.spend(int(n)) {
			return
		}
		for i := range n {
			visit(s.Addr + 4*i)
		}
	}
}

// indirectable follows a distance whose low bits say how to read it; an odd one
// leads to a pointer, which may be bound to a symbol of another image.
func (r *reader) indirectable(at uint64, mask uint32) (uint64, string) {
	v, ok := r.u32(at)
	if !ok || v == 0 {
		return 0, ""
	}
	addr := at + uint64(int64(int32(v&^mask)))
	if v&1 == 0 {
		return addr, ""
	}
	return r.pointer(addr)
}

// contextName is the qualified name of a context: module, outer types, itself.
// Anonymous contexts (private declarations) add nothing.
func (r *reader) contextName(addr uint64, depth int) string {
	if name, ok := r.contexts[addr]; ok {
		return name
	}
	if addr == 0 || depth > maxContextDepth || !r.spend(1) {
		return ""
	}
	flags, ok := r.u32(addr)
	if !ok {
		return ""
	}
	r.contexts[addr] = "" // a cycle ends here
	parent := func() string {
		p, symbol := r.indirectable(addr+4, 1)
		if p == 0 {
			return symbolContext(symbol)
		}
		return r.contextName(p, depth+1)
	}
	var name string
	switch kind := flags & contextKindMask; kind {
	case contextModule:
		name = r.cstring(r.relative(addr + 8))
	case contextExtension:
		if m := r.mangled(r.relative(addr+8), depth+1); m.ok {
			name = m.readable()
		}
		if name == "" {
			name = parent()
		}
	case contextAnonymous, contextOpaque:
		name = parent()
	case contextProtocol, contextClass, contextStruct, contextEnum:
		own := r.cstring(r.relative(addr + 8))
		if outer := parent(); outer != "" && own != "" {
			name = outer + "." + own
		} else {
			name = own
		}
	}
	r.contexts[addr] = name
	return name
}

func (r *reader) swiftType(addr uint64) (SwiftType, bool) {
	b := r.at(addr, 20)
	if b == nil {
		r.note("the Swift type descriptor at %#x is not in the image", addr)
		return SwiftType{}, false
	}
	flags := r.order.Uint32(b)
	t := SwiftType{Kind: kindNames[flags&contextKindMask], Addr: addr, Generic: flags&contextIsGeneric != 0}
	if t.Kind == "" {
		r.note("the Swift type descriptor at %#x has unknown kind %d", addr, flags&contextKindMask)
		return SwiftType{}, false
	}
	if t.Name = r.contextName(addr, 0); t.Name == "" {
		r.note("the Swift type descriptor at %#x has no name", addr)
		return SwiftType{}, false
	}
	if f := r.relative(addr + 12); r.im.Executable(f) {
		t.Accessor = f
	}
	if d, ok := r.fields[r.relative(addr+16)]; ok {
		t.Fields = d.fields
	}
	if flags&contextKindMask == contextClass {
		if m := r.mangled(r.relative(addr+20), 0); m.ok {
			t.Super = m.readable()
		}
		t.Methods = r.virtualTable(addr, flags)
	}
	return t, true
}

// virtualTable reads the implementations that a class descriptor lists after
// its fixed part and what generics and initialisation put in between.
func (r *reader) virtualTable(addr uint64, flags uint32) []uint64 {
	if flags&flagVTable == 0 {
		return nil
	}
	at := addr + 44
	if flags&contextIsGeneric != 0 {
		b := r.at(at, 16)
		if b == nil {
			return nil
		}
		params, requirements := uint64(r.order.Uint16(b[8:])), uint64(r.order.Uint16(b[10:]))
		if r.order.Uint16(b[14:]) != 0 {
			return nil // parameter packs or values follow, of which the size is not known here
		}
		at += 16 + (params+3)&^3 + 12*requirements
	}
	if flags&flagResilientBase != 0 {
		at += 4
	}
	switch flags >> flagInitShift & 3 {
	case 1:
		at += 12
	case 2:
		at += 4
	}
	n, ok := r.u32(at + 4)
	if !ok || uint64(n) > uint64(r.budget) || r.at(at+8, 8*uint64(n)) == nil || !r.spend(int(n)) {
		r.note("the virtual table of the Swift class at %#x can't be read", addr)
		return nil
	}
	var out []uint64
	for i := range uint64(n) {
		if f := r.relative(at + 8 + 8*i + 4); f != 0 && r.im.Executable(f) {
			out = append(out, f)
		}
	}
	return out
}

func (r *reader) swiftProtocol(addr uint64) (SwiftProtocol, bool) {
	b := r.at(addr, 24)
	if b == nil || r.order.Uint32(b)&contextKindMask != contextProtocol {
		r.note("the Swift protocol descriptor at %#x can't be read", addr)
		return SwiftProtocol{}, false
	}
	p := SwiftProtocol{Name: r.contextName(addr, 0), Addr: addr, Requirements: int(r.order.Uint32(b[16:]))}
	if names := r.cstring(r.relative(addr + 20)); names != "" {
		p.Associated = splitSpaces(names)
	}
	return p, p.Name != ""
}

func (r *reader) conformance(addr uint64) (Conformance, bool) {
	flags, ok := r.u32(addr + 12)
	if !ok {
		r.note("the protocol conformance at %#x is not in the image", addr)
		return Conformance{}, false
	}
	c := Conformance{Addr: addr, Witness: r.relative(addr + 8)}
	proto, symbol := r.indirectable(addr, 1)
	if c.Protocol = r.contextName(proto, 0); c.Protocol == "" {
		c.Protocol = symbolContext(symbol)
	}
	const direct, indirect, objcName, objcClass = 0, 1, 2, 3
	ref := r.relative(addr + 4)
	switch flags >> 3 & 7 {
	case direct:
		c.Type = r.contextName(ref, 0)
	case indirect:
		p, symbol := r.pointer(ref)
		if c.Type = r.contextName(p, 0); c.Type == "" {
			c.Type = symbolContext(symbol)
		}
	case objcName:
		c.Type = r.cstring(ref)
	case objcClass:
		c.Type = r.className(ref)
	}
	return c, c.Type != "" || c.Protocol != ""
}

// fieldDescriptor lists the stored properties or cases of one type.
type fieldDescriptor struct{ fields []Field }

// fieldDescriptors reads the field descriptors, which follow one another.
func (r *reader) fieldDescriptors() {
	for _, s := range r.sections("__swift5_fieldmd", "swift5_fieldmd", ".sw5flmd") {
		for addr, end := s.Addr, s.Addr+min(s.Size, s.FileSize); end-addr >= 16; {
			size, ok := r.fieldDescriptor(addr, end, s)
			if !ok {
				break
			}
			addr += size
		}
	}
}

func (r *reader) fieldDescriptor(addr, end uint64, s object.Section) (uint64, bool) {
	b := r.at(addr, 16)
	if b == nil {
		return 0, false
	}
	each, n := uint64(r.order.Uint16(b[10:])), uint64(r.order.Uint32(b[12:]))
	if n > 0 && each < 12 || n*each > end-addr-16 || !r.spend(int(n)+1) {
		r.note("a field descriptor of %s claims %d fields of %d bytes, which the section does not hold", s.Name, n, each)
		return 0, false
	}
	d := fieldDescriptor{fields: make([]Field, 0, n)}
	for i := range n {
		at := addr + 16 + i*each
		flags, _ := r.u32(at)
		f := Field{Name: r.cstring(r.relative(at + 8)), Indirect: flags&1 != 0, Variable: flags&2 != 0}
		if m := r.mangled(r.relative(at+4), 0); m.ok {
			f.Mangled, f.Type = m.text(), m.readable()
		}
		d.fields = append(d.fields, f)
	}
	r.fields[addr] = d
	return 16 + n*each, true
}
