// Package hfsplus reads HFS+ and HFSX volumes, with the compression that macOS
// puts on files of its own. The journal is not replayed.
package hfsplus

import (
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf16"

	"rea/providers/format/container"
)

const (
	headerAt   = 1024
	headerSize = 512
	rootFolder = 2
	maxDepth   = 256
	maxLink    = 4096
	// privateFolder holds the contents of files with several names.
	privateFolder = "\x00\x00\x00\x00HFS+ Private Data"
	// privateFolders holds the directories with several names.
	privateFolders = ".HFS+ Private Directory Data\r"
)

var be = binary.BigEndian

// Is reports whether a file begins like a volume: the signature is two bytes, so
// version and block size have to be some that there are.
func Is(head []byte) bool {
	if len(head) < headerAt+48 {
		return false
	}
	h := head[headerAt:]
	block := be.Uint32(h[40:])
	return (string(h[:2]) == "H+" || string(h[:2]) == "HX") && h[2] == 0 && (h[3] == 4 || h[3] == 5) && block >= 512 && block&(block-1) == 0
}

// A Reader reads one volume.
type Reader struct {
	src      container.Source
	block    int64
	blocks   int64
	catalog  *fork
	overflow map[forkKey][]extent
	children map[uint32][]*record
	packed   map[uint32][]byte // decmpfs attributes by file
	hidden   uint32            // folder of the contents of hard links
	claims   []container.Claim
	notes    []string
	gaps     []string
}

type extent struct{ start, count int64 }

type forkKey struct {
	file     uint32
	resource bool
}

// Open reads the volume header and the catalog.
func Open(src container.Source) (*Reader, error) {
	h, err := container.ReadAt(src, "hfsplus", headerAt, headerSize)
	if err != nil {
		return nil, err
	}
	if string(h[:2]) == "BD" && (string(h[124:126]) == "H+" || string(h[124:126]) == "HX") {
		at := int64(be.Uint16(h[28:]))*512 + int64(be.Uint16(h[126:]))*int64(be.Uint32(h[20:]))
		src = container.Sub(src, at, int64(be.Uint16(h[128:]))*int64(be.Uint32(h[20:])))
		if h, err = container.ReadAt(src, "hfsplus", headerAt, headerSize); err != nil {
			return nil, err
		}
	}
	if string(h[:2]) != "H+" && string(h[:2]) != "HX" {
		return nil, container.Errorf("hfsplus", container.Corrupt, "there is no volume header")
	}
	r := &Reader{src: src, block: int64(be.Uint32(h[40:])), blocks: int64(be.Uint32(h[44:])), overflow: map[forkKey][]extent{}, packed: map[uint32][]byte{}}
	if r.block < 512 || r.block > 1<<24 || r.block&(r.block-1) != 0 {
		return nil, container.Errorf("hfsplus", container.Corrupt, "blocks of %d bytes", r.block)
	}
	if attributes := be.Uint32(h[4:]); attributes&(1<<13) != 0 && attributes&(1<<8) == 0 {
		r.notes = append(r.notes, "the volume was not unmounted; its journal is not replayed")
	}
	if size := r.block * r.blocks; size > src.Size() {
		r.notes = append(r.notes, fmt.Sprintf("the volume says that it has %d bytes, the file has %d", size, src.Size()))
	}
	if err := r.readOverflow(r.fork(h[192:272], forkKey{3, false})); err != nil {
		r.gaps = append(r.gaps, "the extents file is damaged: "+err.Error())
	}
	r.catalog = r.fork(h[272:352], forkKey{4, false})
	if err := r.readAttributes(r.fork(h[352:432], forkKey{8, false})); err != nil {
		r.gaps = append(r.gaps, "the attributes file is damaged: "+err.Error())
	}
	if err := r.readCatalog(); err != nil {
		return nil, err
	}
	return r, nil
}

// Format is "hfsplus".
func (r *Reader) Format() string { return "hfsplus" }

// Seekable: entries can be opened in any order.
func (r *Reader) Seekable() bool { return true }

// Claims there are none.
func (r *Reader) Claims() []container.Claim { return r.claims }

