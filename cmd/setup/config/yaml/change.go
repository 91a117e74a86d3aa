package yaml

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"rea/cmd/setup/config/edit"
)

// merge changes and adds members of a mapping that exists.
func (f *File) merge(n *node, want edit.Object) []edit.Change {
	var changes []edit.Change
	var add edit.Object
	for _, m := range want {
		if m.Initial {
			continue
		}
		i := f.index(n, edit.Step{Key: m.Key})
		if i < 0 {
			add = append(add, m)
			continue
		}
		p := &n.pairs[i]
		inner, isObject := m.Value.(edit.Object)
		switch {
		case isObject && p.value.kind == mapping:
			changes = append(changes, f.merge(p.value, inner)...)
		case isObject && len(inner) == 0 && p.value.kind == null:
		case !edit.Equal(decode(f.src, p.value), m.Value):
			changes = append(changes, f.replace(p, m.Value)...)
		}
	}
	if len(add) > 0 {
		changes = append(changes, f.insert(n, add)...)
	}
	return changes
}

// replace writes another value behind a key, on the line of the key.
func (f *File) replace(p *pair, v any) []edit.Change {
	text := flat(v)
	n := p.value
	switch {
	case n.kind == null:
		return []edit.Change{{Start: p.behind, End: p.behind, Text: " " + text}}
	case (n.kind == mapping || n.kind == sequence) && !n.flow:
		start := edit.PreviousEnd(f.src, edit.LineStart(f.src, n.start))
		return []edit.Change{
			{Start: p.behind, End: p.behind, Text: " " + text},
			{Start: max(start, p.behind), End: n.end},
		}
	}
	return []edit.Change{{Start: n.start, End: n.end, Text: text}}
}

// insert adds members behind the last one of a mapping.
func (f *File) insert(n *node, add edit.Object) []edit.Change {
	if n.flow {
		return []edit.Change{f.intoFlow(n, flatMembers(add))}
	}
	at := edit.LineEnd(f.src, n.end)
	return []edit.Change{{Start: at, End: at, Text: f.eol + f.lines(add, n.column)}}
}

// intoFlow writes behind the last thing between brackets.
func (f *File) intoFlow(n *node, text string) edit.Change {
	at := n.start + 1
	if k := len(n.pairs); k > 0 {
		at, text = n.pairs[k-1].end(), ", "+text
	} else if k := len(n.items); k > 0 {
		at, text = n.items[k-1].end(), ", "+text
	}
	return edit.Change{Start: at, End: at, Text: text}
}

// create writes the entry and the collections around it that are missing.
func (f *File) create(entry edit.Object) []edit.Change {
	if f.root == nil {
		text, end := f.nested(f.path, entry, 0), f.eol
		if n := f.end; n > 0 && f.src[n-1] != '\n' && !bytes.Equal(f.src[:n], edit.BOM) {
			text, end = f.eol+text, ""
		}
		return []edit.Change{{Start: f.end, End: f.end, Text: text + end}}
	}
	k := len(f.chain) - 1
	n, rest := f.chain[k], f.path[k:]
	switch {
	case n.flow:
		return []edit.Change{f.intoFlow(n, flatNested(rest, entry))}
	case n.kind == mapping || n.kind == sequence:
		at := edit.LineEnd(f.src, n.end)
		return []edit.Change{{Start: at, End: at, Text: f.eol + f.nested(rest, entry, n.column)}}
	}
	// A key without a value, or with null: the collection begins below it.
	owner := f.owners[k]
	at := edit.LineEnd(f.src, owner.behind)
	changes := []edit.Change{{Start: at, End: at, Text: f.eol + f.nested(rest, entry, f.chain[k-1].column+f.indent)}}
	if n.kind == scalar {
		changes = append(changes, edit.Change{Start: owner.behind, End: n.end})
	}
	return changes
}

// nested writes the rest of a path and the entry as lines that begin at column.
func (f *File) nested(rest edit.Path, entry edit.Object, column int) string {
	pad := strings.Repeat(" ", column)
	if rest[0].Item {
		text := f.lines(append(edit.Object{{Key: "name", Value: rest[0].Key}}, without(entry, "name")...), column+2)
		return pad + "- " + strings.TrimLeft(text, " ")
	}
	if len(rest) == 1 {
		return f.lines(edit.Object{{Key: rest[0].Key, Value: entry}}, column)
	}
	return pad + key(rest[0].Key) + ":" + f.eol + f.nested(rest[1:], entry, column+f.indent)
}

func without(o edit.Object, name string) edit.Object {
	var out edit.Object
	for _, m := range o {
		if m.Key != name {
			out = append(out, m)
		}
	}
	return out
}

// lines writes members below one another.
func (f *File) lines(o edit.Object, column int) string {
	pad := strings.Repeat(" ", column)
	var out []string
	for _, m := range o {
		inner, isObject := m.Value.(edit.Object)
		if isObject && len(inner) > 0 {
			out = append(out, pad+key(m.Key)+":", f.lines(inner, column+f.indent))
			continue
		}
		out = append(out, pad+key(m.Key)+": "+flat(m.Value))
	}
	return strings.Join(out, f.eol)
}

