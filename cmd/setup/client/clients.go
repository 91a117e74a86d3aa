package client

import (
	"path/filepath"
	"strings"

	"rea/cmd/setup/config"
	"rea/cmd/setup/config/edit"
)

// The folder of skills that several agents share.
var shared = map[Scope]string{User: ".agents/skills", Project: ".agents/skills"}

const restart = "Start it again to load the server."

func claudeCode() Client {
	return Client{
		ID: "claude-code", Name: "Claude Code", strict: true, Format: config.JSON,
		After:    "Start a new session; /mcp lists the servers. A project's servers are used once you approve them.",
		programs: []string{"claude"},
		marks:    func(h Host) []string { return []string{h.or("CLAUDE_CONFIG_DIR", h.home(".claude"))} },
		user: func(h Host) []string {
			return []string{h.join(h.or("CLAUDE_CONFIG_DIR", h.Home), ".claude.json")}
		},
		project: []string{".mcp.json"},
		path:    edit.Keys("mcpServers", EntryName),
		local: func(project string) edit.Path {
			return edit.Keys("projects", project, "mcpServers", EntryName)
		},
		dialect: dialect{initial: edit.Object{{Key: "type", Value: "stdio"}}},
		skills:  map[Scope]string{User: ".claude/skills", Project: ".claude/skills"},
	}
}

func claudeDesktop() Client {
	return Client{
		ID: "claude-desktop", Name: "Claude Desktop", strict: true, Format: config.JSON, After: restart,
		apps:  []string{"Claude.app"},
		marks: func(h Host) []string { return []string{h.join(h.config(), "Claude")} },
		user:  func(h Host) []string { return []string{h.join(h.config(), "Claude/claude_desktop_config.json")} },
		path:  edit.Keys("mcpServers", EntryName),
	}
}

func codex() Client {
	return Client{
		ID: "codex", Name: "Codex", Format: config.TOML,
		After:    "Start a new session. A project's file is read only in a trusted project.",
		programs: []string{"codex"},
		marks:    func(h Host) []string { return []string{h.or("CODEX_HOME", h.home(".codex"))} },
		user:     func(h Host) []string { return []string{h.join(h.or("CODEX_HOME", h.home(".codex")), "config.toml")} },
		project:  []string{".codex/config.toml"},
		path:     edit.Keys("mcp_servers", EntryName),
		dialect:  dialect{initial: edit.Object{{Key: "tool_timeout_sec", Value: int64(300)}}},
		skills:   shared,
	}
}

func cursor() Client {
	return Client{
		ID: "cursor", Name: "Cursor", Format: config.JSON,
		After:    "Switch the server on in the settings of Cursor if it asks.",
		programs: []string{"cursor", "cursor-agent"}, apps: []string{"Cursor.app"},
		marks:   func(h Host) []string { return []string{h.home(".cursor")} },
		user:    func(h Host) []string { return []string{h.home(".cursor/mcp.json")} },
		project: []string{".cursor/mcp.json"},
		path:    edit.Keys("mcpServers", EntryName),
		skills:  shared,
	}
}

func gemini() Client {
	home := func(h Host) string { return h.or("GEMINI_CLI_HOME", h.Home) }
	return Client{
		ID: "gemini", Name: "Gemini CLI", comments: true, Format: config.JSON, After: "Start a new session; /mcp lists the servers.",
		programs: []string{"gemini"},
		marks:    func(h Host) []string { return []string{h.join(home(h), ".gemini")} },
		user:     func(h Host) []string { return []string{h.join(home(h), ".gemini/settings.json")} },
		project:  []string{".gemini/settings.json"},
		path:     edit.Keys("mcpServers", EntryName),
		dialect:  dialect{initial: edit.Object{{Key: "timeout", Value: int64(300_000)}}},
		skills:   shared,
	}
}

func windsurf() Client {
	return Client{
		ID: "windsurf", Name: "Windsurf", Format: config.JSON, After: "Refresh the list of MCP servers in Cascade.",
		programs: []string{"windsurf"}, apps: []string{"Windsurf.app"},
		marks: func(h Host) []string { return []string{h.home(".codeium/windsurf")} },
		user:  func(h Host) []string { return []string{h.home(".codeium/windsurf/mcp_config.json")} },
		path:  edit.Keys("mcpServers", EntryName),
	}
}

func vscode() Client { return code("vscode", "VS Code", "Code", "code", "Visual Studio Code.app") }

func vscodeInsiders() Client {
	return code("vscode-insiders", "VS Code Insiders", "Code - Insiders", "code-insiders", "Visual Studio Code - Insiders.app")
}

func vscodium() Client { return code("vscodium", "VSCodium", "VSCodium", "codium", "VSCodium.app") }

// code is a build of VS Code; each has a folder of its own for its users, and
// all read the same file of a project.
func code(id, name, folder, program, app string) Client {
	return Client{
		ID: id, Name: name, Format: config.JSON,
		After:    name + " asks whether to trust the server when it first starts it.",
		programs: []string{program}, apps: []string{app},
		marks:   func(h Host) []string { return []string{h.join(h.config(), folder+"/User")} },
		user:    func(h Host) []string { return []string{h.join(h.config(), folder+"/User/mcp.json")} },
		project: []string{".vscode/mcp.json"},
		path:    edit.Keys("servers", EntryName),
		dialect: dialect{initial: edit.Object{{Key: "type", Value: "stdio"}}},
		skills:  shared,
	}
}

