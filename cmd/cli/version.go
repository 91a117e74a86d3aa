package cli

import (
	"context"
	"encoding/json"
	"runtime"

	"github.com/peterbourgon/ff/v3/ffcli"

	"rea/catalog"
	data "rea/generated/catalog"
)

func (a *app) versionCommand() *ffcli.Command {
	fs := flags("version")
	var format string
	formatFlag(fs, &format)
	return &ffcli.Command{
		Name:       "version",
		ShortUsage: "rea version [--format json]",
		ShortHelp:  "Tell which build this is",
		FlagSet:    fs,
		Exec: func(context.Context, []string) error {
			pkg, revision := catalog.Built()
			data, err := json.Marshal(struct {
				Name     string        `json:"name"`
				Version  string        `json:"version"`
				Revision data.Revision `json:"revision"`
				Digest   string        `json:"catalog_digest"`
				Go       string        `json:"go"`
				Platform string        `json:"platform"`
			}{pkg.Name, pkg.Version, revision, catalog.Digest(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH})
			if err != nil {
				return err
			}
			return a.print(data, format)
		},
	}
}
