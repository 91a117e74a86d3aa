// Package authenticodetest makes catalogs for tests.
package authenticodetest

import (
	"encoding/asn1"
	"encoding/hex"
	"time"
	"unicode/utf16"
)

// A Member is a file that a catalog lists.
type Member struct {
	Name   string // in the attribute File; no attribute when empty
	Digest []byte // SHA-256
}

// Catalog is a catalog that nobody has signed.
func Catalog(identifier []byte, at time.Time, members ...Member) []byte {
	sha256 := sequence(oid(2, 16, 840, 1, 101, 3, 4, 2, 1), []byte{5, 0})
	var list []byte
	for _, m := range members {
		digest := sequence(sequence(oid(1, 3, 6, 1, 4, 1, 311, 2, 1, 15), sequence([]byte{3, 1, 0}, der(0xa0, der(0xa2, der(0x80, nil))))), sequence(sha256, octets(m.Digest)))
		attributes := sequence(oid(1, 3, 6, 1, 4, 1, 311, 2, 1, 4), der(0x31, digest))
		if m.Name != "" {
			attributes = append(sequence(oid(1, 3, 6, 1, 4, 1, 311, 12, 2, 1), der(0x31, nameValue("File", m.Name))), attributes...)
		}
		list = append(list, sequence(octets(text(hex.EncodeToString(m.Digest), false)), der(0x31, attributes))...)
	}
	content := sequence(
		sequence(oid(1, 3, 6, 1, 4, 1, 311, 12, 1, 1)), octets(identifier), marshal(at.UTC()),
		sequence(oid(1, 3, 6, 1, 4, 1, 311, 12, 1, 3), []byte{5, 0}), sequence(list),
		der(0xa0, sequence(sequence(oid(1, 3, 6, 1, 4, 1, 311, 12, 2, 1), octets(nameValue("OS", "_v100_X64"))))))
	signed := sequence([]byte{2, 1, 1}, der(0x31, nil), sequence(oid(1, 3, 6, 1, 4, 1, 311, 10, 1), der(0xa0, content)), der(0x31, nil))
	return sequence(oid(1, 2, 840, 113549, 1, 7, 2), der(0xa0, signed))
}

func nameValue(name, value string) []byte {
	return sequence(der(30, text(name, true)), []byte{2, 4, 0x10, 1, 0, 1}, octets(append(text(value, false), 0, 0)))
}

// text is UTF-16.
func text(s string, big bool) (b []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		if big {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return b
}

func der(tag byte, content []byte) []byte {
	n := len(content)
	out := []byte{tag}
	switch {
	case n < 0x80:
		out = append(out, byte(n))
	case n < 0x100:
		out = append(out, 0x81, byte(n))
	case n < 0x10000:
		out = append(out, 0x82, byte(n>>8), byte(n))
	default:
		out = append(out, 0x83, byte(n>>16), byte(n>>8), byte(n))
	}
	return append(out, content...)
}

func sequence(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return der(0x30, b)
}

func octets(b []byte) []byte { return der(4, b) }

func oid(n ...int) []byte { return marshal(asn1.ObjectIdentifier(n)) }

func marshal(v any) []byte {
	b, err := asn1.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
