package program

import (
	"rea/providers/embedded/isa"
	"rea/providers/format/object"
)

// Small leaf functions are looked through where registers are followed: code
// that compilers move out of functions to save space keeps to no convention, and
// position-independent code of 32-bit x86 asks one for its own address.

const leafBytes = 64

// measureLeaf notes which registers f writes when it is one run of a few
// instructions that returns.
func (r *recovery) measureLeaf(f *fn) {
	f.leaf, f.writes, f.pc = false, 0, isa.NoReg
	if len(f.blocks) != 1 || len(f.calls) > 0 || len(f.exits) > 0 || !f.returns || f.blocks[0].end-f.entry > leafBytes {
		return
	}
	var in isa.Inst
	for a := f.entry; a < f.blocks[0].last; a += uint32(in.Len) {
		r.decode(a, &in)
		f.writes |= in.Writes
		if a == f.entry && r.im.Arch == object.X86 && in.Class == isa.Load && in.Mem.Base == 4 && in.Mem.Index == isa.NoReg && in.Mem.Disp == 0 && a+uint32(in.Len) == f.blocks[0].last {
			f.pc = in.Dst
		}
	}
	f.leaf = true
	r.small.share(f.entry)
}

// leafAt returns the small leaf function that the call in reaches, or nil.
func (r *recovery) leafAt(in *isa.Inst) *fn {
	if in.Flow != isa.Call {
		return nil
	}
	o := r.sp.off(in.Target)
	if o == none || !r.small.has(o) {
		return nil
	}
	if f := r.byEntry[o]; f != nil && f.leaf {
		return f
	}
	return nil
}

// asksPC says whether a call only pushes the address behind itself.
func asksPC(arch object.Arch, in *isa.Inst) bool {
	return arch != object.ARM64 && in.Flow == isa.Call && in.Target == in.Addr+uint64(in.Len)
}

// through evaluates the leaf function f, called by in.
func (r *recovery) through(p *path, f *fn, in *isa.Inst) {
	ret := constant(int64(in.Addr + uint64(in.Len)))
	sp, _, word := stackRegs(p.arch)
	if p.arch == object.ARM64 {
		p.set(30, ret)
	} else {
		p.regs[sp].c -= word
		p.store(p.regs[sp], ret, uint8(word))
	}
	var x isa.Inst
	for a := f.entry; a < f.blocks[0].last; a += uint32(x.Len) {
		r.decode(a, &x)
		p.step(&x, r.sp.bytes(a))
	}
	if p.arch != object.ARM64 {
		p.regs[sp].c += word
	}
}
