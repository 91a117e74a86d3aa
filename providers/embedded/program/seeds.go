package program

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"rea/providers/embedded/isa"
	"rea/providers/format/object"
)

// Seeds: what the file's tables say about functions. Unwind data, symbol
// sizes and the Go function table also give extents, which bound what a
// function may own.

// claim is an extent as one table states it; a lower rank is trusted more.
type claim struct {
	extent
	rank int
}

var hintRank = map[object.HintSource]struct {
	ev   Evidence
	rank int
}{
	object.FromEHFrame:        {ByUnwind, 0},
	object.FromPData:          {ByUnwind, 0},
	object.FromPCLNTab:        {ByGoTable, 0},
	object.FromFunctionStarts: {ByFunctionStarts, 1},
	object.FromSymbol:         {BySymbol, 1},
	object.FromDWARF:          {ByDWARF, 2},
	object.FromCompactUnwind:  {ByUnwind, 4},
	object.FromExport:         {ByExport, 4},
	object.FromEntry:          {ByEntry, 4},
	object.FromDynamic:        {ByInit, 4},
	object.FromInitArray:      {ByInit, 4},
	object.FromTLSCallback:    {ByInit, 4},
	object.FromCFG:            {ByPointer, 4},
	object.FromObjC:           {ByPointer, 4},
}

// seed registers everything the tables state and returns the first leaders.
func (r *recovery) seed() []uint32 {
	var claims []claim
	r.seedStubs(&claims)
	r.seedHints(&claims)
	r.seedParts(&claims)
	r.seedSymbols(&claims)
	for _, e := range r.im.Exports {
		if !e.Data && e.Forward == "" {
			r.addSeed(r.sp.off(e.Addr), ByExport)
		}
	}
	if r.im.HasEntry {
		r.addSeed(r.sp.off(r.im.Entry), ByEntry)
	}
	r.seedNoReturn()
	r.seedInner(claims)
	r.settleExtents(claims)
	r.seedPads()
	r.sortFuncs()
	leaders := make([]uint32, 0, len(r.funcs))
	for _, f := range r.funcs {
		leaders = append(append(leaders, f.entry), f.pads...)
	}
	return leaders
}

// addSeed is add, but for parts, which are never functions of their own.
func (r *recovery) addSeed(off uint32, ev Evidence) {
	if _, part := r.parts[off]; part || off == none || r.d.data != nil && r.d.data.has(off) {
		return
	}
	if ev != ByUnwind {
		r.vouched.set(off)
	}
	r.add(off, ev, 0)
}

func (r *recovery) seedStubs(claims *[]claim) {
	put := func(addr, size uint64) {
		o := r.sp.off(addr)
		if o == none {
			return
		}
		r.stubs.set(o)
		r.add(o, ByStub, 0)
		if size > 0 {
			*claims = append(*claims, claim{extent{span{o, r.sp.endOff(o, size)}, o}, -1})
		}
	}
	for _, s := range r.im.Stubs {
		put(s.Addr, s.Size)
	}
	for _, im := range r.im.Imports {
		if im.Stub != 0 {
			if o := r.sp.off(im.Stub); o != none && !r.stubs.has(o) {
				put(im.Stub, 0)
			}
		}
	}
}

func (r *recovery) inStub(o uint32) bool {
	i, ok := slices.BinarySearchFunc(r.im.Stubs, r.sp.addr(o), func(s object.Stub, a uint64) int { return cmp.Compare(s.Addr, a) })
	return ok || i > 0 && r.sp.addr(o)-r.im.Stubs[i-1].Addr < r.im.Stubs[i-1].Size
}

