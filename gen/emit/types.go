package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"rea/gen/ir"
)

// declare emits a named type with its methods.
func declare(f *jen.File, t *ir.Type) {
	switch t.Kind {
	case ir.Enum:
		enum(f, t)
	case ir.Struct:
		structure(f, t)
	case ir.Union:
		union(f, t)
	}
}

// doc emits the comment of a declaration, wrapped.
func doc(f *jen.File, name, text string) {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return
	}
	for _, line := range wrap(name+": "+text, 76) {
		f.Comment(line)
	}
}

func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// goType is how a type is written in Go.
func goType(t *ir.Type) *jen.Statement {
	switch t.Kind {
	case ir.String:
		return jen.String()
	case ir.Integer:
		return jen.Int64()
	case ir.Unsigned:
		return jen.Uint64()
	case ir.Number:
		return jen.Float64()
	case ir.Boolean:
		return jen.Bool()
	case ir.Any:
		return jen.Qual(textPath, "Value")
	case ir.Address:
		return wireID("Address")
	case ir.Array:
		return jen.Index().Add(goType(t.Elem))
	case ir.Map:
		return jen.Map(jen.String()).Add(goType(t.Elem))
	case ir.Nullable:
		if hasNil(t.Elem) {
			return goType(t.Elem)
		}
		return jen.Op("*").Add(goType(t.Elem))
	case ir.Const:
		switch t.Const.Kind.String() {
		case "a string":
			return jen.String()
		case "a number":
			return jen.Int64()
		}
		return jen.Bool()
	}
	return named(t)
}

func named(t *ir.Type) *jen.Statement { return jen.Qual(packagePath(t.Pkg), t.Name) }

// hasNil reports whether Go values of the type can be nil of themselves.
func hasNil(t *ir.Type) bool {
	switch t.Kind {
	case ir.Array, ir.Map, ir.Union, ir.Any:
		return true
	}
	return false
}

// enum emits
//
//	type EdgeKind string
//
//	const (
//		EdgeKindJump EdgeKind = "jump"
//		…
//	)
//
//	func (v *EdgeKind) DecodeJSON(d *wire.Decoder) error {
//		return wire.OneOf(d, v, EdgeKindJump, …)
//	}
func enum(f *jen.File, t *ir.Type) {
	doc(f, t.Name, t.Doc)
	f.Type().Id(t.Name).String()
	f.Const().DefsFunc(func(g *jen.Group) {
		for _, v := range t.Values {
			g.Id(v.Go).Id(t.Name).Op("=").Lit(v.JSON)
		}
	})
	f.Comment("DecodeJSON reads one of the constants.")
	f.Func().Params(jen.Id("v").Op("*").Id(t.Name)).Id("DecodeJSON").Params(decoderParam()).Error().Block(
		jen.Return(wireID("OneOf").CallFunc(func(g *jen.Group) {
			g.Id("d")
			g.Id("v")
			for _, v := range t.Values {
				g.Id(v.Go)
			}
		})))
}

func decoderParam() *jen.Statement { return jen.Id("d").Op("*").Add(wireID("Decoder")) }

// structure emits
//
//	type Bookmark struct {
//		Address wire.Address
//		Name    string
//	}
//
// and its encoder and decoder.
func structure(f *jen.File, t *ir.Type) {
	doc(f, t.Name, t.Doc)
	f.Type().Id(t.Name).StructFunc(func(g *jen.Group) {
		for _, field := range t.Fields {
			if !field.Held() {
				continue
			}
			text := strings.Join(strings.Fields(field.Doc), " ")
			for _, line := range wrap(text, 76) {
				if line != "" {
					g.Comment(line)
				}
			}
			g.Id(field.Go).Add(fieldType(field))
		}
	})
	encoder(f, t)
	decoder(f, t)
}

func fieldType(field *ir.Field) *jen.Statement {
	if field.Pointer() {
		return jen.Op("*").Add(goType(field.Type))
	}
	return goType(field.Type)
}

