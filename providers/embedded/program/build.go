package program

import (
	"cmp"
	"slices"

	"rea/providers/embedded/isa"
)

// The last stage turns recovery state into the flat, immutable Program.

// output is what a shard of functions contributes, one function after the other.
type output struct {
	ranges     []Range
	refs       []Ref
	calls      []Call
	unresolved []Unresolved
	blocks     []Block
	edges      []Edge
	insns      int
	parts      []outputEnd // by function: where its lists end
}

// outputEnd is the lengths of an output's lists.
type outputEnd struct{ ranges, refs, calls, unresolved, blocks, edges int }

func (o *output) end() outputEnd {
	return outputEnd{len(o.ranges), len(o.refs), len(o.calls), len(o.unresolved), len(o.blocks), len(o.edges)}
}

// take returns what o holds, in lists of just that size, and empties o.
func (o *output) take() output {
	out := output{slices.Clone(o.ranges), slices.Clone(o.refs), slices.Clone(o.calls), slices.Clone(o.unresolved), slices.Clone(o.blocks), slices.Clone(o.edges), o.insns, slices.Clone(o.parts)}
	*o = output{o.ranges[:0], o.refs[:0], o.calls[:0], o.unresolved[:0], o.blocks[:0], o.edges[:0], 0, o.parts[:0]}
	return out
}

func (e outputEnd) plus(x outputEnd) outputEnd {
	return outputEnd{e.ranges + x.ranges, e.refs + x.refs, e.calls + x.calls, e.unresolved + x.unresolved, e.blocks + x.blocks, e.edges + x.edges}
}

func (r *recovery) build() (*Program, error) {
	p := &Program{Image: r.im, sp: r.sp, starts: newBitset(r.sp.size + regionGuard)}
	for i := range r.sp.regions {
		p.CodeBytes += uint64(len(r.sp.regions[i].data))
	}
	r.walkers, r.finders, r.callers = nil, nil, callerIndex{} // make room
	r.dedupe()
	outs := make([]output, r.shards(len(r.funcs)))
	r.progress("references", 0, len(r.funcs))
	err := r.eachShard(len(r.funcs), func(w, k, lo, hi int) {
		s := &r.scanners[w]
		for i := lo; i < hi; i++ {
			r.finish(p, s, uint32(i), &s.out)
		}
		outs[k] = s.out.take()
	})
	if err != nil {
		return nil, err
	}
	r.scanners = nil
	if err := r.assemble(p, outs); err != nil {
		return nil, err
	}
	r.progress("data", 0, 0)
	var broke [2]error
	err = together(r.workers, func() {
		if broke[0] = r.gatherRefs(p, outs); broke[0] == nil {
			broke[0] = r.findStrings(p, p.orderByTarget(r.workers))
		}
	}, func() {
		r.collectNames(p)
		r.nameFunctions(p)
		if broke[1] = r.findGaps(p); broke[1] == nil {
			p.index(r.workers)
		}
	})
	if err := cmp.Or(err, broke[0], broke[1]); err != nil {
		return nil, err
	}
	p.Notes = append(p.Notes, r.notes...)
	r.progress("done", len(p.Functions), len(p.Functions))
	return p, r.ctx.Err()
}

// dedupe leaves every block to one function: of several that reach it, the
// one whose entry is next below it.
func (r *recovery) dedupe() {
	seen, dup, twice := r.borrow(), r.borrow(), false
	defer r.giveBack(seen)
	defer r.giveBack(dup)
	for _, f := range r.funcs {
		for i := range f.blocks {
			if o := f.blocks[i].start; seen.has(o) {
				dup.set(o)
				twice = true
			} else {
				seen.set(o)
			}
		}
	}
	if !twice {
		return
	}
	owner := map[uint32]uint32{}
	for _, f := range r.funcs {
		for i := range f.blocks {
			o := f.blocks[i].start
			if !dup.has(o) {
				continue
			}
			old, ok := owner[o]
			if !ok || f.entry <= o && (old > o || f.entry > old) {
				owner[o] = f.entry
			}
		}
	}
	for _, f := range r.funcs {
		kept := f.blocks[:0]
		for _, b := range f.blocks {
			if !dup.has(b.start) || owner[b.start] == f.entry {
				kept = append(kept, b)
			}
		}
		f.blocks = kept
	}
}

