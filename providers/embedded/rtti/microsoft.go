package rtti

import (
	"encoding/binary"
	"slices"
	"strings"

	"rea/providers/format/msvcname"
)

// microsoft finds type descriptors by their names, and from them complete
// object locators, virtual tables and bases.
func (r *reader) microsoft() error {
	descriptors := map[uint32]uint64{} // by what refers to them: RVA (x64), address (x86)
	at := map[uint64]int{}             // index of the class of a descriptor
	for i := range r.p.Strings {
		if i%4096 == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		s := &r.p.Strings[i]
		if s.Len < 6 {
			continue
		}
		raw := r.text(s.Addr)
		if !strings.HasPrefix(raw, ".?A") || !strings.HasSuffix(raw, "@@") || r.full() {
			continue
		}
		d := s.Addr - 2*r.word
		descriptors[uint32(r.reference(d))] = d
		at[d] = len(r.h.Classes)
		r.h.Classes = append(r.h.Classes, Class{Name: undecorated(raw), Raw: raw, TypeInfo: d, ABI: Microsoft})
	}
	if len(descriptors) == 0 {
		return nil
	}
	for i := range r.p.Image.Sections {
		s := &r.p.Image.Sections[i]
		if s.Perm.Execute || !s.Mapped {
			continue
		}
		if err := r.locators(s.Addr, s.Size, descriptors, at); err != nil {
			return err
		}
	}
	for i := range r.h.Classes {
		slices.SortFunc(r.h.Classes[i].Tables, func(a, b Table) int {
			if a.Addr < b.Addr {
				return -1
			}
			return 1
		})
	}
	return nil
}

// reference is how the structures refer to an address.
func (r *reader) reference(addr uint64) uint64 {
	if r.word == 8 {
		return addr - r.p.Image.Base
	}
	return addr
}

func (r *reader) follow(ref uint32) uint64 {
	if r.word == 8 {
		return r.p.Image.Base + uint64(ref)
	}
	return uint64(ref)
}

// locators looks for complete object locators in a section.
func (r *reader) locators(addr, size uint64, descriptors map[uint32]uint64, at map[uint64]int) error {
	length, signature := 20, uint32(0)
	if r.word == 8 {
		length, signature = 24, 1
	}
	b := r.m.Bytes(addr, int(min(size, 1<<30)))
	for off := 0; off+length <= len(b); off += 4 {
		if off%(1<<20) == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		u32 := func(k int) uint32 { return binary.LittleEndian.Uint32(b[off+k:]) }
		if u32(0) != signature {
			continue
		}
		d, ok := descriptors[u32(12)]
		here := addr + uint64(off)
		if !ok || r.word == 8 && uint64(u32(20)) != r.reference(here) {
			continue
		}
		bases, ok := r.hierarchy(r.follow(u32(16)), d)
		if !ok {
			continue
		}
		c := &r.h.Classes[at[d]]
		if len(c.Bases) == 0 {
			c.Bases = bases
		}
		for _, slot := range r.slots(here) {
			if ms := r.methods(slot + r.word); len(ms) > 0 {
				c.Tables = append(c.Tables, Table{Addr: slot + r.word, Offset: int64(u32(4)), Methods: ms})
			}
		}
	}
	return nil
}

// hierarchy reads a class hierarchy descriptor: the array of all bases in
// preorder, the class itself first, each with the number of bases below it.
func (r *reader) hierarchy(addr, self uint64) ([]Base, bool) {
	head := r.m.Bytes(addr, 16)
	if len(head) < 16 {
		return nil, false
	}
	n := binary.LittleEndian.Uint32(head[8:])
	if n == 0 || n > mostBases {
		return nil, false
	}
	array := r.m.Bytes(r.follow(binary.LittleEndian.Uint32(head[12:])), int(4*n))
	if len(array) < int(4*n) {
		return nil, false
	}
	var out []Base
	skip := uint32(0)
	for i := range n {
		d := r.m.Bytes(r.follow(binary.LittleEndian.Uint32(array[4*i:])), 24)
		if len(d) < 24 {
			return nil, false
		}
		descriptor := r.follow(binary.LittleEndian.Uint32(d))
		contained := binary.LittleEndian.Uint32(d[4:])
		if i == 0 {
			if descriptor != self {
				return nil, false
			}
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		skip = contained
		b := Base{Name: undecorated(r.text(descriptor + 2*r.word)), TypeInfo: descriptor, Offset: int64(int32(binary.LittleEndian.Uint32(d[8:])))}
		if p := int32(binary.LittleEndian.Uint32(d[12:])); p >= 0 {
			b.Virtual, b.Offset = true, int64(int32(binary.LittleEndian.Uint32(d[16:])))
		}
		b.Public = binary.LittleEndian.Uint32(d[20:])&1 == 0
		out = append(out, b)
	}
	return out, true
}

// undecorated is the readable form of a type descriptor's name.
func undecorated(raw string) string {
	if len(raw) < 4 {
		return raw
	}
	n, ok := msvcname.Demangle("?x@@3" + raw[3:] + "A")
	if !ok || n.Full == "" {
		return raw
	}
	s := strings.TrimSuffix(n.Full, " x")
	for _, word := range []string{"class ", "struct ", "union ", "enum "} {
		s = strings.TrimPrefix(s, word)
	}
	return s
}
