// Package ask puts questions to a person: which of several things, and yes or no.
//
// On a terminal a list is chosen from with the arrow keys and the space bar. The
// plain form, which needs no cursor control and suits screen readers and pipes,
// prints a numbered list and reads a line.
package ask

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// ErrDeclined is the answer of someone who wants nothing to happen.
var ErrDeclined = errors.New("nothing was chosen")

// ErrInterrupted is the answer of someone who presses Ctrl-C among keys.
var ErrInterrupted = errors.New("interrupted")

// An Option can be chosen.
type Option struct {
	Name, Note string
	// Chosen options are chosen when the answer is just Enter.
	Chosen bool
}

// A Person answers questions.
type Person struct {
	in  *bufio.Reader
	out io.Writer
	// screen is the terminal of keys, nil for the plain form.
	screen *os.File
}

// Plain asks by lines.
func Plain(in io.Reader, out io.Writer) *Person { return &Person{in: bufio.NewReader(in), out: out} }

// Screen asks with keys if tty can do that, and by lines otherwise. in reads what
// is typed on tty.
func Screen(tty *os.File, in io.Reader, out io.Writer) *Person {
	p := Plain(in, out)
	if canRaw(tty) {
		p.screen = tty
	}
	return p
}

// Choose lets the person pick options; it returns their indices in order.
func (p *Person) Choose(question string, options []Option) ([]int, error) {
	if p.screen != nil {
		return p.chooseKeys(question, options)
	}
	fmt.Fprintln(p.out, question)
	var preset []string
	for i, o := range options {
		mark := " "
		if o.Chosen {
			mark = "*"
			preset = append(preset, strconv.Itoa(i+1))
		}
		fmt.Fprintf(p.out, "%s %2d  %-16s %s\n", mark, i+1, o.Name, o.Note)
	}
	if len(preset) > 0 {
		fmt.Fprintln(p.out, "* is chosen beforehand")
	}
	hint := "Numbers with spaces, all, or nothing to stop: "
	if len(preset) > 0 {
		hint = "Numbers with spaces, all, none, or Enter for " + strings.Join(preset, " ") + ": "
	}
	for {
		fmt.Fprint(p.out, hint)
		line, err := p.in.ReadString('\n')
		if err != nil && (line == "" || !errors.Is(err, io.EOF)) {
			fmt.Fprintln(p.out)
			return nil, ErrDeclined
		}
		chosen, err := numbers(line, options)
		if err != nil {
			fmt.Fprintln(p.out, err)
			continue
		}
		if len(chosen) == 0 {
			return nil, ErrDeclined
		}
		return chosen, nil
	}
}

// numbers reads an answer.
func numbers(line string, options []Option) ([]int, error) {
	words := strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\r' || r == '\n' })
	picked := make([]bool, len(options))
	for _, w := range words {
		n, err := strconv.Atoi(w)
		switch {
		case w == "none" || w == "q" || w == "quit":
			return nil, nil
		case w == "all":
			for i := range picked {
				picked[i] = true
			}
		case err != nil || n < 1 || n > len(options):
			return nil, fmt.Errorf("%q is not a number from 1 to %d", w, len(options))
		default:
			picked[n-1] = true
		}
	}
	var out []int
	for i, o := range options {
		if picked[i] || len(words) == 0 && o.Chosen {
			out = append(out, i)
		}
	}
	return out, nil
}

// Confirm asks for yes or no; anything but yes is no.
func (p *Person) Confirm(question string) bool {
	fmt.Fprint(p.out, question+" [y/N] ")
	line, err := p.in.ReadString('\n')
	if err != nil {
		fmt.Fprintln(p.out)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}
