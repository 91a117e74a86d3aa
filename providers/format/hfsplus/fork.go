package hfsplus

import (
	"io"

	"rea/providers/format/container"
)

// fork is the data or the resources of a file.
type fork struct {
	r       *Reader
	key     forkKey
	size    int64
	extents []extent // the first eight; others are looked up
}

func (r *Reader) fork(b []byte, key forkKey) *fork {
	f := &fork{r: r, key: key, size: int64(be.Uint64(b))}
	if f.size < 0 {
		f.size = 0
	}
	f.extents = extents(b[16:])
	return f
}

// all are the extents in order.
func (f *fork) all() []extent {
	if len(f.extents) < 8 {
		return f.extents
	}
	return append(f.extents[:8:8], f.r.overflow[f.key]...)
}

// first is where the content begins in the volume.
func (f *fork) first() int64 {
	if len(f.extents) == 0 {
		return container.Unknown
	}
	return f.extents[0].start * f.r.block
}

// contiguous reports whether the content is one piece that is all there.
func (f *fork) contiguous() bool {
	return len(f.extents) > 0 && f.extents[0].count*f.r.block >= f.size && f.first() <= f.r.src.Size()-f.size
}

func (f *fork) reader() io.Reader {
	var parts []io.Reader
	left := f.size
	for _, x := range f.all() {
		n := min(left, x.count*f.r.block)
		part := container.Sub(f.r.src, x.start*f.r.block, n)
		parts = append(parts, part)
		left -= part.Size()
		if left == 0 || part.Size() < n {
			break
		}
	}
	if left > 0 {
		parts = append(parts, missing{})
	}
	return io.MultiReader(parts...)
}

// missing stands for content that no extent covers.
type missing struct{}

func (missing) Read([]byte) (int, error) {
	return 0, container.Errorf("hfsplus", container.Corrupt, "the content has fewer blocks than its size needs")
}

func (f *fork) open() (io.ReadCloser, error) { return io.NopCloser(f.reader()), nil }

// readAt fills b from off.
func (f *fork) readAt(b []byte, off int64) error {
	for _, x := range f.all() {
		n := x.count * f.r.block
		if off >= n {
			off -= n
			continue
		}
		k := min(int64(len(b)), n-off)
		if err := container.ReadFull(f.r.src, "hfsplus", x.start*f.r.block+off, b[:k]); err != nil {
			return err
		}
		if b, off = b[k:], 0; len(b) == 0 {
			return nil
		}
	}
	return container.Errorf("hfsplus", container.Corrupt, "a tree has fewer blocks than its size needs")
}
