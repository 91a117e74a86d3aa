package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"rea/cmd/setup/ask"
	"rea/cmd/setup/change"
	"rea/cmd/setup/client"
	"rea/cmd/setup/plan"
	"rea/cmd/setup/skill"
	"rea/cmd/terminal"
)

// clientList is a flag that may be given several times, or with commas.
type clientList struct{ ids *[]string }

func (c clientList) String() string {
	if c.ids == nil {
		return ""
	}
	return strings.Join(*c.ids, ",")
}

func (c clientList) Set(s string) error {
	for id := range strings.SplitSeq(s, ",") {
		if !slices.Contains(client.IDs(), id) {
			return fmt.Errorf("%q is not one of %s", id, list(client.IDs()))
		}
		if !slices.Contains(*c.ids, id) {
			*c.ids = append(*c.ids, id)
		}
	}
	return nil
}

// registrar is what setup and uninstall are told.
type registrar struct {
	clients    []string
	detected   bool
	scope      string
	command    string
	noSkill    bool
	replace    bool
	yes, dry   bool
	accessible bool
	format     string
	detail     string
}

func (r *registrar) commonFlags(fs *flag.FlagSet) {
	fs.Var(clientList{&r.clients}, "client", "only this `client`; may be given several times")
	fs.BoolVar(&r.yes, "yes", false, "agree to the plan beforehand")
	fs.BoolVar(&r.dry, "dry-run", false, "print the plan and change nothing")
	fs.BoolVar(&r.accessible, "accessible", false, "ask by plain lines, without moving the cursor")
	formatFlag(fs, &r.format)
	r.detail = "summary"
	fs.Var(choice{&r.detail, []string{"summary", "full"}}, "detail", "whether long files that are made or removed are shown in full: `summary|full`")
}

func (a *app) setupCommand() *ffcli.Command {
	fs := flags("setup")
	var r registrar
	r.commonFlags(fs)
	fs.BoolVar(&r.detected, "all-detected", false, "register with every client that is installed")
	r.scope = string(client.User)
	fs.Var(choice{&r.scope, []string{string(client.User), string(client.Project)}}, "scope", "for the user everywhere, or for the project in this folder: `user|project`")
	fs.StringVar(&r.command, "command", "", "register this program `file` instead of the running one")
	fs.BoolVar(&r.noSkill, "no-skill", false, "leave out the guide for agents")
	fs.BoolVar(&r.replace, "replace", false, "take over entries named rea that start something else")
	return &ffcli.Command{
		Name:       "setup",
		ShortUsage: "rea setup [--client ID]... [--all-detected] [--scope user|project] [--yes | --dry-run]",
		ShortHelp:  "Register the server with the MCP clients on this machine",
		LongHelp: "Finds the clients that are installed, asks which ones shall start rea mcp, shows every change as a plan and asks before it makes any. " +
			"Only the entry of rea in a file changes, every other byte stays. All files change or none does; copies from before are kept. Running it again changes nothing.\n" +
			"Clients: " + list(client.IDs()) + ".",
		FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			a.json = r.format == "json"
			if len(args) > 0 {
				return usagef("usage: rea setup [flags]", "setup takes no arguments; clients are named with --client")
			}
			return a.setup(ctx, &r)
		},
	}
}

func (a *app) uninstallCommand() *ffcli.Command {
	fs := flags("uninstall")
	var r registrar
	r.commonFlags(fs)
	fs.Var(choice{&r.scope, []string{"", string(client.User), string(client.Project)}}, "scope", "only registrations of this scope: `user|project`")
	fs.BoolVar(&r.noSkill, "keep-skill", false, "leave the guide for agents where it is")
	return &ffcli.Command{
		Name:       "uninstall",
		ShortUsage: "rea uninstall [--client ID]... [--scope user|project] [--yes | --dry-run]",
		ShortHelp:  "Take the server out of the settings of MCP clients",
		LongHelp: "Removes the entries that start this program and the guide that setup installed, after showing the plan and asking. " +
			"A file that nobody else changed since gets its old bytes back. The program itself stays.",
		FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			a.json = r.format == "json"
			if len(args) > 0 {
				return usagef("usage: rea uninstall [flags]", "uninstall takes no arguments; clients are named with --client")
			}
			return a.uninstall(ctx, &r)
		},
	}
}

// host is where clients are looked for: this machine and this folder.
func (a *app) host() (client.Host, error) {
	dir, err := os.Getwd()
	if err != nil {
		return client.Host{}, err
	}
	host, err := client.Here(dir, a.getenv)
	if err != nil {
		return host, usagef("Set it to your home folder; the settings of clients are looked for there.", "%v", err)
	}
	return host, nil
}

func (a *app) setup(ctx context.Context, r *registrar) error {
	host, err := a.host()
	if err != nil {
		return err
	}
	server, err := a.thisServer(ctx, r.command)
	if err != nil {
		return err
	}
	if len(r.clients) == 0 && !slices.ContainsFunc(client.All(), func(c client.Client) bool { return c.Detected(host) != "" }) {
		return noClients()
	}
	person, err := a.person(r)
	if err != nil {
		return err
	}
	state := change.State{Dir: host.State()}
	if err := a.recoverSetup(person, r, state); err != nil {
		return err
	}
	clients, err := a.chosenClients(person, r, host, server)
	if err != nil {
		return err
	}
	o := plan.Options{
		Host: host, Server: server, State: state,
		Clients: clients, Scope: client.Scope(r.scope), Replace: r.replace,
	}
	if !r.noSkill {
		o.Skill = skill.Text()
	}
	p, err := plan.Install(o)
	if err != nil {
		return err
	}
	return a.carryOut(ctx, p, person, r)
}

