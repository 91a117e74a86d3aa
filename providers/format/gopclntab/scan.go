package gopclntab

import (
	"bytes"
	"encoding/binary"

	"rea/providers/format/object"
)

// maxCandidates bounds how many places are tried.
const maxCandidates = 32

func order(im *object.Image) binary.ByteOrder {
	if im.BigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// scanMagic finds places that begin like a header with an intact magic number.
func scanMagic(im *object.Image) []uint64 {
	var out []uint64
	// All magic numbers share three bytes, which padding follows.
	pattern, at := []byte{0xff, 0xff, 0xff, 0, 0}, 1
	if im.BigEndian {
		pattern, at = []byte{0xff, 0xff, 0xff}, 0
	}
	for _, s := range im.Segments {
		b := im.Bytes(s.Addr, int(min(s.FileSize, 1<<40)))
		for i := 0; len(out) < maxCandidates; {
			j := bytes.Index(b[i:], pattern)
			if j < 0 {
				break
			}
			start := i + j - at
			i += j + 1
			if start < 0 || start%4 != 0 || len(b)-start < 16 || !plausibleHeader(b[start:]) {
				continue
			}
			if layoutOf(order(im).Uint32(b[start:])) != "" {
				out = append(out, s.Addr+uint64(start))
			}
		}
	}
	return out
}

// plausibleHeader checks the bytes after the magic number: padding, the size
// of an instruction, the size of a pointer.
func plausibleHeader(b []byte) bool {
	return b[4] == 0 && b[5] == 0 && (b[6] == 1 || b[6] == 2 || b[6] == 4) && (b[7] == 4 || b[7] == 8)
}

// scanStructure finds places that look like a header of layout 1.16 or later
// whatever their magic number: the offset of the first sub-table is the size
// of the header, and the others rise.
func scanStructure(im *object.Image) []uint64 {
	w := im.Bits / 8
	if w != 4 && w != 8 {
		return nil
	}
	o := order(im)
	word := func(b []byte) uint64 {
		if w == 4 {
			return uint64(o.Uint32(b))
		}
		return o.Uint64(b)
	}
	low := 0 // the byte of a word that a small number is in
	if im.BigEndian {
		low = w - 1
	}
	var out []uint64
	for _, s := range im.Segments {
		if s.Perm.Write && s.Perm.Execute {
			continue
		}
		b := im.Bytes(s.Addr, int(min(s.FileSize, 1<<40)))
		for i := 0; i+8+8*w <= len(b) && len(out) < maxCandidates; i += w {
			if b[i+8+3*w+low] != byte(8+8*w) && b[i+8+2*w+low] != byte(8+7*w) {
				continue
			}
			for _, words := range []int{8, 7} { // 1.18 and later, 1.16
				names := word(b[i+8+(words-5)*w:])
				if names != uint64(8+words*w) {
					continue
				}
				rising, last := true, names
				for k := words - 4; k < words; k++ {
					v := word(b[i+8+k*w:])
					rising = rising && v > last && v < uint64(len(b)-i)
					last = v
				}
				if n := word(b[i+8:]); rising && n > 0 && n < uint64(len(b)) {
					out = append(out, s.Addr+uint64(i))
				}
			}
		}
	}
	return out
}
