package client

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"rea/cmd/setup/config"
	"rea/cmd/setup/config/edit"
)

// State of a registration.
type State string

const (
	Aligned State = "aligned" // starts this program
	Stale   State = "stale"   // starts another one, or in another way
	Missing State = "missing"
	Invalid State = "invalid" // the file or the entry can't be read
)

// A Registration is what a client's settings say of the server.
type Registration struct {
	Location
	State  State
	Reason string
	// Vector is the program with its arguments, when it could be read.
	Vector []string
	// Env is the environment that the entry gives the program.
	Env []Variable
	// Ours tells that the entry starts this program, wherever it lies.
	Ours bool
	// Off tells that the client was told not to start it.
	Off bool
	At  edit.Position // of the entry, or of what can't be read
	// Malformed tells that the file, not only the entry, can't be read.
	Malformed bool
	Exists    bool // the file does
}

// Inspect reads the settings of a client and compares its command vector with
// that of s.
func (c *Client) Inspect(l Location, s Server) Registration {
	src, err := Read(l.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Registration{Location: l, State: Missing, Reason: "the file doesn't exist"}
	case err != nil:
		return Registration{Location: l, State: Invalid, Reason: reason(err), Exists: true}
	}
	r := c.Examine(src, l, s)
	r.Exists = true
	return r
}

// Examine is Inspect for bytes.
func (c *Client) Examine(src []byte, l Location, s Server) Registration {
	r := Registration{Location: l, State: Missing}
	f, l, err := c.Open(src, l)
	r.Location = l
	if err != nil {
		r.State, r.Reason, r.Malformed = Invalid, err.Error(), true
		var at *edit.Error
		if errors.As(err, &at) {
			r.At = edit.Position{Line: at.Line, Column: at.Column}
		}
		return r
	}
	v, at, found := f.Entry()
	if !found {
		r.Reason = "it has no server named " + EntryName
		return r
	}
	r.At, r.Off, r.Env = at, Off(v), c.Env(v)
	if r.Vector, err = c.Vector(v); err != nil {
		r.State, r.Reason = Invalid, fmt.Sprintf("line %d, column %d: %v", at.Line, at.Column, err)
		return r
	}
	r.State, r.Reason = judge(r.Vector, s)
	r.Ours = r.State == Aligned || ours(r.Vector, s)
	return r
}

// Open parses a file of the client. opencode keeps servers in one of two places;
// the file tells which.
func (c *Client) Open(src []byte, l Location) (config.File, Location, error) {
	if c.ID == "opencode" {
		inner := edit.Keys("mcp", "servers")
		if f, err := config.Open(c.Format, src, inner); err == nil {
			v, _, found := f.Entry()
			o, isObject := v.(edit.Object)
			_, isServer := o.Get("type")
			if found && isObject && !isServer {
				l.Path = append(inner, edit.Step{Key: EntryName})
			}
		}
	}
	f, err := config.Open(c.Format, src, l.Path)
	if err == nil && (c.strict || c.comments) {
		var at *edit.Error
		if errors.As(config.Standard(f, src, c.comments), &at) {
			at.Reason += ", which " + c.Name + " doesn't read"
			err = at
		}
	}
	if err != nil {
		return nil, l, err
	}
	return f, l, nil
}

// Read reads a regular file that is not too large.
func Read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, config.MaxSize+1))
	if err == nil && len(src) > config.MaxSize {
		err = fmt.Errorf("the file is larger than %d bytes", config.MaxSize)
	}
	return src, err
}

// reason drops the path from an error of the file system.
func reason(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return "the file can't be read: " + at.Err.Error()
	}
	return err.Error()
}

// ours tells whether a vector starts this program, in whatever place.
func ours(vector []string, s Server) bool {
	name := strings.TrimSuffix(strings.ToLower(base(vector[0])), ".exe")
	return vector[0] == s.Command || name == "rea" && len(vector) > 1 && vector[1] == "mcp"
}

// base is the last part of a path of any system.
func base(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

func judge(vector []string, s Server) (State, string) {
	program := vector[0]
	path := program
	if !filepath.IsAbs(path) {
		found, err := exec.LookPath(path)
		if err != nil {
			return Stale, fmt.Sprintf("starts %s, which is not on the path", program)
		}
		path = found
	}
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return Stale, fmt.Sprintf("starts %s, which is no program", program)
	}
	if path != s.Command {
		this, err := os.Stat(s.Command)
		if err != nil || !os.SameFile(info, this) {
			return Stale, fmt.Sprintf("starts %s, not %s", program, s.Command)
		}
	}
	if len(vector) < 2 || vector[1] != "mcp" {
		return Stale, "doesn't start it with the argument mcp"
	}
	return Aligned, "starts this program"
}
