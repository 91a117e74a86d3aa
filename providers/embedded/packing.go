package embedded

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"

	"rea/providers/embedded/program"
	"rea/providers/embedded/ssa"
	"rea/providers/format/object"
)

// Signs that a file's code is packed or encrypted, or changes while it runs.
// Each is a fact of the file; a note says what was seen and what it usually
// means, and that analysis then sees the unpacking code only.

// packerSections are section names that packers and protectors leave.
var packerSections = map[string]string{
	"UPX0": "UPX", "UPX1": "UPX", "UPX2": "UPX", ".aspack": "ASPack", ".adata": "ASPack", ".MPRESS1": "MPRESS", ".MPRESS2": "MPRESS", ".petite": "Petite",
	".vmp0": "VMProtect", ".vmp1": "VMProtect", ".vmp2": "VMProtect", ".themida": "Themida", ".winlice": "WinLicense", ".enigma1": "Enigma", ".enigma2": "Enigma",
	".nsp0": "NsPack", ".nsp1": "NsPack", ".packed": "a packer", "PEC2": "PECompact", "pec1": "PECompact", ".perplex": "Perplex", ".yP": "Y0da Protector", ".MEW": "MEW",
}

const (
	// denseEntropy, in bits a byte: machine code lies near 6, compressed or
	// encrypted data above 7.2 in all but the smallest samples.
	denseEntropy = 7.2
	denseSize    = 4096
	fewImports   = 6
)

// packing are the notes about packed code.
func (e *Engine) packing() []string {
	var out []string
	dense := uint64(0)
	code := uint64(0)
	named := map[string]bool{}
	for _, s := range e.sections() {
		if who := packerSections[s.Name]; who != "" && !named[who] {
			named[who] = true
			out = append(out, fmt.Sprintf("section %s is one that %s leaves: the program is probably packed, and what is analysed is the code that unpacks it", s.Name, who))
		}
		if !s.Mapped || !s.Perm.Execute {
			continue
		}
		code += s.FileSize
		if s.entropy != nil && *s.entropy >= denseEntropy && s.FileSize >= denseSize {
			dense += s.FileSize
			out = append(out, fmt.Sprintf("section %s is executable and as dense as compressed or encrypted data (%.2f bits a byte)", s.Name, *s.entropy))
		}
	}
	out = append(out, e.unnamedDensity(dense)...)
	if head := e.im.Data(); e.im.Format == object.ELF && bytes.Contains(head[:min(len(head), 4096)], []byte("UPX!")) {
		out = append(out, "the file has the mark of UPX: the program is probably packed, and what is analysed is the code that unpacks it")
	}
	if len(out) > 0 {
		out = append(out, e.importPoverty()...)
	}
	for i := range e.im.Segments {
		s := &e.im.Segments[i]
		if !s.Perm.Execute || s.Size == 0 {
			continue
		}
		if s.FileSize == 0 && e.im.Kind != object.Relocatable {
			out = append(out, fmt.Sprintf("segment %s at 0x%x is executable and holds nothing in the file: code is written there when the program runs", s.Name, s.Addr))
		}
		if s.Perm.Write {
			out = append(out, fmt.Sprintf("segment %s at 0x%x is writable and executable: its code can change while the program runs", s.Name, s.Addr))
		}
	}
	return out
}

// unnamedDensity looks at executable segments of files without sections.
func (e *Engine) unnamedDensity(dense uint64) []string {
	if dense > 0 || len(e.im.Sections) > 0 {
		return nil
	}
	var out []string
	for i := range e.im.Segments {
		s := &e.im.Segments[i]
		if !s.Perm.Execute || s.FileSize < denseSize {
			continue
		}
		if h := density(e.im.Bytes(s.Addr, int(min(s.FileSize, 1<<30)))); h >= denseEntropy {
			out = append(out, fmt.Sprintf("segment %s at 0x%x is executable and as dense as compressed or encrypted data (%.2f bits a byte)", s.Name, s.Addr, h))
		}
	}
	return out
}

// garbledShare is the part of the functions that a file's own tables state which
// does not decode in a file whose code is not what the tables were written for;
// compiled code decodes, but for a few functions with data between instructions.
const (
	garbledShare = 16
	leastGarbled = 8
)

