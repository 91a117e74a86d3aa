package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"rea/catalog"
	"rea/cmd/doctor"
	"rea/cmd/setup/client"
	"rea/cmd/setup/skill"
	"rea/cmd/terminal"
	"rea/generated/fault"
	"rea/providers/ghidra"
	"rea/providers/hopper"
	"rea/runtime/bridge"
	"rea/runtime/delivery"
	"rea/runtime/dispatch"
	"rea/runtime/engine"
)

func (a *app) doctorCommand() *ffcli.Command {
	fs := flags("doctor")
	var provider, verify, format string
	detail := "summary"
	fs.StringVar(&provider, "provider", "", "only this `engine`; its state decides the exit code")
	fs.Var(choice{&detail, []string{"summary", "full"}}, "detail", "how much is told: `summary|full`")
	fs.StringVar(&verify, "verify", "", "start the engine of --provider on this `file` and check what it answers")
	formatFlag(fs, &format)
	return &ffcli.Command{
		Name:       "doctor",
		ShortUsage: "rea doctor [--provider ID] [--detail summary|full] [--verify FILE] [--format json]",
		ShortHelp:  "Tell what is installed, what is registered, and what is wrong",
		LongHelp: "Looks at engines with the exact condition that fails, at settings, other programs, folders, and at the registration of every MCP client: " +
			"aligned, stale, missing or invalid. It starts nothing and writes nothing.\n" +
			"With --verify, and only then, the engine is started: it must answer the conformance suite, and like the embedded engine on the given file; what differs is printed.\n" +
			"The exit code is 0 when everything that is set up works, and 1 when something doesn't; with --provider it is 3 when that engine can't be had.",
		FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			a.json = format == "json"
			if len(args) > 0 {
				return usagef("usage: rea doctor [flags]", "doctor takes no arguments")
			}
			if verify != "" {
				return a.verify(ctx, provider, verify, format)
			}
			return a.doctor(ctx, provider, detail, format)
		},
	}
}

func (a *app) doctor(ctx context.Context, provider, detail, format string) error {
	r, err := a.examine(ctx)
	if err != nil {
		return err
	}
	var failed error
	if provider != "" {
		e, ok := r.Only(provider)
		if !ok {
			return a.unknownEngine(ctx, provider)
		}
		switch {
		case e.Reason != "":
			failed = fault.ProviderUnavailable(fault.ProviderUnavailableDetails{
				ProviderID: provider, Reason: e.Reason, Candidates: a.engineIDs(ctx),
			}, nil)
		case !r.Healthy:
			failed = checkEngine(a.getenv, provider)
		}
	} else if !r.Healthy {
		failed = fmt.Errorf("%d things that are set up don't work", len(r.Problems))
		if len(r.Problems) == 1 {
			failed = errors.New("something that is set up doesn't work")
		}
	}
	if format == "json" {
		data, err := json.Marshal(r)
		if err != nil {
			return err
		}
		return errors.Join(a.print(data, format), failed)
	}
	if err := r.Text(a.out, terminal.Of(a.out, a.getenv), detail == "full", a.short); err != nil {
		return err
	}
	return failed
}

// examine looks at this machine.
func (a *app) examine(ctx context.Context) (*doctor.Report, error) {
	host, err := a.host()
	if err != nil {
		return nil, err
	}
	pkg, _ := catalog.Built()
	o := doctor.Options{
		Version: pkg.Version, Host: host, Engines: engines(a.getenv),
		EngineSettings: engineSettings, Settings: settings(ctx, a.getenv), Abandoned: bridge.Abandoned(""), Examine: a.registered, Skill: skill.Text(),
	}
	if o.Server, err = a.thisServer(ctx, ""); err != nil {
		o.Server.Command, o.ServerReason = "", err.Error()
	}
	return doctor.Look(ctx, o), nil
}

