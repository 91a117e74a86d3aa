package rpm

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"rea/providers/format/container"
)

var be = binary.BigEndian

const (
	leadSize    = 96
	introSize   = 16
	indexSize   = 16
	maxIndex    = 1 << 20
	maxStore    = 256 << 20
	headerMagic = "\x8e\xad\xe8\x01"
)

// The tags that are read.
const (
	tagName          = 1000
	tagVersion       = 1001
	tagRelease       = 1002
	tagFileSizes     = 1028
	tagFileModes     = 1030
	tagFileDigests   = 1035
	tagFileLinkTos   = 1036
	tagFileFlags     = 1037
	tagDirIndexes    = 1116
	tagBaseNames     = 1117
	tagDirNames      = 1118
	tagPayloadFormat = 1124
	tagCompressor    = 1125
	tagFileAlgo      = 5011
	tagPayloadDigest = 5092
	tagPayloadAlgo   = 5093
	tagLongSizes     = 5008
)

// table is one header structure: an index of tags over a store of values.
type table struct {
	index []row
	store []byte
	at    int64 // offset in the file
	end   int64
}

type row struct {
	tag, kind     uint32
	offset, count uint32
}

func readTable(src container.Source, at int64) (*table, error) {
	bad := func(what string, args ...any) error {
		return &container.Error{Format: "rpm", Kind: container.Corrupt, What: fmt.Sprintf(what, args...), Offset: at}
	}
	intro, err := container.ReadAt(src, "rpm", at, introSize)
	if err != nil {
		return nil, err
	}
	if string(intro[:4]) != headerMagic {
		return nil, bad("there is no header")
	}
	n, size := int64(be.Uint32(intro[8:])), int64(be.Uint32(intro[12:]))
	if n > maxIndex || size > maxStore {
		return nil, bad("a header of %d tags and %d bytes", n, size)
	}
	b, err := container.ReadAt(src, "rpm", at+introSize, n*indexSize+size)
	if err != nil {
		return nil, err
	}
	t := &table{store: b[n*indexSize:], at: at, end: at + introSize + int64(len(b))}
	t.index = make([]row, n)
	for i := range t.index {
		e := b[i*indexSize:]
		t.index[i] = row{be.Uint32(e), be.Uint32(e[4:]), be.Uint32(e[8:]), be.Uint32(e[12:])}
	}
	return t, nil
}

func (t *table) find(tag uint32) (row, []byte) {
	for _, r := range t.index {
		if r.tag == tag && uint64(r.offset) < uint64(len(t.store)) {
			return r, t.store[r.offset:]
		}
	}
	return row{}, nil
}

// text is the values of a string tag.
func (t *table) text(tag uint32) []string {
	r, b := t.find(tag)
	if r.kind != 6 && r.kind != 8 && r.kind != 9 {
		return nil
	}
	n := int(min(r.count, uint32(len(b))))
	if r.kind == 6 {
		n = 1
	}
	var out []string
	for range n {
		end := bytes.IndexByte(b, 0)
		if end < 0 {
			break
		}
		out = append(out, string(b[:end]))
		b = b[end+1:]
	}
	return out
}

func (t *table) first(tag uint32) string {
	if s := t.text(tag); len(s) > 0 {
		return s[0]
	}
	return ""
}

// numbers is the values of an integer tag of 16, 32 or 64 bits.
func (t *table) numbers(tag uint32) []int64 {
	r, b := t.find(tag)
	width := map[uint32]int{3: 2, 4: 4, 5: 8}[r.kind]
	if width == 0 {
		return nil
	}
	n := min(int(r.count), len(b)/width)
	out := make([]int64, n)
	for i := range out {
		switch v := b[i*width:]; width {
		case 2:
			out[i] = int64(be.Uint16(v))
		case 4:
			out[i] = int64(be.Uint32(v))
		default:
			out[i] = int64(be.Uint64(v))
		}
	}
	return out
}
