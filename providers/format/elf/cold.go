package elf

import (
	"slices"
	"strings"

	"rea/providers/format/object"
)

// splitNames turns symbols that compilers make for the part of a function they
// moved away ("f.cold", "f.cold.3") from function starts into parts.
func (f *file) splitNames() {
	parents := map[string]uint64{} // 0 until seen, then the address; ambiguous ones stay without
	parts := map[uint64]string{}
	for i := range f.im.Symbols {
		s := &f.im.Symbols[i]
		if base, ok := coldOf(s.Name); ok && s.Kind == object.SymFunction && s.Defined && !s.Global {
			parts[s.Addr] = base
			parents[base] = 0
		}
	}
	if len(parts) == 0 {
		return
	}
	ambiguous := map[string]bool{}
	for i := range f.im.Symbols {
		s := &f.im.Symbols[i]
		if _, wanted := parents[s.Name]; !wanted || s.Kind != object.SymFunction || !s.Defined {
			continue
		}
		if at := parents[s.Name]; at != 0 && at != s.Addr {
			ambiguous[s.Name] = true
		}
		parents[s.Name] = s.Addr
	}
	f.im.Hints = slices.DeleteFunc(f.im.Hints, func(h object.FunctionHint) bool {
		base, ok := parts[h.Addr]
		if !ok || h.Source != object.FromSymbol {
			return false
		}
		p := object.FunctionPart{Addr: h.Addr, Size: h.Size, Source: object.FromSymbol}
		if !ambiguous[base] {
			p.Parent = parents[base]
		}
		f.im.Parts = append(f.im.Parts, p)
		return true
	})
}

// coldOf takes the mark of a split part off a name.
func coldOf(name string) (base string, ok bool) {
	if strings.IndexByte(name, '.') < 0 { // as in nearly all names
		return "", false
	}
	i := strings.LastIndex(name, ".cold")
	if i <= 0 {
		return "", false
	}
	rest := name[i+len(".cold"):]
	if rest != "" && (rest[0] != '.' || strings.Trim(rest[1:], "0123456789") != "" || len(rest) == 1) {
		return "", false
	}
	return name[:i], true
}
