package analysis

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

const (
	conciseUsers  = 3
	detailedUsers = 20
	maxOverview   = 500 // rows of the short tables when details are wanted
)

// BinaryOverview gives the first look. Detailed adds all libraries, segments
// and entry points, whatever the limit, and more users of each string.
func (h *Handlers) BinaryOverview(ctx context.Context, in *tool.BinaryOverviewInput) (*tool.Finding[tool.BinaryOverviewOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	summary, err := c.Engine.Summary(ctx)
	if err != nil {
		return nil, err
	}
	o := &overview{call: c, rows: int(in.Limit), short: int(in.Limit), users: conciseUsers}
	if in.Detail == tool.BinaryOverviewInputDetailDetailed {
		o.short, o.users = maxOverview, detailedUsers
	}
	out := tool.BinaryOverviewOutput{
		Document:    c.Document,
		Target:      targetFacts(c.Target, &summary.Target),
		Counts:      counts(summary),
		Detail:      tool.BinaryOverviewOutputDetail(in.Detail),
		Notes:       summary.Notes,
		Mitigations: summary.Mitigations,
		Libraries:   first(o, summary.Libraries, o.short, "libraries"),
		EntryPoints: first(o, summary.EntryPoints, o.short, "entry_points"),
		Imports:     o.imports(summary.ImportUses),
		Exports:     first(o, summary.ExportedNames, o.rows, "exports"),
	}
	if out.Segments, err = o.segments(ctx); err != nil {
		return nil, err
	}
	var skipped string
	err = together(2, func(i int) (err error) {
		if i == 0 {
			out.Strings, err = o.strings(ctx, summary.Strings)
		} else {
			out.LargestProcedures, out.MostCalled, skipped, err = o.procedures(ctx)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if skipped != "" {
		o.limits = append(o.limits, skipped)
	}
	if text := query.Unresolved(summary.Unresolved, "call edges"); text != "" {
		o.limits = append(o.limits, text)
	}
	f := &tool.Finding[tool.BinaryOverviewOutput]{Result: out, Limitations: append(o.limits, summary.Notes...)}
	for _, s := range out.EntryPoints[:min(len(out.EntryPoints), 16)] {
		f.Locations = append(f.Locations, query.At(s.Address)...)
	}
	return f, nil
}

func targetFacts(t *engine.Target, facts *engine.TargetFacts) tool.BinaryOverviewOutputTarget {
	return tool.BinaryOverviewOutputTarget{
		SHA256: t.SHA256, Size: int64(len(t.Data)), Format: t.Format, Architecture: t.Architecture, Kind: string(t.Kind),
		OS: orNone(facts.OS), Entry: facts.Entry, Stripped: facts.Stripped, Compiler: facts.Compiler, BuildID: orNone(facts.BuildID),
	}
}

func counts(s *engine.Summary) tool.BinaryOverviewOutputCounts {
	return tool.BinaryOverviewOutputCounts{
		Procedures:          int64(s.Procedures),
		NamedProcedures:     int64(s.Named),
		Imports:             int64(s.Imports),
		Exports:             int64(s.Exports),
		Libraries:           int64(len(s.Libraries)),
		Strings:             int64(s.Strings),
		Segments:            int64(s.Segments),
		Sections:            int64(s.Sections),
		BasicBlocks:         int64(s.BasicBlocks),
		Instructions:        int64(s.Instructions),
		CodeBytes:           s.CodeBytes,
		CallEdges:           int64(s.CallEdges),
		UnresolvedTransfers: int64(s.Unresolved),
		References:          int64(s.References),
	}
}

type overview struct {
	call   *query.Call
	rows   int // of long lists
	short  int // of lists that are short in most binaries
	users  int // named with a string
	limits []string
}

// first takes the first n rows of a list and notes how many there are.
func first[T any](o *overview, rows []T, n int, name string) []T {
	if len(rows) > n {
		o.limits = append(o.limits, fmt.Sprintf("%s: %d of %d are given", name, n, len(rows)))
		return rows[:n]
	}
	return rows
}

// imports gives the most used ones.
func (o *overview) imports(uses []engine.ImportUse) []tool.BinaryOverviewOutputImport {
	top := newTop(o.rows, func(a, b *engine.ImportUse) int {
		return cmp.Or(cmp.Compare(b.Uses, a.Uses), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Address, b.Address))
	})
	for _, u := range uses {
		top.add(u)
	}
	var out []tool.BinaryOverviewOutputImport
	for _, u := range top.sorted() {
		out = append(out, tool.BinaryOverviewOutputImport{Name: u.Name, Library: u.Library, Uses: int64(u.Uses)})
	}
	if n := len(uses); n > len(out) {
		o.limits = append(o.limits, fmt.Sprintf("imports: the %d most used of %d are given", len(out), n))
	}
	return out
}

func (o *overview) segments(ctx context.Context) ([]model.SegmentSummary, error) {
	segments, _, err := o.call.Engine.Segments(ctx)
	if err != nil {
		return nil, err
	}
	var out []model.SegmentSummary
	for _, s := range first(o, segments, o.short, "segments") {
		out = append(out, model.SegmentSummary{Name: s.Name, Start: s.Start, End: s.End, Permissions: permissions(&s)})
	}
	return out, nil
}

func permissions(s *model.Segment) string {
	p := []byte("---")
	if s.Readable {
		p[0] = 'r'
	}
	if s.Writable {
		p[1] = 'w'
	}
	if s.Executable {
		p[2] = 'x'
	}
	return string(p)
}

type calledProcedure struct {
	procedure model.Procedure
	callers   int
}

// procedures finds the largest procedures and those with most callers.
func (o *overview) procedures(ctx context.Context) (_ []model.Procedure, _ []tool.BinaryOverviewOutputMostCalledItem, skipped string, _ error) {
	if index, ok := o.call.Engine.(query.MeasureIndex); ok {
		largest, most, err := o.measuredProcedures(ctx, index)
		return largest, most, "", err
	}
	return o.walkedProcedures(ctx)
}

// measuredProcedures makes rows of those only that are shown.
func (o *overview) measuredProcedures(ctx context.Context, index query.MeasureIndex) ([]model.Procedure, []tool.BinaryOverviewOutputMostCalledItem, error) {
	measures, err := index.Measures(ctx)
	if err != nil {
		return nil, nil, err
	}
	// rows are in the order of addresses
	largest := newTop(o.rows, func(a, b *int) int {
		return cmp.Or(cmp.Compare(measures[*b].Size, measures[*a].Size), cmp.Compare(*a, *b))
	})
	called := newTop(o.rows, func(a, b *int) int {
		return cmp.Or(cmp.Compare(measures[*b].Callers, measures[*a].Callers), cmp.Compare(*a, *b))
	})
	for i := range measures {
		if measures[i].Kind == model.ProcedureKindFunction {
			largest.add(i)
		}
		if measures[i].Callers > 0 {
			called.add(i)
		}
	}
	row := func(i int) (p model.Procedure, err error) {
		rows, _, err := index.ProceduresFrom(ctx, i)
		if err != nil {
			return p, err
		}
		err = query.Each(ctx, rows, func(first *model.Procedure) error {
			p = *first
			return query.ErrStop
		})
		return p, err
	}
	var big []model.Procedure
	for _, i := range largest.sorted() {
		p, err := row(i)
		if err != nil {
			return nil, nil, err
		}
		big = append(big, p)
	}
	var most []tool.BinaryOverviewOutputMostCalledItem
	for _, i := range called.sorted() {
		p, err := row(i)
		if err != nil {
			return nil, nil, err
		}
		most = append(most, tool.BinaryOverviewOutputMostCalledItem{Procedure: query.Ref(&p), Callers: int64(measures[i].Callers)})
	}
	return big, most, nil
}

// walkedProcedures looks for them in one walk over all procedures.
func (o *overview) walkedProcedures(ctx context.Context) (_ []model.Procedure, _ []tool.BinaryOverviewOutputMostCalledItem, skipped string, _ error) {
	largest := newTop(o.rows, func(a, b *model.Procedure) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.Address, b.Address))
	})
	called := newTop(o.rows, func(a, b *calledProcedure) int {
		return cmp.Or(cmp.Compare(b.callers, a.callers), cmp.Compare(a.procedure.Address, b.procedure.Address))
	})
	counter := callerCounter{eng: o.call.Engine}
	err := query.Each(ctx, o.call.Engine.Procedures(ctx), func(p *model.Procedure) error {
		if p.Kind == model.ProcedureKindFunction {
			largest.add(*p)
		}
		n, err := counter.count(ctx, p.Address)
		if n > 0 {
			called.add(calledProcedure{*p, n})
		}
		return err
	})
	if err != nil {
		return nil, nil, "", err
	}
	var most []tool.BinaryOverviewOutputMostCalledItem
	for _, c := range called.sorted() {
		most = append(most, tool.BinaryOverviewOutputMostCalledItem{Procedure: query.Ref(&c.procedure), Callers: int64(c.callers)})
	}
	if counter.skipped > 0 {
		skipped = fmt.Sprintf("most_called: callers of %d procedures were not counted", counter.skipped)
	}
	return largest.sorted(), most, skipped, nil
}

