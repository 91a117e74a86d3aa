package emit

import (
	"github.com/dave/jennifer/jen"

	"rea/gen/ir"
)

// cases emits the table that the tests of generated/tool walk:
//
//	var cases = []contractCase{
//		{
//			spec:   &listNamesSpec,
//			input:  decoder(DecodeListNamesInput),
//			output: decoder(DecodeListNamesOutput),
//			rejects: []reject{{"unknown kind", `{"kind":"x"}`, "/kind"}},
//		},
//	}
func (w *writer) cases(api *ir.API) {
	f := newFile(toolPath)
	f.Var().Id("cases").Op("=").Index().Id("contractCase").ValuesFunc(func(g *jen.Group) {
		for _, t := range api.Tools {
			var c fields
			c.set("spec", jen.Op("&").Id(specVar(t)))
			c.set("input", jen.Id("decoder").Call(jen.Id("Decode"+t.Go+"Input")))
			c.set("output", jen.Id("decoder").Call(jen.Id("Decode"+t.Go+"Output")))
			c.set("rejects", jen.Index().Id("reject").ValuesFunc(func(g *jen.Group) {
				for _, r := range t.Rejects {
					g.Line().Values(jen.Lit(r.Title), raw(r.Input.JSON()), jen.Lit(r.At))
				}
				g.Line()
			}))
			g.Line().Add(c.values())
		}
		g.Line()
	})
	w.add("generated/tool/cases_gen_test.go", f)
}