func (r *recovery) seedHints(claims *[]claim) {
	part := map[uint64]bool{}
	for _, p := range r.im.Parts {
		part[p.Addr] = true
	}
	next := followers(r.im.Hints)
	type place struct {
		off  uint32
		size uint64
	}
	at := make([]place, len(r.im.Hints))
	_ = each(r.ctx, r.workers, len(at), 1024, func(_, i int) {
		h := &r.im.Hints[i]
		o, size := r.sp.off(h.Addr), h.Size
		if o == none || part[h.Addr] || r.inStub(o) {
			at[i].off = none
			return
		}
		if h.Source == object.FromEHFrame {
			if n := r.leadingBTI(o); n > 0 && size > 0 {
				o, size = o-n, size+uint64(n)
			}
			if n := r.leadingNops(o); n > 0 && size > uint64(n) {
				o, size = o+n, size-uint64(n)
			}
		}
		at[i] = place{o, size}
	})
	for i := range r.im.Hints {
		h, o, size := &r.im.Hints[i], at[i].off, at[i].size
		if o == none {
			continue
		}
		k, ok := hintRank[h.Source]
		if !ok {
			k.ev, k.rank = ByPointer, 4
		}
		if size == 0 && (h.Source == object.FromFunctionStarts || h.Source == object.FromPCLNTab) {
			if size = next[i] - h.Addr; next[i] == 0 {
				size = uint64(r.sp.at(o).end() - o)
			}
			if h.Source == object.FromFunctionStarts {
				size = r.trimPadding(o, size)
			}
		}
		r.addSeed(o, k.ev)
		if h.Source == object.FromPCLNTab {
			r.goTable.set(o)
		}
		if size > 0 && k.rank < 4 {
			*claims = append(*claims, claim{extent{span{o, r.sp.endOff(o, size)}, o}, k.rank})
		}
	}
}

// followers gives, for each hint, the address of the next one above it from
// the same table, or 0.
func followers(hints []object.FunctionHint) []uint64 {
	type seen struct{ addr, next uint64 }
	last := map[object.HintSource]seen{}
	out := make([]uint64, len(hints))
	for i := len(hints) - 1; i >= 0; i-- {
		h := &hints[i]
		s, ok := last[h.Source]
		switch {
		case !ok:
			s = seen{addr: h.Addr}
		case s.addr > h.Addr:
			s = seen{h.Addr, s.addr}
		}
		out[i] = s.next
		last[h.Source] = s
	}
	return out
}

// trimPadding leaves out the padding at the end of a range.
func (r *recovery) trimPadding(o uint32, size uint64) uint64 {
	end := r.sp.endOff(o, size)
	if n := r.paddingBefore(end); n > 0 && n < end-o {
		end -= n
	}
	return uint64(end - o)
}

// leadingBTI recognizes unwind entries that begin behind the branch target
// marker of an AArch64 assembly function.
func (r *recovery) leadingBTI(o uint32) uint32 {
	if r.dec.Align() != 4 || o < r.sp.at(o).base+8 {
		return 0
	}
	var in isa.Inst
	r.decode(o-4, &in)
	if in.Class != isa.EndBranch {
		return 0
	}
	r.decode(o-8, &in)
	switch in.Flow {
	case isa.Return, isa.Jump, isa.IndirectJump, isa.Trap, isa.Invalid:
		return 4
	}
	if in.Class == isa.Nop {
		return 4
	}
	return 0
}

// leadingNops recognizes unwind entries that begin with padding before an
// aligned function: signal trampolines by convention, assembly whose entry was
// opened before an alignment directive.
func (r *recovery) leadingNops(o uint32) uint32 {
	a := r.sp.addr(o)
	n := uint32(-a & 15)
	if n == 0 || len(r.sp.bytes(o)) <= int(n) {
		return 0
	}
	var in isa.Inst
	for k := uint32(0); k < n; k += uint32(in.Len) {
		r.decode(o+k, &in)
		if in.Class != isa.Nop || k+uint32(in.Len) > n {
			return 0
		}
	}
	return n
}

func (r *recovery) seedParts(claims *[]claim) {
	parent := map[uint64]uint64{}
	for _, p := range r.im.Parts {
		if p.Parent != p.Addr {
			parent[p.Addr] = p.Parent
		}
	}
	for _, p := range r.im.Parts {
		o := r.sp.off(p.Addr)
		if o == none || r.inStub(o) {
			continue
		}
		if n := r.leadingNops(o); n > 0 && parent[p.Addr] == 0 && p.Size > uint64(n) && !slices.Contains(r.im.LandingPads, p.Addr+uint64(n)) {
			r.addSeed(o+n, ByUnwind) // a signal trampoline: its frame is not its caller's
			*claims = append(*claims, claim{extent{span{o + n, r.sp.endOff(o+n, p.Size-uint64(n))}, o + n}, 0})
			continue
		}
		root := parent[p.Addr]
		for i := 0; i < 8 && root != 0; i++ {
			next, ok := parent[root]
			if !ok {
				break
			}
			root = next
		}
		owner := none
		if root != 0 {
			owner = r.sp.off(root)
		}
		r.parts[o] = owner
		if owner == none { // a part of an unknown parent: walked as a function until a jump to it is found
			r.add(o, ByUnwind, 0)
			owner = o
		}
		if p.Size > 0 {
			*claims = append(*claims, claim{extent{span{o, r.sp.endOff(o, p.Size)}, owner}, 0})
		}
	}
}

