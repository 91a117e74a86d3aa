// Package iso9660 reads ISO 9660 volumes. Names and attributes come from Rock
// Ridge where the volume has it, else from Joliet, else from the plain tree.
package iso9660

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf16"

	"rea/providers/format/container"
)

const (
	sector     = 2048
	headerHFS  = 1024
	system     = 16 // first volume descriptor
	maxVolumes = 64
	maxDepth   = 256
	maxDirSize = 64 << 20
	minRecord  = 34
	maxNodes   = 4 << 20 // directories
)

var le = binary.LittleEndian

// Is reports whether a file begins like a volume.
func Is(head []byte) bool {
	return len(head) >= system*sector+6 && string(head[system*sector+1:system*sector+6]) == "CD001"
}

// A Reader reads one volume.
type Reader struct {
	src    container.Source
	block  int64
	root   record
	joliet bool
	rock   bool
	skip   int // bytes before system use fields
	seen   map[int64]bool
	claims []container.Claim
	notes  []string
	gaps   []string
}

// record is a directory record.
type record struct {
	name    []byte
	extent  int64
	size    int64
	flags   byte
	unit    byte
	system  []byte
	extents []extent // all of them, for content in several parts
}

type extent struct{ at, size int64 }

const (
	flagDirectory = 2
	flagMore      = 0x80
)

// Open reads the volume descriptors.
func Open(src container.Source) (*Reader, error) {
	r := &Reader{src: src, seen: map[int64]bool{}}
	var primary, joliet []byte
	for i := range int64(maxVolumes) {
		d, err := container.ReadAt(src, "iso9660", (system+i)*sector, sector)
		if err != nil || string(d[1:6]) != "CD001" {
			break
		}
		switch d[0] {
		case 0:
			r.claims = append(r.claims, container.Claim{Kind: "boot-record", Name: strings.TrimRight(container.Escape(string(bytes.TrimRight(d[7:39], "\x00 "))), " "), Offset: (system + i) * sector, Size: sector})
		case 1:
			if primary == nil {
				primary = d
			}
		case 2:
			if e := string(d[88:91]); joliet == nil && (e == "%/@" || e == "%/C" || e == "%/E") {
				joliet = d
			}
		}
		if d[0] == 255 {
			break
		}
	}
	if primary == nil {
		return nil, container.Errorf("iso9660", container.Corrupt, "there is no primary volume descriptor")
	}
	if nsr, err := container.ReadAt(src, "iso9660", (system+3)*sector, 6); err == nil && (string(nsr[1:4]) == "NSR" || string(nsr[1:4]) == "BEA") {
		r.notes = append(r.notes, "the volume has a UDF tree too, which is not read")
	}
	for _, hybrid := range []struct {
		at         int64
		mark, name string
	}{{0, "ER", "Apple partition map"}, {512, "EFI PART", "GUID partition table"}, {headerHFS, "H+", "HFS+ volume"}, {headerHFS, "HX", "HFS+ volume"}} {
		if b, err := container.ReadAt(src, "iso9660", hybrid.at, int64(len(hybrid.mark))); err == nil && string(b) == hybrid.mark {
			r.claims = append(r.claims, container.Claim{Kind: "hybrid", Name: hybrid.name + " over the same bytes", Offset: hybrid.at, Size: container.Unknown})
		}
	}
	if err := r.choose(primary, joliet); err != nil {
		return nil, err
	}
	return r, nil
}

