package rtti

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// kind is what a type_info object holds.
type kind int

const (
	plain    kind = iota // the name only
	single               // one public base, not virtual, at offset 0
	multiple             // a list of bases
)

// libraryClasses are the classes of type_info objects of classes, by the
// mangled form of their names.
var libraryClasses = map[string]kind{
	"N10__cxxabiv117__class_type_infoE":     plain,
	"N10__cxxabiv120__si_class_type_infoE":  single,
	"N10__cxxabiv121__vmi_class_type_infoE": multiple,
}

func libraryKind(symbol string) (kind, bool) {
	if i := strings.IndexByte(symbol, '@'); i > 0 {
		symbol = symbol[:i]
	}
	symbol = strings.TrimPrefix(symbol, "__imp_")
	for len(symbol) > 4 && symbol[0] == '_' && symbol[1] == '_' {
		symbol = symbol[1:]
	}
	k, ok := libraryClasses[strings.TrimPrefix(symbol, "_ZTV")]
	return k, ok && strings.HasPrefix(symbol, "_ZTV")
}

// itanium finds the type_info objects and what belongs to each.
func (r *reader) itanium() error {
	infos := map[uint64]kind{}  // type_info objects
	points := map[uint64]kind{} // what their first word points to
	r.boundInfos(infos, points)
	r.ownInfos(points)
	for at, k := range points {
		for _, slot := range r.slots(at) {
			if _, ok := infos[slot]; !ok {
				infos[slot] = k
			}
		}
	}
	order := make([]uint64, 0, len(infos))
	for at := range infos {
		order = append(order, at)
	}
	slices.Sort(order)
	for n, at := range order {
		if n%256 == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		if r.full() {
			break
		}
		if c, ok := r.itaniumClass(at, infos[at]); ok {
			r.h.Classes = append(r.h.Classes, c)
		}
	}
	return nil
}

// boundInfos uses what the loader binds: words that become pointers into the
// library's tables are the beginnings of type_info objects.
func (r *reader) boundInfos(infos, points map[uint64]kind) {
	im := r.p.Image
	for i := range im.Relocations {
		x := &im.Relocations[i]
		k, ok := libraryKind(x.Symbol)
		switch {
		case !ok:
		case strings.Contains(x.Type, "COPY"):
			points[x.Addr+2*r.word] = k
		case x.HasTarget:
			points[x.Target] = k
		default:
			infos[x.Addr] = k
		}
	}
	for i := range im.Symbols {
		s := &im.Symbols[i]
		if k, ok := libraryKind(s.Name); ok && s.Defined && s.Addr != 0 {
			points[s.Addr+2*r.word] = k
		}
	}
}

// ownInfos finds the library's tables in a program that contains the library,
// by the names of their classes.
func (r *reader) ownInfos(points map[uint64]kind) {
	for i := range r.p.Strings {
		s := &r.p.Strings[i]
		if s.Len < 32 || s.Len > 40 {
			continue
		}
		k, ok := libraryClasses[strings.TrimPrefix(r.text(s.Addr), "*")]
		if !ok {
			continue
		}
		for _, name := range r.slots(s.Addr) {
			info := name - r.word
			for _, slot := range r.slots(info) {
				if len(r.methods(slot+r.word)) > 2 {
					points[slot+r.word] = k
				}
			}
		}
	}
}

func (r *reader) itaniumClass(at uint64, k kind) (Class, bool) {
	c := Class{TypeInfo: at, ABI: Itanium}
	name, _, ok := r.m.Pointer(at + r.word)
	if !ok || name == 0 {
		return c, false
	}
	c.Raw = strings.TrimPrefix(r.text(name), "*")
	if c.Raw == "" {
		return c, false
	}
	c.Name = readable(c.Raw)
	switch k {
	case single:
		if b, ok := r.base(at + 2*r.word); ok {
			b.Public = true
			c.Bases = append(c.Bases, b)
		}
	case multiple:
		c.Bases = r.bases(at)
	}
	for _, slot := range r.slots(at) {
		if t, ok := r.itaniumTable(slot); ok {
			c.Tables = append(c.Tables, t)
		}
	}
	slices.SortFunc(c.Tables, func(a, b Table) int {
		if a.Addr < b.Addr {
			return -1
		}
		return 1
	})
	return c, true
}

// base reads the pointer to the type_info of a base.
func (r *reader) base(at uint64) (Base, bool) {
	target, symbol, ok := r.m.Pointer(at)
	if !ok {
		return Base{}, false
	}
	if symbol != "" {
		if i := strings.IndexByte(symbol, '@'); i > 0 {
			symbol = symbol[:i]
		}
		return Base{Name: readable(strings.TrimPrefix(strings.TrimLeft(symbol, "_"), "ZTI"))}, true
	}
	name, _, ok := r.m.Pointer(target + r.word)
	if !ok {
		return Base{}, false
	}
	raw := strings.TrimPrefix(r.text(name), "*")
	return Base{Name: readable(raw), TypeInfo: target}, raw != ""
}

// bases reads the list of bases of a __vmi_class_type_info.
func (r *reader) bases(at uint64) []Base {
	head := r.m.Bytes(at+2*r.word, 8)
	if len(head) < 8 {
		return nil
	}
	n := binary.LittleEndian.Uint32(head[4:])
	var out []Base
	for i := range uint64(min(n, mostBases)) {
		entry := at + 2*r.word + 8 + i*2*r.word
		b, ok := r.base(entry)
		flags := r.m.Bytes(entry+r.word, int(r.word))
		if !ok || len(flags) < int(r.word) {
			break
		}
		v := int64(int32(binary.LittleEndian.Uint32(flags)))
		if r.word == 8 {
			v = int64(binary.LittleEndian.Uint64(flags))
		}
		b.Virtual, b.Public, b.Offset = v&1 != 0, v&2 != 0, v>>8
		out = append(out, b)
	}
	return out
}

// farthestTop bounds the distance from a part of an object to its top.
const farthestTop = 1 << 24

// itaniumTable judges whether the word at slot is the type_info pointer in
// front of a virtual table.
func (r *reader) itaniumTable(slot uint64) (Table, bool) {
	b := r.m.Bytes(slot-r.word, int(r.word))
	if len(b) < int(r.word) {
		return Table{}, false
	}
	top := int64(int32(binary.LittleEndian.Uint32(b)))
	if r.word == 8 {
		top = int64(binary.LittleEndian.Uint64(b))
	}
	if top > 0 || top < -farthestTop || top%4 != 0 {
		return Table{}, false
	}
	t := Table{Addr: slot + r.word, Offset: -top, Methods: r.methods(slot + r.word)}
	return t, len(t.Methods) > 0
}

// readable is a type name without the mangling.
func readable(raw string) string {
	if len(raw) > longestName/2 {
		return raw
	}
	out, err := demangle.ToString("_ZTI"+raw, demangle.MaxLength(12))
	if err != nil {
		return raw
	}
	return strings.TrimPrefix(out, "typeinfo for ")
}
