package program

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"rea/providers/embedded/isa"
	"rea/providers/format/object"
)

// ErrArchitecture says that no decoder exists for the image's instruction set.
var ErrArchitecture = errors.New("no decoder for this architecture")

// Options tune an analysis.
type Options struct {
	// Workers is the number of goroutines; 0 is one for each processor.
	// The result does not depend on it.
	Workers int
	// Progress, when not nil, is told now and then how far a phase is; total
	// is 0 when not known. It is called from one goroutine at a time.
	Progress func(phase string, done, total int)
}

// Analyze recovers the program in im. It returns early with ctx's error.
func Analyze(ctx context.Context, im *object.Image, opt Options) (*Program, error) {
	dec := decoderFor(im)
	if dec == nil {
		return nil, fmt.Errorf("%s: %w", im.Arch, ErrArchitecture)
	}
	return analyze(ctx, im, dec, opt)
}

func analyze(ctx context.Context, im *object.Image, dec isa.Decoder, opt Options) (p *Program, err error) {
	defer func() {
		if v := recover(); v != nil {
			p, err = nil, broken(v)
		}
	}()
	r := newRecovery(ctx, im, dec, opt)
	r.progress("descent", 0, 0)
	if len(r.sp.regions) > 0 {
		if err := r.run(); err != nil {
			return nil, err
		}
	} else {
		r.note("the image holds no file-backed code")
	}
	return r.build()
}

func newRecovery(ctx context.Context, im *object.Image, dec isa.Decoder, opt Options) *recovery {
	r := &recovery{
		ctx: ctx, im: im, dec: direct(dec), workers: opt.Workers, progress: opt.Progress,
		parts: map[uint32]uint32{}, alts: map[uint32]bool{},
		noRetSite: map[uint32]bool{}, resumed: map[uint32]bool{}, tables: map[uint32]*table{}, byEntry: make(map[uint32]*fn, len(im.Hints)+len(im.Stubs)), rejected: map[uint32]bool{}, refused: map[uint32]int{},
	}
	if r.workers <= 0 {
		r.workers = runtime.GOMAXPROCS(0)
	}
	if r.progress == nil {
		r.progress = func(string, int, int) {}
	}
	r.sp = newSpace(im, r.note)
	r.d = newDescent(r.sp, r.dec)
	n := r.sp.size + regionGuard
	r.starts, r.covered, r.noRet, r.readAt = newBitset(n), newBitset(n), newBitset(n), newBitset(n)
	r.d.starts, r.d.covered = r.starts, r.covered
	r.vouched, r.met, r.stubs, r.goTable, r.called, r.small = newBitset(n), newBitset(n), newBitset(n), newBitset(n), newBitset(n), newBitset(n)
	r.budget.limit = shareFactor*int64(r.sp.size) + shareSlack
	r.walkers, r.finders, r.scanners = make([]walker, r.workers), make([]tableFinder, r.workers), make([]refScanner, r.workers)
	r.deferReturn, r.resumeStub = none, none
	r.seedData()
	for _, x := range im.Relocations {
		if x.HasTarget {
			r.relocs = append(r.relocs, x)
		}
	}
	slices.SortStableFunc(r.relocs, func(a, b object.Relocation) int { return cmp.Compare(a.Addr, b.Addr) })
	for _, x := range r.relocs {
		if r.sp.off(x.Addr) != none {
			r.codeRelocs = true
			break
		}
	}
	r.static = r.fixedBase()
	r.lost, r.conv, r.raises = lostRegs(im), conventionOf(im), raises(im)
	r.relative32 = im.Arch == object.X86 && im.Format != object.PE && im.FileType != "ET_EXEC"
	r.counted = im.GoVersion != ""
	r.frames = slices.ContainsFunc(im.Hints, func(h object.FunctionHint) bool { return h.Source == object.FromEHFrame })
	r.indexStubs()
	for _, s := range r.stubIndex {
		if strings.TrimLeft(r.im.Imports[s.imp].Name, "_") == "Unwind_Resume" {
			r.resumeStub = r.sp.off(s.addr)
		}
	}
	for i := range im.Segments {
		s := &im.Segments[i]
		if r.highMapped == 0 || s.Addr < r.lowMapped {
			r.lowMapped = s.Addr
		}
		r.highMapped = max(r.highMapped, s.Addr+s.Size)
	}
	r.lowMapped = max(r.lowMapped, 1)
	for i := range r.sp.regions {
		g := &r.sp.regions[i]
		if i == 0 {
			r.lowCode = g.addr
		}
		r.highCode = g.addr + uint64(len(g.data))
	}
	return r
}

