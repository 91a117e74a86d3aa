// Package apksig reads the signatures of Android packages and Java archives.
//
// Scheme 1 is that of Java: a manifest names the digest of every entry, a
// signature file the digest of the manifest, and a PKCS #7 message signs the
// signature file. Schemes 2, 3 and 3.1 sign the whole file but a block of their
// own, which lies before the central directory.
package apksig

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Identifiers in the signing block.
const (
	idV2         = 0x7109871a
	idV3         = 0xf05368c0
	idV31        = 0x1b93ad61
	idPadding    = 0x42726577
	idDependency = 0x504b4453
	idStampV1    = 0x2b09189e
	idStampV2    = 0x6dff800d
)

var blockNames = map[uint32]string{
	idV2: "signature scheme 2", idV3: "signature scheme 3", idV31: "signature scheme 3.1", idPadding: "padding",
	idDependency: "dependency metadata", idStampV1: "source stamp 1", idStampV2: "source stamp 2", 0x2146444e: "frosting",
	0x71777777: "channel", 0xff3b5998: "package metadata",
}

// Pair is one part of the signing block.
type Pair struct {
	ID   uint32
	Size int
	data []byte
}

// Name is what a part is for, or its number.
func (p Pair) Name() string {
	if n, ok := blockNames[p.ID]; ok {
		return n
	}
	return fmt.Sprintf("%#x", p.ID)
}

// Layout is where the parts of a zip file lie.
type Layout struct {
	Block     int // start of the signing block; that of the directory without one
	Directory int
	End       int // of the record that ends the directory
	Pairs     []Pair

	file []byte
}

// ErrNotZip says that a file does not end like a zip file.
var ErrNotZip = errors.New("not a zip file")

const (
	endSize    = 22
	blockMagic = "APK Sig Block 42"
	maxPairs   = 256
)

// Locate finds the central directory and the signing block before it.
func Locate(file []byte) (*Layout, error) {
	le := binary.LittleEndian
	end := -1
	for at := len(file) - endSize; at >= 0 && at >= len(file)-endSize-0xffff; at-- {
		if le.Uint32(file[at:]) == 0x06054b50 && int(le.Uint16(file[at+20:])) == len(file)-at-endSize {
			end = at
			break
		}
	}
	if end < 0 {
		return nil, ErrNotZip
	}
	dir := uint64(le.Uint32(file[end+16:]))
	if dir > uint64(end) {
		return nil, errors.New("the central directory lies behind its end")
	}
	l := &Layout{Block: int(dir), Directory: int(dir), End: end, file: file}
	if dir < 32 || string(file[dir-16:dir]) != blockMagic {
		return l, nil
	}
	size := le.Uint64(file[dir-24:])
	if size < 24 || size > dir-8 {
		return nil, fmt.Errorf("a signing block of %d bytes does not fit", size)
	}
	start := dir - size - 8
	if le.Uint64(file[start:]) != size {
		return nil, errors.New("the signing block states two sizes")
	}
	l.Block = int(start)
	return l, l.pairs(file[start+8 : dir-24])
}

func (l *Layout) pairs(b []byte) error {
	le := binary.LittleEndian
	for len(b) > 0 {
		if len(b) < 12 {
			return errors.New("the signing block is damaged")
		}
		n := le.Uint64(b)
		if n < 4 || n > uint64(len(b)-8) || len(l.Pairs) == maxPairs {
			return errors.New("the signing block is damaged")
		}
		l.Pairs = append(l.Pairs, Pair{ID: le.Uint32(b[8:]), Size: int(n - 4), data: b[12 : 8+n]})
		b = b[8+n:]
	}
	return nil
}

// Lacks are those of the promised schemes that the file is not signed with:
// someone took them away so that an older one, which sees less, is trusted.
// Only schemes that are known here can be missed.
func (l *Layout) Lacks(promised []int) []int {
	var out []int
	for _, n := range promised {
		if id, known := schemeIDs[n]; known && l.find(id) == nil && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

var schemeIDs = map[int]uint32{2: idV2, 3: idV3}

// find is the data of a part, or nil.
func (l *Layout) find(id uint32) []byte {
	for _, p := range l.Pairs {
		if p.ID == id {
			return p.data
		}
	}
	return nil
}

// ending is the record that ends the directory as the signer saw it: with the
// signing block where the directory begins.
func (l *Layout) ending() []byte {
	b := bytes.Clone(l.file[l.End:])
	binary.LittleEndian.PutUint32(b[16:], uint32(l.Block))
	return b
}

// reader takes length-prefixed parts.
type reader struct {
	b      []byte
	failed bool
}

func (r *reader) u32() uint32 {
	if len(r.b) < 4 {
		r.failed = true
		return 0
	}
	v := binary.LittleEndian.Uint32(r.b)
	r.b = r.b[4:]
	return v
}

func (r *reader) part() []byte {
	n := uint64(r.u32())
	if r.failed || n > uint64(len(r.b)) {
		r.failed = true
		return nil
	}
	p := r.b[:n:n]
	r.b = r.b[n:]
	return p
}

// parts takes parts up to the end.
func (r *reader) parts(limit int) [][]byte {
	var out [][]byte
	for len(r.b) > 0 && !r.failed {
		if len(out) == limit {
			r.failed = true
			return nil
		}
		out = append(out, r.part())
	}
	return out
}
