package doctor

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"rea/cmd/terminal"
)

// Text writes the report for people. Without full it leaves out clients that are
// not installed and have no registration, and lists of names.
func (r *Report) Text(w io.Writer, screen terminal.Screen, full bool, short func(string) string) error {
	t := &text{screen: screen, full: full, short: func(p string) string { return terminal.Escape(short(p)) }}
	t.program(r)
	t.engines(r)
	t.settings(r)
	t.tooling(r)
	t.clients(r)
	t.skills(r)
	t.folders(r)
	t.verdict(r)
	_, err := io.WriteString(w, t.b.String())
	return err
}

type text struct {
	b      strings.Builder
	screen terminal.Screen
	full   bool
	short  func(string) string
}

func (t *text) head(s string) {
	if t.b.Len() > 0 {
		t.b.WriteByte('\n')
	}
	fmt.Fprintln(&t.b, t.screen.Paint(terminal.Bold, s))
}

// row writes a state, a name and what there is to say about it.
func (t *text) row(l Level, state, name, rest string) {
	style := map[Level]terminal.Style{OK: terminal.Green, Note: terminal.Faint, Problem: terminal.Red}[l]
	line := "  " + t.screen.Paint(style, terminal.Pad(state, 11)) + " " + terminal.Pad(name, 16) + " " + rest
	fmt.Fprintln(&t.b, strings.TrimRight(line, " "))
}

// under writes a line below a row.
func (t *text) under(s string) {
	width := 100
	if t.screen.Width > 0 {
		width = t.screen.Width
	}
	for _, l := range terminal.Wrap(terminal.Escape(s), max(20, width-31)) {
		fmt.Fprintf(&t.b, "%s%s\n", strings.Repeat(" ", 31), l)
	}
}

func (t *text) program(r *Report) {
	t.head("Program")
	t.row(OK, r.Program.Version, "rea", t.short(r.Program.Path))
	if r.Program.Registrable == nil {
		t.under(r.Program.Reason)
	} else if full := *r.Program.Registrable; full != r.Program.Path {
		t.under("registered as " + full)
	}
	host := r.Host.OS + "/" + r.Host.Architecture
	if r.Host.System != "" {
		host = r.Host.System + ", " + host
	}
	t.row(OK, "", "host", fmt.Sprintf("%s, %d processors", terminal.Escape(host), r.Host.Processors))
}

func (t *text) engines(r *Report) {
	t.head("Engines")
	for _, e := range r.Engines {
		version := ""
		if e.Version != nil {
			version = *e.Version
		}
		t.row(e.Level, e.State, e.ID, terminal.Escape(strings.TrimSpace(e.Name+" "+version)))
		if e.Reason != "" {
			t.under(e.Reason)
			t.under(e.Remediation)
		} else if e.ID != "embedded" {
			t.under("If it ends or is too slow to start in a session: close_binary, open_binary, and ask again on the same connection.")
		}
		if t.full && len(e.Capabilities) > 0 {
			t.under(strings.Join(e.Capabilities, " "))
		}
	}
}

func (t *text) settings(r *Report) {
	if len(r.Settings) == 0 {
		return
	}
	t.head("Settings")
	for _, s := range r.Settings {
		state := "set"
		if s.Level == Problem {
			state = "invalid"
		}
		t.row(s.Level, state, s.Name, "")
		t.under(s.Value)
		if s.Reason != "" {
			t.under(s.Reason)
		}
	}
}

func (t *text) tooling(r *Report) {
	if len(r.Programs) == 0 {
		return
	}
	t.head("Other programs")
	for _, p := range r.Programs {
		level, state, rest := OK, "found", ""
		if p.Path != nil {
			rest = t.short(*p.Path)
		} else {
			level, state, rest = Note, "not found", "for "+p.For
		}
		t.row(level, state, p.Name, rest)
		if t.full {
			t.under("used by " + strings.Join(p.Tools, ", "))
		}
	}
	also := ""
	if len(r.Unused) > 0 {
		also = ": no " + strings.Join(r.Unused, ", no ")
	}
	t.under("Nothing else is used" + also + ".")
}

func (t *text) clients(r *Report) {
	if len(r.Clients) == 0 {
		return
	}
	t.head("Clients")
	shown := 0
	for _, c := range r.Clients {
		for _, g := range c.Registrations {
			if c.Detected == nil && g.State == "missing" && !t.full {
				continue
			}
			shown++
			name := c.Name
			if g.Scope != "user" {
				name += " *"
			}
			t.row(g.Level, g.State, name, t.short(g.Path))
			if g.State == "stale" || g.State == "invalid" || g.Level == Problem {
				t.under(g.Reason)
			}
			if g.Locked != "" {
				t.under("setup won't change it: " + g.Locked)
			}
			if g.Disabled {
				t.under("switched off in the client")
			}
			if t.full && len(g.Command) > 0 {
				t.under("starts " + strings.Join(g.Command, " "))
			}
		}
	}
	if shown == 0 {
		t.row(Note, "none", "", "no MCP client was found; --detail full lists all that are known")
		return
	}
	if slices.ContainsFunc(r.Clients, func(c Client) bool {
		return slices.ContainsFunc(c.Registrations, func(g Registration) bool { return g.Scope != "user" })
	}) {
		t.under("* in this project")
	}
	t.under("Whether a client runs the server now is unknown: binary_session tells it inside the client.")
}

func (t *text) skills(r *Report) {
	if len(r.Skills) == 0 {
		return
	}
	t.head("Guides for agents")
	for _, s := range r.Skills {
		t.row(s.Level, s.State, t.short(s.Path), "")
		switch s.State {
		case "outdated":
			t.under("of another build; rea setup writes this one's")
		case "foreign":
			t.under("not written by setup, or changed since; rea setup --replace takes its place")
		}
	}
}

func (t *text) folders(r *Report) {
	if len(r.Folders) == 0 {
		return
	}
	t.head("Folders")
	for _, f := range r.Folders {
		state := map[string]string{"yes": "writable", "no": "not writable", "unknown": "unknown"}[f.Writable]
		if !f.Exists {
			state = "not made"
		}
		t.row(f.Level, state, t.short(f.Path), "")
		t.under(f.Purpose)
		if f.Reason != "" {
			t.under(f.Reason)
		}
	}
	for _, path := range r.Abandoned {
		t.row(Note, "abandoned", t.short(path), "")
		t.under("of an engine whose server was killed; the next server removes it")
	}
}

func (t *text) verdict(r *Report) {
	if r.Healthy {
		fmt.Fprintf(&t.b, "\n%s\n", t.screen.Paint(terminal.Green, "Healthy."))
		return
	}
	t.head("Problems")
	for _, p := range r.Problems {
		fmt.Fprintf(&t.b, "  %s\n", terminal.Escape(p))
	}
}
