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

func places(items []model.ArtifactOccurrence) ([]place, map[place]*model.ArtifactOccurrence) {
	seen := make(map[string]int, len(items))
	order := make([]place, len(items))
	at := make(map[place]*model.ArtifactOccurrence, len(items))
	for i := range items {
		o := &items[i]
		order[i] = place{o.Path, seen[o.Path]}
		seen[o.Path]++
		at[order[i]] = o
	}
	return order, at
}

// compareOccurrences gives a row for every place of either side: those of the
// left in its order, then those that only the right has.
func compareOccurrences(ctx context.Context, left, right *recorded) ([]model.ArtifactChange, error) {
	lOrder, l := places(left.result.Occurrences.Items)
	rOrder, r := places(right.result.Occurrences.Items)
	moved := movesBetween(lOrder, l, rOrder, r)
	rows := make([]model.ArtifactChange, 0, len(lOrder))
	for i, p := range lOrder {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a := l[p]
		switch b, to := r[p], moved.from[p]; {
		case b != nil:
			rows = append(rows, compareBoth(a, b))
		case to != nil:
			row := compareBoth(a, r[*to])
			row.Status = model.ArtifactChangeStatusMoved
			rows = append(rows, row)
		default:
			rows = append(rows, only(a, nil, right, "right"))
		}
	}
	for i, p := range rOrder {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if l[p] == nil && !moved.to[p] {
			rows = append(rows, only(nil, r[p], left, "left"))
		}
	}
	return rows, nil
}

// only is the row of an occurrence that one side lists. other is the record
// that does not list it.
func only(a, b *model.ArtifactOccurrence, other *recorded, name string) model.ArtifactChange {
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
		row.Status, row.Reason = model.ArtifactChangeStatusUnknown, optional("the "+name+" record is not complete: it may be there")
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
// as it came to, in order.
func movesBetween(lOrder []place, l map[place]*model.ArtifactOccurrence, rOrder []place, r map[place]*model.ArtifactOccurrence) moves {
	gone, come := map[string][]place{}, map[string][]place{}
	gather := func(order []place, here, there map[place]*model.ArtifactOccurrence, into map[string][]place) {
		for _, p := range order {
			if o := here[p]; there[p] == nil && !contradicts(o) && o.SHA256 != nil && o.Size != nil && *o.Size > 0 {
				into[*o.SHA256] = append(into[*o.SHA256], p)
			}
		}
	}
	gather(lOrder, l, r, gone)
	gather(rOrder, r, l, come)
	m := moves{map[place]*place{}, map[place]bool{}}
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
