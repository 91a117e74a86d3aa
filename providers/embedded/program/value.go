package program

import (
	"rea/providers/embedded/isa"
	"rea/providers/format/object"
)

// Symbolic evaluation of one straight path of blocks, for jump tables and
// computed calls: every register holds a linear form over a few terms, and
// conditional branches along the path bound some of them. It is the forward
// reading of a backward slice (Cifuentes and Van Emmerik, "Recovery of jump
// table case statements from binary code").

type termKind uint8

const (
	termSym  termKind = iota // an unknown value
	termLoad                 // memory at arg
	termExt                  // arg, its low bytes extended
	termMask                 // arg & imm
	termShr                  // arg shifted right by size bits; imm is the most it can be
)

// term is one non-constant part of a value.
type term struct {
	kind   termKind
	size   uint8
	signed bool
	id     uint32
	imm    int64 // of a load: the part of its address that stood in one operand
	arg    lin
}

// lin is c + Σ coef·term.
type lin struct {
	c int64
	n uint8
	t [2]struct {
		coef int64
		term *term
	}
}

func constant(c int64) lin { return lin{c: c} }

func one(t *term) lin {
	l := lin{n: 1}
	l.t[0].coef, l.t[0].term = 1, t
	return l
}

func (l *lin) isConst() bool { return l.n == 0 }

func sameTerm(a, b *term, depth int) bool {
	if a == b {
		return true
	}
	if depth == 0 || a.kind != b.kind || a.kind == termSym {
		return a.kind == termSym && b.kind == termSym && a.id == b.id
	}
	return a.size == b.size && (a.imm == b.imm || a.kind == termLoad) && sameLin(&a.arg, &b.arg, depth-1)
}

func sameLin(a, b *lin, depth int) bool {
	if a.c != b.c || a.n != b.n {
		return false
	}
	for i := range a.n {
		if a.t[i].coef != b.t[i].coef || !sameTerm(a.t[i].term, b.t[i].term, depth) {
			return false
		}
	}
	return true
}

// bare strips extensions: what is left may be compared with a value that was
// tested before it was extended.
func bare(l lin) lin {
	for l.n == 1 && l.c == 0 && l.t[0].coef == 1 && l.t[0].term.kind == termExt {
		l = l.t[0].term.arg
	}
	return l
}

// addLin returns a + k·b; ok is false when the sum needs more terms than a lin holds.
func addLin(a, b lin, k int64) (lin, bool) {
	a.c += k * b.c
	for i := range b.n {
		bt := b.t[i]
		found := false
		for j := range a.n {
			if sameTerm(a.t[j].term, bt.term, 4) {
				a.t[j].coef += k * bt.coef
				if a.t[j].coef == 0 {
					a.n--
					a.t[j] = a.t[a.n]
				}
				found = true
				break
			}
		}
		if found {
			continue
		}
		if int(a.n) == len(a.t) {
			return lin{}, false
		}
		a.t[a.n].coef, a.t[a.n].term = k*bt.coef, bt.term
		a.n++
	}
	return a, true
}

// bound says that x is at most max, as an unsigned number or, when low is set,
// at least max.
type bound struct {
	x      lin
	max    int64
	low    bool
	signed bool
}

type slot struct {
	addr, value lin
	size        uint8
}

// path evaluates blocks one after the other.
type path struct {
	arch     object.Arch
	lost     uint64 // registers that a call need not keep
	regs     [33]lin
	slots    []slot
	bounds   []bound
	nextID   uint32
	unknowns []*term // by number: values that were unknown to earlier paths serve later ones

	cmpX   lin // the last comparison: cmpX against cmpMax
	cmpImm int64
	cmpOK  bool
	flags  bool // the current instruction sets the flags

	spills *frameWords // words of the frame that hold addresses; nil when they were not looked for
	held   uint64      // those of them that do at the start of the path

	anchor int64 // of the address made last: its displacement and the registers that hold constants

	pointer func(slot uint64) (uint64, bool) // the address that a constant pointer holds
}

const (
	pathSlots    = 64
	firstUnknown = 64 // the numbers below are of registers at the start
)

