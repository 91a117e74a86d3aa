package cms

import "errors"

var errBER = errors.New("the encoding is damaged")

// maxBER bounds nesting; real signatures need about twenty levels.
const maxBER = 64

// definite rewrites BER as far as DER readers need: lengths that are open or
// longer than necessary become definite, and strings in pieces become one.
func definite(b []byte) ([]byte, error) {
	out, rest, err := element(nil, b, 0)
	if err != nil {
		return nil, err
	}
	// Files pad signatures to a multiple of eight with zeros.
	for _, c := range rest {
		if c != 0 {
			return nil, errBER
		}
	}
	return out, nil
}

// header takes tag and length off the front; n is -1 for an open length.
func header(b []byte) (tag []byte, n int, rest []byte, err error) {
	if len(b) < 2 {
		return nil, 0, nil, errBER
	}
	i := 1
	if b[0]&0x1f == 0x1f {
		for i < len(b) && b[i]&0x80 != 0 {
			i++
		}
		i++
		if i > 6 {
			return nil, 0, nil, errBER
		}
	}
	if i >= len(b) {
		return nil, 0, nil, errBER
	}
	tag = b[:i]
	l := b[i]
	b = b[i+1:]
	switch {
	case l < 0x80:
		n = int(l)
	case l == 0x80:
		if tag[0]&0x20 == 0 {
			return nil, 0, nil, errBER
		}
		return tag, -1, b, nil
	default:
		count := int(l & 0x7f)
		if count > 4 || count > len(b) {
			return nil, 0, nil, errBER
		}
		for _, c := range b[:count] {
			n = n<<8 | int(c)
		}
		b = b[count:]
	}
	if n > len(b) {
		return nil, 0, nil, errBER
	}
	return tag, n, b, nil
}

// element rewrites one element onto out.
func element(out, b []byte, depth int) (_, rest []byte, err error) {
	if depth > maxBER {
		return nil, nil, errBER
	}
	tag, n, body, err := header(b)
	if err != nil {
		return nil, nil, err
	}
	if tag[0]&0x20 == 0 {
		out = append(out, tag...)
		out = appendLength(out, n)
		return append(out, body[:n]...), body[n:], nil
	}
	var content []byte
	pieces := tag[0] == 0x24 // an octet string in pieces
	if n >= 0 {
		rest, body = body[n:], body[:n]
	}
	for n < 0 || len(body) > 0 {
		if n < 0 && len(body) >= 2 && body[0] == 0 && body[1] == 0 {
			rest = body[2:]
			break
		}
		at := len(content)
		if content, body, err = element(content, body, depth+1); err != nil {
			return nil, nil, err
		}
		if pieces {
			_, _, piece, err := header(content[at:])
			if err != nil || content[at] != 0x04 {
				return nil, nil, errBER
			}
			content = append(content[:at], piece...)
		}
	}
	if pieces {
		tag = []byte{0x04}
	}
	out = append(out, tag...)
	out = appendLength(out, len(content))
	return append(out, content...), rest, nil
}

func appendLength(out []byte, n int) []byte {
	switch {
	case n < 0x80:
		return append(out, byte(n))
	case n < 0x100:
		return append(out, 0x81, byte(n))
	case n < 0x10000:
		return append(out, 0x82, byte(n>>8), byte(n))
	case n < 0x1000000:
		return append(out, 0x83, byte(n>>16), byte(n>>8), byte(n))
	}
	return append(out, 0x84, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}
