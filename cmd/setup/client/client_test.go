package client

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rea/cmd/setup/config"
)

func host(goos, home string, env map[string]string) Host {
	return Host{
		OS: goos, Home: home, Project: "/p", Getenv: func(k string) string { return env[k] },
		LookPath: func(string) (string, error) { return "", errors.New("not found") },
		Exists:   func(string) bool { return false },
	}
}

// TestDocumentedPaths holds the files that the documentation of the clients
// names, on every system.
func TestDocumentedPaths(t *testing.T) {
	linux, mac, windows := host("linux", "/home/a", nil), host("darwin", "/Users/a", nil),
		host("windows", `C:\Users\a`, map[string]string{"APPDATA": `C:\Users\a\AppData\Roaming`})
	for _, tt := range []struct {
		id                          string
		linux, mac, windows, shared string
	}{
		{"claude-code", "/home/a/.claude.json", "/Users/a/.claude.json", `C:\Users\a\.claude.json`, "/p/.mcp.json"},
		{"claude-desktop", "/home/a/.config/Claude/claude_desktop_config.json",
			"/Users/a/Library/Application Support/Claude/claude_desktop_config.json",
			`C:\Users\a\AppData\Roaming\Claude\claude_desktop_config.json`, ""},
		{"codex", "/home/a/.codex/config.toml", "/Users/a/.codex/config.toml", `C:\Users\a\.codex\config.toml`, "/p/.codex/config.toml"},
		{"continue", "/home/a/.continue/config.yaml", "/Users/a/.continue/config.yaml", `C:\Users\a\.continue\config.yaml`, "/p/.continue/mcpServers/rea.yaml"},
		{"cursor", "/home/a/.cursor/mcp.json", "/Users/a/.cursor/mcp.json", `C:\Users\a\.cursor\mcp.json`, "/p/.cursor/mcp.json"},
		{"gemini", "/home/a/.gemini/settings.json", "/Users/a/.gemini/settings.json", `C:\Users\a\.gemini\settings.json`, "/p/.gemini/settings.json"},
		{"goose", "/home/a/.config/goose/config.yaml", "/Users/a/.config/goose/config.yaml", `C:\Users\a\AppData\Roaming\Block\goose\config\config.yaml`, ""},
		{"kimi", "/home/a/.kimi-code/mcp.json", "/Users/a/.kimi-code/mcp.json", `C:\Users\a\.kimi-code\mcp.json`, "/p/.kimi-code/mcp.json"},
		{"kimi-cli", "/home/a/.kimi/mcp.json", "/Users/a/.kimi/mcp.json", `C:\Users\a\.kimi\mcp.json`, ""},
		{"opencode", "/home/a/.config/opencode/opencode.json", "/Users/a/.config/opencode/opencode.json", `C:\Users\a\.config\opencode\opencode.json`, "/p/opencode.json"},
		{"vscode", "/home/a/.config/Code/User/mcp.json", "/Users/a/Library/Application Support/Code/User/mcp.json",
			`C:\Users\a\AppData\Roaming\Code\User\mcp.json`, "/p/.vscode/mcp.json"},
		{"vscode-insiders", "/home/a/.config/Code - Insiders/User/mcp.json", "/Users/a/Library/Application Support/Code - Insiders/User/mcp.json",
			`C:\Users\a\AppData\Roaming\Code - Insiders\User\mcp.json`, "/p/.vscode/mcp.json"},
		{"vscodium", "/home/a/.config/VSCodium/User/mcp.json", "/Users/a/Library/Application Support/VSCodium/User/mcp.json",
			`C:\Users\a\AppData\Roaming\VSCodium\User\mcp.json`, "/p/.vscode/mcp.json"},
		{"windsurf", "/home/a/.codeium/windsurf/mcp_config.json", "/Users/a/.codeium/windsurf/mcp_config.json", `C:\Users\a\.codeium\windsurf\mcp_config.json`, ""},
		{"zed", "/home/a/.config/zed/settings.json", "/Users/a/.config/zed/settings.json", `C:\Users\a\AppData\Roaming\Zed\settings.json`, "/p/.zed/settings.json"},
	} {
		c, ok := ByID(tt.id)
		if !ok {
			t.Errorf("no client %s", tt.id)
			continue
		}
		for want, h := range map[string]Host{tt.linux: linux, tt.mac: mac, tt.windows: windows} {
			if l, ok := c.Location(h, User); !ok || l.File != want {
				t.Errorf("%s on %s: %s, want %s", tt.id, h.OS, l.File, want)
			}
		}
		if l, ok := c.Location(linux, Project); ok != (tt.shared != "") || l.File != tt.shared {
			t.Errorf("%s in a project: %s, want %s", tt.id, l.File, tt.shared)
		}
	}
	if len(All()) != 15 || !slices.IsSorted(IDs()) {
		t.Errorf("clients: %v", IDs())
	}
}