// entryRegs are the unknown values at the start of a path. Terms are never changed.
var entryRegs = func() (regs [33]lin) {
	for i := range regs {
		regs[i] = one(&term{kind: termSym, id: uint32(i)})
	}
	return regs
}()

func (p *path) reset(arch object.Arch, lost uint64) {
	p.arch, p.lost = arch, lost
	p.slots, p.bounds, p.nextID, p.cmpOK, p.spills = p.slots[:0], p.bounds[:0], firstUnknown, false, nil
	p.regs = entryRegs
	if arch == object.ARM64 {
		p.regs[isa.ZR] = constant(0)
	}
}

// frame begins a path at a known height: the stack pointer's value at entry is
// what the unknown value of its register stands for.
func (p *path) frame(spills *frameWords, held uint64, h height) {
	sp, fp, _ := stackRegs(p.arch)
	if h.fpKnown {
		p.regs[fp] = entryRegs[sp]
		p.regs[fp].c = int64(h.fp)
	}
	switch {
	case h.spKnown:
		p.regs[sp].c = int64(h.sp)
	default:
		p.set(sp, p.unknown())
	}
	p.spills, p.held = spills, held
}

// merge forgets the numbers that other ways into a block may change: those
// that are no addresses.
func (p *path) merge(placed func(uint64) bool) {
	for i := range p.regs {
		if p.regs[i].isConst() && !placed(uint64(p.regs[i].c)) {
			p.set(isa.Reg(i), p.unknown())
		}
	}
	kept := p.slots[:0]
	for _, s := range p.slots {
		if !s.value.isConst() || placed(uint64(s.value.c)) {
			kept = append(kept, s)
		}
	}
	p.slots = kept
}

func (p *path) unknown() lin {
	i := int(p.nextID - firstUnknown)
	p.nextID++
	if i == len(p.unknowns) {
		p.unknowns = append(p.unknowns, &term{kind: termSym, id: p.nextID})
	}
	return one(p.unknowns[i])
}

func (p *path) get(r isa.Reg) lin {
	if int(r) < len(p.regs) {
		return p.regs[r]
	}
	return p.unknown()
}

func (p *path) set(r isa.Reg, v lin) {
	if int(r) < len(p.regs) && !(p.arch == object.ARM64 && r == isa.ZR) {
		p.regs[r] = v
	}
}

func (p *path) address(m *isa.Mem) lin {
	l := constant(m.Disp)
	ok := m.Segment == 0
	p.anchor = m.Disp
	put := func(v lin, k int64) {
		if v.isConst() {
			p.anchor += k * v.c
		}
		var o bool
		l, o = addLin(l, v, k)
		ok = ok && o
	}
	if m.Base != isa.NoReg && m.Base != isa.PC {
		put(p.get(m.Base), 1)
	}
	if m.Index != isa.NoReg {
		put(p.get(m.Index), max(1, int64(m.Scale)))
	}
	if !ok {
		return p.unknown()
	}
	return l
}

func (p *path) load(addr lin, size uint8, signed bool) lin {
	anchor := p.anchor
	p.anchor = 0
	for i := len(p.slots) - 1; i >= 0; i-- {
		if s := &p.slots[i]; s.size >= size && sameLin(&s.addr, &addr, 4) {
			return s.value
		}
	}
	sp, _, word := stackRegs(p.arch)
	if addr.n == 1 && int64(size) == word && p.spills != nil && addr.t[0].coef == 1 && addr.t[0].term == entryRegs[sp].t[0].term {
		if v, ok := p.spills.value(p.held, addr.c); ok {
			return constant(v)
		}
	}
	if addr.isConst() && int64(size) == word && p.pointer != nil {
		if to, ok := p.pointer(uint64(addr.c)); ok {
			return constant(int64(to))
		}
	}
	return one(&term{kind: termLoad, size: size, signed: signed, imm: anchor, arg: addr})
}