// union emits
//
//	type TextFacet interface {
//		wire.Appender
//		isTextFacet()
//	}
//
//	func (*TextFacetAvailable) isTextFacet() {}
//	func (*Unavailable) isTextFacet()        {}
//
//	func ReadTextFacet(v *TextFacet, d *wire.Decoder) error {…}
//
// and the types of alternatives that are no structs.
func union(f *jen.File, t *ir.Type) {
	names := make([]string, len(t.Variants))
	for i, v := range t.Variants {
		if names[i] = v.Go; v.Go == "" {
			names[i] = "*" + v.Type.Name
		}
	}
	doc(f, t.Name, t.Doc)
	if t.Doc != "" {
		f.Comment("")
	}
	for _, line := range wrap(t.Name+" is one of "+strings.Join(names, ", ")+".", 76) {
		f.Comment(line)
	}
	seal := "is" + t.Name
	f.Type().Id(t.Name).Interface(wireID("Appender"), jen.Id(seal).Params())
	for i, v := range t.Variants {
		if v.Go != "" {
			wrapper(f, v)
		}
		f.Func().Params(jen.Id(names[i])).Id(seal).Params().Block()
	}
	f.Commentf("Read%s reads whichever alternative comes.", t.Name)
	f.Func().Id("Read"+t.Name).Params(jen.Id("v").Op("*").Id(t.Name), decoderParam()).Error().BlockFunc(func(g *jen.Group) {
		switch t.Union {
		case ir.Tagged:
			readTagged(g, t)
		case ir.Presence:
			readPresent(g, t)
		case ir.ByType:
			readByType(g, t)
		}
	})
}

// wrapper emits the type that holds an alternative which is no struct:
//
//	type SelectorString string
//
//	func (v SelectorString) AppendJSON(b []byte) []byte {
//		x := string(v)
//		return wire.AppendString(b, x)
//	}
func wrapper(f *jen.File, v *ir.Variant) {
	f.Commentf("%s is the alternative that is %s.", v.Go, kindWords[v.Kind])
	f.Type().Id(v.Go).Add(goType(v.Type))
	f.Comment("AppendJSON appends the value.")
	f.Func().Params(jen.Id("v").Id(v.Go)).Id("AppendJSON").Params(jen.Id("b").Index().Byte()).Index().Byte().Block(
		jen.Id("x").Op(":=").Add(goType(v.Type)).Call(jen.Id("v")),
		jen.Return(encode(v.Type, jen.Id("x"))),
	)
}

var kindWords = map[string]string{"t": "a boolean", "0": "a number", `"`: "a string", "[": "an array", "{": "an object"}

// readTagged emits
//
//	switch tag, _ := d.Tag("state"); tag {
//	case "available":
//		x := new(TextFacetAvailable)
//		*v = x
//		return x.DecodeJSON(d)
//	…
//	}
//	return d.Untagged("state", "available, unavailable")
func readTagged(g *jen.Group, t *ir.Type) {
	var tags []string
	g.Switch(jen.List(jen.Id("tag"), jen.Id("_")).Op(":=").Id("d").Dot("Tag").Call(jen.Lit(t.Tag)), jen.Id("tag")).BlockFunc(func(g *jen.Group) {
		for _, v := range t.Variants {
			tags = append(tags, v.Tag)
			g.Case(jen.Lit(v.Tag)).Block(readVariant(v)...)
		}
	})
	g.Return(jen.Id("d").Dot("Untagged").Call(jen.Lit(t.Tag), jen.Lit(strings.Join(tags, ", "))))
}

// readPresent emits the same for alternatives told by a property that one has:
//
//	switch d.Has("before", "before_scenario") {
//	case 0:
func readPresent(g *jen.Group, t *ir.Type) {
	var tags []string
	var args []jen.Code
	for _, v := range t.Variants {
		tags = append(tags, v.Tag)
		args = append(args, jen.Lit(v.Tag))
	}
	g.Switch(jen.Id("d").Dot("Has").Call(args...)).BlockFunc(func(g *jen.Group) {
		for i, v := range t.Variants {
			g.Case(jen.Lit(i)).Block(readVariant(v)...)
		}
	})
	g.Return(jen.Id("d").Dot("NoneOf").Call(jen.Lit(strings.Join(tags, ", "))))
}

func readByType(g *jen.Group, t *ir.Type) {
	var want []string
	g.Switch(jen.Id("d").Dot("Kind").Call()).BlockFunc(func(g *jen.Group) {
		for _, v := range t.Variants {
			want = append(want, kindWords[v.Kind])
			g.Case(jen.LitByte(v.Kind[0])).Block(readVariant(v)...)
		}
	})
	g.Return(jen.Id("d").Dot("Refuse").Call(jen.Lit(strings.Join(want, " or "))))
}

func readVariant(v *ir.Variant) []jen.Code {
	if v.Go == "" {
		return []jen.Code{
			jen.Id("x").Op(":=").New(named(v.Type)),
			jen.Op("*").Id("v").Op("=").Id("x"),
			jen.Return(jen.Id("x").Dot("DecodeJSON").Call(jen.Id("d"))),
		}
	}
	return []jen.Code{
		jen.Var().Id("x").Add(goType(v.Type)),
		jen.Id("err").Op(":=").Add(decode(v.Type, place{jen.Op("&").Id("x"), jen.Id("x")})),
		jen.Op("*").Id("v").Op("=").Id(v.Go).Call(jen.Id("x")),
		jen.Return(jen.Id("err")),
	}
}
