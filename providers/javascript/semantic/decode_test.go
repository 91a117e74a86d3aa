package semantic_test

import (
	"testing"

	"rea/generated/model"
	"rea/providers/javascript/semantic"
)

// Whatever columns say, they are read into a graph whose rows are all there, or
// refused.
func FuzzDecode(f *testing.F) {
	f.Add("mfpbecrs", []byte{0, 1, 2, 3, 4, 5, 6, 7}, []byte{9, 5, 1, 1, 2, 2, 1, 0}, "dapc", []byte{1, 0, 1, 1}, []byte{1, 1, 255, 1}, []byte{3, 0, 7})
	f.Add("m", []byte{0}, []byte{0}, "", []byte{}, []byte{}, []byte{})
	f.Add("mm", []byte{200, 100}, []byte{128, 129}, "zz", []byte{0, 255}, []byte{255, 0}, []byte{255, 254})
	signed := func(b []byte) []int64 {
		out := make([]int64, len(b))
		for i := range b {
			out[i] = int64(int8(b[i]))
			if b[i] == 0x80 {
				out[i] = -1 << 63
			}
			if b[i] == 0x81 {
				out[i] = 1<<63 - 1
			}
		}
		return out
	}
	f.Fuzz(func(t *testing.T, kinds string, starts, lengths []byte, relations string, from, to, lines []byte) {
		in := &model.JavascriptSemantics{
			Kinds: kinds, Starts: signed(starts), Lengths: signed(lengths), Labels: make([]int64, len(kinds)), Strings: []string{"a"},
			RelationKinds: relations, From: signed(from), To: signed(to), Functions: []int64{}, Fingerprints: []string{},
			Units: []model.JavascriptSemanticsUnit{{Count: int64(len(kinds)), Modules: []int64{0}, ApplicationNodes: []int64{0}, LineLengths: signed(lines)}},
		}
		in.GraphID = semantic.Digest(in)
		g, err := semantic.Decode(in)
		if err != nil {
			return
		}
		for _, e := range g.Edges {
			if int(e.From) >= len(g.Kinds) || int(e.To) >= len(g.Kinds) || e.From < 0 || e.To < 0 {
				t.Fatalf("a relation from %d to %d of %d nodes", e.From, e.To, len(g.Kinds))
			}
		}
		for i := range g.Kinds {
			if g.Ends[i] < g.Starts[i] {
				t.Fatalf("node %d ends before it begins", i)
			}
			g.UnitOf(int32(i)).Line(g.Starts[i])
			g.Label(int32(i))
		}
	})
}
