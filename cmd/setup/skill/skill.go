// Package skill is the packaged guide for agents: which tool answers which
// question, and how to read evidence. What it says of single tools comes from
// their contracts.
package skill

import (
	_ "embed"
	"fmt"
	"strings"

	"rea/generated/tool"
)

//go:embed guide.md
var guide string

// Text is the guide with the list of all tools.
func Text() string {
	var b strings.Builder
	b.WriteString(guide)
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
