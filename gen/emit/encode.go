package emit

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"rea/gen/ir"
)

// encoder emits
//
//	func (v *Bookmark) AppendJSON(b []byte) []byte {
//		b = append(b, `{"address":`...)
//		b = v.Address.AppendJSON(b)
//		b = append(b, `,"name":`...)
//		b = wire.AppendString(b, v.Name)
//		return append(b, '}')
//	}
func encoder(f *jen.File, t *ir.Type) {
	f.Comment("AppendJSON appends the object.")
	f.Func().Params(jen.Id("v").Op("*").Id(t.Name)).Id("AppendJSON").Params(jen.Id("b").Index().Byte()).Index().Byte().BlockFunc(func(g *jen.Group) {
		text := "{"     // constant text not yet written
		first := true   // no property before this one in every value
		written := true // everything before text is written without conditions
		flush := func(g *jen.Group) {
			if text != "" {
				g.Id("b").Op("=").Append(jen.Id("b"), raw(text).Op("..."))
				text = ""
			}
		}
		for _, field := range t.Fields {
			key := strconv.Quote(field.JSON) + ":"
			always := field.Required || field.Default != nil
			if always && (first && written || !first) {
				if !first {
					key = "," + key
				}
				first = false
				text += key
				if field.Type.Kind == ir.Const && field.Required {
					text += field.Type.Const.JSON()
					continue
				}
				flush(g)
				g.Id("b").Op("=").Add(encode(field.Type, jen.Id("v").Dot(field.Go)))
				continue
			}
			flush(g)
			write := func(g *jen.Group) {
				if first && !written {
					g.Id("b").Op("=").Add(wireID("Comma")).Call(jen.Id("b"))
				} else if !first {
					key = "," + key
				}
				if field.Type.Kind == ir.Const && field.Required {
					g.Id("b").Op("=").Append(jen.Id("b"), raw(key+field.Type.Const.JSON()).Op("..."))
					return
				}
				g.Id("b").Op("=").Append(jen.Id("b"), raw(key).Op("..."))
				value := jen.Id("v").Dot(field.Go)
				if field.Pointer() && field.Type.Kind != ir.Struct && field.Type.Kind != ir.Address {
					value = jen.Op("*").Add(value)
				}
				g.Id("b").Op("=").Add(encode(field.Type, value))
			}
			if always {
				write(g)
				first = false
			} else {
				g.If(jen.Id("v").Dot(field.Go).Op("!=").Nil()).BlockFunc(write)
				written = false
			}
		}
		text += "}"
		g.Return(jen.Append(jen.Id("b"), raw(text).Op("...")))
	})
}

// raw is a string literal in back quotes where that is possible.
func raw(s string) *jen.Statement {
	if strconv.CanBackquote(s) {
		return jen.Op("`" + s + "`")
	}
	return jen.Lit(s)
}

// encode is the expression that appends value to b.
func encode(t *ir.Type, value *jen.Statement) *jen.Statement {
	call := func(name string, more ...jen.Code) *jen.Statement {
		return wireID(name).Call(append([]jen.Code{jen.Id("b"), value}, more...)...)
	}
	switch t.Kind {
	case ir.String, ir.Enum:
		return call("AppendString")
	case ir.Integer:
		return call("AppendInt")
	case ir.Unsigned:
		return call("AppendUint")
	case ir.Number:
		return call("AppendFloat")
	case ir.Boolean:
		return call("AppendBool")
	case ir.Any:
		return call("AppendAny")
	case ir.Array:
		if t.Elem.Kind == ir.Integer {
			return call("AppendInts")
		}
		return call("AppendSlice", encodeFunc(t.Elem))
	case ir.Map:
		return call("AppendMap", encodeFunc(t.Elem))
	case ir.Union:
		return call("AppendUnion")
	case ir.Nullable:
		switch t.Elem.Kind {
		case ir.Union:
			return call("AppendUnion")
		case ir.Array:
			return call("AppendNullableSlice", encodeFunc(t.Elem.Elem))
		case ir.Map:
			return call("AppendNullableMap", encodeFunc(t.Elem.Elem))
		}
		return call("AppendNullable", encodeFunc(t.Elem))
	case ir.Const:
		switch t.Const.Kind.String() {
		case "a string":
			return call("AppendString")
		case "a number":
			return call("AppendInt")
		}
		return call("AppendBool")
	}
	return jen.Add(value).Dot("AppendJSON").Call(jen.Id("b")) // Struct, Address
}

// encodeFunc is a func(*T, []byte) []byte.
func encodeFunc(t *ir.Type) *jen.Statement {
	if t.Kind == ir.Struct || t.Kind == ir.Address {
		return jen.Parens(jen.Op("*").Add(goType(t))).Dot("AppendJSON")
	}
	return jen.Func().Params(jen.Id("v").Op("*").Add(goType(t)), jen.Id("b").Index().Byte()).Index().Byte().Block(
		jen.Return(encode(t, jen.Op("*").Id("v"))))
}
