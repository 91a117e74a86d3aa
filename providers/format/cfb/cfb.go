// Package cfb reads compound files, among them Windows installer packages: a
// tree of storages and streams in chains of sectors. [MS-CFB]
package cfb

import (
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"unicode/utf16"

	"rea/providers/format/container"
)

const (
	headerSize  = 512
	rowSize     = 128
	miniSector  = 64
	maxSector   = 0xfffffffa // larger numbers are marks
	endOfChain  = 0xfffffffe
	none        = 0xffffffff
	inHeader    = 109 // sectors of the table that the header lists
	maxDepth    = 256
	kindStorage = 1
	kindStream  = 2
	kindRoot    = 5
)

var le = binary.LittleEndian

// Is reports whether a file begins like a compound file.
func Is(head []byte) bool {
	return len(head) >= 8 && string(head[:8]) == "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
}

// classes are what the class of the root storage says of a file.
var classes = map[string]string{
	"\x84\x10\x0c\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x46": "msi",
	"\x82\x10\x0c\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x46": "msi-transform",
	"\x86\x10\x0c\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x46": "msi-patch",
}

// A Reader reads one file.
type Reader struct {
	src    container.Source
	sector int64
	table  []uint32 // the next sector of each
	small  []uint32 // the same for mini sectors
	mini   []uint32 // sectors of the stream that holds the mini sectors
	miniN  int64
	cutoff int64
	rows   []row
	format string
	claims []container.Claim
	gaps   []string
}

// row is an entry of the directory.
type row struct {
	name               string
	kind               byte
	left, right, child uint32
	start              uint32
	size               int64
}

func corrupt(what string, args ...any) error {
	return container.Errorf("compound-file", container.Corrupt, what, args...)
}

// Open reads the tables and the directory.
func Open(src container.Source) (*Reader, error) {
	h, err := container.ReadAt(src, "compound-file", 0, headerSize)
	if err != nil {
		return nil, err
	}
	major, shift := le.Uint16(h[26:]), le.Uint16(h[30:])
	if !Is(h) || le.Uint16(h[28:]) != 0xfffe || !(major == 3 && shift == 9 || major == 4 && shift == 12) || le.Uint16(h[32:]) != 6 {
		return nil, corrupt("a header that no version has")
	}
	r := &Reader{src: src, sector: 1 << shift, cutoff: int64(le.Uint32(h[56:])), format: "compound-file"}
	if err := r.readTable(h); err != nil {
		return nil, err
	}
	if err := r.readDirectory(le.Uint32(h[48:]), major); err != nil {
		return nil, err
	}
	root := &r.rows[0]
	if r.mini, err = r.chain(root.start, root.size); err != nil {
		return nil, err
	}
	r.miniN = root.size
	chain, err := r.chain(le.Uint32(h[60:]), int64(le.Uint32(h[64:]))*r.sector)
	if err != nil {
		return nil, err
	}
	if r.small, err = r.numbers(chain); err != nil {
		return nil, err
	}
	used := len(r.table)
	for used > 0 && r.table[used-1] == none {
		used--
	}
	if end := (int64(used) + 1) * r.sector; end < src.Size() {
		r.claims = append(r.claims, container.Claim{Kind: "suffix", Name: "bytes behind the last sector", Offset: end, Size: src.Size() - end})
	}
	return r, nil
}

// readTable reads the sectors of the table, which the header lists and further
// sectors that are chained.
func (r *Reader) readTable(h []byte) error {
	most := r.src.Size()/r.sector + 1 // sectors in the file
	declared := int64(le.Uint32(h[44:]))
	if declared > most {
		return corrupt("a table of %d sectors", declared)
	}
	var at []uint32
	for i := range min(declared, inHeader) {
		at = append(at, le.Uint32(h[76+4*i:]))
	}
	per := r.sector/4 - 1
	for next, n := le.Uint32(h[68:]), int64(0); next < maxSector && int64(len(at)) < declared; n++ {
		if n > most {
			return corrupt("the list of the table's sectors runs in a circle")
		}
		b, err := r.read(next)
		if err != nil {
			return err
		}
		for i := range min(per, declared-int64(len(at))) {
			at = append(at, le.Uint32(b[4*i:]))
		}
		next = le.Uint32(b[4*per:])
	}
	if int64(len(at)) < declared {
		return corrupt("%d sectors of the table are listed, %d declared", len(at), declared)
	}
	var err error
	if r.table, err = r.numbers(at); err != nil {
		return err
	}
	// Entries beyond the end of the file stand for nothing.
	inFile := (r.src.Size() - 1) / r.sector
	if int64(len(r.table)) > inFile {
		r.table = r.table[:inFile]
	}
	return nil
}

