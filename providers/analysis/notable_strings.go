package analysis

import (
	"strings"
	"unicode"

	"rea/generated/model"
)

// notable is a string and how much it is likely to say about a program.
type notable struct {
	item  model.StringItem
	worth int
}

// worth ranks a string by plain features of its text, not by guessing what it
// is for: whether code refers to it, whether it holds an address of the net, a
// path, a message of several words or a format directive. Noise from tables
// has few letters.
func worth(s *model.StringItem) int {
	text := s.Value
	letters, words := 0, 0
	inWord := false
	for _, r := range text {
		letter := unicode.IsLetter(r)
		if letter {
			letters++
			if !inWord {
				words++
			}
		}
		inWord = letter
	}
	n := 0
	if s.Uses > 0 {
		n += 4
	}
	if strings.Contains(text, "://") {
		n += 4
	}
	if strings.HasPrefix(text, "/") && strings.Count(text, "/") > 1 || strings.Contains(text, `:\`) {
		n += 2
	}
	if words >= 3 && strings.Contains(text, " ") {
		n += 2
	}
	if strings.Contains(text, "%") && words > 0 {
		n++
	}
	if len(text) < 6 || letters*2 < len(text) {
		n -= 4
	}
	if s.ValueTruncated {
		n -= 2
	}
	return n
}
