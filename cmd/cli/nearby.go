package cli

import (
	"encoding/json"
	"strings"

	"rea/generated/fault"
)

// nearby is a line with what a diagnostic offers in place of what was asked
// for, or "".
func nearby(e *fault.Error) string {
	var doc struct {
		Error struct {
			Details struct{ Nearest, Candidates, Available []json.RawMessage }
		}
	}
	if json.Unmarshal(e.JSON(), &doc) != nil {
		return ""
	}
	d := doc.Error.Details
	lead := "There are: "
	if len(d.Nearest) > 0 {
		lead = "Nearest: "
	}
	var words []string
	for _, list := range [][]json.RawMessage{d.Nearest, d.Candidates, d.Available} {
		for _, item := range list {
			if w := offered(item); w != "" {
				words = append(words, w)
			}
		}
	}
	if len(words) == 0 {
		return ""
	}
	const most = 8
	if len(words) > most {
		words = append(words[:most], "…")
	}
	return lead + strings.Join(words, ", ")
}

// offered writes a word, a named address or a range.
func offered(item json.RawMessage) string {
	var word string
	if json.Unmarshal(item, &word) == nil {
		return word
	}
	var at struct{ Address, Name, Start, End string }
	if json.Unmarshal(item, &at) != nil {
		return ""
	}
	if at.Start != "" {
		return at.Start + "-" + at.End
	}
	return strings.TrimSpace(at.Address + " " + at.Name)
}
