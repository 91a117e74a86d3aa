package objc

import (
	"strconv"
	"strings"
)

// Flags in the entry size of a method list.
const (
	listRelative     = 0x80000000 // entries are distances, not pointers
	listDirect       = 0x40000000 // distances lead to names, not to selector pointers
	listSizeMask     = 0x0000fffc
	relativeMethod   = 12
	maxListEntrySize = 256
)

// list opens a list of entries with its size and count in front.
func (r *reader) list(addr uint64) (flags uint32, size, count, first uint64, ok bool) {
	b := r.at(addr, 8)
	if addr == 0 || b == nil {
		return 0, 0, 0, 0, false
	}
	v := r.order.Uint32(b)
	size, count = uint64(v&listSizeMask), uint64(r.order.Uint32(b[4:]))
	if size == 0 || size > maxListEntrySize || count > uint64(r.budget) ||
		r.at(addr+8, size*count) == nil || !r.spend(int(count)) {
		r.note("the list at %#x claims %d entries of %d bytes, which the image does not hold", addr, count, size)
		return 0, 0, 0, 0, false
	}
	return v, size, count, addr + 8, true
}

func (r *reader) methods(addr uint64, optional bool) []Method {
	flags, size, count, first, ok := r.list(addr &^ 1)
	if !ok || flags&listRelative != 0 && size < relativeMethod || flags&listRelative == 0 && size < 3*r.size {
		return nil
	}
	out := make([]Method, 0, count)
	for i := range count {
		at := first + i*size
		m := Method{Optional: optional}
		switch {
		case flags&listRelative == 0:
			m.Selector, m.Types = r.pointed(at), r.pointed(at+r.size)
			m.IMP, _ = r.pointer(at + 2*r.size)
		default:
			name := r.relative(at)
			if flags&listDirect == 0 {
				name, _ = r.pointer(name)
			}
			m.Selector, m.Types, m.IMP = r.cstring(name), r.cstring(r.relative(at+4)), r.relative(at+8)
		}
		if m.Selector == "" {
			r.note("a method of the list at %#x has no name", addr)
			continue
		}
		if m.IMP != 0 && !r.im.Executable(m.IMP) {
			r.note("a method of the list at %#x has no code", addr)
			m.IMP = 0
		}
		out = append(out, m)
	}
	return out
}

func (r *reader) ivars(addr uint64) []Ivar {
	_, size, count, first, ok := r.list(addr)
	if !ok || size < 3*r.size+8 {
		return nil
	}
	out := make([]Ivar, 0, count)
	for i := range count {
		at := first + i*size
		v := Ivar{Name: r.pointed(at + r.size), Type: r.pointed(at + 2*r.size)}
		v.OffsetAddr, _ = r.pointer(at)
		if v.OffsetAddr != 0 {
			v.Offset, _ = r.u32(v.OffsetAddr)
		}
		v.Size, _ = r.u32(at + 3*r.size + 4)
		if v.Name != "" || v.Type != "" {
			out = append(out, v)
		}
	}
	return out
}

func (r *reader) properties(addr uint64) []Property {
	_, size, count, first, ok := r.list(addr)
	if !ok || size < 2*r.size {
		return nil
	}
	out := make([]Property, 0, count)
	for i := range count {
		at := first + i*size
		if name := r.pointed(at); name != "" {
			out = append(out, Property{name, r.pointed(at + r.size)})
		}
	}
	return out
}

// messageStubs reads the stubs that the linker makes for message sends: they
// load one selector and enter objc_msgSend.
func (r *reader) messageStubs() {
	selector := map[uint64]string{}
	for _, s := range r.m.Selectors {
		selector[s.Addr] = s.Name
	}
	for _, s := range r.sections("__objc_stubs") {
		sizes := []uint64{32, 12}
		if r.im.Arch == "x86_64" {
			sizes = []uint64{13, 16}
		}
		for _, size := range sizes {
			n := s.Size / size
			if s.Size%size != 0 || n > uint64(r.budget) {
				continue
			}
			stubs := make([]MessageStub, 0, n)
			for i := range n {
				at := s.Addr + i*size
				if name, ok := selector[r.loadedAddress(at)]; ok {
					stubs = append(stubs, MessageStub{at, size, name})
				}
			}
			if uint64(len(stubs)) == n && r.spend(int(n)) {
				r.m.Stubs = append(r.m.Stubs, stubs...)
				break
			}
		}
	}
}

// loadedAddress decodes the first load of a message stub.
func (r *reader) loadedAddress(addr uint64) uint64 {
	b := r.at(addr, 8)
	if b == nil {
		return 0
	}
	if r.im.Arch == "x86_64" { // mov selector(%rip), %rsi
		if b[0] == 0x48 && b[1] == 0x8b && b[2] == 0x35 {
			return addr + 7 + uint64(int64(int32(r.order.Uint32(b[3:]))))
		}
		return 0
	}
	adrp, ldr := r.order.Uint32(b), r.order.Uint32(b[4:])
	if adrp&0x9f00001f != 0x90000001 || ldr&0xffc003ff != 0xf9400021 { // adrp x1; ldr x1, [x1]
		return 0
	}
	imm := int64(adrp>>5&0x7ffff)<<2 | int64(adrp>>29&3)
	imm = imm << 43 >> 43 // sign of 21 bits
	return addr&^0xfff + uint64(imm<<12) + uint64(ldr>>10&0xfff)*8
}

// oldSwiftName turns the runtime name of a Swift class ("_TtC4main3Foo") into
// its qualified name, or returns "".
func oldSwiftName(name string) string {
	rest, ok := strings.CutPrefix(name, "_Tt")
	if !ok {
		return ""
	}
	rest = strings.TrimLeft(rest, "CVOP")
	rest = strings.TrimSuffix(rest, "_") // ends a protocol list
	if r, ok := strings.CutPrefix(rest, "s"); ok {
		rest = "5Swift" + r
	}
	var parts []string
	for rest != "" {
		private, digits := false, 0
		if len(parts) > 0 && rest[0] == 'P' { // what tells private types of equal names apart
			private, rest = true, rest[1:]
		}
		for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		n, err := strconv.Atoi(rest[:digits])
		if err != nil || n == 0 || n > len(rest)-digits {
			return ""
		}
		if !private {
			parts = append(parts, rest[digits:digits+n])
		}
		rest = rest[digits+n:]
	}
	if len(parts) < 2 {
		return ""
	}
	return strings.Join(parts, ".")
}
