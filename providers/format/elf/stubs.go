package elf

import (
	"cmp"
	"slices"
	"strings"

	"rea/providers/format/object"
)

// slot is one pointer that the loader binds and a stub may jump through.
type slot struct {
	addr   uint64
	name   string
	target uint64
	local  bool // target is known
	plt    int  // index in the PLT relocations, or -1
}

// findStubs decodes the procedure linkage tables: in the sections named for
// them or, when there are none, wherever code has exactly their form.
func (f *file) findStubs() {
	slots := f.slots()
	if len(slots) == 0 || f.header.typ == etRel {
		return
	}
	var decode func(code []byte, addr uint64, slots []slot, strict bool) []object.Stub
	switch f.header.machine {
	case emX86_64:
		decode = f.stubsX86_64
	case em386, emIAMCU:
		decode = f.stubs386
	case emAArch64:
		decode = f.stubsAArch64
	case emARM:
		decode = f.stubsARM
	default:
		return
	}
	var found []object.Stub
	ranges := f.pltSections()
	for _, r := range ranges {
		found = append(found, decode(f.mapped(r.Addr, r.Size), r.Addr, slots, false)...)
	}
	if len(found) == 0 {
		for _, s := range f.im.Segments {
			if s.Perm.Execute {
				found = append(found, decode(f.mapped(s.Addr, s.FileSize), s.Addr, slots, true)...)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b object.Stub) int { return cmp.Compare(a.Addr, b.Addr) })
	f.im.Stubs = slices.CompactFunc(found, func(a, b object.Stub) bool { return a.Addr == b.Addr })
	f.attachStubs()
}

// slots lists what stubs may jump through, by address.
func (f *file) slots() []slot {
	var out []slot
	plt := 0
	for i := range f.relocs {
		r := &f.relocs[i]
		index := -1
		if r.plt {
			index = plt
			plt++
		}
		if r.class != classJumpSlot && r.class != classGlobDat && r.class != classIndirect && !f.gotEntry(r) {
			continue
		}
		s := slot{addr: r.addr, plt: index}
		sym := r.table.get(r.sym)
		if sym != nil && r.sym != 0 {
			s.name = sym.name
		}
		s.target, s.local = f.relocTarget(r, sym)
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b slot) int { return cmp.Compare(a.addr, b.addr) })
	return out
}

func findSlot(slots []slot, addr uint64) *slot {
	i, ok := slices.BinarySearchFunc(slots, addr, func(s slot, a uint64) int { return cmp.Compare(s.addr, a) })
	if !ok {
		return nil
	}
	return &slots[i]
}

func (s *slot) stub(addr, size uint64) object.Stub {
	return object.Stub{Addr: addr, Size: size, Kind: object.StubJump, Slot: s.addr, Name: s.name, Target: s.target, HasTarget: s.local}
}

func (f *file) pltSections() []object.Range {
	var out []object.Range
	for _, s := range f.im.Sections {
		if s.Mapped && s.Code && (strings.HasPrefix(s.Name, ".plt") || s.Name == ".iplt") && f.im.Executable(s.Addr) {
			out = append(out, object.Range{Addr: s.Addr, Size: s.Size})
		}
	}
	return out
}

// attachStubs gives each import the stub that jumps through its slot.
func (f *file) attachStubs() {
	bySlot := map[uint64]uint64{}
	for _, s := range f.im.Stubs {
		if s.Kind != object.StubJump {
			continue
		}
		if _, ok := bySlot[s.Slot]; !ok {
			bySlot[s.Slot] = s.Addr
		}
	}
	for i := range f.im.Imports {
		if im := &f.im.Imports[i]; im.Slot != 0 {
			im.Stub = bySlot[im.Slot]
		}
	}
}