// importSlots maps the pointers the loader fills to imports.
func (r *recovery) importSlots() map[uint64]int32 {
	m := make(map[uint64]int32, len(r.im.Imports))
	for i, im := range r.im.Imports {
		if im.Slot != 0 {
			m[im.Slot] = int32(i)
		}
	}
	return m
}

// finish computes what does not depend on other functions' results.
func (r *recovery) finish(p *Program, s *refScanner, fx uint32, o *output) {
	f := r.funcs[fx]
	s.refs, s.sites, s.insns = s.refs[:0], s.sites[:0], 0
	r.scan(s, f, false)
	o.insns += s.insns
	was := o.end()
	r.finishRefs(s, f, o)
	for _, c := range f.calls {
		t := c.target
		call := Call{From: r.sp.addr(c.off), Kind: DirectCall, Import: -1}
		if t != none {
			call.To = r.sp.addr(t)
			call.Import = r.stubImport(call.To)
			if r.alts[t] {
				o.unresolved = append(o.unresolved, Unresolved{call.From, UnresolvedAltCall})
			}
		} else {
			call.Import = r.stubImport(r.farTarget(c.off))
		}
		o.calls = append(o.calls, call)
	}
	r.finishExits(f, o)
	r.finishSites(s, f, o)
	s.ranges = r.rangesOf(s.ranges[:0], f)
	for _, g := range s.ranges {
		o.ranges = append(o.ranges, r.rangeOf(g.lo, g.hi))
		r.markInstructions(p, g)
		r.markGoPadding(p, f.entry, g.hi)
	}
	r.emitBlocks(o, &s.emitting, p.starts, f, fx)
	slices.SortFunc(o.calls[was.calls:], func(a, b Call) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	o.parts = append(o.parts, o.end())
}

func compareRefs(a, b Ref) int {
	if a.From != b.From {
		return cmp.Compare(a.From, b.From)
	}
	return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind))
}

// finishRefs records the references of f: those that were scanned, and its
// jumps. Blocks follow one another, so that little is left to sort.
func (r *recovery) finishRefs(s *refScanner, f *fn, o *output) {
	was := len(o.refs)
	put := func(x Ref) {
		o.refs = append(o.refs, x)
		for i := len(o.refs) - 1; i > was && o.refs[i-1].From == x.From && compareRefs(o.refs[i], o.refs[i-1]) < 0; i-- {
			o.refs[i-1], o.refs[i] = o.refs[i], o.refs[i-1]
		}
	}
	k := 0
	for i := range f.blocks {
		b := &f.blocks[i]
		for ; k < len(s.refs) && s.refs[k].from < b.end; k++ {
			put(Ref{r.sp.addr(s.refs[k].from), s.refs[k].to, s.refs[k].kind})
		}
		kind := RefJump
		switch r.d.kind(b.last) {
		case kindCond:
			kind = RefBranch
		case kindJump:
		case kindInvalid:
			o.unresolved = append(o.unresolved, Unresolved{r.sp.addr(b.last), UndecodableCode})
			continue
		default:
			continue
		}
		if t := r.d.target(b.last); t != none {
			put(Ref{r.sp.addr(b.last), r.sp.addr(t), kind})
		}
	}
	for _, x := range s.refs[k:] {
		put(Ref{r.sp.addr(x.from), x.to, x.kind})
	}
	refs := o.refs[was:]
	if !slices.IsSortedFunc(refs, compareRefs) {
		slices.SortFunc(refs, compareRefs)
	}
	o.refs = o.refs[:was+len(slices.Compact(refs))]
}

