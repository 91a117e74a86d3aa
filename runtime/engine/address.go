package engine

import (
	"strconv"
	"strings"

	"rea/generated/fault"
	"rea/generated/model"
)

// ParseAddress reads an address as people write it: hexadecimal with or
// without 0x, in either case. Anything else is an invalid_address fault.
func ParseAddress(s string) (model.Address, error) {
	digits := strings.TrimSpace(s)
	if len(digits) > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') {
		digits = digits[2:]
	}
	if digits == "" {
		return 0, invalidAddress(s, "it is empty")
	}
	for _, c := range digits {
		if !isHex(c) {
			return 0, invalidAddress(s, "only hexadecimal digits may follow 0x")
		}
	}
	v, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return 0, invalidAddress(s, "it is larger than 64 bits")
	}
	return model.Address(v), nil
}

// LooksLikeAddress tells whether a selector should be read as an address
// rather than as a name: it starts with 0x, or is hexadecimal with a leading digit.
func LooksLikeAddress(s string) bool {
	if len(s) > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		return true
	}
	if s == "" || s[0] < '0' || s[0] > '9' {
		return false
	}
	for _, c := range s {
		if !isHex(c) {
			return false
		}
	}
	return true
}

func isHex(c rune) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func invalidAddress(value, reason string) error {
	return fault.InvalidAddress(fault.InvalidAddressDetails{Value: value, Reason: reason}, nil)
}
