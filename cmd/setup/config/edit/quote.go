package edit

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Quote writes s between double quotes with the escapes that JSON, TOML and YAML
// have in common.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || 0x7f <= r && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Scalar writes a string, bool or integer; other values are not scalars.
func Scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return Quote(v), true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case nil:
		return "null", true
	case Other:
		return v.Source, true
	}
	return "", false
}
