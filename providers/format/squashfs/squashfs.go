// Package squashfs reads squashfs 4.0 images.
package squashfs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"iter"

	"rea/providers/format/codec"
	"rea/providers/format/container"
)

const (
	superSize = 96
	maxDepth  = 256
	// deviceBlock is what mksquashfs fills images up to.
	deviceBlock = 4096
	maxDir      = 64 << 20
	noValue     = 0xffffffff
)

var le = binary.LittleEndian

// Is reports whether a file begins like an image of any version.
func Is(head []byte) bool {
	return len(head) >= 4 && (string(head[:4]) == "hsqs" || string(head[:4]) == "sqsh")
}

// A Reader reads one image.
type Reader struct {
	src       container.Source
	method    string
	block     int64
	root      uint64
	used      int64
	fragments uint32
	tables    struct{ id, inode, directory, fragment int64 }
	meta      *metadata
	frags     *fragmentCache
	notes     []string
	gaps      []string
	claims    []container.Claim
	seen      map[uint64]bool // directories on the way and behind
}

// Open reads the superblock.
func Open(src container.Source) (*Reader, error) {
	b, err := container.ReadAt(src, "squashfs", 0, superSize)
	if err != nil {
		return nil, err
	}
	if major := le.Uint16(b[28:]); string(b[:4]) != "hsqs" || major != 4 {
		return nil, container.Errorf("squashfs", container.Unsupported, "the image is not of version 4")
	}
	r := &Reader{
		src: src, block: int64(le.Uint32(b[12:])), fragments: le.Uint32(b[16:]), root: le.Uint64(b[32:]), used: int64(le.Uint64(b[40:])), seen: map[uint64]bool{},
	}
	r.method = map[uint16]string{1: "zlib", 2: "lzma", 3: "lzo", 4: "xz", 5: "lz4", 6: "zstd"}[le.Uint16(b[20:])]
	if r.method == "" {
		return nil, container.Errorf("squashfs", container.Unsupported, "compression %d is not known", le.Uint16(b[20:]))
	}
	if r.block < 4096 || r.block > 1<<20 || r.block&(r.block-1) != 0 || int64(1)<<min(le.Uint16(b[22:]), 62) != r.block {
		return nil, container.Errorf("squashfs", container.Corrupt, "blocks of %d bytes", r.block)
	}
	r.tables.id, r.tables.inode = int64(le.Uint64(b[48:])), int64(le.Uint64(b[64:]))
	r.tables.directory, r.tables.fragment = int64(le.Uint64(b[72:])), int64(le.Uint64(b[80:]))
	r.meta = &metadata{r: r, blocks: map[int64]*metaBlock{}}
	r.frags = &fragmentCache{blocks: map[uint32][]byte{}}
	switch {
	case r.used > src.Size() || r.used < superSize:
		r.notes = append(r.notes, fmt.Sprintf("the image says that it uses %d bytes, the file has %d", r.used, src.Size()))
	default:
		if at := r.surplus(); at < src.Size() {
			r.claims = append(r.claims, container.Claim{Kind: "suffix", Name: "bytes behind the image", Offset: at, Size: src.Size() - at})
		}
	}
	return r, nil
}

// surplus is where bytes begin that belong to nothing. Images are filled up with
// zeros to the blocks of a device.
func (r *Reader) surplus() int64 {
	end := min((r.used+deviceBlock-1)/deviceBlock*deviceBlock, r.src.Size())
	padding, err := container.ReadAt(r.src, "squashfs", r.used, end-r.used)
	if err != nil || len(bytes.Trim(padding, "\x00")) > 0 {
		return r.used
	}
	return end
}

