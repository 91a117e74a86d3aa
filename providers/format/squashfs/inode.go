package squashfs

import (
	"fmt"
	"sync"

	"rea/providers/format/container"
)

const (
	metaSize  = 8192
	maxCached = 64
	maxLink   = 64 << 10
)

// metadata reads the tables of compressed metadata blocks. It is used
// concurrently.
type metadata struct {
	r      *Reader
	mu     sync.Mutex
	blocks map[int64]*metaBlock
	order  []int64
}

type metaBlock struct {
	data []byte
	next int64 // offset of the next block
}

// block is the metadata block at an offset of the image.
func (m *metadata) block(at int64) (*metaBlock, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := m.blocks[at]; b != nil {
		return b, nil
	}
	h, err := container.ReadAt(m.r.src, "squashfs", at, 2)
	if err != nil {
		return nil, err
	}
	size := int64(le.Uint16(h) &^ 0x8000)
	raw, err := container.ReadAt(m.r.src, "squashfs", at+2, size)
	if err != nil {
		return nil, err
	}
	if le.Uint16(h)&0x8000 == 0 {
		if raw, err = m.r.decode(raw, metaSize); err != nil {
			return nil, err
		}
	}
	if len(raw) == 0 || len(raw) > metaSize {
		return nil, &container.Error{Format: "squashfs", Kind: container.Corrupt, What: fmt.Sprintf("a metadata block of %d bytes", len(raw)), Offset: at}
	}
	if len(m.order) >= maxCached {
		delete(m.blocks, m.order[0])
		m.order = m.order[1:]
	}
	b := &metaBlock{raw, at + 2 + size}
	m.blocks[at], m.order = b, append(m.order, at)
	return b, nil
}

// cursor reads bytes of a table from a block and an offset in it.
type cursor struct {
	m      *metadata
	at     int64
	offset int
}

func (m *metadata) cursor(table int64, block uint64, offset uint16) *cursor {
	at := table + int64(block)
	if table < 0 || int64(block) < 0 || at < 0 {
		at = m.r.src.Size() // where nothing is
	}
	return &cursor{m, at, int(offset)}
}

func (c *cursor) take(n int64) ([]byte, error) {
	b, err := c.m.block(c.at)
	if err != nil {
		return nil, err
	}
	if int64(len(b.data)-c.offset) >= n && c.offset <= len(b.data) {
		out := b.data[c.offset : c.offset+int(n)]
		c.offset += int(n)
		return out, nil
	}
	out := make([]byte, 0, min(n, metaSize))
	for int64(len(out)) < n {
		if b, err = c.m.block(c.at); err != nil {
			return nil, err
		}
		if c.offset >= len(b.data) {
			if c.offset > len(b.data) {
				return nil, &container.Error{Format: "squashfs", Kind: container.Corrupt, What: "an offset behind the end of a metadata block", Offset: c.at}
			}
			c.at, c.offset = b.next, 0
			continue
		}
		k := min(n-int64(len(out)), int64(len(b.data)-c.offset))
		out = append(out, b.data[c.offset:c.offset+int(k)]...)
		c.offset += int(k)
	}
	return out, nil
}

type kind uint16

const (
	kindDir kind = iota + 1
	kindFile
	kindSymlink
	kindBlock
	kindChar
	kindFIFO
	kindSocket
)

func (k kind) entryType() container.Type {
	switch k {
	case kindDir:
		return container.Directory
	case kindFile:
		return container.File
	case kindSymlink:
		return container.Symlink
	case kindBlock:
		return container.BlockDev
	case kindChar:
		return container.CharDev
	case kindFIFO:
		return container.FIFO
	case kindSocket:
		return container.Socket
	}
	return container.Other
}

// inode is what is kept of one. The sizes of a file's blocks stay in the image
// until they are read.
type inode struct {
	kind      kind
	mode      uint16
	size      int64
	link      string
	dirBlock  uint64
	dirOffset uint16
	start     int64
	fragment  uint32
	tail      uint32 // offset in the fragment
	sizes     cursor
}

func (r *Reader) inode(ref uint64) (*inode, error) {
	c := r.meta.cursor(r.tables.inode, ref>>16, uint16(ref))
	h, err := c.take(16)
	if err != nil {
		return nil, err
	}
	t := kind(le.Uint16(h))
	n := &inode{kind: t, mode: le.Uint16(h[2:])}
	extended := t > kindSocket
	if extended {
		n.kind -= kindSocket
	}
	widths := map[kind]int64{1: 16, 2: 16, 3: 8, 4: 8, 5: 8, 6: 4, 7: 4, 8: 24, 9: 40, 10: 8, 11: 12, 12: 12, 13: 8, 14: 8}
	width := widths[t]
	if width == 0 {
		return nil, container.Errorf("squashfs", container.Corrupt, "an inode of type %d", t)
	}
	b, err := c.take(width)
	if err != nil {
		return nil, err
	}
	switch {
	case n.kind == kindDir && !extended:
		n.dirBlock, n.size, n.dirOffset = uint64(le.Uint32(b)), int64(le.Uint16(b[8:])), le.Uint16(b[10:])
	case n.kind == kindDir:
		n.size, n.dirBlock, n.dirOffset = int64(le.Uint32(b[4:])), uint64(le.Uint32(b[8:])), le.Uint16(b[18:])
	case n.kind == kindFile && !extended:
		n.start, n.fragment, n.tail, n.size = int64(le.Uint32(b)), le.Uint32(b[4:]), le.Uint32(b[8:]), int64(le.Uint32(b[12:]))
	case n.kind == kindFile:
		n.start, n.size, n.fragment, n.tail = int64(le.Uint64(b)), int64(le.Uint64(b[8:])), le.Uint32(b[28:]), le.Uint32(b[32:])
	case n.kind == kindSymlink:
		size := int64(le.Uint32(b[4:]))
		if size > maxLink {
			return nil, container.Errorf("squashfs", container.Corrupt, "the target of a link has %d bytes", size)
		}
		target, err := c.take(size)
		if err != nil {
			return nil, err
		}
		n.link = string(target)
	}
	if n.size < 0 || n.start < 0 {
		return nil, container.Errorf("squashfs", container.Corrupt, "a file of impossible size")
	}
	n.sizes = *c
	return n, nil
}