func (p *path) store(addr lin, v lin, size uint8) {
	kept := p.slots[:0]
	for _, s := range p.slots {
		if !sameLin(&s.addr, &addr, 4) {
			kept = append(kept, s)
		}
	}
	p.slots = kept
	if len(p.slots) < pathSlots {
		p.slots = append(p.slots, slot{addr, v, size})
	}
}

// operand2 is the second source of a three-address instruction.
func (p *path) operand2(in *isa.Inst) lin {
	switch {
	case in.Src2 != isa.NoReg:
		v := p.get(in.Src2)
		if in.SrcSize != 0 {
			v = one(&term{kind: termExt, size: in.SrcSize, signed: in.Signed, arg: v})
		}
		if in.Amount != 0 && p.arch == object.ARM64 {
			w, ok := addLin(lin{}, v, 1<<(in.Amount&63))
			if !ok {
				return p.unknown()
			}
			v = w
		}
		return v
	case in.HasImm:
		return constant(in.Imm)
	case in.HasMem:
		return p.load(p.address(&in.Mem), in.Mem.Size, false)
	}
	return p.unknown()
}

func (p *path) operand1(in *isa.Inst) lin {
	if in.Src != isa.NoReg {
		return p.get(in.Src)
	}
	if in.HasMem {
		return p.load(p.address(&in.Mem), in.Mem.Size, false)
	}
	return p.unknown()
}

// step evaluates one instruction; code holds its bytes.
func (p *path) step(in *isa.Inst, code []byte) {
	// x86 arithmetic sets the flags always, AArch64's where its S bit says so
	p.flags = p.arch != object.ARM64 || len(code) > 3 && code[3]>>5&1 == 1
	if in.Flow == isa.Call || in.Flow == isa.IndirectCall {
		p.call()
		return
	}
	dst, v, known := in.Dst, lin{}, true
	switch in.Class {
	case isa.Push:
		known = false
	case isa.Pop:
		if sp, _, word := stackRegs(p.arch); in.Dst != isa.NoReg && in.Dst != sp && !in.HasMem {
			v = p.load(p.get(sp), uint8(word), false)
		} else {
			known = false
		}
	case isa.Move:
		if in.HasImm {
			v = constant(in.Imm)
			if in.Size == 4 {
				v.c = int64(uint32(in.Imm))
			}
		} else {
			v = p.get(in.Src)
		}
		known = in.Size >= 4
	case isa.Load:
		v = p.load(p.address(&in.Mem), in.Mem.Size, in.Signed)
	case isa.Extend:
		if in.HasMem {
			v = p.load(p.address(&in.Mem), in.Mem.Size, in.Signed)
		} else {
			v = p.extend(in)
		}
	case isa.Address:
		v = p.address(&in.Mem)
	case isa.Add, isa.Sub:
		v, known = p.sum(in)
	case isa.Shift:
		v, known = p.shift(in)
	case isa.And:
		v, known = p.mask(in)
	case isa.Xor:
		known = in.Src != isa.NoReg && in.Src == in.Src2 && in.Reads == 0
	case isa.Store:
		var val lin
		if in.Src != isa.NoReg {
			val = p.get(in.Src)
		} else if in.HasImm {
			val = constant(in.Imm)
		} else {
			val = p.unknown()
		}
		p.store(p.address(&in.Mem), val, in.Mem.Size)
		known = false
	case isa.Compare, isa.Test:
		p.compare(in)
		known = false
	default:
		if v, known = p.field(in, code); known {
			break
		}
		if p.arch == object.ARM64 && in.Class == isa.Other && in.Writes == 0 && !in.HasMem {
			p.cmpOK = false // a conditional or floating-point comparison
		}
	}
	if in.Writes != 0 {
		for r := range p.regs {
			if in.Writes&(1<<r) != 0 && !(known && isa.Reg(r) == dst) {
				p.clobber(in, isa.Reg(r))
			}
		}
	}
	if known && dst != isa.NoReg {
		p.set(dst, v)
	}
}

