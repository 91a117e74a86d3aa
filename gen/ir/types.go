package ir

import (
	"slices"
	"strconv"
	"strings"

	"rea/gen/load"
)

// builder turns schemas into types. Each named type is built once, for the
// schema node that defines it.
type builder struct {
	set      *load.Set
	faults   *load.Faults
	types    []*Type
	patterns map[*load.Node]*Pattern
	order    []*Pattern
	byNode   map[*load.Node]*Type
	taken    map[string]*load.Node // package and Go name
}

// scope is where a schema stands.
type scope struct {
	pkg, file, name string
	shared          bool // used from other packages, without a named type around it
}

func (s scope) named(name string) scope { s.name = name; return s }

func (b *builder) fail(n *load.Node, format string, args ...any) { b.faults.Add(n, format, args...) }

// claim takes the Go name for a type.
func (b *builder) claim(n *load.Node, pkg, name string) {
	key := pkg + "." + name
	if other := b.taken[key]; other != nil && other != n {
		b.fail(n, "the Go name %s is also made from %s: set x-go-name on one of them", name, other.Pos)
		return
	}
	b.taken[key] = n
}

// name registers t as a named type.
func (b *builder) name(t *Type, n *load.Node, at scope) {
	t.Pkg, t.Name, t.File = at.pkg, at.name, at.file
	if own := n.Str("x-go-name"); own != "" {
		if !goName(own) {
			b.fail(n.Get("x-go-name"), "%q is not an exported Go name", own)
		}
		t.Name = own
	}
	b.claim(n, t.Pkg, t.Name)
	b.types = append(b.types, t)
	b.byNode[n] = t
}

// build makes the type of a schema.
func (b *builder) build(n *load.Node, at scope) *Type {
	if ref := n.Get("$ref"); ref != nil {
		target, err := b.set.Resolve(ref)
		if err != nil {
			return &Type{Kind: Any, Node: n} // the reader has reported it
		}
		return b.build(target, b.home(target, ref, at))
	}
	if t := b.byNode[n]; t != nil {
		return t
	}
	t := &Type{Node: n, Doc: n.Str("description"), High: -1}
	switch {
	case n.Has("oneOf"):
		b.union(t, n, at)
	case n.Has("anyOf"):
		t.Kind = Nullable
		t.Elem = b.build(n.Get("anyOf").Items[0], at)
		if t.Elem.Kind == Any || t.Elem.Kind == Nullable || t.Elem.Kind == Const {
			b.fail(n, "a value of any shape, a nullable one and a constant can't be made nullable")
		}
	case n.Get("type").Kind == load.Array:
		t.Kind = Any
	case n.Has("const"):
		t.Kind, t.Const = Const, n.Get("const")
	default:
		b.typed(t, n, at)
	}
	return t
}

// home is the scope of a definition that is referred to.
func (b *builder) home(target, ref *load.Node, at scope) scope {
	file := target.Pos.File
	stem := strings.TrimSuffix(file[strings.LastIndexByte(file, '/')+1:], ".json")
	home := scope{pkg: packageOf(file), file: stem, name: exported(stem)}
	home.shared = home.pkg == "model"
	if _, local, ok := strings.Cut(ref.Text, "#/$defs/"); ok {
		home.name += exported(local)
	}
	return home
}

func packageOf(file string) string {
	switch strings.Split(file, "/")[1] {
	case "models":
		return "model"
	case "errors":
		return "fault"
	}
	return "tool"
}

func (b *builder) typed(t *Type, n *load.Node, at scope) {
	switch n.Str("type") {
	case "null":
		b.fail(n, `null alone is no value: a value or null is {"anyOf": [X, {"type": "null"}]}`)
	case "boolean":
		t.Kind = Boolean
	case "integer":
		t.Kind = Integer
		if n.Str("format") == "uint64" {
			t.Kind = Unsigned
		}
		t.Min, t.Max = literal(n, "minimum"), literal(n, "maximum")
		b.fits(t, n)
	case "number":
		t.Kind = Number
		t.Min, t.Max = literal(n, "minimum"), literal(n, "maximum")
	case "string":
		b.str(t, n, at)
	case "array":
		t.Kind = Array
		t.Low, t.High = count(n, "minItems", 0), count(n, "maxItems", -1)
		t.Unique = n.Has("uniqueItems")
		t.Elem = b.build(n.Get("items"), at.named(singular(at.name)))
		if t.Elem.Kind == Const {
			b.fail(n.Get("items"), "items that are all the same constant say nothing: use a type")
		}
	case "object":
		if more := n.Get("additionalProperties"); more.Kind == load.Object {
			t.Kind = Map
			t.Low, t.High = count(n, "minProperties", 0), count(n, "maxProperties", -1)
			t.Elem = b.build(more, at.named(singular(at.name)))
			return
		}
		b.structure(t, n, at)
	}
}