// coldParent returns the function a compiler's split-part name belongs to.
func coldParent(name string) (string, bool) {
	if strings.IndexByte(name, '.') < 0 { // as in nearly all names
		return "", false
	}
	i := strings.LastIndex(name, ".cold")
	if i <= 0 || i+5 < len(name) && name[i+5] != '.' {
		return "", false
	}
	return name[:i], true
}

func (r *recovery) seedSymbols(claims *[]claim) {
	var parts []uint32 // taken for functions before
	named := sync.OnceValue(func() map[string]uint64 {
		byName := map[string]uint64{}
		for i := range r.im.Symbols {
			if s := &r.im.Symbols[i]; s.Defined && s.Kind == object.SymFunction {
				byName[s.Name] = s.Addr
			}
		}
		return byName
	})
	for i := range r.im.Symbols {
		s := &r.im.Symbols[i]
		if !s.Defined || s.Kind != object.SymFunction && s.Kind != object.SymIFunc {
			continue
		}
		o := r.sp.off(s.Addr)
		if o == none || r.inStub(o) {
			continue
		}
		if base, ok := coldParent(s.Name); ok {
			if _, done := r.parts[o]; !done {
				owner := none
				if a, ok := named()[base]; ok {
					owner = r.sp.off(a)
				}
				if owner != none && owner != o {
					r.parts[o] = owner
					if r.starts.has(o) {
						parts = append(parts, o)
					}
					if s.Size > 0 {
						*claims = append(*claims, claim{extent{span{o, r.sp.endOff(o, s.Size)}, owner}, -1})
					}
				}
			}
			continue
		}
		r.addSeed(o, BySymbol)
		if s.Size > 0 {
			*claims = append(*claims, claim{extent{span{o, r.sp.endOff(o, s.Size)}, o}, 1})
		}
	}
	r.dropAll(parts)
}

// seedInner makes parts of the call frames that begin inside the extent that a
// symbol gives to a function, at no start that anything else names: assembly
// describes one function with several frames.
func (r *recovery) seedInner(claims []claim) {
	var named []claim
	for _, c := range claims {
		if c.rank == 1 && r.vouched.has(c.owner) && c.lo == c.owner {
			named = append(named, c)
		}
	}
	if len(named) == 0 {
		return
	}
	named = r.sortClaims(named, func(a, b claim) int { return cmp.Compare(b.hi, a.hi) })
	owners := map[uint32]uint32{}
	var inner []uint32
	for _, f := range r.funcs {
		o := f.entry
		if f.why.ev != ByUnwind || r.vouched.has(o) {
			continue
		}
		i, found := slices.BinarySearchFunc(named, o, func(c claim, o uint32) int { return cmp.Compare(c.lo, o) })
		if found || i == 0 || o >= named[i-1].hi {
			continue
		}
		owners[o] = named[i-1].owner
		r.parts[o] = named[i-1].owner
		inner = append(inner, o)
	}
	for i := range claims {
		if to, ok := owners[claims[i].owner]; ok {
			claims[i].owner = to
		}
	}
	r.dropAll(inner)
}

