package cli

import (
	"context"

	"rea/cmd/terminal"
	"rea/runtime/progress"
)

// progress shows on standard error what a long command is doing. The returned
// function ends that, and may be called again.
func (a *app) progress(ctx context.Context) (context.Context, func()) {
	screen := progress.NewTerminal(a.err, terminal.Of(a.err, a.getenv).Interactive)
	reporter := progress.NewReporter(screen.Sink)
	return progress.With(ctx, reporter), func() {
		screen.Close()
		reporter.Finish("done")
	}
}