// finishExits records what leaves the function.
func (r *recovery) finishExits(f *fn, o *output) {
	for _, e := range f.exits {
		from := r.sp.addr(e.from)
		switch e.kind {
		case exitJump, exitCond:
			if r.d.kind(e.from) == kindIndJump {
				continue
			}
			if e.to == none || r.starts.has(e.to) {
				c := Call{From: from, Kind: TailCall, Cond: e.kind == exitCond, Import: -1}
				if e.to != none {
					c.To = r.sp.addr(e.to)
					c.Import = r.stubImport(c.To)
				} else {
					c.Import = r.stubImport(r.farTarget(e.from))
				}
				o.calls = append(o.calls, c)
			} else {
				o.unresolved = append(o.unresolved, Unresolved{from, ForeignJump})
			}
		case exitLost:
			if r.d.meta[e.from] != 0 && r.d.kind(e.from) != kindInvalid {
				o.unresolved = append(o.unresolved, Unresolved{from, OpenFlow})
			}
		}
	}
}

// finishSites records computed calls and jumps.
func (r *recovery) finishSites(s *refScanner, f *fn, o *output) {
	for _, x := range s.sites {
		from := r.sp.addr(x.off)
		if x.jump {
			if t := r.tables[x.off]; t != nil {
				if !t.ended() {
					o.unresolved = append(o.unresolved, Unresolved{from, UnboundedTable})
				}
				continue
			}
		}
		c := Call{From: from, Kind: IndirectCall, Slot: x.slot, Import: -1}
		if x.jump {
			c.Kind = IndirectJump
		}
		resolved := false
		if x.slot != 0 {
			if i, ok := r.slots[x.slot]; ok {
				c.Import, resolved = i, true
			} else if to, ok := r.pointerAt(x.slot); ok {
				c.To, resolved = to, true
			}
		} else if x.target != 0 && r.sp.off(x.target) != none {
			c.To, resolved = x.target, true
		}
		if !resolved && x.jump { // a stub that finds its slot by a register that its caller sets
			entry := r.sp.addr(f.entry)
			if i := r.stubImport(entry); i >= 0 {
				c.Import, resolved = i, true
			} else if to, ok := r.stubTargets[entry]; ok {
				c.To, resolved = to, true
			}
		}
		if !resolved {
			k := UnresolvedCall
			if x.jump {
				k = UnresolvedJump
			}
			o.unresolved = append(o.unresolved, Unresolved{from, k})
		}
		o.calls = append(o.calls, c)
	}
}

// pointerAt returns the code address a constant pointer holds.
func (r *recovery) pointerAt(slot uint64) (uint64, bool) {
	if s := r.sectionAt(slot); s == nil || s.Perm.Write && !constantSection(s.Name) {
		return 0, false
	}
	if to, ok := r.relocated(slot); ok {
		return to, r.sp.off(to) != none
	}
	if !r.static {
		return 0, false
	}
	b := r.im.Bytes(slot, r.im.Bits/8)
	if len(b) < r.im.Bits/8 {
		return 0, false
	}
	v := word(b)
	return v, r.sp.off(v) != none
}

// constantSection names writable sections the loader makes read-only again.
func constantSection(name string) bool {
	switch name {
	case ".got", ".got.plt", ".data.rel.ro", "__DATA_CONST,__got", "__DATA_CONST,__const", "__DATA,__const", "__DATA,__got", ".init_array", ".fini_array":
		return true
	}
	return false
}

// stubImport returns the import a stub reaches, or -1.
func (r *recovery) stubImport(addr uint64) int32 {
	i, ok := slices.BinarySearchFunc(r.stubIndex, addr, func(e stubEntry, a uint64) int { return cmp.Compare(e.addr, a) })
	if !ok {
		return -1
	}
	return r.stubIndex[i].imp
}

// farTarget is where the direct branch or call at off goes, in the code or not.
func (r *recovery) farTarget(off uint32) uint64 {
	var in isa.Inst
	r.decode(off, &in)
	return in.Target
}

type stubEntry struct {
	addr uint64
	imp  int32
}