// read gives one sector; the last of a file may be short.
func (r *Reader) read(n uint32) ([]byte, error) {
	at := (int64(n) + 1) * r.sector
	have := min(r.sector, r.src.Size()-at)
	if n >= maxSector || have <= 0 {
		return nil, corrupt("sector %d is not in the file", n)
	}
	b := make([]byte, r.sector)
	return b, container.ReadFull(r.src, "compound-file", at, b[:have])
}

func (r *Reader) numbers(sectors []uint32) ([]uint32, error) {
	out := make([]uint32, 0, int64(len(sectors))*r.sector/4)
	for _, n := range sectors {
		b, err := r.read(n)
		if err != nil {
			return nil, err
		}
		for ; len(b) > 0; b = b[4:] {
			out = append(out, le.Uint32(b))
		}
	}
	return out, nil
}

// chain follows the sectors from start until size bytes are covered.
func (r *Reader) chain(start uint32, size int64) ([]uint32, error) {
	return follow(r.table, start, (size+r.sector-1)/r.sector)
}

func follow(table []uint32, start uint32, n int64) ([]uint32, error) {
	if n > int64(len(table)) {
		return nil, corrupt("a chain of %d sectors in a table of %d", n, len(table))
	}
	out := make([]uint32, 0, n)
	for at := start; int64(len(out)) < n; at = table[at] {
		if int64(at) >= int64(len(table)) {
			return nil, corrupt("a chain ends behind %d of %d sectors", len(out), n)
		}
		out = append(out, at)
	}
	return out, nil
}

func (r *Reader) readDirectory(start uint32, major uint16) error {
	for at, n := start, 0; at != endOfChain; n++ {
		if n > len(r.table) || int64(at) >= int64(len(r.table)) {
			return corrupt("the directory runs in a circle or out of the file")
		}
		b, err := r.read(at)
		if err != nil {
			return err
		}
		for ; len(b) > 0; b = b[rowSize:] {
			x := row{kind: b[66], left: le.Uint32(b[68:]), right: le.Uint32(b[72:]), child: le.Uint32(b[76:]), start: le.Uint32(b[116:]), size: int64(le.Uint64(b[120:]))}
			if major == 3 { // the upper half means nothing there
				x.size &= 0xffffffff
			}
			if length := int(le.Uint16(b[64:])); length >= 2 && length <= 64 {
				u := make([]uint16, length/2-1)
				for i := range u {
					u[i] = le.Uint16(b[2*i:])
				}
				x.name = string(utf16.Decode(u))
			}
			if len(r.rows) == 0 {
				if x.kind != kindRoot {
					return corrupt("the directory does not begin with a root")
				}
				if format := classes[string(b[80:96])]; format != "" {
					r.format = format
				}
			}
			r.rows = append(r.rows, x)
		}
		at = r.table[at]
	}
	if len(r.rows) == 0 {
		return corrupt("there is no directory")
	}
	return nil
}

// Format is "compound-file", or what the class of the root says.
func (r *Reader) Format() string { return r.format }

// Seekable: entries can be opened in any order.
func (r *Reader) Seekable() bool { return true }

// Claims are surplus bytes.
func (r *Reader) Claims() []container.Claim { return r.claims }

// Notes there are none.
func (r *Reader) Notes() []string { return nil }

// Gaps are what was not listed.
func (r *Reader) Gaps() []string { return r.gaps }

// Entries are given as the trees of storages order them, a storage before what
// is in it.
func (r *Reader) Entries() iter.Seq2[*container.Entry, error] {
	return func(yield func(*container.Entry, error) bool) {
		r.storage(r.rows[0].child, "", 0, make([]bool, len(r.rows)), yield)
	}
}

