// Package delivery prepares results for a client: the order in which a reader
// meets the data, its text form, and its size on the wire.
//
// A successful result goes out twice in one message: as structured content and
// as text that says the same. Clients show one or the other, often only the
// beginning and the end of it, and some cut long lines. Therefore both have the
// same order, in which the short members of an object come before the bulky
// ones and otherwise keep the order of the contract; and the text is broken
// into lines, with a value that fits on a line kept on one.
//
// The size of a message is computed by walking the data, before any of it is
// written, and what does not fit a client's buffer is refused. Nothing here
// builds a string of the size of the document: both forms are written piece by
// piece.
package delivery

import (
	"errors"
	"fmt"
	"math"

	"github.com/go-json-experiment/json/jsontext"
)

// bulky is the compact size from which a member goes to the end of its object.
const bulky = 1024

// lineLength is the longest compact form that is kept on one line.
const lineLength = 100

// A Document is a JSON value in the order it is shown.
type Document struct {
	json  []byte // compact
	nodes []node // objects and arrays over lineLength, and their items; nodes[0] is the root
}

// node is one value. The children of a container follow it in reading order and
// are chained by next; a container that fits on a line has no children here.
type node struct {
	start, end int32 // of the value
	key        int32 // start of the member name, or -1
	next       int32 // sibling, or -1
	first      int32 // first child, or -1
}

// NewDocument reads one JSON value, which it takes over. It fails when doc is
// not valid JSON: a client would wait for ever for the end of such a message.
func NewDocument(doc []byte) (*Document, error) {
	if len(doc) > math.MaxInt32 {
		return nil, fmt.Errorf("result of %d bytes is too large", len(doc))
	}
	v := jsontext.Value(doc)
	if !v.IsValid() {
		return nil, errors.New("result is not valid JSON")
	}
	if err := v.Compact(); err != nil {
		return nil, fmt.Errorf("result is not valid JSON: %w", err)
	}
	d := &Document{json: v, nodes: make([]node, 0, len(v)/32+16)}
	d.add(0, -1)
	return d, nil
}

// JSON is the compact document in contract order.
func (d *Document) JSON() []byte { return d.json }

// add appends the node of the value at start and returns its index. It leaves
// the end of the value in the node.
func (d *Document) add(start, key int) int32 {
	at := int32(len(d.nodes))
	d.nodes = append(d.nodes, node{start: int32(start), key: int32(key), next: -1, first: -1})
	end := start
	switch c := d.json[start]; c {
	case '{', '[':
		end = d.children(at, c == '{')
	case '"':
		end = stringEnd(d.json, start)
	default:
		for end < len(d.json) && d.json[end] != ',' && d.json[end] != ']' && d.json[end] != '}' {
			end++
		}
	}
	d.nodes[at].end = int32(end)
	if end-start <= lineLength && d.nodes[at].first >= 0 {
		d.nodes = d.nodes[:at+1] // on one line: what is inside does not matter
		d.nodes[at].first = -1
	}
	return at
}

// children adds what is inside the container and returns its end.
func (d *Document) children(at int32, object bool) int {
	i := int(d.nodes[at].start) + 1
	last := int32(-1)
	for d.json[i] != '}' && d.json[i] != ']' {
		if d.json[i] == ',' {
			i++
		}
		key := -1
		if object {
			key = i
			i = stringEnd(d.json, i) + 1
		}
		child := d.add(i, key)
		i = int(d.nodes[child].end)
		if last < 0 {
			d.nodes[at].first = child
		} else {
			d.nodes[last].next = child
		}
		last = child
	}
	if object && last >= 0 {
		d.order(at)
	}
	return i + 1
}

// order moves the bulky members of an object behind the others.
func (d *Document) order(at int32) {
	small, large := chain{-1, -1}, chain{-1, -1}
	for i := d.nodes[at].first; i >= 0; {
		next := d.nodes[i].next
		d.nodes[i].next = -1
		if d.nodes[i].end-d.nodes[i].start > bulky {
			large.append(d.nodes, i)
		} else {
			small.append(d.nodes, i)
		}
		i = next
	}
	switch {
	case small.first < 0:
		d.nodes[at].first = large.first
	default:
		d.nodes[at].first = small.first
		d.nodes[small.last].next = large.first
	}
}

type chain struct{ first, last int32 }

func (c *chain) append(nodes []node, i int32) {
	if c.last < 0 {
		c.first = i
	} else {
		nodes[c.last].next = i
	}
	c.last = i
}

// stringEnd returns the index after the string that starts at i.
func stringEnd(doc []byte, i int) int {
	for i++; doc[i] != '"'; i++ {
		if doc[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func (d *Document) value(n node) []byte { return d.json[n.start:n.end] }

// name is the quoted member name.
func (d *Document) name(n node) []byte { return d.json[n.key : n.start-1] }

var errNotObject = errors.New("structured content must be an object")

// isObject reports whether the document can be structured content.
func (d *Document) isObject() bool { return d.json[0] == '{' }
