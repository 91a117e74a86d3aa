package application

import (
	"bytes"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"rea/providers/javascript/tree"
)

func itoa(n int) string { return strconv.Itoa(n) }

// wide reports whether a text begins with the mark of UTF-16. Programs are UTF-8.
func wide(data []byte) bool {
	return bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff"))
}

// drawEncoding records what of a text is not UTF-8.
func (a *analysis) drawEncoding(f *tree.File, read bool) {
	switch {
	case !f.Kind.Text():
	case wide(f.Data):
		a.b.Gap("file "+f.Path, -1, "it is UTF-16, which is not read")
	case read && !utf8.Valid(f.Data):
		at := 0
		for {
			r, size := utf8.DecodeRune(f.Data[at:])
			if r == utf8.RuneError && size <= 1 {
				break
			}
			at += size
		}
		a.b.Gap("bytes of "+f.Path, -1, "it is not UTF-8 from byte "+itoa(at)+" on; names and texts have U+FFFD for what is not")
	}
}

// text is the bytes of a file as a string, without a copy: contents are never
// written to once they were read, and there are many megabytes of them.
func text(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }
