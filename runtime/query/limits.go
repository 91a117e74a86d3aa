package query

import (
	"rea/generated/model"
	"rea/runtime/engine"
)

// facets in the order in which an answer speaks of them.
var facets = []struct {
	facet engine.Facet
	name  string
}{
	{engine.Ranges, "ranges are"},
	{engine.Blocks, "basic blocks are"},
	{engine.Instructions, "instructions are"},
	{engine.Callees, "callees are"},
	{engine.Callers, "callers are"},
	{engine.Outgoing, "outgoing references are"},
	{engine.Incoming, "incoming references are"},
	{engine.UsedStrings, "strings are"},
	{engine.UsedNames, "names are"},
	{engine.Targets, "call targets are"},
	{engine.Locals, "locals and signature are"},
	{engine.Pseudocode, "pseudocode is"},
	{engine.API, "calling interface is"},
}

// Gaps names the facets that were wanted and are missing, with the reason; then
// come the limitations that the engine states. Facets in local are left out:
// the result itself says why they are unavailable.
func Gaps(b *engine.Body, local engine.Facet) []string {
	var out []string
	for _, f := range facets {
		if gap, missing := b.Missing[f.facet]; missing && f.facet&local == 0 {
			out = append(out, f.name+" unknown: "+gap.Reason)
		}
	}
	return append(out, b.Limitations...)
}

// Unresolved states that computed transfers may hide more of what; "" when there are none.
func Unresolved(n int, what string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 computed transfer has no known target; there may be more " + what
	}
	return Count(n, "computed transfer") + " have no known target; there may be more " + what
}

// maxRanges bounds the locations of one procedure.
const maxRanges = 64

// At is the location of one address.
func At(addr model.Address) []model.EvidenceLocation {
	return []model.EvidenceLocation{&model.EvidenceLocationAddress{Address: addr}}
}

// In is the location of ranges: the first ones, where there are very many.
func In(ranges []model.AddressRange) []model.EvidenceLocation {
	out := make([]model.EvidenceLocation, 0, min(len(ranges), maxRanges))
	for _, r := range ranges[:min(len(ranges), maxRanges)] {
		out = append(out, &model.EvidenceLocationAddressRange{Start: r.Start, End: r.End})
	}
	return out
}
