// Package zip reads zip archives as the central directory describes them, and
// says where local headers, sizes or positions disagree with it. Data before
// the archive is allowed, as in self-extracting programs and CRX files.
package zip

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"slices"

	"rea/providers/format/codec"
	"rea/providers/format/container"
)

const (
	endSize       = 22
	end64Size     = 56
	locatorSize   = 20
	directorySize = 46
	localSize     = 30
	maxComment    = 65535
	// maxSurplus is how far from the end of a file the end record is looked for.
	maxSurplus = 16 << 20
	// maxLinkTarget is the longest target of a symbolic link that is read.
	maxLinkTarget = 4096
)

var le = binary.LittleEndian

// A Reader reads one archive.
type Reader struct {
	src     container.Source
	end     end
	base    int64 // of all offsets in the archive
	entries []entry
	claims  []container.Claim
	notes   []string
}

// end is what the records at the end say.
type end struct {
	at             int64 // of the first of the end records
	entries        uint64
	size, offset   uint64
	comment        int
	disk, diskDirs uint32
}

type entry struct {
	container.Entry
	flags, method uint16
	creator       uint16
	local         int64 // offset of the local header
	data          int64 // offset of the data, 0 until the local header was read
	crc           uint32
	aes           bool
	failed        error // why the content cannot be opened
}

// Is reports whether the beginning of a file looks like an archive. Archives
// behind other data are found by their end: see [HasEnd].
func Is(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06")) || bytes.HasPrefix(head, []byte("PK\x07\x08PK\x03\x04"))
}

// HasEnd reports whether src ends in the end record of an archive with entries.
func HasEnd(src container.Source) bool {
	r := &Reader{src: src}
	return r.findEnd(endSize+maxComment) == nil && r.end.entries > 0 && r.findBase() == nil
}

// Open reads the directory.
func Open(src container.Source) (*Reader, error) {
	r := &Reader{src: src}
	err := r.findEnd(endSize + maxComment)
	if err != nil { // more may have been appended than a comment can be
		err = r.findEnd(maxSurplus)
	}
	if err != nil {
		return nil, err
	}
	if err := r.findBase(); err != nil {
		return nil, err
	}
	if err := r.directory(); err != nil {
		return nil, err
	}
	r.layout()
	r.duplicates()
	return r, nil
}

func corrupt(at int64, format string, args ...any) error {
	return &container.Error{Format: "zip", Kind: container.Corrupt, What: fmt.Sprintf(format, args...), Offset: at}
}

// findEnd looks for the end record backwards through the last bytes: the first
// whose comment reaches exactly to the end of the file, else the first that lies
// in it.
func (r *Reader) findEnd(last int64) error {
	size := r.src.Size()
	n := min(size, last)
	tail, err := container.ReadAt(r.src, "zip", size-n, n)
	if err != nil {
		return err
	}
	found := -1
	for i := len(tail) - endSize; i >= 0; i-- {
		i = bytes.LastIndex(tail[:min(i+4, len(tail))], []byte("PK\x05\x06"))
		if i < 0 {
			break
		}
		rest := len(tail) - i - endSize
		if rest < 0 {
			continue
		}
		comment := int(le.Uint16(tail[i+20:]))
		if comment == rest {
			found = i
			break
		}
		if comment < rest && found < 0 {
			found = i
		}
	}
	if found < 0 {
		return corrupt(container.Unknown, "there is no end of central directory record")
	}
	b := tail[found:]
	r.end = end{
		at: size - n + int64(found), entries: uint64(le.Uint16(b[10:])), size: uint64(le.Uint32(b[12:])), offset: uint64(le.Uint32(b[16:])),
		comment: int(le.Uint16(b[20:])), disk: uint32(le.Uint16(b[4:])), diskDirs: uint32(le.Uint16(b[6:])),
	}
	if surplus := len(b) - endSize - r.end.comment; surplus > 0 {
		r.claims = append(r.claims, container.Claim{Kind: "suffix", Name: "bytes behind the end record", Offset: size - int64(surplus), Size: int64(surplus)})
	}
	if r.end.comment > 0 {
		r.claims = append(r.claims, container.Claim{Kind: "comment", Name: "archive comment", Offset: r.end.at + endSize, Size: int64(r.end.comment)})
	}
	return r.findEnd64()
}

