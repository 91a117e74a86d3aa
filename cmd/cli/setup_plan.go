package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"rea/cmd/setup/ask"
	"rea/cmd/setup/plan"
	"rea/cmd/terminal"
)

// carryOut shows a plan, asks, and makes its changes.
func (a *app) carryOut(ctx context.Context, p *plan.Plan, person *ask.Person, r *registrar) error {
	refused := p.Refused()
	apply := len(refused) == 0 && p.Changes() && !r.dry
	if r.format == "json" {
		var failed error
		if apply {
			failed = p.Apply(ctx)
		}
		data, err := p.JSON(apply && failed == nil)
		if err != nil {
			return err
		}
		if err := a.print(data, r.format); err != nil {
			return err
		}
		return errors.Join(failed, refusal(refused, r.detected))
	}
	if err := a.printPlan(p, r.detail == "full"); err != nil {
		return err
	}
	if err := refusal(refused, r.detected); err != nil {
		return err
	}
	if !apply {
		if !p.Changes() {
			fmt.Fprintln(a.out, "\nThere is nothing to change.")
		}
		return nil
	}
	if person != nil && !person.Confirm("\nMake these changes?") {
		return errDeclined
	}
	if err := p.Apply(ctx); err != nil {
		return err
	}
	fmt.Fprintln(a.out, "\nDone. rea doctor shows the registrations.")
	return nil
}

// refusal is the failure of a plan that can't be carried out as a whole.
func refusal(items []plan.Item, detected bool) error {
	if len(items) == 0 {
		return nil
	}
	var lines []string
	for _, i := range items {
		line := i.Name + ": " + i.Reason
		if i.Path != "" {
			line = i.Name + ", " + i.Path + ": " + i.Reason
		}
		lines = append(lines, line)
	}
	err := fmt.Errorf("%s; nothing was changed", strings.Join(lines, "; "))
	if detected {
		return advised{err, "To leave a client out, name the others with --client instead of --all-detected."}
	}
	return err
}

// mostLines of a file that is new or goes are shown as text.
const mostLines = 24

// whole tells that a difference is all of a file, which is made or removed.
func whole(diff string) (what string, ok bool) {
	before, rest, _ := strings.Cut(diff, "\n")
	after, _, _ := strings.Cut(rest, "\n")
	switch {
	case before == "--- /dev/null":
		return "a new file", true
	case after == "+++ /dev/null":
		return "a file that goes", true
	}
	return "", false
}

// printPlan writes what happens to which file, the differences, and what else
// follows.
func (a *app) printPlan(p *plan.Plan, full bool) error {
	screen := terminal.Of(a.out, a.getenv)
	var b strings.Builder
	fmt.Fprintln(&b, screen.Paint(terminal.Bold, "Plan"))
	for _, i := range p.Items {
		style := map[plan.Action]terminal.Style{
			plan.Add: terminal.Green, plan.Update: terminal.Yellow, plan.Remove: terminal.Yellow,
			plan.Restore: terminal.Yellow, plan.Refuse: terminal.Red, plan.Keep: terminal.Faint,
		}[i.Action]
		where := ""
		if i.Path != "" {
			where = "  " + terminal.Escape(a.short(i.Path))
		}
		fmt.Fprintf(&b, "  %s %s%s\n", screen.Paint(style, terminal.Pad(string(i.Action), 8)), terminal.Pad(i.Name, 15), where)
		if i.Target != "" {
			fmt.Fprintf(&b, "           through a link, %s\n", terminal.Escape(a.short(i.Target)))
		}
		if i.Reason != "" {
			fmt.Fprintf(&b, "           %s\n", terminal.Escape(i.Reason))
		}
	}
	if len(p.Items) == 0 {
		b.WriteString("  nothing to do\n")
	}
	for _, d := range p.Diffs() {
		b.WriteByte('\n')
		n := 0
		what, all := whole(d.Diff)
		all = all && !full
		for line := range strings.Lines(d.Diff) {
			if n++; n > mostLines && all {
				continue
			}
			line = strings.TrimSuffix(line, "\n")
			fmt.Fprintln(&b, screen.Paint(diffStyle(line), terminal.EscapeLines(line)))
		}
		if n > mostLines && all {
			fmt.Fprintf(&b, "… %d more lines of %s; --detail full shows them\n", n-mostLines, what)
		}
	}
	fmt.Fprintf(&b, "\n%s\n", screen.Paint(terminal.Bold, "Beyond the files"))
	for _, e := range p.Effects {
		fmt.Fprintf(&b, "  %s\n", terminal.Escape(e))
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}

func diffStyle(line string) terminal.Style {
	switch {
	case strings.HasPrefix(line, "+"):
		return terminal.Green
	case strings.HasPrefix(line, "-"):
		return terminal.Red
	case strings.HasPrefix(line, "@@"):
		return terminal.Cyan
	}
	return terminal.Faint
}
