package cli

import (
	"context"
	"encoding/json"

	"github.com/peterbourgon/ff/v3/ffcli"

	data "rea/generated/catalog"
	"rea/runtime/engine"
)

func (a *app) providersCommand() *ffcli.Command {
	fs := flags("providers")
	var format string
	formatFlag(fs, &format)
	return &ffcli.Command{
		Name:       "providers",
		ShortUsage: "rea providers [--format json]",
		ShortHelp:  "List the analysis engines",
		FlagSet:    fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return usagef("usage: rea providers", "providers takes no arguments")
			}
			if err := checkEngines(a.getenv); err != nil {
				return err
			}
			list := engine.Candidates(ctx, engines(a.getenv), nil, "")
			rows := make([]json.RawMessage, len(list))
			for i := range list {
				rows[i] = list[i].AppendJSON(nil)
			}
			data, err := json.Marshal(map[string]any{"providers": rows})
			if err != nil {
				return err
			}
			return a.print(data, format)
		},
	}
}

// catalogEngines describes the engines for the catalog, without what is
// installed here.
func catalogEngines() []data.Engine {
	var out []data.Engine
	for _, p := range engines(func(string) string { return "" }) {
		d := p.Describe()
		e := data.Engine{ID: d.Provider.ID, Name: d.Provider.Name, Version: d.Provider.Version, Capabilities: []string{}}
		for _, c := range d.Capabilities {
			e.Capabilities = append(e.Capabilities, string(c))
		}
		out = append(out, e)
	}
	return out
}
