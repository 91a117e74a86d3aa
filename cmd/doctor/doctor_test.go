package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rea/cmd/setup/client"
	"rea/cmd/terminal"
	"rea/generated/model"
	"rea/runtime/engine"
)

// fake is an engine that must not be started.
type fake struct {
	t         *testing.T
	id        string
	available bool
}

func (f fake) Describe() engine.Description {
	return engine.Description{Provider: model.Provider{ID: f.id, Name: "Engine " + f.id}, Capabilities: []model.EngineCapability{model.EngineCapabilityBytes}}
}

func (f fake) Available(context.Context) engine.Availability {
	if f.available {
		return engine.Availability{Available: true}
	}
	return engine.Availability{Reason: "its folder is missing", Remediation: "Set X_HOME."}
}

func (f fake) Supports(*engine.Target) engine.Support {
	f.t.Error("the doctor asked for a target's support")
	return engine.Support{}
}

func (f fake) Open(context.Context, *engine.Target, engine.Names) (engine.Engine, error) {
	f.t.Error("the doctor started an engine")
	return nil, errors.New("no")
}

func options(t *testing.T, env map[string]string) Options {
	home := t.TempDir()
	program := filepath.Join(home, "rea")
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	return Options{
		Version: "v1",
		Host: client.Host{
			OS: "linux", Home: home, Project: filepath.Join(home, "project"),
			Getenv:   func(k string) string { return env[k] },
			LookPath: func(string) (string, error) { return "", errors.New("not found") },
			Exists: func(p string) bool {
				_, err := os.Stat(p)
				return err == nil
			},
		},
		Server:         client.Server{Command: program, Args: []string{"mcp"}},
		Engines:        []engine.Provider{fake{t, engine.DefaultID, true}, fake{t, "apart", false}},
		EngineSettings: map[string][]string{"apart": {"X_HOME", "JAVA_HOME"}},
	}
}

func (o Options) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(o.Host.Home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func state(r *Report, id string) string {
	for _, c := range r.Clients {
		if c.ID == id {
			return c.Registrations[0].State
		}
	}
	return ""
}

func TestHealth(t *testing.T) {
	for _, tt := range []struct {
		name    string
		env     map[string]string
		prepare func(Options)
		problem string // "" for none
	}{
		{"nothing_set_up", nil, func(Options) {}, ""},
		{"java_alone_asks_for_no_engine", map[string]string{"JAVA_HOME": "/opt/jdk"}, func(Options) {}, ""},
		{"engine_configured_and_broken", map[string]string{"X_HOME": "/opt/x"}, func(Options) {}, "engine apart: its folder is missing"},
		{"stale", nil, func(o Options) {
			o.write(t, ".cursor/mcp.json", `{"mcpServers": {"rea": {"command": "/nowhere/rea", "args": ["mcp"]}}}`)
		}, "Cursor"},
		{"malformed", nil, func(o Options) { o.write(t, ".cursor/mcp.json", "{\n  oops\n}") }, "line 2, column 3"},
		{"switched_off_is_a_choice", nil, func(o Options) {
			o.write(t, ".cursor/mcp.json", `{"mcpServers": {"rea": {"command": "/nowhere/rea", "args": ["mcp"], "disabled": true}}}`)
		}, ""},
		{"broken_off", nil, func(o Options) { o.write(t, ".local/state/rea/setup/journal.json", "{}") }, "broken off"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := options(t, tt.env)
			tt.prepare(o)
			r := Look(t.Context(), o)
			got := strings.Join(r.Problems, "; ")
			if r.Healthy != (tt.problem == "") || !strings.Contains(got, tt.problem) {
				t.Errorf("healthy %v, problems %q, want %q", r.Healthy, got, tt.problem)
			}
		})
	}
}

func TestAlignedAndMissing(t *testing.T) {
	o := options(t, nil)
	o.write(t, ".cursor/mcp.json", `{"mcpServers": {"rea": {"command": "`+o.Server.Command+`", "args": ["mcp"]}}}`)
	o.write(t, ".codex/config.toml", "model = \"x\"\n")
	r := Look(t.Context(), o)
	for id, want := range map[string]string{"cursor": "aligned", "codex": "missing", "zed": "missing"} {
		if got := state(r, id); got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
	for _, c := range r.Clients {
		for _, g := range c.Registrations {
			if g.Server.State != "unknown" || g.Server.Reason == "" {
				t.Errorf("%s: the live server is said to be %q", c.ID, g.Server.State)
			}
		}
	}
}

func TestOneEngineAlone(t *testing.T) {
	o := options(t, nil)
	o.write(t, ".cursor/mcp.json", "malformed")
	r := Look(t.Context(), o)
	if e, ok := r.Only("apart"); !ok || e.Reason != "its folder is missing" || r.Healthy || len(r.Clients) != 0 {
		t.Errorf("%+v, %v, %+v", e, ok, r)
	}
	if _, ok := Look(t.Context(), o).Only("none"); ok {
		t.Error("an engine that doesn't exist was found")
	}
	r = Look(t.Context(), o)
	if _, ok := r.Only(engine.DefaultID); !ok || !r.Healthy {
		t.Error("the settings of a client make an engine unhealthy")
	}
	o.Settings = []Setting{
		{Name: "APART", Value: "x", Engine: "apart", Level: Problem, Reason: "APART=x is not accepted"}, {Name: "OTHER", Value: "y", Level: Problem, Reason: "no"},
	}
	r = Look(t.Context(), o)
	if r.Only("apart"); len(r.Settings) != 1 || !slices.Contains(r.Problems, "APART=x is not accepted") {
		t.Errorf("settings %+v, problems %q", r.Settings, r.Problems)
	}
	r = Look(t.Context(), o)
	if r.Only(engine.DefaultID); len(r.Settings) != 0 || !r.Healthy {
		t.Errorf("settings %+v, problems %q", r.Settings, r.Problems)
	}
}

// TestDocument holds that lists are lists even when they are empty, and that
// nothing of a hostile file steers the terminal.
func TestDocument(t *testing.T) {
	o := options(t, nil)
	o.write(t, ".cursor/mcp.json", "{\"mcpServers\": {\"rea\": {\"command\": \"/x\\u001b[31m\\n\", \"args\": []}}}")
	r := Look(t.Context(), o)
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte(":null,\"registrable")) || bytes.Contains(data, []byte(`"settings":null`)) || bytes.Contains(data, []byte(`"command_vector":null`)) {
		t.Errorf("a list is null: %s", data)
	}
	for _, full := range []bool{false, true} {
		var out bytes.Buffer
		if err := r.Text(&out, terminal.Screen{}, full, func(p string) string { return p }); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "\x1b") {
			t.Errorf("the report steers the terminal:\n%q", out.String())
		}
		if full != strings.Contains(out.String(), "Kimi Code") {
			t.Errorf("full %v:\n%s", full, out.String())
		}
	}
}

