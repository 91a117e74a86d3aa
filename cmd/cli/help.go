package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"rea/cmd/terminal"
	"rea/generated/cli"
)

const environmentHelp = `Environment
  REA_ANALYSIS_PROVIDER          engine that analyses files, or auto
  GHIDRA_INSTALL_DIR, JAVA_HOME  Ghidra 12 and the JDK that runs it
  HOPPER_LAUNCHER_PATH           Hopper's launcher
  REA_GHIDRA_STARTUP_TIMEOUT_MS  how long Ghidra may take to start; 330000
  REA_HOPPER_STARTUP_TIMEOUT_MS  how long Hopper may take; 120000
  REA_MCP_TOOLSETS               families of tools that rea mcp shows
  REA_MCP_INPUT_SCHEMA_PROFILE   full or compact input schemas of rea mcp
  REA_MCP_MAX_RESPONSE_BYTES     receive buffer of the client
  NO_COLOR, COLUMNS              no colour; width of the screen

Exit codes
  0  done                             4    bytes are not the expected ones
  1  the operation failed             124  timed out
  2  wrong command line or input      130  stopped by SIGINT, 143 by SIGTERM
  3  target, engine or capability is not available
`

func (a *app) helpCommand() *ffcli.Command {
	return &ffcli.Command{
		Name:       "help",
		ShortUsage: "rea help [COMMAND]",
		ShortHelp:  "Explain a command",
		FlagSet:    flags("help"),
		Exec: func(_ context.Context, args []string) error {
			c, path := a.root(), []string{}
			for _, name := range args {
				sub := subcommand(c, name)
				if sub == nil {
					return unknownCommand(path, c, []string{name})
				}
				c, path = sub, append(path, name)
			}
			if len(path) == 0 {
				return a.printOverview(c)
			}
			return a.printHelp(path, c)
		},
	}
}

// printOverview lists the commands, tools by family.
func (a *app) printOverview(root *ffcli.Command) error {
	screen := terminal.Of(a.out, a.getenv)
	var b strings.Builder
	b.WriteString("rea takes software apart and keeps what was found as evidence.\n\n")
	b.WriteString(screen.Paint(terminal.Bold, "Usage") + "\n  rea COMMAND [flags] [arguments]\n\n")
	b.WriteString("Begin with rea analyze FILE. Tools have the same names here and on MCP.\n\n")
	var families []string
	tools := map[string]cli.Command{}
	for _, c := range commands() {
		if !c.Hidden {
			tools[c.Name] = c
			families = append(families, c.Family)
		}
	}
	slices.Sort(families)
	families = slices.Compact(families)
	group := func(head string, want func(*ffcli.Command) bool) {
		fmt.Fprintln(&b, screen.Paint(terminal.Bold, head))
		for _, c := range root.Subcommands {
			if want(c) && c.ShortHelp != "" {
				line := "  " + terminal.Pad(c.Name, 30) + " " + c.ShortHelp
				if screen.Width > 0 {
					line = terminal.Truncate(line, screen.Width)
				}
				fmt.Fprintln(&b, line)
			}
		}
		fmt.Fprintln(&b)
	}
	group("Commands", func(c *ffcli.Command) bool { _, isTool := tools[c.Name]; return !isTool })
	for _, family := range families {
		group("Tools: "+family, func(c *ffcli.Command) bool { return tools[c.Name].Family == family })
	}
	b.WriteString(environmentHelp)
	b.WriteString("\nrea help COMMAND explains a command.\n")
	_, err := io.WriteString(a.out, b.String())
	return err
}

// printHelp explains one command.
func (a *app) printHelp(path []string, c *ffcli.Command) error {
	screen := terminal.Of(a.out, a.getenv)
	width := screen.Width
	if width == 0 {
		width = 100
	}
	var b strings.Builder
	name := strings.Join(path, " ")
	fmt.Fprintf(&b, "%s: %s\n", screen.Paint(terminal.Bold, "rea "+name), c.ShortHelp)
	if c.LongHelp != "" {
		b.WriteByte('\n')
		for para := range strings.SplitSeq(c.LongHelp, "\n") {
			for _, l := range terminal.Wrap(para, width-2) {
				fmt.Fprintf(&b, "  %s\n", l)
			}
		}
	}
	fmt.Fprintf(&b, "\n%s\n  %s\n", screen.Paint(terminal.Bold, "Usage"), c.ShortUsage)
	var rows [][2]string
	if t := toolNamed(name); t != nil {
		rows = toolArguments(t)
		section(&b, screen, "Arguments", rows, width)
		rows = nil
		for i := range t.Flags {
			rows = append(rows, flagRow(&t.Flags[i]))
		}
		section(&b, screen, "Input", rows, width)
		rows = nil
		c.FlagSet.VisitAll(func(f *flag.Flag) {
			if _, own := f.Value.(field); !own {
				rows = append(rows, plainFlagRow(f))
			}
		})
		section(&b, screen, "Flags", rows, width)
		writeExamples(&b, screen, examples(t))
	} else {
		c.FlagSet.VisitAll(func(f *flag.Flag) { rows = append(rows, plainFlagRow(f)) })
		section(&b, screen, "Flags", rows, width)
	}
	rows = nil
	for _, sub := range c.Subcommands {
		rows = append(rows, [2]string{sub.Name, sub.ShortHelp})
	}
	section(&b, screen, "Commands", rows, width)
	_, err := io.WriteString(a.out, b.String())
	return err
}

