package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"rea/cmd/render"
	"rea/cmd/terminal"
	"rea/generated/cli"
)

// toolFlags are what every tool's command takes beside the fields of its input.
type toolFlags struct {
	format       string
	whole        string
	timeout      time.Duration
	provider     string
	architecture string
	snapshot     snapshotFlags
}

// toolCommand makes the command of one tool.
func (a *app) toolCommand(c *cli.Command) *ffcli.Command {
	fs := flags(c.Name)
	in := &input{stdin: a.in}
	var own toolFlags
	a.inputFlags(fs, c, in, &own)
	if c.Target {
		add(fs, "provider", func() { engineFlag(fs, &own.provider, "`engine` that analyses the file, or auto") })
		add(fs, "architecture", func() {
			fs.StringVar(&own.architecture, "architecture", "", "`slice` of a universal file, e.g. arm64")
		})
		add(fs, "snapshot", func() { own.snapshot.define(fs) })
	}
	return a.command(c, fs, in, &own, a.runTool)
}

// command is the form of every command that a contract describes.
func (a *app) command(c *cli.Command, fs *flag.FlagSet, in *input, own *toolFlags,
	run func(context.Context, *cli.Command, *input, *toolFlags, []string) error) *ffcli.Command {
	return &ffcli.Command{
		Name:       c.Name,
		ShortUsage: usageLine(c),
		ShortHelp:  c.Title,
		LongHelp:   c.Description,
		FlagSet:    fs,
		Exec: func(ctx context.Context, args []string) error {
			a.json = own.format == "json"
			ctx, failed, stop, err := own.bound(ctx)
			if err != nil {
				return err
			}
			defer stop()
			return failed(run(ctx, c, in, own, args))
		},
	}
}

// add defines a flag of the command unless the input has one of that name.
func add(fs *flag.FlagSet, name string, define func()) {
	if fs.Lookup(name) == nil {
		define()
	}
}

// inputFlags defines the flags that fill an input, and those that every command
// with an input has.
func (a *app) inputFlags(fs *flag.FlagSet, c *cli.Command, in *input, own *toolFlags) {
	for i := range c.Flags {
		arg := &c.Flags[i]
		fs.Var(field{in, arg}, arg.Name, arg.Help)
	}
	add(fs, "format", func() { formatFlag(fs, &own.format) })
	add(fs, "input", func() {
		fs.StringVar(&own.whole, "input", "", "the whole input as `JSON`, @file or - for standard input")
	})
	add(fs, "timeout", func() { fs.DurationVar(&own.timeout, "timeout", 0, "give up after this `duration`, e.g. 30s") })
}

// read puts the input together.
func (in *input) read(c *cli.Command, own *toolFlags, args []string) (target string, data []byte, err error) {
	if target, err = in.positional(c, args); err != nil {
		return "", nil, err
	}
	if own.whole != "" {
		if in.whole != nil {
			return "", nil, usagef("", "the whole input is given twice")
		}
		if in.whole, err = in.load(own.whole); err != nil {
			return "", nil, usagef("", "flag --input: %v", err)
		}
		if !json.Valid(in.whole) {
			return "", nil, usagef("", "flag --input: %q is not JSON", shorten(string(in.whole)))
		}
	}
	data, err = in.JSON()
	return target, data, err
}

func (a *app) runTool(ctx context.Context, c *cli.Command, in *input, own *toolFlags, args []string) error {
	target, data, err := in.read(c, own, args)
	if err != nil {
		return err
	}
	conn := a.connect(own.provider, &own.snapshot)
	defer conn.close()
	ctx, end := a.progress(ctx)
	defer end()
	if c.Target {
		if err := open(ctx, conn.call, target, own.architecture); err != nil {
			return err
		}
	}
	if c.Tool == exportTool {
		if data, err = a.admitFiles(ctx, conn, in); err != nil {
			return err
		}
	}
	result, err := conn.call(ctx, c.Tool, data)
	if err != nil {
		return err
	}
	end()
	if err := a.printResult(c.Tool, result, own.format); err != nil {
		return err
	}
	if text := notes[c.Tool]; text != "" {
		a.note(text)
	}
	return a.saveSnapshot(ctx, conn, &own.snapshot)
}

// open opens the file that a command is about.
func open(ctx context.Context, call caller, path, architecture string) error {
	request, err := openRequest(path, architecture)
	if err != nil {
		return err
	}
	data, err := json.Marshal(request)
	if err != nil {
		return err
	}
	_, err = call(ctx, "open_binary", data)
	return err
}

// print writes a result to standard output.
func (a *app) print(result []byte, format string) error {
	if format == "json" {
		result = append(bytes.TrimRight(result, "\n"), '\n')
		_, err := a.out.Write(result)
		return err
	}
	return render.Value(a.out, result, terminal.Of(a.out, a.getenv))
}

// positional takes the arguments that are no flags: the file to open, then
// those of the tool, the last of which may repeat. One object is a whole input.
func (in *input) positional(c *cli.Command, args []string) (target string, err error) {
	given := args
	if c.Target {
		if len(args) == 0 {
			return "", usagef("usage: "+usageLine(c), "%s needs the file to open", c.Name)
		}
		target, args = args[0], args[1:]
	}
	if len(args) == 1 && strings.HasPrefix(strings.TrimSpace(args[0]), "{") {
		if !json.Valid([]byte(args[0])) {
			return "", usagef("", "%q is not JSON", shorten(args[0]))
		}
		in.whole = []byte(args[0])
		return target, nil
	}
	for i := range c.Positionals {
		p := &c.Positionals[i]
		for len(args) > 0 {
			if err := in.set(p, args[0]); err != nil {
				return "", usagef("usage: "+usageLine(c), "%s: %v", placeholder(p), err)
			}
			args = args[1:]
			if !p.Repeated {
				break
			}
		}
	}
	if len(args) > 0 {
		return "", usagef("usage: "+usageLine(c), "%s takes %d arguments, not %d", c.Name, len(given)-len(args), len(given))
	}
	return target, nil
}

// usageLine is the command as one would type it.
func usageLine(c *cli.Command) string {
	s := "rea " + c.Name + " [flags]"
	if c.Target {
		s += " FILE"
	}
	for i := range c.Positionals {
		p := &c.Positionals[i]
		name := placeholder(p)
		if p.Repeated {
			name += "..."
		}
		if !p.Required {
			name = "[" + name + "]"
		}
		s += " " + name
	}
	return s
}

func placeholder(p *cli.Argument) string {
	return strings.ToUpper(strings.ReplaceAll(p.Name, "-", "_"))
}

// field is a flag that fills a place in the input.
type field struct {
	in  *input
	arg *cli.Argument
}

var _ flag.Value = field{}

func (f field) String() string {
	if f.arg == nil {
		return ""
	}
	return f.arg.Default
}

func (f field) Set(text string) error { return f.in.set(f.arg, text) }

// IsBoolFlag lets a switch stand without a value.
func (f field) IsBoolFlag() bool {
	return f.arg != nil && f.arg.Type == cli.Boolean && !f.arg.Repeated
}