func TestEnvironmentMovesSettings(t *testing.T) {
	h := host("linux", "/home/a", map[string]string{
		"XDG_CONFIG_HOME": "/x", "CODEX_HOME": "/c", "CLAUDE_CONFIG_DIR": "/l/", "KIMI_CODE_HOME": "/k", "GEMINI_CLI_HOME": "/g", "OPENCODE_CONFIG": "/o/mine.json",
	})
	for id, want := range map[string]string{
		"zed": "/x/zed/settings.json", "goose": "/x/goose/config.yaml", "vscode": "/x/Code/User/mcp.json",
		"codex": "/c/config.toml", "claude-code": "/l/.claude.json", "kimi": "/k/mcp.json",
		"gemini": "/g/.gemini/settings.json", "opencode": "/o/mine.json",
	} {
		c, _ := ByID(id)
		if l, _ := c.Location(h, User); l.File != want {
			t.Errorf("%s: %s, want %s", id, l.File, want)
		}
	}
}

func TestTheFileThatExistsIsTaken(t *testing.T) {
	h := host("linux", "/home/a", nil)
	h.Exists = func(p string) bool { return strings.HasSuffix(p, ".jsonc") }
	c, _ := ByID("opencode")
	if l, _ := c.Location(h, User); l.File != "/home/a/.config/opencode/opencode.jsonc" {
		t.Error(l.File)
	}
}

// TestContinue: a file that is made is one that Continue reads, and hides none.
func TestContinue(t *testing.T) {
	c, _ := ByID("continue")
	h := host("linux", "/home/a", nil)
	for _, tt := range []struct {
		exists, want, name string
	}{
		{"", "/home/a/.continue/config.yaml", "Local Config"},
		{"config.json", "/home/a/.continue/mcpServers/rea.yaml", "rea"}, // a block has a name of its own
		{"config.json config.yaml", "/home/a/.continue/config.yaml", "Local Config"},
	} {
		h.Exists = func(p string) bool { return slices.Contains(strings.Fields(tt.exists), filepath.Base(p)) }
		l, _ := c.Location(h, User)
		if l.File != tt.want {
			t.Errorf("beside %q it is %s", tt.exists, l.File)
		}
		f, l, err := c.Open([]byte(l.Seed), l)
		if err != nil {
			t.Fatal(err)
		}
		text, err := f.Put(c.Entry(Server{Command: "/usr/bin/rea", Args: []string{"mcp"}}))
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"name: " + tt.name + "\nversion", "version: ", "schema: v1\n", "mcpServers:\n"} {
			if !strings.Contains(string(text), key) {
				t.Errorf("%s has no %q:\n%s", l.File, key, text)
			}
		}
	}
}

func TestDetection(t *testing.T) {
	c, _ := ByID("codex")
	h := host("linux", "/home/a", nil)
	if where := c.Detected(h); where != "" {
		t.Errorf("found %s on an empty machine", where)
	}
	h.LookPath = func(p string) (string, error) {
		if p == "codex" {
			return "/usr/bin/codex", nil
		}
		return "", errors.New("not found")
	}
	if where := c.Detected(h); where != "/usr/bin/codex" {
		t.Errorf("found %q", where)
	}
	h = host("darwin", "/Users/a", nil)
	h.Exists = func(p string) bool { return p == "/Applications/Cursor.app" }
	c, _ = ByID("cursor")
	if where := c.Detected(h); where != "/Applications/Cursor.app" {
		t.Errorf("found %q", where)
	}
}

