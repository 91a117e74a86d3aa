package delivery

import (
	"bytes"
	"io"
)

// pieces receives a form piece by piece.
type pieces interface{ piece(p []byte) }

// compact gives the document on one line, in the order it is shown.
func (d *Document) compact(out pieces) { d.compactNode(0, out) }

func (d *Document) compactNode(i int32, out pieces) {
	n := d.nodes[i]
	if n.first < 0 {
		out.piece(d.value(n))
		return
	}
	out.piece(d.json[n.start : n.start+1])
	for c := n.first; c >= 0; c = d.nodes[c].next {
		if c != n.first {
			out.piece(comma)
		}
		if child := d.nodes[c]; child.key >= 0 {
			out.piece(d.json[child.key:child.start])
		}
		d.compactNode(c, out)
	}
	out.piece(d.json[n.end-1 : n.end])
}

var (
	comma     = []byte(",")
	colon     = []byte(": ")
	lineBreak = []byte("\n")
	spaces    = bytes.Repeat([]byte(" "), 64)
)

// lines gives the document broken into lines.
func (d *Document) lines(out pieces) { d.linesNode(0, 0, out) }

func (d *Document) linesNode(i int32, depth int, out pieces) {
	n := d.nodes[i]
	if n.first < 0 {
		out.piece(d.value(n))
		return
	}
	out.piece(d.json[n.start : n.start+1])
	inner := depth + 1
	column := 0 // of scalars that share a line
	for c := n.first; c >= 0; c = d.nodes[c].next {
		child := d.nodes[c]
		if c != n.first {
			out.piece(comma)
		}
		size := int(child.end - child.start)
		scalar := child.key < 0 && d.json[child.start] != '{' && d.json[child.start] != '['
		if scalar && column > 0 && column+size < lineLength {
			column += size + 1
		} else {
			breakLine(out, inner)
			column = 0
			if scalar {
				column = inner + size + 1
			}
		}
		if child.key >= 0 {
			out.piece(d.name(child))
			out.piece(colon)
		}
		d.linesNode(c, inner, out)
	}
	breakLine(out, depth)
	out.piece(d.json[n.end-1 : n.end])
}

// breakLine begins a line, indented by one space a level.
func breakLine(out pieces, depth int) {
	out.piece(lineBreak)
	out.piece(spaces[:min(depth, len(spaces))])
}

// counting counts plain bytes.
type counting int64

func (c *counting) piece(p []byte) { *c += counting(len(p)) }

// countingEscaped counts bytes inside a JSON string. The pieces are JSON
// themselves, in which the only bytes to be escaped are quotes, backslashes and
// our own line breaks.
type countingEscaped int64

func (c *countingEscaped) piece(p []byte) {
	n := len(p)
	for _, b := range p {
		if b == '"' || b == '\\' || b == '\n' {
			n++
		}
	}
	*c += countingEscaped(n)
}

// plain writes pieces as they are and keeps the first error.
type plain struct {
	w   io.Writer
	err error
}

func (p *plain) piece(b []byte) {
	if p.err == nil {
		_, p.err = p.w.Write(b)
	}
}

var (
	escapedQuote     = []byte(`\"`)
	escapedBackslash = []byte(`\\`)
	escapedBreak     = []byte(`\n`)
)

// escaped writes pieces as the inside of a JSON string.
type escaped struct{ plain }

func (e *escaped) piece(b []byte) {
	start := 0
	for i, c := range b {
		var with []byte
		switch c {
		case '"':
			with = escapedQuote
		case '\\':
			with = escapedBackslash
		case '\n':
			with = escapedBreak
		default:
			continue
		}
		if i > start {
			e.plain.piece(b[start:i])
		}
		e.plain.piece(with)
		start = i + 1
	}
	if start < len(b) {
		e.plain.piece(b[start:])
	}
}

// WriteText writes the document as lines, as clients see it in a text block.
func (d *Document) WriteText(w io.Writer) error {
	out := &plain{w: w}
	d.lines(out)
	return out.err
}

// WriteJSON writes the document on one line, in the order it is shown.
func (d *Document) WriteJSON(w io.Writer) error {
	out := &plain{w: w}
	d.compact(out)
	return out.err
}
