package plan

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rea/cmd/setup/change"
	"rea/cmd/setup/client"
	"rea/cmd/setup/config"
)

// A home is a home folder with a project in it and a program to register.
type home struct {
	t       *testing.T
	dir     string
	options Options
}

func newHome(t *testing.T) *home {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, dir: dir}
	h.write("bin/rea", "", 0o755)
	h.options = Options{
		Host: client.Host{
			OS: "linux", Home: dir, Project: filepath.Join(dir, "project"),
			Getenv:   func(string) string { return "" },
			LookPath: func(string) (string, error) { return "", errors.New("not found") },
			Exists: func(p string) bool {
				_, err := os.Stat(p)
				return err == nil
			},
		},
		Server:  client.Server{Command: filepath.Join(dir, "bin", "rea"), Args: []string{"mcp"}, Env: []client.Variable{{Name: "JAVA_HOME", Value: "/opt/jdk"}}},
		State:   change.State{Dir: filepath.Join(dir, "state")},
		Clients: client.All(),
		Scope:   client.User,
		Skill:   "the guide\n",
	}
	return h
}

func (h *home) write(name, text string, mode os.FileMode) {
	h.t.Helper()
	path := filepath.Join(h.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) read(name string) string {
	data, err := os.ReadFile(filepath.Join(h.dir, filepath.FromSlash(name)))
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// look describes everything below the home but the state folder.
func (h *home) look() string {
	h.t.Helper()
	var b strings.Builder
	err := filepath.Walk(h.dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if path == h.options.State.Dir {
			return filepath.SkipDir
		}
		name, _ := filepath.Rel(h.dir, path)
		fmt.Fprintf(&b, "%s %v", name, info.Mode())
		if info.Mode().IsRegular() {
			data, _ := os.ReadFile(path)
			fmt.Fprintf(&b, " %q", data)
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return b.String()
}

func (h *home) install() *Plan {
	h.t.Helper()
	p, err := Install(h.options)
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

func (h *home) uninstall() *Plan {
	h.t.Helper()
	o := h.options
	o.Scope = ""
	p, err := Uninstall(o)
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

func (h *home) apply(p *Plan) {
	h.t.Helper()
	if err := p.Apply(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

func actions(p *Plan) map[string]Action {
	out := map[string]Action{}
	for _, i := range p.Items {
		out[i.Subject] = i.Action
	}
	return out
}

// settle writes settings of every client, taken from the files that the editors
// are tested with.
func (h *home) settle() {
	files := map[config.Format]string{config.JSON: "json/claude-user.json", config.TOML: "toml/codex.toml", config.YAML: "yaml/goose.yaml"}
	for i, c := range client.All() {
		l, _ := c.Location(h.options.Host, client.User)
		data, err := os.ReadFile(filepath.Join("..", "config", "testdata", files[c.Format]))
		if err != nil {
			h.t.Fatal(err)
		}
		name, _ := filepath.Rel(h.dir, l.File)
		mode := []os.FileMode{0o600, 0o644, 0o664}[i%3]
		text := string(data)
		if i%2 == 0 {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		h.write(name, text, mode)
	}
	// One of them lives in a folder of dot files.
	h.write("dotfiles/gemini.json", h.read(".gemini/settings.json"), 0o640)
	link := filepath.Join(h.dir, ".gemini/settings.json")
	if err := os.Remove(link); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Symlink("../dotfiles/gemini.json", link); err != nil {
		h.t.Skipf("no symbolic links here: %v", err)
	}
}

func TestInstallAgainAndUninstall(t *testing.T) {
	for name, prepare := range map[string]func(*home){
		"settings_exist": (*home).settle,
		"nothing_exists": func(*home) {},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			prepare(h)
			before := h.look()
			p := h.install()
			if got := h.look(); got != before {
				t.Fatal("making a plan changed something")
			}
			h.apply(p)
			for _, c := range client.All() {
				l, _ := c.Location(h.options.Host, client.User)
				if r := c.Inspect(l, h.options.Server); r.State != client.Aligned {
					t.Errorf("%s: %+v", c.ID, r)
				}
			}
			after := h.look()
			again := h.install()
			if again.Changes() {
				t.Errorf("a second run changes something: %+v", again.Diffs())
			}
			for subject, action := range actions(again) {
				if action != Keep {
					t.Errorf("a second run says %s of %s", action, subject)
				}
			}
			h.apply(again)
			if got := h.look(); got != after {
				t.Error("a second run changed something")
			}
			h.apply(h.uninstall())
			if got := h.look(); got != before {
				t.Errorf("uninstalling left\n%s\nwant\n%s", got, before)
			}
			if p := h.uninstall(); p.Changes() {
				t.Errorf("uninstalling again changes something: %+v", p.Items)
			}
		})
	}
}

func TestProject(t *testing.T) {
	h := newHome(t)
	h.write("project/.vscode/mcp.json", "{\n\t\"servers\": {}\n}\n", 0o644)
	h.options.Scope = client.Project
	h.options.Clients = []client.Client{}
	for _, id := range []string{"vscode", "claude-code", "continue"} {
		c, _ := client.ByID(id)
		h.options.Clients = append(h.options.Clients, c)
	}
	before := h.look()
	h.apply(h.install())
	if got := h.read("project/.continue/mcpServers/rea.yaml"); !strings.HasPrefix(got, "name: rea\nversion: 0.0.1\nschema: v1\nmcpServers:\n  - name: rea\n") {
		t.Errorf("the file of Continue:\n%s", got)
	}
	info, err := os.Stat(filepath.Join(h.dir, "project/.mcp.json"))
	if err != nil || info.Mode().Perm()&0o044 == 0 {
		t.Errorf("others who work on the project can't read it: %v, %v", info, err)
	}
	// Uninstalling from elsewhere finds it by the record.
	h.options.Clients = client.All()
	h.options.Host.Project = filepath.Join(h.dir, "elsewhere")
	h.apply(h.uninstall())
	if got := h.look(); got != before {
		t.Errorf("uninstalling left\n%s\nwant\n%s", got, before)
	}
	desktop, _ := client.ByID("claude-desktop")
	h.options.Clients = []client.Client{desktop}
	if p := h.install(); len(p.Refused()) != 1 {
		t.Errorf("a client without projects: %+v", p.Items)
	}
}

// TestEditsInBetweenSurvive changes files between installing and uninstalling.
func TestEditsInBetweenSurvive(t *testing.T) {
	h := newHome(t)
	h.write(".cursor/mcp.json", "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}\n", 0o600)
	h.write(".codex/config.toml", "model = \"x\"\n", 0o600)
	h.apply(h.install())
	h.write(".cursor/mcp.json", strings.Replace(h.read(".cursor/mcp.json"), `"a": {}`, `"a": {}, "b": {}`, 1), 0o600)
	h.write(".codex/config.toml", "# mine\n"+h.read(".codex/config.toml")+"\n[tui]\nx = 1\n", 0o600)
	h.write(".gemini/settings.json", strings.Replace(h.read(".gemini/settings.json"), "{", "{\n  \"theme\": 1,", 1), 0o600)
	h.write(".agents/skills/rea/SKILL.md", "my own words\n", 0o600)
	h.apply(h.uninstall())
	for name, want := range map[string]string{
		".cursor/mcp.json":            "{\n  \"mcpServers\": {\n    \"a\": {}, \"b\": {}\n  }\n}\n",
		".codex/config.toml":          "# mine\nmodel = \"x\"\n\n[tui]\nx = 1\n",
		".gemini/settings.json":       "{\n  \"theme\": 1\n}\n",
		".agents/skills/rea/SKILL.md": "my own words\n",
	} {
		if got := h.read(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(h.dir, ".codeium")); err == nil {
		t.Error("a folder that was made is still there")
	}
}

func TestStaleEntryIsUpdatedAndKeepsWhatPeopleAdded(t *testing.T) {
	h := newHome(t)
	h.write(".cursor/mcp.json", `{"mcpServers": {"rea": {"command": "/old/rea", "args": ["mcp", "--toolsets", "native"], "env": {"X": "1"}, "disabled": true}}}`, 0o600)
	cursor, _ := client.ByID("cursor")
	h.options.Clients = []client.Client{cursor}
	p := h.install()
	if got := actions(p)["cursor"]; got != Update {
		t.Errorf("action %s", got)
	}
	h.apply(p)
	want := `{"mcpServers": {"rea": {"command": "` + h.options.Server.Command + `", "args": ["mcp", "--toolsets", "native"], "env": {"X": "1", "JAVA_HOME": "/opt/jdk"}, "disabled": true}}}`
	if got := h.read(".cursor/mcp.json"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	h.apply(h.uninstall())
	if got := h.read(".cursor/mcp.json"); got != `{"mcpServers": {}}` {
		t.Errorf("the stale entry came back: %s", got)
	}
}

// TestAllOrNothing holds that one file that can't be changed keeps all from it.
func TestAllOrNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		text   string
		mode   os.FileMode
		reason string
	}{
		"malformed":      {"{\n  \"mcpServers\": {\n", 0o600, "line 3, column 1"},
		"read_only":      {"{}", 0o444, "read-only"},
		"another_server": {`{"mcpServers": {"rea": {"command": "npx", "args": ["other"]}}}`, 0o600, "--replace"},
		"remote_server":  {`{"mcpServers": {"rea": {"url": "https://example.com"}}}`, 0o600, "--replace"},
		"servers_a_list": {`{"mcpServers": []}`, 0o600, "mcpServers is not an object"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.settle()
			h.write(".codeium/windsurf/mcp_config.json", tt.text, tt.mode)
			before := h.look()
			p := h.install()
			if r := p.Refused(); len(r) != 1 || r[0].Subject != "windsurf" || !strings.Contains(r[0].Reason, tt.reason) {
				t.Fatalf("refused: %+v", r)
			}
			if err := p.Apply(t.Context()); err == nil {
				t.Error("the plan was carried out")
			}
			if got := h.look(); got != before {
				t.Errorf("something changed:\n%s\nwant\n%s", got, before)
			}
			// Uninstalling leaves alone what isn't ours.
			u := h.uninstall()
			h.apply(u)
			if got := h.look(); got != before {
				t.Errorf("uninstalling changed something:\n%s\nwant\n%s", got, before)
			}
		})
	}
}

func TestReplaceTakesOver(t *testing.T) {
	h := newHome(t)
	h.write(".cursor/mcp.json", "{\n  \"mcpServers\": {\n    \"rea\": {\"url\": \"https://example.com\"},\n    \"b\": {}\n  }\n}\n", 0o600)
	cursor, _ := client.ByID("cursor")
	h.options.Clients, h.options.Replace = []client.Client{cursor}, true
	before := h.look()
	h.apply(h.install())
	h.options.Server.Env = []client.Variable{{Name: "JAVA_HOME", Value: "/opt/other"}}
	again := h.install()
	if !strings.Contains(again.Items[0].Reason, "changes JAVA_HOME") {
		t.Errorf("why the entry changes: %q", again.Items[0].Reason)
	}
	h.apply(again)
	defer func() {
		h.apply(h.uninstall())
		if got := h.look(); got != before {
			t.Errorf("what was replaced didn't come back:\n%s\nwant\n%s", got, before)
		}
	}()
	got := h.read(".cursor/mcp.json")
	if strings.Contains(got, "example.com") || !strings.Contains(got, `"b": {},`) || !strings.Contains(got, h.options.Server.Command) {
		t.Errorf("%s", got)
	}
}

// TestTwoClientsOneFile holds for settings that several clients share by links.
func TestTwoClientsOneFile(t *testing.T) {
	h := newHome(t)
	h.write("mcp.json", "{\n  \"mcpServers\": {}\n}\n", 0o600)
	for _, name := range []string{".cursor/mcp.json", ".codeium/windsurf/mcp_config.json"} {
		path := filepath.Join(h.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(h.dir, "mcp.json"), path); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	before := h.look()
	cursor, _ := client.ByID("cursor")
	windsurf, _ := client.ByID("windsurf")
	h.options.Clients = []client.Client{cursor, windsurf}
	h.apply(h.install())
	if n := strings.Count(h.read("mcp.json"), h.options.Server.Command); n != 1 {
		t.Errorf("%d entries:\n%s", n, h.read("mcp.json"))
	}
	h.options.Clients = client.All()
	h.apply(h.uninstall())
	if got := h.look(); got != before {
		t.Errorf("uninstalling left\n%s\nwant\n%s", got, before)
	}
}

// TestSharedSkillStays as long as one of its clients is registered.
func TestSharedSkillStays(t *testing.T) {
	h := newHome(t)
	codex, _ := client.ByID("codex")
	gemini, _ := client.ByID("gemini")
	h.options.Clients = []client.Client{codex, gemini}
	h.apply(h.install())
	h.options.Clients = []client.Client{codex}
	h.apply(h.uninstall())
	if h.read(".agents/skills/rea/SKILL.md") != "the guide\n" {
		t.Error("the skill is gone")
	}
	h.options.Clients = []client.Client{gemini}
	h.apply(h.uninstall())
	if _, err := os.Stat(filepath.Join(h.dir, ".agents")); err == nil {
		t.Error("the skill is still there")
	}
}

func TestNewGuideReplacesTheOldOne(t *testing.T) {
	h := newHome(t)
	codex, _ := client.ByID("codex")
	h.options.Clients = []client.Client{codex}
	h.apply(h.install())
	h.options.Skill = "a newer guide\n"
	h.apply(h.install())
	if got := h.read(".agents/skills/rea/SKILL.md"); got != "a newer guide\n" {
		t.Errorf("%q", got)
	}
	h.write(".agents/skills/rea/SKILL.md", "changed by hand\n", 0o600)
	h.options.Skill = "the newest guide\n"
	if p := h.install(); len(p.Refused()) != 1 {
		t.Errorf("a skill that was changed by hand: %+v", p.Items)
	}
}

func TestFileInTheWayOfTheRecord(t *testing.T) {
	h := newHome(t)
	h.write("state", "", 0o600)
	h.options.State.Dir = filepath.Join(h.dir, "state", "setup")
	if _, err := Install(h.options); err == nil || !strings.Contains(err.Error(), filepath.Join(h.dir, "state")+" is in the way") {
		t.Errorf("err = %v", err)
	}
}
