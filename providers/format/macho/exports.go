package macho

import "rea/providers/format/object"

// Flags of an export.
const (
	exportKindMask = 0x3
	exportTLS      = 0x1
	exportAbsolute = 0x2
	exportWeak     = 0x4
	exportReexport = 0x8
	exportResolver = 0x10
)

// exports reads the export trie, which LC_DYLD_INFO or a command of its own
// names. The trie is walked with a stack and each node at most once, so cycles
// and shared nodes cost nothing.
func (l *loader) exports() {
	b := l.linkEdit("export trie", cmdExportsTrie)
	if c, ok := l.find(48, cmdDyldInfo, cmdDyldInfoOnly); ok && b == nil {
		b = l.file(uint64(l.u32(c.data[40:])), uint64(l.u32(c.data[44:])), "export trie")
	}
	if len(b) == 0 {
		return
	}
	type edge struct {
		node   uint64
		prefix int // length of the parent's name
		label  []byte
	}
	seen := map[uint64]struct{}{}
	stack := []edge{{}}
	var name []byte
	for len(stack) > 0 {
		e := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if _, again := seen[e.node]; again || e.node >= uint64(len(b)) {
			l.im.Note("the export trie has a node that is shared or lies outside it")
			continue
		}
		seen[e.node] = struct{}{}
		name = append(name[:e.prefix], e.label...)
		c := &opcodes{b[e.node:], true}
		size := c.uint()
		if !c.ok || size > uint64(len(c.b)) {
			l.im.Note("the export trie has a node that is cut off")
			continue
		}
		if size > 0 {
			l.export(name, &opcodes{c.b[:size], true})
		}
		c.b = c.b[size:]
		children := int(c.byte())
		first := len(stack)
		for range children {
			label, ok := cut(c)
			node := c.uint()
			if !ok || !c.ok || !l.spend(1) {
				l.im.Note("the export trie has a node that is cut off")
				break
			}
			stack = append(stack, edge{node, len(name), label})
		}
		for i, j := first, len(stack)-1; i < j; i, j = i+1, j-1 {
			stack[i], stack[j] = stack[j], stack[i]
		}
	}
}

// cut takes a zero-terminated string.
func cut(c *opcodes) ([]byte, bool) {
	for i, v := range c.b {
		if v == 0 {
			s := c.b[:i]
			c.b = c.b[i+1:]
			return s, true
		}
	}
	c.ok = false
	return nil, false
}

func (l *loader) export(rawName []byte, c *opcodes) {
	if len(rawName) > l.names {
		l.im.Note("exported names are longer than the file can hold; the rest is left out")
		return
	}
	l.names -= len(rawName)
	name := string(rawName)
	flags := c.uint()
	e := object.Export{Name: name, Ordinal: -1}
	if flags&exportReexport != 0 {
		ordinal := c.uint()
		e.Forward = l.library(int(min(ordinal, 1<<30)))
		if s, ok := cut(c); ok && len(s) > 0 {
			e.Forward += ":" + string(s)
		}
		if e.Forward == "" {
			e.Forward = "?"
		}
		l.im.Exports = append(l.im.Exports, e)
		return
	}
	v := c.uint()
	if !c.ok {
		l.im.Note("the export trie has a node that is cut off")
		return
	}
	e.Addr = l.im.Base + v
	if flags&exportKindMask == exportAbsolute {
		e.Addr = v
	}
	code := false
	if s := l.sectionAt(e.Addr); s != nil {
		code = flags&exportKindMask == 0 && s.code() && l.executable(e.Addr)
	}
	e.Data = !code
	l.im.Exports = append(l.im.Exports, e)
	if code {
		l.hint(e.Addr, 0, name, object.FromExport)
	}
	if flags&exportResolver != 0 {
		if resolver := c.uint(); c.ok {
			l.hint(l.im.Base+resolver, 0, "", object.FromExport)
		}
	}
	if _, known := l.symtab.defined[name]; known {
		return
	}
	l.symtab.defined[name] = e.Addr
	kind := object.SymObject
	switch {
	case code:
		kind = object.SymFunction
	case flags&exportKindMask == exportTLS:
		kind = object.SymTLS
	}
	out := object.Symbol{
		Name: name, Addr: e.Addr, Kind: kind, Global: true, Weak: flags&exportWeak != 0,
		Dynamic: true, Defined: true, Source: "export_trie",
	}
	if s := l.sectionAt(e.Addr); s != nil {
		out.Section = s.name
	}
	l.im.Symbols = append(l.im.Symbols, out)
}

// sectionAt finds the section that holds an address, or nil.
func (l *loader) sectionAt(addr uint64) *section {
	i, ok := l.sectionIndex(addr)
	if !ok {
		return nil
	}
	return &l.sections[i]
}