// clobber forgets a register, except where the change of a base by writeback
// or a push is plain.
func (p *path) clobber(in *isa.Inst, r isa.Reg) {
	sp := isa.Reg(4)
	if p.arch == object.ARM64 {
		sp = isa.SP
	}
	if r == sp && (in.Class == isa.Push || in.Class == isa.Pop) {
		k := int64(8)
		if p.arch == object.X86 {
			k = 4
		}
		k = max(k, int64(in.Size)) // two registers at once
		if in.Class == isa.Push {
			k = -k
		}
		p.regs[r].c += k
		if in.Class == isa.Push {
			v := p.unknown()
			if in.Src != isa.NoReg && in.Src != sp {
				v = p.get(in.Src)
			} else if in.HasImm {
				v = constant(in.Imm)
			}
			if in.Src2 != isa.NoReg {
				v = p.unknown()
			}
			p.store(p.regs[r], v, uint8(-k))
		}
		return
	}
	if p.arch == object.ARM64 && in.HasMem && in.Mem.Base == r && (in.Class == isa.Load || in.Class == isa.Store || in.Class == isa.Other) {
		if in.HasImm && in.Mem.Disp == 0 {
			p.regs[r].c += in.Imm
			return
		}
		p.regs[r].c += in.Mem.Disp
		return
	}
	p.set(r, p.unknown())
}

func (p *path) call() {
	if p.arch == object.ARM64 {
		for r := range 19 {
			p.set(isa.Reg(r), p.unknown())
		}
		p.set(30, p.unknown())
	} else {
		for r := range isa.Reg(32) {
			if p.lost&(1<<r) != 0 {
				p.set(r, p.unknown())
			}
		}
	}
	p.cmpOK = false
}

func (p *path) extend(in *isa.Inst) lin {
	v := p.get(in.Src)
	if v.isConst() {
		return v
	}
	return one(&term{kind: termExt, size: in.SrcSize, signed: in.Signed, arg: v})
}

func (p *path) sum(in *isa.Inst) (lin, bool) {
	a, b := p.operand1(in), p.operand2(in)
	k := int64(1)
	if in.Class == isa.Sub {
		k = -1
	}
	if p.flags {
		p.cmpOK = false
		if c := b; in.Class == isa.Sub {
			p.setCompare(a, c)
		} else if c.isConst() && c.c < 0 { // the addition of a negative number is a subtraction too
			p.setCompare(a, constant(-c.c))
		}
	}
	v, ok := addLin(a, b, k)
	return v, ok && in.Size >= 4 && in.Dst != isa.NoReg
}

func (p *path) shift(in *isa.Inst) (lin, bool) {
	p.cmpOK = p.cmpOK && !p.flags
	if !in.HasImm || in.Size < 4 || in.Dst == isa.NoReg {
		return lin{}, false
	}
	a := p.operand1(in)
	if in.Imm >= 0 && in.Imm < 16 {
		v, ok := addLin(lin{}, a, 1<<uint(in.Imm))
		return v, ok
	}
	if a.isConst() && in.Imm < 0 && in.Imm > -64 {
		return constant(int64(uint64(a.c) >> uint(-in.Imm))), true
	}
	if n := -in.Imm; n > 0 && n < int64(in.Size)*8 && !in.Signed {
		return one(&term{kind: termShr, size: uint8(n), imm: int64(^uint64(0) >> (64 - int64(in.Size)*8 + n)), arg: a}), true
	}
	return lin{}, false
}

// field is the value of AArch64's ubfm where it takes bits from above bit 0.
func (p *path) field(in *isa.Inst, code []byte) (lin, bool) {
	if p.arch != object.ARM64 || len(code) < 4 || in.Dst == isa.NoReg || in.Src == isa.NoReg {
		return lin{}, false
	}
	w := uint32(code[0]) | uint32(code[1])<<8 | uint32(code[2])<<16 | uint32(code[3])<<24
	lowest, highest := w>>16&63, w>>10&63
	if w&0x7f800000 != 0x53000000 || highest < lowest || highest-lowest > 30 {
		return lin{}, false
	}
	shifted := term{kind: termShr, size: uint8(lowest), imm: int64(^uint64(0) >> lowest >> 1), arg: p.get(in.Src)}
	return one(&term{kind: termMask, imm: 1<<(highest-lowest+1) - 1, arg: one(&shifted)}), true
}

