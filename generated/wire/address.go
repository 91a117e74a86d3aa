package wire

import "strconv"

// An Address is a place in a target, written as lowercase hexadecimal: "0x401000".
type Address uint64

func (a Address) String() string { return string(a.append(nil)) }

func (a Address) append(dst []byte) []byte {
	dst = append(dst, '0', 'x')
	return strconv.AppendUint(dst, uint64(a), 16)
}

// AppendJSON appends the quoted form.
func (a Address) AppendJSON(dst []byte) []byte {
	dst = append(dst, '"')
	dst = a.append(dst)
	return append(dst, '"')
}

// MarshalText serves encoders other than ours.
func (a Address) MarshalText() ([]byte, error) { return a.append(nil), nil }

// UnmarshalText reads the written form and no other.
func (a *Address) UnmarshalText(text []byte) error {
	v, ok := parseAddress(text)
	if !ok {
		return &InvalidError{Keyword: "pattern", Message: shown(string(text)) + " is not an address such as 0x401000"}
	}
	*a = v
	return nil
}

// parseAddress accepts ^0x[0-9a-f]{1,16}$.
func parseAddress(s []byte) (Address, bool) {
	if len(s) < 3 || len(s) > 18 || s[0] != '0' || s[1] != 'x' {
		return 0, false
	}
	var v uint64
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			v = v<<4 | uint64(c-'0')
		case 'a' <= c && c <= 'f':
			v = v<<4 | uint64(c-'a'+10)
		default:
			return 0, false
		}
	}
	return Address(v), true
}