// indexStubs ties stub addresses to imports, by slot or by name.
func (r *recovery) indexStubs() {
	r.slots, r.stubTargets = r.importSlots(), map[uint64]uint64{}
	names := map[string]int32{}
	for i, im := range r.im.Imports {
		if _, dup := names[im.Name]; !dup {
			names[im.Name] = int32(i)
		}
		if im.Stub != 0 {
			r.stubIndex = append(r.stubIndex, stubEntry{im.Stub, int32(i)})
		}
	}
	for _, s := range r.im.Stubs {
		if to, ok := r.pointerAt(s.Slot); ok && s.Slot != 0 && r.im.Bits == 32 {
			r.stubTargets[s.Addr] = to
		}
		i, ok := r.slots[s.Slot]
		if !ok || s.Slot == 0 {
			if i, ok = names[s.Name]; !ok || s.Name == "" {
				continue
			}
		}
		r.stubIndex = append(r.stubIndex, stubEntry{s.Addr, i})
	}
	slices.SortStableFunc(r.stubIndex, func(a, b stubEntry) int { return cmp.Compare(a.addr, b.addr) })
	r.stubIndex = slices.CompactFunc(r.stubIndex, func(a, b stubEntry) bool { return a.addr == b.addr })
}

// rangesOf appends the byte ranges of f: its stated extents, or else its
// blocks joined over padding and dead code between them.
func (r *recovery) rangesOf(out []span, f *fn) []span {
	if len(f.extents) > 0 {
		all := slices.Clone(f.extents)
		for _, b := range f.blocks { // code behind a stated end, which the function runs on into
			if !f.inside(b.start) || !f.inside(b.end-1) {
				all = append(all, span{b.start, b.end})
			}
		}
		slices.SortFunc(all, func(a, b span) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi)) })
		for _, e := range all {
			if n := len(out); n > 0 && out[n-1].hi >= e.lo {
				out[n-1].hi = max(out[n-1].hi, e.hi)
				continue
			}
			out = append(out, e)
		}
		return out
	}
	for _, b := range f.blocks {
		if n := len(out); n > 0 {
			last := &out[n-1]
			if b.start <= last.hi || r.fillable(last.hi, b.start) {
				last.hi = max(last.hi, b.end)
				continue
			}
		}
		out = append(out, span{b.start, b.end})
	}
	return out
}

// fillable says whether the bytes between two blocks of a function are its own
// padding or dead code: no other function starts there, and they decode
// exactly up to the second block.
func (r *recovery) fillable(lo, hi uint32) bool {
	if hi-lo > 4096 || r.sp.at(lo) != r.sp.at(hi-1) || r.starts.next(lo, hi) < hi || r.covered.next(lo, hi) < hi {
		return false
	}
	if r.d.data != nil && r.d.data.next(lo, hi) < hi {
		return false
	}
	var in isa.Inst
	for a := lo; a < hi; a += uint32(in.Len) {
		r.decode(a, &in)
		if in.Flow == isa.Invalid || a+uint32(in.Len) > hi {
			return false
		}
	}
	return true
}

