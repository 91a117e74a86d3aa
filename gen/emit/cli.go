package emit

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"rea/gen/ir"
)

const cliPath = "rea/generated/cli"

// commands emits the table
//
//	var commands = []Command{{Name: "list-names", Tool: "list_names", …}}
//
//	func Commands() []Command
func (w *writer) commands(api *ir.API) {
	f := newFile(cliPath)
	f.Comment("Commands are the commands of all tools, in order of name.")
	f.Func().Id("Commands").Params().Index().Id("Command").Block(jen.Return(jen.Id("commands")))
	f.Var().Id("commands").Op("=").Index().Id("Command").ValuesFunc(func(g *jen.Group) {
		for _, t := range api.Tools {
			g.Line().Add(command(t))
		}
		g.Line()
	})
	w.add("generated/cli/commands.gen.go", f)
}

func kebab(name string) string { return strings.ReplaceAll(name, "_", "-") }

func command(t *ir.Tool) jen.Code {
	var d fields
	d.set("Name", jen.Lit(kebab(t.Name)))
	d.set("Tool", jen.Lit(t.Name))
	d.set("Family", jen.Lit(t.Family))
	d.set("Title", jen.Lit(t.Title))
	d.set("Description", jen.Lit(t.Description))
	d.flag("Target", t.NeedsTarget)
	var flags []argument
	for _, field := range t.TopFields() {
		flags = append(flags, arguments(field, "", "", requiredIn(t, field), 0)...)
	}
	var positionals []argument
	for _, name := range t.Positional {
		if i := slices.IndexFunc(flags, func(a argument) bool { return a.pointer == "/"+name }); i >= 0 {
			positionals = append(positionals, flags[i])
		}
	}
	if len(positionals) > 0 {
		d.set("Positionals", argumentList(positionals))
	}
	if len(flags) > 0 {
		d.set("Flags", argumentList(flags))
	}
	d.flag("Hidden", t.Hidden)
	return d.values()
}

// requiredIn reports whether every variant of the input requires the property.
func requiredIn(t *ir.Tool, field *ir.Field) bool {
	for _, v := range t.Input.Variants {
		if !slices.ContainsFunc(v.Type.Fields, func(f *ir.Field) bool { return f.JSON == field.JSON && f.Required }) {
			return false
		}
	}
	return field.Required
}

type argument struct {
	name, pointer, typ, help, fallback string
	enum                               []string
	required, repeated, record         bool
}

// arguments are the flags of one property: one, or for an object of fixed
// properties one each.
func arguments(field *ir.Field, prefix, pointer string, required bool, depth int) []argument {
	a := argument{name: prefix + kebab(field.JSON), pointer: pointer + "/" + field.JSON,
		help: field.Doc, required: required}
	t := field.Type
	for t.Kind == ir.Nullable {
		t = t.Elem
	}
	// References are to records of a connection, which a command has none of.
	a.record = t.Name == "EvidenceInput" && t.Pkg == "model"
	switch {
	case a.record && a.help == t.Doc:
		a.help = ""
	case a.help == "" && !a.record:
		a.help = field.Type.Doc
	}
	if t.Kind == ir.Struct && depth == 0 && len(t.Fields) > 0 {
		var out []argument
		for _, inner := range t.Fields {
			out = append(out, arguments(inner, a.name+"-", a.pointer, required && inner.Required, depth+1)...)
		}
		return out
	}
	if field.Default != nil {
		a.fallback = field.Default.JSON()
	}
	if t.Kind == ir.Array && scalar(t.Elem) != "JSON" {
		a.repeated = true
		t = t.Elem
	}
	a.typ = scalar(t)
	for _, v := range t.Values {
		a.enum = append(a.enum, v.JSON)
	}
	if t.Kind == ir.Const {
		a.enum = []string{strings.Trim(t.Const.JSON(), `"`)}
	}
	return []argument{a}
}

// scalar is the cli.Type of a type.
func scalar(t *ir.Type) string {
	switch t.Kind {
	case ir.String:
		if t.Path {
			return "Path"
		}
		return "String"
	case ir.Enum, ir.Address:
		return "String"
	case ir.Integer, ir.Unsigned:
		return "Integer"
	case ir.Number:
		return "Number"
	case ir.Boolean:
		return "Boolean"
	case ir.Const:
		switch goType(t).GoString() {
		case "string":
			return "String"
		case "int64":
			return "Integer"
		}
		return "Boolean"
	}
	return "JSON"
}

func argumentList(args []argument) *jen.Statement {
	return jen.Index().Id("Argument").ValuesFunc(func(g *jen.Group) {
		for _, a := range args {
			var d fields
			d.set("Name", jen.Lit(a.name))
			d.set("Pointer", jen.Lit(a.pointer))
			d.set("Type", jen.Id(a.typ))
			if a.help != "" {
				d.set("Help", jen.Lit(a.help))
			}
			if a.fallback != "" {
				d.set("Default", raw(a.fallback))
			}
			d.texts("Enum", a.enum)
			d.flag("Required", a.required)
			d.flag("Repeated", a.repeated)
			d.flag("Record", a.record)
			g.Line().Add(d.inline())
		}
		g.Line()
	})
}
