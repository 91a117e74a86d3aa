package program

import (
	"math"

	"rea/providers/embedded/isa"
	"rea/providers/format/object"
)

// Stack heights, as in FETCH (Pang et al., "Towards Optimal Use of Exception
// Handling Information for Function Detection"): a jump made while the frame
// is still built is no tail call, and code that returns with a height other
// than its caller's is not a function's beginning.

// height is the stack pointer relative to its value at entry, at one point.
type height struct {
	sp, fp  int32
	spKnown bool
	fpKnown bool
	set     bool
}

func (h *height) meet(o height) (changed bool) {
	if !h.set {
		*h = o
		h.set = true
		return true
	}
	if h.spKnown && (!o.spKnown || o.sp != h.sp) {
		h.spKnown, changed = false, true
	}
	if h.fpKnown && (!o.fpKnown || o.fp != h.fp) {
		h.fpKnown, changed = false, true
	}
	return changed
}

func (h *height) move(d int64) {
	n := int64(h.sp) + d
	if n > math.MaxInt32/2 || n < math.MinInt32/2 {
		h.spKnown = false
		return
	}
	h.sp = int32(n)
}

// stackRegs are the stack and frame pointers of an architecture.
func stackRegs(a object.Arch) (sp, fp isa.Reg, word int64) {
	switch a {
	case object.ARM64:
		return isa.SP, 29, 8
	case object.X86:
		return 4, 5, 4
	}
	return 4, 5, 8
}

// stepHeight applies one instruction.
func stepHeight(arch object.Arch, h *height, in *isa.Inst) {
	sp, fp, word := stackRegs(arch)
	if asksPC(arch, in) {
		h.move(-word)
		return
	}
	if in.Writes&(1<<sp|1<<fp) == 0 {
		return
	}
	if in.Flow == isa.Call || in.Flow == isa.IndirectCall || in.Flow == isa.Return {
		return
	}
	wroteSP, wroteFP := in.Writes&(1<<sp) != 0, in.Writes&(1<<fp) != 0
	old := *h
	if wroteSP {
		switch {
		case in.Class == isa.Push:
			h.move(-max(word, int64(in.Size)))
		case in.Class == isa.Pop && in.Dst != sp:
			h.move(max(word, int64(in.Size)))
		case in.Class == isa.Leave:
			h.sp, h.spKnown = old.fp, old.fpKnown
			h.move(word)
		case in.Class == isa.Sub && in.Dst == sp && in.Src == sp && in.HasImm:
			h.move(-in.Imm)
		case in.Class == isa.Add && in.Dst == sp && in.Src == sp && in.HasImm:
			h.move(in.Imm)
		case in.Class == isa.Address && in.Dst == sp && in.Mem.Base == sp && in.Mem.Index == isa.NoReg:
			h.move(in.Mem.Disp)
		case in.Class == isa.Address && in.Dst == sp && in.Mem.Base == fp && in.Mem.Index == isa.NoReg:
			h.sp, h.spKnown = old.fp, old.fpKnown
			h.move(in.Mem.Disp)
		case in.Class == isa.Move && in.Dst == sp && in.Src == fp:
			h.sp, h.spKnown = old.fp, old.fpKnown
		case (in.Class == isa.Sub || in.Class == isa.Add) && in.Dst == sp && in.Src == fp && in.HasImm:
			h.sp, h.spKnown = old.fp, old.fpKnown
			if in.Class == isa.Sub {
				h.move(-in.Imm)
			} else {
				h.move(in.Imm)
			}
		case in.Class == isa.Move && in.Dst == fp && in.Src == sp:
			// mov x29, sp seen as a write of both by no decoder; kept for exactness
		case arch == object.ARM64 && in.HasMem && in.Mem.Base == sp:
			if in.Mem.Disp != 0 {
				h.move(in.Mem.Disp)
			} else {
				h.move(in.Imm)
			}
		default:
			h.spKnown = false
		}
	}
	if wroteFP {
		switch {
		case in.Class == isa.Move && in.Dst == fp && in.Src == sp:
			h.fp, h.fpKnown = old.sp, old.spKnown
		case in.Class == isa.Add && in.Dst == fp && in.Src == sp && in.HasImm:
			h.fp, h.fpKnown = old.sp+int32(in.Imm), old.spKnown
		case in.Class == isa.Address && in.Dst == fp && in.Mem.Base == sp && in.Mem.Index == isa.NoReg:
			h.fp, h.fpKnown = old.sp+int32(in.Mem.Disp), old.spKnown
		default:
			h.fpKnown = false
		}
	}
}

// computeHeights fills f.heights with the height at the start of each block.
func (r *recovery) computeHeights(f *fn) {
	if f.heights != nil || len(f.blocks) == 0 {
		return
	}
	hs := make([]height, len(f.blocks))
	entry := f.blockStart(f.entry)
	if entry < 0 {
		return
	}
	hs[entry] = height{set: true, spKnown: true}
	work := []int{entry}
	var in isa.Inst
	for steps := 0; len(work) > 0 && steps < 8*len(f.blocks)+16; steps++ {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		h := r.heightAt(&in, f, i, hs[i], none)
		r.succ(f, &f.blocks[i], func(j int, kind EdgeKind) {
			if kind == EdgeLandingPad {
				if !hs[j].set {
					hs[j] = height{set: true}
					work = append(work, j)
				}
				return
			}
			if hs[j].meet(h) {
				work = append(work, j)
			}
		})
	}
	f.heights = hs
}

// heightAt advances h, the height at the start of block i, to just before the
// instruction at off, or to the block's end.
func (r *recovery) heightAt(in *isa.Inst, f *fn, i int, h height, off uint32) height {
	b := &f.blocks[i]
	for a := b.start; a < b.end && a != off; a += uint32(in.Len) {
		r.decode(a, in)
		stepHeight(r.im.Arch, &h, in)
	}
	return h
}

// heightOf is the height just before the instruction at off in f.
func (r *recovery) heightOf(f *fn, off uint32) height {
	i := f.blockAt(off)
	if i < 0 || f.heights == nil || !f.heights[i].set {
		return height{}
	}
	var in isa.Inst
	return r.heightAt(&in, f, i, f.heights[i], off)
}
