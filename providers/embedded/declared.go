package embedded

import (
	"fmt"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"rea/generated/model"
	"rea/providers/embedded/lower"
	"rea/providers/embedded/signature"
	"rea/providers/format/object"
)

// fromName is the source of facts that a mangled name states.
const fromName = "mangled name"

// parameterClass is what carries a parameter.
type parameterClass uint8

const (
	unknownClass parameterClass = iota // of a size or kind that names do not tell
	integerClass
	floatClass
)

// nameParameter is one parameter that a mangled name declares.
type nameParameter struct {
	typ   string
	class parameterClass
}

// nameDeclaration is what an Itanium-mangled name tells of a function's
// parameters.
type nameDeclaration struct {
	parameters []nameParameter
	// member: it takes "this" besides. nested: it may, for a name within a
	// namespace looks like one within a class.
	member, nested bool
	// structor: it is a constructor or destructor; base: of the part that
	// derived classes contain, which takes a table besides where the class has
	// virtual bases.
	structor, base bool
	// class is what the name lies in, a class where it is a member.
	class string
	// unclear is the first parameter, or other property, by which the name does
	// not tell registers.
	unclear string
}

const (
	// mostNameParameters bounds the parameters that are read from a name.
	mostNameParameters = 64
	// deepestName bounds the nodes between a name and what is read of it.
	deepestName = 32
)

// declarationOf reads a mangled name; nil when it is none, names no function,
// or names a copy whose parameters the compiler may have changed.
func declarationOf(raw string) *nameDeclaration {
	s := raw
	if strings.HasPrefix(s, "__Z") { // Mach-O
		s = s[1:]
	}
	if !strings.HasPrefix(s, "_Z") || len(s) > longestMangled || strings.Contains(s, ".") {
		return nil
	}
	if strings.HasPrefix(s, "_ZL") || strings.Contains(s, "_GLOBAL__N_") {
		return nil // of one file: the compiler may call it in its own way
	}
	ast, err := demangle.ToAST(s)
	if err != nil {
		return nil
	}
	typed, ok := ast.(*demangle.Typed)
	if !ok {
		return nil
	}
	typ, d := typed.Type, &nameDeclaration{}
	if m, ok := typ.(*demangle.MethodWithQualifiers); ok {
		typ, d.member = m.Method, true
	}
	f, ok := typ.(*demangle.FunctionType)
	if !ok || len(f.Args) > mostNameParameters {
		return nil
	}
	d.scope(typed.Name, 0)
	d.nested = d.nested && !strings.HasPrefix(s, "_ZSt") // a function of std itself
	d.base = d.structor && (strings.Contains(s, "C2") || strings.HasSuffix(s, "D2Ev"))
	for _, a := range f.Args {
		if b, ok := a.(*demangle.BuiltinType); ok && b.Name == "void" && len(f.Args) == 1 {
			break
		}
		p := nameParameter{typ: demangle.ASTToString(a, demangle.MaxLength(9)), class: classOf(a, 0)}
		if p.class == unknownClass && d.unclear == "" {
			d.unclear = p.typ
		}
		d.parameters = append(d.parameters, p)
	}
	return d
}

// scope tells from a function's name whether it is a member.
func (d *nameDeclaration) scope(name demangle.AST, depth int) {
	if depth > deepestName {
		d.nested = true
		return
	}
	switch n := name.(type) {
	case *demangle.MethodWithQualifiers:
		d.member = true
		d.scope(n.Method, depth+1)
	case *demangle.Template:
		d.scope(n.Name, depth+1)
	case *demangle.TaggedName:
		d.scope(n.Name, depth+1)
	case *demangle.Qualified:
		d.nested = true
		d.class = demangle.ASTToString(n.Scope, demangle.MaxLength(9))
		d.scope(n.Name, depth+1)
	case *demangle.Constructor, *demangle.Destructor:
		d.member, d.structor = true, true
	}
}

