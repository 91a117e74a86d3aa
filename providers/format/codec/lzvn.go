package codec

import (
	"encoding/binary"

	"rea/providers/format/container"
)

// LZVN decodes one LZVN stream into at most limit bytes behind the history that
// dst already holds. A stream that ends without its end marker is accepted when
// limit bytes came out.
func LZVN(dst, src []byte, limit int) ([]byte, error) {
	bad := func(what string) ([]byte, error) {
		return nil, container.Errorf("lzvn", container.Corrupt, "%s", what)
	}
	start, distance := len(dst), 0
	for len(src) > 0 {
		op := int(src[0])
		if op == 6 {
			return dst, nil
		}
		size, literals, match := lzvnSize(op), 0, 0
		if size == 0 {
			return bad("an operation that is not defined")
		}
		if size > len(src) {
			break
		}
		switch {
		case op == 0x0e || op == 0x16: // nothing
		case op >= 0xf1:
			match = op & 15
		case op == 0xf0:
			match = int(src[1]) + 16
		case op >= 0xe1:
			literals = op & 15
		case op == 0xe0:
			literals = int(src[1]) + 16
		case op >= 0xa0 && op < 0xc0:
			w := int(binary.LittleEndian.Uint16(src[1:]))
			literals, distance = op>>3&3, w>>2
			match = ((op&7)<<2 | w&3) + 3
		default:
			literals, match = op>>6, op>>3&7+3
			switch op & 7 {
			case 7:
				distance = int(binary.LittleEndian.Uint16(src[1:]))
			case 6: // the distance before
			default:
				distance = op&7<<8 | int(src[1])
			}
		}
		src = src[size:]
		if literals > len(src) {
			return bad("literals run over the end of the stream")
		}
		if len(dst)-start+literals+match > limit {
			return bad("more comes out than declared")
		}
		dst = append(dst, src[:literals]...)
		src = src[literals:]
		if match > 0 {
			if distance == 0 || distance > len(dst) {
				return bad("a match reaches outside of the history")
			}
			dst = copyBack(dst, distance, match)
		}
	}
	if len(dst)-start == limit {
		return dst, nil
	}
	return bad("the stream ends early")
}

// lzvnSize is the length of an operation without its literals, 0 for those that
// are not defined.
func lzvnSize(op int) int {
	switch {
	case op == 0x0e, op == 0x16, op >= 0xf1, op >= 0xe1 && op < 0xf0:
		return 1
	case op == 0xe0, op == 0xf0:
		return 2
	case op >= 0xd0, op >= 0x70 && op < 0x80:
		return 0
	case op >= 0xa0 && op < 0xc0, op&7 == 7:
		return 3
	case op&7 == 6:
		if op < 0x40 {
			return 0
		}
		return 1
	}
	return 2
}
