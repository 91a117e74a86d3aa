package codec

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
	"slices"

	"github.com/ulikunitz/xz/lzma"

	"rea/providers/format/container"
)

// XZ opens one or several xz streams.
func XZ(r io.Reader) (io.ReadCloser, error) { return openXZ(r, MaxWindow) }

// XZBlock opens xz streams that are small parts of something, with a history to
// suit.
func XZBlock(r io.Reader) (io.ReadCloser, error) { return openXZ(r, 32<<20) }

func openXZ(r io.Reader, window int64) (io.ReadCloser, error) {
	var history int64
	rc, err := start("xz", func() (*xzReader, error) {
		x := &xzReader{chunks: xzChunks{in: buffered(r), window: window}}
		if err := x.chunks.stream(); err != nil {
			return nil, unexpected(err)
		}
		if err := x.chunks.next(); err != nil {
			return nil, unexpected(err)
		}
		history = x.chunks.wants
		return x, nil
	}, nil)
	if err != nil {
		return nil, err
	}
	return Hold(rc, history), nil
}

// xzReader reads streams in a row (the .xz file format, version 1.2.1). All
// their blocks go through one decoder of LZMA2, because its history is what costs
// memory; the checks of blocks are kept apart.
type xzReader struct {
	chunks xzChunks
	lz     *lzma.Reader2
	total  int64
	ready  []byte // that filters gave
}

func (x *xzReader) Read(p []byte) (int, error) {
	for {
		if len(x.ready) > 0 {
			n := copy(p, x.ready)
			x.ready = x.ready[n:]
			return n, nil
		}
		if x.lz == nil {
			if x.chunks.done {
				if len(x.chunks.blocks) > 0 {
					return 0, badXZ("a block has less content than its chunks say")
				}
				return 0, io.EOF
			}
			x.chunks.begin()
			var err error
			if x.lz, err = (lzma.Reader2Config{DictCap: int(max(x.chunks.history, lzma.MinDictCap))}).NewReader2(&x.chunks); err != nil {
				return 0, unexpected(err)
			}
		}
		n, err := x.lz.Read(p)
		filtered, bad := x.account(p[:n])
		if bad != nil {
			return 0, bad
		}
		if err == io.EOF { // of one decoder
			x.lz, err = nil, nil
		}
		if err != nil {
			return n, unexpected(err)
		}
		if n > 0 && !filtered || len(p) == 0 {
			return n, nil
		}
	}
}

// account hashes what came out for the blocks that it is of. When one of them
// has filters, what they give is ready instead of b.
func (x *xzReader) account(b []byte) (filtered bool, err error) {
	q := &x.chunks.blocks
	filtered = slices.ContainsFunc(*q, func(block *xzBlock) bool { return block.filters != nil })
	x.ready = x.ready[:0]
	for len(*q) > 0 {
		block := (*q)[0]
		n := int64(len(b))
		if block.ended {
			n = min(n, block.end-x.total)
		}
		part := b[:n]
		b, x.total = b[n:], x.total+n
		end := block.ended && x.total >= block.end
		for _, f := range slices.Backward(block.filters) {
			part = f.next(part, end)
		}
		if filtered {
			x.ready = append(x.ready, part...)
		}
		if block.hash != nil {
			block.hash.Write(part)
		}
		if !end {
			break
		}
		*q = (*q)[1:]
		if block.hash != nil && !bytes.Equal(block.hash.Sum(nil), block.want) {
			return filtered, badXZ("the content contradicts its check")
		}
	}
	if len(b) > 0 {
		return filtered, badXZ("there is content that no block has")
	}
	return filtered, nil
}

func badXZ(what string, args ...any) error {
	return container.Errorf("xz", container.Corrupt, what, args...)
}

// xzBlock is what is known of a block.
type xzBlock struct {
	filters []filter  // behind the decoder, the last one first
	hash    hash.Hash // nil for checks that are not known
	want    []byte
	end     int64 // in the content of all
	ended   bool
}

// xzChunks gives the chunks of LZMA2 in all blocks, and looks at everything
// around them.
type xzChunks struct {
	in      *bufio.Reader
	window  int64
	history int64 // that the decoder has
	wants   int64 // that the block needs
	flags   [2]byte
	blocks  []*xzBlock // those that are not given yet
	records []xzRecord // of the stream
	block   struct {
		first          bool // no chunk was read
		head           int64
		packed, size   int64
		packedD, sizeD int64 // declared, or -1
		begin          int64
	}
	unpacked int64 // content of all blocks so far
	left     int64 // of the chunk
	last     bool  // the end of the decoder's chunks is given
	done     bool  // the streams end
}

