package yaml

import (
	"bytes"
	"fmt"
	"strings"

	"rea/cmd/setup/config/edit"
)

// File is a parsed file and an entry in it.
type File struct {
	src  []byte
	path edit.Path
	root *node // nil when the file holds nothing
	// chain are the collections on the path that exist, the root first. owners
	// are the pairs that hold them; nil for the root and for items.
	chain  []*node
	owners []*pair
	entry  *node
	place  int // of the entry in the last of chain
	eol    string
	indent int // of mappings within mappings
	end    int // of the document
}

// Open reads a file to edit the entry at path. It fails with a *[edit.Error].
func Open(src []byte, path edit.Path) (*File, error) {
	f := &File{src: src, path: path, eol: edit.EOL(src), indent: 2}
	var err error
	if f.root, f.end, err = parse(src); err != nil || f.root == nil {
		return f, err
	}
	if found := indentOf(f.root); found > 0 {
		f.indent = found
	}
	return f, f.walk()
}

func (f *File) walk() error {
	at := f.root
	var owner *pair
	for i := 0; ; i++ {
		if i == len(f.path) {
			f.entry = at
			return nil
		}
		name := "the file"
		if i > 0 {
			name = f.path[:i].String()
		}
		want, what := mapping, "mapping"
		if f.path[i].Item {
			want, what = sequence, "list"
		}
		if at.kind == null || at.kind == scalar && at.data == nil && !at.block {
			if i == 0 {
				return edit.Errorf(f.src, at.start, "%s is not a %s", name, what)
			}
			f.chain, f.owners = append(f.chain, at), append(f.owners, owner)
			return nil
		}
		if at.kind != want {
			return edit.Errorf(f.src, at.start, "%s is not a %s", name, what)
		}
		f.chain, f.owners = append(f.chain, at), append(f.owners, owner)
		if f.place = f.index(at, f.path[i]); f.place < 0 {
			return nil
		}
		if want == mapping {
			owner = &at.pairs[f.place]
			at = owner.value
		} else {
			owner, at = nil, at.items[f.place].value
		}
	}
}

func (f *File) index(n *node, s edit.Step) int {
	if !s.Item {
		for i := range n.pairs {
			if n.pairs[i].key == s.Key {
				return i
			}
		}
		return -1
	}
	for i := range n.items {
		o, _ := decode(f.src, n.items[i].value).(edit.Object)
		if name, ok := o.Get("name"); ok && name == s.Key {
			return i
		}
	}
	return -1
}

// Entry is the value at the path and where it begins.
func (f *File) Entry() (v any, at edit.Position, found bool) {
	if f.entry == nil {
		return nil, edit.Position{}, false
	}
	return decode(f.src, f.entry), edit.At(f.src, f.entry.start), true
}

// Missing counts the collections on the path that Put would have to make.
func (f *File) Missing() int { return len(f.path) - len(f.chain) }

// Put writes the entry, with the collections around it that are missing. In an
// entry that exists it changes and adds the members that are not Initial and
// keeps the others.
func (f *File) Put(entry edit.Object) ([]byte, error) {
	var changes []edit.Change
	switch {
	case f.entry != nil && f.entry.kind == mapping:
		changes = f.merge(f.entry, entry)
	case f.entry != nil:
		return nil, edit.Errorf(f.src, f.entry.start, "%s is not a mapping", f.path)
	default:
		changes = f.create(entry)
	}
	if len(changes) == 0 {
		return f.src, nil
	}
	out := edit.Apply(f.src, changes)
	again, err := Open(out, f.path)
	if err != nil {
		return nil, fmt.Errorf("the edited file can't be read: %w", err)
	}
	v, _, _ := again.Entry()
	if got, ok := v.(edit.Object); !ok || !holds(got, entry) {
		return nil, fmt.Errorf("the edited file doesn't hold the entry")
	}
	return out, f.same(again)
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

// same checks that two files differ in nothing but the entry.
func (f *File) same(g *File) error {
	if a, b := f.outline(), g.outline(); a != b {
		return fmt.Errorf("%s can't be edited without changing something else", f.path)
	}
	return nil
}

// outline writes everything but the entry in one form.
func (f *File) outline() string {
	var b strings.Builder
	var walk func(n *node, step int)
	walk = func(n *node, step int) {
		switch n.kind {
		case mapping:
			for i := range n.pairs {
				p := &n.pairs[i]
				on := step >= 0 && step < len(f.path) && !f.path[step].Item && f.path[step].Key == p.key
				if on && step == len(f.path)-1 {
					continue
				}
				next, mark := -1, b.Len()
				if on {
					next = step + 1
				}
				fmt.Fprintf(&b, "%q: ", p.key)
				inner := b.Len()
				walk(p.value, next)
				if on && b.Len() == inner {
					text := b.String()[:mark]
					b.Reset()
					b.WriteString(text)
				}
			}
		case sequence:
			for i := range n.items {
				if step >= 0 && step == len(f.path)-1 && f.path[step].Item && f.index(&node{items: n.items[i : i+1]}, f.path[step]) == 0 {
					continue
				}
				b.WriteString("- ")
				walk(n.items[i].value, -1)
			}
		default:
			if step >= 0 && n.data == nil && !n.block {
				return
			}
			end := n.end
			fmt.Fprintf(&b, "%q\n", bytes.TrimRight(f.src[n.start:end], "\r"))
			return
		}
		if step < 0 {
			fmt.Fprintf(&b, "end %d\n", n.kind)
		}
	}
	if f.root != nil {
		walk(f.root, 0)
	}
	return b.String()
}
