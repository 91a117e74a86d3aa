package emit

import (
	"math"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"rea/gen/ir"
	"rea/gen/load"
)

// A place is where a value is decoded to: its address, and what a method is
// called on.
type place struct{ ptr, recv *jen.Statement }

// decoder emits
//
//	func (v *ListNamesInput) DecodeJSON(d *wire.Decoder) error {
//		*v = ListNamesInput{Limit: 50}
//		if err := d.Object(); err != nil {
//			return err
//		}
//		var has [1]bool
//		for {
//			name, more, err := d.Name()
//			if err != nil {
//				return err
//			}
//			if !more {
//				break
//			}
//			switch string(name) {
//			case "limit":
//				err = d.Int(&v.Limit, 1, 500)
//			default:
//				err = d.Unknown(name, "limit")
//			}
//			if err != nil {
//				return err
//			}
//		}
//		…
//		return nil
//	}
func decoder(f *jen.File, t *ir.Type) {
	watched := watch(t)
	f.Comment("DecodeJSON reads and checks an object.")
	f.Func().Params(jen.Id("v").Op("*").Id(t.Name)).Id("DecodeJSON").Params(decoderParam()).Error().BlockFunc(func(g *jen.Group) {
		g.Op("*").Id("v").Op("=").Id(t.Name).Values(defaults(t))
		g.If(jen.Id("err").Op(":=").Id("d").Dot("Object").Call(), jen.Id("err").Op("!=").Nil()).Block(jen.Return(jen.Id("err")))
		if len(watched) > 0 {
			g.Var().Id("has").Index(jen.Lit(len(watched))).Bool()
		}
		counted := t.Low > 0 || t.High >= 0
		if counted {
			g.Id("count").Op(":=").Lit(0)
		}
		g.For().BlockFunc(func(g *jen.Group) {
			g.List(jen.Id("name"), jen.Id("more"), jen.Err()).Op(":=").Id("d").Dot("Name").Call()
			g.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err()))
			g.If(jen.Op("!").Id("more")).Block(jen.Break())
			if counted {
				g.Id("count").Op("++")
			}
			g.Switch(jen.String().Call(jen.Id("name"))).BlockFunc(func(g *jen.Group) { cases(g, t, watched) })
			g.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err()))
		})
		after(g, t, watched)
		g.Return(jen.Nil())
	})
}

// watch numbers the properties whose presence is asked about afterwards.
func watch(t *ir.Type) map[string]int {
	watched := map[string]int{}
	note := func(name string) {
		if _, ok := watched[name]; !ok {
			watched[name] = len(watched)
		}
	}
	for _, field := range t.Fields {
		if field.Required {
			note(field.JSON)
		}
	}
	for _, d := range t.Dependents {
		note(d.Has)
		for _, n := range d.Needs {
			note(n)
		}
	}
	return watched
}

func cases(g *jen.Group, t *ir.Type, watched map[string]int) {
	var known []string
	for _, field := range t.Fields {
		known = append(known, field.JSON)
		g.Case(jen.Lit(field.JSON)).BlockFunc(func(g *jen.Group) {
			if i, ok := watched[field.JSON]; ok {
				g.Id("has").Index(jen.Lit(i)).Op("=").True()
			}
			g.Err().Op("=").Add(decodeField(field))
		})
	}
	g.Default().Block(jen.Err().Op("=").Id("d").Dot("Unknown").Call(jen.Id("name"), jen.Lit(strings.Join(known, ", "))))
}

func after(g *jen.Group, t *ir.Type, watched map[string]int) {
	has := func(name string) *jen.Statement { return jen.Id("has").Index(jen.Lit(watched[name])) }
	for _, field := range t.Fields {
		if field.Required {
			g.If(jen.Op("!").Add(has(field.JSON))).Block(jen.Return(jen.Id("d").Dot("Missing").Call(jen.Lit(field.JSON))))
		}
	}
	for _, dep := range t.Dependents {
		for _, need := range dep.Needs {
			g.If(has(dep.Has).Op("&&").Op("!").Add(has(need))).Block(
				jen.Return(jen.Id("d").Dot("Dependent").Call(jen.Lit(dep.Has), jen.Lit(need))))
		}
	}
	if t.Low > 0 {
		g.If(jen.Id("count").Op("<").Lit(t.Low)).Block(jen.Return(jen.Id("d").Dot("Invalid").Call(
			jen.Lit("minProperties"), jen.Lit("%d properties, at least %d are needed"), jen.Id("count"), jen.Lit(t.Low))))
	}
	if t.High >= 0 {
		g.If(jen.Id("count").Op(">").Lit(t.High)).Block(jen.Return(jen.Id("d").Dot("Invalid").Call(
			jen.Lit("maxProperties"), jen.Lit("%d properties, the limit is %d"), jen.Id("count"), jen.Lit(t.High))))
	}
}

func decodeField(field *ir.Field) *jen.Statement {
	if !field.Held() {
		return constant(field.Type.Const)
	}
	value := jen.Id("v").Dot(field.Go)
	if field.Pointer() {
		return wireID("Pointer").Call(jen.Id("d"), jen.Op("&").Add(value), decodeFunc(field.Type))
	}
	return decode(field.Type, place{jen.Op("&").Add(value), value})
}

