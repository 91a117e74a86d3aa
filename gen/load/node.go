// Package load reads the contracts: JSON documents that keep the order of their
// properties and the line of every value.
//
// A contract that breaks a rule is reported with its file and line and what to
// do instead. All faults of all contracts are collected, so that one run shows
// them all.
package load

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind of a JSON value.
type Kind int

const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

func (k Kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// Pos is where a value stands.
type Pos struct {
	File string
	Line int
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// A Node is a JSON value. Nodes of contracts are never changed after reading:
// whoever projects them builds new ones.
type Node struct {
	Kind    Kind
	Pos     Pos
	Text    string // a string's value, or the literal of a number or boolean
	Items   []*Node
	Members []Member
}

// A Member is one property of an object.
type Member struct {
	Name  string
	Value *Node
}

// Get is the value of a property, or nil. It is safe on nil and on values that
// are no objects.
func (n *Node) Get(name string) *Node {
	if n == nil {
		return nil
	}
	for i := range n.Members {
		if n.Members[i].Name == name {
			return n.Members[i].Value
		}
	}
	return nil
}

// At follows property names down from n.
func (n *Node) At(names ...string) *Node {
	for _, name := range names {
		n = n.Get(name)
	}
	return n
}

// Has reports whether n is an object with the property.
func (n *Node) Has(name string) bool { return n.Get(name) != nil }

// Str is the value of a string property, or "".
func (n *Node) Str(name string) string {
	if v := n.Get(name); v != nil && v.Kind == String {
		return v.Text
	}
	return ""
}

// True reports whether the property is true.
func (n *Node) True(name string) bool {
	v := n.Get(name)
	return v != nil && v.Kind == Bool && v.Text == "true"
}

// List is the items of an array; none on nil and on other values.
func (n *Node) List() []*Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// Properties are the members of an object; none on nil and on other values.
func (n *Node) Properties() []Member {
	if n == nil {
		return nil
	}
	return n.Members
}

// Strings are the strings of an array.
func (n *Node) Strings() []string {
	var out []string
	for _, item := range n.List() {
		if item.Kind == String {
			out = append(out, item.Text)
		}
	}
	return out
}

// AppendJSON appends n without white space, properties in order.
func (n *Node) AppendJSON(dst []byte) []byte {
	switch n.Kind {
	case Null:
		return append(dst, "null"...)
	case String:
		out, _ := jsontext.AppendQuote(dst, n.Text)
		return out
	case Array:
		dst = append(dst, '[')
		for i, item := range n.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.AppendJSON(dst)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i, m := range n.Members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst, _ = jsontext.AppendQuote(dst, m.Name)
			dst = append(dst, ':')
			dst = m.Value.AppendJSON(dst)
		}
		return append(dst, '}')
	}
	return append(dst, n.Text...)
}

// JSON is n as text without white space.
func (n *Node) JSON() string { return string(n.AppendJSON(nil)) }

// Parse reads one JSON document.
func Parse(file string, data []byte) (*Node, error) {
	p := parser{file: file, data: data, line: 1}
	p.in = jsontext.NewDecoder(bytes.NewBuffer(data))
	n, err := p.value()
	if err == nil {
		if _, end := p.in.ReadToken(); end != io.EOF {
			err = p.fault("something follows the document")
		}
	}
	return n, err
}

type parser struct {
	file string
	data []byte
	in   *jsontext.Decoder
	at   int // offset that line belongs to
	line int
}

// pos is the position of the token just read.
func (p *parser) pos() Pos {
	end := int(p.in.InputOffset())
	p.line += bytes.Count(p.data[p.at:end], []byte{'\n'})
	p.at = end
	return Pos{p.file, p.line}
}

func (p *parser) fault(format string, args ...any) error {
	return &Fault{p.pos(), fmt.Sprintf(format, args...)}
}

func (p *parser) value() (*Node, error) {
	tok, err := p.in.ReadToken()
	if err != nil {
		var s *jsontext.SyntacticError
		if errors.As(err, &s) {
			line := 1 + bytes.Count(p.data[:min(int(s.ByteOffset), len(p.data))], []byte{'\n'})
			return nil, &Fault{Pos{p.file, line}, fmt.Sprintf("not valid JSON: %v", s.Err)}
		}
		return nil, p.fault("not valid JSON: %v", err)
	}
	n := &Node{Pos: p.pos()}
	switch tok.Kind() {
	case jsontext.KindNull:
		n.Kind = Null
	case jsontext.KindTrue, jsontext.KindFalse:
		n.Kind, n.Text = Bool, tok.String()
	case jsontext.KindNumber:
		n.Kind, n.Text = Number, tok.String()
	case jsontext.KindString:
		n.Kind, n.Text = String, tok.String()
	case jsontext.KindBeginArray:
		n.Kind = Array
		for p.in.PeekKind() != jsontext.KindEndArray {
			item, err := p.value()
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, item)
		}
		_, err = p.in.ReadToken()
	case jsontext.KindBeginObject:
		n.Kind = Object
		for p.in.PeekKind() != jsontext.KindEndObject {
			name, err := p.value()
			if err != nil {
				return nil, err
			}
			value, err := p.value()
			if err != nil {
				return nil, err
			}
			n.Members = append(n.Members, Member{name.Text, value})
		}
		_, err = p.in.ReadToken()
	}
	return n, err
}

// A Fault is a rule that a contract breaks.
type Fault struct {
	Pos
	Message string
}

func (f *Fault) Error() string { return f.Pos.String() + ": " + f.Message }

// Faults is every fault found, in file and line order.
type Faults []*Fault

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Error()
	}
	return strings.Join(lines, "\n")
}

// Add notes a fault at n.
func (f *Faults) Add(n *Node, format string, args ...any) {
	*f = append(*f, &Fault{n.Pos, fmt.Sprintf(format, args...)})
}

// Err is nil when there are no faults, and the sorted faults otherwise.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	sorted := slices.Clone(f)
	slices.SortFunc(sorted, func(a, b *Fault) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(sorted, func(a, b *Fault) bool { return *a == *b })
}
