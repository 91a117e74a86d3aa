package cli

import (
	"flag"
	"io"

	"github.com/peterbourgon/ff/v3/ffcli"
)

// root is the tree of commands: those of this package, then one for every tool.
func (a *app) root() *ffcli.Command {
	root := &ffcli.Command{
		Name:    "rea",
		FlagSet: flags("rea"),
		Subcommands: []*ffcli.Command{
			a.analyzeCommand(),
			a.graphCommand(),
			a.serverCommand(),
			a.doctorCommand(),
			a.setupCommand(),
			a.uninstallCommand(),
			a.snippetCommand(),
			a.providersCommand(),
			a.catalogCommand(),
			a.versionCommand(),
			a.completionCommand(),
			a.completeCommand(),
			a.helpCommand(),
		},
	}
	tools := commands()
	for i := range tools {
		command := a.toolCommand
		if tools[i].Tool == inspectTool {
			command = a.inspectBundleCommand
		}
		root.Subcommands = append(root.Subcommands, command(&tools[i]))
	}
	return root
}

// flags is a flag set that leaves reporting to us.
func flags(name string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return fs
}

// choice is a flag with a closed set of values.
type choice struct {
	value   *string
	allowed []string
}

func (c choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c choice) Set(s string) error {
	if !contains(c.allowed, s) {
		return usagef("", "%q is not one of %s", s, list(c.allowed))
	}
	*c.value = s
	return nil
}

// formatFlag adds --format to fs.
func formatFlag(fs *flag.FlagSet, value *string) {
	*value = "text"
	fs.Var(choice{value, []string{"text", "json"}}, "format", "how the result is printed: `text|json`")
}