func constant(c *load.Node) *jen.Statement {
	switch c.Kind {
	case load.String:
		return jen.Id("d").Dot("ConstString").Call(jen.Lit(c.Text))
	case load.Number:
		return jen.Id("d").Dot("ConstInt").Call(jen.Op(c.Text))
	}
	return jen.Id("d").Dot("ConstBool").Call(jen.Op(c.Text))
}

// decode is the expression, an error, that reads a value into a place.
func decode(t *ir.Type, to place) *jen.Statement {
	method := func(name string, more ...jen.Code) *jen.Statement {
		return jen.Id("d").Dot(name).Call(append([]jen.Code{to.ptr}, more...)...)
	}
	call := func(name string, more ...jen.Code) *jen.Statement {
		return wireID(name).Call(append([]jen.Code{jen.Id("d"), to.ptr}, more...)...)
	}
	switch t.Kind {
	case ir.String:
		if t.Low == 0 && t.High < 0 && t.Pattern == nil {
			return method("String")
		}
		pattern := jen.Nil()
		if t.Pattern != nil {
			pattern = jen.Op("&").Qual(packagePath(t.Pattern.Pkg), t.Pattern.Name)
		}
		return method("StringIn", jen.Lit(t.Low), high(t.High), pattern)
	case ir.Integer:
		return method("Int", bound(t.Min, jen.Qual("math", "MinInt64")), bound(t.Max, jen.Qual("math", "MaxInt64")))
	case ir.Unsigned:
		return method("Uint", bound(t.Min, jen.Lit(0)), bound(t.Max, jen.Qual("math", "MaxUint64")))
	case ir.Number:
		if t.Min == "" && t.Max == "" {
			return method("Number")
		}
		return method("NumberIn", bound(t.Min, jen.Op("-").Qual("math", "MaxFloat64")), bound(t.Max, jen.Qual("math", "MaxFloat64")))
	case ir.Boolean:
		return method("Bool")
	case ir.Any:
		return method("Any")
	case ir.Address:
		return method("Address")
	case ir.Array:
		if t.Unique {
			return call("Set", jen.Lit(t.Low), high(t.High), decodeFunc(t.Elem), encodeFunc(t.Elem))
		}
		return call("Slice", jen.Lit(t.Low), high(t.High), decodeFunc(t.Elem))
	case ir.Map:
		return call("Map", jen.Lit(t.Low), high(t.High), decodeFunc(t.Elem))
	case ir.Union:
		return jen.Qual(packagePath(t.Pkg), "Read"+t.Name).Call(to.ptr, jen.Id("d"))
	case ir.Nullable:
		if hasNil(t.Elem) {
			return call("NullOr", decodeFunc(t.Elem))
		}
		return call("Nullable", decodeFunc(t.Elem))
	case ir.Const:
		return jen.Func().Params().Error().Block(
			jen.Op("*").Add(to.ptr).Op("=").Add(literal(t.Const)),
			jen.Return(constant(t.Const))).Call()
	}
	return jen.Add(to.recv).Dot("DecodeJSON").Call(jen.Id("d")) // Struct, Enum
}

// decodeFunc is a func(*T, *wire.Decoder) error.
func decodeFunc(t *ir.Type) *jen.Statement {
	switch t.Kind {
	case ir.Struct, ir.Enum:
		return jen.Parens(jen.Op("*").Add(named(t))).Dot("DecodeJSON")
	case ir.Union:
		return jen.Qual(packagePath(t.Pkg), "Read"+t.Name)
	}
	return jen.Func().Params(jen.Id("v").Op("*").Add(goType(t)), decoderParam()).Error().Block(
		jen.Return(decode(t, place{jen.Id("v"), jen.Id("v")})))
}

func high(n int) *jen.Statement {
	if n < 0 {
		return wireID("Unbounded")
	}
	return jen.Lit(n)
}

func bound(literal string, open *jen.Statement) *jen.Statement {
	switch literal {
	case "":
		return open
	case strconv.Itoa(math.MinInt64):
		return jen.Qual("math", "MinInt64")
	}
	return jen.Op(literal)
}

// defaults are the fields of the struct literal that decoding starts from.
func defaults(t *ir.Type) jen.Code {
	d := jen.Dict{}
	for _, field := range t.Fields {
		if field.Default != nil && !zero(field.Type, field.Default) {
			d[jen.Id(field.Go)] = defaultValue(field.Type, field.Default)
		}
	}
	return d
}

func zero(t *ir.Type, n *load.Node) bool {
	switch n.Kind {
	case load.Bool:
		return n.Text == "false"
	case load.Number:
		return n.Text == "0"
	case load.String:
		return n.Text == "" && t.Kind == ir.String
	}
	return false
}

func defaultValue(t *ir.Type, n *load.Node) *jen.Statement {
	switch t.Kind {
	case ir.String, ir.Boolean, ir.Integer, ir.Unsigned, ir.Number:
		return literal(n)
	case ir.Enum:
		for _, v := range t.Values {
			if v.JSON == n.Text {
				return jen.Qual(packagePath(t.Pkg), v.Go)
			}
		}
	case ir.Array:
		if len(n.Items) == 0 {
			return goType(t).Values()
		}
	}
	return wireID("Must").Call(raw(n.JSON()), decodeFunc(t))
}

func literal(n *load.Node) *jen.Statement {
	if n.Kind == load.String {
		return jen.Lit(n.Text)
	}
	return jen.Op(n.Text)
}