// maxCallerBodies bounds the bodies that are read to count callers, with
// engines that have no [query.CallerIndex].
const maxCallerBodies = 20_000

type callerCounter struct {
	eng     engine.Engine
	read    int
	skipped int
}

func (c *callerCounter) count(ctx context.Context, entry model.Address) (int, error) {
	if index, ok := c.eng.(query.CallerIndex); ok {
		return index.CallerCount(ctx, entry)
	}
	if c.read == maxCallerBodies {
		c.skipped++
		return 0, nil
	}
	c.read++
	b, err := c.eng.Body(ctx, entry, engine.Callers)
	if err != nil {
		return 0, err
	}
	return len(b.Callers), nil
}

// stringsPiece is how many strings are judged at a time, by engines whose lists
// can begin anywhere.
const stringsPiece = 1 << 14

// strings gives the ones that say most about a program, each text once; total is
// how many there are at most.
func (o *overview) strings(ctx context.Context, total int) ([]tool.BinaryOverviewOutputString, error) {
	index, ok := o.call.Engine.(query.RowIndex)
	pieces := 1
	if ok {
		pieces = max(1, (total+stringsPiece-1)/stringsPiece)
	}
	tops := make([]*top[notable], pieces)
	err := together(pieces, func(i int) error {
		tops[i] = newTop(o.rows, compareNotable)
		rows, left := o.call.Engine.Strings(ctx, query.MinString), -1
		if ok {
			rows, left = index.StringsFrom(ctx, query.MinString, i*stringsPiece), stringsPiece
		}
		return query.Each(ctx, rows, func(s *model.StringItem) error {
			if left == 0 {
				return query.ErrStop
			}
			left--
			addNotable(tops[i], notable{*s, worth(s)})
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	best := tops[0]
	for _, t := range tops[1:] {
		for _, n := range t.rows {
			addNotable(best, n)
		}
	}
	var out []tool.BinaryOverviewOutputString
	for _, n := range best.sorted() {
		users, _, err := query.Users(ctx, o.call.Engine, n.item.Address, o.users)
		if err != nil {
			return nil, err
		}
		out = append(out, tool.BinaryOverviewOutputString{Address: n.item.Address, Value: n.item.Value, Users: users})
	}
	return out, nil
}

func compareNotable(a, b *notable) int {
	return cmp.Or(cmp.Compare(b.worth, a.worth), cmp.Compare(b.item.Uses, a.item.Uses), cmp.Compare(a.item.Address, b.item.Address))
}

// addNotable adds n, or leaves it out in favour of a better one with its text.
func addNotable(t *top[notable], n notable) {
	if !t.wants(&n) {
		return
	}
	if i := slices.IndexFunc(t.rows, func(x notable) bool { return x.item.Value == n.item.Value }); i >= 0 {
		if compareNotable(&t.rows[i], &n) < 0 {
			return
		}
		t.rows = slices.Delete(t.rows, i, i+1)
	}
	t.add(n)
}

// top keeps the best rows of a stream.
type top[T any] struct {
	rows    []T // sorted, at most size
	size    int
	compare func(a, b *T) int // a total order, best first
}

func newTop[T any](size int, compare func(a, b *T) int) *top[T] { return &top[T]{nil, size, compare} }

// wants reports whether add would keep the row.
func (t *top[T]) wants(row *T) bool {
	return len(t.rows) < t.size || t.compare(row, &t.rows[len(t.rows)-1]) < 0
}

func (t *top[T]) add(row T) {
	if !t.wants(&row) {
		return
	}
	i, _ := slices.BinarySearchFunc(t.rows, row, func(a, b T) int { return t.compare(&a, &b) })
	t.rows = slices.Insert(t.rows, i, row)
	t.rows = t.rows[:min(len(t.rows), t.size)]
}

func (t *top[T]) sorted() []T { return t.rows }
