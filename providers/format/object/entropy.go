package object

import (
	"math"
	"sync"
)

// NoEntropy stands for a section that stores nothing, or was not measured.
const NoEntropy = -1

// SectionEntropies is Shannon's entropy of the stored bytes of each section, in
// bits per byte, rounded to four digits so that it is the same on every
// machine. Sections may overlap and lie about their extent: after twice the
// file's size was read, the rest is left out and counted in skipped. They are
// measured once, when the image is complete. Callers must not change the list.
func (im *Image) SectionEntropies() (entropies []float64, skipped int) {
	m := im.measured
	m.once.Do(func() { m.entropies, m.skipped = im.measureSections() })
	return m.entropies, m.skipped
}

// measured is what takes a pass over the bytes, once asked for.
type measured struct {
	once      sync.Once
	entropies []float64
	skipped   int
}

func (im *Image) measureSections() (entropies []float64, skipped int) {
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
	total := float64(len(b))
	var lanes [4][256]int // equal bytes in a row don't wait for one another
	for ; len(b) >= 4; b = b[4:] {
		lanes[0][b[0]]++
		lanes[1][b[1]]++
		lanes[2][b[2]]++
		lanes[3][b[3]]++
	}
	for _, c := range b {
		lanes[0][c]++
	}
	var count [256]int
	for _, l := range lanes {
		for c, n := range l {
			count[c] += n
		}
	}
	var h float64
	for _, n := range count {
		if n > 0 {
			f := float64(n) / total
			h -= f * math.Log2(f)
		}
	}
	return math.Round(max(h, 0)*1e4) / 1e4
}
