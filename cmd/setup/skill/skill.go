// Package skill is the packaged guide for agents: which tool answers which
// question, and how to read evidence. What it says of single tools comes from
// their contracts.
package skill

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"rea/generated/tool"
)

//go:embed guide.md
var guide string

// Text is the guide with the list of all tools.
func Text() string {
	var b strings.Builder
	b.WriteString(strings.Replace(guide, "{path tools}", list(PathTools()), 1))
	for _, family := range tool.FamilyNames() {
		fmt.Fprintf(&b, "\n**%s**\n", family)
		for _, s := range tool.Specs() {
			if s.Family == family {
				fmt.Fprintf(&b, "- `%s`: %s\n", s.Name, s.Title)
			}
		}
	}
	return b.String()
}

// PathTools are the tools that look into a file which their input names, whether
// or not a target is open.
func PathTools() []string {
	var out []string
	for _, s := range tool.Specs() {
		looks := s.Evidence != nil && !s.Effects.ChangesSession || s.Family == "artifacts"
		if looks && !s.Requires.Target && slices.Contains(s.Paths, "/path") {
			out = append(out, s.Name)
		}
	}
	return out
}

func list(names []string) string {
	var b strings.Builder
	for i, n := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			b.WriteString(" and ")
		default:
			b.WriteString(", ")
		}
		b.WriteString("`" + n + "`")
	}
	return b.String()
}
