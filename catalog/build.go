package catalog

import (
	"encoding/json"
	"strings"

	"rea/generated/catalog"
	"rea/generated/cli"
	"rea/generated/schema"
	"rea/generated/tool"
)

// FormatVersion of the document; it changes when a reader would have to.
const FormatVersion = 1

// New makes the document of this build. Engines and the commands that are not
// tools come from whoever knows them.
func New(engines []catalog.Engine, commands []catalog.Command) *catalog.Document {
	pkg, revision := Built()
	doc := &catalog.Document{
		FormatVersion: FormatVersion,
		Package:       pkg,
		Revision:      revision,
		CatalogDigest: Digest(),
		Providers:     engines,
		Errors:        catalog.Faults(),
		Commands:      commands,
	}
	byFamily := map[string]*catalog.Family{}
	for _, name := range tool.FamilyNames() {
		doc.Families = append(doc.Families, catalog.Family{Name: name, Tools: []string{}})
	}
	for i := range doc.Families {
		byFamily[doc.Families[i].Name] = &doc.Families[i]
	}
	for _, spec := range tool.Specs() {
		doc.Tools = append(doc.Tools, toolOf(spec))
		f := byFamily[spec.Family]
		f.Tools = append(f.Tools, spec.Name)
	}
	for _, c := range cli.Commands() {
		doc.Commands = append(doc.Commands, toolCommand(&c))
	}
	return doc
}

func toolOf(spec *tool.Spec) catalog.Tool {
	t := catalog.Tool{
		Name: spec.Name, Title: spec.Title, Description: spec.Description, Family: spec.Family,
		Command: strings.ReplaceAll(spec.Name, "_", "-"),
		Requires: catalog.Requires{
			Target: spec.Requires.Target, Engine: words(spec.Requires.Engine), Host: words(spec.Requires.Host),
			ClientRequired: words(spec.Requires.ClientRequired), ClientOptional: words(spec.Requires.ClientOptional),
		},
		Effects: catalog.Effects{
			RecordsEvidence: spec.Effects.RecordsEvidence, ReadsTarget: spec.Effects.ReadsTarget,
			ChangesSession: spec.Effects.ChangesSession, DiscardsData: spec.Effects.DiscardsData,
			WritesFiles: spec.Effects.WritesFiles, StartsProcesses: spec.Effects.StartsProcesses,
			ExecutesForeignCode: spec.Effects.ExecutesForeignCode, MutatesDevice: spec.Effects.MutatesDevice,
			UsesNetwork: spec.Effects.UsesNetwork, Idempotent: spec.Effects.Idempotent,
		},
		Annotations: catalog.Annotations{
			ReadOnlyHint: spec.Effects.ReadOnly(), DestructiveHint: spec.Effects.Destructive(),
			IdempotentHint: spec.Effects.Idempotent, OpenWorldHint: spec.Effects.OpenWorld(),
		},
		Errors:             words(spec.Errors),
		Examples:           []catalog.Example{},
		InputSchema:        json.RawMessage(schema.Input(spec.Name, schema.Full)),
		CompactInputSchema: json.RawMessage(schema.Input(spec.Name, schema.Compact)),
		OutputSchema:       json.RawMessage(schema.Output(spec.Name)),
	}
	if e := spec.Evidence; e != nil {
		t.Evidence = &catalog.Evidence{PredicateType: e.PredicateType, Confidence: string(e.Confidence), Authority: string(e.Authority)}
	}
	for _, e := range spec.Examples {
		t.Examples = append(t.Examples, catalog.Example{Title: e.Title, Input: json.RawMessage(e.Input)})
	}
	return t
}

func toolCommand(c *cli.Command) catalog.Command {
	out := catalog.Command{Name: c.Name, Usage: usage(c), Help: c.Title, Tool: &c.Tool, Flags: []catalog.Flag{}}
	for i := range c.Flags {
		f := &c.Flags[i]
		flag := catalog.Flag{Name: f.Name, Type: string(f.Type), Help: f.Help, Enum: f.Enum}
		if f.Default != "" {
			flag.Default = &f.Default
		}
		if f.Repeated {
			flag.Repeated = &f.Repeated
		}
		out.Flags = append(out.Flags, flag)
	}
	return out
}

// usage is a tool's command with its positional arguments.
func usage(c *cli.Command) string {
	s := "rea " + c.Name
	if c.Target {
		s += " FILE"
	}
	for _, p := range c.Positionals {
		name := strings.ToUpper(strings.ReplaceAll(p.Name, "-", "_"))
		if p.Repeated {
			name += "..."
		}
		if !p.Required {
			name = "[" + name + "]"
		}
		s += " " + name
	}
	return s
}

func words[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}
