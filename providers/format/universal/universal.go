// Package universal presents the architectures of a universal Mach-O file as
// slices.
package universal

import (
	"encoding/binary"
	"fmt"
	"io"
	"iter"

	"rea/providers/format/container"
	"rea/providers/format/macho"
)

const (
	magic32  = 0xcafebabe
	magic64  = 0xcafebabf
	maxCount = 44 // as many as a Java class file's oldest version leaves
	headSize = 4096
)

// Is reports whether a file begins like a universal binary.
func Is(head []byte) bool {
	if len(head) < 8 {
		return false
	}
	m, n := binary.BigEndian.Uint32(head), binary.BigEndian.Uint32(head[4:])
	return (m == magic32 || m == magic64) && n > 0 && n < maxCount
}

// A Reader reads one file.
type Reader struct {
	src  container.Source
	gaps []string
}

// Open reads from a source.
func Open(src container.Source) *Reader { return &Reader{src: src} }

// Format is "mach-o-universal".
func (r *Reader) Format() string { return "mach-o-universal" }

// Seekable: slices can be opened in any order.
func (r *Reader) Seekable() bool { return true }

// Claims there are none.
func (r *Reader) Claims() []container.Claim { return nil }

// Notes there are none.
func (r *Reader) Notes() []string { return nil }

// Gaps are what was not listed.
func (r *Reader) Gaps() []string { return r.gaps }

// Entries are given in the order of the header.
func (r *Reader) Entries() iter.Seq2[*container.Entry, error] {
	return func(yield func(*container.Entry, error) bool) {
		h, err := container.ReadAt(r.src, r.Format(), 0, 8)
		if err != nil || !Is(h) {
			yield(nil, container.Errorf(r.Format(), container.Corrupt, "not a universal binary"))
			return
		}
		be := binary.BigEndian
		n, size := int64(be.Uint32(h[4:])), int64(20)
		if be.Uint32(h) == magic64 {
			size = 32
		}
		names := map[string]int{}
		for i := range n {
			row, err := container.ReadAt(r.src, r.Format(), 8+i*size, size)
			if err != nil {
				yield(nil, err)
				return
			}
			at, length := uint64(be.Uint32(row[8:])), uint64(be.Uint32(row[12:]))
			if size == 32 {
				at, length = be.Uint64(row[8:]), be.Uint64(row[16:])
			}
			if at > uint64(r.src.Size()) {
				r.gaps = append(r.gaps, fmt.Sprintf("slice %d lies outside of the file", i))
				continue
			}
			sec := container.Sub(r.src, int64(at), int64(min(length, uint64(r.src.Size())-at)))
			name := sliceName(sec, be.Uint32(row))
			if names[name]++; names[name] > 1 {
				name = fmt.Sprintf("%s#%d", name, names[name])
			}
			e := &container.Entry{
				Path: name, Type: container.Slice, Mode: container.Unknown, Size: sec.Size(), Packed: sec.Size(), Offset: int64(at), Method: "stored",
				Section: sec, Open: container.OpenSection(sec),
			}
			if uint64(sec.Size()) < length {
				e.Notes = append(e.Notes, fmt.Sprintf("the header gives it %d bytes, more than there are", length))
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// sliceName is what the loader calls the architecture of the slice itself.
func sliceName(s container.Source, cpu uint32) string {
	head := make([]byte, min(s.Size(), headSize))
	if n, err := s.ReadAt(head, 0); err == nil || err == io.EOF {
		if all, err := macho.Slices(head[:n]); err == nil && len(all) == 1 && all[0].Name() != "" {
			return all[0].Name()
		}
	}
	return fmt.Sprintf("cpu-%#x", cpu)
}
