package artifacts

import (
	"context"
	"strings"

	"rea/generated/model"
)

// place names an occurrence: archives may hold one path several times, which
// are told apart by their order.
type place struct {
	path string
	nth  int
}

// side is what one record says of its places.
type side struct {
	*recorded
	name  string
	order []place
	at    map[place]*model.ArtifactOccurrence
	times map[string]int // that a path is listed
	// unlisted are contradictions of occurrences that are on another page.
	unlisted map[*model.ArtifactOccurrence]bool
}

func newSide(name string, r *recorded) *side {
	items := r.result.Occurrences.Items
	s := &side{
		recorded: r, name: name, order: make([]place, 0, len(items)), at: make(map[place]*model.ArtifactOccurrence, len(items)), times: make(map[string]int, len(items)),
		unlisted: map[*model.ArtifactOccurrence]bool{},
	}
	add := func(o *model.ArtifactOccurrence) {
		p := place{o.Path, s.times[o.Path]}
		s.times[o.Path]++
		s.order, s.at[p] = append(s.order, p), o
	}
	told := map[string]bool{}
	for i := range items {
		add(&items[i])
		told[items[i].Path] = told[items[i].Path] || contradicts(&items[i])
	}
	for _, c := range r.result.IntegrityContradictions {
		if !told[c.Path] {
			told[c.Path] = true
			o := &model.ArtifactOccurrence{Path: c.Path, Container: c.Container, Type: c.Type, SHA256: c.ObservedSHA256, HashStatus: model.ArtifactHashStatusMismatched}
			s.unlisted[o] = true
			add(o)
		}
	}
	return s
}

// compareOccurrences gives a row for every place of either side: those of the
// left in its order, then those that only the right has.
func compareOccurrences(ctx context.Context, left, right *recorded) ([]model.ArtifactChange, error) {
	l, r := newSide("left", left), newSide("right", right)
	moved := movesBetween(l, r)
	rows := make([]model.ArtifactChange, 0, len(l.order))
	for i, p := range l.order {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a := l.at[p]
		switch b, to := r.at[p], moved.from[p]; {
		case b != nil:
			rows = append(rows, both(l, r, a, b))
		case to != nil:
			row := compareBoth(a, r.at[*to])
			row.Status = model.ArtifactChangeStatusMoved
			rows = append(rows, row)
		default:
			rows = append(rows, only(a, nil, r))
		}
	}
	for i, p := range r.order {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if l.at[p] == nil && !moved.to[p] {
			rows = append(rows, only(nil, r.at[p], l))
		}
	}
	return rows, nil
}

// both compares what stands at one place of both sides. Where a path is there
// several times and not all of them are listed, it is not known which of them
// belong together.
func both(l, r *side, a, b *model.ArtifactOccurrence) model.ArtifactChange {
	row := compareBoth(a, b)
	if l.unlisted[a] || r.unlisted[b] {
		row.Facts = []string{}
	}
	if row.Status == model.ArtifactChangeStatusChanged && (l.times[a.Path] > 1 || r.times[a.Path] > 1) && !(l.complete() && r.complete()) {
		row.Status, row.Reason = model.ArtifactChangeStatusUnknown, optional("the path is there several times, and a record does not list everything")
	}
	return row
}

// only is the row of an occurrence that one side lists. other is the record
// that does not list it.
func only(a, b *model.ArtifactOccurrence, other *side) model.ArtifactChange {
	row := model.ArtifactChange{Status: model.ArtifactChangeStatusRemoved, Facts: []string{}}
	here := a
	if a != nil {
		row.LeftPath, row.LeftSHA256 = &a.Path, a.SHA256
	} else {
		here = b
		row.Status = model.ArtifactChangeStatusAdded
		row.RightPath, row.RightSHA256 = &b.Path, b.SHA256
	}
	switch {
	case contradicts(here):
		row.Status, row.Reason = model.ArtifactChangeStatusContradiction, optional(contradictory)
	case !other.complete():
		row.Status, row.Reason = model.ArtifactChangeStatusUnknown, optional("the "+other.name+" record is not complete: it may be there")
	}
	return row
}

const contradictory = "the content contradicts what its container declares"

func contradicts(o *model.ArtifactOccurrence) bool {
	return o.HashStatus == model.ArtifactHashStatusMismatched
}

// compareBoth compares two occurrences fact by fact.
func compareBoth(a, b *model.ArtifactOccurrence) model.ArtifactChange {
	row := model.ArtifactChange{
		Status: model.ArtifactChangeStatusUnchanged, LeftPath: &a.Path, RightPath: &b.Path, Facts: []string{}, LeftSHA256: a.SHA256, RightSHA256: b.SHA256,
	}
	unread := unknownContent(a) || unknownContent(b)
	for _, fact := range []struct {
		name   string
		differ bool
	}{
		{"type", a.Type != b.Type},
		{"content", !unread && !same(a.SHA256, b.SHA256)},
		{"size", !same(a.Size, b.Size)},
		{"mode", !same(a.Mode, b.Mode)},
		{"link", !same(a.Link, b.Link)},
		{"format", !unread && !same(a.Format, b.Format)},
		{"method", !same(a.Method, b.Method)},
		{"role", !unread && !same(a.Role, b.Role)},
		{"encrypted", a.Encrypted != b.Encrypted},
		{"unpacked", a.Unpacked != b.Unpacked},
	} {
		if fact.differ {
			row.Facts = append(row.Facts, fact.name)
		}
	}
	switch {
	case contradicts(a) || contradicts(b):
		row.Status, row.Reason = model.ArtifactChangeStatusContradiction, optional(contradictory)
	case len(row.Facts) > 0:
		row.Status = model.ArtifactChangeStatusChanged
	case unread:
		row.Status, row.Reason = model.ArtifactChangeStatusUnknown, optional("the content was not read on "+unreadSides(a, b))
	}
	return row
}

func unknownContent(o *model.ArtifactOccurrence) bool {
	return o.HashStatus == model.ArtifactHashStatusNotHashed || o.HashStatus == model.ArtifactHashStatusUnreadable
}

func unreadSides(a, b *model.ArtifactOccurrence) string {
	var sides []string
	if unknownContent(a) {
		sides = append(sides, "the left")
	}
	if unknownContent(b) {
		sides = append(sides, "the right")
	}
	return strings.Join(sides, " and ")
}

func same[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// moves pairs contents that left one place and came to another.
type moves struct {
	from map[place]*place
	to   map[place]bool
}

// movesBetween pairs only what is certain: a content that left as many places
// as it came to, in order, where both records list everything.
func movesBetween(l, r *side) moves {
	m := moves{map[place]*place{}, map[place]bool{}}
	if !l.complete() || !r.complete() {
		return m
	}
	gone, come := map[string][]place{}, map[string][]place{}
	gather := func(here, there *side, into map[string][]place) {
		for _, p := range here.order {
			if o := here.at[p]; there.at[p] == nil && !contradicts(o) && o.SHA256 != nil && o.Size != nil && *o.Size > 0 {
				into[*o.SHA256] = append(into[*o.SHA256], p)
			}
		}
	}
	gather(l, r, gone)
	gather(r, l, come)
	for sum, from := range gone {
		to := come[sum]
		if len(to) != len(from) {
			continue
		}
		for i := range from {
			m.from[from[i]] = &to[i]
			m.to[to[i]] = true
		}
	}
	return m
}
