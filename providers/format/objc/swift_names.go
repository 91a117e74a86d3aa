package objc

import (
	"strconv"
	"strings"
)

// mangledPart is a run of text of a mangled name, or a symbolic reference in it.
type mangledPart struct {
	text    string
	context string // qualified name of the referenced context
	kind    byte   // 'C', 'V', 'O' or 'P' of the context
	opaque  bool   // a reference to something that has no name
}

// mangledName is a mangled type name as metadata holds it: references to
// descriptors are written as binary distances between the text.
type mangledName struct {
	parts []mangledPart
	ok    bool
}

// mangled reads a mangled name. Bytes 1 to 0x17 begin a reference of a 32-bit
// distance, 0x18 to 0x1f one of a pointer, and 0 ends the name.
func (r *reader) mangled(addr uint64, depth int) mangledName {
	var m mangledName
	if addr == 0 || depth > maxContextDepth {
		return m
	}
	var text []byte
	flush := func() {
		if len(text) > 0 {
			m.parts = append(m.parts, mangledPart{text: string(text)})
			text = nil
		}
	}
	for n := 0; n < maxName && r.names > 0; n++ {
		b := r.at(addr, 1)
		if b == nil {
			return m
		}
		r.names--
		switch c := b[0]; {
		case c == 0:
			flush()
			m.ok = len(m.parts) > 0
			return m
		case c < 0x18:
			flush()
			m.parts = append(m.parts, r.symbolic(c, addr+1, depth))
			addr += 5
		case c < 0x20:
			flush()
			m.parts = append(m.parts, mangledPart{opaque: true})
			addr += 1 + r.size
		default:
			text = append(text, c)
			addr++
		}
	}
	return m
}

// symbolic resolves a reference: 1 leads to a context descriptor, 2 to a
// pointer to one; the others lead to code or protocols that are named elsewhere.
func (r *reader) symbolic(kind byte, at uint64, depth int) mangledPart {
	target := r.relative(at)
	symbol := ""
	switch kind {
	case 1:
	case 2:
		target, symbol = r.pointer(target)
	default:
		return mangledPart{opaque: true}
	}
	if target == 0 {
		if name := symbolContext(symbol); name != "" {
			return mangledPart{context: name, kind: symbolKind(symbol)}
		}
		return mangledPart{opaque: true}
	}
	name := r.contextName(target, depth+1)
	flags, ok := r.u32(target)
	if name == "" || !ok {
		return mangledPart{opaque: true}
	}
	letter := map[uint32]byte{contextClass: 'C', contextStruct: 'V', contextEnum: 'O', contextProtocol: 'P'}[flags&contextKindMask]
	return mangledPart{context: name, kind: letter}
}

// text writes the name with references as mangled identifiers, so that a
// demangler can read it behind "$s".
func (m mangledName) text() string {
	var b strings.Builder
	for _, p := range m.parts {
		switch {
		case p.text != "":
			b.WriteString(p.text)
		case p.opaque:
			b.WriteString("?")
		default:
			for _, id := range strings.Split(p.context, ".") {
				b.WriteString(strconv.Itoa(len(id)))
				b.WriteString(id)
			}
			if p.kind != 0 {
				b.WriteByte(p.kind)
			}
		}
	}
	return b.String()
}

// symbolContext reads the name out of the symbol of a descriptor, such as
// "_$s10Foundation4DataVMn" or "_$sSHMp"; "" for other symbols.
func symbolContext(symbol string) string {
	s := strings.TrimPrefix(symbol, "_")
	body, ok := strings.CutPrefix(s, "$s")
	if !ok {
		return strings.TrimPrefix(symbolClass(symbol), "OBJC_CLASS_$_")
	}
	for _, suffix := range []string{"Mn", "Mp", "N", "Mo"} {
		if rest, ok := strings.CutSuffix(body, suffix); ok {
			p := typeParser{s: rest}
			if name, ok := p.whole(); ok {
				return name
			}
			p = typeParser{s: rest + "P"} // a protocol, whose operator the suffix stands for
			if name, ok := p.whole(); ok {
				return name
			}
		}
	}
	return symbol
}

func symbolKind(symbol string) byte {
	body := strings.TrimSuffix(strings.TrimSuffix(symbol, "Mn"), "Mp")
	if body == "" || strings.HasSuffix(symbol, "Mp") {
		return 'P'
	}
	switch c := body[len(body)-1]; c {
	case 'C', 'V', 'O':
		return c
	}
	return 0
}

func splitSpaces(s string) []string { return strings.Fields(s) }
