package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"rea/cmd/terminal"
	"rea/generated/fault"
)

// app is one run of the program.
type app struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	// json asks for diagnostics as documents, as --format json does.
	json bool
}

// signalPatience is how long releasing what a command holds may take. Signals
// are often delivered twice, to a process and to its group, or again by whoever
// has started it; until then, the second one must not break off the release.
const signalPatience = 10 * time.Second

// Main runs the command line and returns the exit code. The first SIGINT or
// SIGTERM cancels what is running; one that comes after signalPatience ends the
// process.
func Main(args []string) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		cancel(errInterrupted{<-signals})
		first := time.Now()
		for again := range signals {
			if time.Since(first) < signalPatience {
				continue
			}
			if s, ok := again.(syscall.Signal); ok {
				os.Exit(exitSignal + int(s))
			}
			os.Exit(exitFailed)
		}
	}()
	a := &app{in: interruptible{ctx, os.Stdin}, out: os.Stdout, err: os.Stderr, getenv: os.Getenv}
	return a.run(ctx, args)
}

func (a *app) run(ctx context.Context, args []string) int {
	a.json = asksForJSON(args) // also where the command line can't be read
	err := a.dispatch(ctx, args)
	if err != nil {
		a.report(ctx, err)
	}
	return exitCode(ctx, err)
}

// dispatch finds the command, puts its arguments in the order that ff reads,
// and runs it.
func (a *app) dispatch(ctx context.Context, args []string) error {
	root := a.root()
	if len(args) == 0 {
		return a.printOverview(root)
	}
	switch args[0] {
	case "-h", "-help", "--help":
		return a.printOverview(root)
	case "-version", "--version":
		args = append([]string{"version"}, args[1:]...)
	}
	command, path := root, []string{}
	rest := args
	for len(rest) > 0 {
		next := subcommand(command, rest[0])
		if next == nil {
			break
		}
		command, path, rest = next, append(path, rest[0]), rest[1:]
	}
	if command.Exec == nil {
		if len(rest) > 0 && (rest[0] == "-h" || rest[0] == "-help" || rest[0] == "--help") {
			return a.printHelp(path, command)
		}
		return unknownCommand(path, command, rest)
	}
	ordered, err := permute(strings.Join(path, " "), command.FlagSet, rest)
	if errors.Is(err, flag.ErrHelp) {
		return a.printHelp(path, command)
	}
	if err != nil {
		return err
	}
	if err := root.Parse(append(path, ordered...)); err != nil {
		return usagef("rea help "+strings.Join(path, " ")+" tells how it is used", "%s", parseMessage(err))
	}
	return root.Run(ctx)
}

func subcommand(c *ffcli.Command, name string) *ffcli.Command {
	for _, sub := range c.Subcommands {
		if sub.Name == name {
			return sub
		}
	}
	return nil
}

func unknownCommand(path []string, c *ffcli.Command, rest []string) error {
	within := strings.Join(append([]string{"rea"}, path...), " ")
	if len(rest) == 0 {
		return usagef("rea help "+strings.Join(path, " ")+" lists them", "%s needs a command", within)
	}
	var known []string
	for _, sub := range c.Subcommands {
		known = append(known, sub.Name)
	}
	hint := "rea help lists the commands"
	if near := nearest(strings.ReplaceAll(rest[0], "_", "-"), known); near != "" {
		hint = "did you mean " + near + "?"
	}
	return usagef(hint, "%s has no command %s", within, terminal.Escape(rest[0]))
}

// parseMessage puts what ff and flag say of a bad value the way people write flags.
func parseMessage(err error) string {
	s := strings.TrimPrefix(err.Error(), "error parsing commandline arguments: ")
	if _, rest, ok := strings.Cut(s, " for flag -"); ok {
		name, why, _ := strings.Cut(rest, ": ")
		return "flag --" + name + ": " + why
	}
	return s
}

// report writes a diagnostic: code and message, then what to do about it.
func (a *app) report(ctx context.Context, err error) {
	screen := terminal.Of(a.err, a.getenv)
	var e *fault.Error
	if errors.As(err, &e) {
		if a.json {
			fmt.Fprintf(a.err, "%s\n", e.JSON())
			return
		}
		a.diagnose(screen, string(e.Code), e.Message, e.Remediation.Action)
		if near := nearby(e); near != "" {
			fmt.Fprintf(a.err, "  %s\n", terminal.Escape(near))
		}
		return
	}
	if errors.Is(err, errDeclined) && context.Cause(ctx) == nil {
		fmt.Fprintln(a.err, "Stopped; nothing was changed.") // as was wished
		return
	}
	d := own(ctx, err)
	if a.json {
		if data, err := json.Marshal(map[string]diagnostic{"error": d}); err == nil {
			fmt.Fprintf(a.err, "%s\n", data)
			return
		}
	}
	a.diagnose(screen, d.Code, d.Message, d.Remediation.Action)
}

// A diagnostic is an error of the command line itself, of the form that those of
// tools have.
type diagnostic struct {
	Code        string         `json:"code"`
	Category    fault.Category `json:"category"`
	Message     string         `json:"message"`
	Retryable   bool           `json:"retryable"`
	Remediation struct {
		Action          string `json:"action"`
		RestartRequired bool   `json:"restart_required"`
	} `json:"remediation"`
	Details struct{} `json:"details"`
}

func own(ctx context.Context, err error) diagnostic {
	var stopped errInterrupted
	var usage *usageError
	var timeout errTimeout
	var way advised
	d := diagnostic{Code: "failed", Category: fault.Execution, Message: err.Error()}
	switch {
	case errors.As(context.Cause(ctx), &stopped), errors.As(err, &stopped):
		d.Code, d.Category, d.Message, d.Retryable = "cancelled", fault.CategoryCancelled, "stopped by "+stopped.Error(), true
	case errors.As(err, &usage):
		d.Code, d.Category, d.Message, d.Remediation.Action = "usage", fault.InvalidInput, usage.message, usage.hint
	case errors.As(err, &timeout):
		d.Code, d.Category, d.Message, d.Retryable = "timeout", fault.Timeout, timeout.Error(), true
		d.Remediation.Action = "Allow more with --timeout."
	case errors.As(err, &way):
		d.Remediation.Action = way.action
	}
	return d
}

// asksForJSON tells whether arguments have --format json. The last one counts.
func asksForJSON(args []string) bool {
	asks := false
	for i, arg := range args {
		if arg == "--" {
			break
		}
		name, value, valued := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		if !strings.HasPrefix(arg, "-") || strings.TrimPrefix(name, "-") != "format" {
			continue
		}
		if !valued && i+1 < len(args) {
			value = args[i+1]
		}
		asks = value == "json"
	}
	return asks
}

func (a *app) diagnose(screen terminal.Screen, code, message, action string) {
	fmt.Fprintf(a.err, "%s: %s\n", screen.Paint(terminal.Red, code), terminal.Escape(message))
	if action != "" {
		fmt.Fprintf(a.err, "  %s\n", terminal.Escape(action))
	}
}
