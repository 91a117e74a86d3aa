package cpio

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"rea/providers/format/container"
)

// maxHeld bounds the bytes of names that wait for their content, or for more
// names of it.
const maxHeld = 32 << 20

// heldCost is what a name costs beside its bytes.
const heldCost = 512

// links joins the names of one inode. The new ASCII formats store a content of
// several names with one of them, by custom the last; the others are empty.
type links struct {
	groups  map[inode]*group
	used    int
	count   int
	crowded bool
}

type inode struct{ dev, ino int64 }

type group struct {
	seen   int64
	cost   int
	stored bool   // the content was met
	target string // its name
	held   []held
}

type held struct {
	at    int // among those held
	entry *container.Entry
}

// add gives the entries that can be told, now that e was met.
func (l *links) add(h *header, e *container.Entry) []*container.Entry {
	if !h.shares || h.nlink < 2 || e.Type != container.File {
		return []*container.Entry{e}
	}
	key := inode{h.dev, h.ino}
	g := l.groups[key]
	if !l.reserve(len(h.name)) {
		if h.size == 0 && (g == nil || !g.stored) {
			return []*container.Entry{unread(e, container.Bounded, "too many names wait for their content")}
		}
		if g == nil {
			return []*container.Entry{e}
		}
	} else {
		if g == nil {
			if l.groups == nil {
				l.groups = map[inode]*group{}
			}
			g = new(group)
			l.groups[key] = g
		}
		g.cost += heldCost + len(h.name)
	}
	g.seen++
	var out []*container.Entry
	switch {
	case h.size > 0:
		if g.stored {
			e.Notes = append(e.Notes, "the content stands with an earlier name of the inode too")
		} else {
			g.stored, g.target = true, h.name
		}
		out = append(out, e)
		for _, w := range g.held {
			out = append(out, link(w.entry, h.name))
		}
		g.held = nil
	case g.stored:
		out = append(out, link(e, g.target))
	default:
		g.held = append(g.held, held{l.count, e})
		l.count++
	}
	if g.seen >= h.nlink {
		for _, w := range g.held { // all are empty
			out = append(out, w.entry)
		}
		l.used -= g.cost
		delete(l.groups, key)
	}
	return out
}

// reserve makes room for a name. Once there was none there never is, so that no
// later name of a forgotten one is taken for empty.
func (l *links) reserve(n int) bool {
	if l.used+n+heldCost > maxHeld {
		l.crowded = true
	}
	if !l.crowded {
		l.used += n + heldCost
	}
	return !l.crowded
}

// rest are the names that wait at the end. In a whole archive they are empty;
// in one that was cut their content may be in what is not there.
func (l *links) rest(cut bool) []*container.Entry {
	var all []held
	for _, g := range l.groups {
		all = append(all, g.held...)
	}
	l.groups = nil
	slices.SortFunc(all, func(a, b held) int { return cmp.Compare(a.at, b.at) })
	var out []*container.Entry
	for _, w := range all {
		switch {
		case cut:
			unread(w.entry, container.Absent, "the content stands with a name that is not in the archive")
		default:
			w.entry.Notes = append(w.entry.Notes, "not all names of the inode are in the archive, and none of those has content")
		}
		out = append(out, w.entry)
	}
	return out
}

// link makes an entry one that leads to the name with the content.
func link(e *container.Entry, target string) *container.Entry {
	e.Type, e.Link, e.Method, e.Offset = container.Hardlink, target, "", container.Unknown
	e.Digests, e.Section, e.Open = nil, nil, nil
	return e
}

// unread makes an entry one whose content is not told.
func unread(e *container.Entry, kind container.Kind, what string) *container.Entry {
	e.Size, e.Packed, e.Offset = container.Unknown, container.Unknown, container.Unknown
	e.Digests, e.Section = nil, nil
	e.Notes = append(e.Notes, what)
	err := container.Errorf("cpio", kind, "%s: %s", what, fmt.Sprintf("%q", e.Path))
	e.Open = func() (io.ReadCloser, error) { return nil, err }
	return e
}
