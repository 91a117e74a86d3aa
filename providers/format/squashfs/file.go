package squashfs

import (
	"io"
	"sync"

	"rea/providers/format/container"
)

const (
	stored       = 1 << 24
	sizeMask     = stored - 1
	maxFragments = 4 // decoded ones that are kept
)

// fragmentCache keeps blocks that hold the ends of several files.
type fragmentCache struct {
	mu     sync.Mutex
	blocks map[uint32][]byte
	order  []uint32
}

// fragment is the decoded fragment block of an index.
func (r *Reader) fragment(index uint32) ([]byte, error) {
	f := r.frags
	f.mu.Lock()
	defer f.mu.Unlock()
	if b := f.blocks[index]; b != nil {
		return b, nil
	}
	if index >= r.fragments {
		return nil, container.Errorf("squashfs", container.Corrupt, "fragment %d of %d", index, r.fragments)
	}
	p, err := container.ReadAt(r.src, "squashfs", r.tables.fragment+int64(index/512)*8, 8)
	if err != nil {
		return nil, err
	}
	row, err := r.meta.cursor(int64(le.Uint64(p)), 0, uint16(index%512*16)).take(16)
	if err != nil {
		return nil, err
	}
	b, err := r.data(int64(le.Uint64(row)), le.Uint32(row[8:]))
	if err != nil {
		return nil, err
	}
	if len(f.order) >= maxFragments {
		delete(f.blocks, f.order[0])
		f.order = f.order[1:]
	}
	f.blocks[index], f.order = b, append(f.order, index)
	return b, nil
}

// data is a decoded data block.
func (r *Reader) data(at int64, size uint32) ([]byte, error) {
	n := int64(size & sizeMask)
	if n > r.block {
		return nil, &container.Error{Format: "squashfs", Kind: container.Corrupt, What: "a data block is larger than blocks are", Offset: at}
	}
	raw, err := container.ReadAt(r.src, "squashfs", at, n)
	if err != nil || size&stored != 0 {
		return raw, err
	}
	return r.decode(raw, r.block)
}

// file reads the content of one file.
type file struct {
	r     *Reader
	n     *inode
	sizes cursor
	at    int64 // of the next block
	left  int64 // of the content
	tail  bool  // the end lies in a fragment
	rest  []byte
	holes int64 // zero bytes still to give
}

func (r *Reader) open(n *inode) (io.ReadCloser, error) {
	return &file{r: r, n: n, sizes: n.sizes, at: n.start, left: n.size, tail: n.fragment != noValue}, nil
}

func (f *file) Close() error { return nil }

func (f *file) Read(p []byte) (int, error) {
	for len(f.rest) == 0 && f.holes == 0 {
		if f.left == 0 {
			return 0, io.EOF
		}
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	if f.holes > 0 {
		n := int(min(int64(len(p)), f.holes))
		clear(p[:n])
		f.holes -= int64(n)
		return n, nil
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// next decodes the next block.
func (f *file) next() error {
	want := min(f.left, f.r.block)
	if f.tail && f.left < f.r.block {
		b, err := f.r.fragment(f.n.fragment)
		if err != nil {
			return err
		}
		if int64(f.n.tail) > int64(len(b)) || want > int64(len(b))-int64(f.n.tail) {
			return container.Errorf("squashfs", container.Corrupt, "the end of a file lies outside of its fragment")
		}
		f.rest, f.left = b[f.n.tail:int64(f.n.tail)+want], 0
		return nil
	}
	s, err := f.sizes.take(4)
	if err != nil {
		return err
	}
	size := le.Uint32(s)
	f.left -= want
	if size&sizeMask == 0 {
		f.holes = want
		return nil
	}
	b, err := f.r.data(f.at, size)
	if err != nil {
		return err
	}
	if int64(len(b)) != want {
		return &container.Error{Format: "squashfs", Kind: container.Corrupt, What: "a data block has another length than its file needs", Offset: f.at}
	}
	f.at += int64(size & sizeMask)
	f.rest = b
	return nil
}