func (r *Reader) findEnd64() error {
	e := &r.end
	wants := e.entries == 0xffff || e.size == 0xffffffff || e.offset == 0xffffffff
	if e.at < locatorSize {
		return nil
	}
	l, err := container.ReadAt(r.src, "zip", e.at-locatorSize, locatorSize)
	if err != nil {
		return err
	}
	if string(l[:4]) != "PK\x06\x07" {
		if wants && e.entries != 0xffff {
			r.notes = append(r.notes, "the end record refers to a zip64 record that is not there")
		}
		return nil
	}
	// The offset in the locator does not count data before the archive, so the
	// place right before the locator is tried too.
	for _, at := range []int64{int64(le.Uint64(l[8:])), e.at - locatorSize - end64Size} {
		if at < 0 || at > e.at-locatorSize-end64Size {
			continue
		}
		b, err := container.ReadAt(r.src, "zip", at, end64Size)
		if err != nil || string(b[:4]) != "PK\x06\x06" {
			continue
		}
		entries, size, offset := le.Uint64(b[32:]), le.Uint64(b[40:]), le.Uint64(b[48:])
		if e.entries != 0xffff && e.entries != entries || e.size != 0xffffffff && e.size != size || e.offset != 0xffffffff && e.offset != offset {
			r.notes = append(r.notes, "the end record and the zip64 end record disagree; the zip64 record is used where the end record defers to it")
		}
		if e.entries == 0xffff {
			e.entries = entries
		}
		if e.size == 0xffffffff {
			e.size = size
		}
		if e.offset == 0xffffffff {
			e.offset = offset
		}
		e.at = at
		return nil
	}
	if wants {
		return corrupt(e.at-locatorSize, "the zip64 end record is not where its locator says")
	}
	return nil
}

// findBase finds where offset 0 of the archive lies in the file: the directory
// ends where the end records begin, unless that place is none.
func (r *Reader) findBase() error {
	e := &r.end
	if e.size > uint64(e.at) || e.offset > uint64(r.src.Size()) {
		return corrupt(e.at, "a central directory of %d bytes at %d does not fit in the file", e.size, e.offset)
	}
	if e.entries > e.size/directorySize && e.entries != 0xffff {
		return corrupt(e.at, "%d entries do not fit in a central directory of %d bytes", e.entries, e.size)
	}
	begins := func(at int64) bool {
		b, err := container.ReadAt(r.src, "zip", at, 4)
		return err == nil && string(b) == "PK\x01\x02"
	}
	behind := e.at - int64(e.size)
	switch {
	case e.size == 0:
		r.base = 0
		return nil
	case begins(behind):
		r.base = behind - int64(e.offset)
	case begins(int64(e.offset)):
		r.base = 0
		r.claims = append(r.claims, container.Claim{Kind: "gap", Name: "bytes between directory and end record", Offset: int64(e.offset + e.size), Size: behind - int64(e.offset)})
	default:
		return corrupt(behind, "there is no central directory")
	}
	if r.base < 0 {
		r.notes = append(r.notes, fmt.Sprintf("offsets are %d bytes too large", -r.base))
	}
	return nil
}

func (r *Reader) directory() error {
	at := r.base + int64(r.end.offset)
	b, err := container.ReadAt(r.src, "zip", at, int64(r.end.size))
	if err != nil {
		return err
	}
	for len(b) >= directorySize && string(b[:4]) == "PK\x01\x02" {
		name, extra, comment := int(le.Uint16(b[28:])), int(le.Uint16(b[30:])), int(le.Uint16(b[32:]))
		n := directorySize + name + extra + comment
		if n > len(b) {
			return corrupt(at, "a directory entry runs over the end of the directory")
		}
		r.entries = append(r.entries, r.entry(b[:n], name, extra))
		b, at = b[n:], at+int64(n)
	}
	if len(b) > 0 {
		r.claims = append(r.claims, container.Claim{Kind: "gap", Name: "bytes in the directory behind its entries", Offset: at, Size: int64(len(b))})
	}
	if n := uint64(len(r.entries)); n != r.end.entries && n&0xffff != r.end.entries {
		r.notes = append(r.notes, fmt.Sprintf("the end record counts %d entries, the directory has %d", r.end.entries, n))
	}
	return nil
}

