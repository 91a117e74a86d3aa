// Package lower hands functions of an analysed program to package ssa: it cuts
// their code into blocks that end with every transfer, and says of each call
// what the calling convention, the callee's own code and known library
// functions tell about its effect.
package lower

import (
	"sort"
	"strconv"
	"strings"

	"rea/providers/embedded/arm64"
	"rea/providers/embedded/callconv"
	"rea/providers/embedded/isa"
	"rea/providers/embedded/libsig"
	"rea/providers/embedded/program"
	"rea/providers/embedded/ssa"
	"rea/providers/embedded/x86"
	"rea/providers/format/object"
)

// Program prepares the functions of one program. It is safe for concurrent use.
type Program struct {
	*program.Program
	Convention *callconv.Convention
	dec        isa.Decoder
	code       ssa.Lifter
	leaves     leaves
}

// New wraps p. It fails for architectures without a lifter.
func New(p *program.Program) (*Program, bool) {
	l := &Program{Program: p, Convention: callconv.Of(p.Image)}
	switch p.Image.Arch {
	case object.X86:
		d := x86.New(32)
		l.dec, l.code = d, d
	case object.X86_64:
		d := x86.New(64)
		l.dec, l.code = d, d
	case object.ARM64:
		d := arm64.New()
		l.dec, l.code = d, d
	default:
		return nil, false
	}
	return l, true
}

// Function is the input for function i. Registers are recorded before the
// instructions at observe.
func (l *Program) Function(i int, observe ...uint64) *ssa.Input {
	c := l.Convention
	in := &ssa.Input{
		Entry: l.Functions[i].Entry, Bytes: l.Image.Bytes, Code: l.code, SP: c.SP, CallPushes: c.CallPushes,
		Saved: c.Saved, Arguments: c.Arguments(), Results: append(append([]int{}, c.Results...), c.FloatResults...), Shared: c.Hidden, Observe: observe,
		Call: l.Effect,
	}
	in.Blocks = l.blocks(i)
	return in
}

// piece is a part of a published block that ends with a transfer.
type piece struct {
	start, end uint64
	last       isa.Inst
	block      int // index of the published block
	final      bool
}

func (l *Program) blocks(i int) []ssa.SourceBlock {
	published := l.FunctionBlocks(i)
	var pieces []piece
	first := make([]int, len(published)) // piece at the start of each
	for k := range published {
		b := &published[k]
		first[k] = len(pieces)
		p := piece{start: b.Start, block: k}
		for a := b.Start; a < b.End; {
			var in isa.Inst
			l.dec.Decode(l.Image.Bytes(a, l.dec.MaxLen()), a, &in)
			a += uint64(max(1, in.Len))
			p.last = in
			if a < b.End && ends(in.Flow) {
				p.end = a
				pieces = append(pieces, p)
				p = piece{start: a, block: k}
			}
		}
		p.end, p.final = b.End, true
		pieces = append(pieces, p)
	}
	at := func(addr uint64) (int, bool) {
		k := sort.Search(len(published), func(k int) bool { return published[k].Start >= addr })
		if k < len(published) && published[k].Start-addr < padding {
			return first[k], true
		}
		return 0, false
	}
	out := make([]ssa.SourceBlock, len(pieces))
	pads := map[int]bool{}
	for n := range pieces {
		p := &pieces[n]
		edges := l.BlockEdges(&published[p.block])
		b := &out[n]
		*b = ssa.SourceBlock{Start: p.start, End: p.end, Taken: -1}
		add := func(to int) {
			for _, have := range b.To {
				if have == to {
					return
				}
			}
			b.To = append(b.To, to)
		}
		direct := p.last.Flow == isa.CondJump || p.last.Flow == isa.Jump
		if direct {
			if to, ok := at(p.last.Target); ok {
				if p.last.Flow == isa.CondJump {
					b.Taken = to
				}
				add(to)
			}
		}
		if !p.final {
			if p.last.Flow == isa.CondJump {
				add(n + 1)
			}
			continue
		}
		for _, e := range edges {
			to, ok := at(e.To)
			switch {
			case !ok:
				continue
			case e.Kind == program.EdgeLandingPad:
				pads[to] = true
			case p.last.Flow == isa.Jump, p.last.Flow == isa.CondJump && e.Kind == program.EdgeTaken:
				continue
			}
			add(to)
		}
	}
	for k := range pads {
		out[k].Pad = true
	}
	return out
}

