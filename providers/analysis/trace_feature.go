package analysis

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/query"
)

const (
	maxMatchReferences = 20   // references listed with one match
	maxPointers        = 20   // pointers to one match whose users are read
	maxTraced          = 500  // procedures in the result
	maxCallerVisits    = 5000 // procedures whose callers are read
)

// TraceFeature goes from a word to the code behind it: matches in strings,
// procedures, imports, exports and other names; the procedures that refer to
// them, also through a pointer in data; and their callers, level by level. A
// procedure scores one for every match from which it was reached.
func (h *Handlers) TraceFeature(ctx context.Context, in *tool.TraceFeatureInput) (*tool.Finding[tool.TraceFeatureOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	matcher, err := query.Pattern(in.Query, in.Mode, in.CaseSensitive)
	if err != nil {
		return nil, err
	}
	found, err := featureMatches(ctx, c, matcher, int(in.Limit))
	if err != nil {
		return nil, err
	}
	t := &featureTrace{graph: callGraph{eng: c.Engine, backward: true}, reached: map[model.Address]*traced{}}
	f := &tool.Finding[tool.TraceFeatureOutput]{Result: tool.TraceFeatureOutput{
		Query: in.Query, MatchesTotal: found.total, ResidualUnknowns: []string{},
	}}
	for i, m := range found.followed {
		row, err := t.follow(ctx, i, m, found.stubs)
		if err != nil {
			return nil, err
		}
		f.Result.Matches = append(f.Result.Matches, row)
		f.Locations = append(f.Locations, query.At(m.addr)...)
	}
	if err := t.climb(ctx, int(in.CallerDepth)); err != nil {
		return nil, err
	}
	f.Result.Procedures = t.ranked()
	f.Result.ResidualUnknowns, err = t.unknowns(ctx, found)
	if err != nil {
		return nil, err
	}
	f.Limitations = t.limitations(found, in)
	f.Result.Truncated = len(f.Limitations) > 0
	return f, nil
}

// traced is a procedure that was reached.
type traced struct {
	ref      model.SymbolRef
	from     matchSet
	distance int
	fresh    matchSet // reached since its callers were read last
}

// matchSet is a set of followed matches; the contract allows 200.
type matchSet [4]uint64

func (s matchSet) size() (n int64) {
	for _, w := range s {
		n += int64(bits.OnesCount64(w))
	}
	return n
}

func (s *matchSet) add(i int) { s[i/64] |= 1 << (i % 64) }

// merge adds o and gives what was new.
func (s *matchSet) merge(o matchSet) (fresh matchSet, any bool) {
	for i := range s {
		fresh[i] = o[i] &^ s[i]
		s[i] |= o[i]
		any = any || fresh[i] != 0
	}
	return fresh, any
}

type featureTrace struct {
	graph    callGraph
	reached  map[model.Address]*traced
	frontier []model.Address // procedures with something fresh, in the order they were met
	visits   int
	unused   int // matches that nothing refers to
	dataOnly int // matches that only data refers to, and no code to that
	stopped  bool
	dropped  int // references not listed
}

// follow reads what refers to a match.
func (t *featureTrace) follow(ctx context.Context, index int, m featureMatch, stubs map[model.Address]bool) (tool.TraceFeatureOutputMatch, error) {
	places := append([]model.Address{m.addr}, m.more...)
	refs, _, err := usesOf(ctx, t.graph.eng, places, func(a model.Address) bool { return stubs[a] })
	if err != nil {
		return tool.TraceFeatureOutputMatch{}, err
	}
	var set matchSet
	set.add(index)
	isProcedure := m.kind == tool.TraceFeatureOutputMatchKindProcedure
	if isProcedure {
		t.reach(model.SymbolRef{Address: m.addr, Name: &m.raw}, set, 0)
	}
	code := isProcedure
	var pointers []model.Address
	for _, r := range refs {
		switch {
		case r.FromProcedure == nil:
			pointers = append(pointers, r.From)
		case isProcedure && isCall(r.Kind): // a caller, a level further up
		default:
			code = true
			t.reach(*r.FromProcedure, set, 0)
		}
	}
	through, err := t.throughPointers(ctx, pointers, set)
	if err != nil {
		return tool.TraceFeatureOutputMatch{}, err
	}
	switch {
	case code || through:
	case len(refs) == 0:
		t.unused++
	default:
		t.dataOnly++
	}
	listed := refs[:min(len(refs), maxMatchReferences)]
	t.dropped += len(refs) - len(listed)
	return tool.TraceFeatureOutputMatch{
		Kind: m.kind, Address: m.addr, Value: m.value, References: listed, ReferencesTotal: int64(len(refs)),
	}, nil
}

// throughPointers reaches the procedures that refer to pointers in data, and
// tells whether there are any.
func (t *featureTrace) throughPointers(ctx context.Context, pointers []model.Address, set matchSet) (bool, error) {
	found := false
	for _, at := range pointers[:min(len(pointers), maxPointers)] {
		users, _, err := query.Users(ctx, t.graph.eng, at, maxMatchReferences)
		if err != nil {
			return false, err
		}
		for _, u := range users {
			found = true
			t.reach(u, set, 1)
		}
	}
	if n := len(pointers) - maxPointers; n > 0 {
		t.dropped += n
	}
	return found, nil
}

func isCall(k model.ReferenceKind) bool {
	return k == model.ReferenceKindCall || k == model.ReferenceKindTailCall
}

func (t *featureTrace) reach(ref model.SymbolRef, set matchSet, distance int) {
	p := t.reached[ref.Address]
	if p == nil {
		p = &traced{ref: ref, distance: distance}
		t.reached[ref.Address] = p
	}
	fresh, any := p.from.merge(set)
	if !any {
		return
	}
	if p.fresh == (matchSet{}) {
		t.frontier = append(t.frontier, ref.Address)
	}
	p.fresh.merge(fresh)
}

// climb adds levels of callers. A procedure is visited again only when it was
// reached from a match that its callers have not seen.
func (t *featureTrace) climb(ctx context.Context, levels int) error {
	for range levels {
		// What this level adds belongs to the next one.
		level := t.frontier
		t.frontier = nil
		sets := make([]matchSet, len(level))
		for i, addr := range level {
			p := t.reached[addr]
			sets[i], p.fresh = p.fresh, matchSet{}
		}
		for i, addr := range level {
			if err := ctx.Err(); err != nil {
				return err
			}
			if t.visits == maxCallerVisits {
				t.stopped = true
				return nil
			}
			t.visits++
			calls, _, err := t.graph.edges(ctx, &model.Procedure{Address: addr})
			if err != nil {
				return err
			}
			for j := range calls {
				t.reach(query.Ref(&calls[j].Procedure), sets[i], t.reached[addr].distance+1)
			}
		}
	}
	return nil
}

// ranked lists the procedures with the highest scores, nearer ones first among equals.
func (t *featureTrace) ranked() []tool.TraceFeatureOutputProcedure {
	out := make([]tool.TraceFeatureOutputProcedure, 0, len(t.reached))
	for _, p := range t.reached {
		out = append(out, tool.TraceFeatureOutputProcedure{Procedure: p.ref, Score: p.from.size(), Distance: int64(p.distance)})
	}
	slices.SortFunc(out, func(a, b tool.TraceFeatureOutputProcedure) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.Procedure.Address, b.Procedure.Address))
	})
	return out[:min(len(out), maxTraced)]
}