// choose decides which tree is read.
func (r *Reader) choose(primary, joliet []byte) error {
	use := func(d []byte) error {
		r.block = int64(le.Uint16(d[128:]))
		if r.block < 512 || r.block > 32<<10 || r.block&(r.block-1) != 0 {
			return container.Errorf("iso9660", container.Corrupt, "blocks of %d bytes", r.block)
		}
		root, _, err := parse(d[156:190])
		if err != nil {
			return err
		}
		r.root = root
		return nil
	}
	if err := use(primary); err != nil {
		return err
	}
	if size := int64(le.Uint32(primary[80:])) * r.block; size > r.src.Size() {
		r.notes = append(r.notes, fmt.Sprintf("the volume says that it has %d bytes, the file has %d", size, r.src.Size()))
	} else if size < r.src.Size() {
		r.claims = append(r.claims, container.Claim{Kind: "suffix", Name: "bytes behind the volume", Offset: size, Size: r.src.Size() - size})
	}
	// The first record of the root says whether system use fields are SUSP.
	if first, err := container.ReadAt(r.src, "iso9660", r.root.extent*r.block, sector); err == nil {
		if self, _, err := parse(first); err == nil && len(self.system) >= 7 && string(self.system[:2]) == "SP" && self.system[4] == 0xbe && self.system[5] == 0xef {
			r.rock, r.skip = true, int(self.system[6])
			return nil
		}
	}
	if joliet != nil {
		r.joliet = true
		return use(joliet)
	}
	return nil
}

// parse reads the record at the beginning of b; n is its length, 0 for padding.
func parse(b []byte) (rec record, n int, err error) {
	if len(b) == 0 || b[0] == 0 {
		return rec, 0, nil
	}
	n = int(b[0])
	if n < minRecord || n > len(b) || int(b[32]) > n-33 {
		return rec, 0, container.Errorf("iso9660", container.Corrupt, "a directory record of %d bytes", n)
	}
	name := int(b[32])
	end := 33 + name
	end += end & 1 // system use fields begin at an even offset
	rec = record{name: b[33 : 33+name], extent: int64(le.Uint32(b[2:])) + int64(b[1]), size: int64(le.Uint32(b[10:])), flags: b[25], unit: b[26]}
	if end < n {
		rec.system = b[end:n]
	}
	return rec, n, nil
}

// Format is "iso9660".
func (r *Reader) Format() string { return "iso9660" }

// Seekable: entries can be opened in any order.
func (r *Reader) Seekable() bool { return true }

// Claims are boot records and surplus bytes.
func (r *Reader) Claims() []container.Claim { return r.claims }

// Notes say what was not read.
func (r *Reader) Notes() []string { return r.notes }

// Gaps are what was not listed.
func (r *Reader) Gaps() []string { return r.gaps }

// Entries are given as directories list them, a directory before what is in it.
func (r *Reader) Entries() iter.Seq2[*container.Entry, error] {
	return func(yield func(*container.Entry, error) bool) { r.list(r.root.extent, r.root.size, "", 0, yield) }
}

func (r *Reader) list(at, size int64, prefix string, depth int, yield func(*container.Entry, error) bool) bool {
	if r.seen[at] {
		r.notes = append(r.notes, "a directory is listed once more and left out there: "+container.Escape(prefix))
		return true
	}
	r.seen[at] = true
	if depth > maxDepth || len(r.seen) > maxNodes || size > maxDirSize {
		r.gaps = append(r.gaps, "a directory is too deep or too large and left out: "+container.Escape(prefix))
		return true
	}
	b, err := container.ReadAt(r.src, "iso9660", at*r.block, size)
	if err != nil {
		r.gaps = append(r.gaps, "a directory lies outside of the volume: "+container.Escape(prefix))
		return true
	}
	var parts []extent
	for off, index := 0, 0; off < len(b); {
		rec, n, err := parse(b[off:])
		if err != nil {
			r.gaps = append(r.gaps, fmt.Sprintf("a directory is damaged: %s: %v", container.Escape(prefix), err))
			return true
		}
		if n == 0 { // records do not cross sectors
			off = (off/sector + 1) * sector
			continue
		}
		off += n
		if index++; index <= 2 && len(rec.name) == 1 && rec.name[0] <= 1 {
			continue // itself and its parent
		}
		parts = append(parts, extent{rec.extent * r.block, rec.size})
		if rec.flags&flagMore != 0 {
			continue
		}
		rec.extents, parts = parts, nil
		if !r.give(&rec, prefix, depth, yield) {
			return false
		}
	}
	return true
}