type xzRecord struct{ unpadded, size uint64 }

// begin prepares for a new decoder.
func (x *xzChunks) begin() { x.history, x.last = max(x.history, x.wants), false }

func (x *xzChunks) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for x.left == 0 {
		if x.last {
			return 0, io.EOF
		}
		if x.done || x.wants > x.history { // the decoder ends here, or another takes over
			x.last = true
			p[0] = 0
			return 1, nil
		}
		if err := x.chunk(); err != nil {
			return 0, unexpected(err)
		}
	}
	n, err := x.in.Read(p[:min(int64(len(p)), x.left)])
	x.left -= int64(n)
	return n, unexpected(err)
}

// chunk finds the length of the next one, or the end of the block.
func (x *xzChunks) chunk() error {
	b, err := x.in.Peek(1)
	if err != nil {
		return err
	}
	control := b[0]
	if control == 0 {
		return x.blockEnd()
	}
	if x.block.first && control != 1 && control < 0xe0 {
		return badXZ("a block begins without resetting its history")
	}
	x.block.first = false
	var n, size int64
	switch {
	case control <= 2:
		if b, err = x.in.Peek(3); err != nil {
			return err
		}
		size = int64(binary.BigEndian.Uint16(b[1:])) + 1
		n = 3 + size
	case control < 0x80:
		return badXZ("a chunk of kind %#x", control)
	default:
		if b, err = x.in.Peek(5); err != nil {
			return err
		}
		size = int64(control&0x1f)<<16 + int64(binary.BigEndian.Uint16(b[1:])) + 1
		n = 5 + int64(binary.BigEndian.Uint16(b[3:])) + 1
		if control >= 0xc0 {
			n++
		}
	}
	x.left = n
	x.block.packed += n
	x.block.size += size
	x.unpacked += size
	return nil
}

// take reads n bytes.
func (x *xzChunks) take(n int64) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(x.in, b)
	return b, unexpected(err)
}

// blockEnd reads the end mark, padding and check of a block, and what follows.
func (x *xzChunks) blockEnd() error {
	b := &x.block
	b.packed++
	check := []int64{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}[x.flags[1]&15]
	pad := pad4(b.packed)
	tail, err := x.take(1 + pad + check)
	if err != nil {
		return err
	}
	if len(bytes.Trim(tail[:1+pad], "\x00")) > 0 {
		return badXZ("the padding of a block is not zero")
	}
	if b.packedD >= 0 && b.packedD != b.packed || b.sizeD >= 0 && b.sizeD != b.size {
		return badXZ("a block has other sizes than its header says")
	}
	block := x.blocks[len(x.blocks)-1]
	block.ended, block.end, block.want = true, x.unpacked, tail[1+pad:]
	if x.flags[1] == 1 || x.flags[1] == 4 { // these are written little-endian
		reverse(block.want)
	}
	x.records = append(x.records, xzRecord{uint64(b.head + b.packed + check), uint64(b.size)})
	return x.next()
}

func reverse(b []byte) {
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
}

var xzMagic = []byte("\xfd7zXZ\x00")

// stream reads the header of one.
func (x *xzChunks) stream() error {
	h, err := x.take(12)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(h, xzMagic) || h[6] != 0 || h[7] > 15 {
		return badXZ("not the header of a stream")
	}
	if crc32.ChecksumIEEE(h[6:8]) != binary.LittleEndian.Uint32(h[8:]) {
		return badXZ("the header of a stream contradicts its checksum")
	}
	x.flags = [2]byte(h[6:8])
	x.records = nil
	return nil
}

// next reads the header of the next block, of this stream or another, or finds
// the end of them all.
func (x *xzChunks) next() error {
	for {
		b, err := x.in.Peek(1)
		if err != nil {
			return err
		}
		if b[0] != 0 {
			return x.header(int64(b[0]))
		}
		if err := x.index(); err != nil {
			return err
		}
		if err := x.after(); err != nil {
			return err
		}
		if x.done {
			return nil
		}
		if err := x.stream(); err != nil {
			return err
		}
	}
}

