package codesign

import (
	"encoding/asn1"
	"errors"
	"math/big"
	"strconv"

	"rea/providers/format/plist"
)

var errDER = errors.New("the entitlements are damaged")

// maxEntitlements bounds nesting.
const maxEntitlements = 64

// DecodeDER reads entitlements in DER as a property list: a version, and a
// dictionary of strings and values.
func DecodeDER(b []byte) (plist.Value, error) {
	var outer, version, dict asn1.RawValue
	if _, err := asn1.Unmarshal(b, &outer); err != nil {
		return plist.Value{}, errDER
	}
	rest, err := asn1.Unmarshal(outer.Bytes, &version)
	if err != nil || version.Tag != asn1.TagInteger {
		return plist.Value{}, errDER
	}
	if _, err := asn1.Unmarshal(rest, &dict); err != nil {
		return plist.Value{}, errDER
	}
	return derValue(&dict, 0)
}

func derValue(v *asn1.RawValue, depth int) (plist.Value, error) {
	if depth > maxEntitlements {
		return plist.Value{}, errDER
	}
	if v.Class == asn1.ClassContextSpecific && v.Tag == 16 || v.Class == asn1.ClassUniversal && v.Tag == asn1.TagSet {
		return derDict(v.Bytes, depth)
	}
	if v.Class != asn1.ClassUniversal {
		return plist.Value{}, errDER
	}
	switch v.Tag {
	case asn1.TagBoolean:
		if len(v.Bytes) != 1 {
			return plist.Value{}, errDER
		}
		return plist.Value{Kind: plist.Boolean, Bool: v.Bytes[0] != 0}, nil
	case asn1.TagInteger:
		if len(v.Bytes) == 0 || len(v.Bytes) > 16 {
			return plist.Value{}, errDER
		}
		if len(v.Bytes) <= 8 {
			var n int64
			if v.Bytes[0]&0x80 != 0 {
				n = -1
			}
			for _, c := range v.Bytes {
				n = n<<8 | int64(c)
			}
			return plist.Value{Kind: plist.Integer, Text: strconv.FormatInt(n, 10)}, nil
		}
		return plist.Value{Kind: plist.Integer, Text: new(big.Int).SetBytes(v.Bytes).String()}, nil
	case asn1.TagUTF8String, asn1.TagPrintableString, asn1.TagIA5String:
		return plist.Value{Kind: plist.String, Text: string(v.Bytes)}, nil
	case asn1.TagOctetString:
		return plist.Value{Kind: plist.Data, Bytes: v.Bytes}, nil
	case asn1.TagSequence:
		out := plist.Value{Kind: plist.Array}
		for b := v.Bytes; len(b) > 0; {
			var item asn1.RawValue
			var err error
			if b, err = asn1.Unmarshal(b, &item); err != nil {
				return plist.Value{}, errDER
			}
			one, err := derValue(&item, depth+1)
			if err != nil {
				return plist.Value{}, err
			}
			out.Items = append(out.Items, one)
		}
		return out, nil
	}
	return plist.Value{}, errDER
}

func derDict(b []byte, depth int) (plist.Value, error) {
	out := plist.Value{Kind: plist.Dict}
	for len(b) > 0 {
		var pair, key, item asn1.RawValue
		var err error
		if b, err = asn1.Unmarshal(b, &pair); err != nil {
			return plist.Value{}, errDER
		}
		rest, err := asn1.Unmarshal(pair.Bytes, &key)
		if err != nil || key.Tag != asn1.TagUTF8String {
			return plist.Value{}, errDER
		}
		if _, err = asn1.Unmarshal(rest, &item); err != nil {
			return plist.Value{}, errDER
		}
		one, err := derValue(&item, depth+1)
		if err != nil {
			return plist.Value{}, err
		}
		out.Keys, out.Items = append(out.Keys, string(key.Bytes)), append(out.Items, one)
	}
	return out, nil
}

// Same tells whether two values mean the same; order of keys does not matter.
func Same(a, b *plist.Value) bool {
	if a.Kind != b.Kind || a.Bool != b.Bool || a.Text != b.Text || string(a.Bytes) != string(b.Bytes) || len(a.Items) != len(b.Items) {
		return false
	}
	if a.Kind == plist.Dict {
		index := make(map[string]int, len(b.Keys))
		for i, k := range b.Keys {
			index[k] = i
		}
		for i, k := range a.Keys {
			j, ok := index[k]
			if !ok || !Same(&a.Items[i], &b.Items[j]) {
				return false
			}
		}
		return true
	}
	for i := range a.Items {
		if !Same(&a.Items[i], &b.Items[i]) {
			return false
		}
	}
	return true
}
