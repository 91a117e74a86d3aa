package elf

import (
	"bytes"

	"rea/providers/format/object"
)

var (
	endbr64 = []byte{0xf3, 0x0f, 0x1e, 0xfa}
	endbr32 = []byte{0xf3, 0x0f, 0x1e, 0xfb}
)

// stubsX86_64 finds "jmp *slot(%rip)". Around it linkers put, each or none:
// ENDBR64, a BND prefix, "mov $n,%r11d" (mold), and the lazy half "push $n; jmp
// resolver". In strict mode (no section says that this is a PLT) a stub must
// also be aligned and end in the filling or the lazy half that linkers use.
func (f *file) stubsX86_64(code []byte, addr uint64, slots []slot, strict bool) []object.Stub {
	var out []object.Stub
	for i := 0; i < len(code); {
		j := bytes.Index(code[i:], []byte{0xff, 0x25})
		if j < 0 || i+j+6 > len(code) {
			break
		}
		j += i
		i = j + 2
		rel := int64(int32(f.u32(code[j+2:])))
		s := findSlot(slots, addr+uint64(j)+6+uint64(rel))
		if s == nil {
			continue
		}
		start, end := x86StubStart(code, j, endbr64), j+6
		indexed := start >= 6 && code[start-6] == 0x41 && code[start-5] == 0xbb // mov $n,%r11d
		if indexed {
			start = x86StubStart(code, start-6, endbr64)
		}
		end, tail := x86StubEnd(code, end)
		tail = tail || indexed
		if strict && (!tail || (addr+uint64(start))%8 != 0) {
			continue
		}
		out = append(out, s.stub(addr+uint64(start), uint64(end-start)))
		i = j + 6
	}
	if strict {
		return append(out, f.lazyStubsOfSlots(code, addr, out, slots, endbr64)...)
	}
	return append(out, f.lazyStubsX86(code, addr, out, newPLTIndex(slots), endbr64)...)
}

// x86StubStart steps back over a BND prefix and an ENDBR before a jump at j.
func x86StubStart(code []byte, j int, endbr []byte) int {
	if j >= 1 && code[j-1] == 0xf2 {
		j--
	}
	if j >= 4 && bytes.Equal(code[j-4:j], endbr) {
		j -= 4
	}
	return j
}

