package toml

import (
	"fmt"
	"slices"

	"rea/cmd/setup/config/edit"
)

// Remove takes the entry out: its sections, dotted keys and inline tables.
func (f *File) Remove(int) ([]byte, error) {
	var changes []edit.Change
	for _, s := range f.sections {
		if len(s.path) > 0 && isPrefix(f.path, s.path) {
			changes = append(changes, f.cutLines(s.start, s.last()))
			continue
		}
		if s.array {
			continue
		}
		changes = append(changes, f.cutStatements(s.path, s.statements)...)
	}
	out := edit.Apply(f.src, f.join(changes))
	again, err := Open(out, edit.Keys(f.path...))
	if err != nil {
		return nil, fmt.Errorf("the edited file can't be read: %w", err)
	}
	if again.entry != nil {
		return nil, fmt.Errorf("the entry can't be removed")
	}
	return out, nil
}

// cutLines removes whole lines, and the empty line before a header.
func (f *File) cutLines(first, last int) edit.Change {
	start, end := edit.LineStart(f.src, first), edit.NextLine(f.src, last)
	if f.src[first] == '[' {
		if before := edit.PreviousEnd(f.src, start); before < start {
			if line := edit.LineStart(f.src, before); line == before && line > 0 {
				start = line
			}
		}
	}
	if end == len(f.src) && (end == 0 || f.src[end-1] != '\n') {
		start = edit.PreviousEnd(f.src, start)
	}
	return edit.Change{Start: start, End: end}
}

// cutStatements removes the statements of one table that belong to the entry.
func (f *File) cutStatements(base []string, list []statement) []edit.Change {
	var changes []edit.Change
	for _, st := range list {
		full := append(slices.Clone(base), st.path...)
		switch {
		case isPrefix(f.path, full):
			changes = append(changes, f.cutLines(st.start, st.value.end))
		case st.value.inline != nil && isPrefix(full, f.path):
			changes = append(changes, f.cutMembers(full, st.value.inline)...)
		}
	}
	return changes
}

// cutMembers removes the members of an inline table that belong to the entry,
// each with one comma.
func (f *File) cutMembers(base []string, t *inline) []edit.Change {
	var changes []edit.Change
	left := 0 // members before, which stay
	for i, st := range t.members {
		full := append(slices.Clone(base), st.path...)
		if !isPrefix(f.path, full) {
			left++
			if st.value.inline != nil && isPrefix(full, f.path) {
				changes = append(changes, f.cutMembers(full, st.value.inline)...)
			}
			continue
		}
		switch {
		case len(t.members) == 1:
			changes = append(changes, edit.Change{Start: t.open + 1, End: t.close})
		case left > 0:
			changes = append(changes, edit.Change{Start: t.members[i-1].value.end, End: st.value.end})
		case i+1 < len(t.members):
			changes = append(changes, edit.Change{Start: st.start, End: t.members[i+1].start})
		default:
			changes = append(changes, edit.Change{Start: st.start, End: t.close})
		}
	}
	return changes
}

// join merges changes that touch.
func (f *File) join(changes []edit.Change) []edit.Change {
	slices.SortStableFunc(changes, func(a, b edit.Change) int { return a.Start - b.Start })
	var out []edit.Change
	for _, c := range changes {
		if n := len(out); n > 0 && c.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, c.End)
			continue
		}
		out = append(out, c)
	}
	return out
}
