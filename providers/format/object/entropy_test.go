package object

import (
	"bytes"
	"testing"
)

func TestSectionEntropies(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	im := &Image{Sections: []Section{
		{Name: "zeros", Offset: 0, FileSize: 256},
		{Name: "every byte once", Offset: 256, FileSize: 256},
		{Name: "half of each", Offset: 128, FileSize: 256},
		{Name: "nothing stored"},
		{Name: "behind the file", Offset: 1 << 40, FileSize: 1},
		{Name: "claims too much", Offset: 256, FileSize: 1 << 62},
		{Name: "over the budget", Offset: 0, FileSize: 512},
	}}
	im.SetData(append(bytes.Repeat([]byte{0}, 256), all...))
	got, skipped := im.SectionEntropies()
	// Half zeros (with byte 0 once more) and 127 others once each: the middle case is between.
	for i, want := range []float64{0, 8, -2, NoEntropy, NoEntropy, 8, NoEntropy} {
		if want == -2 {
			if got[i] < 4 || got[i] > 5 {
				t.Errorf("%s: %v", im.Sections[i].Name, got[i])
			}
			continue
		}
		if got[i] != want {
			t.Errorf("%s: %v, want %v", im.Sections[i].Name, got[i], want)
		}
	}
	if skipped != 1 {
		t.Errorf("skipped = %d", skipped)
	}
}
