package toml

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"rea/cmd/setup/config/edit"
)

// File is a parsed file and an entry in it.
type File struct {
	src      []byte
	path     []string
	sections []*section
	entry    edit.Object // nil when there is none
	at       int         // where it begins
	eol      string
}

// Open reads a file to edit the entry at path. It fails with a *[edit.Error].
func Open(src []byte, path edit.Path) (*File, error) {
	f := &File{src: src, eol: edit.EOL(src)}
	for _, s := range path {
		f.path = append(f.path, s.Key)
	}
	var err error
	if f.sections, err = parse(src); err != nil {
		return nil, err
	}
	return f, f.collect()
}

// maxMembers bounds an entry; those that people write have ten.
const maxMembers = 1000

// collect puts together what the file says below the path.
func (f *File) collect() error {
	members := 0
	found := func(at int) {
		if f.entry == nil {
			f.entry, f.at = edit.Object{}, at
		}
	}
	for _, s := range f.sections {
		if s.array && isPrefix(s.path, f.path) {
			return edit.Errorf(f.src, s.start, "%s is an array of tables, not a table", strings.Join(s.path, "."))
		}
		if isPrefix(f.path, s.path) {
			found(s.start)
			if below := s.path[len(f.path):]; len(below) > 0 {
				if s.array {
					f.entry = put(f.entry, below, edit.Other{Source: "[[" + strings.Join(s.path, ".") + "]]"})
					continue
				}
				f.entry = put(f.entry, append(slices.Clone(below), ""), nil)
			}
		}
		for _, st := range flatten(s) {
			full := st.path
			switch {
			case isPrefix(f.path, full) && len(full) > len(f.path):
				if members++; members > maxMembers {
					return edit.Errorf(f.src, st.start, "%s has more than %d members", strings.Join(f.path, "."), maxMembers)
				}
				found(st.start)
				data := st.value.data
				if st.value.inline != nil {
					data = edit.Object{}
				}
				f.entry = put(f.entry, full[len(f.path):], data)
			case isPrefix(full, f.path) && st.value.inline == nil:
				return edit.Errorf(f.src, st.value.start, "%s is not a table", strings.Join(full, "."))
			case len(full) == len(f.path) && isPrefix(full, f.path):
				found(st.start)
			}
		}
	}
	f.entry = tidy(f.entry)
	return nil
}

// tidy drops the marks of tables that have only a header.
func tidy(o edit.Object) edit.Object {
	o = slices.DeleteFunc(o, func(m edit.Member) bool { return m.Key == "" && m.Value == nil })
	for i := range o {
		if inner, ok := o[i].Value.(edit.Object); ok {
			o[i].Value = tidy(inner)
		}
	}
	return o
}

// flatten lists the statements of a section with full paths, and those of inline
// tables in it behind the statement that holds the table.
func flatten(s *section) []statement {
	var out []statement
	var walk func(base []string, list []statement)
	walk = func(base []string, list []statement) {
		for _, st := range list {
			st.path = append(slices.Clone(base), st.path...)
			out = append(out, st)
			if st.value.inline != nil {
				walk(st.path, st.value.inline.members)
			}
		}
	}
	if s.array {
		return nil // the tables of an array have no path of their own
	}
	walk(s.path, s.statements)
	return out
}

func isPrefix(short, long []string) bool {
	return len(short) <= len(long) && slices.Equal(short, long[:len(short)])
}

// Entry is the value at the path and where it begins.
func (f *File) Entry() (v any, at edit.Position, found bool) {
	if f.entry == nil {
		return nil, edit.Position{}, false
	}
	return f.entry, edit.At(f.src, f.at), true
}

// Missing is 0: a table needs no other table around it.
func (f *File) Missing() int { return 0 }

// Put writes the entry. In one that exists it changes and adds the members that
// are not Initial and keeps the others.
func (f *File) Put(entry edit.Object) ([]byte, error) {
	var changes []edit.Change
	var err error
	if f.entry != nil {
		changes, err = f.merge(f.path, entry)
	} else {
		changes, err = f.create(f.path, entry)
	}
	if err != nil {
		return nil, err
	}
	out := edit.Apply(f.src, changes)
	again, err := Open(out, edit.Keys(f.path...))
	if err != nil {
		return nil, fmt.Errorf("the edited file can't be read: %w", err)
	}
	if !holds(again.entry, entry) {
		return nil, fmt.Errorf("the edited file doesn't hold the entry")
	}
	return out, nil
}

func holds(got, want edit.Object) bool {
	for _, m := range want {
		v, ok := got.Get(m.Key)
		inner, isObject := m.Value.(edit.Object)
		switch of, _ := v.(edit.Object); {
		case m.Initial:
		case isObject && len(inner) == 0:
		case isObject && !holds(of, inner), !isObject && (!ok || !edit.Equal(v, m.Value)):
			return false
		}
	}
	return true
}

// find returns the statement with a full path, and the inline table around it.
func (f *File) find(path []string) *statement {
	for _, s := range f.sections {
		for _, st := range flatten(s) {
			if slices.Equal(st.path, path) {
				return &st
			}
		}
	}
	return nil
}