// Notes say what was not read.
func (r *Reader) Notes() []string { return r.notes }

// Gaps are what was not listed.
func (r *Reader) Gaps() []string { return r.gaps }

// Entries are given by folder, in the order of the catalog. A resource fork is
// an entry of its own behind the file.
func (r *Reader) Entries() iter.Seq2[*container.Entry, error] {
	return func(yield func(*container.Entry, error) bool) { r.list(rootFolder, "", 0, map[uint32]bool{}, yield) }
}

func (r *Reader) list(folder uint32, prefix string, depth int, seen map[uint32]bool, yield func(*container.Entry, error) bool) bool {
	if seen[folder] || depth > maxDepth {
		r.gaps = append(r.gaps, "a folder is listed once more or too deep, and left out there: "+container.Escape(prefix))
		return true
	}
	seen[folder] = true
	for _, c := range r.children[folder] {
		if folder == rootFolder && (c.name == privateFolder || c.name == privateFolders) {
			continue
		}
		name := prefix + strings.ReplaceAll(c.name, "/", ":")
		e := r.entry(c, name)
		if !yield(e, nil) {
			return false
		}
		if c.folder {
			if !r.list(c.id, name+"/", depth+1, seen, yield) {
				return false
			}
			continue
		}
		if c.resource.size > 0 && r.packed[c.id] == nil && e.Type == container.File && !yield(r.resource(c, name), nil) {
			return false
		}
	}
	return true
}

func (r *Reader) entry(c *record, name string) *container.Entry {
	e := &container.Entry{Path: name, Type: container.Directory, Mode: container.Unknown, Size: container.Unknown, Packed: container.Unknown, Offset: container.Unknown}
	if c.mode != 0 {
		e.Mode = int64(c.mode & 0o7777)
	}
	if c.folder {
		return e
	}
	switch c.mode & 0o170000 {
	case 0o120000:
		e.Type = container.Symlink
		if c.data.size <= maxLink {
			b := make([]byte, c.data.size)
			if _, err := io.ReadFull(c.data.reader(), b); err == nil {
				e.Link = string(b)
				return e
			}
		}
		e.Notes = append(e.Notes, "the target of the link cannot be read")
		return e
	case 0o020000:
		e.Type = container.CharDev
		return e
	case 0o060000:
		e.Type = container.BlockDev
		return e
	case 0o010000:
		e.Type = container.FIFO
		return e
	case 0o140000:
		e.Type = container.Socket
		return e
	}
	e.Type = container.File
	if c.isLink() {
		if to := r.linked(c); to != nil {
			e.Notes = append(e.Notes, fmt.Sprintf("one of several names of file %d", to.id))
			if to.mode != 0 {
				e.Mode = int64(to.mode & 0o7777)
			}
			c = to
		} else {
			e.Notes = append(e.Notes, "it is a hard link whose content is not there")
		}
	}
	if attr := r.packed[c.id]; attr != nil {
		r.compressed(e, c, attr)
		return e
	}
	e.Size, e.Packed, e.Method = c.data.size, c.data.size, "stored"
	e.Offset = c.data.first()
	e.Open = func() (io.ReadCloser, error) { return c.data.open() }
	if c.data.contiguous() {
		e.Section = container.Sub(r.src, e.Offset, c.data.size)
	}
	return e
}

func (r *Reader) resource(c *record, name string) *container.Entry {
	return &container.Entry{
		Path: name + "/..namedfork/rsrc", Type: container.File, Mode: container.Unknown, Size: c.resource.size, Packed: c.resource.size,
		Offset: c.resource.first(), Method: "stored", Open: func() (io.ReadCloser, error) { return c.resource.open() },
	}
}

// linked is the file that holds the content of a hard link.
func (r *Reader) linked(c *record) *record {
	want := fmt.Sprintf("iNode%d", c.special)
	for _, x := range r.children[r.hidden] {
		if x.name == want {
			return x
		}
	}
	return nil
}

func decodeName(b []byte) string {
	u := make([]uint16, len(b)/2)
	for i := range u {
		u[i] = be.Uint16(b[2*i:])
	}
	return string(utf16.Decode(u))
}
