package hfsplus

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"rea/providers/format/codec"
	"rea/providers/format/container"
)

const (
	chunk     = 64 << 10
	maxChunks = 1 << 24
)

var le = binary.LittleEndian

// compressed describes a file whose content is packed into an attribute or into
// its resource fork.
func (r *Reader) compressed(e *container.Entry, c *record, attr []byte) {
	fail := func(kind container.Kind, what string) {
		e.Notes = append(e.Notes, what)
		e.Open = func() (io.ReadCloser, error) { return nil, container.Errorf("hfsplus", kind, "%s", what) }
	}
	if len(attr) < 16 || string(attr[:4]) != "fpmc" {
		fail(container.Corrupt, "the attribute of its compression is damaged")
		return
	}
	kind, size := le.Uint32(attr[4:]), int64(le.Uint64(attr[8:]))
	e.Size, e.Packed = max(size, container.Unknown), int64(len(attr)-16)
	inline, method := kind%2 == 1, ""
	switch kind {
	case 3, 4:
		method = "zlib"
	case 7, 8:
		method = "lzvn"
	case 9, 10:
		method = "stored"
	case 11, 12:
		method = "lzfse"
	}
	if e.Method = method; method == "" {
		e.Method = fmt.Sprintf("decmpfs-%d", kind)
		fail(container.Unsupported, fmt.Sprintf("compression %d of HFS+ is not read", kind))
		return
	}
	if inline {
		e.Open = func() (io.ReadCloser, error) {
			b, err := unpack(method, attr[16:], size)
			return io.NopCloser(bytes.NewReader(b)), err
		}
		return
	}
	e.Packed = c.resource.size
	e.Open = func() (io.ReadCloser, error) { return openChunks(c.resource, method, size) }
}

// unpack decodes one chunk. A chunk that does not get smaller is stored behind a
// byte that no stream of the method begins with.
func unpack(method string, b []byte, size int64) ([]byte, error) {
	if size < 0 || size > 16<<20 {
		return nil, container.Errorf("hfsplus", container.Corrupt, "a chunk of %d bytes", size)
	}
	switch {
	case method == "zlib" && len(b) > 0 && b[0]&15 == 15, method == "lzvn" && len(b) > 0 && b[0] == 6, method == "stored" && len(b) > 0 && b[0] == 0xcc:
		return b[1:], nil
	case method == "zlib":
		return codec.All(codec.Zlib, b, size)
	case method == "lzvn":
		return codec.LZVN(nil, b, int(size))
	case method == "lzfse":
		if len(b) > 0 && b[0] == 0xff {
			return b[1:], nil
		}
		return codec.LZFSE(b, int(size))
	}
	return b, nil
}

// chunks reads the content of a resource fork chunk by chunk.
type chunks struct {
	f      *fork
	method string
	left   int64
	at     int64 // that offsets count from
	table  []byte
	wide   bool // rows are offset and length
	i      int
	rest   []byte
}

func openChunks(f *fork, method string, size int64) (io.ReadCloser, error) {
	n := (size + chunk - 1) / chunk
	if size < 0 || n > maxChunks {
		return nil, container.Errorf("hfsplus", container.Corrupt, "a compressed file of %d bytes", size)
	}
	c := &chunks{f: f, method: method, left: size}
	if method == "zlib" { // a resource map around: header, length, count, rows
		h := make([]byte, 4)
		if err := f.readAt(h, 0); err != nil {
			return nil, err
		}
		c.at = int64(be.Uint32(h)) + 4
		if err := f.readAt(h, c.at); err != nil {
			return nil, err
		}
		if int64(le.Uint32(h)) != n {
			return nil, container.Errorf("hfsplus", container.Corrupt, "%d chunks for %d bytes", le.Uint32(h), size)
		}
		c.wide, c.table = true, make([]byte, min(8*n, f.size, f.r.src.Size()))
		return io.NopCloser(c), f.readAt(c.table, c.at+4)
	}
	c.table = make([]byte, min(4*(n+1), f.size, f.r.src.Size()))
	return io.NopCloser(c), f.readAt(c.table, 0)
}

func (c *chunks) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		if c.left == 0 {
			return 0, io.EOF
		}
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *chunks) next() error {
	row := 4
	if c.wide {
		row = 8
	}
	if row*c.i+8 > len(c.table) {
		return container.Errorf("hfsplus", container.Corrupt, "the table of chunks is too short")
	}
	at, n := int64(le.Uint32(c.table[row*c.i:])), int64(le.Uint32(c.table[row*c.i+4:]))
	if !c.wide {
		n -= at
	}
	if n < 0 || n > 2*chunk || at > c.f.size {
		return container.Errorf("hfsplus", container.Corrupt, "a chunk of %d bytes at %d", n, at)
	}
	b := make([]byte, n)
	if err := c.f.readAt(b, c.at+at); err != nil {
		return err
	}
	want := min(c.left, chunk)
	out, err := unpack(c.method, b, want)
	if err != nil {
		return err
	}
	if int64(len(out)) != want {
		return container.Errorf("hfsplus", container.Corrupt, "a chunk gives %d bytes instead of %d", len(out), want)
	}
	c.rest, c.left, c.i = out, c.left-want, c.i+1
	return nil
}