// padding is how far behind the target of a jump the block that it reaches may
// start: alignment in between belongs to no block.
const padding = 32

// ends says whether nothing runs straight on behind a flow, or not only.
func ends(f isa.Flow) bool {
	switch f {
	case isa.Jump, isa.CondJump, isa.IndirectJump, isa.Return, isa.Trap:
		return true
	}
	return false
}

// Callee is what is known of the function a call reaches.
type Callee struct {
	Function int    // index into Functions, or -1
	Import   string // name of the import, or ""
}

// CalleeAt is the callee of the call at site: stubs of imports stand for them.
func (l *Program) CalleeAt(site uint64) Callee {
	for _, c := range l.CallsBetween(site, site+1) {
		if c.Import >= 0 {
			return Callee{-1, l.Image.Imports[c.Import].Name}
		}
		if c.To == 0 {
			continue
		}
		return l.CalleeOf(c.To)
	}
	return Callee{Function: -1}
}

// CalleeOf is the function at an address.
func (l *Program) CalleeOf(addr uint64) Callee {
	for range 4 { // thunks of thunks
		i, ok := l.FunctionAt(addr)
		if !ok {
			return Callee{Function: -1}
		}
		f := &l.Functions[i]
		switch f.Kind {
		case program.KindImportStub:
			return Callee{i, f.Name}
		case program.KindThunk:
			if f.Target != 0 {
				addr = f.Target
				continue
			}
		}
		return Callee{i, ""}
	}
	return Callee{Function: -1}
}

// Effect is what the call at site does.
func (l *Program) Effect(site uint64) ssa.Effect {
	e := l.Convention.Effect()
	c := l.CalleeAt(site)
	if c.Function >= 0 {
		if kind, ok := l.Runtime(c.Function); ok {
			l.runtimeEffect(&e, kind)
			return e
		}
		kept := l.leafKeeps(c.Function)
		e.Keeps[0] |= kept[0]
	}
	if c.Import != "" {
		if sig, ok := libsig.Lookup(c.Import, l.Image.Format); ok && sig.Pure {
			e.Pure = true
		}
	}
	if l.Image.Arch == object.X86 {
		l.ia32(&e, c, site)
	}
	return e
}

// ia32 adds what callees of IA-32 do besides: remove their arguments from the
// stack, or load the program counter.
func (l *Program) ia32(e *ssa.Effect, c Callee, site uint64) {
	if c.Import != "" {
		e.Pops = importPops(c.Import, l.Image.Format)
		return
	}
	if c.Function < 0 {
		return
	}
	f := &l.Functions[c.Function]
	if b := l.Image.Bytes(f.Entry, 4); len(b) == 4 && b[0] == 0x8b && b[1]&0xc7 == 0x04 && b[2] == 0x24 && b[3] == 0xc3 { // mov reg, [esp]; ret
		reg := int(b[1] >> 3 & 7)
		var in isa.Inst
		l.dec.Decode(l.Image.Bytes(site, l.dec.MaxLen()), site, &in)
		e.Keeps = e.Keeps.With(0, 1, 2)
		e.Sets = []ssa.Setting{{Reg: reg, Value: uint64(uint32(site + uint64(in.Len)))}}
		e.Pure = true
		return
	}
	e.Pops = l.Pops(c.Function)
}

// Pops is what an IA-32 function removes from the stack besides the return
// address: the operand of its return instructions.
func (l *Program) Pops(i int) int64 {
	if l.Image.Arch != object.X86 {
		return 0
	}
	var in isa.Inst
	for _, b := range l.FunctionBlocks(i) {
		l.dec.Decode(l.Image.Bytes(b.Last, l.dec.MaxLen()), b.Last, &in)
		if in.Flow == isa.Return {
			if in.HasImm {
				return in.Imm
			}
			return 0
		}
	}
	return 0
}

// importPops is what a decorated name (_name@12) or a known one says.
func importPops(name string, format object.Format) int64 {
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		if n, err := strconv.Atoi(name[i+1:]); err == nil && n >= 0 && n < 1<<12 && n%4 == 0 {
			return int64(n)
		}
	}
	if format == object.PE {
		if sig, ok := libsig.Lookup(name, format); ok && sig.Windows && !sig.Variadic {
			return int64(4 * len(sig.Parameters))
		}
	}
	return 0
}
