package terminal

import (
	"io"
	"os"
	"strconv"
)

// Screen is what is known of the place an output goes to.
type Screen struct {
	Interactive bool
	// Width in cells; 0 when lines may be as long as they are.
	Width int
	Color bool
}

// Of looks at w and the environment. Anything but a terminal has no colour,
// and no width unless COLUMNS gives one.
func Of(w io.Writer, getenv func(string) string) Screen {
	var s Screen
	f, ok := w.(*os.File)
	if ok {
		s.Width, s.Interactive = size(f)
	}
	if n, err := strconv.Atoi(getenv("COLUMNS")); err == nil && n >= 20 && n <= 10000 {
		s.Width = n
	}
	if s.Interactive && s.Width == 0 {
		s.Width = 80
	}
	s.Color = s.Interactive && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	return s
}

// Style is a way to set text off, where the screen has colour.
type Style string

const (
	Bold   Style = "1"
	Faint  Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Cyan   Style = "36"
)

// Paint wraps escaped text in a style.
func (s Screen) Paint(style Style, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}
