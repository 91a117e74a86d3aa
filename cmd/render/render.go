package render

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"rea/cmd/terminal"
)

// Value writes the JSON value data as text that suits screen.
func Value(w io.Writer, data []byte, screen terminal.Screen) error {
	n, err := parse(data)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	p := &printer{out: out, screen: screen}
	p.top(n)
	return out.Flush()
}

// printer writes lines; depth is the indentation of what is being written.
type printer struct {
	out    *bufio.Writer
	screen terminal.Screen
	lines  int // written so far
}

func (p *printer) line(depth int, s string) {
	if s != "" {
		p.out.WriteString(strings.Repeat("  ", depth))
		p.out.WriteString(s)
	}
	p.out.WriteByte('\n')
	p.lines++
}

// width is the room that is left at depth; 0 when there is no bound.
func (p *printer) width(depth int) int {
	if p.screen.Width == 0 {
		return 0
	}
	return max(20, p.screen.Width-2*depth)
}

// top writes a whole result. An evidence record shows what was found, then
// what the finding does not cover and its identity.
func (p *printer) top(n *node) {
	if n.get("evidence_id") != nil && n.get("normalized_result") != nil {
		p.body(n.get("normalized_result"))
		p.record(n)
		return
	}
	if len(n.names) == 1 && n.names[0] == "result" {
		n = n.items[0]
	}
	p.body(n)
}

func (p *printer) record(n *node) {
	if l := n.get("limitations"); l != nil && len(l.items) > 0 {
		p.field(0, "limitations", l)
	}
	id := "evidence " + cell(n.get("evidence_id"))
	if c := n.get("confidence"); c != nil {
		id += " (" + cell(c) + ")"
	}
	p.line(0, "")
	p.note(id)
}

// note is a line that is not part of the result.
func (p *printer) note(s string) {
	for _, l := range terminal.Wrap(s, p.screen.Width) {
		p.line(0, p.screen.Paint(terminal.Faint, l))
	}
}

func (p *printer) body(n *node) {
	if n.kind != '{' {
		p.value(0, n)
		return
	}
	total, offset, next := n.get("total"), n.get("offset"), n.get("next_offset")
	if total == nil || total.kind != '0' || next == nil {
		p.object(0, n)
		return
	}
	rest := n.without("total", "offset", "next_offset")
	if len(rest.names) == 1 && rest.names[0] == "items" {
		p.value(0, rest.items[0])
	} else {
		p.object(0, rest)
	}
	p.page(total, offset, next)
}

// page says which part of a list was shown, and how to see the next.
func (p *printer) page(total, offset, next *node) {
	first := 0
	if offset != nil {
		first = number(offset)
	}
	end := number(total)
	if next.kind == '0' {
		end = number(next)
	}
	s := fmt.Sprintf("%d of %s", max(0, end-first), total.text)
	if first > 0 {
		s += fmt.Sprintf(", after the first %d", first)
	}
	if next.kind == '0' {
		s += "; more with --offset " + next.text
	}
	p.line(0, "")
	p.note(s)
}

func number(n *node) int {
	v, err := strconv.Atoi(n.text)
	if err != nil {
		return 0
	}
	return v
}

// object writes scalars as an aligned block, and everything larger below its name.
func (p *printer) object(depth int, n *node) {
	if len(n.items) == 0 {
		p.line(depth, "none")
		return
	}
	n = permissions(n)
	if d := dumpOf(n); d != nil {
		p.object(depth, n.without("bytes", "ascii"))
		p.line(0, "")
		for _, l := range d {
			p.line(depth, l)
		}
		return
	}
	column := 0
	for i, item := range n.items {
		if p.inline(item) {
			column = max(column, terminal.Width(label(n.names[i]))+2)
		}
	}
	column = min(column, 34)
	for i, item := range n.items {
		if !p.inline(item) {
			continue
		}
		p.pair(depth, column, label(n.names[i]), cell(item))
	}
	for i, item := range n.items {
		if !p.inline(item) {
			p.field(depth, n.names[i], item)
		}
	}
}

// pair writes "name: value", wrapped below the value.
func (p *printer) pair(depth, column int, name, value string) {
	head := p.screen.Paint(terminal.Cyan, name+":") + strings.Repeat(" ", max(1, column-terminal.Width(name)-1))
	room := 0
	if w := p.width(depth); w > 0 {
		room = max(12, w-column)
	}
	for i, l := range terminal.Wrap(value, room) {
		if i == 0 {
			p.line(depth, head+l)
		} else {
			p.line(depth, strings.Repeat(" ", column)+l)
		}
	}
}

// inline tells whether a value stands on the line of its name.
func (p *printer) inline(n *node) bool {
	switch n.kind {
	case '"':
		return !strings.Contains(n.text, "\n")
	case '{':
		if _, ok := wellKnown(n); ok {
			return true
		}
		return len(n.items) <= 3 && flat(n)
	case '[':
		return len(n.items) == 0 || n.all(short) && len(n.items) <= 8
	}
	return true
}

func flat(n *node) bool {
	for _, item := range n.items {
		if !item.scalar() || item.kind == '"' && (len(item.text) > 60 || strings.Contains(item.text, "\n")) {
			return false
		}
	}
	return true
}

func short(n *node) bool {
	return n.scalar() && len(n.text) <= 24 && !strings.Contains(n.text, "\n")
}

// field writes a name on a line of its own and the value below it.
func (p *printer) field(depth int, name string, n *node) {
	if depth == 0 && p.lines > 0 {
		p.line(0, "")
	}
	head := label(name)
	if n.kind == '[' && n.all(isObject) {
		head = fmt.Sprintf("%s (%d)", head, len(n.items))
	}
	p.line(depth, p.screen.Paint(terminal.Bold, head))
	if n.kind == '[' && !codeList(name, n) && n.all((*node).scalar) {
		p.prose(depth+1, n)
		return
	}
	p.value(depth+1, n)
}

// codeList tells listings, which are never wrapped, from lists of remarks.
func codeList(name string, n *node) bool {
	return name == "lines" || !n.all(func(item *node) bool { return !strings.Contains(item.text, "\n") })
}

// prose writes a list of remarks, each on lines of its own, or of short words
// as running text.
func (p *printer) prose(depth int, n *node) {
	if len(n.items) == 0 {
		p.line(depth, "none")
	}
	if n.all(short) {
		for _, l := range terminal.Wrap(cell(n), p.width(depth)) {
			p.line(depth, l)
		}
		return
	}
	for _, item := range n.items {
		for i, l := range terminal.Wrap(cell(item), max(0, p.width(depth)-2)) {
			if i > 0 {
				l = "  " + l
			}
			p.line(depth, l)
		}
	}
}

func (p *printer) value(depth int, n *node) {
	switch {
	case n.kind == '{':
		p.object(depth, n)
	case n.kind == '[':
		p.list(depth, n)
	case n.kind == '"':
		p.text(depth, n.text)
	default:
		p.line(depth, cell(n))
	}
}

// text writes code and other text of many lines as it is.
func (p *printer) text(depth int, s string) {
	for l := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		p.line(depth, terminal.EscapeLines(l))
	}
}

func (p *printer) list(depth int, n *node) {
	switch {
	case len(n.items) == 0:
		p.line(depth, "none")
	case n.all(isObject):
		p.table(depth, n)
	case n.all((*node).scalar):
		for _, item := range n.items {
			p.text(depth, plain(item))
		}
	default:
		for _, item := range n.items {
			p.value(depth, item)
		}
	}
}

func plain(n *node) string {
	if n.kind == '"' {
		return n.text
	}
	return cell(n)
}