func flatNested(rest edit.Path, entry edit.Object) string {
	if rest[0].Item {
		return "{" + flatMembers(append(edit.Object{{Key: "name", Value: rest[0].Key}}, without(entry, "name")...)) + "}"
	}
	if len(rest) == 1 {
		return flatMembers(edit.Object{{Key: rest[0].Key, Value: entry}})
	}
	inner := flatNested(rest[1:], entry)
	if rest[1].Item {
		return key(rest[0].Key) + ": [" + inner + "]"
	}
	return key(rest[0].Key) + ": {" + inner + "}"
}

func flatMembers(o edit.Object) string {
	var parts []string
	for _, m := range o {
		parts = append(parts, key(m.Key)+": "+flat(m.Value))
	}
	return strings.Join(parts, ", ")
}

// flat writes a value on one line.
func flat(v any) string {
	switch v := v.(type) {
	case edit.Object:
		return "{" + flatMembers(v) + "}"
	case edit.Array:
		var parts []string
		for _, item := range v {
			parts = append(parts, flat(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		if simple.MatchString(v) && meaning(v) == any(v) && !ambiguous[strings.ToLower(v)] {
			return v
		}
	}
	s, _ := edit.Scalar(v)
	return s
}

// simple are strings that mean themselves without quotes, in brackets too.
var simple = regexp.MustCompile(`^[A-Za-z/_][A-Za-z0-9/_.-]*$`)

// ambiguous are words that older readers take for booleans.
var ambiguous = map[string]bool{"y": true, "n": true, "yes": true, "no": true, "on": true, "off": true}

func key(s string) string { return flat(s) }

// Remove takes the entry out, and up to made of the collections around it where
// nothing else is in them.
func (f *File) Remove(made int) ([]byte, error) {
	if f.entry == nil {
		return f.src, nil
	}
	level := len(f.path) - 1
	for ; made > 0 && level > 0 && size(f.chain[level]) == 1; level, made = level-1, made-1 {
		if f.commented(f.chain[level]) {
			break
		}
	}
	g, err := Open(f.src, f.path[:level+1])
	if err != nil {
		return nil, err
	}
	out := edit.Apply(f.src, g.cut())
	again, err := Open(out, f.path)
	if err != nil {
		return nil, fmt.Errorf("the edited file can't be read: %w", err)
	}
	if again.entry != nil {
		return nil, fmt.Errorf("%s can't be removed", f.path)
	}
	return out, f.same(again)
}

func size(n *node) int { return len(n.pairs) + len(n.items) }

// commented tells whether a line of n outside the entry is a comment.
func (f *File) commented(n *node) bool {
	for line := range bytes.Lines(f.src[n.start:n.end]) {
		if bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("#")) {
			return true
		}
	}
	return false
}

// cut removes the entry from the last collection of the chain.
func (f *File) cut() []edit.Change {
	n := f.chain[len(f.chain)-1]
	var start, end int
	if n.kind == mapping {
		start, end = n.pairs[f.place].start, n.pairs[f.place].end()
	} else {
		start, end = n.items[f.place].start, n.items[f.place].end()
	}
	if n.flow {
		return []edit.Change{f.cutFlow(n, start, end)}
	}
	first := edit.LineStart(f.src, start)
	if !edit.OnlySpace(f.src[first:start]) {
		// The first key behind a dash: the next one takes its place.
		if size(n) > 1 {
			return []edit.Change{{Start: start, End: n.pairs[1].start}}
		}
		return []edit.Change{{Start: start, End: end, Text: "{}"}}
	}
	next := edit.NextLine(f.src, end)
	if next == len(f.src) && next > 0 && f.src[next-1] != '\n' {
		first = edit.PreviousEnd(f.src, first)
	}
	changes := []edit.Change{{Start: first, End: next}}
	if owner := f.owners[len(f.owners)-1]; size(n) == 1 && owner != nil {
		empty := " {}"
		if n.kind == sequence {
			empty = " []"
		}
		changes = append(changes, edit.Change{Start: owner.behind, End: owner.behind, Text: empty})
	}
	return changes
}

// cutFlow removes something between brackets with one comma.
func (f *File) cutFlow(n *node, start, end int) edit.Change {
	var starts, ends []int
	for i := range n.pairs {
		starts, ends = append(starts, n.pairs[i].start), append(ends, n.pairs[i].end())
	}
	for i := range n.items {
		starts, ends = append(starts, n.items[i].start), append(ends, n.items[i].end())
	}
	switch i := f.place; {
	case i > 0:
		return edit.Change{Start: ends[i-1], End: end}
	case len(starts) > 1:
		return edit.Change{Start: start, End: starts[1]}
	}
	return edit.Change{Start: n.start + 1, End: n.end - 1}
}