// header reads the header of a block, whose length is in its first byte.
func (x *xzChunks) header(words int64) error {
	h, err := x.take((words + 1) * 4)
	if err != nil {
		return err
	}
	n := len(h) - 4
	if crc32.ChecksumIEEE(h[:n]) != binary.LittleEndian.Uint32(h[n:]) {
		return badXZ("the header of a block contradicts its checksum")
	}
	x.block.first, x.block.head, x.block.packed, x.block.size, x.block.packedD, x.block.sizeD = true, int64(len(h)), 0, 0, -1, -1
	flags, fields := h[1], h[2:n]
	if flags&0x3c != 0 {
		return container.Errorf("xz", container.Unsupported, "a block with flags %#x", flags)
	}
	for _, d := range []struct {
		flag byte
		to   *int64
	}{{0x40, &x.block.packedD}, {0x80, &x.block.sizeD}} {
		if flags&d.flag != 0 {
			v, k := varint(fields)
			if k == 0 || v > 1<<62 {
				return badXZ("the header of a block is damaged")
			}
			*d.to, fields = int64(v), fields[k:]
		}
	}
	block := &xzBlock{}
	for i := range int(flags & 3) {
		id, properties, rest := xzFilter(fields)
		f := newFilter(id, properties)
		if f == nil {
			return container.Errorf("xz", container.Unsupported, "filter %d of a block is %#x", i+1, id)
		}
		block.filters, fields = append(block.filters, f), rest
	}
	id, properties, _ := xzFilter(fields)
	if id != 0x21 || len(properties) != 1 {
		return container.Errorf("xz", container.Unsupported, "the last filter is not LZMA2")
	}
	if x.wants = dictionarySize(properties[0]); x.wants > x.window {
		return container.Errorf("xz", container.Bounded, "a block wants a history of more than %d bytes", x.window)
	}
	switch x.flags[1] {
	case 1:
		block.hash = crc32.NewIEEE()
	case 4:
		block.hash = crc64.New(crc64.MakeTable(crc64.ECMA))
	case 10:
		block.hash = sha256.New()
	}
	x.blocks = append(x.blocks, block)
	return nil
}

// xzFilter reads the id and the properties of one filter.
func xzFilter(b []byte) (id uint64, properties, rest []byte) {
	id, n := varint(b)
	size, k := varint(b[n:])
	if n == 0 || k == 0 || size > uint64(len(b)-n-k) {
		return 0, nil, nil
	}
	b = b[n+k:]
	return id, b[:size], b[size:]
}

func dictionarySize(c byte) int64 {
	if c > 40 {
		return 1 << 40
	}
	return int64(2|c&1) << (c/2 + 11)
}

// index compares the index with the blocks that were read, and reads the footer.
func (x *xzChunks) index() error {
	sum, size := crc32.NewIEEE(), int64(0)
	number := func() (uint64, error) {
		b, _ := x.in.Peek(9)
		v, k := varint(b)
		if k == 0 {
			if len(b) < 9 {
				return 0, io.ErrUnexpectedEOF
			}
			return 0, badXZ("the index is damaged")
		}
		sum.Write(b[:k])
		size += int64(k)
		_, err := x.in.Discard(k)
		return v, err
	}
	for i, want := range append([]uint64{0, uint64(len(x.records))}, flatten(x.records)...) {
		v, err := number()
		if err != nil {
			return err
		}
		if v != want {
			return badXZ("the index contradicts the blocks (number %d)", i)
		}
	}
	pad := pad4(size)
	tail, err := x.take(pad + 4 + 12)
	if err != nil {
		return err
	}
	sum.Write(tail[:pad])
	footer := tail[pad+4:]
	if binary.LittleEndian.Uint32(tail[pad:]) != sum.Sum32() || binary.LittleEndian.Uint32(footer) != crc32.ChecksumIEEE(footer[4:10]) {
		return badXZ("the end of a stream contradicts its checksum")
	}
	if string(footer[10:]) != "YZ" || [2]byte(footer[8:10]) != x.flags || int64(binary.LittleEndian.Uint32(footer[4:])+1)*4 != size+pad+4 {
		return badXZ("the end of a stream contradicts its beginning")
	}
	return nil
}

func flatten(records []xzRecord) []uint64 {
	out := make([]uint64, 0, 2*len(records))
	for _, r := range records {
		out = append(out, r.unpadded, r.size)
	}
	return out
}

// after skips padding of four zero bytes each, and finds out whether another
// stream follows.
func (x *xzChunks) after() error {
	for {
		b, err := x.in.Peek(4)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if !bytes.Equal(b, []byte{0, 0, 0, 0}) {
			break
		}
		x.in.Discard(4)
	}
	b, err := x.in.Peek(len(xzMagic))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	x.done = !bytes.Equal(b, xzMagic)
	return nil
}

func pad4(n int64) int64 { return -n & 3 }

// varint reads an integer of up to nine bytes; n is 0 when there is none.
func varint(b []byte) (v uint64, n int) {
	for i := 0; i < len(b) && i < 9; i++ {
		v |= uint64(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