func (r *Reader) entry(b []byte, name, extra int) entry {
	e := entry{
		creator: le.Uint16(b[4:]) >> 8, flags: le.Uint16(b[8:]), method: le.Uint16(b[10:]), crc: le.Uint32(b[16:]),
		local: int64(le.Uint32(b[42:])),
	}
	packed, size := int64(le.Uint32(b[20:])), int64(le.Uint32(b[24:]))
	e.Path = string(b[directorySize : directorySize+name])
	e.Method = methodName(e.method)
	wants := [3]bool{size == 0xffffffff, packed == 0xffffffff, e.local == 0xffffffff}
	for x := b[directorySize+name : directorySize+name+extra]; len(x) >= 4; {
		id, n := le.Uint16(x), int(le.Uint16(x[2:]))
		if n > len(x)-4 {
			break
		}
		switch field := x[4 : 4+n]; id {
		case 1: // zip64: the values whose fields are all ones, in this order
			for i, to := range []*int64{&size, &packed, &e.local} {
				if wants[i] && len(field) >= 8 {
					*to, field, wants[i] = int64(le.Uint64(field)), field[8:], false
				}
			}
		case 0x9901:
			if len(field) >= 7 {
				e.aes = true
				e.Method = methodName(le.Uint16(field[5:])) + "+aes"
			}
		}
		x = x[4+n:]
	}
	if wants[0] || wants[1] || wants[2] {
		e.Notes = append(e.Notes, "a zip64 value is announced and absent")
	}
	if size < 0 || packed < 0 || e.local < 0 {
		e.Notes = append(e.Notes, "a zip64 value is larger than any file")
		e.failed = container.Errorf("zip", container.Corrupt, "impossible sizes")
		size, packed, e.local = max(size, 0), max(packed, 0), max(e.local, 0)
	}
	e.Size, e.Packed = size, packed
	e.Encrypted = e.flags&1 != 0 || e.aes
	e.setType(le.Uint32(b[38:]))
	if e.Type == container.File && !e.aes {
		e.Digests = []container.Digest{{Algorithm: container.CRC32, Value: fmt.Sprintf("%08x", e.crc)}}
	}
	return e
}

// setType reads the attributes that the creating system knows.
func (e *entry) setType(external uint32) {
	e.Mode, e.Type = container.Unknown, container.File
	if n := len(e.Path); n > 0 && e.Path[n-1] == '/' {
		e.Type = container.Directory
	}
	if unix := e.creator == 3 || e.creator == 19; unix && external>>16 != 0 {
		mode := external >> 16
		e.Mode = int64(mode & 0o7777)
		switch mode & 0o170000 {
		case 0o040000:
			e.Type = container.Directory
		case 0o120000:
			e.Type = container.Symlink
		case 0o020000:
			e.Type = container.CharDev
		case 0o060000:
			e.Type = container.BlockDev
		case 0o010000:
			e.Type = container.FIFO
		case 0o140000:
			e.Type = container.Socket
		}
	} else if external&0x10 != 0 {
		e.Type = container.Directory
	}
}