// classOf is the class of a type, unknown for all that a name does not settle.
func classOf(typ demangle.AST, depth int) parameterClass {
	if depth > deepestName {
		return unknownClass
	}
	switch t := typ.(type) {
	case *demangle.PointerType, *demangle.ReferenceType, *demangle.RvalueReferenceType:
		return integerClass
	case *demangle.TypeWithQualifiers:
		return classOf(t.Base, depth+1)
	case *demangle.TemplateParam:
		if t.Template != nil && t.Index >= 0 && t.Index < len(t.Template.Args) {
			return classOf(t.Template.Args[t.Index], depth+1)
		}
	case *demangle.BuiltinType:
		switch t.Name {
		case "bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long", "unsigned long",
			"long long", "unsigned long long", "wchar_t", "char8_t", "char16_t", "char32_t", "decltype(nullptr)":
			return integerClass
		case "float", "double":
			return floatClass
		}
	}
	return unknownClass
}

// listDeclared lists the parameters of a function whose name tells them, and
// reports whether it did: the name must leave nothing open that the code does
// not settle.
func (e *Engine) listDeclared(raw string, l *lower.Program, sig *signature.Signature, api *model.NativeAPIAvailable) bool {
	c := l.Convention
	if e.im.Format == object.PE || e.im.Arch != object.X86_64 && e.im.Arch != object.ARM64 || c.Together || sig.Variadic {
		return false
	}
	d := declarationOf(raw)
	if d == nil {
		return false
	}
	if d.unclear != "" {
		api.Limitations = append(api.Limitations, fmt.Sprintf("its name declares %d parameters; it does not tell which registers carry %s, so that those of the code are listed", len(d.parameters), d.unclear))
		return false
	}
	var ints, floats int
	for _, p := range d.parameters {
		if p.class == floatClass {
			floats++
		} else {
			ints++
		}
	}
	if d.member {
		ints++
	}
	if ints > len(c.Ints) || floats > len(c.Floats) {
		return false // those on the stack lie as the platform packs them
	}
	// What the code uses beyond the name has one reading, or the name is not
	// followed.
	this, place, table := d.member, false, false
	switch over := sig.Ints - ints; {
	case sig.Floats > floats || sig.Stack > 0:
		return false
	case over <= 0:
	case over == 1 && d.base:
		table = true
	case e.im.Arch == object.ARM64 && (d.member || !d.nested): // the place of a result has a register of its own
	case over == 1 && sig.First && (d.member || !d.nested):
		place = true
	case over == 1 && d.nested && !d.member && !sig.First:
		this = true
	default:
		return false
	}
	var n, v int
	add := func(name, typ string, float bool, source string) {
		var location string
		if float {
			location = "register " + e.registerName(c.Floats[v])
			v++
		} else {
			location = "register " + e.registerName(c.Ints[n])
			if typ == "" {
				typ = sig.Types[n]
			}
			n++
		}
		row := model.LocalVariable{Name: name, Parameter: true, Source: source, Location: &location}
		if typ != "" {
			row.Type = &typ
		}
		api.Parameters = append(api.Parameters, row)
	}
	if place {
		n++
	}
	if this {
		source := fromName
		if !d.member {
			source = inferred
		}
		add("this", "", false, source)
	}
	if table {
		add("vtt", "", false, inferred)
	}
	for _, p := range d.parameters {
		add(fmt.Sprintf("arg%d", len(api.Parameters)+1), p.typ, p.class == floatClass, fromName)
	}
	if d.nested && !d.member {
		what := "the code shows that it takes the object"
		if !this {
			what = "nothing in the code shows a parameter besides those of the name"
		}
		api.Limitations = append(api.Limitations, "its name does not tell a member function from a static one or a function of a namespace: "+what)
	}
	if place {
		api.Limitations = append(api.Limitations, "register "+e.registerName(c.Ints[0])+" carries the place of a structure that it returns")
	}
	return true
}
