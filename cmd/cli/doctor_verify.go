package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"rea/catalog"
	"rea/cmd/terminal"
	"rea/generated/fault"
	"rea/providers/enginetest/conform"
	"rea/runtime/engine"
	"rea/runtime/progress"
	"rea/runtime/session"
)

// verification is what an engine answered when it was put to the test.
type verification struct {
	Provider string `json:"provider"`
	Path     string `json:"path"`
	// Suite are the checks with programs that were built for them, whose truth
	// other tools know; Comparison those with the given file, against the
	// embedded engine.
	Suite      []verified `json:"suite"`
	Comparison []verified `json:"comparison"`
	Differs    int        `json:"differs"`
}

type verified struct {
	Name  string   `json:"name"`
	State string   `json:"state"` // passed, differs or skipped
	Notes []string `json:"notes"`
}

// verify starts an engine and checks what it answers. Unlike everything else of
// doctor it runs the engine, because it was asked to by name.
func (a *app) verify(ctx context.Context, provider, path, format string) error {
	if provider == "" {
		return usagef("Name it with --provider, one of "+list(a.engineIDs(ctx))+".", "--verify needs to know which engine to start")
	}
	if !contains(a.engineIDs(ctx), provider) {
		return a.unknownEngine(ctx, provider)
	}
	if err := checkEngines(a.getenv); err != nil {
		return err
	}
	shown, end := a.progress(ctx)
	defer end()
	v := verification{Provider: provider, Path: path, Suite: []verified{}, Comparison: []verified{}}
	if err := a.compare(shown, provider, path, &v); err != nil {
		return err
	}
	suite, err := conform.Verify(shown, func(ctx context.Context, path string) (engine.Engine, error) {
		return a.openWith(ctx, provider, path)
	}, func(name string) {
		progress.Report(shown, "check "+name)
	})
	if err != nil {
		return err
	}
	end()
	v.Suite = v.add(suite)
	var failed error
	switch {
	case v.Differs == 1:
		failed = fmt.Errorf("1 check of %s differs", provider)
	case v.Differs > 1:
		failed = fmt.Errorf("%d checks of %s differ", v.Differs, provider)
	}
	if format == "json" {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		return errors.Join(a.print(data, format), failed)
	}
	return errors.Join(a.printVerification(&v), failed)
}

// compare holds the engine against the embedded one on the given file.
func (a *app) compare(ctx context.Context, provider, path string, v *verification) error {
	progress.Report(ctx, "opening "+path)
	reference, err := a.openWith(ctx, engine.DefaultID, path)
	if err != nil {
		return err
	}
	defer reference.Close()
	checks, err := conform.Compare(ctx, func(ctx context.Context) (engine.Engine, error) {
		return a.openWith(ctx, provider, path)
	}, reference)
	if err != nil {
		return err
	}
	v.Comparison = v.add(checks)
	return nil
}

// openWith opens a file with an engine, in a session of its own.
func (a *app) openWith(ctx context.Context, provider, path string) (engine.Engine, error) {
	pkg, _ := catalog.Built()
	b, err := session.New(session.Config{
		Providers: engines(a.getenv), Recognize: recognize, Version: pkg.Version,
	}).Open(ctx, session.OpenRequest{Path: path, Provider: provider})
	if err != nil {
		return nil, err
	}
	if b.Engine == nil {
		return nil, fault.ProviderUnavailable(fault.ProviderUnavailableDetails{
			ProviderID: provider, Reason: "it can't analyse this file", Candidates: a.engineIDs(ctx),
		}, nil)
	}
	return b.Engine, nil
}

func (v *verification) add(checks []conform.Check) []verified {
	out := []verified{}
	for _, c := range checks {
		notes := c.Notes
		if notes == nil {
			notes = []string{}
		}
		if c.State == conform.Differs {
			v.Differs++
		}
		out = append(out, verified{c.Name, string(c.State), notes})
	}
	return out
}

func (a *app) printVerification(v *verification) error {
	screen := terminal.Of(a.out, a.getenv)
	width := 100
	if screen.Width > 0 {
		width = screen.Width
	}
	var b strings.Builder
	group := func(head string, checks []verified) {
		fmt.Fprintln(&b, screen.Paint(terminal.Bold, head))
		for _, c := range checks {
			style := map[string]terminal.Style{"passed": terminal.Green, "differs": terminal.Red, "skipped": terminal.Faint}[c.State]
			fmt.Fprintf(&b, "  %s %s\n", screen.Paint(style, terminal.Pad(c.State, 8)), c.Name)
			for _, note := range c.Notes {
				for _, l := range terminal.Wrap(terminal.Escape(note), max(20, width-11)) {
					fmt.Fprintf(&b, "           %s\n", l)
				}
			}
		}
	}
	group(v.Provider+" against the embedded engine on "+terminal.Escape(v.Path), v.Comparison)
	b.WriteByte('\n')
	group(v.Provider+" against other tools on programs built for it", v.Suite)
	if v.Differs == 0 {
		count := map[string]int{}
		for _, c := range slices.Concat(v.Comparison, v.Suite) {
			count[c.State]++
		}
		fmt.Fprintf(&b, "\n%s\n", screen.Paint(terminal.Green, fmt.Sprintf("Nothing differs: %d checks passed, %d skipped.", count["passed"], count["skipped"])))
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}