// x86StubEnd steps over what follows a stub's jump: the lazy half "push $n; jmp
// rel32", or filling up to the next multiple of 8. tail tells whether there
// was either.
func x86StubEnd(code []byte, i int) (end int, tail bool) {
	if i+10 <= len(code) && code[i] == 0x68 && code[i+5] == 0xe9 {
		return i + 10, true
	}
	for _, fill := range [][]byte{
		{0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, {0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, {0x0f, 0x1f, 0x80, 0, 0, 0, 0},
		{0x66, 0x0f, 0x1f, 0x44, 0, 0}, {0x0f, 0x1f, 0x44, 0, 0}, {0x0f, 0x1f, 0x40, 0}, {0x66, 0x90}, {0xcc, 0xcc}, {0x90, 0x90},
	} {
		if bytes.HasPrefix(code[i:], fill) {
			end = i + len(fill)
			for fill[0] == 0xcc && end < len(code) && code[end] == 0xcc && end%16 != 0 {
				end++
			}
			return end, true
		}
	}
	return i, false
}

// pltIndex finds the slot of a PLT relocation by its index.
type pltIndex []*slot

func newPLTIndex(slots []slot) pltIndex {
	n := 0
	for i := range slots {
		n = max(n, slots[i].plt+1)
	}
	out := make(pltIndex, n)
	for i := range slots {
		if p := slots[i].plt; p >= 0 {
			out[p] = &slots[i]
		}
	}
	return out
}

// lazyStubsX86 finds what the jump stubs leave of a PLT section: its head and,
// when the jumps are in a section of their own (IBT), the lazy halves.
func (f *file) lazyStubsX86(code []byte, addr uint64, jumps []object.Stub, byIndex pltIndex, endbr []byte) []object.Stub {
	var out []object.Stub
	if n := x86ResolverSize(code); n > 0 {
		out = append(out, object.Stub{Addr: addr, Size: uint64(n), Kind: object.StubResolver})
	}
	if len(jumps) > 0 {
		return out
	}
	for i := 0; i+16 <= len(code); i += 16 {
		b := code[i : i+16]
		if !bytes.HasPrefix(b, endbr) || b[4] != 0x68 {
			continue
		}
		if !(b[9] == 0xe9 || b[9] == 0xf2 && b[10] == 0xe9) {
			continue
		}
		index := uint64(f.u32(b[5:]))
		if f.header.machine != emX86_64 {
			index /= 8 // a byte offset into the REL table
		}
		if index >= uint64(len(byIndex)) || byIndex[index] == nil {
			continue
		}
		s := byIndex[index].stub(addr+uint64(i), 16)
		s.Kind = object.StubLazy
		out = append(out, s)
	}
	return out
}

// lazyStubsOfSlots finds lazy halves where no section leads to them: a slot
// that is not bound yet holds the address of its lazy half, and that ends in a
// jump to the head of the table.
func (f *file) lazyStubsOfSlots(code []byte, addr uint64, jumps []object.Stub, slots []slot, endbr []byte) []object.Stub {
	var out []object.Stub
	resolver := uint64(0)
	for i := range slots {
		at := f.word(f.mapped(slots[i].addr, f.wordSize())) - addr
		if slots[i].plt < 0 || at >= uint64(len(code)) {
			continue
		}
		half := code[at:]
		if x86ResolverSize(half) > 0 { // the slot leads straight to the head
			resolver = addr + at
			continue
		}
		split := bytes.HasPrefix(half, endbr)
		push := 0
		if split {
			push = len(endbr)
		}
		if len(half) < push+16 || half[push] != 0x68 {
			continue
		}
		jump := push + 5
		if half[jump] == 0xf2 {
			jump++
		}
		if half[jump] != 0xe9 {
			continue
		}
		if split {
			s := slots[i].stub(addr+at, 16)
			s.Kind = object.StubLazy
			out = append(out, s)
		}
		resolver = addr + at + uint64(jump) + 5 + uint64(int64(int32(f.u32(half[jump+1:]))))
	}
	if off := resolver - addr; resolver != 0 && off < uint64(len(code)) && len(jumps) > 0 {
		if n := x86ResolverSize(code[off:]); n > 0 {
			out = append(out, object.Stub{Addr: resolver, Size: uint64(n), Kind: object.StubResolver})
		}
	}
	return out
}

// x86ResolverSize recognises the head of a lazy PLT: push one word of the GOT,
// jump through the next. It fills a multiple of 16 bytes.
func x86ResolverSize(code []byte) int {
	i := 0
	for _, lead := range [][]byte{endbr64, {0x41, 0x53}} { // push %r11 (mold)
		if bytes.HasPrefix(code[i:], lead) {
			i += len(lead)
		}
	}
	if len(code) < i+13 || code[i] != 0xff || code[i+1] != 0x35 && code[i+1] != 0xb3 {
		return 0
	}
	for _, jump := range [][]byte{{0xff, 0x25}, {0xff, 0xa3}, {0xf2, 0xff, 0x25}} {
		if bytes.HasPrefix(code[i+6:], jump) {
			return min((i+6+len(jump)+4+15)&^15, len(code))
		}
	}
	return 0
}

// stubs386 finds "jmp *slot" and "jmp *slot-GOT(%ebx)", where EBX holds the
// address of the global offset table.
func (f *file) stubs386(code []byte, addr uint64, slots []slot, strict bool) []object.Stub {
	var out []object.Stub
	for i := 0; i < len(code); {
		j := bytes.IndexByte(code[i:], 0xff)
		if j < 0 || i+j+6 > len(code) {
			break
		}
		j += i
		i = j + 1
		at := uint64(f.u32(code[j+2:]))
		switch code[j+1] {
		case 0x25:
		case 0xa3:
			at = (at + f.dynamic.pltgot) & (1<<32 - 1)
		default:
			continue
		}
		s := findSlot(slots, at)
		if s == nil {
			continue
		}
		start := x86StubStart(code, j, endbr32)
		end, tail := x86StubEnd(code, j+6)
		if strict && (!tail || (addr+uint64(start))%8 != 0) {
			continue
		}
		out = append(out, s.stub(addr+uint64(start), uint64(end-start)))
		i = j + 6
	}
	if strict {
		return append(out, f.lazyStubsOfSlots(code, addr, out, slots, endbr32)...)
	}
	return append(out, f.lazyStubsX86(code, addr, out, newPLTIndex(slots), endbr32)...)
}