// decode unpacks one block of at most limit bytes.
func (r *Reader) decode(packed []byte, limit int64) ([]byte, error) {
	switch r.method {
	case "lz4":
		return codec.LZ4Block(nil, packed, int(limit))
	case "lzo":
		return codec.LZO1X(packed, int(limit))
	case "lzma":
		return codec.All(codec.LZMABlock(limit), packed, limit)
	case "xz":
		return codec.All(codec.XZBlock, packed, limit)
	}
	return codec.All(codec.ByName(r.method), packed, limit)
}

// Format is "squashfs".
func (r *Reader) Format() string { return "squashfs" }

// Seekable: entries can be opened in any order.
func (r *Reader) Seekable() bool { return true }

// Claims are surplus bytes.
func (r *Reader) Claims() []container.Claim { return r.claims }

// Notes say what was not read.
func (r *Reader) Notes() []string { return r.notes }

// Gaps are what was not listed.
func (r *Reader) Gaps() []string { return r.gaps }

// Entries are given as directories list them, a directory before what is in it.
func (r *Reader) Entries() iter.Seq2[*container.Entry, error] {
	return func(yield func(*container.Entry, error) bool) {
		root, err := r.inode(r.root)
		if err != nil {
			yield(nil, err)
			return
		}
		if root.kind != kindDir {
			yield(nil, container.Errorf("squashfs", container.Corrupt, "the root is no directory"))
			return
		}
		r.seen[r.root] = true
		r.list(root, "", 0, yield)
	}
}

// list gives the entries of a directory and reports whether to go on.
func (r *Reader) list(dir *inode, prefix string, depth int, yield func(*container.Entry, error) bool) bool {
	damaged := func(err error) bool {
		r.gaps = append(r.gaps, fmt.Sprintf("a directory is damaged: %s: %v", container.Escape(prefix), err))
		return true
	}
	if depth > maxDepth {
		return damaged(fmt.Errorf("it is nested deeper than %d", maxDepth))
	}
	if dir.size < 3 || dir.size-3 > maxDir { // three bytes stand for the entries of itself and its parent
		if dir.size <= 3 {
			return true
		}
		return damaged(fmt.Errorf("it has %d bytes", dir.size))
	}
	left := dir.size - 3
	c := r.meta.cursor(r.tables.directory, dir.dirBlock, dir.dirOffset)
	for left > 0 {
		h, err := c.take(12)
		if err != nil {
			return damaged(err)
		}
		left -= 12
		count, block := int64(le.Uint32(h))+1, uint64(le.Uint32(h[4:]))
		if count > 256 {
			return damaged(fmt.Errorf("a run of %d entries", count))
		}
		for range count {
			h, err := c.take(8)
			if err != nil {
				return damaged(err)
			}
			ref := block<<16 | uint64(le.Uint16(h))
			size := int64(le.Uint16(h[6:])) + 1
			name, err := c.take(size)
			if err != nil {
				return damaged(err)
			}
			left -= 8 + size
			if !r.give(ref, prefix+string(name), depth, yield) {
				return false
			}
		}
	}
	return true
}

func (r *Reader) give(ref uint64, path string, depth int, yield func(*container.Entry, error) bool) bool {
	n, err := r.inode(ref)
	if err != nil {
		r.gaps = append(r.gaps, fmt.Sprintf("an entry cannot be read: %s: %v", container.Escape(path), err))
		return true
	}
	e := &container.Entry{Path: path, Type: n.kind.entryType(), Mode: int64(n.mode & 0o7777), Size: container.Unknown, Packed: container.Unknown, Offset: container.Unknown, Link: n.link}
	if n.kind == kindFile {
		e.Size, e.Method = n.size, r.method
		e.Offset = n.start
		e.Open = func() (io.ReadCloser, error) { return r.open(n) }
	}
	if !yield(e, nil) {
		return false
	}
	if n.kind != kindDir {
		return true
	}
	if r.seen[ref] {
		r.notes = append(r.notes, "a directory is listed once more and left out there: "+container.Escape(path))
		return true
	}
	r.seen[ref] = true
	return r.list(n, path+"/", depth+1, yield)
}