// storage gives the entries of one, which are a binary tree, and reports whether
// to go on.
func (r *Reader) storage(root uint32, prefix string, depth int, seen []bool, yield func(*container.Entry, error) bool) bool {
	var path []uint32 // to the left, not yet given
	for at := root; ; {
		for at != none {
			if int64(at) >= int64(len(r.rows)) || seen[at] || depth > maxDepth {
				r.gaps = append(r.gaps, fmt.Sprintf("a storage is damaged: %s", container.Escape(prefix)))
				break
			}
			seen[at] = true
			path = append(path, at)
			at = r.rows[at].left
		}
		if len(path) == 0 {
			return true
		}
		x := &r.rows[path[len(path)-1]]
		path = path[:len(path)-1]
		e := r.entry(x, prefix)
		if e != nil && !yield(e, nil) {
			return false
		}
		if x.kind == kindStorage && !r.storage(x.child, e.Path+"/", depth+1, seen, yield) {
			return false
		}
		at = x.right
	}
}

func (r *Reader) entry(x *row, prefix string) *container.Entry {
	name := x.name
	if r.format != "compound-file" {
		name = installerName(name)
	}
	e := &container.Entry{Path: prefix + name, Type: container.Directory, Mode: container.Unknown, Size: container.Unknown, Packed: container.Unknown, Offset: container.Unknown}
	switch x.kind {
	case kindStorage:
		return e
	case kindStream:
	default:
		return nil
	}
	e.Type, e.Method = container.File, "stored"
	if x.size < 0 {
		e.Open = func() (io.ReadCloser, error) { return nil, corrupt("a stream of impossible size") }
		return e
	}
	e.Size, e.Packed = x.size, x.size
	e.Open = func() (io.ReadCloser, error) { return r.open(x) }
	return e
}

// open follows the sectors of a stream. Short ones lie in mini sectors.
func (r *Reader) open(x *row) (io.ReadCloser, error) {
	s := &stream{r: r, left: x.size, unit: r.sector}
	var err error
	if x.size < r.cutoff {
		s.unit = miniSector
		s.chain, err = follow(r.small, x.start, (x.size+miniSector-1)/miniSector)
	} else {
		s.chain, err = r.chain(x.start, x.size)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

type stream struct {
	r     *Reader
	chain []uint32
	unit  int64
	in    int64 // in the first of the chain
	left  int64
}

func (s *stream) Close() error { return nil }

func (s *stream) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	at, n := s.run()
	n = min(n, s.left, int64(len(p)))
	if at < 0 {
		return 0, corrupt("a mini sector lies outside of its stream")
	}
	if err := container.ReadFull(s.r.src, "compound-file", at, p[:n]); err != nil {
		return 0, err
	}
	s.left -= n
	for s.in += n; s.in >= s.unit; s.in -= s.unit {
		s.chain = s.chain[1:]
	}
	return int(n), nil
}

// run is where the next bytes are, and how many stand there in a row.
func (s *stream) run() (at, n int64) {
	first := int64(s.chain[0])
	if s.unit == miniSector {
		from := first * miniSector
		k := from / s.r.sector
		if from >= s.r.miniN || k >= int64(len(s.r.mini)) {
			return -1, 0
		}
		return (int64(s.r.mini[k])+1)*s.r.sector + from%s.r.sector + s.in, s.unit - s.in
	}
	k := 1
	for k < len(s.chain) && k < 256 && s.chain[k] == s.chain[k-1]+1 {
		k++
	}
	return (first+1)*s.r.sector + s.in, int64(k)*s.unit - s.in
}

// installerName reads the names of streams in installer packages, where one
// character stands for two of a set of 64, and a mark for a table.
func installerName(name string) string {
	const set = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._"
	var out []rune
	for _, c := range name {
		switch {
		case c >= 0x3800 && c < 0x4800:
			c -= 0x3800
			out = append(out, rune(set[c&63]), rune(set[c>>6]))
		case c >= 0x4800 && c < 0x4840:
			out = append(out, rune(set[c-0x4800]))
		case c == 0x4840:
			out = append(out, '!')
		default:
			out = append(out, c)
		}
	}
	return string(out)
}
