package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"rea/cmd/setup/change"
	"rea/cmd/setup/client"
	"rea/cmd/setup/plan"
	"rea/generated/model"
	"rea/runtime/engine"
)

// Options are what the doctor can't find out by itself.
type Options struct {
	Version string
	Host    client.Host
	// Server is what setup would register; ServerReason tells why there is none.
	Server       client.Server
	ServerReason string
	Engines      []engine.Provider
	// EngineSettings are the variables that lead to an engine, by its id.
	EngineSettings map[string][]string
	Settings       []Setting
	Abandoned      []string
	// Skill is the packaged guide.
	Skill string
	// Examine tells what doesn't work for a server that a client starts with these
	// arguments and this environment.
	Examine func(ctx context.Context, args []string, env []client.Variable) []string
}

// Look makes the report.
func Look(ctx context.Context, o Options) *Report {
	r := &Report{
		Program:  Program{Version: o.Version, Reason: o.ServerReason},
		Host:     Host{OS: runtime.GOOS, Architecture: runtime.GOARCH, System: system(), Processors: runtime.NumCPU()},
		Settings: o.Settings,
		Problems: []string{}, Abandoned: append([]string{}, o.Abandoned...),
	}
	r.Programs, r.Unused = tooling(o.Host)
	if path, err := os.Executable(); err == nil {
		r.Program.Path = path
	}
	if o.Server.Command != "" {
		r.Program.Registrable = &o.Server.Command
	}
	if r.Settings == nil {
		r.Settings = []Setting{}
	}
	r.engines(ctx, o)
	r.folders(o)
	r.clients(ctx, o)
	r.skills(o)
	r.Interrupted = change.State{Dir: o.Host.State()}.Interrupted()
	r.judge()
	return r
}

func (r *Report) engines(ctx context.Context, o Options) {
	r.Engines = []Engine{}
	for _, c := range engine.Candidates(ctx, o.Engines, nil, "") {
		e := Engine{
			ID: c.Provider.ID, Name: c.Provider.Name, Version: c.Provider.Version,
			State: string(c.Availability.State), Capabilities: []string{}, Level: OK,
		}
		for _, k := range c.Capabilities {
			e.Capabilities = append(e.Capabilities, string(k))
		}
		for i, name := range o.EngineSettings[e.ID] {
			// The first one is the engine's own; others may be set for anybody.
			e.Configured = e.Configured || i == 0 && o.Host.Getenv(name) != ""
		}
		if c.Availability.State == model.EngineCandidateAvailabilityStateUnavailable {
			e.Reason, e.Remediation, e.Level = *c.Availability.Reason, *c.Availability.Remediation, Note
			if e.Configured || e.ID == engine.DefaultID {
				e.Level = Problem
			}
		}
		r.Engines = append(r.Engines, e)
	}
}

func (r *Report) folders(o Options) {
	r.Folders = []Folder{}
	for _, f := range []struct{ purpose, path string }{
		{"evidence and temporary projects of running servers", os.TempDir()},
		{"record and backups of setup", o.Host.State()},
	} {
		out := Folder{Purpose: f.purpose, Path: f.path, Level: OK}
		_, err := os.Stat(f.path)
		out.Exists = err == nil
		at := f.path
		for err != nil && filepath.Dir(at) != at { // whether it could be made
			at = filepath.Dir(at)
			_, err = os.Stat(at)
		}
		out.Writable = writable(at)
		if info, err := os.Stat(at); err == nil && !info.IsDir() {
			out.Level, out.Exists, out.Writable = Problem, false, "no"
			out.Reason = "the file " + at + " is in its way"
			r.Folders = append(r.Folders, out)
			continue
		}
		if out.Writable == "no" {
			out.Level = Problem
			if !out.Exists {
				out.Level = Note // nobody needs it yet
			}
		}
		r.Folders = append(r.Folders, out)
	}
}

func (r *Report) clients(ctx context.Context, o Options) {
	r.Clients = []Client{}
	told := map[string]bool{} // files of the project, which several clients may read
	for _, c := range client.All() {
		out := Client{ID: c.ID, Name: c.Name, Registrations: []Registration{}}
		if where := c.Detected(o.Host); where != "" {
			out.Detected = &where
		}
		for _, scope := range []client.Scope{client.User, client.Project, client.Local} {
			l, ok := c.Location(o.Host, scope)
			if !ok || scope == client.Project && !o.Host.Exists(l.File) {
				continue
			}
			if user, ok := c.Location(o.Host, client.User); ok && scope == client.Project && same(user.File, l.File) {
				continue // the project is the home folder
			}
			if scope == client.Project {
				if told[l.File] {
					continue
				}
				told[l.File] = true
			}
			reg := c.Inspect(l, o.Server)
			if scope == client.Local && (reg.State == client.Missing || reg.Malformed) {
				continue // the user's registration has told of the file
			}
			out.Registrations = append(out.Registrations, registration(ctx, reg, o))
		}
		r.Clients = append(r.Clients, out)
	}
}