// settings are the variables that are set, each judged by its own parser.
func settings(ctx context.Context, getenv func(string) string) []doctor.Setting {
	check := map[string]func(string) error{
		dispatch.ToolsetsSetting: func(v string) error {
			_, err := dispatch.ParseToolsets(dispatch.ToolsetsSetting, v)
			return err
		},
		delivery.BudgetSetting: func(v string) error {
			_, err := delivery.ParseBudget(v)
			return err
		},
		profileSetting: func(v string) error {
			_, err := inputProfile(v)
			return err
		},
		choiceSetting:         func(v string) error { return workable(ctx, getenv, v) },
		ghidra.TimeoutSetting: func(string) error { return ghidra.Validate(getenv) },
		hopper.TimeoutSetting: func(string) error { return hopper.Validate(getenv) },
	}
	out := []doctor.Setting{}
	for _, known := range []struct{ name, engine string }{
		{choiceSetting, ""}, {dispatch.ToolsetsSetting, ""}, {profileSetting, ""}, {delivery.BudgetSetting, ""},
		{ghidra.InstallSetting, ghidra.ID}, {ghidra.JavaSetting, ghidra.ID}, {ghidra.TimeoutSetting, ghidra.ID},
		{hopper.LauncherSetting, hopper.ID}, {hopper.TimeoutSetting, hopper.ID},
	} {
		v := getenv(known.name)
		if v == "" {
			continue
		}
		s := doctor.Setting{Name: known.name, Value: v, Engine: known.engine, Level: doctor.OK}
		if parse := check[known.name]; parse != nil {
			if err := parse(v); err != nil {
				s.Level, s.Reason = doctor.Problem, err.Error()
			}
		}
		out = append(out, s)
	}
	return out
}

// workable tells why a choice of engine, though it can be read, opens no file.
func workable(ctx context.Context, getenv func(string) string, choice string) error {
	if err := checkChoice(getenv, choice); err != nil {
		return err
	}
	var here []string
	for _, c := range engine.Candidates(ctx, engines(getenv), nil, "") {
		switch {
		case c.Availability.Reason == nil:
			here = append(here, c.Provider.ID)
		case c.Provider.ID == choice:
			return fmt.Errorf("%s is chosen and can't run: %s", choice, *c.Availability.Reason)
		}
	}
	if choice == engine.Auto && len(here) > 1 {
		return fmt.Errorf("%s takes the only engine that fits a file, and several can run here; choose one of %s", choice, strings.Join(here, ", "))
	}
	return nil
}

// registered tells what doesn't work for a server that a client starts. What the
// registration doesn't set, the client may hand on from its own environment.
func (a *app) registered(ctx context.Context, args []string, env []client.Variable) []string {
	own := map[string]string{}
	for _, v := range env {
		own[v.Name] = v.Value
	}
	getenv := func(name string) string {
		if v, ok := own[name]; ok {
			return v
		}
		return a.getenv(name)
	}
	var wrong []string
	say := func(name, value, reason string) {
		if !strings.HasPrefix(reason, name) {
			reason = name + "=" + value + ": " + reason
		}
		wrong = append(wrong, reason)
	}
	for _, s := range settings(ctx, getenv) {
		if _, ok := own[s.Name]; ok && s.Level == doctor.Problem {
			say(s.Name, s.Value, s.Reason)
		}
	}
	for _, c := range engine.Candidates(ctx, engines(getenv), nil, "") {
		// The first setting is the engine's own.
		if names := engineSettings[c.Provider.ID]; len(names) > 0 && own[names[0]] != "" && c.Availability.Reason != nil {
			say(names[0], own[names[0]], *c.Availability.Reason)
		}
	}
	for i, arg := range args {
		choice, ok := strings.CutPrefix(strings.TrimPrefix(arg, "-"), "-provider=")
		if !ok && strings.TrimPrefix(arg, "-") == "-provider" && i+1 < len(args) {
			choice, ok = args[i+1], true
		}
		if ok && choice != "" && getenv(choiceSetting) == "" {
			if err := workable(ctx, getenv, choice); err != nil {
				wrong = append(wrong, "--provider "+choice+": "+err.Error())
			}
		}
	}
	return wrong
}

func (a *app) engineIDs(ctx context.Context) []string {
	var out []string
	for _, c := range engine.Candidates(ctx, engines(a.getenv), nil, "") {
		out = append(out, c.Provider.ID)
	}
	return out
}

func (a *app) unknownEngine(ctx context.Context, id string) error {
	known := a.engineIDs(ctx)
	hint := "Engines: " + strings.Join(known, ", ")
	if near := nearest(id, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	return usagef(hint, "there is no engine %q", id)
}