// garbled notes that functions which the file's own tables state hold no code.
// Encryption by a short key leaves the entropy as it is, and only this shows it.
func garbled(p *program.Program) []string {
	stated, bad := 0, 0
	for i := range p.Functions {
		switch p.Functions[i].Evidence {
		case program.ByUnwind, program.ByGoTable, program.ByFunctionStarts, program.BySymbol, program.ByDWARF, program.ByExport:
		default:
			continue
		}
		stated++
	ranges:
		for _, g := range p.FunctionRanges(i) {
			for _, u := range p.UnresolvedBetween(g.Start, g.End) {
				if u.Kind == program.UndecodableCode || u.Kind == program.OverlappingCode {
					bad++
					break ranges
				}
			}
		}
	}
	if bad < leastGarbled || bad*garbledShare < stated {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d functions that the file's own tables state hold bytes that do not decode: the code is probably encrypted, or changed before it runs", bad, stated)}
}

// density is the entropy of bytes, in bits a byte.
func density(b []byte) float64 {
	var count [256]int
	for _, c := range b {
		count[c]++
	}
	h := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(b))
			h -= p * math.Log2(p)
		}
	}
	return h
}

func (e *Engine) importPoverty() []string {
	if n := len(e.im.Imports); n <= fewImports && e.im.Kind != object.Relocatable {
		return []string{fmt.Sprintf("it imports %d functions only", n)}
	}
	return nil
}

// protections are the functions that change what memory may do, with the
// argument that says so and the bits that allow both writing and execution.
var protections = map[string]struct {
	argument int
	both     func(n uint64) bool
}{
	"mprotect":         {2, func(n uint64) bool { return n&6 == 6 }},
	"mmap":             {2, func(n uint64) bool { return n&6 == 6 }},
	"mmap64":           {2, func(n uint64) bool { return n&6 == 6 }},
	"VirtualProtect":   {2, func(n uint64) bool { return n == 0x40 || n == 0x80 }},
	"VirtualAlloc":     {3, func(n uint64) bool { return n == 0x40 || n == 0x80 }},
	"VirtualAllocEx":   {4, func(n uint64) bool { return n == 0x40 || n == 0x80 }},
	"VirtualProtectEx": {3, func(n uint64) bool { return n == 0x40 || n == 0x80 }},
}

// mostSites bounds the calls whose arguments are followed.
const mostSites = 32

// modifying are the notes about code that writes code.
func (e *Engine) modifying(ctx context.Context, p *program.Program) ([]string, error) {
	var out []string
	writes, first := 0, program.Ref{}
	for i := range p.Refs {
		r := &p.Refs[i]
		if r.Kind != program.RefWrite {
			continue
		}
		if s := e.im.SegmentAt(r.To); s != nil && s.Perm.Execute && e.im.Kind != object.Relocatable {
			if writes++; writes == 1 {
				first = *r
			}
		}
	}
	if writes > 0 {
		out = append(out, fmt.Sprintf("%d instructions write to executable memory, the first at 0x%x to 0x%x: code may change itself", writes, first.From, first.To))
	}
	l := e.lowered()
	if l == nil {
		return out, nil
	}
	followed := 0
	for i := range e.im.Imports {
		im := &e.im.Imports[i]
		name := strings.TrimPrefix(im.Name, "_")
		k, ok := protections[name]
		if !ok {
			continue
		}
		for _, at := range []uint64{im.Stub, im.Slot} {
			if at == 0 {
				continue
			}
			for r := range p.RefsTo(at, at+1) {
				f, ok := p.FunctionContaining(r.From)
				if !ok || r.Kind == program.RefPointer || followed >= mostSites || p.Functions[f].Kind == program.KindImportStub {
					continue
				}
				followed++
				x, _, err := e.flowOf(ctx, p, f)
				if err != nil {
					return nil, err
				}
				if x != nil && writesAndExecutes(x, r.From, k.argument, k.both) {
					out = append(out, fmt.Sprintf("the call of %s at 0x%x makes memory writable and executable: code may be written there", name, r.From))
				}
			}
		}
	}
	return out, nil
}

func writesAndExecutes(x *flow, site uint64, argument int, both func(uint64) bool) bool {
	for b := range x.f.Blocks {
		for _, v := range x.f.Blocks[b].Code {
			c := &x.f.Values[v]
			if c.Addr != site || c.Kind != ssa.Call && c.Kind != ssa.Jump {
				continue
			}
			list := x.f.List(v)
			if argument >= len(list) || list[argument] == 0 {
				return false
			}
			n, ok := x.at(list[argument], c.Block).One()
			return ok && both(n&0xffffffff)
		}
	}
	return false
}