// skills compares the guides that are installed with the packaged one.
func (r *Report) skills(o Options) {
	r.Skills = []Skill{}
	record, err := change.State{Dir: o.Host.State()}.Record()
	if err != nil {
		record = change.Record{}
	}
	var seen []string
	for _, c := range client.All() {
		for _, scope := range []client.Scope{client.User, client.Project} {
			path := plan.SkillFile(o.Host, c, scope)
			if path == "" || slices.ContainsFunc(seen, func(s string) bool { return s == path || same(s, path) }) {
				continue
			}
			seen = append(seen, path)
			f, err := change.Load(path, client.Read)
			if err != nil || !f.Exists {
				continue
			}
			s := Skill{Path: path, State: "foreign", Level: Note}
			switch digest := change.Digest(f.Before); {
			case string(f.Before) == o.Skill:
				s.State, s.Level = "current", OK
			case slices.ContainsFunc(record.Files, func(w change.Written) bool { return w.Target == f.Target && w.Digest == digest }):
				s.State = "outdated"
			}
			r.Skills = append(r.Skills, s)
		}
	}
}

// same tells that two paths lead to one file.
func same(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

func registration(ctx context.Context, r client.Registration, o Options) Registration {
	out := Registration{
		Scope: string(r.Scope), Path: r.File, State: string(r.State), Reason: r.Reason,
		Line: r.At.Line, Column: r.At.Column, Command: r.Vector, Disabled: r.Off, Server: unknown, Level: OK,
	}
	if f, err := change.Load(r.File, client.Read); err == nil && f.Writable() != nil {
		out.Locked = f.Writable().Error()
	}
	if out.Command == nil {
		out.Command = []string{}
	}
	switch {
	case r.State == client.Missing || r.Off:
		out.Level = Note
	case r.State != client.Aligned:
		out.Level = Problem
	case o.Examine != nil:
		if wrong := o.Examine(ctx, r.Vector[1:], r.Env); len(wrong) > 0 {
			out.Level, out.Reason = Problem, "starts this program with settings that don't work: "+strings.Join(wrong, "; ")
		}
	}
	return out
}

// judge collects the problems.
func (r *Report) judge() {
	say := func(format string, args ...any) { r.Problems = append(r.Problems, fmt.Sprintf(format, args...)) }
	for _, e := range r.Engines {
		if e.Level == Problem {
			say("engine %s: %s", e.ID, e.Reason)
		}
	}
	for _, s := range r.Settings {
		if s.Level == Problem {
			if strings.HasPrefix(s.Reason, s.Name) {
				say("%s", s.Reason)
			} else {
				say("%s: %s", s.Name, s.Reason)
			}
		}
	}
	for _, f := range r.Folders {
		if f.Level == Problem {
			if f.Reason != "" {
				say("%s: %s", f.Path, f.Reason)
				continue
			}
			say("%s can't be written to: %s", f.Path, f.Purpose)
		}
	}
	for _, c := range r.Clients {
		for _, g := range c.Registrations {
			if g.Level == Problem {
				say("%s, %s: %s", c.Name, g.Path, g.Reason)
			}
		}
	}
	if r.Interrupted {
		say("a run of setup was broken off; rea setup puts the files back")
	}
	r.Healthy = len(r.Problems) == 0
}

// Only keeps what is said of one engine, on this host and with its settings.
func (r *Report) Only(id string) (Engine, bool) {
	i := slices.IndexFunc(r.Engines, func(e Engine) bool { return e.ID == id })
	if i < 0 {
		return Engine{}, false
	}
	e := r.Engines[i]
	if e.State != string(model.EngineCandidateAvailabilityStateAvailable) {
		e.Level = Problem
	}
	r.Engines = []Engine{e}
	r.Settings = slices.DeleteFunc(r.Settings, func(s Setting) bool { return s.Engine != id })
	r.Programs, r.Unused, r.Folders, r.Clients, r.Problems, r.Interrupted = []Tooling{}, []string{}, []Folder{}, []Client{}, []string{}, false
	r.Skills = []Skill{}
	r.judge()
	return e, true
}

// system names the operating system as it names itself.
func system() string {
	data, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if v, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			return strings.Trim(strings.TrimSpace(v), `"'`)
		}
	}
	return ""
}
