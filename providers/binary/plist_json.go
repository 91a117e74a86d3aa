package binary

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"rea/generated/wire"
	"rea/providers/format/plist"
)

// maxPlistJSON bounds the JSON of one property list.
const maxPlistJSON = 8 << 20

// projection writes a property list as JSON. Types that JSON does not have
// become objects with one member whose name begins with $.
type projection struct {
	budget   int
	omitted  int // values that no room was left for
	repeated int // keys that a dictionary has twice
}

func (p *projection) notes() []string {
	var out []string
	if p.omitted > 0 {
		out = append(out, fmt.Sprintf("%d values are left out as null: the JSON would be longer than %d bytes; select a part with pointer", p.omitted, maxPlistJSON))
	}
	if p.repeated > 0 {
		out = append(out, fmt.Sprintf("%d keys stand twice in their dictionary; the first value is given", p.repeated))
	}
	return out
}

func (p *projection) append(b []byte, v *plist.Value) []byte {
	if len(b) > p.budget {
		p.omitted++
		return append(b, "null"...)
	}
	switch v.Kind {
	case plist.Boolean:
		return strconv.AppendBool(b, v.Bool)
	case plist.Integer:
		return p.integer(b, v.Text)
	case plist.String:
		return wire.AppendString(b, strings.ToValidUTF8(v.Text, "\ufffd"))
	case plist.Real:
		return p.real(b, v.Real)
	case plist.Date:
		return p.typed(b, "$date", v.Time.Format(time.RFC3339Nano))
	case plist.UID:
		return p.typed(b, "$uid", v.Text)
	case plist.Data:
		if base64.StdEncoding.EncodedLen(len(v.Bytes)) > p.budget-len(b) {
			p.omitted++
			return append(b, "null"...)
		}
		return p.typed(b, "$data", base64.StdEncoding.EncodeToString(v.Bytes))
	case plist.Array:
		b = append(b, '[')
		for i := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			if len(b) > p.budget {
				p.omitted += len(v.Items) - i - 1
				b = p.append(b, &v.Items[i])
				break
			}
			b = p.append(b, &v.Items[i])
		}
		return append(b, ']')
	case plist.Dict:
		return p.dict(b, v)
	}
	return append(b, "null"...)
}

func (p *projection) dict(b []byte, v *plist.Value) []byte {
	seen := make(map[string]bool, len(v.Keys))
	b = append(b, '{')
	first := true
	for i, k := range v.Keys {
		k = strings.ToValidUTF8(k, "\ufffd")
		if seen[k] {
			p.repeated++
			continue
		}
		seen[k] = true
		if len(b) > p.budget {
			p.omitted += len(v.Keys) - i
			break
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = wire.AppendString(b, k)
		b = append(b, ':')
		b = p.append(b, &v.Items[i])
	}
	return append(b, '}')
}

func (p *projection) typed(b []byte, name, text string) []byte {
	b = append(b, '{')
	b = wire.AppendString(b, name)
	b = append(b, ':')
	b = wire.AppendString(b, text)
	return append(b, '}')
}

// integer is a number where JSON readers keep it exact, else text.
func (p *projection) integer(b []byte, digits string) []byte {
	const exact = 1 << 53
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n > -exact && n < exact {
		return append(b, digits...)
	}
	return p.typed(b, "$integer", digits)
}

func (p *projection) real(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return p.typed(b, "$real", strconv.FormatFloat(f, 'g', -1, 64))
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}
