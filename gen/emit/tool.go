package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"rea/gen/ir"
)

// tools emits generated/tool: for each tool its types, decoders and
// specification, and one file with the families.
func (w *writer) tools(api *ir.API) {
	s := declared(api, "tool")
	for _, t := range api.Tools {
		f := s.file(t.Name)
		root(f, t, t.Input, "Input", "the arguments")
		root(f, t, t.Output, "Output", "a result")
		f.Var().Id(specVar(t)).Op("=").Id("Spec").Add(spec(t, api))
		if len(t.Retained) > 0 {
			retained(f, t)
		}
	}
	s.file("families")
	families(s.files["families"], api)
	w.write(s)
}

func specVar(t *ir.Tool) string { return unexported(t.Go) + "Spec" }

// root emits
//
//	// DecodeListNamesInput reads and checks the arguments of list_names.
//	func DecodeListNamesInput(data []byte) (*ListNamesInput, error) {
//		v := new(ListNamesInput)
//		if err := wire.Decode(data, wire.InputDepth, v, (*ListNamesInput).DecodeJSON); err != nil {
//			return nil, err
//		}
//		return v, nil
//	}
//
// and an alias where the type is a model.
func root(f *jen.File, t *ir.Tool, typ *ir.Type, suffix, what string) {
	name := t.Go + suffix
	if typ.Pkg != "tool" || typ.Name != name {
		f.Commentf("%s is %s of %s.", name, what, t.Name)
		f.Type().Id(name).Op("=").Add(named(typ))
	}
	depth := "InputDepth"
	if suffix == "Output" || len(t.Retained) > 0 {
		depth = "RecordDepth"
	}
	f.Commentf("Decode%s reads and checks %s of %s.", name, what, t.Name)
	if typ.Kind == ir.Union {
		f.Func().Id("Decode"+name).Params(jen.Id("data").Index().Byte()).Params(jen.Id(name), jen.Error()).Block(
			jen.Var().Id("v").Id(name),
			jen.Err().Op(":=").Add(wireID("Decode")).Call(jen.Id("data"), wireID(depth), jen.Op("&").Id("v"), decodeFunc(typ)),
			jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
			jen.Return(jen.Id("v"), jen.Nil()))
		return
	}
	f.Func().Id("Decode"+name).Params(jen.Id("data").Index().Byte()).Params(jen.Op("*").Id(name), jen.Error()).Block(
		jen.Id("v").Op(":=").New(jen.Id(name)),
		jen.If(jen.Err().Op(":=").Add(wireID("Decode")).Call(jen.Id("data"), wireID(depth), jen.Id("v"), decodeFunc(typ)),
			jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Return(jen.Id("v"), jen.Nil()))
}

func strs(list []string) *jen.Statement {
	return jen.Index().String().ValuesFunc(func(g *jen.Group) {
		for _, s := range list {
			g.Lit(s)
		}
	})
}

// spec is the specification of a tool as fields of a Spec literal.
func spec(t *ir.Tool, api *ir.API) *jen.Statement {
	var d, requires, effects fields
	requires.flag("Target", t.NeedsTarget)
	if len(t.Engine) > 0 {
		requires.set("Engine", jen.Index().Qual(modelPath, "EngineCapability").Values(enumValues(api, "EngineCapability", t.Engine)...))
	}
	requires.texts("Host", t.Host)
	requires.texts("ClientRequired", t.ClientRequired)
	requires.texts("ClientOptional", t.ClientOptional)
	for _, name := range ir.Effects {
		effects.flag(camel(name), t.Effects[name])
	}
	d.set("Name", jen.Lit(t.Name))
	d.set("Family", jen.Lit(t.Family))
	d.set("Title", jen.Lit(t.Title))
	d.set("Description", jen.Lit(t.Description))
	d.set("Requires", jen.Id("Requires").Add(requires.inline()))
	d.set("Effects", jen.Id("Effects").Add(effects.inline()))
	d.set("Errors", jen.Index().Qual(faultPath, "Code").ValuesFunc(func(g *jen.Group) {
		for _, code := range t.Errors {
			i := slices.IndexFunc(api.Faults, func(f *ir.Fault) bool { return f.Code == code })
			g.Line().Qual(faultPath, api.Faults[i].Go+"Code")
		}
		g.Line()
	}))
	if e := t.Evidence; e != nil {
		var sealed fields
		sealed.set("PredicateType", jen.Lit(e.PredicateType))
		sealed.set("Confidence", enumValues(api, "EvidenceConfidence", []string{e.Confidence})[0])
		sealed.set("Authority", enumValues(api, "EvidenceAuthority", []string{e.Authority})[0])
		d.set("Evidence", jen.Op("&").Id("Evidence").Add(sealed.values()))
	}
	d.texts("Retained", t.Retained)
	d.texts("Paths", t.Paths)
	d.texts("Positional", t.Positional)
	d.flag("Hidden", t.Hidden)
	d.flag("Summarized", t.Summarized)
	d.set("Examples", jen.Index().Id("Example").ValuesFunc(func(g *jen.Group) {
		for _, e := range t.Examples {
			g.Line().Values(jen.Lit(e.Title), raw(e.Input.JSON()))
		}
		g.Line()
	}))
	return d.values()
}

// enumValues are the constants of a model enum.
func enumValues(api *ir.API, typ string, values []string) []jen.Code {
	out := make([]jen.Code, len(values))
	for i, v := range values {
		for _, t := range api.Types {
			if t.Pkg != "model" || t.Name != typ {
				continue
			}
			for _, known := range t.Values {
				if known.JSON == v {
					out[i] = jen.Qual(modelPath, known.Go)
				}
			}
		}
	}
	return out
}

// camel is the Go name of an effect.
func camel(name string) string {
	var b strings.Builder
	for _, w := range strings.Split(name, "_") {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

// families emits
//
//	type NativeHandlers interface {
//		// ListNames: List names
//		ListNames(context.Context, *ListNamesInput) (*Finding[ListNamesOutput], error)
//	}
//
//	type Families struct {
//		Native NativeHandlers
//	}
//
//	func Bindings(f Families) []Binding
//	func Specs() []*Spec
func families(f *jen.File, api *ir.API) {
	for _, family := range api.Families {
		f.Commentf("%sHandlers are the tools of family %s.", family.Go, family.Name)
		f.Type().Id(family.Go + "Handlers").InterfaceFunc(func(g *jen.Group) {
			for _, t := range family.Tools {
				g.Commentf("%s: %s", t.Go, t.Title)
				g.Id(t.Go).Params(jen.Qual("context", "Context"), inputType(t)).Params(resultType(t), jen.Error())
			}
		})
	}
	f.Comment("Families are the handlers of all families. The tools of a nil one have no binding.")
	f.Type().Id("Families").StructFunc(func(g *jen.Group) {
		for _, family := range api.Families {
			g.Id(family.Go).Id(family.Go + "Handlers")
		}
	})
	f.Comment("Bindings joins handlers and contracts, in order of tool name.")
	f.Func().Id("Bindings").Params(jen.Id("f").Id("Families")).Index().Id("Binding").BlockFunc(func(g *jen.Group) {
		g.Id("list").Op(":=").Make(jen.Index().Id("Binding"), jen.Lit(0), jen.Lit(len(api.Tools)))
		for _, family := range api.Families {
			g.If(jen.Id("h").Op(":=").Id("f").Dot(family.Go), jen.Id("h").Op("!=").Nil()).Block(
				jen.Id("list").Op("=").Append(append([]jen.Code{jen.Id("list")}, bindings(family)...)...))
		}
		g.Qual("slices", "SortFunc").Call(jen.Id("list"), jen.Func().Params(jen.List(jen.Id("a"), jen.Id("b")).Id("Binding")).Int().Block(
			jen.Return(jen.Qual("strings", "Compare").Call(jen.Id("a").Dot("Spec").Dot("Name"), jen.Id("b").Dot("Spec").Dot("Name")))))
		g.Return(jen.Id("list"))
	})
	f.Comment("Specs are all tools in order of name.")
	f.Func().Id("Specs").Params().Index().Op("*").Id("Spec").Block(
		jen.Return(jen.Index().Op("*").Id("Spec").ValuesFunc(func(g *jen.Group) {
			for _, t := range api.Tools {
				g.Line().Op("&").Id(specVar(t))
			}
			g.Line()
		})))
	f.Comment("FamilyNames are all families in order of name.")
	f.Func().Id("FamilyNames").Params().Index().String().Block(
		jen.Return(jen.Index().String().ValuesFunc(func(g *jen.Group) {
			for _, family := range api.Families {
				g.Lit(family.Name)
			}
		})))
}

func inputType(t *ir.Tool) *jen.Statement {
	if t.Input.Kind == ir.Union {
		return jen.Id(t.Go + "Input")
	}
	return jen.Op("*").Id(t.Go + "Input")
}

func resultType(t *ir.Tool) *jen.Statement {
	switch {
	case t.Evidence != nil:
		return jen.Op("*").Id("Finding").Index(jen.Id(t.Go + "Output"))
	case t.Output.Kind == ir.Union:
		return jen.Id(t.Go + "Output")
	}
	return jen.Op("*").Id(t.Go + "Output")
}

func bindings(family *ir.Family) []jen.Code {
	var out []jen.Code
	for _, t := range family.Tools {
		args := []jen.Code{jen.Op("&").Id(specVar(t)), jen.Id("Decode" + t.Go + "Input")}
		bind := "plain"
		if t.Evidence != nil {
			bind = "sealed"
			args = append(args, jen.Id("Decode"+t.Go+"Output"))
		}
		b := jen.Line().Id(bind).Call(append(args, jen.Id("h").Dot(t.Go))...)
		if len(t.Retained) > 0 {
			b.Dot("with").Call(jen.Id(evidenceFunc(t)))
		}
		out = append(out, b)
	}
	return append(out, jen.Line())
}

func evidenceFunc(t *ir.Tool) string { return unexported(t.Go) + "Evidence" }

// retained emits the finder of the Evidence inputs:
//
//	func compareFunctionsEvidence(in wire.Appender) []*model.EvidenceInput {
//		v := in.(*CompareFunctionsInput)
//		var found []*model.EvidenceInput
//		if v.Left != nil {
//			found = append(found, &v.Left)
//		}
//		return found
//	}
func retained(f *jen.File, t *ir.Tool) {
	list := jen.Index().Op("*").Qual(modelPath, "EvidenceInput")
	f.Func().Id(evidenceFunc(t)).Params(jen.Id("in").Add(wireID("Appender"))).Add(list).BlockFunc(func(g *jen.Group) {
		g.Id("v").Op(":=").Id("in").Assert(inputType(t))
		g.Var().Id("found").Add(list)
		for _, pointer := range t.Retained {
			find(g, t.Input, jen.Id("v"), strings.Split(pointer, "/")[1:], 0)
		}
		g.Return(jen.Id("found"))
	})
}

// find descends to the Evidence inputs that tokens name.
func find(g *jen.Group, t *ir.Type, at *jen.Statement, tokens []string, depth int) {
	at = jen.Add(at) // Dot and Index extend their receiver
	switch {
	case len(tokens) == 0:
		g.If(jen.Add(at).Op("!=").Nil()).Block(
			jen.Id("found").Op("=").Append(jen.Id("found"), jen.Op("&").Add(at)))
	case t.Kind == ir.Nullable:
		g.If(jen.Add(at).Op("!=").Nil()).BlockFunc(func(g *jen.Group) { find(g, t.Elem, at, tokens, depth) })
	case t.Kind == ir.Array:
		i := fmt.Sprintf("i%d", depth)
		g.For(jen.Id(i).Op(":=").Range().Add(at)).BlockFunc(func(g *jen.Group) {
			find(g, t.Elem, jen.Add(at).Index(jen.Id(i)), tokens[1:], depth+1)
		})
	case t.Kind == ir.Union:
		x := fmt.Sprintf("x%d", depth)
		g.Switch(jen.Id(x).Op(":=").Add(at).Assert(jen.Type())).BlockFunc(func(g *jen.Group) {
			for _, v := range t.Variants {
				if !slices.ContainsFunc(v.Type.Fields, func(f *ir.Field) bool { return f.JSON == tokens[0] }) {
					continue
				}
				g.Case(jen.Op("*").Add(named(v.Type))).BlockFunc(func(g *jen.Group) {
					find(g, v.Type, jen.Id(x), tokens, depth+1)
				})
			}
		})
	case t.Kind == ir.Struct:
		i := slices.IndexFunc(t.Fields, func(f *ir.Field) bool { return f.JSON == tokens[0] })
		field := t.Fields[i]
		next := jen.Add(at).Dot(field.Go)
		if field.Pointer() {
			g.If(jen.Add(next).Op("!=").Nil()).BlockFunc(func(g *jen.Group) { find(g, field.Type, next, tokens[1:], depth) })
			return
		}
		find(g, field.Type, next, tokens[1:], depth)
	}
}