// layout reads the local headers, compares them and looks for overlaps and gaps.
func (r *Reader) layout() {
	type span struct {
		from, to int64
		i        int
	}
	spans := make([]span, 0, len(r.entries))
	for i := range r.entries {
		e := &r.entries[i]
		end := r.local(e)
		spans = append(spans, span{r.base + e.local, max(end, r.base+e.local), i})
	}
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var covered int64
	overlaps, first := 0, -1
	for k, s := range spans {
		if k == 0 && s.from > 0 {
			r.prefix(s.from)
		}
		if k > 0 && s.from < covered {
			overlaps++
			e := &r.entries[s.i]
			e.Notes = append(e.Notes, fmt.Sprintf("its bytes overlap those of %s", container.Escape(r.entries[first].Path)))
		}
		if s.to > covered || first < 0 {
			covered, first = s.to, s.i
		}
	}
	if overlaps > 0 {
		r.notes = append(r.notes, fmt.Sprintf("%d entries overlap others", overlaps))
	}
	r.signingBlock(covered)
}

// prefix names what stands before the entries. Chrome extensions have a header
// there that signs them.
func (r *Reader) prefix(size int64) {
	c := container.Claim{Kind: "prefix", Name: "bytes before the first entry", Offset: 0, Size: size}
	if h, err := container.ReadAt(r.src, "zip", 0, min(16, size)); err == nil && len(h) == 16 && string(h[:4]) == "Cr24" {
		version, length := le.Uint32(h[4:]), int64(0)
		switch version {
		case 2:
			length = 16 + int64(le.Uint32(h[8:])) + int64(le.Uint32(h[12:]))
		case 3:
			length = 12 + int64(le.Uint32(h[8:]))
		}
		if length > 0 && length <= size {
			r.claims = append(r.claims, container.Claim{Kind: "signature", Name: fmt.Sprintf("CRX%d header", version), Offset: 0, Size: length})
			c.Offset, c.Size = length, size-length
		}
	}
	if c.Size > 0 {
		r.claims = append(r.claims, c)
	}
}

// signingBlock names what stands right before the directory.
func (r *Reader) signingBlock(covered int64) {
	dir := r.base + int64(r.end.offset)
	if dir-covered < 32 || dir > r.src.Size() {
		return
	}
	b, err := container.ReadAt(r.src, "zip", dir-24, 24)
	if err != nil || string(b[8:]) != "APK Sig Block 42" {
		return
	}
	if n := le.Uint64(b); n < uint64(dir) {
		r.claims = append(r.claims, container.Claim{Kind: "signature", Name: "APK Signing Block", Offset: dir - int64(n) - 8, Size: int64(n) + 8})
	}
}

// local reads the local header of an entry and returns where its data ends.
func (r *Reader) local(e *entry) int64 {
	at := r.base + e.local
	h, err := container.ReadAt(r.src, "zip", at, localSize)
	if err != nil || string(h[:4]) != "PK\x03\x04" {
		e.failed = corrupt(at, "there is no local header")
		e.Notes = append(e.Notes, "there is no local header where the directory says")
		e.Offset = container.Unknown
		return at
	}
	name, extra := int64(le.Uint16(h[26:])), int64(le.Uint16(h[28:]))
	e.data = at + localSize + name + extra
	e.Offset = e.data
	if raw, err := container.ReadAt(r.src, "zip", at+localSize, name); err != nil || string(raw) != e.Path {
		e.Notes = append(e.Notes, "the local header has another name: "+container.Escape(string(raw)))
	}
	if m := le.Uint16(h[8:]); m != e.method {
		e.Notes = append(e.Notes, "the local header has another method: "+methodName(m))
	}
	flags := le.Uint16(h[6:])
	if (flags^e.flags)&1 != 0 {
		e.Notes = append(e.Notes, "local header and directory disagree about encryption")
	}
	if flags&8 == 0 { // else the values follow the data
		crc, packed, size := le.Uint32(h[14:]), le.Uint32(h[18:]), le.Uint32(h[22:])
		if crc != e.crc {
			e.Notes = append(e.Notes, fmt.Sprintf("the local header has another CRC-32: %08x", crc))
		}
		if packed != 0xffffffff && int64(packed) != e.Packed || size != 0xffffffff && int64(size) != e.Size {
			e.Notes = append(e.Notes, fmt.Sprintf("the local header has other sizes: %d bytes, compressed %d", size, packed))
		}
	}
	if e.Packed > r.src.Size()-e.data {
		e.Notes = append(e.Notes, "its data runs over the end of the file")
		e.failed = corrupt(e.data, "%d bytes of data are not there", e.Packed)
		return r.src.Size()
	}
	return e.data + e.Packed
}

