package semantic

import (
	"math/bits"

	"rea/generated/model"
)

// Size is about how long a graph is as JSON.
func Size(s *model.JavascriptSemantics) int {
	n := 1024 + len(s.Kinds) + len(s.RelationKinds) + 40*len(s.Fingerprints)
	for _, column := range [][]int64{s.Starts, s.Lengths, s.Labels, s.From, s.To, s.Functions} {
		n += digits(column)
	}
	for _, text := range s.Strings {
		n += len(text) + len(text)/16 + 3
	}
	for i := range s.Units {
		u := &s.Units[i]
		n += 128 + digits(u.LineLengths) + digits(u.Modules) + digits(u.ApplicationNodes)
	}
	return n
}

// digits is how long numbers are with a comma behind each, or a little more.
func digits(column []int64) int {
	n := 2 * len(column)
	for _, v := range column {
		n += int(v>>63) & 1            // minus
		v ^= v >> 63                   // magnitude
		n += bits.Len64(uint64(v)) / 3 // a digit is more than three bits
	}
	return n
}
