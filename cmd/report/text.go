package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"rea/cmd/terminal"
)

// JSON is the document, on lines that diff well.
func (r *Report) JSON() ([]byte, error) { return json.MarshalIndent(r, "", "  ") }

// writer sets a report for a screen.
type writer struct {
	out    *bufio.Writer
	screen terminal.Screen
	width  int
	rows   int // of a list
}

// Text writes the report for people. rows bounds each list, 0 leaves them whole.
func (r *Report) Text(out io.Writer, screen terminal.Screen, rows int) error {
	w := &writer{out: bufio.NewWriter(out), screen: screen, width: screen.Width, rows: rows}
	if w.width == 0 {
		w.width = 100
	}
	var (
		t target
		b binding
		o *overview
	)
	l := r.layout
	for _, part := range []struct {
		raw  json.RawMessage
		into any
	}{{r.Target, &t}, {r.Binding, &b}, {r.Overview, &o}} {
		if err := read(part.raw, part.into); err != nil {
			return err
		}
	}
	w.identity(&t, &b, l, o)
	if l != nil {
		w.layout(l)
		w.linkage(l, o)
	}
	if o != nil {
		if err := w.functions(r, o); err != nil {
			return err
		}
	}
	if err := w.strings(r, o); err != nil {
		return err
	}
	if o != nil {
		w.callGraph(o)
	}
	w.unseen(r, o)
	return w.out.Flush()
}

// read takes a part of a report, which may be missing.
func read(part json.RawMessage, into any) error {
	if part == nil {
		return nil
	}
	if err := json.Unmarshal(part, into); err != nil {
		return fmt.Errorf("reading a part of the report: %w", err)
	}
	return nil
}

func (w *writer) line(s string) {
	w.out.WriteString(strings.TrimRight(s, " "))
	w.out.WriteByte('\n')
}

// head begins a section.
func (w *writer) head(title, figures string) {
	w.line("")
	s := w.screen.Paint(terminal.Bold, title)
	if figures != "" && terminal.Width(title)+2+terminal.Width(figures) <= w.width {
		w.line(s + "  " + w.screen.Paint(terminal.Faint, figures))
		return
	}
	w.line(s)
	if figures != "" {
		w.faint(figures)
	}
}

const labelWidth = 13

// fact writes "label  value", the value wrapped.
func (w *writer) fact(label, value string) {
	if value == "" {
		return
	}
	lead := "  " + w.screen.Paint(terminal.Cyan, terminal.Pad(label, labelWidth))
	for _, l := range terminal.Wrap(terminal.Escape(value), w.width-labelWidth-2) {
		w.line(lead + l)
		lead = strings.Repeat(" ", labelWidth+2)
	}
}

// remark writes a sentence as an item of a list.
func (w *writer) remark(s string) {
	lead := "  - "
	for _, l := range terminal.Wrap(terminal.Escape(s), w.width-len(lead)) {
		w.line(lead + l)
		lead = "    "
	}
}

func (w *writer) faint(s string) {
	for _, l := range terminal.Wrap(terminal.Escape(s), w.width-2) {
		w.line("  " + w.screen.Paint(terminal.Faint, l))
	}
}

// grid writes rows in columns. Columns of numbers (right) stand right; the
// last column takes the room that is left and is cut where it ends.
func (w *writer) grid(right []bool, rows [][]string) {
	w.columns(right, rows, func(s string, room int) []string { return []string{terminal.Truncate(s, room)} }, nil)
}

// columns is grid with a choice of what becomes of a last column that is too
// long, and of the style of the first.
func (w *writer) columns(right []bool, rows [][]string, fold func(s string, room int) []string, style func(first string) terminal.Style) {
	if len(rows) == 0 {
		return
	}
	last := len(right) - 1
	widths := make([]int, last)
	rest := 0
	for _, row := range rows {
		for i := range widths {
			widths[i] = max(widths[i], terminal.Width(row[i]))
		}
		rest = max(rest, terminal.Width(row[last]))
	}
	// The last column has what it needs, up to a third of the line.
	narrow(widths, right, w.width-2-max(lastWidth, min(rest, w.width/3)))
	for _, row := range rows {
		var b strings.Builder
		b.WriteString("  ")
		indent := 2
		for i, width := range widths {
			cell := terminal.Truncate(row[i], width)
			if right[i] {
				cell = terminal.PadLeft(cell, width)
			} else {
				cell = terminal.Pad(cell, width)
			}
			if i == 0 && style != nil {
				cell = w.screen.Paint(style(row[0]), cell)
			}
			b.WriteString(cell + "  ")
			indent += width + 2
		}
		for i, l := range fold(row[last], max(lastWidth, w.width-indent)) {
			if i > 0 {
				b.Reset()
				b.WriteString(strings.Repeat(" ", indent))
			}
			w.line(b.String() + l)
		}
	}
}

// lastWidth is what is left to the last column of a grid at least.
const lastWidth = 8

// narrow takes cells from the widest columns of text until all fit in room.
func narrow(widths []int, right []bool, room int) {
	total := 0
	for _, w := range widths {
		total += w + 2
	}
	for ; total > room; total-- {
		widest := -1
		for i, w := range widths {
			if !right[i] && w > lastWidth && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// bound is how many of n rows are shown.
func (w *writer) bound(n int) int {
	if w.rows > 0 && n > w.rows {
		return w.rows
	}
	return n
}

// more says how many rows were left out of a list, and how to see them.
func (w *writer) more(shown, total int, how string) {
	if shown < total {
		w.faint(fmt.Sprintf("%s more: %s", number(int64(total-shown)), how))
	}
}

// number groups digits by thousands.
func number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(int64(n)) + " " + many
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
