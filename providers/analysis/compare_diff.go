package analysis

import (
	"fmt"
	"slices"

	"rea/generated/tool"
)

// inNeither is the reason of a dimension that both records lack.
const inNeither = "neither record has it"

// compareFacts compares one dimension.
func compareFacts(l, r *facts) (tool.CompareFunctionsOutputDimension, []tool.CompareFunctionsOutputChange) {
	d := tool.CompareFunctionsOutputDimension{Dimension: l.dimension}
	because := func(format string, args ...any) {
		reason := fmt.Sprintf(format, args...)
		d.Reason = &reason
	}
	switch {
	case l.absent != "" && r.absent != "":
		d.Status = tool.CompareFunctionsOutputDimensionStatusUnknown
		because(inNeither)
		return d, nil
	case l.absent != "":
		d.Status = tool.CompareFunctionsOutputDimensionStatusUnknown
		because("only the right record has it; left: %s", l.absent)
		return d, nil
	case r.absent != "":
		d.Status = tool.CompareFunctionsOutputDimensionStatusUnknown
		because("only the left record has it; right: %s", r.absent)
		return d, nil
	case (!l.whole || !r.whole) && l.total != r.total:
		// Pages of lists that differ in length show different parts of them, so
		// that rows cannot be compared; the lengths can.
		d.Status = tool.CompareFunctionsOutputDimensionStatusChanged
		d.Added, d.Removed = max(r.total-l.total, 0), max(l.total-r.total, 0)
		because("%d on the left, %d on the right; not all of it is in the records", l.total, r.total)
		return d, nil
	case !l.whole || !r.whole:
		d.Status = tool.CompareFunctionsOutputDimensionStatusTruncated
		because("the records hold a part of it only")
		return d, nil
	}
	rows, note := differences(l, r)
	for _, row := range rows {
		switch row.Change {
		case tool.CompareFunctionsOutputChangeChangeAdded:
			d.Added++
		case tool.CompareFunctionsOutputChangeChangeRemoved:
			d.Removed++
		default:
			d.Added++
			d.Removed++
		}
	}
	switch {
	case len(rows) > 0 || note != "":
		d.Status = tool.CompareFunctionsOutputDimensionStatusChanged
		if note != "" {
			because("%s", note)
		}
	case l.anonymous > 0:
		d.Status = tool.CompareFunctionsOutputDimensionStatusUnknown
		because("without a name on each side, and compared by number only: %d", l.anonymous)
	default:
		d.Status = tool.CompareFunctionsOutputDimensionStatusUnchanged
	}
	return d, rows
}

// differences lists what changed; note is set where rows alone do not tell.
func differences(l, r *facts) (rows []tool.CompareFunctionsOutputChange, note string) {
	if l.one && r.one {
		if l.items[0] == r.items[0] {
			return nil, ""
		}
		return []tool.CompareFunctionsOutputChange{{
			Dimension: l.dimension, Change: tool.CompareFunctionsOutputChangeChangeChanged, Left: &l.items[0], Right: &r.items[0],
		}}, ""
	}
	if l.ordered {
		if slices.Equal(l.items, r.items) {
			return nil, ""
		}
		if edits, ok := shortestEdit(l.items, r.items); ok {
			return changeRows(l.dimension, edits), ""
		}
		note = "too much differs to line it up; lines are compared regardless of order"
	}
	rows = changeRows(l.dimension, bagDifference(l.items, r.items))
	if len(rows) == 0 && note == "" && !slices.Equal(l.exact, r.exact) {
		note = "the same parts are joined differently"
	}
	return rows, note
}

// An edit takes a text away or adds one.
type edit struct {
	added bool
	text  string
}

func changeRows(dimension string, edits []edit) []tool.CompareFunctionsOutputChange {
	var out []tool.CompareFunctionsOutputChange
	for i := range edits {
		row := tool.CompareFunctionsOutputChange{Dimension: dimension, Change: tool.CompareFunctionsOutputChangeChangeRemoved, Left: &edits[i].text}
		if edits[i].added {
			row.Change, row.Left, row.Right = tool.CompareFunctionsOutputChangeChangeAdded, nil, &edits[i].text
		}
		out = append(out, row)
	}
	return out
}

// bagDifference compares regardless of order: what is missing on the right, in
// order of the left, then what is new on the right, in its order.
func bagDifference(l, r []string) []edit {
	count := map[string]int{}
	for _, s := range r {
		count[s]++
	}
	var out []edit
	for _, s := range l {
		if count[s]--; count[s] < 0 {
			out = append(out, edit{false, s})
		}
	}
	// What is left over was not on the left; the last ones of each are the new ones.
	var added []edit
	for _, s := range slices.Backward(r) {
		if count[s] > 0 {
			count[s]--
			added = append(added, edit{true, s})
		}
	}
	slices.Reverse(added)
	return append(out, added...)
}

// maxEdits bounds the edit distance that is searched: time and memory grow with
// its square.
const maxEdits = 500

// shortestEdit is Myers' greedy difference algorithm. It gives up beyond maxEdits.
func shortestEdit(l, r []string) ([]edit, bool) {
	start := 0
	for start < len(l) && start < len(r) && l[start] == r[start] {
		start++
	}
	l, r = l[start:], r[start:]
	for len(l) > 0 && len(r) > 0 && l[len(l)-1] == r[len(r)-1] {
		l, r = l[:len(l)-1], r[:len(r)-1]
	}
	limit := min(len(l)+len(r), maxEdits)
	v := make([]int32, 2*limit+3) // furthest x on diagonal k, at k+limit+1
	var trace [][]int32
	for d := 0; d <= limit; d++ {
		trace = append(trace, slices.Clone(v[limit+1-d:limit+2+d]))
		for k := -d; k <= d; k += 2 {
			at := k + limit + 1
			x := v[at-1] + 1
			if k == -d || k != d && v[at-1] < v[at+1] {
				x = v[at+1]
			}
			for int(x) < len(l) && int(x)-k < len(r) && l[x] == r[int(x)-k] {
				x++
			}
			v[at] = x
			if int(x) >= len(l) && int(x)-k >= len(r) {
				return backtrack(l, r, trace), true
			}
		}
	}
	return nil, false
}

// backtrack walks the recorded diagonals from the end; trace[d] holds those of
// −d…d as they were before step d.
func backtrack(l, r []string, trace [][]int32) []edit {
	var out []edit
	x, y := len(l), len(r)
	for d := len(trace) - 1; d > 0; d-- {
		k := x - y
		furthest := func(k int) int {
			if k < -d || k > d {
				return -1
			}
			return int(trace[d][k+d])
		}
		down := k == -d || k != d && furthest(k-1) < furthest(k+1)
		if down {
			x = furthest(k + 1)
			y = x - (k + 1)
			out = append(out, edit{true, r[y]})
		} else {
			x = furthest(k - 1)
			y = x - (k - 1)
			out = append(out, edit{false, l[x]})
		}
	}
	slices.Reverse(out)
	return out
}
