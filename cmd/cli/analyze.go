package cli

import (
	"context"
	"encoding/json"
	"unicode/utf8"

	"github.com/peterbourgon/ff/v3/ffcli"

	"rea/cmd/report"
	"rea/cmd/terminal"
)

// caller runs one tool in the session of a command.
type caller func(ctx context.Context, tool string, input []byte) ([]byte, error)

func (a *app) analyzeCommand() *ffcli.Command {
	fs := flags("analyze")
	var format string
	formatFlag(fs, &format)
	rows := fs.Int("rows", 15, "rows of each list; 0 for `all`")
	timeout := fs.Duration("timeout", 0, "give up after this `duration`, e.g. 30s")
	var provider string
	engineFlag(fs, &provider, "`engine` that analyses the file, or auto")
	architecture := fs.String("architecture", "", "`slice` of a universal file, e.g. arm64")
	policy := policyFlag(fs)
	var snapshot snapshotFlags
	snapshot.define(fs)
	return &ffcli.Command{
		Name:       "analyze",
		ShortUsage: "rea analyze [flags] FILE|FOLDER",
		ShortHelp:  "Report on a whole binary or JavaScript application",
		LongHelp: "The report shows identity, protections, sections, libraries, imports, exports, functions, strings with the code that uses them, " +
			"figures of the call graph, and what analysis could not see. " +
			"Of a folder, an ASAR, a zip or a program of JavaScript it shows the map: packages, processes, windows, messages, endpoints, keys, bundles and their modules. " +
			"--format json prints the same as one document, with every function and every used string.",
		FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			a.json = format == "json"
			if len(args) != 1 {
				return usagef("usage: rea analyze [flags] FILE|FOLDER", "analyze needs one file or folder")
			}
			if *rows < 0 {
				return usagef("", "flag --rows: %d is negative", *rows)
			}
			ctx, failed, stop := within(ctx, *timeout)
			defer stop()
			if isApplication(args[0]) {
				if snapshot.path != "" {
					return usagef("", "flag --snapshot: results about applications are not kept, only those about binaries")
				}
				return failed(a.analyzeApplication(ctx, args[0], *policy, format, *rows))
			}
			return failed(a.analyze(ctx, args[0], *architecture, provider, format, *rows, &snapshot))
		},
	}
}

func (a *app) analyze(ctx context.Context, path, architecture, provider, format string, rows int, snapshot *snapshotFlags) error {
	conn := a.connect(provider, snapshot)
	defer conn.close()
	ctx, end := a.progress(ctx)
	defer end()
	request, err := openRequest(path, architecture)
	if err != nil {
		return err
	}
	options := report.Options{Open: request, Rows: rows}
	if format == "json" {
		options.Rows = 0
	}
	r, err := report.Build(ctx, func(ctx context.Context, tool string, input any) ([]byte, error) {
		data, err := json.Marshal(input)
		if err != nil {
			return nil, err
		}
		return conn.call(ctx, tool, data)
	}, options)
	if err != nil {
		return err
	}
	end()
	if format == "json" {
		data, err := r.JSON()
		if err != nil {
			return err
		}
		if err := a.print(data, format); err != nil {
			return err
		}
	} else if err := r.Text(a.out, terminal.Of(a.out, a.getenv), rows); err != nil {
		return err
	}
	return a.saveSnapshot(ctx, conn, snapshot)
}

// openRequest is the input of open_binary. JSON can't carry a path that is not UTF-8.
func openRequest(path, architecture string) (map[string]string, error) {
	if !utf8.ValidString(path) {
		return nil, usagef("Open it through a link whose name is valid UTF-8.", "the path %q is not valid UTF-8", path)
	}
	request := map[string]string{"path": path}
	if architecture != "" {
		request["architecture"] = architecture
	}
	return request, nil
}
