package session

import (
	"iter"
	"maps"
	"slices"
	"sync"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/query"
)

// MaxAnnotations is how many names, comments and bookmarks a target may have.
const MaxAnnotations = 100_000

// Notes are what the analyst has said about one target. All methods may be
// called concurrently; an engine may ask for names while it analyses.
type Notes struct {
	mu        sync.RWMutex
	notes     map[query.NoteKind]map[model.Address]string
	addresses map[string]model.Address // by analyst name; the lowest where several share it
	count     int
	cursor    model.Address
	moved     bool
	edits     int
	limit     int
}

var _ query.Notes = (*Notes)(nil)

func newNotes() *Notes {
	return &Notes{
		notes: map[query.NoteKind]map[model.Address]string{
			query.NameNote: {}, query.CommentNote: {}, query.InlineNote: {}, query.BookmarkNote: {},
		},
		addresses: map[string]model.Address{},
		limit:     MaxAnnotations,
	}
}

func (n *Notes) get(kind query.NoteKind, addr model.Address) (string, bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	text, ok := n.notes[kind][addr]
	return text, ok
}

// NameAt is the analyst's name of addr.
func (n *Notes) NameAt(addr model.Address) (string, bool) { return n.get(query.NameNote, addr) }

// Comment is the comment at addr.
func (n *Notes) Comment(addr model.Address) (string, bool) { return n.get(query.CommentNote, addr) }

// InlineComment is the inline comment at addr.
func (n *Notes) InlineComment(addr model.Address) (string, bool) {
	return n.get(query.InlineNote, addr)
}

// Bookmark is the name of the bookmark at addr.
func (n *Notes) Bookmark(addr model.Address) (string, bool) { return n.get(query.BookmarkNote, addr) }

// Names counts the analyst's names.
func (n *Notes) Names() int {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return len(n.notes[query.NameNote])
}

// AddressOf finds an analyst name.
func (n *Notes) AddressOf(name string) (model.Address, bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	addr, ok := n.addresses[name]
	return addr, ok
}

// sorted are the addresses that have a note of the kind, and the notes.
func (n *Notes) sorted(kind query.NoteKind) ([]model.Address, map[model.Address]string) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	byAddr := maps.Clone(n.notes[kind])
	return slices.Sorted(maps.Keys(byAddr)), byAddr
}

// AllNames yields the analyst's names in address order, as they were when it began.
func (n *Notes) AllNames() iter.Seq2[model.Address, string] {
	return func(yield func(model.Address, string) bool) {
		addrs, names := n.sorted(query.NameNote)
		for _, addr := range addrs {
			if !yield(addr, names[addr]) {
				return
			}
		}
	}
}

// Bookmarks lists bookmarks by address.
func (n *Notes) Bookmarks() []model.Bookmark {
	addrs, names := n.sorted(query.BookmarkNote)
	out := make([]model.Bookmark, len(addrs))
	for i, addr := range addrs {
		out[i] = model.Bookmark{Address: addr, Name: names[addr]}
	}
	return out
}

// Comments lists comments of both kinds inside [start, end), by address. An end
// of 0 is the end of the address space.
func (n *Notes) Comments(start, end model.Address) []model.CommentItem {
	var out []model.CommentItem
	for _, kind := range []struct {
		note query.NoteKind
		item model.CommentItemKind
	}{
		{query.CommentNote, model.CommentItemKindComment},
		{query.InlineNote, model.CommentItemKindInline},
	} {
		addrs, texts := n.sorted(kind.note)
		for _, addr := range addrs {
			if addr >= start && (addr < end || end == 0) {
				out = append(out, model.CommentItem{Address: addr, Kind: kind.item, Text: texts[addr]})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b model.CommentItem) int {
		switch {
		case a.Address < b.Address:
			return -1
		case a.Address > b.Address:
			return 1
		}
		return 0
	})
	return out
}

// Cursor is where the analyst looks; false until it was moved.
func (n *Notes) Cursor() (model.Address, bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.cursor, n.moved
}

// SetCursor moves the cursor.
func (n *Notes) SetCursor(addr model.Address) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cursor, n.moved = addr, true
}

// Apply makes all the changes or none, and tells what was there before each.
func (n *Notes) Apply(changes []query.Change) ([]*string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	grown := n.count
	seen := map[query.Change]bool{}
	for _, c := range changes {
		key := query.Change{Address: c.Address, Kind: c.Kind}
		_, had := n.notes[c.Kind][c.Address]
		if c.Value != nil && !had && !seen[key] {
			seen[key] = true
			grown++
		}
	}
	if grown > n.limit {
		return nil, fault.AnnotationLimit(fault.AnnotationLimitDetails{Limit: int64(n.limit)}, nil)
	}
	before := make([]*string, len(changes))
	for i, c := range changes {
		before[i] = n.set(c)
	}
	n.edits++
	return before, nil
}

// set makes one change; the caller holds the lock.
func (n *Notes) set(c query.Change) *string {
	notes := n.notes[c.Kind]
	if notes == nil {
		notes = map[model.Address]string{}
		n.notes[c.Kind] = notes
	}
	old, had := notes[c.Address]
	if c.Kind == query.NameNote && had {
		n.unname(old, c.Address)
	}
	switch {
	case c.Value == nil:
		delete(notes, c.Address)
		if had {
			n.count--
		}
	default:
		notes[c.Address] = *c.Value
		if !had {
			n.count++
		}
		if c.Kind == query.NameNote {
			if known, ok := n.addresses[*c.Value]; !ok || c.Address < known {
				n.addresses[*c.Value] = c.Address
			}
		}
	}
	if !had {
		return nil
	}
	return &old
}

// unname forgets that name means addr; another address may still have it.
func (n *Notes) unname(name string, addr model.Address) {
	if n.addresses[name] != addr {
		return
	}
	delete(n.addresses, name)
	for other, text := range n.notes[query.NameNote] {
		if known, ok := n.addresses[name]; text == name && other != addr && (!ok || other < known) {
			n.addresses[name] = other
		}
	}
}

// Count is the number of names, comments and bookmarks.
func (n *Notes) Count() int {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.count
}

// Edits counts the changes that were applied.
func (n *Notes) Edits() int {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.edits
}
