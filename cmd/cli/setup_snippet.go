package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/peterbourgon/ff/v3/ffcli"

	"rea/cmd/setup/client"
	"rea/cmd/terminal"
)

// snippetCommand prints what setup would write, for doing it by hand.
func (a *app) snippetCommand() *ffcli.Command {
	fs := flags("mcp-config")
	scope, format, command := string(client.User), "", ""
	fs.Var(choice{&scope, []string{string(client.User), string(client.Project)}}, "scope", "file of the user or of the project in this folder: `user|project`")
	fs.StringVar(&command, "command", "", "name this program `file` instead of the running one")
	formatFlag(fs, &format)
	return &ffcli.Command{
		Name:       "mcp-config",
		ShortUsage: "rea mcp-config [--scope user|project] [--format json] CLIENT",
		ShortHelp:  "Print the registration for one MCP client",
		LongHelp: "The text goes to standard output, the file that it belongs in to standard error. Nothing is written.\n" +
			"Clients: " + list(client.IDs()) + ".",
		FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			a.json = format == "json"
			if len(args) != 1 {
				return usagef("Clients: "+list(client.IDs()), "mcp-config needs the name of one client")
			}
			c, ok := client.ByID(args[0])
			if !ok {
				hint := "Clients: " + list(client.IDs())
				if near := nearest(args[0], client.IDs()); near != "" {
					hint = "did you mean " + near + "?"
				}
				return usagef(hint, "there is no client %q", args[0])
			}
			server, err := a.thisServer(ctx, command)
			if err != nil {
				return err
			}
			return a.snippet(c, client.Scope(scope), server, format)
		},
	}
}

func (a *app) snippet(c client.Client, scope client.Scope, server client.Server, format string) error {
	host, err := a.host()
	if err != nil {
		return err
	}
	l, ok := c.Location(host, scope)
	if !ok {
		return usagef("", "%s has no settings of a %s", c.Name, scope)
	}
	if host.Exists(l.File) {
		l.Seed = "" // it is to be merged into what is there
	}
	f, _, err := c.Open([]byte(l.Seed), l)
	if err != nil {
		return err
	}
	text, err := f.Put(c.Entry(server))
	if err != nil {
		return err
	}
	if format == "json" {
		data, err := json.Marshal(struct {
			Client string `json:"client"`
			Name   string `json:"name"`
			Scope  string `json:"scope"`
			Path   string `json:"path"`
			Format string `json:"format"`
			Text   string `json:"text"`
			After  string `json:"after"`
		}{c.ID, c.Name, string(scope), l.File, string(c.Format), string(text), c.After})
		if err != nil {
			return err
		}
		return a.print(data, format)
	}
	fmt.Fprintf(a.err, "%s reads %s\n", c.Name, terminal.Escape(l.File))
	_, err = a.out.Write(text)
	return err
}

// clientNames are what the shell may complete.
func clientNames() []candidate {
	var out []candidate
	for _, c := range client.All() {
		out = append(out, candidate{c.ID, c.Name})
	}
	return out
}