func (a *app) uninstall(ctx context.Context, r *registrar) error {
	host, err := a.host()
	if err != nil {
		return err
	}
	person, err := a.person(r)
	if err != nil {
		return err
	}
	state := change.State{Dir: host.State()}
	if err := a.recoverSetup(person, r, state); err != nil {
		return err
	}
	o := plan.Options{
		Host: host, State: state, Clients: named(r.clients), Scope: client.Scope(r.scope),
	}
	if o.Server.Command, err = os.Executable(); err != nil {
		return err
	}
	if !r.noSkill {
		o.Skill = skill.Text()
	}
	p, err := plan.Uninstall(o)
	if err != nil {
		return err
	}
	return a.carryOut(ctx, p, person, r)
}

// named lists the clients with ids, all for none.
func named(ids []string) []client.Client {
	if len(ids) == 0 {
		return client.All()
	}
	var out []client.Client
	for _, id := range ids {
		if c, ok := client.ByID(id); ok {
			out = append(out, c)
		}
	}
	return out
}

// person is who is asked, nil when nobody needs to be.
func (a *app) person(r *registrar) (*ask.Person, error) {
	switch {
	case r.yes && r.dry:
		return nil, usagef("", "--yes and --dry-run contradict each other")
	case r.yes || r.dry:
		return nil, nil
	case r.format == "json":
		return nil, usagef("Look at the plan with --dry-run, then agree to it with --yes.", "with --format json nobody can be asked")
	case r.accessible:
		return ask.Plain(a.in, a.err), nil
	}
	if !terminal.Of(os.Stdin, a.getenv).Interactive {
		return nil, usagef("Look at the plan with --dry-run, then agree to it with --yes.", "there is no terminal to ask on")
	}
	if !terminal.Of(a.err, a.getenv).Interactive {
		return ask.Plain(a.in, a.err), nil
	}
	return ask.Screen(os.Stdin, a.in, a.err), nil
}

// recoverSetup undoes what an earlier run left half done.
func (a *app) recoverSetup(person *ask.Person, r *registrar, state change.State) error {
	if !state.Interrupted() {
		if !r.dry {
			state.Tidy()
		}
		return nil
	}
	fmt.Fprintln(a.err, "An earlier run was broken off before it was done.")
	if r.dry {
		return errors.New("the files must be put back first; rea setup without --dry-run does that")
	}
	if person != nil && !person.Confirm("Put the files back to what they were before it?") {
		return errDeclined
	}
	restored, err := state.Recover()
	for _, file := range restored {
		fmt.Fprintf(a.err, "put back %s\n", terminal.Escape(file))
	}
	return err
}

var errDeclined = errors.New("stopped; nothing was changed")

// chosenClients are those that flags name or the person picks.
func (a *app) chosenClients(person *ask.Person, r *registrar, host client.Host, server client.Server) ([]client.Client, error) {
	switch {
	case len(r.clients) > 0 && r.detected:
		return nil, usagef("", "--client and --all-detected contradict each other")
	case len(r.clients) > 0:
		return named(r.clients), nil
	}
	var found []client.Client
	var options []ask.Option
	for _, c := range client.All() {
		l, ok := c.Location(host, client.Scope(r.scope))
		if where := c.Detected(host); where != "" && ok {
			found = append(found, c)
			reg := c.Inspect(l, server)
			options = append(options, ask.Option{
				Name: c.Name, Note: string(reg.State) + ", " + terminal.Escape(a.short(l.File)),
				Chosen: reg.State == client.Missing || reg.State == client.Stale && reg.Ours,
			})
		}
	}
	switch {
	case len(found) == 0:
		if r.scope != string(client.User) {
			return nil, usagef("Name one with --client.", "no MCP client that has settings of a %s was found on this machine", r.scope)
		}
		return nil, noClients()
	case r.detected:
		return found, nil
	case person == nil:
		return nil, usagef("Found: "+strings.Join(ids(found), ", "), "which clients? name them with --client, or take --all-detected")
	}
	picked, err := person.Choose("Which clients shall start rea?", options)
	switch {
	case errors.Is(err, ask.ErrInterrupted):
		return nil, errInterrupted{os.Interrupt}
	case err != nil:
		return nil, errDeclined
	}
	var out []client.Client
	for _, i := range picked {
		out = append(out, found[i])
	}
	return out, nil
}

func noClients() error {
	return usagef("Name one with --client, one of "+list(client.IDs())+".", "no MCP client was found on this machine")
}

func ids(list []client.Client) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.ID)
	}
	return out
}

// short writes a path below the home folder with ~.
func (a *app) short(path string) string {
	if home, err := os.UserHomeDir(); err == nil && home != "/" {
		if rest, ok := strings.CutPrefix(path, home+string(os.PathSeparator)); ok {
			return "~" + string(os.PathSeparator) + rest
		}
	}
	return path
}
