package cli_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rea/generated/cli"
	"rea/generated/schema"
	"rea/generated/tool"
)

func TestCommands_are_the_tools(t *testing.T) {
	commands := cli.Commands()
	specs := tool.Specs()
	if len(commands) != len(specs) {
		t.Fatalf("%d commands, %d tools", len(commands), len(specs))
	}
	for i, c := range commands {
		if c.Tool != specs[i].Name || c.Name != strings.ReplaceAll(specs[i].Name, "_", "-") || c.Target != specs[i].Requires.Target ||
			len(c.Positionals) != len(specs[i].Positional) {
			t.Errorf("%s: %+v", c.Name, c)
		}
	}
}

// Every flag leads to a property of the canonical input, and every property that
// is not an object of its own has a flag.
func TestFlags_fill_the_input(t *testing.T) {
	flagName := regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	for _, c := range cli.Commands() {
		var root map[string]any
		if err := json.Unmarshal([]byte(schema.CanonicalInput(c.Tool)), &root); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		covered := map[string]bool{}
		for _, a := range c.Flags {
			if !flagName.MatchString(a.Name) || seen[a.Name] {
				t.Errorf("%s: flag %q", c.Name, a.Name)
			}
			seen[a.Name] = true
			covered[strings.Split(a.Pointer, "/")[1]] = true
			if !leads(root, root, strings.Split(a.Pointer, "/")[1:]) {
				t.Errorf("%s: %s leads nowhere", c.Name, a.Pointer)
			}
			if a.Default != "" && !json.Valid([]byte(a.Default)) {
				t.Errorf("%s: default %s of %s is no JSON", c.Name, a.Default, a.Name)
			}
		}
		for _, p := range c.Positionals {
			if !slices.ContainsFunc(c.Flags, func(a cli.Argument) bool { return a.Pointer == p.Pointer }) {
				t.Errorf("%s: %s is no flag", c.Name, p.Name)
			}
		}
		for name := range properties(root, root) {
			if !covered[name] {
				t.Errorf("%s: no flag fills %s", c.Name, name)
			}
		}
	}
}

func resolve(root, s map[string]any) map[string]any {
	if ref, ok := s["$ref"].(string); ok {
		s, _ = root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	return s
}

// properties are those of an object, or of all the objects of a union.
func properties(root, s map[string]any) map[string]any {
	s = resolve(root, s)
	out := map[string]any{}
	list, _ := s["oneOf"].([]any)
	for _, item := range list {
		for name, p := range properties(root, item.(map[string]any)) {
			out[name] = p
		}
	}
	own, _ := s["properties"].(map[string]any)
	for name, p := range own {
		out[name] = p
	}
	return out
}

func leads(root, s map[string]any, tokens []string) bool {
	for _, token := range tokens {
		next, ok := properties(root, s)[token].(map[string]any)
		if !ok {
			return false
		}
		s = next
	}
	return true
}
