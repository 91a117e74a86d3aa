package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a JSON value with the order of its members.
type node struct {
	kind  jsontext.Kind // n f t " 0 { [
	text  string        // strings decoded, numbers as written
	names []string      // of an object, beside items
	items []*node
}

func parse(data []byte) (*node, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	n, err := readNode(dec)
	if err != nil {
		return nil, fmt.Errorf("result is no JSON: %w", err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("result has more than one JSON value")
	}
	return n, nil
}

// readNode is recursive: jsontext itself bounds the depth.
func readNode(dec *jsontext.Decoder) (*node, error) {
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &node{kind: tok.Kind()}
	switch n.kind {
	case '"', '0':
		n.text = tok.String()
	case '{':
		for dec.PeekKind() != '}' {
			name, err := dec.ReadToken()
			if err != nil {
				return nil, err
			}
			n.names = append(n.names, name.String())
			item, err := readNode(dec)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
		_, err = dec.ReadToken()
	case '[':
		for dec.PeekKind() != ']' {
			item, err := readNode(dec)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
		_, err = dec.ReadToken()
	}
	return n, err
}

func (n *node) get(name string) *node {
	for i, k := range n.names {
		if k == name {
			return n.items[i]
		}
	}
	return nil
}

// without is n less the named members.
func (n *node) without(names ...string) *node {
	out := &node{kind: n.kind}
next:
	for i, k := range n.names {
		for _, drop := range names {
			if k == drop {
				continue next
			}
		}
		out.names = append(out.names, k)
		out.items = append(out.items, n.items[i])
	}
	return out
}

func (n *node) scalar() bool { return n.kind != '{' && n.kind != '[' }

func (n *node) empty() bool {
	return n.kind == 'n' || !n.scalar() && len(n.items) == 0
}

// all tells whether n is a list whose items satisfy f.
func (n *node) all(f func(*node) bool) bool {
	if n.kind != '[' {
		return false
	}
	for _, item := range n.items {
		if !f(item) {
			return false
		}
	}
	return true
}

func isObject(n *node) bool { return n.kind == '{' }
