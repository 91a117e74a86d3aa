package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"

	"github.com/peterbourgon/ff/v3/ffcli"

	"rea/cmd/terminal"
	"rea/generated/fault"
	"rea/generated/schema"
	"rea/runtime/bridge"
	"rea/runtime/delivery"
	"rea/runtime/dispatch"
	"rea/runtime/mcpserver"
)

// profileSetting names the environment variable of the input schema profile.
const profileSetting = "REA_MCP_INPUT_SCHEMA_PROFILE"

func (a *app) serverCommand() *ffcli.Command {
	fs := flags("mcp")
	toolsets := fs.String("toolsets", "", "`families` of tools to show, separated by commas; before REA_MCP_TOOLSETS")
	var provider string
	engineFlag(fs, &provider, "`engine` that analyses files, or auto; after REA_ANALYSIS_PROVIDER")
	return &ffcli.Command{
		Name:       "mcp",
		ShortUsage: "rea mcp [--toolsets LIST] [--provider ID]",
		ShortHelp:  "Serve the tools to an MCP client over stdio",
		LongHelp: "An MCP client starts this and talks to it; there is nothing to type. Standard output carries protocol lines only. " +
			"It ends when its input ends and running calls are answered, or with a signal.",
		FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return usagef("usage: rea mcp [flags]", "mcp takes no arguments")
			}
			return a.serve(ctx, *toolsets, provider)
		},
	}
}

// serve reads the settings, then gives standard input and output to the client.
func (a *app) serve(ctx context.Context, toolsets, provider string) error {
	setting := "--toolsets"
	if toolsets == "" {
		setting, toolsets = dispatch.ToolsetsSetting, a.getenv(dispatch.ToolsetsSetting)
	}
	shown, err := dispatch.ParseToolsets(setting, toolsets)
	if err != nil {
		return err
	}
	budget, err := delivery.ParseBudget(a.getenv(delivery.BudgetSetting))
	if err != nil {
		return err
	}
	profile, err := inputProfile(a.getenv(profileSetting))
	if err != nil {
		return err
	}
	if err := checkEngines(a.getenv); err != nil {
		return err
	}
	if err := checkChoice(a.getenv, provider); err != nil {
		return err
	}
	if terminal.Of(os.Stdin, a.getenv).Interactive {
		fmt.Fprintln(a.err, "rea mcp waits for an MCP client; rea setup registers it with those on this machine. Ctrl-C ends it.")
	}
	// One more than there are processors: a question that is answered in no time does
	// not queue behind two computations that have a processor each.
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	stdio, err := mcpserver.TakeStdio()
	if err != nil {
		return err
	}
	// What servers that were killed have left behind is nobody else's to remove.
	var sweep sync.WaitGroup
	sweep.Go(func() { bridge.Sweep("") })
	defer sweep.Wait()
	d, done := assemble(setup{getenv: a.getenv, provider: provider, shown: shown, profile: profile, budget: budget, log: a.err})
	defer done()
	if err := mcpserver.Run(ctx, mcpserver.Config{
		Dispatcher: d,
		Profile:    profile,
		Budget:     budget,
		Stdio:      stdio,
		Log:        slog.New(slog.NewTextHandler(a.err, nil)),
	}); err != nil {
		return err
	}
	// A server that was told to stop says so to whoever told it.
	return context.Cause(ctx)
}

func inputProfile(value string) (schema.Profile, error) {
	if value == "" {
		return schema.Full, nil
	}
	p, err := schema.ParseProfile(value)
	if err != nil {
		return p, fault.ConfigurationInvalid(fault.ConfigurationInvalidDetails{
			Name: profileSetting, Value: value, Expected: "full or compact",
		}, err)
	}
	return p, nil
}
