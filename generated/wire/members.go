package wire

import (
	"bytes"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// members walks the properties of the object that text begins with, names
// unescaped and values as written, without building anything. It checks no
// syntax: on text it can't follow it stops, since a decoder reads the same text
// next and reports the fault.
func members(text []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		if len(text) == 0 || text[0] != '{' {
			return
		}
		at := 1
		for {
			at += spaces(text[at:])
			end := at + valueLen(text[at:])
			if end == at || text[at] != '"' {
				return
			}
			name := string(text[at+1 : end-1])
			if bytes.IndexByte(text[at:end], '\\') >= 0 {
				plain, err := jsontext.AppendUnquote(nil, text[at:end])
				if err != nil {
					return
				}
				name = string(plain)
			}
			at = end + spaces(text[end:])
			if at == len(text) || text[at] != ':' {
				return
			}
			at++
			at += spaces(text[at:])
			end = at + valueLen(text[at:])
			if end == at || !yield(name, text[at:end]) {
				return
			}
			at = end + spaces(text[end:])
			if at == len(text) || text[at] != ',' {
				return
			}
			at++
		}
	}
}

func spaces(text []byte) int {
	for i, c := range text {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return i
		}
	}
	return len(text)
}

// valueLen is the length of the value that text begins with, 0 when it has no
// end.
func valueLen(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			n := stringLen(text[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r', ':':
			if depth == 0 {
				return i
			}
		}
	}
	return 0
}

func stringLen(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}
