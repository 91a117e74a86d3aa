package client

import (
	"fmt"
	"strings"

	"rea/cmd/setup/config/edit"
)

// Server is what a client shall start.
type Server struct {
	Command string // absolute path
	Args    []string
	Env     []Variable
}

// A Variable of the environment.
type Variable struct{ Name, Value string }

// dialect is how a client writes a server. The zero value is the usual one:
// command, args, env.
type dialect struct {
	command string // name of the member with the program
	env     string // name of the member with the environment
	vector  bool   // program and arguments are one list
	always  edit.Object
	initial edit.Object // members that a new entry begins with
}

func (d dialect) commandKey() string {
	if d.command != "" {
		return d.command
	}
	return "command"
}

func (d dialect) envKey() string {
	if d.env != "" {
		return d.env
	}
	return "env"
}

// Entry is the server as the client writes it.
func (c *Client) Entry(s Server) edit.Object {
	d := c.dialect
	out := append(edit.Object{}, d.always...)
	args := edit.Array{}
	for _, a := range s.Args {
		args = append(args, a)
	}
	if d.vector {
		out = append(out, edit.Member{Key: d.commandKey(), Value: append(edit.Array{s.Command}, args...)})
	} else {
		out = append(out, edit.Member{Key: d.commandKey(), Value: s.Command},
			edit.Member{Key: "args", Value: args})
	}
	for _, m := range d.initial {
		m.Initial = true
		out = append(out, m)
	}
	env := edit.Object{}
	for _, v := range append(append([]Variable{}, c.env...), s.Env...) {
		env = append(env, edit.Member{Key: v.Name, Value: v.Value})
	}
	if len(env) > 0 {
		out = append(out, edit.Member{Key: d.envKey(), Value: env})
	}
	return out
}

// Vector reads program and arguments from an entry.
func (c *Client) Vector(v any) ([]string, error) {
	o, ok := v.(edit.Object)
	if !ok {
		return nil, fmt.Errorf("the entry is not a table of settings")
	}
	key := c.dialect.commandKey()
	command, ok := o.Get(key)
	if !ok {
		for _, remote := range []string{"url", "uri", "httpUrl", "serverUrl"} {
			if _, ok := o.Get(remote); ok {
				return nil, fmt.Errorf("the entry has no %s; it names a server by %s", key, remote)
			}
		}
		return nil, fmt.Errorf("the entry has no %s", key)
	}
	if list, ok := command.(edit.Array); ok && c.dialect.vector {
		return texts(key, list)
	}
	program, ok := command.(string)
	if !ok || program == "" || c.dialect.vector {
		return nil, fmt.Errorf("%s is not what the client expects there", key)
	}
	args, ok := o.Get("args")
	if !ok || args == nil {
		return []string{program}, nil
	}
	list, ok := args.(edit.Array)
	if !ok {
		return nil, fmt.Errorf("args is not a list")
	}
	rest, err := texts("args", list)
	return append([]string{program}, rest...), err
}

func texts(name string, list edit.Array) ([]string, error) {
	out := make([]string, 0, len(list))
	for _, item := range list {
		s, ok := item.(string)
		if !ok {
			return nil, fmt.Errorf("%s holds something that is no text", name)
		}
		out = append(out, s)
	}
	if name != "args" && len(out) == 0 {
		return nil, fmt.Errorf("%s is empty", name)
	}
	return out, nil
}

// Env reads the environment that an entry gives its server. Values that the
// client fills in itself (${NAME}) are left out.
func (c *Client) Env(v any) []Variable {
	o, _ := v.(edit.Object)
	members, _ := o.Get(c.dialect.envKey())
	env, _ := members.(edit.Object)
	var out []Variable
	for _, m := range env {
		if s, ok := m.Value.(string); ok && !strings.Contains(s, "${") {
			out = append(out, Variable{m.Key, s})
		}
	}
	return out
}

// Off tells whether the entry is switched off.
func Off(v any) bool {
	o, _ := v.(edit.Object)
	disabled, _ := o.Get("disabled")
	enabled, ok := o.Get("enabled")
	return disabled == true || ok && enabled == false
}
