package emit

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/atombender/go-jsonschema/pkg/generator"
	"github.com/atombender/go-jsonschema/pkg/schemas"
	"github.com/dave/jennifer/jen"

	"rea/gen/ir"
	"rea/gen/load"
	"rea/gen/project"
)

const catalogPath = "rea/generated/catalog"

// catalog emits generated/catalog: the types of the exported document, and the
// errors as data.
//
// The document is what go-jsonschema does well: plain structs that are only
// written. It is not used for tools, values and errors, where it has no unions,
// loses null, constants and 64-bit bounds, and forgets the order of properties.
func (w *writer) catalog(set *load.Set, api *ir.API) error {
	source, err := documentTypes(set.Catalog)
	if err != nil {
		return fmt.Errorf("contracts/catalog.json: %w", err)
	}
	w.files["generated/catalog/document.gen.go"] = source
	schema, err := load.Parse("contracts/catalog.json", set.Catalog)
	if err != nil {
		return err
	}
	f := newFile(catalogPath)
	f.Comment("Schema is the schema of the document.")
	f.Const().Id("Schema").Op("=").Add(raw(project.Plain(schema).JSON()))
	f.Comment("Faults are all errors that calls can return, in order of code.")
	var list []jen.Code
	for _, x := range api.Faults {
		details, err := project.Contained(set, x.Node.At("$defs", "details"))
		if err != nil {
			return err
		}
		var d fields
		d.set("Code", jen.Lit(x.Code))
		d.set("Category", jen.Lit(x.Category))
		d.set("Title", jen.Lit(x.Title))
		d.set("Description", jen.Lit(x.Doc))
		d.set("Message", jen.Lit(template(x.Message)))
		d.flag("Retryable", x.Retryable)
		d.set("Action", jen.Lit(template(x.Action)))
		d.flag("RestartRequired", x.Restart)
		d.set("DetailsSchema", jen.Qual("encoding/json", "RawMessage").Call(raw(project.Canonical(details).JSON())))
		list = append(list, jen.Line().Add(d.values()))
	}
	f.Func().Id("Faults").Params().Index().Id("Fault").Block(
		jen.Return(jen.Index().Id("Fault").Values(append(list, jen.Line())...)))
	w.add("generated/catalog/faults.gen.go", f)
	return nil
}

// template is a message or an action with its properties in braces.
func template(parts []ir.Part) string {
	text := ""
	for _, p := range parts {
		text += p.Text
		if p.Field != nil {
			text += "{" + p.Field.JSON + "}"
		}
	}
	return text
}

// documentTypes are the Go types of a schema that has no unions.
func documentTypes(schema []byte) ([]byte, error) {
	const file = "document.gen.go"
	var warnings []error
	g, err := generator.New(generator.Config{
		DefaultPackageName:        catalogPath,
		DefaultOutputName:         file,
		OnlyModels:                true,
		DisableOmitZero:           true,
		DisableCustomTypesForMaps: true,
		StructNameFromTitle:       true,
		Capitalizations:           []string{"ID"},
		Tags:                      []string{"json"},
		Loader:                    schemas.MultiLoader{},
		Warner:                    func(text string) { warnings = append(warnings, errors.New(text)) },
	})
	if err != nil {
		return nil, err
	}
	s, err := schemas.FromJSONReader(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	if err := g.AddFile("document.json", s); err != nil {
		return nil, err
	}
	sources, err := g.Sources()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(warnings...); err != nil {
		return nil, err
	}
	return sources[file], nil
}
