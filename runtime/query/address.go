package query

import (
	"context"
	"slices"
	"sort"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/engine"
)

// Mapping is the ranges that a target maps.
type Mapping struct{ ranges []model.AddressRange } // sorted, disjoint

// MappingOf reads the segments of eng.
func MappingOf(ctx context.Context, eng engine.Engine) (*Mapping, error) {
	segments, _, err := eng.Segments(ctx)
	if err != nil {
		return nil, err
	}
	ranges := make([]model.AddressRange, 0, len(segments))
	for _, s := range segments {
		if s.Start != s.End {
			ranges = append(ranges, model.AddressRange{Start: s.Start, End: s.End})
		}
	}
	slices.SortFunc(ranges, func(a, b model.AddressRange) int {
		switch {
		case a.Start < b.Start:
			return -1
		case a.Start > b.Start:
			return 1
		}
		return 0
	})
	return &Mapping{ranges: join(ranges)}, nil
}

// join merges ranges that touch or overlap. An End of 0 is the end of the address space.
func join(sorted []model.AddressRange) []model.AddressRange {
	out := sorted[:0]
	for _, r := range sorted {
		if n := len(out); n > 0 && (out[n-1].End == 0 || r.Start <= out[n-1].End) {
			out[n-1].End = later(out[n-1].End, r.End)
			continue
		}
		out = append(out, r)
	}
	return out
}

func later(a, b model.Address) model.Address {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}

// Has reports whether addr is mapped.
func (m *Mapping) Has(addr model.Address) bool {
	i := m.after(addr)
	return i > 0 && (addr < m.ranges[i-1].End || m.ranges[i-1].End == 0)
}

// after is the index of the first range that starts behind addr.
func (m *Mapping) after(addr model.Address) int {
	return sort.Search(len(m.ranges), func(i int) bool { return m.ranges[i].Start > addr })
}

// Check gives an address_not_mapped fault, with the mapped ranges before and
// after, unless addr is mapped.
func (m *Mapping) Check(addr model.Address) error {
	if m.Has(addr) {
		return nil
	}
	i := m.after(addr)
	nearest := slices.Clone(m.ranges[max(i-1, 0):min(i+1, len(m.ranges))])
	if nearest == nil {
		nearest = []model.AddressRange{}
	}
	return fault.AddressNotMapped(fault.AddressNotMappedDetails{Address: addr, Nearest: nearest}, nil)
}

// Mapped parses the address that a caller wrote and checks that it is mapped.
func Mapped(ctx context.Context, eng engine.Engine, written string) (model.Address, error) {
	addr, err := engine.ParseAddress(written)
	if err != nil {
		return 0, err
	}
	m, err := MappingOf(ctx, eng)
	if err != nil {
		return 0, err
	}
	return addr, m.Check(addr)
}