// TestFast looks at settings with a long history, as agents keep them.
func TestFast(t *testing.T) {
	o := options(t, nil)
	var b strings.Builder
	b.WriteString(`{"projects": {"/x": {"history": [`)
	for b.Len() < 4<<20 {
		b.WriteString(`{"display": "a question about \"something\"", "pastedContents": {}}, `)
	}
	b.WriteString(`{}]}}, "mcpServers": {}}`)
	o.write(t, ".claude.json", b.String())
	best := time.Hour
	for range 5 {
		start := time.Now()
		Look(t.Context(), o)
		best = min(best, time.Since(start))
	}
	if best > 300*time.Millisecond {
		t.Errorf("the doctor takes %v", best)
	}
	t.Log(best)
}

// TestHomeIsTheProject holds that one file is told of once.
func TestHomeIsTheProject(t *testing.T) {
	o := options(t, nil)
	o.Host.Project = o.Host.Home
	o.write(t, ".cursor/mcp.json", `{"mcpServers": {"rea": {"command": "/nowhere/rea", "args": ["mcp"]}}}`)
	r := Look(t.Context(), o)
	if len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "Cursor") {
		t.Errorf("problems %q", r.Problems)
	}
}

// TestSharedProjectFile holds the same for a file that several clients read.
func TestSharedProjectFile(t *testing.T) {
	o := options(t, nil)
	o.write(t, "project/.vscode/mcp.json", `{"servers": {"rea": {"command": "/nowhere/rea", "args": ["mcp"]}}}`)
	if r := Look(t.Context(), o); len(r.Problems) != 1 {
		t.Errorf("problems %q", r.Problems)
	}
}

// TestOptionalPrograms holds that each is told of, either with what uses it or as
// one that nothing uses.
func TestOptionalPrograms(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		o := options(t, nil)
		o.Host.OS = system
		r := Look(t.Context(), o)
		told := slices.Clone(r.Unused)
		for _, p := range r.Programs {
			told = append(told, p.Name)
			if len(p.Tools) == 0 {
				t.Errorf("%s is listed, and nothing uses it", p.Name)
			}
		}
		for _, p := range optional {
			if here := only[p.name] == "" || only[p.name] == system; slices.Contains(told, p.name) != here {
				t.Errorf("on %s, %s: told of %q", system, p.name, told)
			}
		}
	}
}

// TestWhatIsInTheWay tells of files that setup won't change, guides that aren't
// the packaged one, and a file where the record should be.
func TestWhatIsInTheWay(t *testing.T) {
	o := options(t, nil)
	o.Skill = "the guide\n"
	o.write(t, ".cursor/mcp.json", "{}")
	if err := os.Chmod(filepath.Join(o.Host.Home, ".cursor/mcp.json"), 0o400); err != nil {
		t.Fatal(err)
	}
	o.write(t, ".agents/skills/rea/SKILL.md", "my own\n")
	o.write(t, ".claude/skills/rea/SKILL.md", "the guide\n")
	r := Look(t.Context(), o)
	if !r.Healthy {
		t.Errorf("problems %q", r.Problems)
	}
	states := map[string]string{}
	for _, s := range r.Skills {
		states[strings.TrimPrefix(s.Path, o.Host.Home)] = s.State
	}
	if len(states) != 2 || states["/.agents/skills/rea/SKILL.md"] != "foreign" || states["/.claude/skills/rea/SKILL.md"] != "current" {
		t.Errorf("skills %v", states)
	}
	var out bytes.Buffer
	if err := r.Text(&out, terminal.Screen{}, false, func(p string) string { return p }); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "setup won't change it: the file is read-only") {
		t.Errorf("a file that is read-only:\n%s", out.String())
	}
	o.write(t, ".local/state/rea", "")
	if r := Look(t.Context(), o); len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "is in its way") {
		t.Errorf("problems %q", r.Problems)
	}
}