// merge changes and adds members of the table at path, which exists.
func (f *File) merge(path []string, want edit.Object) ([]edit.Change, error) {
	var changes []edit.Change
	var add edit.Object
	have, _ := f.below(path)
	for _, m := range want {
		if m.Initial {
			continue
		}
		v, ok := have.Get(m.Key)
		if !ok {
			add = append(add, m)
			continue
		}
		if edit.Equal(v, m.Value) {
			continue
		}
		at := append(slices.Clone(path), m.Key)
		if inner, isObject := m.Value.(edit.Object); isObject {
			if _, ok := v.(edit.Object); ok {
				more, err := f.merge(at, inner)
				if err != nil {
					return nil, err
				}
				changes = append(changes, more...)
				continue
			}
		}
		st := f.find(at)
		if st == nil {
			return nil, edit.Errorf(f.src, f.at, "%s is not a plain value", strings.Join(at, "."))
		}
		changes = append(changes, edit.Change{Start: st.value.start, End: st.value.end, Text: render(m.Value)})
	}
	if len(add) == 0 {
		return changes, nil
	}
	more, err := f.add(path, add)
	return append(changes, more...), err
}

// below is the part of the entry at path.
func (f *File) below(path []string) (edit.Object, bool) {
	o := f.entry
	for _, key := range path[len(f.path):] {
		v, _ := o.Get(key)
		inner, ok := v.(edit.Object)
		if !ok {
			return nil, false
		}
		o = inner
	}
	return o, true
}

// add puts members into the table at path, where most of it is.
func (f *File) add(path []string, add edit.Object) ([]edit.Change, error) {
	for _, s := range f.sections {
		if len(s.path) > 0 && !s.array && slices.Equal(s.path, path) {
			return []edit.Change{f.behind(s.last(), s.start, nil, add)}, nil
		}
	}
	if st := f.find(path); st != nil && st.value.inline != nil {
		return []edit.Change{st.value.inline.insert(add)}, nil
	}
	// Dotted keys: behind the last of them, with the same part before the key.
	for _, s := range slices.Backward(f.sections) {
		if s.array || !isPrefix(s.path, path) {
			continue
		}
		relative := path[len(s.path):]
		for _, st := range slices.Backward(s.statements) {
			if len(relative) > 0 && isPrefix(relative, st.path) {
				return []edit.Change{f.behind(st.value.end, st.start, relative, add)}, nil
			}
		}
	}
	return f.create(path, add)
}

// behind writes statements on the lines behind offset.
func (f *File) behind(offset, model int, prefix []string, add edit.Object) edit.Change {
	at := edit.LineEnd(f.src, offset)
	indent := edit.Indent(f.src, model)
	var b strings.Builder
	for _, m := range add {
		b.WriteString(f.eol + indent + key(append(slices.Clone(prefix), m.Key)) + " = " + render(m.Value))
	}
	return edit.Change{Start: at, End: at, Text: b.String()}
}

// insert puts members into an inline table.
func (t *inline) insert(add edit.Object) edit.Change {
	var parts []string
	for _, m := range add {
		parts = append(parts, key([]string{m.Key})+" = "+render(m.Value))
	}
	text := strings.Join(parts, ", ")
	if len(t.members) == 0 {
		return edit.Change{Start: t.open + 1, End: t.open + 1, Text: " " + text + " "}
	}
	at := t.members[len(t.members)-1].value.end
	return edit.Change{Start: at, End: at, Text: ", " + text}
}

// create writes a new table: into the inline table that must hold it, or as a
// section at the end of the file.
func (f *File) create(path []string, entry edit.Object) ([]edit.Change, error) {
	for i := len(path) - 1; i > 0; i-- {
		if st := f.find(path[:i]); st != nil && st.value.inline != nil {
			var v any = entry
			for j := len(path) - 1; j > i; j-- {
				v = edit.Object{{Key: path[j], Value: v}}
			}
			return []edit.Change{st.value.inline.insert(edit.Object{{Key: path[i], Value: v}})}, nil
		}
	}
	var b strings.Builder
	end := f.eol
	switch {
	case len(f.src) == 0 || bytes.Equal(f.src, edit.BOM):
	case f.src[len(f.src)-1] != '\n':
		b.WriteString(f.eol + f.eol)
		end = ""
	default:
		b.WriteString(f.eol)
	}
	b.WriteString("[" + key(path) + "]")
	for _, m := range entry {
		b.WriteString(f.eol + key([]string{m.Key}) + " = " + render(m.Value))
	}
	return []edit.Change{{Start: len(f.src), End: len(f.src), Text: b.String() + end}}, nil
}

func key(path []string) string {
	var parts []string
	for _, p := range path {
		if p == "" || strings.ContainsFunc(p, func(r rune) bool { return r > 0x7f || !bareKey(byte(r)) }) {
			p = edit.Quote(p)
		}
		parts = append(parts, p)
	}
	return strings.Join(parts, ".")
}

// render writes a value on one line.
func render(v any) string {
	switch v := v.(type) {
	case edit.Object:
		var parts []string
		for _, m := range v {
			parts = append(parts, key([]string{m.Key})+" = "+render(m.Value))
		}
		if len(parts) == 0 {
			return "{}"
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case edit.Array:
		var parts []string
		for _, item := range v {
			parts = append(parts, render(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	s, _ := edit.Scalar(v)
	return s
}
