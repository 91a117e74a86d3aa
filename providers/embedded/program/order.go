package program

import (
	"context"
	"encoding/binary"
	"slices"

	"rea/providers/format/object"
)

// The references of the whole program in order. Those of one function are in
// order already, but functions lie in one another's gaps and parts of them far
// away. References from code are therefore dealt out to pieces of the code, and
// each piece is brought into order on its own.

// refPieces is how many pieces the code is divided into, at most.
const refPieces = 512

// gatherRefs makes p.Refs of the references in outs, which it empties, and
// those from data.
func (r *recovery) gatherRefs(p *Program, outs []output) error {
	shift := 12
	for r.sp.size>>shift >= refPieces {
		shift++
	}
	pieces := int(r.sp.size>>shift) + 1
	at := make([][]uint32, len(outs)) // by output: how many references in each piece, then where they go
	err := each(r.ctx, r.workers, len(outs), 1, func(_, k int) {
		at[k] = make([]uint32, pieces)
		for i := range outs[k].refs {
			at[k][r.sp.off(outs[k].refs[i].From)>>shift]++
		}
	})
	if err != nil {
		return err
	}
	data, err := r.dataRefs()
	if err != nil {
		return err
	}
	n, ends := uint32(0), make([]uint32, pieces)
	for i := range pieces {
		for k := range at {
			n, at[k][i] = n+at[k][i], n
		}
		ends[i] = n
	}
	all := int(n)
	for _, d := range data {
		all += len(d)
	}
	p.Refs = make([]Ref, n, all)
	err = each(r.ctx, r.workers, len(outs), 1, func(_, k int) {
		for _, x := range outs[k].refs {
			to := &at[k][r.sp.off(x.From)>>shift]
			p.Refs[*to] = x
			*to++
		}
		outs[k].refs = nil
	})
	if err != nil {
		return err
	}
	err = each(r.ctx, r.workers, pieces, 1, func(_, i int) {
		lo := uint32(0)
		if i > 0 {
			lo = ends[i-1]
		}
		if piece := p.Refs[lo:ends[i]]; !slices.IsSortedFunc(piece, compareRefs) {
			slices.SortFunc(piece, compareRefs)
		}
	})
	if err != nil {
		return err
	}
	for _, d := range data {
		p.Refs = append(p.Refs, d...)
	}
	if fromData := p.Refs[n:]; !slices.IsSortedFunc(fromData, compareRefs) {
		slices.SortFunc(fromData, compareRefs)
	}
	p.Refs = slices.Compact(mergeSorted(p.Refs[:n], p.Refs[n:], compareRefs))
	return nil
}

// References from data: pointers the relocations describe or, in files loaded
// at a fixed address, aligned words whose value is an address of a section.

func word(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b)
	}
	return uint64(binary.LittleEndian.Uint32(b))
}

// dataPiece is how many relocations, or bytes of a section, are looked at at a time.
const dataPiece = 1 << 16

// dataRefs finds the references from data, in lists one behind the other.
func (r *recovery) dataRefs() ([][]Ref, error) {
	var jobs []func() []Ref
	for relocs := range slices.Chunk(r.relocs, dataPiece) {
		jobs = append(jobs, func() []Ref { return r.relocRefs(relocs) })
	}
	if r.static {
		for i := range r.im.Sections {
			s := &r.im.Sections[i]
			if !s.Mapped || s.Code || s.FileSize == 0 || s.Addr == 0 || notPointers(s.Name) {
				continue
			}
			lead := -s.Addr & uint64(r.im.Bits/8-1)
			b := r.im.Bytes(s.Addr, int(min(s.FileSize, maxCode)))
			for lo := lead; lo < uint64(len(b)); lo += dataPiece {
				jobs = append(jobs, func() []Ref { return r.wordRefs(s.Addr+lo, b[lo:min(lo+dataPiece, uint64(len(b)))]) })
			}
		}
	}
	found := make([][]Ref, len(jobs))
	err := each(r.ctx, r.workers, len(jobs), 1, func(_, k int) { found[k] = jobs[k]() })
	return found, err
}

func (r *recovery) relocRefs(relocs []object.Relocation) (out []Ref) {
	for _, x := range relocs {
		if r.sp.off(x.Addr) == none && r.mapped(x.Target) {
			out = append(out, Ref{x.Addr, x.Target, RefPointer})
		}
	}
	return out
}

// wordRefs finds the words of b, which lies aligned at addr, that are addresses
// of sections.
func (r *recovery) wordRefs(addr uint64, b []byte) (out []Ref) {
	for w := r.im.Bits / 8; len(b) >= w; addr, b = addr+uint64(w), b[w:] {
		if v := word(b[:w]); v >= r.lowMapped && v < r.highMapped && r.sectionAt(v) != nil {
			out = append(out, Ref{addr, v, RefPointer})
		}
	}
	return out
}

// orderByTarget fills refsByTo and returns the places in data, and among code
// where no instruction starts, that code or data refers to, in order, each once.
func (p *Program) orderByTarget(workers int) []uint64 {
	keys := sortKeys(workers, len(p.Refs), func(i int) sortKey {
		x := &p.Refs[i]
		k := sortKey{key: x.To}
		if x.Kind == RefAddress || x.Kind == RefPointer || x.Kind == RefRead {
			if o := p.sp.off(x.To); o == none || x.Kind != RefRead && !p.starts.has(o) {
				k.mark = 1
			}
		}
		return k
	})
	p.refsByTo = make([]uint32, len(keys))
	parts := make([][]uint64, (len(keys)+sortPiece-1)/sortPiece)
	_ = each(context.Background(), workers, len(parts), 1, func(_, k int) {
		for i := k * sortPiece; i < min(len(keys), (k+1)*sortPiece); i++ {
			x := &keys[i]
			p.refsByTo[i] = x.i
			if n := len(parts[k]); x.mark != 0 && (n == 0 || parts[k][n-1] != x.key) {
				parts[k] = append(parts[k], x.key)
			}
		}
	})
	return slices.Compact(slices.Concat(parts...))
}
