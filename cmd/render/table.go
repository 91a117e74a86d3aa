package render

import (
	"slices"
	"strings"

	"rea/cmd/terminal"
)

const (
	gap      = 2  // blanks between columns
	minWidth = 10 // a column is never squeezed below this
)

// column of a table. Numbers stand right; columns that hold nothing are not shown.
type column struct {
	head  string
	cells []string
	right bool
	width int // of the widest cell
}

// table writes a list of objects, one a row. Rows that don't fit the screen
// wrap inside their widest columns; when even that is not enough, or an object
// holds lists of objects, each is written as a block.
func (p *printer) table(depth int, n *node) {
	rows := flatten(n)
	cols, ok := columns(rows, false)
	if w := p.width(depth); ok && w > 0 && total(cols) > w {
		cols, _ = columns(rows, true)
	}
	if ok && len(cols) == 0 {
		p.line(depth, "-")
		return
	}
	if ok && fit(cols, p.width(depth)) {
		p.rows(depth, cols, len(n.items))
		return
	}
	for i, item := range n.items {
		if i > 0 {
			p.line(0, "")
		}
		p.object(depth, item)
	}
}

// flatten puts the members of objects that are too large for a cell into the
// row, unless a name would stand there twice.
func flatten(n *node) *node {
	out := &node{kind: '['}
	for _, row := range n.items {
		row = permissions(row)
		flat := &node{kind: '{'}
		for i, name := range row.names {
			item := row.items[i]
			if item.kind != '{' || tabular(item) || clash(row, item) {
				flat.names, flat.items = append(flat.names, name), append(flat.items, item)
				continue
			}
			flat.names, flat.items = append(flat.names, item.names...), append(flat.items, item.items...)
		}
		out.items = append(out.items, flat)
	}
	return out
}

// clash tells whether a member of item has the name of a member of row, or of
// another object of row that could be flattened.
func clash(row, item *node) bool {
	for _, other := range row.items {
		if other == item || other.kind != '{' {
			continue
		}
		for _, name := range item.names {
			if other.get(name) != nil {
				return true
			}
		}
	}
	for _, name := range item.names {
		if row.get(name) != nil {
			return true
		}
	}
	return false
}

// columns takes the union of members, in order of appearance.
func columns(n *node, wrapHeads bool) ([]column, bool) {
	var names []string
	for _, row := range n.items {
		for i, name := range row.names {
			if !tabular(row.items[i]) {
				return nil, false
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	var cols []column
	for _, name := range names {
		c := column{head: label(name), right: true, cells: make([]string, len(n.items))}
		used := false
		for i, row := range n.items {
			v := row.get(name)
			if v == nil || v.empty() {
				c.cells[i] = "-"
				continue
			}
			used = true
			c.right = c.right && v.kind == '0'
			if v.kind == '"' && v.text == "" {
				c.cells[i] = ""
				continue
			}
			c.cells[i] = cell(v)
			c.width = max(c.width, terminal.Width(c.cells[i]))
		}
		if !used || idle(n, name) {
			continue
		}
		c.width = max(c.width, headWidth(c.head, wrapHeads))
		cols = append(cols, c)
	}
	return cols, true
}

// headWidth is the room a head needs: its longest word where it may wrap.
func headWidth(head string, wrap bool) int {
	if !wrap {
		return terminal.Width(head)
	}
	n := 0
	for word := range strings.FieldsSeq(head) {
		n = max(n, terminal.Width(word))
	}
	return n
}

// idle tells whether a column only says that nothing was cut.
func idle(n *node, name string) bool {
	return strings.HasSuffix(name, "truncated") && n.all(func(row *node) bool {
		v := row.get(name)
		return v == nil || v.kind == 'f'
	})
}

// tabular tells whether a value can stand in a cell.
func tabular(n *node) bool {
	switch n.kind {
	case '"':
		return !strings.Contains(n.text, "\n") || len(n.text) < 200
	case '{':
		if _, ok := wellKnown(n); ok {
			return true
		}
		return len(n.items) <= 4 && flat(n)
	case '[':
		return len(n.items) <= 12 && n.all(func(item *node) bool { return item.scalar() || item.kind == '{' && tabular(item) })
	}
	return true
}

// total is the width of a row.
func total(cols []column) int {
	n := gap * (len(cols) - 1)
	for _, c := range cols {
		n += c.width
	}
	return n
}

// fit narrows the widest columns until the row fits in width cells.
func fit(cols []column, width int) bool {
	if width == 0 {
		return true
	}
	for total := total(cols); total > width; {
		widest := 0
		for i := range cols {
			if cols[i].width > cols[widest].width {
				widest = i
			}
		}
		c := &cols[widest]
		if c.width <= minWidth {
			return false
		}
		// Down to the next widest, or as far as is needed.
		next := minWidth
		for i := range cols {
			if i != widest {
				next = max(next, min(cols[i].width, c.width-1))
			}
		}
		cut := min(c.width-next, total-width)
		c.width -= cut
		total -= cut
	}
	return true
}

func (p *printer) rows(depth int, cols []column, n int) {
	head := make([]string, len(cols))
	for i, c := range cols {
		head[i] = c.head
	}
	p.row(depth, cols, head, terminal.Faint)
	cells := make([]string, len(cols))
	for r := range n {
		for i, c := range cols {
			cells[i] = c.cells[r]
		}
		p.row(depth, cols, cells, "")
	}
}

// row writes one row, on as many lines as its tallest cell.
func (p *printer) row(depth int, cols []column, cells []string, style terminal.Style) {
	wrapped := make([][]string, len(cells))
	height := 1
	for i, s := range cells {
		wrapped[i] = terminal.Wrap(s, cols[i].width)
		height = max(height, len(wrapped[i]))
	}
	for l := range height {
		var b strings.Builder
		for i, c := range cols {
			s := ""
			if l < len(wrapped[i]) {
				s = wrapped[i][l]
			}
			if i > 0 {
				b.WriteString(strings.Repeat(" ", gap))
			}
			if c.right {
				s = terminal.PadLeft(s, c.width)
			} else {
				s = terminal.Pad(s, c.width)
			}
			b.WriteString(s)
		}
		s := strings.TrimRight(b.String(), " ")
		if style != "" {
			s = p.screen.Paint(style, s)
		}
		p.line(depth, s)
	}
}
