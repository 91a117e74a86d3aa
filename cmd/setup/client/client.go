package client

import (
	"slices"

	"rea/cmd/setup/config"
	"rea/cmd/setup/config/edit"
)

// EntryName is the name under which the server is registered.
const EntryName = "rea"

// A Client is one program that starts MCP servers.
type Client struct {
	ID, Name string
	Format   config.Format
	// After tells what a person has to do for the client to take notice, and
	// what the client will ask.
	After string

	programs []string // whose presence on PATH shows that it is installed
	apps     []string // the same for application folders of macOS
	marks    func(Host) []string
	user     func(Host) []string
	project  []string // below the root of a project
	path     edit.Path
	local    func(project string) edit.Path // in the user's file
	dialect  dialect
	seed     func(file string) string // what a file that is made begins with
	env      []Variable
	strict   bool             // reads JSON without comments and trailing commas
	comments bool             // reads comments, but no trailing commas
	skills   map[Scope]string // folder of skills: below the home or the project
}

// A Location is a file in which a client looks for servers.
type Location struct {
	Scope Scope
	File  string
	Path  edit.Path
	// Seed is what the file holds before the entry when it has to be made.
	Seed string
}

// All lists the clients, sorted by ID.
func All() []Client {
	list := []Client{
		claudeCode(), claudeDesktop(), codex(), continueDev(), cursor(), gemini(), goose(),
		kimi(), kimiCLI(), opencode(), vscode(), vscodeInsiders(), vscodium(), windsurf(), zed(),
	}
	slices.SortFunc(list, func(a, b Client) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return list
}

// IDs lists the ids of all clients.
func IDs() []string {
	var out []string
	for _, c := range All() {
		out = append(out, c.ID)
	}
	return out
}

// ByID finds a client.
func ByID(id string) (Client, bool) {
	all := All()
	i := slices.IndexFunc(all, func(c Client) bool { return c.ID == id })
	if i < 0 {
		return Client{}, false
	}
	return all[i], true
}

// Location is where the client keeps servers of a scope; ok is false when it has
// no such scope, or the host has no project. Of several files that a client
// reads, it is the one that exists.
func (c *Client) Location(h Host, scope Scope) (l Location, ok bool) {
	var files []string
	l.Path = c.path
	switch {
	case scope == Local && c.local != nil && h.Project != "":
		files, l.Path = c.user(h), c.local(h.Project)
	case scope == User && c.user != nil:
		files = c.user(h)
	case scope == Project && h.Project != "":
		for _, f := range c.project {
			files = append(files, h.join(h.Project, f))
		}
	}
	if len(files) == 0 {
		return l, false
	}
	l.Scope, l.File = scope, files[0]
	for _, f := range files {
		if h.Exists(f) {
			l.File = f
			break
		}
	}
	if c.seed != nil {
		l.Seed = c.seed(l.File)
	}
	return l, true
}

// Detected tells how one sees that the client is installed, or "".
func (c *Client) Detected(h Host) string {
	if c.user != nil {
		for _, f := range c.user(h) {
			if h.Exists(f) {
				return f
			}
		}
	}
	if c.marks != nil {
		for _, f := range c.marks(h) {
			if h.Exists(f) {
				return f
			}
		}
	}
	for _, p := range c.programs {
		if found, err := h.LookPath(p); err == nil {
			return found
		}
	}
	if h.OS == "darwin" {
		for _, a := range c.apps {
			for _, f := range []string{"/Applications/" + a, h.home("Applications/" + a)} {
				if h.Exists(f) {
					return f
				}
			}
		}
	}
	return ""
}

// SkillFolder is where the client looks for skills of a scope, or "".
func (c *Client) SkillFolder(h Host, scope Scope) string {
	folder := c.skills[scope]
	switch {
	case folder == "":
		return ""
	case scope == User:
		if dir := h.Getenv("CLAUDE_CONFIG_DIR"); c.ID == "claude-code" && dir != "" {
			return h.join(dir, "skills")
		}
		return h.home(folder)
	case h.Project == "":
		return ""
	}
	return h.join(h.Project, folder)
}
