package codec

import "rea/providers/format/container"

// ADC decodes Apple Data Compression into at most limit bytes.
func ADC(src []byte, limit int) ([]byte, error) {
	bad := func(what string) ([]byte, error) {
		return nil, container.Errorf("adc", container.Corrupt, "%s", what)
	}
	var dst []byte
	for len(src) > 0 && len(dst) < limit {
		c := int(src[0])
		var n, back, size int
		switch {
		case c >= 0x80:
			n = c&0x7f + 1
			if n > len(src)-1 || n > limit-len(dst) {
				return bad("literals run over the end")
			}
			dst = append(dst, src[1:1+n]...)
			src = src[1+n:]
			continue
		case c >= 0x40:
			size, n = 3, c&0x3f+4
		default:
			size, n = 2, c>>2+3
		}
		if len(src) < size {
			return bad("the data ends early")
		}
		if size == 3 {
			back = int(src[1])<<8 | int(src[2])
		} else {
			back = c&3<<8 | int(src[1])
		}
		src = src[size:]
		if back++; back > len(dst) || n > limit-len(dst) {
			return bad("a match reaches outside of the data")
		}
		dst = copyBack(dst, back, n)
	}
	return dst, nil
}