func (p *path) mask(in *isa.Inst) (lin, bool) {
	p.cmpOK = p.cmpOK && !p.flags
	if in.Dst == isa.NoReg || in.Size < 4 && !in.HasImm {
		return lin{}, false
	}
	a, b := p.operand1(in), p.operand2(in)
	if a.isConst() {
		a, b = b, a
	}
	if !b.isConst() || b.c < 0 {
		return lin{}, false
	}
	return one(&term{kind: termMask, imm: b.c, arg: a}), true
}

func (p *path) compare(in *isa.Inst) {
	p.cmpOK = false
	if in.Class == isa.Compare {
		b := p.operand2(in)
		if b.isConst() && (in.Size == 1 || in.Size == 2) { // immediates are sign-extended beyond the operand
			b.c &= 1<<(8*in.Size) - 1
		}
		p.setCompare(p.operand1(in), b)
	}
}

func (p *path) setCompare(a, b lin) {
	if b.isConst() {
		p.cmpX, p.cmpImm, p.cmpOK = a, b.c, true
		return
	}
	if a.isConst() { // compared the other way round: kept as a negated form
		p.cmpOK = false
	}
}

// branch records what the conditional branch in says on the side taken.
func (p *path) branch(in *isa.Inst, taken bool) {
	if !p.cmpOK || in.Flow != isa.CondJump || in.Cond >= 16 {
		return
	}
	if least, signed, ok := lowerBound(p.arch, in.Cond, taken); ok && p.cmpImm > -1<<31 && p.cmpImm < 1<<31 {
		n, x := p.cmpImm+least, p.cmpX
		if n < 0 && !signed { // close to what a register can hold: x - n is below -n
			x.c -= n
			p.bounds = append(p.bounds, bound{x: x, max: -n - 1})
		} else {
			p.bounds = append(p.bounds, bound{x: x, max: n, low: true, signed: signed})
		}
		return
	}
	limit, ok := upperBound(p.arch, in.Cond, taken)
	if !ok {
		return
	}
	m := p.cmpImm + limit
	if m < 0 || m >= 1<<31 {
		return
	}
	signed := in.Cond >= 12
	if p.arch == object.ARM64 {
		signed = in.Cond >= 10
	}
	p.bounds = append(p.bounds, bound{x: p.cmpX, max: m, signed: signed})
}

// lowerBound says whether a condition, being true or false after a comparison
// with n, means x ≥ n (0) or x ≥ n+1 (1), and whether as signed numbers.
func lowerBound(arch object.Arch, cond uint8, taken bool) (least int64, signed, ok bool) {
	above, aboveEq, greater, greaterEq := uint8(7), uint8(3), uint8(15), uint8(13)
	if arch == object.ARM64 {
		above, aboveEq, greater, greaterEq = 8, 2, 12, 10
	}
	if !taken {
		cond ^= 1 // the opposite condition
	}
	switch cond {
	case above:
		return 1, false, true
	case aboveEq:
		return 0, false, true
	case greater:
		return 1, true, true
	case greaterEq:
		return 0, true, true
	}
	return 0, false, false
}

// upperBound says whether a condition, being true or false after a comparison
// with n, means x ≤ n (0) or x ≤ n-1 (-1).
func upperBound(arch object.Arch, cond uint8, taken bool) (int64, bool) {
	const (
		above = iota
		below
		aboveEq
		belowEq
	)
	c := -1
	if arch == object.ARM64 {
		switch cond {
		case 8, 12:
			c = above
		case 9, 13:
			c = belowEq
		case 2, 10:
			c = aboveEq
		case 3, 11:
			c = below
		case 0:
			if taken {
				return 0, true
			}
		}
	} else {
		switch cond {
		case 7, 15:
			c = above
		case 6, 14:
			c = belowEq
		case 3, 13:
			c = aboveEq
		case 2, 12:
			c = below
		}
	}
	switch {
	case c == above && !taken, c == belowEq && taken:
		return 0, true
	case c == aboveEq && !taken, c == below && taken:
		return -1, true
	}
	return 0, false
}
