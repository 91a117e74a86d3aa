package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"rea/gen/ir"
	"rea/gen/load"
	"rea/gen/project"
)

const schemaPath = "rea/generated/schema"

// A schemaSet is one tool's schemas, in the order of blobs.
type schemaSet [5]*load.Node

// blobs are the files that the schemas are embedded from, one line a tool.
var blobs = [5]string{"canonical_input", "canonical_output", "full_input", "compact_input", "output"}

// projected is every schema of every tool.
func projected(set *load.Set, api *ir.API) ([]schemaSet, error) {
	record, err := modelSchema(set, "evidence_record")
	if err != nil {
		return nil, err
	}
	out := make([]schemaSet, len(api.Tools))
	for i, t := range api.Tools {
		input, err := project.Contained(set, t.Node.At("$defs", "input"))
		if err != nil {
			return nil, err
		}
		output, err := project.Contained(set, t.Node.At("$defs", "output"))
		if err != nil {
			return nil, err
		}
		var examples []*load.Node
		for _, e := range t.Examples {
			examples = append(examples, e.Input)
		}
		var sealed *load.Node
		if t.Evidence != nil {
			sealed = record
		}
		result := output
		if t.Summarized { // detail summary gives a view of the result
			view, err := modelSchema(set, "analysis_view_result")
			if err != nil {
				return nil, err
			}
			result = project.Either(output, view)
		}
		out[i] = schemaSet{
			project.Canonical(input),
			project.Canonical(output),
			project.Full(input, examples),
			project.Compact(input),
			project.Output(result, sealed),
		}
	}
	return out, nil
}

func modelSchema(set *load.Set, name string) (*load.Node, error) {
	for _, doc := range set.Models {
		if doc.Name == name {
			return project.Contained(set, doc.Root)
		}
	}
	return nil, fmt.Errorf("contracts/models/%s.json: the schema is missing", name)
}

// schemas emits the blobs and the index into them:
//
//	var index = []entry{
//		{"address_name", [blobs][2]int{{0, 310}, …}},
//	}
func (w *writer) schemas(api *ir.API, all []schemaSet) {
	var data [len(blobs)][]byte
	f := newFile(schemaPath)
	f.Var().Id("index").Op("=").Index().Id("entry").ValuesFunc(func(g *jen.Group) {
		for i, t := range api.Tools {
			g.Line().Values(jen.Lit(t.Name), jen.Index(jen.Id("blobs")).Index(jen.Lit(2)).Int().ValuesFunc(func(g *jen.Group) {
				for k, n := range all[i] {
					start := len(data[k])
					data[k] = n.AppendJSON(data[k])
					g.Values(jen.Lit(start), jen.Lit(len(data[k])))
					data[k] = append(data[k], '\n')
				}
			}))
		}
		g.Line()
	})
	w.add("generated/schema/index.gen.go", f)
	for k, name := range blobs {
		w.files["generated/schema/"+name+".gen.jsonl"] = data[k]
	}
}
