package versions

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// maxChanges bounds those of one item.
const maxChanges = 200

func (it *Item) change(d Dimension, name string, left, right []byte) {
	it.Dimensions = add(it.Dimensions, d)
	if len(it.Changes) < maxChanges {
		it.Changes = append(it.Changes, Change{d, name, left, right})
	} else if it.Reason == "" {
		it.Reason = "more changed than is listed"
	}
}

// concluded are properties that follow from all that is known of a node.
var concluded = map[string]bool{"pairing": true}

// properties compares what two nodes say of themselves.
func (j *judge) properties(it *Item, l, r int) {
	x, y := j.m.l.node(l).Properties, j.m.r.node(r).Properties
	names := append(j.m.l.stated(l), j.m.r.stated(r)...)
	slices.Sort(names)
	open := false
	for _, name := range slices.Compact(names) {
		if wholeness[name] {
			open = open || !bytes.Equal(x[name], y[name])
			continue
		}
		more := j.more(name, l, r)
		if concluded[name] && more != [2]bool{} && !bytes.Equal(x[name], y[name]) || !it.value(name, x[name], y[name], more, 0) {
			open = true
		}
	}
	if open && it.Status == Unchanged && len(it.Dimensions) == 0 {
		it.Status, it.Reason = Unknown, "one side may have more of it than is seen"
	}
}

// value compares two values, members of objects one by one. What only one has is no
// difference where the other may have more than it shows, which open says of each. It
// reports whether all that differs is certain.
func (it *Item) value(name string, x, y []byte, open [2]bool, depth int) bool {
	if bytes.Equal(x, y) {
		return true
	}
	if x == nil && open[0] || y == nil && open[1] {
		return false
	}
	a, b := members(x), members(y)
	if a != nil && b != nil && depth < 8 {
		names := append(keysOf(a), keysOf(b)...)
		slices.Sort(names)
		certain := true
		for _, n := range slices.Compact(names) {
			certain = it.value(name+"."+n, a[n], b[n], open, depth+1) && certain
		}
		return certain
	}
	certain := true
	if open[0] || open[1] {
		if p, q, ok := number(x, y); ok && (p < q && open[0] || p > q && open[1]) {
			return false
		}
		if x, y, certain = shown(x, y, open); bytes.Equal(x, y) {
			return false
		}
	}
	it.change(InProperties, name, x, y)
	return certain
}

func number(x, y []byte) (p, q int, ok bool) {
	p, err := strconv.Atoi(string(x))
	q, other := strconv.Atoi(string(y))
	return p, q, err == nil && other == nil
}

// shown leaves out of two lists what only one has where the other may have it too, and
// reports whether that is nothing.
func shown(x, y []byte, open [2]bool) (left, right []byte, certain bool) {
	a, b := elements(x), elements(y)
	if a == nil || b == nil {
		return x, y, true
	}
	without := func(list, other [][]byte, open bool) []byte {
		if !open {
			return join(list)
		}
		held := map[string]bool{}
		for _, v := range other {
			held[string(v)] = true
		}
		return join(slices.DeleteFunc(slices.Clone(list), func(v []byte) bool { return !held[string(v)] }))
	}
	left, right = without(a, b, open[1]), without(b, a, open[0])
	return left, right, bytes.Equal(left, join(a)) && bytes.Equal(right, join(b))
}

// elements of a JSON array, nil for anything else.
func elements(v []byte) [][]byte {
	if len(v) == 0 || v[0] != '[' {
		return nil
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(v))
	if _, err := dec.ReadToken(); err != nil {
		return nil
	}
	out := [][]byte{}
	for dec.PeekKind() != ']' {
		value, err := dec.ReadValue()
		if err != nil {
			return nil
		}
		out = append(out, bytes.Clone(value))
	}
	return out
}

func join(list [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(list, []byte(",")), []byte("]"))
}