// lostRegs are the registers that the calling convention lets a callee change.
func lostRegs(im *object.Image) uint64 {
	const upper = 0xffff0000 // r16 to r31
	switch {
	case im.Arch == object.ARM64:
		return 1<<19 - 1 | 1<<30
	case im.Arch == object.X86:
		return 1<<0 | 1<<1 | 1<<2
	case im.Format == object.PE:
		return 1<<0 | 1<<1 | 1<<2 | 1<<8 | 1<<9 | 1<<10 | 1<<11 | upper
	}
	return 1<<0 | 1<<1 | 1<<2 | 1<<6 | 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<11 | upper
}

// goBuildID opens the identification that the Go linker puts before its code.
const goBuildID = "\xff Go build ID: \""

// seedData marks what the file declares to be data inside code.
func (r *recovery) seedData() {
	for i := range r.sp.regions {
		g := &r.sp.regions[i]
		if !bytes.HasPrefix(g.data, []byte(goBuildID)) {
			continue
		}
		if n := bytes.IndexByte(g.data[len(goBuildID):], '\xff'); n >= 0 && n < 512 {
			r.d.data = newBitset(r.sp.size + regionGuard)
			r.d.data.setRange(g.base, g.base+uint32(len(goBuildID)+n+1))
		}
	}
	for _, x := range r.im.DataInCode {
		o := r.sp.off(x.Addr)
		if o == none {
			continue
		}
		if r.d.data == nil {
			r.d.data = newBitset(r.sp.size + regionGuard)
		}
		r.d.data.setRange(o, r.sp.endOff(o, x.Size))
	}
}

// allCovered says whether stated extents leave no code to look for.
func (r *recovery) allCovered() bool {
	if r.uncovered == 0 {
		r.uncovered = 1
		for i := range r.sp.regions {
			g := &r.sp.regions[i]
			for a := g.base; a < g.end(); {
				a = r.skipPadding(r.covered.nextClear(a, g.end()), g.end())
				hi := r.covered.next(a, g.end())
				r.uncovered += int(hi - a)
				a = hi
			}
		}
	}
	return r.uncovered == 1
}

// sectionAt returns the mapped section that holds a, or nil.
func (r *recovery) sectionAt(a uint64) *object.Section {
	i := sectionIndex(r.im, a)
	if i < 0 {
		return nil
	}
	return &r.im.Sections[i]
}

func sectionIndex(im *object.Image, a uint64) int {
	i, ok := slices.BinarySearchFunc(im.Sections, a, func(s object.Section, x uint64) int { return cmp.Compare(s.Addr, x) })
	if ok {
		for i < len(im.Sections) && im.Sections[i].Addr == a {
			if im.Sections[i].Mapped && im.Sections[i].Size > 0 {
				return i
			}
			i++
		}
		i--
	} else {
		i--
	}
	for k := 0; i >= 0 && k < 8; i, k = i-1, k+1 {
		if s := &im.Sections[i]; s.Mapped && a-s.Addr < s.Size {
			return i
		}
	}
	return -1
}

// open says whether functions may be inferred at off. Next to functions that
// call frames describe nothing is added by inference: heuristics on top of
// complete call frames only add errors (FETCH). Where a neighbour has no frame,
// as between objects built without unwind tables, there is reason to look.
// Windows unwind data leaves out leaf functions and never closes a region.
func (r *recovery) open(off uint32) bool {
	if !r.frames {
		return true
	}
	g := r.sp.at(off)
	i, _ := slices.BinarySearchFunc(r.funcs, off, func(f *fn, o uint32) int { return cmp.Compare(f.entry, o) })
	bare := func(k int) bool {
		if k < 0 || k >= len(r.funcs) {
			return false
		}
		f := r.funcs[k]
		return f.entry >= g.base && f.entry < g.end() && f.why.ev != ByUnwind && !r.stubs.has(f.entry)
	}
	return bare(i-1) || bare(i) && r.funcs[i].entry != off || bare(i+1)
}
