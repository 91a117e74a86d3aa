package elf

import (
	"encoding/binary"

	"rea/providers/format/object"
)

// AArch64 instructions that make up stubs.
const (
	a64BTIC     = 0xd503245f
	a64BrX17    = 0xd61f0220
	a64Autia171 = 0xd503219f // autia1716
	a64Nop      = 0xd503201f
	a64StpX16   = 0xa9bf7bf0 // stp x16, x30, [sp, #-16]!
)

// stubsAArch64 finds "adrp x16, page; ldr x17, [x16, #lo]; add x16, x16, #lo;
// br x17", with or without BTI before and AUTIA1716 between; the add is absent
// in entries that are never bound lazily. The form is unmistakable, so strict
// makes no difference.
func (f *file) stubsAArch64(code []byte, addr uint64, slots []slot, _ bool) []object.Stub {
	var out []object.Stub
	insn := func(i int) uint32 { // little endian whatever the data is
		if i < 0 || i+4 > len(code) {
			return 0
		}
		return binary.LittleEndian.Uint32(code[i:])
	}
	for i := 0; i+12 <= len(code); i += 4 {
		adrp := insn(i)
		if adrp&0x9f00001f != 0x90000010 {
			continue
		}
		ldr := insn(i + 4)
		if ldr&0xffc003ff != 0xf9400211 {
			continue
		}
		pages := int64(int32(adrp>>5&0x7ffff<<2|adrp>>29&3)<<11) >> 11
		at := (addr+uint64(i))&^0xfff + uint64(pages)<<12 + uint64(ldr>>10&0xfff)*8
		end := i + 8
		if insn(end)&0xffc003ff == 0x91000210 { // add x16, x16, #lo
			end += 4
		}
		if insn(end) == a64Autia171 {
			end += 4
		}
		if insn(end) != a64BrX17 {
			continue
		}
		end += 4
		start := i
		if start >= 4 && insn(start-4) == a64BTIC {
			start -= 4
		}
		if start >= 4 && insn(start-4) == a64StpX16 {
			// The head of the table: it saves what the resolver needs.
			start -= 4
			if start >= 4 && insn(start-4) == a64BTIC {
				start -= 4
			}
			for end+4 <= len(code) && insn(end) == a64Nop {
				end += 4
			}
			out = append(out, object.Stub{Addr: addr + uint64(start), Size: uint64(end - start), Kind: object.StubResolver})
			i = end - 4
			continue
		}
		s := findSlot(slots, at)
		if s == nil {
			continue
		}
		for end+4 <= len(code) && insn(end) == a64Nop {
			end += 4
		}
		out = append(out, s.stub(addr+uint64(start), uint64(end-start)))
		i = end - 4
	}
	return out
}

// stubsARM finds "add ip, pc, #a; add ip, ip, #b; ldr pc, [ip, #c]!" with an
// optional third add, each immediate rotated as ARM does.
func (f *file) stubsARM(code []byte, addr uint64, slots []slot, _ bool) []object.Stub {
	var out []object.Stub
	rotated := func(insn uint32) uint64 {
		n := insn >> 8 & 15 * 2
		v := insn & 0xff
		return uint64(v>>n | v<<(32-n))
	}
	for i := 0; i+12 <= len(code); i += 4 {
		insn := f.u32(code[i:])
		if insn&0xfffff000 != 0xe28fc000 { // add ip, pc, #imm
			continue
		}
		at := addr + uint64(i) + 8 + rotated(insn)
		end := i + 4
		for end+4 <= len(code) && f.u32(code[end:])&0xfffff000 == 0xe28cc000 { // add ip, ip, #imm
			at += rotated(f.u32(code[end:]))
			end += 4
		}
		if end+4 > len(code) || f.u32(code[end:])&0xfffff000 != 0xe5bcf000 { // ldr pc, [ip, #imm]!
			continue
		}
		at += uint64(f.u32(code[end:]) & 0xfff)
		end += 4
		if s := findSlot(slots, at&(1<<32-1)); s != nil {
			out = append(out, s.stub(addr+uint64(i), uint64(end-i)))
			i = end - 4
		}
	}
	return out
}
