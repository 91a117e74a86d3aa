package cli

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"rea/generated/cli"
)

// The scripts only hand the words typed so far to "rea __complete", so that
// what they offer is always what this program takes.
//
//go:embed completion
var completionScripts embed.FS

var shells = []string{"bash", "zsh", "fish"}

func (a *app) completionCommand() *ffcli.Command {
	return &ffcli.Command{
		Name:       "completion",
		ShortUsage: "rea completion bash|zsh|fish",
		ShortHelp:  "Print a completion script for a shell",
		LongHelp: "bash: source <(rea completion bash), best in ~/.bashrc\n" +
			"zsh: rea completion zsh > a file named _rea in a folder of $fpath\n" +
			"fish: rea completion fish > ~/.config/fish/completions/rea.fish",
		FlagSet: flags("completion"),
		Exec: func(_ context.Context, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				return usagef("usage: rea completion bash|zsh|fish", "completion needs the name of a shell: %s", list(shells))
			}
			script, err := completionScripts.ReadFile("completion/rea." + args[0])
			if err != nil {
				return err
			}
			_, err = a.out.Write(script)
			return err
		},
	}
}

// completeCommand prints what may stand in place of the last word: one
// candidate a line, after a tab its meaning. ":files" stands for file names.
func (a *app) completeCommand() *ffcli.Command {
	fs := flags("__complete")
	return &ffcli.Command{
		Name:       "__complete",
		ShortUsage: "rea __complete -- WORD...",
		FlagSet:    fs,
		Exec: func(_ context.Context, args []string) error {
			for _, c := range complete(a.root(), args) {
				if _, err := fmt.Fprintf(a.out, "%s\t%s\n", c.word, c.help); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

type candidate struct{ word, help string }

// files asks the shell for file names.
var files = candidate{word: ":files"}

func complete(root *ffcli.Command, words []string) []candidate {
	if len(words) == 0 {
		words = []string{""}
	}
	last, before := words[len(words)-1], words[:len(words)-1]
	command := root
	for len(before) > 0 {
		sub := subcommand(command, before[0])
		if sub == nil {
			break
		}
		command, before = sub, before[1:]
	}
	var out []candidate
	if len(command.Subcommands) > 0 || command.Name == "help" {
		for _, sub := range root.Subcommands {
			if command != root && command.Name != "help" {
				break
			}
			if sub.ShortHelp != "" {
				out = append(out, candidate{sub.Name, sub.ShortHelp})
			}
		}
		if command != root {
			for _, sub := range command.Subcommands {
				out = append(out, candidate{sub.Name, sub.ShortHelp})
			}
		}
		return matching(out, last)
	}
	positionals, waiting := scan(command.FlagSet, before)
	if waiting != nil {
		return flagValues(waiting, last)
	}
	if name, value, ok := strings.Cut(last, "="); ok && strings.HasPrefix(name, "-") {
		if f := command.FlagSet.Lookup(strings.TrimLeft(name, "-")); f != nil {
			return flagValues(f, value)
		}
	}
	if strings.HasPrefix(last, "-") {
		command.FlagSet.VisitAll(func(f *flag.Flag) {
			out = append(out, candidate{"--" + f.Name, strings.ReplaceAll(f.Usage, "`", "")})
		})
		return matching(out, last)
	}
	return matching(positionalValues(command, positionals), last)
}

// scan counts the positional arguments among words, and finds the flag that
// still waits for its value.
func scan(fs *flag.FlagSet, words []string) (positionals int, waiting *flag.Flag) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if !strings.HasPrefix(w, "-") || w == "-" {
			if w != "=" {
				positionals++
			}
			continue
		}
		name, _, valued := strings.Cut(strings.TrimLeft(w, "-"), "=")
		f := fs.Lookup(name)
		if f == nil || valued || isBool(f) {
			continue
		}
		i++
		if i < len(words) && words[i] == "=" { // bash breaks words at =
			i++
		}
		if i >= len(words) {
			return positionals, f
		}
	}
	return positionals, nil
}

func flagValues(f *flag.Flag, prefix string) []candidate {
	if prefix == "=" {
		prefix = ""
	}
	var out []candidate
	switch v := f.Value.(type) {
	case choice:
		for _, word := range v.allowed {
			out = append(out, candidate{word: word})
		}
	case clientList:
		return matching(clientNames(), prefix)
	case field:
		for _, word := range v.arg.Enum {
			out = append(out, candidate{word: word})
		}
		if v.arg.Type == cli.Path {
			return []candidate{files}
		}
		if v.arg.Type == cli.Boolean {
			out = []candidate{{word: "true"}, {word: "false"}}
		}
	default:
		if placeholder, _ := flag.UnquoteUsage(f); placeholder == "dir" || placeholder == "file" {
			return []candidate{files}
		}
	}
	return matching(out, prefix)
}

func positionalValues(c *ffcli.Command, before int) []candidate {
	switch c.Name {
	case "analyze":
		return []candidate{files}
	case "graph":
		if before == 0 {
			return []candidate{files}
		}
		return nil
	case "mcp-config":
		return clientNames()
	case "completion":
		var out []candidate
		for _, s := range shells {
			out = append(out, candidate{word: s})
		}
		return out
	}
	t := toolNamed(c.Name)
	if t == nil {
		return nil
	}
	if t.Target {
		if before == 0 {
			return []candidate{files}
		}
		before--
	}
	if before >= len(t.Positionals) {
		return nil
	}
	p := &t.Positionals[before]
	if p.Type == cli.Path {
		return []candidate{files}
	}
	var out []candidate
	for _, word := range p.Enum {
		out = append(out, candidate{word: word})
	}
	return out
}

func matching(all []candidate, prefix string) []candidate {
	var out []candidate
	for _, c := range all {
		if c == files || strings.HasPrefix(c.word, prefix) {
			out = append(out, c)
		}
	}
	return out
}
