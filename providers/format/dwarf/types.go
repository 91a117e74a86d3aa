package dwarf

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// TypeKind is the kind of a data type.
type TypeKind string

const (
	KindBase     TypeKind = "base"
	KindStruct   TypeKind = "struct"
	KindClass    TypeKind = "class"
	KindUnion    TypeKind = "union"
	KindEnum     TypeKind = "enum"
	KindTypedef  TypeKind = "typedef"
	KindArray    TypeKind = "array"
	KindPointer  TypeKind = "pointer"
	KindFunction TypeKind = "function"
	KindOther    TypeKind = "other"
)

// NamedType is one entry of the index of types.
type NamedType struct {
	Name string // qualified with "::" where the language has scopes
	Kind TypeKind
	Ref  Ref
	Size uint64 // 0 when the entry does not say
	Unit string
}

// Type is the layout of a data type.
type Type struct {
	Name        string
	Kind        TypeKind
	Size        uint64
	Align       uint64
	Encoding    string // of base types: "signed", "unsigned", "float", …
	Underlying  string // of typedefs, pointers, arrays and enums: the type below
	Count       uint64 // elements of an array
	HasCount    bool
	Fields      []Field
	Enumerators []Enumerator
	File        string
	Line        int
	// More tells that a bound was reached.
	More bool
}

// Field is a member, or with Base set a base class.
type Field struct {
	Name      string
	Type      string
	Offset    uint64
	HasOffset bool
	Size      uint64 // of its type, 0 when unknown
	BitOffset uint64 // from the start of the structure, for bit fields
	BitSize   uint64 // 0 for whole members
	Base      bool
	Variant   string // discriminant of the variant the field belongs to, or ""
}

// Enumerator is a named value.
type Enumerator struct {
	Name  string
	Value int64
}

// typeIndex lists the named types by name.
type typeIndex struct {
	byName []NamedType
	more   bool
}

// Bounds of the index and of one type.
const (
	maxIndexed = 2 << 20
	maxMembers = 1 << 14
)

// Types lists all named data types of the program, by name. Declarations are
// left out, and so are equal definitions that headers bring into many units.
// complete is false when the program has more than are kept.
func (d *Data) Types(ctx context.Context) (types []NamedType, complete bool, err error) {
	d.mu.Lock()
	t := d.types
	d.mu.Unlock()
	if t == nil {
		t = &typeIndex{}
		names := 16*(len(d.sec.str)+len(d.sec.info)+len(d.sec.types)) + 1<<20
		for _, u := range d.units {
			if err := ctx.Err(); err != nil {
				return nil, false, err
			}
			if d.prepare(u) && !t.more {
				d.indexUnit(u, t, &names)
			}
		}
		slices.SortStableFunc(t.byName, func(a, b NamedType) int {
			return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Ref, b.Ref))
		})
		t.byName = slices.CompactFunc(t.byName, func(a, b NamedType) bool { return a.Name == b.Name && a.Kind == b.Kind && a.Size == b.Size })
		d.mu.Lock()
		d.types = t
		d.mu.Unlock()
	}
	return t.byName, !t.more, nil
}

// FindTypes returns the types of that name: qualified, or without its scopes.
// A leading "struct", "union", "enum" or "class" is ignored.
func (d *Data) FindTypes(ctx context.Context, name string) ([]NamedType, error) {
	all, _, err := d.Types(ctx)
	if err != nil {
		return nil, err
	}
	for _, word := range []string{"struct ", "union ", "enum ", "class "} {
		name = strings.TrimPrefix(name, word)
	}
	i, _ := slices.BinarySearchFunc(all, name, func(t NamedType, n string) int { return cmp.Compare(t.Name, n) })
	j := i
	for j < len(all) && all[j].Name == name {
		j++
	}
	if j > i {
		return all[i:j:j], nil
	}
	var out []NamedType
	for _, t := range all {
		if strings.HasSuffix(t.Name, "::"+name) {
			out = append(out, t)
		}
	}
	return out, nil
}

func kindOf(tag uint32) TypeKind {
	switch tag {
	case tagBaseType:
		return KindBase
	case tagStructureType:
		return KindStruct
	case tagClassType:
		return KindClass
	case tagUnionType:
		return KindUnion
	case tagEnumerationType:
		return KindEnum
	case tagTypedef, tagTemplateAlias:
		return KindTypedef
	case tagArrayType:
		return KindArray
	case tagPointerType, tagReferenceType, tagRvalueReference, tagPtrToMember:
		return KindPointer
	case tagSubroutineType:
		return KindFunction
	}
	return KindOther
}

