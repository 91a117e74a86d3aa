package jsonc

import (
	"bytes"
	"fmt"

	"rea/cmd/setup/config/edit"
)

// Remove takes the entry out, and up to made of the mappings around it where
// they are empty then.
func (f *File) Remove(made int) ([]byte, error) {
	out := f.src
	for n := len(f.path); n > 0 && n >= len(f.path)-made; n-- {
		for {
			g, err := Open(out, f.path[:n])
			if err != nil {
				return nil, err
			}
			if g.entry == nil || n < len(f.path) && !g.empty() {
				break
			}
			o := g.chain[n-1]
			i := o.last(f.path[n-1].Key)
			next := edit.Apply(out, g.cut(o, i))
			if !g.without(next, i) {
				// What is left of a line behind a comment would become part of it.
				next = edit.Apply(out, g.cutTight(o, i))
				if !g.without(next, i) {
					return nil, fmt.Errorf("%s can't be removed without changing something else", f.path)
				}
			}
			out = next
		}
	}
	if made == len(f.path) {
		return withoutRoot(out), nil
	}
	return out, nil
}

// withoutRoot takes out an object that is the whole file and holds nothing.
func withoutRoot(src []byte) []byte {
	f, err := Open(src, nil)
	if err != nil || f.entry == nil || !f.empty() {
		return src
	}
	end := edit.NextLine(src, f.entry.end)
	if len(bytes.TrimSpace(src[f.entry.end:end])) > 0 {
		end = f.entry.end
	}
	return edit.Apply(src, []edit.Change{{Start: f.entry.start, End: end}})
}

// empty tells whether the entry is an object that holds nothing, no comment either.
func (f *File) empty() bool {
	o := f.entry.object
	return o != nil && len(bytes.TrimSpace(f.src[o.open+1:o.close])) == 0
}

// without tells whether src is this file with nothing but the i-th member of the
// object around the entry gone.
func (f *File) without(src []byte, i int) bool {
	g, err := Open(src, f.path)
	if err != nil || len(g.chain) != len(f.chain) {
		return false
	}
	was, is := f.chain[len(f.chain)-1].members, g.chain[len(g.chain)-1].members
	if len(is) != len(was)-1 {
		return false
	}
	for j := range is {
		old := was[j]
		if j >= i {
			old = was[j+1]
		}
		if !bytes.Equal(src[is[j].value.start:is[j].value.end], f.src[old.value.start:old.value.end]) ||
			!bytes.Equal(src[is[j].start:is[j].end], f.src[old.start:old.end]) {
			return false
		}
	}
	return true
}

// cut removes the member with the line break and indentation before it and the
// comma behind it or, when it is the last, the comma before it.
func (f *File) cut(o *object, i int) []edit.Change {
	m := o.members[i]
	start := m.start
	if line := edit.LineStart(f.src, start); edit.OnlySpace(f.src[line:start]) && line > o.open {
		start = edit.PreviousEnd(f.src, line)
	} else {
		for start > o.open+1 && (f.src[start-1] == ' ' || f.src[start-1] == '\t') {
			start--
		}
	}
	end := m.value.end
	if m.comma >= 0 {
		end = m.comma + 1
		// The first of several on one line leaves no space behind.
		if i == 0 && len(o.members) > 1 && start == o.open+1 && f.src[start] != '\r' && f.src[start] != '\n' {
			for f.src[end] == ' ' || f.src[end] == '\t' {
				end++
			}
		}
	}
	if len(o.members) == 1 && len(bytes.TrimSpace(f.src[o.open+1:start]))+len(bytes.TrimSpace(f.src[end:o.close])) == 0 {
		return []edit.Change{{Start: o.open + 1, End: o.close}}
	}
	changes := []edit.Change{{Start: start, End: end}}
	if m.comma < 0 && i > 0 {
		comma := o.members[i-1].comma
		changes = append(changes, edit.Change{Start: comma, End: comma + 1})
		if comma+1 > start {
			return []edit.Change{{Start: min(start, comma), End: end}}
		}
	}
	return changes
}

// cutTight removes the member and one comma, and nothing around them.
func (f *File) cutTight(o *object, i int) []edit.Change {
	m := o.members[i]
	changes := []edit.Change{{Start: m.start, End: m.value.end}}
	switch {
	case m.comma >= 0:
		changes = append(changes, edit.Change{Start: m.comma, End: m.comma + 1})
	case i > 0:
		comma := o.members[i-1].comma
		changes = append(changes, edit.Change{Start: comma, End: comma + 1})
	}
	return changes
}
