package elf

import "fmt"

// versionTable tells the version of each dynamic symbol.
type versionTable struct {
	indices []byte // .gnu.version, 2 bytes a symbol
	names   map[uint16]version
	verdefs map[string]bool
}

type version struct {
	name, library string
}

// versionLimit bounds the chains of version records; indices have 15 bits.
const versionLimit = 1 << 15

func (f *file) readVersions() {
	v := &f.versions
	v.names, v.verdefs = map[uint16]version{}, map[string]bool{}
	addr, ok := f.dynamic.get(dtVerSym)
	if !ok {
		return
	}
	v.indices = f.mapped(addr, uint64(f.dynsym.count)*2)
	if need, ok := f.dynamic.get(dtVerNeed); ok {
		f.readVerNeed(need)
	}
	if def, ok := f.dynamic.get(dtVerDef); ok {
		f.readVerDef(def)
	}
}

// readVerNeed reads Verneed records and their Vernaux chains. Both are linked
// by forward distances, so a walk that only moves forward ends.
func (f *file) readVerNeed(addr uint64) {
	n, steps := f.chainLength(dtVerNeedNum), 0
	for range n {
		b := f.mapped(addr, 16)
		if len(b) < 16 {
			f.im.Note("the version needs at %#x are not mapped", addr)
			return
		}
		library := f.dynamic.strings.get(f.u32(b[4:]))
		aux := addr + uint64(f.u32(b[8:]))
		for range f.u16(b[2:]) {
			a := f.mapped(aux, 16)
			if steps++; len(a) < 16 || steps > versionLimit {
				f.im.Note("the version needs of %q break off at %#x", library, aux)
				return
			}
			name := f.dynamic.strings.get(f.u32(a[8:]))
			f.versions.names[f.u16(a[6:])&0x7fff] = version{name, library}
			next := uint64(f.u32(a[12:]))
			if next == 0 {
				break
			}
			aux += next
		}
		next := uint64(f.u32(b[12:]))
		if next == 0 {
			return
		}
		addr += next
	}
}

func (f *file) readVerDef(addr uint64) {
	for range f.chainLength(dtVerDefNum) {
		b := f.mapped(addr, 20)
		if len(b) < 20 {
			f.im.Note("the version definitions at %#x are not mapped", addr)
			return
		}
		aux := f.mapped(addr+uint64(f.u32(b[12:])), 8)
		name := f.dynamic.strings.get(f.u32(aux))
		if base := f.u16(b[2:])&1 != 0; !base {
			f.versions.names[f.u16(b[4:])&0x7fff] = version{name: name}
		}
		f.versions.verdefs[name] = true
		next := uint64(f.u32(b[16:]))
		if next == 0 {
			return
		}
		addr += next
	}
}

func (f *file) chainLength(tag uint64) int {
	n, ok := f.dynamic.get(tag)
	if !ok || n > versionLimit {
		n = versionLimit
	}
	return int(n)
}

// of returns the version of dynamic symbol i.
func (v *versionTable) of(f *file, i int) version {
	if 2*i+2 > len(v.indices) {
		return version{}
	}
	n := f.u16(v.indices[2*i:]) & 0x7fff
	if n < 2 {
		return version{}
	}
	if ver, ok := v.names[n]; ok {
		return ver
	}
	return version{name: fmt.Sprintf("#%d", n)}
}
