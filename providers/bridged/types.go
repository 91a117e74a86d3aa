package bridged

import (
	"context"
	"slices"
	"strings"

	"rea/generated/model"
	"rea/runtime/bridge/facts"
)

// typeNames are the names of all data types, sorted.
func (e *Engine) typeNames(ctx context.Context) ([]string, error) {
	if !e.states(model.EngineCapabilityDataTypes) {
		return nil, e.lacks(model.EngineCapabilityDataTypes)
	}
	return keep(ctx, e, &e.types, func(ctx context.Context) ([]string, error) {
		names, err := list[string](ctx, e, facts.TypeNames)
		slices.Sort(names)
		return slices.Compact(names), err
	})
}

// matching are the first names that contain pattern.
func matching(names []string, pattern string, most int) []string {
	out := []string{}
	for _, name := range names {
		if len(out) == most {
			break
		}
		if strings.Contains(name, pattern) {
			out = append(out, name)
		}
	}
	return out
}
