package inventory

import (
	"encoding/binary"
	"strings"

	"rea/providers/format/container"
)

// behind finds what stands behind the sections of a PE program: archives that
// unpack themselves, and installers. The format is "" when there is nothing
// known.
func behind(src container.Source, head []byte) (format string, at int64) {
	at = programEnd(src, head)
	if at <= 0 || at >= src.Size() {
		return "", 0
	}
	var b [64]byte
	n, _ := src.ReadAt(b[:], at)
	has := func(off int, s string) bool { return off <= n && strings.HasPrefix(string(b[off:n]), s) }
	switch {
	case has(0, "7z\xbc\xaf\x27\x1c"):
		return "7z", at
	case has(0, "Rar!\x1a\x07"):
		return "rar", at
	case has(0, "MSCF\x00\x00\x00\x00"):
		return "cab", at
	case has(4, "\xef\xbe\xad\xdeNullsoftInst"):
		return "nsis", at
	case has(0, "idska32\x1a"), has(0, "zlb\x1a"):
		return "inno-setup", at
	case has(0, ";!@Install@!UTF-8!"): // a configuration stands before the archive
		var config [64 << 10]byte
		n, _ := src.ReadAt(config[:], at)
		if i := strings.Index(string(config[:n]), "7z\xbc\xaf\x27\x1c"); i > 0 {
			return "7z", at + int64(i)
		}
	}
	return "", 0
}

// behind notes what stands behind a program and gives the opener of it.
func (it *Item) behind(format string, at int64) *opener {
	o := openerOf(format)
	if o == nil {
		it.Opaque = true
		it.note("what a %s installer holds, at %d behind the program, is not read", format, at)
		return nil
	}
	it.note("a %s archive stands behind the program, at %d", format, at)
	return &opener{source: func(src container.Source, beside companion) (container.Reader, error) {
		return o.source(container.Sub(src, at, src.Size()-at), beside)
	}}
}

// programEnd is where the sections and symbols of a PE program end, 0 when head
// is not the beginning of one. It reads the tables alone: head is not the whole
// file, which a loader wants.
func programEnd(src container.Source, head []byte) int64 {
	le := binary.LittleEndian
	if len(head) < 64 || string(head[:2]) != "MZ" {
		return 0
	}
	pe := int64(le.Uint32(head[60:]))
	if pe > int64(len(head))-24 || string(head[pe:pe+4]) != "PE\x00\x00" {
		return 0
	}
	at, end := pe+24+int64(le.Uint16(head[pe+20:])), int64(0)
	for range le.Uint16(head[pe+6:]) {
		if at > int64(len(head))-40 {
			return 0
		}
		if size := int64(le.Uint32(head[at+16:])); size > 0 {
			end = max(end, int64(le.Uint32(head[at+20:]))+size)
		}
		at += 40
	}
	// Names of symbols follow the symbols, behind their length.
	if symbols := int64(le.Uint32(head[pe+12:])); symbols > 0 {
		symbols += 18 * int64(le.Uint32(head[pe+16:]))
		var size [4]byte
		if n, _ := src.ReadAt(size[:], symbols); n == len(size) {
			end = max(end, symbols+int64(le.Uint32(size[:])))
		}
	}
	return end
}
