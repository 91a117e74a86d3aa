package ssa

import (
	"context"

	"rea/providers/embedded/ir"
)

// Nearly every arithmetic instruction assigns every flag, and nearly none of
// them is read. Before the code is kept, a backward flow over the flags alone
// finds which are read behind each block, so that the others need no values.

// flagUse is what a block does with the flags.
type flagUse struct{ reads, writes Set }

// liveFlags are the flags that are read behind each block before they are
// assigned.
func liveFlags(ctx context.Context, in *Input) ([]Set, error) {
	arch := in.Code.Arch()
	uses := make([]flagUse, len(in.Blocks))
	var code stream
	for i := range in.Blocks {
		if i%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for a := in.Blocks[i].Start; a < in.Blocks[i].End; {
			code.Reset()
			code.marks = code.marks[:0]
			n := code.instruction(in, a, in.Blocks[i].End)
			for k := range code.Insts {
				uses[i].statement(&code.Code, &code.Insts[k], arch)
			}
			a += uint64(n)
		}
	}
	preds := make([][]int32, len(in.Blocks))
	for i := range in.Blocks {
		for _, to := range in.Blocks[i].To {
			preds[to] = append(preds[to], int32(i))
		}
	}
	live := make([]Set, len(in.Blocks)) // behind
	var work []int32
	for i := range in.Blocks {
		if uses[i].reads != (Set{}) {
			work = append(work, int32(i))
		}
	}
	// Every visit of a block adds a flag to a predecessor, of which there are few.
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		before := Set{uses[b].reads[0] | live[b][0]&^uses[b].writes[0], uses[b].reads[1] | live[b][1]&^uses[b].writes[1]}
		for _, p := range preds[b] {
			more := Set{live[p][0] | before[0], live[p][1] | before[1]}
			if more != live[p] {
				live[p] = more
				work = append(work, p)
			}
		}
	}
	return live, nil
}

func isFlag(v ir.Value, arch *ir.Arch) bool {
	return v.Kind == ir.Reg && v.N < 128 && arch.Register[v.N].Bits == 1
}

func (u *flagUse) statement(c *ir.Code, x *ir.Inst, arch *ir.Arch) {
	read := func(v ir.Value) {
		if isFlag(v, arch) && !u.writes.Has(int(v.N)) {
			u.reads = u.reads.With(int(v.N))
		}
	}
	read(x.A)
	read(x.B)
	read(x.C)
	switch x.Op {
	case ir.Opaque:
		e := &c.Effects[x.Effect]
		for _, v := range e.Reads {
			read(v)
		}
		for _, v := range e.Writes {
			if isFlag(v, arch) {
				u.writes = u.writes.With(int(v.N))
			}
		}
	case ir.Call, ir.Return:
		for r := range arch.Register {
			if r < 128 && arch.Register[r].Bits == 1 {
				u.writes = u.writes.With(r)
			}
		}
	}
	if isFlag(x.Dst, arch) {
		u.writes = u.writes.With(int(x.Dst.N))
	}
}