func (t *featureTrace) unknowns(ctx context.Context, found *foundMatches) ([]string, error) {
	out := []string{}
	if t.unused > 0 {
		out = append(out, fmt.Sprintf("matches that nothing refers to, as far as analysis saw: %d; code may reach them through computed addresses", t.unused))
	}
	if t.dataOnly > 0 {
		out = append(out, fmt.Sprintf("matches that only data refers to: %d; code may reach them through a table that this data is part of", t.dataOnly))
	}
	if found.cutStrings > 0 {
		out = append(out, fmt.Sprintf("strings longer than what the engine keeps of one: %d; the rest of them was not searched", found.cutStrings))
	}
	hidden, err := t.graph.hidden(ctx, 0)
	return append(out, hidden...), err
}

func (t *featureTrace) limitations(found *foundMatches, in *tool.TraceFeatureInput) []string {
	var out []string
	if n := found.total - int64(len(found.followed)); n > 0 {
		out = append(out, fmt.Sprintf("limit: %d of %d matches were followed", len(found.followed), found.total))
	}
	if t.dropped > 0 {
		out = append(out, query.Count(t.dropped, "reference")+" counted but not listed or followed")
	}
	if n := len(t.reached); n > maxTraced {
		out = append(out, fmt.Sprintf("%d of %d procedures are listed, those with the highest scores", maxTraced, n))
	}
	if t.stopped {
		out = append(out, fmt.Sprintf("callers: the search stopped after %d procedures, before caller_depth %d was reached", maxCallerVisits, in.CallerDepth))
	}
	return out
}
