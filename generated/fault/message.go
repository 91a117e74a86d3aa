package fault

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// shown writes a detail into a message: strings quoted, numbers as they are, what
// is absent as nothing.
func shown(v any) string { return written(v, strconv.Quote) }

// plain is shown for words of our own, which need no quotes.
func plain(v any) string { return written(v, func(s string) string { return s }) }

func written(v any, text func(string) string) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return text(v)
	case fmt.Stringer:
		return v.String()
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer:
		if r.IsNil() {
			return ""
		}
		return written(r.Elem().Interface(), text)
	case reflect.String: // an enum, words of ours
		return r.String()
	case reflect.Slice:
		items := make([]string, r.Len())
		for i := range items {
			items[i] = written(r.Index(i).Interface(), text)
		}
		return strings.Join(items, ", ")
	}
	return fmt.Sprint(v)
}
