package analysis

import (
	"unicode/utf8"

	"rea/generated/model"
)

// cutUTF16 takes a page of text counted in UTF-16 code units, the way hosts
// written in JavaScript index strings. A character outside the basic plane has
// two of them and is never divided: a page that would begin inside one begins
// before it, and one that has room for half of one ends before it, unless it
// would be empty.
func cutUTF16(text string, offset, limit int64) *model.PseudocodeFacetAvailable {
	var (
		units      int64 // before the character at i
		start      = -1
		end        = len(text)
		first      int64
		next       int64
		cut        bool
		startFound bool
	)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		width := int64(1)
		if r > 0xffff {
			width = 2
		}
		if !startFound && units+width > offset {
			start, first, startFound = i, units, true
		}
		if startFound && !cut && units+width-first > limit && units > first {
			end, next, cut = i, units, true
		}
		units += width
		i += size
	}
	page := &model.PseudocodeFacetAvailable{Offset: offset, TotalChars: units}
	if !startFound {
		return page
	}
	page.Offset, page.Text = first, text[start:end]
	if cut {
		page.NextOffset = &next
	}
	return page
}
