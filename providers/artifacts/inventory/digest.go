package inventory

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/crc32"
	"strconv"

	"rea/providers/format/container"
)

// A Check compares what a container declares with what was observed.
type Check struct {
	Algorithm string
	Declared  string // "" when what was declared cannot be named
	Observed  string // "" when it was not observed
	Matches   bool
}

// sizeCheck is the algorithm of a check of the length.
const sizeCheck = "size"

// sum32 adds bytes up.
type sum32 uint32

func (s *sum32) Write(p []byte) (int, error) {
	for _, c := range p {
		*s += sum32(c)
	}
	return len(p), nil
}
func (s *sum32) Sum(b []byte) []byte { return binary.BigEndian.AppendUint32(b, uint32(*s)) }
func (s *sum32) Reset()              { *s = 0 }
func (s *sum32) Size() int           { return 4 }
func (s *sum32) BlockSize() int      { return 1 }

func hasher(algorithm string) hash.Hash {
	switch algorithm {
	case container.CRC32:
		return crc32.NewIEEE()
	case container.MD5:
		return md5.New()
	case container.SHA1:
		return sha1.New()
	case container.SHA224:
		return sha256.New224()
	case container.SHA256:
		return sha256.New()
	case container.SHA384:
		return sha512.New384()
	case container.SHA512:
		return sha512.New()
	case container.Sum32:
		return new(sum32)
	}
	return nil
}

// digester hashes one content for its identity and for every declared digest.
type digester struct {
	id     hash.Hash
	others map[string]hash.Hash
	blocks []*blockDigester
	n      int64
}

// newDigester prepares for the declared digests; late is set when a checksum
// may still be declared behind the content.
func newDigester(declared []container.Digest, late bool) *digester {
	d := &digester{id: sha256.New()}
	add := func(algorithm string) {
		if h := hasher(algorithm); h != nil && algorithm != container.SHA256 {
			if d.others == nil {
				d.others = map[string]hash.Hash{}
			}
			d.others[algorithm] = h
		}
	}
	for i := range declared {
		add(declared[i].Algorithm)
		if declared[i].BlockSize > 0 && declared[i].Algorithm == container.SHA256 {
			d.blocks = append(d.blocks, &blockDigester{of: &declared[i], h: sha256.New()})
		}
	}
	if late {
		add(container.CRC32)
	}
	return d
}

func (d *digester) Write(p []byte) (int, error) {
	d.id.Write(p)
	for _, h := range d.others {
		h.Write(p)
	}
	for _, b := range d.blocks {
		b.write(p)
	}
	d.n += int64(len(p))
	return len(p), nil
}

func (d *digester) sha256() string { return hex.EncodeToString(d.id.Sum(nil)) }

// check compares a declared digest.
func (d *digester) check(declared container.Digest, id string) (Check, bool) {
	c := Check{Algorithm: declared.Algorithm, Declared: declared.Value}
	switch h := d.others[declared.Algorithm]; {
	case declared.Algorithm == container.SHA256:
		c.Observed = id
	case h != nil:
		c.Observed = hex.EncodeToString(h.Sum(nil))
	default:
		return c, false
	}
	c.Matches = c.Declared == c.Observed
	return c, true
}

// size compares a declared length.
func (d *digester) size(declared int64) Check {
	return Check{Algorithm: sizeCheck, Declared: strconv.FormatInt(declared, 10), Observed: strconv.FormatInt(d.n, 10), Matches: declared == d.n}
}

// blockDigester compares digests of consecutive blocks.
type blockDigester struct {
	of    *container.Digest
	h     hash.Hash
	fill  int64
	index int
	bad   []int
}

func (b *blockDigester) write(p []byte) {
	for len(p) > 0 {
		n := min(int64(len(p)), b.of.BlockSize-b.fill)
		b.h.Write(p[:n])
		p = p[n:]
		if b.fill += n; b.fill == b.of.BlockSize {
			b.flush()
		}
	}
}

func (b *blockDigester) flush() {
	if b.index >= len(b.of.Blocks) || hex.EncodeToString(b.h.Sum(nil)) != b.of.Blocks[b.index] {
		b.bad = append(b.bad, b.index)
	}
	b.h.Reset()
	b.index, b.fill = b.index+1, 0
}

// check says which blocks do not match, if any.
func (b *blockDigester) check() (Check, bool) {
	if b.fill > 0 {
		b.flush()
	}
	c := Check{Algorithm: b.of.Algorithm + "-blocks"}
	switch {
	case len(b.bad) > 0:
		c.Declared, c.Observed = fmt.Sprintf("%d blocks", len(b.of.Blocks)), fmt.Sprintf("%d blocks, %d of them differ, the first is %d", b.index, len(b.bad), b.bad[0])
		return c, true
	case b.index != len(b.of.Blocks):
		c.Declared, c.Observed = fmt.Sprintf("%d blocks", len(b.of.Blocks)), fmt.Sprintf("%d blocks", b.index)
		return c, true
	}
	return c, false
}
