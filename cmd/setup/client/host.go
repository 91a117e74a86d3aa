// Package client knows the programs that a server can be registered with: where
// each keeps its settings on every system, how it writes a server, and how to
// tell whether a registration starts this program.
//
// Nothing here writes, and no client is ever started.
package client

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Scope tells for whom a registration holds.
type Scope string

const (
	User    Scope = "user"    // everywhere
	Project Scope = "project" // in one folder, for everyone who works on it
	// Local is in one folder, for one user. It is looked at and never written.
	Local Scope = "local"
)

// Host is where paths are looked up. The zero value of a function means that
// there is nothing to find.
type Host struct {
	OS      string // as runtime.GOOS
	Home    string
	Project string // root of the project, "" for none
	Getenv  func(string) string
	// LookPath finds a program as a shell does.
	LookPath func(string) (string, error)
	// Exists tells whether there is a file or folder.
	Exists func(string) bool
}

// Here is the host that the program runs on. The project is the folder around
// dir that holds a repository, or dir.
func Here(dir string, getenv func(string) string) (Host, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Host{}, err
	}
	return Host{
		OS: runtime.GOOS, Home: home, Project: projectRoot(dir, home), Getenv: getenv,
		LookPath: exec.LookPath, Exists: exists,
	}, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func projectRoot(dir, home string) string {
	for at := dir; at != "" && at != home; {
		if exists(filepath.Join(at, ".git")) {
			return at
		}
		up := filepath.Dir(at)
		if up == at {
			break
		}
		at = up
	}
	return dir
}

// join puts a path together as the host writes it.
func (h Host) join(parts ...string) string {
	separator := "/"
	if h.OS == "windows" {
		separator = `\`
	}
	for i, p := range parts[1:] {
		parts[i+1] = strings.ReplaceAll(p, "/", separator)
	}
	parts[0] = strings.TrimRight(parts[0], separator)
	return strings.Join(parts, separator)
}

// home is a path below the home folder.
func (h Host) home(path string) string { return h.join(h.Home, path) }

// or is the folder that an environment variable names, else the default.
func (h Host) or(variable, otherwise string) string {
	if v := h.Getenv(variable); v != "" {
		return v
	}
	return otherwise
}

// config is the folder of settings that follows the rules of the system's
// desktop: XDG on Linux, Application Support on macOS, roaming data on Windows.
func (h Host) config() string {
	switch h.OS {
	case "darwin":
		return h.home("Library/Application Support")
	case "windows":
		return h.or("APPDATA", h.home("AppData/Roaming"))
	}
	return h.xdg()
}

// xdg is the folder of settings of programs that follow XDG on every Unix.
func (h Host) xdg() string { return h.or("XDG_CONFIG_HOME", h.home(".config")) }

// State is the folder for what the program remembers of its own changes.
func (h Host) State() string {
	switch h.OS {
	case "darwin":
		return h.home("Library/Application Support/rea/setup")
	case "windows":
		return h.join(h.or("LOCALAPPDATA", h.home("AppData/Local")), "rea/setup")
	}
	return h.join(h.or("XDG_STATE_HOME", h.home(".local/state")), "rea/setup")
}
