package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"rea/generated/cli"
	"rea/generated/tool"
)

// examples are the inputs of a contract as command lines.
func examples(c *cli.Command) [][2]string {
	if own := ownExamples[c.Tool]; own != nil {
		return own
	}
	specs := tool.Specs()
	i := slices.IndexFunc(specs, func(s *tool.Spec) bool { return s.Name == c.Tool })
	if i < 0 {
		return nil
	}
	var out [][2]string
	for _, e := range specs[i].Examples {
		if keeps(e.Input) {
			continue
		}
		out = append(out, [2]string{exampleLine(c, e.Input), e.Title})
	}
	return out
}

// keeps reports whether an input asks to keep the whole result in the session: a
// command has none.
func keeps(input string) bool {
	var members struct {
		Detail any `json:"detail"`
	}
	return json.Unmarshal([]byte(input), &members) == nil && members.Detail == "summary"
}

// exampleLine writes an input with positional arguments and flags; what those
// can't say is left to JSON.
func exampleLine(c *cli.Command, input string) string {
	words := []string{"rea", c.Name}
	if c.Target {
		words = append(words, "FILE")
	}
	var left map[string]json.RawMessage
	if err := json.Unmarshal([]byte(input), &left); err != nil {
		return strings.Join(append(words, shellQuote(input)), " ")
	}
	take := func(a *cli.Argument) ([]string, bool) {
		name := strings.TrimPrefix(a.Pointer, "/")
		raw, ok := left[name]
		if !ok {
			return nil, false
		}
		values, ok := plainValues(a, raw)
		if ok {
			delete(left, name)
		}
		return values, ok
	}
	for i := range c.Positionals {
		values, ok := take(&c.Positionals[i])
		if !ok {
			break
		}
		words = append(words, values...)
	}
	for i := range c.Flags {
		f := &c.Flags[i]
		values, ok := take(f)
		if !ok {
			continue
		}
		for _, v := range values {
			switch {
			case f.Type == cli.Boolean && v == "true":
				words = append(words, "--"+f.Name)
			case f.Type == cli.Boolean:
				words = append(words, "--"+f.Name+"="+v)
			default:
				words = append(words, "--"+f.Name, v)
			}
		}
	}
	if len(left) > 0 {
		rest, err := json.Marshal(left)
		if err != nil {
			return strings.Join(words, " ")
		}
		words = append(words, "--input", shellQuote(string(rest)))
	}
	return strings.Join(words, " ")
}

// plainValues are the texts an argument is given with.
func plainValues(a *cli.Argument, raw json.RawMessage) ([]string, bool) {
	if strings.Contains(strings.TrimPrefix(a.Pointer, "/"), "/") {
		return nil, false
	}
	if a.Repeated {
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return nil, false
		}
		var out []string
		for _, item := range items {
			v, ok := plainValue(item)
			if !ok {
				return nil, false
			}
			out = append(out, v)
		}
		return out, true
	}
	v, ok := plainValue(raw)
	return []string{v}, ok
}

func plainValue(raw json.RawMessage) (string, bool) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return shellQuote(s), true
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return "", false
	}
	return shellQuote(b.String()), true
}

// shellQuote quotes what a shell would not take as one word.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-./:,+=%@", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
