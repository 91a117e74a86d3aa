package embedded

import (
	"encoding/binary"
	"slices"
	"sort"
	"strings"
	"sync"

	"rea/providers/format/object"
)

// constants is the memory of an image whose contents are the same whenever the
// program runs: what is not writable, and what the loader makes read-only after
// it has relocated it.
type constants struct {
	im     *object.Image
	frozen func() []object.Range
	byAddr func() []int // relocations by address
}

func newConstants(im *object.Image) *constants {
	c := &constants{im: im}
	c.frozen = sync.OnceValue(c.findFrozen)
	c.byAddr = sync.OnceValue(func() []int {
		out := make([]int, len(im.Relocations))
		for i := range out {
			out[i] = i
		}
		slices.SortStableFunc(out, func(a, b int) int {
			switch x, y := im.Relocations[a].Addr, im.Relocations[b].Addr; {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
		return out
	})
	return c
}

// findFrozen lists the writable sections that are made read-only before the
// program's own code runs.
func (c *constants) findFrozen() []object.Range {
	var out []object.Range
	for i := range c.im.Sections {
		s := &c.im.Sections[i]
		if !s.Mapped || s.Size == 0 {
			continue
		}
		switch {
		case c.im.Format == object.ELF && (strings.HasPrefix(s.Name, ".data.rel.ro") || s.Name == ".init_array" || s.Name == ".fini_array" || s.Name == ".dynamic"),
			c.im.Format == object.MachO && (strings.HasPrefix(s.Name, "__DATA_CONST,") || strings.HasPrefix(s.Name, "__AUTH_CONST,") || s.Name == "__DATA,__const"):
			out = append(out, object.Range{Addr: s.Addr, Size: s.Size})
		}
	}
	slices.SortFunc(out, func(a, b object.Range) int {
		switch {
		case a.Addr < b.Addr:
			return -1
		case a.Addr > b.Addr:
			return 1
		}
		return 0
	})
	return out
}

// fixed says whether the bytes at addr never change.
func (c *constants) fixed(addr uint64, size int) bool {
	s := c.im.SegmentAt(addr)
	if s == nil || uint64(size) > s.Addr+s.Size-addr {
		return false
	}
	if !s.Perm.Write && c.im.Kind != object.Relocatable {
		return true
	}
	fs := c.frozen()
	i := sort.Search(len(fs), func(i int) bool { return fs[i].Addr > addr }) - 1
	if i >= 0 && addr-fs[i].Addr+uint64(size) <= fs[i].Size {
		return true
	}
	if c.im.Kind == object.Relocatable { // sections have the permissions of their flags
		for k := range c.im.Sections {
			if x := &c.im.Sections[k]; x.Mapped && addr >= x.Addr && addr-x.Addr+uint64(size) <= x.Size {
				return !x.Perm.Write || strings.HasPrefix(x.Name, ".data.rel.ro")
			}
		}
	}
	return false
}

// relocation finds the relocation of the pointer at addr; others that touch the
// bytes make known false.
func (c *constants) relocation(addr uint64, size int) (r *object.Relocation, clear bool) {
	order := c.byAddr()
	i := sort.Search(len(order), func(i int) bool { return c.im.Relocations[order[i]].Addr+8 > addr })
	clear = true
	for ; i < len(order); i++ {
		x := &c.im.Relocations[order[i]]
		if x.Addr >= addr+uint64(size) {
			break
		}
		if x.Addr == addr {
			return x, false
		}
		if x.Addr+uint64(max(x.Size, 1)) > addr {
			clear = false
		}
	}
	return nil, clear
}

// Number is the number stored at addr when it cannot change.
func (c *constants) Number(addr uint64, size int) (uint64, bool) {
	if size > 8 || !c.fixed(addr, size) {
		return 0, false
	}
	return c.initial(addr, size)
}

// initial is the number stored at addr when the program starts.
func (c *constants) initial(addr uint64, size int) (uint64, bool) {
	if r, clear := c.relocation(addr, size); r != nil && c.im.Kind != object.Relocatable {
		if r.HasTarget && size == c.im.Bits/8 {
			return r.Target, true
		}
		if c.im.Format != object.PE { // PE stores the relocated value
			return 0, false
		}
	} else if !clear && c.im.Format != object.PE && c.im.Kind != object.Relocatable {
		return 0, false
	}
	b := c.im.Bytes(addr, size)
	if len(b) < size {
		return 0, false
	}
	var buf [8]byte
	copy(buf[:], b)
	return binary.LittleEndian.Uint64(buf[:]), true
}

// Pointer is the pointer at addr once the program is loaded: an address of the
// image or the name of what the loader binds.
func (c *constants) Pointer(addr uint64) (target uint64, symbol string, ok bool) {
	size := c.im.Bits / 8
	if r, _ := c.relocation(addr, size); r != nil && !r.HasTarget && r.Symbol != "" {
		return 0, r.Symbol, true
	}
	n, ok := c.initial(addr, size)
	return n, "", ok
}

// Bytes are up to n bytes of the file at addr.
func (c *constants) Bytes(addr uint64, n int) []byte { return c.im.Bytes(addr, n) }
