package cli

import (
	"context"
	"flag"
	"fmt"

	"github.com/peterbourgon/ff/v3/ffcli"

	"rea/catalog"
	"rea/cmd/setup/skill"
	data "rea/generated/catalog"
)

func (a *app) catalogCommand() *ffcli.Command {
	fs := flags("export")
	out := fs.String("out", "", "`dir` to write to; it is made if need be")
	export := &ffcli.Command{
		Name:       "export",
		ShortUsage: "rea catalog export --out DIR",
		ShortHelp:  "Write the catalog of tools as JSON and as a page",
		LongHelp:   "Writes product-catalog.json and index.html, a page that needs nothing else, and SKILL.md, the guide for agents. Files that exist are replaced as a whole.",
		FlagSet:    fs,
		Exec: func(_ context.Context, args []string) error {
			if *out == "" || len(args) > 0 {
				return usagef("usage: rea catalog export --out DIR", "catalog export needs the folder to write to")
			}
			paths, err := catalog.Export(*out, catalog.New(catalogEngines(), catalogCommands(a.root())), skill.Text())
			if err != nil {
				return err
			}
			for _, p := range paths {
				fmt.Fprintln(a.out, p)
			}
			return nil
		},
	}
	return &ffcli.Command{
		Name:        "catalog",
		ShortUsage:  "rea catalog export --out DIR",
		ShortHelp:   "Write the catalog of tools for documentation",
		FlagSet:     flags("catalog"),
		Subcommands: []*ffcli.Command{export},
	}
}

// catalogCommands describes the commands that are no tools.
func catalogCommands(root *ffcli.Command) []data.Command {
	var out []data.Command
	for _, c := range root.Subcommands {
		if t := toolNamed(c.Name); c.ShortHelp == "" || t != nil && t.Tool != inspectTool {
			continue
		}
		if c.Exec == nil {
			for _, sub := range c.Subcommands {
				out = append(out, catalogCommand(c.Name+" "+sub.Name, sub))
			}
			continue
		}
		out = append(out, catalogCommand(c.Name, c))
	}
	return out
}

func catalogCommand(name string, c *ffcli.Command) data.Command {
	out := data.Command{Name: name, Usage: c.ShortUsage, Help: c.ShortHelp, Flags: []data.Flag{}}
	c.FlagSet.VisitAll(func(f *flag.Flag) {
		_, help := flag.UnquoteUsage(f)
		kind := "string"
		if isBool(f) {
			kind = "boolean"
		}
		spec := data.Flag{Name: f.Name, Type: kind, Help: help}
		if f.DefValue != "" {
			spec.Default = &f.DefValue
		}
		if v, ok := f.Value.(choice); ok {
			spec.Enum = v.allowed
		}
		out.Flags = append(out.Flags, spec)
	})
	return out
}
