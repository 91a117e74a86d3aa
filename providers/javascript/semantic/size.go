package semantic

import "rea/generated/model"

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

// digits is how long numbers are with a comma behind each.
func digits(column []int64) int {
	n := 0
	for _, v := range column {
		n += 2
		if v < 0 {
			n++
			v = -v
		}
		for ; v > 9; v /= 10 {
			n++
		}
	}
	return n
}