func writeExamples(b *strings.Builder, screen terminal.Screen, list [][2]string) {
	if len(list) > 0 {
		fmt.Fprintf(b, "\n%s\n", screen.Paint(terminal.Bold, "Examples"))
	}
	for _, e := range list {
		fmt.Fprintf(b, "  %s\n  %s\n", screen.Paint(terminal.Faint, "# "+e[1]), e[0])
	}
}

func toolNamed(command string) *cli.Command {
	list := commands()
	i := slices.IndexFunc(list, func(c cli.Command) bool { return c.Name == command })
	if i < 0 {
		return nil
	}
	return &list[i]
}

func toolArguments(t *cli.Command) [][2]string {
	var rows [][2]string
	if t.Target {
		rows = append(rows, [2]string{"FILE", "Binary to open."})
	}
	for i := range t.Positionals {
		rows = append(rows, [2]string{placeholder(&t.Positionals[i]), t.Positionals[i].Help})
	}
	return rows
}

// section writes rows in two columns, the second wrapped.
func section(b *strings.Builder, screen terminal.Screen, head string, rows [][2]string, width int) {
	if len(rows) == 0 {
		return
	}
	column := 0
	for _, r := range rows {
		if w := terminal.Width(r[0]); w <= 30 {
			column = max(column, w)
		}
	}
	fmt.Fprintf(b, "\n%s\n", screen.Paint(terminal.Bold, head))
	for _, r := range rows {
		lead := "  " + terminal.Pad(r[0], column)
		for _, l := range terminal.Wrap(r[1], max(20, width-column-4)) {
			if terminal.Width(lead) > column+2 {
				fmt.Fprintln(b, lead)
				lead = strings.Repeat(" ", column+2)
			}
			fmt.Fprintln(b, strings.TrimRight(lead+"  "+l, " "))
			lead = strings.Repeat(" ", column+2)
		}
	}
}

func flagRow(arg *cli.Argument) [2]string {
	lead := "--" + arg.Name
	switch {
	case len(arg.Enum) > 0:
		lead += " " + valueName(arg)
	case arg.Type != cli.Boolean:
		lead += " " + valueName(arg)
	}
	help := arg.Help
	if len(arg.Enum) > 0 {
		help = join(help, "One of "+list(arg.Enum)+".")
	}
	if arg.Repeated {
		help = join(help, "May be given several times.")
	}
	switch {
	case arg.Record:
		help = join(help, "A record: @FILE with what --format json printed, @BUNDLE#ev_… for one of a bundle, JSON, or - for standard input.")
	case arg.Type == cli.JSON:
		help = join(help, "JSON, @file or -.")
	}
	if arg.Default != "" && arg.Default != "false" {
		help = join(help, "Default "+strings.Trim(arg.Default, `"`)+".")
	}
	return [2]string{lead, help}
}

func valueName(arg *cli.Argument) string {
	switch arg.Type {
	case cli.Integer, cli.Number:
		return "N"
	case cli.Path:
		return "FILE"
	case cli.JSON:
		return "JSON"
	}
	return "TEXT"
}

func plainFlagRow(f *flag.Flag) [2]string {
	value, help := flag.UnquoteUsage(f)
	lead := "--" + f.Name
	if value != "" && !isBool(f) {
		lead += " " + value
	}
	if f.DefValue != "" && f.DefValue != "0" && f.DefValue != "0s" && f.DefValue != "false" {
		help += " (default " + f.DefValue + ")"
	}
	return [2]string{lead, help}
}

func join(parts ...string) string {
	return strings.TrimSpace(strings.Join(parts, " "))
}

// list writes words as prose does: a, b or c.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