// indexUnit adds the named types of a unit.
func (d *Data) indexUnit(u *unit, t *typeIndex, names *int) {
	d.eachType(u, func(e *entry, kind TypeKind, name, full string) bool {
		if e.flag(atDeclaration) {
			return true
		}
		if *names -= len(full); *names < 0 || len(t.byName) >= maxIndexed {
			t.more = true
			return false
		}
		n := NamedType{Name: full, Kind: kind, Ref: e.ref, Unit: u.name}
		if size := e.get(atByteSize); size.ok && size.b == nil {
			n.Size = size.u
		}
		t.byName = append(t.byName, n)
		return true
	})
}

// eachType visits the named types of a unit with their names inside their
// scopes. Types inside functions count, too, but take no scope from them.
func (d *Data) eachType(u *unit, visit func(e *entry, kind TypeKind, name, full string) bool) {
	var scopes []string // by depth; "" where an entry is no scope
	for w := d.walk(u, u.root); ; {
		e, ok := w.next()
		if !ok {
			return
		}
		scopes = scopes[:min(len(scopes), e.depth)]
		kind := kindOf(e.tag)
		isType := kind != KindOther && kind != KindPointer && kind != KindFunction && (kind != KindArray || u.language == langGo)
		scope := e.tag == tagNamespace || e.tag == tagModule || isType && kind != KindBase && kind != KindTypedef
		name := ""
		if isType || scope {
			name = clip(d.str(u, e.get(atName)))
		}
		if isType && name != "" && !visit(e, kind, name, qualify(scopes, name)) {
			return
		}
		if e.kids {
			if !scope {
				name = ""
			}
			for len(scopes) < e.depth {
				scopes = append(scopes, "")
			}
			scopes = append(scopes, name)
		}
	}
}

// maxScoped bounds the names kept for one unit.
const maxScoped = 1 << 16

// scoped is the name of a type of unit u inside its scopes, name where it has none.
func (d *Data) scoped(u *unit, r Ref, name string) string {
	if u.plainC() || u.language == langGo {
		return name
	}
	d.mu.Lock()
	names, known := d.scopedNames[u]
	d.mu.Unlock()
	if !known {
		names = map[Ref]string{}
		d.eachType(u, func(e *entry, _ TypeKind, name, full string) bool {
			if full != name {
				names[e.ref] = full
			}
			return len(names) < maxScoped
		})
		d.mu.Lock()
		d.scopedNames[u] = names
		d.mu.Unlock()
	}
	if full, ok := names[r]; ok {
		return full
	}
	return name
}

func qualify(scopes []string, name string) string {
	plain := true
	for _, s := range scopes {
		plain = plain && s == ""
	}
	if plain {
		return name
	}
	var b strings.Builder
	for _, s := range scopes {
		if s != "" && b.Len() < maxTypeLength {
			b.WriteString(s)
			b.WriteString("::")
		}
	}
	b.WriteString(name)
	return b.String()
}

var encodings = map[uint64]string{
	1: "address", 2: "boolean", 3: "complex", 4: "float", 5: "signed", 6: "signed char", 7: "unsigned", 8: "unsigned char",
	0x0a: "packed decimal", 0x0f: "decimal float", 0x10: "UTF", 0x11: "UCS", 0x12: "ASCII",
}

// Type reads the layout of the type at r.
func (d *Data) Type(r Ref) (*Type, bool) {
	u, e, w, ok := d.at(r)
	if !ok {
		return nil, false
	}
	t := &Type{Name: clip(d.str(u, e.get(atName))), Kind: kindOf(e.tag), Encoding: encodings[e.get(atEncoding).u]}
	if size := e.get(atByteSize); size.ok && size.b == nil {
		t.Size = size.u
	} else {
		t.Size, _ = d.sizeOf(r)
	}
	t.Align = e.get(atAlignment).u
	if f := e.get(atDeclFile); f.ok {
		t.File = d.fileName(u, f.u)
	}
	if l := e.get(atDeclLine); l.ok && l.u < 1<<31 {
		t.Line = int(l.u)
	}
	if sig := e.get(atSignature); sig.ok { // a stand-in for a type unit's type
		if target, ok := d.reference(u, sig); ok && target != r {
			if full, ok := d.Type(target); ok {
				return full, true
			}
		}
		return t, true
	}
	if target := e.get(atType); target.ok {
		t.Underlying = d.typeOf(u, target)
	}
	if t.Kind == KindArray || t.Kind == KindFunction || t.Name == "" {
		written := typeNamer{d: d, budget: 256}
		name := written.name(r, 0)
		if t.Name == "" {
			t.Name = name
		}
	}
	tag, kids, enumSize := e.tag, e.kids, t.Size
	b := fieldReader{d: d, u: u, t: t, enumSize: enumSize}
	for kids {
		k, ok := w.next()
		if !ok || k.depth < 1 {
			break
		}
		if len(t.Fields)+len(t.Enumerators) >= maxMembers {
			t.More = true
			break
		}
		b.child(tag, k)
	}
	return t, true
}
