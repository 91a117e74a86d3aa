package jsonc

import (
	"bytes"
	"fmt"

	"rea/cmd/setup/config/edit"
)

// File is a parsed file and an entry in it.
type File struct {
	src  []byte
	path edit.Path
	// root is nil in a file without any value.
	root *value
	// chain are the objects on the path that exist, the root first.
	chain []*object
	entry *value // nil when there is none
	eol   string
	unit  string // of indentation
	dense bool   // no line breaks, no spaces

	comment, comma *Extension
}

// An Extension is something that JSON itself doesn't have.
type Extension struct {
	Offset int
	What   string
}

// Beyond is the first Extension of the file, nil for none; with comments, they
// don't count.
func (f *File) Beyond(comments bool) *Extension {
	switch {
	case comments || f.comment == nil, f.comma != nil && f.comma.Offset < f.comment.Offset:
		return f.comma
	}
	return f.comment
}

// Open reads a file to edit the entry at path. It fails with a *[edit.Error].
func Open(src []byte, path edit.Path) (*File, error) {
	begin, err := edit.Begin(src)
	if err != nil {
		return nil, err
	}
	p := &parser{src: src, at: begin, path: path}
	f := &File{src: src, path: path, eol: edit.EOL(src), unit: "  "}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.at == len(src) {
		return f, nil
	}
	root, err := p.value(0, 0)
	if err != nil {
		return nil, err
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.at < len(src) {
		return nil, p.failf(p.at, "%s behind the end of the value", p.seen())
	}
	f.root = &root
	f.comment, f.comma = p.comment, p.comma
	if err := f.walk(); err != nil {
		return nil, err
	}
	f.style()
	return f, nil
}

// walk follows the path as far as it exists.
func (f *File) walk() error {
	at := f.root
	for i := 0; ; i++ {
		if i == len(f.path) {
			f.entry = at
			return nil
		}
		if at.object == nil {
			name := "the file"
			if i > 0 {
				name = f.path[:i].String()
			}
			return edit.Errorf(f.src, at.start, "%s is not an object", name)
		}
		f.chain = append(f.chain, at.object)
		j := at.object.last(f.path[i].Key)
		if j < 0 {
			return nil
		}
		at = &at.object.members[j].value
	}
}

func (f *File) style() {
	o := f.root.object
	if o == nil {
		return
	}
	f.dense = len(o.members) > 0 && !bytes.ContainsAny(f.src[o.open:o.close], "\n") &&
		!bytes.Contains(f.src[o.open:o.members[0].value.start], []byte(" "))
	for _, m := range o.members[:min(len(o.members), 16)] {
		if indent := edit.Indent(f.src, m.start); edit.OnlySpace(f.src[edit.LineStart(f.src, m.start):m.start]) && indent != "" {
			f.unit = indent
			return
		}
	}
}

// Entry is the value at the path and where its key begins.
func (f *File) Entry() (v any, at edit.Position, found bool) {
	if f.entry == nil {
		return nil, edit.Position{}, false
	}
	return decode(f.src, *f.entry), edit.At(f.src, f.entry.start), true
}

// Missing counts the mappings on the path, the root among them, that Put would
// have to make.
func (f *File) Missing() int { return len(f.path) - len(f.chain) }

// Put writes the entry, with the mappings around it that are missing. In an
// entry that exists it changes and adds the members that are not Initial and
// keeps the others.
func (f *File) Put(entry edit.Object) ([]byte, error) {
	var changes []edit.Change
	switch {
	case f.entry != nil && f.entry.object != nil:
		changes = f.merge(f.entry.object, entry)
	case f.entry != nil:
		return nil, edit.Errorf(f.src, f.entry.start, "%s is not an object", f.path)
	default:
		missing := f.path[max(len(f.chain)-1, 0):]
		var v any = entry
		for i := len(missing) - 1; i > 0; i-- {
			v = edit.Object{{Key: missing[i].Key, Value: v}}
		}
		if f.root == nil {
			v = edit.Object{{Key: f.path[0].Key, Value: v}}
			text := f.render(v, "")
			if n := len(f.src); n > 0 && f.src[n-1] != '\n' && !bytes.Equal(f.src, edit.BOM) {
				text = f.eol + text
			}
			changes = []edit.Change{{Start: len(f.src), End: len(f.src), Text: text + f.eol}}
			break
		}
		changes = f.insert(f.chain[len(f.chain)-1], edit.Object{{Key: missing[0].Key, Value: v}})
	}
	out := edit.Apply(f.src, changes)
	return out, f.verify(out, entry)
}

// verify reads what was written.
func (f *File) verify(out []byte, entry edit.Object) error {
	again, err := Open(out, f.path)
	if err != nil {
		return fmt.Errorf("the edited file can't be read: %w", err)
	}
	v, _, found := again.Entry()
	got, ok := v.(edit.Object)
	if !found || !ok || !holds(got, entry) {
		return fmt.Errorf("the edited file doesn't hold the entry")
	}
	return nil
}

// holds tells whether got has the members of want that are not Initial.
func holds(got, want edit.Object) bool {
	for _, m := range want {
		if m.Initial {
			continue
		}
		v, ok := got.Get(m.Key)
		if !ok {
			return false
		}
		if inner, isObject := m.Value.(edit.Object); isObject {
			of, ok := v.(edit.Object)
			if !ok || !holds(of, inner) {
				return false
			}
			continue
		}
		if !edit.Equal(v, m.Value) {
			return false
		}
	}
	return true
}

// merge changes and adds members of an object that exists.
func (f *File) merge(o *object, want edit.Object) []edit.Change {
	var changes []edit.Change
	var add edit.Object
	for _, m := range want {
		if m.Initial {
			continue
		}
		i := o.last(m.Key)
		if i < 0 {
			add = append(add, m)
			continue
		}
		v := o.members[i].value
		inner, isObject := m.Value.(edit.Object)
		switch {
		case isObject && v.object != nil:
			changes = append(changes, f.merge(v.object, inner)...)
		case !edit.Equal(decode(f.src, v), m.Value):
			changes = append(changes, edit.Change{Start: v.start, End: v.end, Text: f.render(m.Value, edit.Indent(f.src, v.start))})
		}
	}
	if len(add) > 0 {
		changes = append(changes, f.insert(o, add)...)
	}
	return changes
}
