package rtti

import "slices"

// mostParts bounds the places of one class in objects of another.
const mostParts = 64

// parts are the places of a class in the objects of another one.
type parts struct {
	offsets []int64
	any     bool // also where only the object tells, as for virtual bases
}

// TablesOf are the virtual tables that an object may have where a pointer to
// class points: its own ones, and those of classes derived from it. ok is false
// when no class, or more than one, has the name.
func (h *Hierarchy) TablesOf(class string) (tables []*Table, ok bool) {
	var of uint64
	for i := range h.Classes {
		if h.Classes[i].Name == class {
			if ok {
				return nil, false
			}
			of, ok = h.Classes[i].TypeInfo, true
		}
	}
	if !ok {
		return nil, false
	}
	at := make(map[uint64]int, len(h.Classes))
	for i := range h.Classes {
		at[h.Classes[i].TypeInfo] = i
	}
	known := map[uint64]*parts{of: {offsets: []int64{0}}}
	var within func(typeInfo uint64) *parts
	within = func(typeInfo uint64) *parts {
		if p := known[typeInfo]; p != nil {
			return p
		}
		p := &parts{}
		known[typeInfo] = p // a class that derives from itself ends here
		i, has := at[typeInfo]
		if !has {
			return p
		}
		for _, b := range h.Classes[i].Bases {
			q := within(b.TypeInfo)
			p.any = p.any || q.any || b.Virtual && len(q.offsets) > 0
			if b.Virtual {
				continue
			}
			for _, off := range q.offsets {
				if off += b.Offset; !slices.Contains(p.offsets, off) {
					p.offsets = append(p.offsets, off)
				}
			}
		}
		p.any = p.any || len(p.offsets) > mostParts
		return p
	}
	for i := range h.Classes {
		p := within(h.Classes[i].TypeInfo)
		for k := range h.Classes[i].Tables {
			if t := &h.Classes[i].Tables[k]; p.any || slices.Contains(p.offsets, t.Offset) {
				tables = append(tables, t)
			}
		}
	}
	return tables, true
}

// At are the functions that the tables have at an offset, sorted.
func At(tables []*Table, offset, word uint64) []uint64 {
	var out []uint64
	for _, t := range tables {
		if n := offset / word; offset%word == 0 && n < uint64(len(t.Methods)) && t.Methods[n].Target != 0 {
			out = append(out, t.Methods[n].Target)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
