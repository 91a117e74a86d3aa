package ask

import (
	"fmt"
	"strings"
)

// A key is what a person pressed.
type key int

const (
	other key = iota
	up
	down
	toggle
	all
	enter
	stop
	interrupt
)

// readKey reads one key, or the bytes that a terminal sends for one.
func (p *Person) readKey() (key, error) {
	c, err := p.in.ReadByte()
	if err != nil {
		return stop, err
	}
	switch c {
	case 'k':
		return up, nil
	case 'j', '\t':
		return down, nil
	case ' ', 'x':
		return toggle, nil
	case 'a':
		return all, nil
	case '\r', '\n':
		return enter, nil
	case 3: // Ctrl-C
		return interrupt, nil
	case 'q', 4: // Ctrl-D
		return stop, nil
	case 0x1b:
		if p.in.Buffered() == 0 {
			return stop, nil // Escape itself
		}
		if c, _ = p.in.ReadByte(); c != '[' && c != 'O' {
			return other, nil
		}
		c, err = p.in.ReadByte()
		for err == nil && (c >= '0' && c <= '9' || c == ';') {
			c, err = p.in.ReadByte()
		}
		switch c {
		case 'A':
			return up, nil
		case 'B':
			return down, nil
		}
	}
	return other, nil
}

// chooseKeys draws the list and moves through it.
func (p *Person) chooseKeys(question string, options []Option) ([]int, error) {
	restore, err := raw(p.screen)
	if err != nil {
		p.screen = nil
		return p.Choose(question, options)
	}
	defer restore()
	picked := make([]bool, len(options))
	for i, o := range options {
		picked[i] = o.Chosen
	}
	fmt.Fprintf(p.out, "%s\r\n\x1b[2m  arrows move, space chooses, a all, Enter goes on, q stops\x1b[0m\r\n", question)
	at := 0
	for drawn := false; ; drawn = true {
		p.draw(options, picked, at, drawn)
		k, err := p.readKey()
		if err != nil {
			return nil, ErrDeclined
		}
		switch k {
		case up:
			at = (at + len(options) - 1) % len(options)
		case down:
			at = (at + 1) % len(options)
		case toggle:
			picked[at] = !picked[at]
		case all:
			for i := range picked {
				picked[i] = true
			}
		case interrupt:
			return nil, ErrInterrupted
		case stop:
			return nil, ErrDeclined
		case enter:
			var out []int
			for i, chosen := range picked {
				if chosen {
					out = append(out, i)
				}
			}
			if len(out) == 0 {
				return nil, ErrDeclined
			}
			return out, nil
		}
	}
}

func (p *Person) draw(options []Option, picked []bool, at int, again bool) {
	var b strings.Builder
	if again {
		fmt.Fprintf(&b, "\x1b[%dA", len(options))
	}
	for i, o := range options {
		cursor, box := " ", "[ ]"
		if i == at {
			cursor = ">"
		}
		if picked[i] {
			box = "[x]"
		}
		fmt.Fprintf(&b, "\r\x1b[2K%s %s %-16s \x1b[2m%s\x1b[0m\r\n", cursor, box, o.Name, cut(o.Note, 50))
	}
	fmt.Fprint(p.out, b.String())
}

// cut keeps a note on one line.
func cut(s string, width int) string {
	r := []rune(s)
	if len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return s
}