func (b *builder) str(t *Type, n *load.Node, at scope) {
	switch {
	case n.Str("format") == "address":
		t.Kind = Address
		if p := n.Get("pattern"); p != nil && p.Text != AddressPattern {
			b.fail(p, "the pattern of an address is %s", AddressPattern)
		}
		return
	case n.Has("enum"):
		t.Kind = Enum
		b.name(t, n, at)
		for _, v := range n.Get("enum").Strings() {
			name := t.Name + exported(v)
			b.claim(n, t.Pkg, name)
			t.Values = append(t.Values, Value{v, name})
		}
		seen := map[string]string{}
		for _, v := range t.Values {
			if other, twice := seen[v.Go]; twice {
				b.fail(n, "enum values %q and %q make the same Go name", other, v.JSON)
			}
			seen[v.Go] = v.JSON
		}
		return
	}
	t.Kind = String
	t.Low, t.High = count(n, "minLength", 0), count(n, "maxLength", -1)
	if source := n.Str("pattern"); source != "" {
		t.Pattern = b.pattern(n, source, at)
	}
	t.Path = n.Str("format") == "path"
}

func (b *builder) pattern(n *load.Node, source string, at scope) *Pattern {
	p := b.patterns[n]
	if p == nil {
		name := at.name + "Pattern"
		if !at.shared {
			name = strings.ToLower(name[:1]) + name[1:]
		}
		p = &Pattern{at.pkg, at.file, name, source}
		b.patterns[n] = p
		b.order = append(b.order, p)
		b.claim(n, p.Pkg, p.Name)
	}
	return p
}

// AddressPattern is what strings of format address match.
const AddressPattern = "^0x[0-9a-f]{1,16}$"

func literal(n *load.Node, keyword string) string {
	if v := n.Get(keyword); v != nil {
		return v.Text
	}
	return ""
}

func count(n *load.Node, keyword string, absent int) int {
	if v := n.Get(keyword); v != nil {
		if c, err := strconv.Atoi(v.Text); err == nil {
			return c
		}
	}
	return absent
}

// fits refuses bounds that the Go type can't hold.
func (b *builder) fits(t *Type, n *load.Node) {
	for _, keyword := range []string{"minimum", "maximum"} {
		v := n.Get(keyword)
		if v == nil {
			continue
		}
		_, err := strconv.ParseInt(v.Text, 10, 64)
		if t.Kind == Unsigned {
			_, err = strconv.ParseUint(v.Text, 10, 64)
		}
		if err != nil {
			b.fail(v, `%s %s does not fit the Go type: integers are signed 64-bit, or unsigned with "format": "uint64"`, keyword, v.Text)
		}
	}
}

func (b *builder) structure(t *Type, n *load.Node, at scope) {
	t.Kind = Struct
	b.name(t, n, at)
	at.shared = false
	t.Low, t.High = count(n, "minProperties", 0), count(n, "maxProperties", -1)
	required := n.Get("required").Strings()
	properties := n.Get("properties")
	if properties == nil {
		return
	}
	goNames := map[string]string{}
	for _, m := range properties.Members {
		f := &Field{JSON: m.Name, Go: exported(m.Name), Doc: m.Value.Str("description"),
			Required: slices.Contains(required, m.Name), Default: m.Value.Get("default")}
		if own := m.Value.Str("x-go-name"); own != "" {
			f.Go = own
		}
		if other, twice := goNames[f.Go]; twice {
			b.fail(m.Value, "properties %q and %q make the same Go name %s", other, m.Name, f.Go)
		}
		goNames[f.Go] = m.Name
		f.Type = b.build(m.Value, at.named(t.Name+exported(m.Name)))
		switch {
		case !f.Required && f.Type.Kind == Nullable:
			b.fail(m.Value, "property %q is optional and nullable: absent and null would be two ways to say the same; make it required, or not nullable", m.Name)
		case f.Required && f.Default != nil:
			b.fail(m.Value, "property %q is required, so its default is never used", m.Name)
		case f.Default != nil && f.Type.Kind == Const:
			b.fail(m.Value, "a constant needs no default")
		}
		if m.Value.Has("$ref") && f.Doc == "" {
			f.Doc = f.Type.Doc
		}
		t.Fields = append(t.Fields, f)
	}
	if dep := n.Get("dependentRequired"); dep != nil {
		for _, m := range dep.Members {
			t.Dependents = append(t.Dependents, Dependent{m.Name, m.Value.Strings()})
		}
	}
}