// seedNoReturn marks imports, and functions of language runtimes, that are
// known not to return.
func (r *recovery) seedNoReturn() {
	r.d.noRetSlots, r.d.noRetPlace = map[uint64]bool{}, map[uint64]bool{}
	for _, im := range r.im.Imports {
		if !im.Data && neverReturns(im.Name) {
			if im.Slot != 0 {
				r.d.noRetSlots[im.Slot] = true
			}
			if o := r.sp.off(im.Stub); im.Stub != 0 && o != none {
				r.d.noRetStub.set(o)
			} else if im.Stub != 0 {
				r.d.noRetPlace[im.Stub] = true
			}
		}
	}
	for _, s := range r.im.Stubs {
		if o := r.sp.off(s.Addr); o != none && s.Name != "" && neverReturns(s.Name) {
			r.d.noRetStub.set(o)
		}
	}
	for _, h := range r.im.Hints {
		if h.Source == object.FromPCLNTab && h.Name == deferReturn {
			r.deferReturn = r.sp.off(h.Addr)
		}
		if h.Source == object.FromPCLNTab && resumedNames[h.Name] {
			r.resumed[r.sp.off(h.Addr)] = true
		}
		if h.Source == object.FromPCLNTab && strings.HasPrefix(h.Name, "runtime.") && noReturnNames[h.Name] {
			if o := r.sp.off(h.Addr); o != none {
				r.d.noRetStub.set(o)
			}
		}
	}
	copy(r.noRet, r.d.noRetStub)
}

// settleExtents makes the claims disjoint: of two at one address the more
// trusted wins, and an extent ends where the next one starts.
func (r *recovery) settleExtents(claims []claim) {
	claims = r.sortClaims(claims, func(a, b claim) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.hi, a.hi), cmp.Compare(a.owner, b.owner))
	})
	var out []claim
	for _, c := range claims {
		if n := len(out); n > 0 {
			p := &out[n-1]
			if p.lo == c.lo {
				continue
			}
			if c.lo < p.hi {
				if c.rank > p.rank && c.hi <= p.hi && !r.starts.has(c.lo) {
					continue
				}
				p.hi = c.lo
			}
		}
		out = append(out, c)
	}
	r.extents = make([]extent, len(out))
	for i, c := range out {
		r.extents[i] = c.extent
		r.covered.setRange(c.lo, c.hi)
	}
	for _, e := range r.extents {
		if f := r.byEntry[e.owner]; f != nil {
			f.extents = append(f.extents, e.span)
		}
	}
	// starts without a size of their own inside a stated extent end it there
	for _, f := range r.funcs {
		if len(f.extents) > 0 || !r.covered.has(f.entry) {
			continue
		}
		i := r.extentAt(f.entry)
		e := &r.extents[i]
		if ev := f.why.ev; ev == ByPointer || ev == ByExport || ev == ByInit {
			continue
		}
		f.extents = []span{{f.entry, e.hi}}
	}
}

// sortClaims returns the claims by their begin and then by tie.
func (r *recovery) sortClaims(claims []claim, tie func(a, b claim) int) []claim {
	out := make([]claim, len(claims))
	for i, k := range sortedBy(r.workers, len(claims), func(i int) uint64 { return uint64(claims[i].lo) }) {
		out[i] = claims[k]
	}
	for lo := 0; lo < len(out); {
		hi := lo + 1
		for hi < len(out) && out[hi].lo == out[lo].lo {
			hi++
		}
		if hi > lo+1 {
			slices.SortStableFunc(out[lo:hi], tie)
		}
		lo = hi
	}
	return out
}

// extentAt returns the index of the stated extent that holds off, or -1.
func (r *recovery) extentAt(off uint32) int {
	i, ok := slices.BinarySearchFunc(r.extents, off, func(e extent, o uint32) int { return cmp.Compare(e.lo, o) })
	if !ok {
		i--
	}
	if i >= 0 && off < r.extents[i].hi {
		return i
	}
	return -1
}

// seedPads gives landing pads to the functions whose extents hold them, and
// keeps the ranges of calls that lead to them.
func (r *recovery) seedPads() {
	give := func(p uint32) {
		if i := r.extentAt(p); i >= 0 {
			if f := r.byEntry[r.extents[i].owner]; f != nil && p != f.entry {
				f.pads = append(f.pads, p)
			}
		}
	}
	for _, a := range r.im.LandingPads {
		if o := r.sp.off(a); o != none {
			give(o)
		}
	}
	for _, c := range r.im.CallSites {
		lo, pad := r.sp.off(c.Addr), r.sp.off(c.Pad)
		if lo != none && pad != none && c.Size > 0 {
			r.callSites = append(r.callSites, extent{span{lo, r.sp.endOff(lo, c.Size)}, pad})
		}
	}
	slices.SortStableFunc(r.callSites, func(a, b extent) int { return cmp.Compare(a.lo, b.lo) })
}
