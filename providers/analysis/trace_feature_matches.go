package analysis

import (
	"context"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/query"
)

// featureMatch is something whose text matches.
type featureMatch struct {
	kind  tool.TraceFeatureOutputMatchKind
	addr  model.Address
	raw   string
	value string          // raw, or the readable form of it
	more  []model.Address // further places of the same import
}

// foundMatches are all matches counted and the followed ones kept.
type foundMatches struct {
	total      int64
	followed   []featureMatch
	cutStrings int
	stubs      map[model.Address]bool // import stubs among the matches
}

// featureMatches searches strings, procedures and names. Every kind gets its
// share of the limit in turn, so that many strings do not hide the one function
// of that name; within a kind the order is by address.
func featureMatches(ctx context.Context, c *query.Call, m *query.Matcher, limit int) (*foundMatches, error) {
	found := &foundMatches{stubs: map[model.Address]bool{}}
	byKind := map[tool.TraceFeatureOutputMatchKind][]featureMatch{}
	imports := map[string]int{} // by raw name: where it stands among the matches of its kind
	add := func(kind tool.TraceFeatureOutputMatchKind, addr model.Address, raw string, readable *string) {
		if i, known := imports[raw]; known && kind == tool.TraceFeatureOutputMatchKindImport {
			if i < limit { // a second place of an import is no second match
				byKind[kind][i].more = append(byKind[kind][i].more, addr)
			}
			return
		}
		if kind == tool.TraceFeatureOutputMatchKindImport {
			imports[raw] = len(byKind[kind])
		}
		found.total++
		if len(byKind[kind]) < limit {
			byKind[kind] = append(byKind[kind], featureMatch{kind: kind, addr: addr, raw: raw, value: shown(raw, readable)})
		}
	}
	err := query.Each(ctx, c.Engine.Strings(ctx, query.MinString), func(s *model.StringItem) error {
		if s.ValueTruncated {
			found.cutStrings++
		}
		if m.Match(s.Value) {
			add(tool.TraceFeatureOutputMatchKindString, s.Address, s.Value, nil)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	procedures := map[model.Address]bool{} // those that match, so that their symbols are not counted again
	err = query.Each(ctx, c.Engine.Procedures(ctx), func(p *model.Procedure) error {
		if !p.Named || !m.Either(p.Name, p.Demangled) {
			return nil
		}
		procedures[p.Address] = true
		switch p.Kind {
		case model.ProcedureKindImportStub, model.ProcedureKindExternal:
			found.stubs[p.Address] = p.Kind == model.ProcedureKindImportStub
			add(tool.TraceFeatureOutputMatchKindImport, p.Address, p.Name, p.Demangled)
		default:
			add(tool.TraceFeatureOutputMatchKindProcedure, p.Address, p.Name, p.Demangled)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var last model.NameItem
	err = query.Each(ctx, query.AllNames(ctx, c.Engine, c.Notes), func(n *model.NameItem) error {
		if procedures[n.Address] || !m.Either(n.Name, n.Demangled) || n.Address == last.Address && n.Name == last.Name {
			return nil
		}
		last = *n
		kind := tool.TraceFeatureOutputMatchKindName
		switch n.Kind {
		case model.NameKindImport:
			kind = tool.TraceFeatureOutputMatchKindImport
		case model.NameKindExport:
			kind = tool.TraceFeatureOutputMatchKindExport
		}
		add(kind, n.Address, n.Name, n.Demangled)
		return nil
	})
	found.followed = inTurn(byKind, limit)
	return found, err
}

// shown is the readable name where there is one.
func shown(raw string, readable *string) string {
	if readable != nil {
		return *readable
	}
	return raw
}

// inTurn takes one match of each kind after the other, and gives them kind by kind.
func inTurn(byKind map[tool.TraceFeatureOutputMatchKind][]featureMatch, limit int) []featureMatch {
	kinds := []tool.TraceFeatureOutputMatchKind{
		tool.TraceFeatureOutputMatchKindString, tool.TraceFeatureOutputMatchKindProcedure, tool.TraceFeatureOutputMatchKindImport,
		tool.TraceFeatureOutputMatchKindExport, tool.TraceFeatureOutputMatchKindName,
	}
	take := make([]int, len(kinds))
	for left := limit; left > 0; {
		taken := false
		for i, k := range kinds {
			if left > 0 && take[i] < len(byKind[k]) {
				take[i]++
				left--
				taken = true
			}
		}
		if !taken {
			break
		}
	}
	var out []featureMatch
	for i, k := range kinds {
		out = append(out, byKind[k][:take[i]]...)
	}
	return out
}