// assemble concatenates the outputs.
func (r *recovery) assemble(p *Program, outs []output) error {
	at := make([]outputEnd, len(outs)+1) // where each one's lists begin
	for i := range outs {
		at[i+1] = at[i].plus(outs[i].end())
		p.Instructions += outs[i].insns
	}
	all := at[len(outs)]
	p.Blocks, p.Edges, p.Ranges = make([]Block, all.blocks), make([]Edge, all.edges), make([]Range, all.ranges)
	p.Calls, p.Unresolved = make([]Call, all.calls), make([]Unresolved, all.unresolved)
	p.Functions = make([]Function, len(r.funcs))
	err := r.eachShard(len(r.funcs), func(_, k, lo, hi int) {
		o, base := &outs[k], at[k]
		copy(p.Ranges[base.ranges:], o.ranges)
		copy(p.Calls[base.calls:], o.calls)
		copy(p.Unresolved[base.unresolved:], o.unresolved)
		copy(p.Edges[base.edges:], o.edges)
		for i, b := range o.blocks {
			b.edges.lo += uint32(base.edges)
			b.edges.hi += uint32(base.edges)
			p.Blocks[base.blocks+i] = b
		}
		var was outputEnd
		for i := lo; i < hi; i++ {
			end := o.parts[i-lo]
			r.describe(&p.Functions[i], r.funcs[i], o, was, end, base)
			was = end
		}
		*o = output{refs: o.refs}
	})
	if err != nil {
		return err
	}
	r.listTables(p)
	if !slices.IsSortedFunc(p.Calls, func(a, b Call) int { return cmp.Compare(a.From, b.From) }) {
		slices.SortStableFunc(p.Calls, func(a, b Call) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	}
	return nil
}

// describe fills out for f, whose part of o is that from was to end; o itself
// comes to lie at base.
func (r *recovery) describe(out *Function, f *fn, o *output, was, end, base outputEnd) {
	*out = Function{Entry: r.sp.addr(f.entry), Evidence: f.why.ev, From: f.why.from, NoReturn: f.noReturn || r.noRet.has(f.entry), Unwind: f.why.ev == ByUnwind}
	if _, orphan := r.parts[f.entry]; orphan {
		out.Kind = KindPart
	}
	for _, g := range o.ranges[was.ranges:end.ranges] {
		out.Size += g.End - g.Start
	}
	out.ranges = lohi{uint32(base.ranges + was.ranges), uint32(base.ranges + end.ranges)}
	out.blocks = lohi{uint32(base.blocks + was.blocks), uint32(base.blocks + end.blocks)}
	r.classify(out, f, o.calls[was.calls:end.calls])
}

func (r *recovery) listTables(p *Program) {
	for _, t := range r.tables {
		r.putTable(p, t)
		for _, x := range t.also {
			r.putTable(p, x)
		}
	}
	slices.SortFunc(p.Tables, func(a, b Table) int { return cmp.Or(cmp.Compare(a.Jump, b.Jump), cmp.Compare(a.Addr, b.Addr)) })
}

func (r *recovery) putTable(p *Program, t *table) {
	if len(t.targets) == 0 {
		return
	}
	out := Table{Jump: r.sp.addr(t.jump), Addr: t.addr, EntrySize: t.entry, Signed: t.signed, Base: t.base, Scale: t.scale, IndexAddr: t.indexAddr, Bounded: t.ended(), Targets: make([]uint64, len(t.targets))}
	if t.indexAddr != 0 {
		out.IndexCount = t.indexLen
	}
	for i, o := range t.targets {
		out.Targets[i] = r.sp.addr(o)
	}
	p.Tables = append(p.Tables, out)
}

// markInstructions sets the instruction starts of padding and dead code inside
// a function's range: whatever decodes and is not reached otherwise.
func (r *recovery) markInstructions(p *Program, s span) {
	var in isa.Inst
	for a := s.lo; a < s.hi; {
		if n := r.d.size(a); n > 0 && r.d.kind(a) != kindInvalid {
			p.starts.share(a)
			a += n
			continue
		}
		if r.d.data != nil && r.d.data.has(a) {
			a++
			continue
		}
		r.decode(a, &in)
		if in.Flow == isa.Invalid || a+uint32(in.Len) > s.hi {
			a += uint32(r.dec.Align())
			continue
		}
		p.starts.share(a)
		a += uint32(in.Len)
	}
}

// markGoPadding sets the instruction starts of the traps behind a function of
// Go's table, in which a function extends up to the next one.
func (r *recovery) markGoPadding(p *Program, entry, a uint32) {
	if !r.goTable.has(entry) || r.dec.Align() != 1 {
		return
	}
	g := r.sp.at(a - 1)
	for ; a < g.end() && g.data[a-g.base] == 0xcc && !r.starts.has(a); a++ {
		p.starts.share(a)
	}
}

// classify settles a function's kind.
func (r *recovery) classify(out *Function, f *fn, calls []Call) {
	if r.stubs.has(f.entry) {
		out.Kind = KindImportStub
		return
	}
	if out.Kind == KindPart || len(f.blocks) != 1 || len(calls) != 1 {
		return
	}
	c := &calls[0]
	if c.From != r.sp.addr(f.blocks[0].last) {
		return
	}
	b := &f.blocks[0]
	lead, most := b.last-b.start, uint32(4) // an endbr, or an adrp pair, before the jump
	if r.dec.Align() == 4 {
		most = 12
	}
	switch {
	case lead > most:
	case c.Kind == IndirectJump && c.Import >= 0:
		out.Kind, out.Target = KindImportStub, c.Slot
	case (c.Kind == TailCall || c.Kind == IndirectJump) && c.To != 0:
		out.Kind, out.Target = KindThunk, c.To
	}
}
