package object

import "math"

// NoEntropy stands for a section that stores nothing, or was not measured.
const NoEntropy = -1

// SectionEntropies is Shannon's entropy of the stored bytes of each section, in
// bits per byte, rounded to four digits so that it is the same on every
// machine. Sections may overlap and lie about their extent: after twice the
// file's size was read, the rest is left out and counted in skipped.
func (im *Image) SectionEntropies() (entropies []float64, skipped int) {
	entropies = make([]float64, len(im.Sections))
	budget := 2 * uint64(len(im.data))
	for i := range im.Sections {
		entropies[i] = NoEntropy
		s := &im.Sections[i]
		if s.FileSize == 0 || s.Offset >= uint64(len(im.data)) {
			continue
		}
		n := min(s.FileSize, uint64(len(im.data))-s.Offset)
		if n > budget {
			skipped++
			continue
		}
		budget -= n
		entropies[i] = entropy(im.data[s.Offset : s.Offset+n])
	}
	return entropies, skipped
}

func entropy(b []byte) float64 {
	var count [256]int
	for _, c := range b {
		count[c]++
	}
	var h float64
	for _, n := range count {
		if n > 0 {
			f := float64(n) / float64(len(b))
			h -= f * math.Log2(f)
		}
	}
	return math.Round(max(h, 0)*1e4) / 1e4
}