func (r *Reader) duplicates() {
	seen := make(map[string]struct{}, len(r.entries))
	for i := range r.entries {
		e := &r.entries[i]
		if _, ok := seen[e.Path]; ok {
			e.Notes = append(e.Notes, "another entry before it has the same name")
		}
		seen[e.Path] = struct{}{}
	}
}

// Format is "zip".
func (r *Reader) Format() string { return "zip" }

// Seekable: entries can be opened in any order.
func (r *Reader) Seekable() bool { return true }

// Claims are prefixes, surplus bytes, comments and signing blocks.
func (r *Reader) Claims() []container.Claim { return r.claims }

// Notes are contradictions of the archive as a whole.
func (r *Reader) Notes() []string { return r.notes }

// Entries are given in the order of the directory.
func (r *Reader) Entries() iter.Seq2[*container.Entry, error] {
	return func(yield func(*container.Entry, error) bool) {
		for i := range r.entries {
			e := &r.entries[i]
			switch e.Type {
			case container.Symlink:
				e.Link = r.target(e)
			case container.File:
				e.Open = func() (io.ReadCloser, error) { return r.open(e) }
				if e.method == 0 && !e.Encrypted && e.failed == nil && e.Packed == e.Size {
					e.Section = container.Sub(r.src, e.data, e.Packed)
				}
			}
			if !yield(&e.Entry, nil) {
				return
			}
		}
	}
}

func (r *Reader) target(e *entry) string {
	if e.Size > maxLinkTarget {
		e.Notes = append(e.Notes, fmt.Sprintf("the target of the link has %d bytes and is not read", e.Size))
		return ""
	}
	rc, err := r.open(e)
	if err != nil {
		e.Notes = append(e.Notes, "the target of the link cannot be read: "+err.Error())
		return ""
	}
	defer rc.Close()
	b, err := io.ReadAll(io.LimitReader(rc, maxLinkTarget))
	if err != nil {
		e.Notes = append(e.Notes, "the target of the link cannot be read: "+err.Error())
	}
	return string(b)
}

func (r *Reader) open(e *entry) (io.ReadCloser, error) {
	switch {
	case e.failed != nil:
		return nil, e.failed
	case e.Encrypted:
		return nil, container.Errorf("zip", container.Encrypted, "the content is encrypted")
	}
	data := container.Sub(r.src, e.data, e.Packed)
	switch e.method {
	case 0:
		return io.NopCloser(data), nil
	case 8:
		return codec.Deflate(data)
	case 9:
		return codec.Deflate64(data)
	case 12:
		return codec.Bzip2(data)
	case 14:
		return openLZMA(data, e)
	case 93:
		return codec.Zstd(data)
	case 95:
		return codec.XZ(data)
	}
	return nil, container.Errorf("zip", container.Unsupported, "compression method %s is not read", e.Method)
}

// openLZMA skips the version and length in front of the properties.
func openLZMA(data io.Reader, e *entry) (io.ReadCloser, error) {
	var h [9]byte
	if _, err := io.ReadFull(data, h[:]); err != nil || le.Uint16(h[2:]) != 5 {
		return nil, container.Errorf("zip", container.Corrupt, "the LZMA properties are not five bytes")
	}
	size := e.Size
	if e.flags&2 != 0 { // an end marker stands in the stream
		size = container.Unknown
	}
	return codec.RawLZMA(data, h[4:], size)
}

func methodName(m uint16) string {
	switch m {
	case 0:
		return "stored"
	case 1:
		return "shrunk"
	case 6:
		return "imploded"
	case 8:
		return "deflate"
	case 9:
		return "deflate64"
	case 12:
		return "bzip2"
	case 14:
		return "lzma"
	case 93:
		return "zstd"
	case 95:
		return "xz"
	case 98:
		return "ppmd"
	case 99:
		return "aes"
	}
	return fmt.Sprintf("method-%d", m)
}