func zed() Client {
	dir := func(h Host) string {
		if h.OS == "windows" {
			return h.join(h.config(), "Zed")
		}
		if h.OS == "darwin" {
			return h.home(".config/zed")
		}
		return h.join(h.xdg(), "zed")
	}
	return Client{
		ID: "zed", Name: "Zed", Format: config.JSON, After: "Zed takes notice by itself.",
		programs: []string{"zed", "zeditor"}, apps: []string{"Zed.app"},
		marks:   func(h Host) []string { return []string{dir(h)} },
		user:    func(h Host) []string { return []string{h.join(dir(h), "settings.json")} },
		project: []string{".zed/settings.json"},
		path:    edit.Keys("context_servers", EntryName),
	}
}

// compact makes schemas small: the models behind these clients refuse large ones
// and with them the whole request.
var compact = []Variable{{"REA_MCP_INPUT_SCHEMA_PROFILE", "compact"}}

func kimi() Client {
	return Client{
		ID: "kimi", Name: "Kimi Code", strict: true, Format: config.JSON, After: "Start a new session; /mcp lists the servers.",
		programs: []string{"kimi-code"},
		marks:    func(h Host) []string { return []string{h.or("KIMI_CODE_HOME", h.home(".kimi-code"))} },
		user: func(h Host) []string {
			return []string{h.join(h.or("KIMI_CODE_HOME", h.home(".kimi-code")), "mcp.json")}
		},
		project: []string{".kimi-code/mcp.json"},
		path:    edit.Keys("mcpServers", EntryName),
		dialect: dialect{initial: edit.Object{{Key: "toolTimeoutMs", Value: int64(300_000)}}},
		env:     compact,
		skills:  shared,
	}
}

func kimiCLI() Client {
	return Client{
		ID: "kimi-cli", Name: "Kimi CLI", strict: true, Format: config.JSON, After: "Start a new session.",
		marks:  func(h Host) []string { return []string{h.or("KIMI_SHARE_DIR", h.home(".kimi"))} },
		user:   func(h Host) []string { return []string{h.join(h.or("KIMI_SHARE_DIR", h.home(".kimi")), "mcp.json")} },
		path:   edit.Keys("mcpServers", EntryName),
		env:    compact,
		skills: shared,
	}
}

func opencode() Client {
	dir := func(h Host) string { return h.join(h.xdg(), "opencode") }
	return Client{
		ID: "opencode", Name: "opencode", Format: config.JSON, After: "Start it again.",
		programs: []string{"opencode"},
		marks:    func(h Host) []string { return []string{dir(h)} },
		user: func(h Host) []string {
			if file := h.Getenv("OPENCODE_CONFIG"); file != "" {
				return []string{file}
			}
			return []string{h.join(dir(h), "opencode.json"), h.join(dir(h), "opencode.jsonc")}
		},
		project: []string{"opencode.json", "opencode.jsonc"},
		path:    edit.Keys("mcp", EntryName),
		dialect: dialect{
			vector: true, env: "environment",
			initial: edit.Object{{Key: "enabled", Value: true}},
			always:  edit.Object{{Key: "type", Value: "local"}},
		},
		skills: shared,
	}
}

func goose() Client {
	return Client{
		ID: "goose", Name: "goose", Format: config.YAML, After: "Start a new session.",
		programs: []string{"goose"}, apps: []string{"Goose.app"},
		user: func(h Host) []string {
			if h.OS == "windows" {
				return []string{h.join(h.config(), "Block/goose/config/config.yaml")}
			}
			return []string{h.join(h.xdg(), "goose/config.yaml")}
		},
		path: edit.Keys("extensions", EntryName),
		dialect: dialect{
			command: "cmd", env: "envs",
			always: edit.Object{{Key: "type", Value: "stdio"}},
			initial: edit.Object{
				{Key: "name", Value: EntryName},
				{Key: "description", Value: "Binary analysis with evidence"},
				{Key: "enabled", Value: true},
				{Key: "timeout", Value: int64(300)},
			},
		},
		skills: shared,
	}
}

func continueDev() Client {
	const block = ".continue/mcpServers/rea.yaml"
	return Client{
		ID: "continue", Name: "Continue", Format: config.YAML, After: "Continue takes notice by itself; tools are used in agent mode.",
		marks: func(h Host) []string { return []string{h.home(".continue")} },
		user: func(h Host) []string {
			// A config.yaml beside a config.json takes its place, so that making one
			// would hide what is set up there.
			if made := h.home(".continue/config.yaml"); h.Exists(made) || !h.Exists(h.home(".continue/config.json")) {
				return []string{made}
			}
			return []string{h.home(block)}
		},
		project: []string{block},
		seed: func(file string) string {
			if strings.HasSuffix(filepath.ToSlash(file), block) {
				return "name: rea\nversion: 0.0.1\nschema: v1\n"
			}
			return "name: Local Config\nversion: 1.0.0\nschema: v1\n"
		},
		path:    edit.Path{{Key: "mcpServers"}, {Key: EntryName, Item: true}},
		dialect: dialect{always: edit.Object{{Key: "name", Value: EntryName}}},
	}
}