func (r *Reader) give(rec *record, prefix string, depth int, yield func(*container.Entry, error) bool) bool {
	var rr rockRidge
	if r.rock && len(rec.system) > r.skip {
		rr = r.systemUse(rec.system[r.skip:])
	}
	if rr.relocated {
		return true // it is listed where it belongs
	}
	e := r.entry(rec, &rr, prefix)
	if !yield(e, nil) {
		return false
	}
	if e.Type != container.Directory {
		return true
	}
	at, size := rec.extent, rec.size
	if rr.child > 0 {
		first, err := container.ReadAt(r.src, "iso9660", rr.child*r.block, sector)
		if err != nil {
			return true
		}
		self, _, err := parse(first)
		if err != nil {
			return true
		}
		at, size = rr.child, self.size
	}
	return r.list(at, size, e.Path+"/", depth+1, yield)
}

func (r *Reader) entry(rec *record, rr *rockRidge, prefix string) *container.Entry {
	e := &container.Entry{
		Path: prefix + r.name(rec, rr), Type: container.File, Mode: container.Unknown, Size: 0, Packed: container.Unknown, Offset: container.Unknown,
		Link: rr.link, Notes: rr.notes,
	}
	if rr.hasMode {
		e.Mode = int64(rr.mode & 0o7777)
	}
	switch t := rr.mode & 0o170000; {
	case rec.flags&flagDirectory != 0, rr.child > 0:
		e.Type = container.Directory
	case rr.hasMode && t == 0o120000:
		e.Type = container.Symlink
	case rr.hasMode && t == 0o020000:
		e.Type = container.CharDev
	case rr.hasMode && t == 0o060000:
		e.Type = container.BlockDev
	case rr.hasMode && t == 0o010000:
		e.Type = container.FIFO
	case rr.hasMode && t == 0o140000:
		e.Type = container.Socket
	}
	if e.Type == container.File {
		r.content(e, rec, rr)
	}
	return e
}

func (r *Reader) content(e *container.Entry, rec *record, rr *rockRidge) {
	e.Method = "stored"
	var parts []container.Source
	cut := false
	for _, x := range rec.extents {
		e.Size += x.size
		part := container.Sub(r.src, x.at, x.size)
		cut = cut || part.Size() < x.size
		parts = append(parts, part)
	}
	e.Packed, e.Offset = e.Size, rec.extents[0].at
	fail := func(kind container.Kind, what string) {
		e.Notes = append(e.Notes, what)
		e.Open = func() (io.ReadCloser, error) { return nil, container.Errorf("iso9660", kind, "%s", what) }
	}
	switch {
	case rr.zisofs:
		e.Method = "zisofs"
		fail(container.Unsupported, "the content is compressed with zisofs, which is not read")
	case rec.unit != 0:
		e.Method = "interleaved"
		fail(container.Unsupported, "the content is interleaved, which is not read")
	case cut:
		fail(container.Corrupt, "its content lies outside of the volume")
	case len(parts) == 1:
		e.Section = parts[0]
		e.Open = container.OpenSection(e.Section)
	default:
		e.Open = func() (io.ReadCloser, error) {
			var in []io.Reader
			for _, p := range parts {
				in = append(in, io.NewSectionReader(p, 0, p.Size()))
			}
			return io.NopCloser(io.MultiReader(in...)), nil
		}
	}
}

// name of an entry: from Rock Ridge, in UTF-16 from Joliet, or plain without
// its version.
func (r *Reader) name(rec *record, rr *rockRidge) string {
	switch {
	case rr.name != "":
		return rr.name
	case r.joliet:
		u := make([]uint16, len(rec.name)/2)
		for i := range u {
			u[i] = binary.BigEndian.Uint16(rec.name[2*i:])
		}
		return unversioned(string(utf16.Decode(u)))
	}
	return unversioned(string(rec.name))
}

func unversioned(s string) string {
	if base, _, ok := strings.Cut(s, ";"); ok {
		s = strings.TrimSuffix(base, ".")
	}
	return s
}
