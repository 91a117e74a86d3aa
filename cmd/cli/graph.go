package cli

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"rea/cmd/graph"
)

// graphFlags are the flags of rea graph.
type graphFlags struct {
	format, kind, output   string
	provider, architecture string
	depth, nodes           int
	plain                  bool
	timeout                time.Duration
	policy                 *string
	snapshot               snapshotFlags
}

func (a *app) graphCommand() *ffcli.Command {
	fs := flags("graph")
	own := graphFlags{format: "svg"}
	fs.Var(choice{&own.format, graph.Formats}, "format", "language of the picture: `svg|dot|mermaid`")
	fs.Var(choice{&own.kind, []string{"flow", "calls", "callers"}}, "kind", "what is drawn: `flow|calls|callers`; control flow when a procedure is named, else calls")
	fs.StringVar(&own.output, "output", "", "`file` to write instead of standard output")
	fs.IntVar(&own.depth, "depth", 2, "`levels` of calls")
	fs.IntVar(&own.nodes, "max-nodes", 120, "most `boxes` to draw, up to 2000")
	fs.BoolVar(&own.plain, "no-code", false, "show no instructions in the blocks of a control flow")
	fs.DurationVar(&own.timeout, "timeout", 0, "give up after this `duration`, e.g. 30s")
	engineFlag(fs, &own.provider, "`engine` that analyses the file, or auto")
	fs.StringVar(&own.architecture, "architecture", "", "`slice` of a universal file, e.g. arm64")
	own.policy = policyFlag(fs)
	own.snapshot.define(fs)
	return &ffcli.Command{
		Name:       "graph",
		ShortUsage: "rea graph [flags] FILE|FOLDER [PROCEDURE]",
		ShortHelp:  "Draw calls, the control flow of a procedure, or the processes of an application",
		LongHelp: "Of a procedure the picture shows its basic blocks and how control passes between them, or with --kind calls or callers the procedures around it. " +
			"Without a procedure it shows the calls that begin at main or the entry point. " +
			"Of a folder, an ASAR, a zip or a program of JavaScript it shows the code by the processes that run it, its packages, and how processes meet: messages, exposed APIs, " +
			"what starts them, and the hosts, programs and add-ons outside. Pictures are the same for the same file and flags; what a picture leaves out it says.",
		FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usagef("usage: rea graph [flags] FILE|FOLDER [PROCEDURE]", "graph needs one file and at most one procedure")
			}
			if own.depth < 1 || own.depth > 10 {
				return usagef("", "flag --depth: %d is not between 1 and 10", own.depth)
			}
			if own.nodes < 1 || own.nodes > 2000 {
				return usagef("", "flag --max-nodes: %d is not between 1 and 2000", own.nodes)
			}
			procedure := ""
			if len(args) == 2 {
				procedure = args[1]
			}
			ctx, failed, stop := within(ctx, own.timeout)
			defer stop()
			if isApplication(args[0]) {
				switch {
				case procedure != "" || own.kind != "":
					return usagef("rea trace-javascript-semantics follows calls in it", "an application is drawn as a whole, without a procedure or --kind")
				case own.snapshot.path != "":
					return usagef("", "flag --snapshot: results about applications are not kept, only those about binaries")
				}
				return failed(a.graphApplication(ctx, args[0], &own))
			}
			return failed(a.graph(ctx, args[0], procedure, &own))
		},
	}
}

func (a *app) graph(ctx context.Context, path, procedure string, own *graphFlags) error {
	kind := own.kind
	switch {
	case kind == "" && procedure != "":
		kind = "flow"
	case kind == "":
		kind = "calls"
	case kind == "flow" && procedure == "":
		return usagef("rea search-procedures FILE WORD finds procedures", "--kind flow needs a procedure")
	}
	conn := a.connect(own.provider, &own.snapshot)
	defer conn.close()
	ctx, end := a.progress(ctx)
	defer end()
	request, err := openRequest(path, own.architecture)
	if err != nil {
		return err
	}
	g, err := graph.Build(ctx, func(ctx context.Context, tool string, input any) ([]byte, error) {
		data, err := json.Marshal(input)
		if err != nil {
			return nil, err
		}
		return conn.call(ctx, tool, data)
	}, graph.Request{Open: request, Procedure: procedure, Kind: kind, Depth: own.depth, MaxNodes: own.nodes, Code: !own.plain})
	if err != nil {
		return err
	}
	end()
	if err := a.writeGraph(g, own); err != nil {
		return err
	}
	return a.saveSnapshot(ctx, conn, &own.snapshot)
}

// writeGraph renders a picture to where it shall go.
func (a *app) writeGraph(g *graph.Graph, own *graphFlags) error {
	picture, err := graph.Write(g, own.format)
	if err != nil {
		return err
	}
	if own.output != "" {
		return os.WriteFile(own.output, picture, 0o644)
	}
	_, err = a.out.Write(picture)
	return err
}