// TestWhatIsWrittenIsAligned writes and reads the entry of every client.
func TestWhatIsWrittenIsAligned(t *testing.T) {
	program := filepath.Join(t.TempDir(), "rea")
	if err := os.WriteFile(program, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "rea")
	if err := os.WriteFile(other, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	s := Server{Command: program, Args: []string{"mcp"}, Env: []Variable{{"JAVA_HOME", "/opt/jdk 21"}}}
	for _, c := range All() {
		l, _ := c.Location(host("linux", "/home/a", nil), User)
		f, l, err := c.Open(nil, l)
		if err != nil {
			t.Fatal(err)
		}
		text, err := f.Put(c.Entry(s))
		if err != nil {
			t.Fatal(err)
		}
		if r := c.Examine(text, l, s); r.State != Aligned || !r.Ours || !slices.Equal(r.Vector, []string{program, "mcp"}) || r.Off {
			t.Errorf("%s: %+v\n%s", c.ID, r, text)
		}
		if !strings.Contains(string(text), "/opt/jdk 21") {
			t.Errorf("%s: no environment:\n%s", c.ID, text)
		}
		if r := c.Examine(text, l, Server{Command: other, Args: s.Args}); r.State != Stale || !r.Ours {
			t.Errorf("%s: another program: %+v", c.ID, r)
		}
		if r := c.Examine(nil, l, s); r.State != Missing {
			t.Errorf("%s: an empty file: %+v", c.ID, r)
		}
	}
}

func TestJudgement(t *testing.T) {
	dir := t.TempDir()
	program, link := filepath.Join(dir, "rea"), filepath.Join(dir, "rea-link")
	if err := os.WriteFile(program, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	c, _ := ByID("cursor")
	l, _ := c.Location(host("linux", "/home/a", nil), User)
	for _, tt := range []struct {
		name, entry string
		state       State
		ours        bool
		reason      string
	}{
		{"aligned", `{"command": "` + program + `", "args": ["mcp"]}`, Aligned, true, ""},
		{"more_arguments", `{"command": "` + program + `", "args": ["mcp", "--toolsets", "native"]}`, Aligned, true, ""},
		{"through_a_link", `{"command": "` + link + `", "args": ["mcp"]}`, Aligned, true, ""},
		{"no_argument", `{"command": "` + program + `"}`, Stale, true, "argument mcp"},
		{"other_argument", `{"command": "` + program + `", "args": ["serve"]}`, Stale, true, "argument mcp"},
		{"gone", `{"command": "/nowhere/rea", "args": ["mcp"]}`, Stale, true, "no program"},
		{"windows_path", `{"command": "C:\\bin\\rea.exe", "args": ["mcp"]}`, Stale, true, "rea.exe"},
		{"another_program", `{"command": "npx", "args": ["-y", "other", "mcp"]}`, Stale, false, "npx"},
		{"remote", `{"url": "https://example.com/mcp"}`, Invalid, false, "url"},
		{"no_command", `{}`, Invalid, false, "no command"},
		{"command_is_a_list", `{"command": ["rea", "mcp"]}`, Invalid, false, "command"},
		{"args_is_text", `{"command": "rea", "args": "mcp"}`, Invalid, false, "args"},
		{"args_hold_numbers", `{"command": "rea", "args": [1]}`, Invalid, false, "args"},
		{"text", `"rea mcp"`, Invalid, false, "line 1, column 23"},
	} {
		r := c.Examine([]byte(`{"mcpServers": {"rea":`+tt.entry+`}}`), l, Server{Command: program, Args: []string{"mcp"}})
		if r.State != tt.state || r.Ours != tt.ours || !strings.Contains(r.Reason, tt.reason) {
			t.Errorf("%s: %+v", tt.name, r)
		}
	}
}

func TestOpencodeVersions(t *testing.T) {
	c, _ := ByID("opencode")
	l, _ := c.Location(host("linux", "/home/a", nil), User)
	for src, want := range map[string]string{
		`{"mcp": {"servers": {"a": {"type": "local", "command": ["a"]}}}}`: "mcp.servers.rea",
		`{"mcp": {"servers": {"type": "local", "command": ["a"]}}}`:        "mcp.rea",
		`{"mcp": {}}`: "mcp.rea",
		`{}`:          "mcp.rea",
	} {
		_, got, err := c.Open([]byte(src), l)
		if err != nil || got.Path.String() != want {
			t.Errorf("%s: %s, %v", src, got.Path, err)
		}
	}
	if c.Format != config.JSON {
		t.Error(c.Format)
	}
}

// TestLocalScope holds that Claude Code's own scope is found and never written.
func TestLocalScope(t *testing.T) {
	c, _ := ByID("claude-code")
	h := host("linux", "/home/a", nil)
	l, ok := c.Location(h, Local)
	if !ok || l.File != "/home/a/.claude.json" {
		t.Fatalf("%+v, %v", l, ok)
	}
	src := []byte(`{"mcpServers": {}, "projects": {"/p": {"mcpServers": {"rea": {"command": "/nowhere/rea", "args": ["mcp"]}}}}}`)
	if r := c.Examine(src, l, Server{Command: "/usr/bin/rea"}); r.State != Stale {
		t.Errorf("%+v", r)
	}
	for _, other := range All() {
		if _, ok := other.Location(h, Local); ok != (other.ID == "claude-code") {
			t.Errorf("%s has a local scope", other.ID)
		}
	}
}

// TestStrictReaders holds that what a client can't read is not called healthy,
// and that others may have it.
func TestStrictReaders(t *testing.T) {
	for src, where := range map[string]string{
		"{\n  // mine\n}\n":                                         "line 2, column 3: a comment",
		"{\"a\": [1, 2,\n]}":                                        "line 1, column 12: a comma",
		"{\"a\": {\"b\": 1, }, \"c\": 2}":                           "line 1, column 14: a comma",
		"{\"mcpServers\": {},\n}":                                   "line 1, column 18: a comma",
		"{\"mcpServers\": {}} /* end */":                            "line 1, column 20: a comment",
		"{\"a\": [], \"b\": {}, \"c\": \"// [,] {,}\", \"d\": [1]}": "",
		"\ufeff{}": "", "": "", " \n": "",
	} {
		for id, strict := range map[string]bool{"claude-desktop": true, "claude-code": true, "kimi": true, "gemini": strings.Contains(where, "comma") && !strings.Contains(where, "comment"), "vscode": false, "zed": false} {
			c, _ := ByID(id)
			l, _ := c.Location(host("linux", "/h", nil), User)
			r := c.Examine([]byte(src), l, Server{Command: "/rea"})
			want := strict && where != ""
			if (r.State == Invalid) != want || want && (!strings.Contains(r.Reason, where) || !strings.Contains(r.Reason, "which "+c.Name+" doesn't read")) {
				t.Errorf("%s, %q: %s, %s", id, src, r.State, r.Reason)
			}
		}
	}
}
