package program

import (
	"slices"

	"rea/providers/format/object"
)

// Global symbols without a type, in executable sections: assembly written by hand
// has them at its functions, at its data and at places inside functions alike.
// They only add to what decoding says, where nothing has led.

// addLabels makes functions of what global symbols without a type name, where no
// function has it and it decodes as one.
func (r *recovery) addLabels() (bool, error) {
	if r.labelled == nil {
		r.labelled = []uint32{}
		for i := range r.im.Symbols {
			s := &r.im.Symbols[i]
			if !s.Defined || !s.Global || s.Kind != object.SymLabel {
				continue
			}
			o := r.sp.off(s.Addr)
			if in := r.sectionAt(s.Addr); o == none || in != nil && in.Name != s.Section { // an end that linkers mark
				continue
			}
			r.labelled = append(r.labelled, o)
		}
		slices.Sort(r.labelled)
		r.labelled = slices.Compact(r.labelled)
	}
	if len(r.labelled) == 0 {
		return false, nil
	}
	taken := r.borrow() // judged before, as functions that are pointed to
	defer r.giveBack(taken)
	for _, p := range r.taken {
		taken.set(p.to)
	}
	owned := r.ownedBytes()
	var fresh []uint32
	hi := uint32(0) // of what the ones before reach
	for _, o := range r.labelled {
		if o < hi || r.starts.has(o) || r.covered.has(o) || owned.has(o) || taken.has(o) || r.rejected[o] || r.d.data != nil && r.d.data.has(o) {
			continue
		}
		p := r.probeAt(o, owned)
		if !p.ok || p.insts < 2 || p.zeroes || p.inner != nil || !p.returns && !p.leaves && !p.long && !p.traps {
			r.rejected[o] = true
			continue
		}
		if r.add(o, BySymbol, 0) {
			fresh = append(fresh, o)
			hi = slices.Max(p.seen) + 1
		}
	}
	if len(fresh) == 0 {
		return false, nil
	}
	r.settle(fresh)
	return true, r.d.run(r.ctx, r.workers, fresh)
}
