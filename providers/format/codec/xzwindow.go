package codec

import (
	"bufio"
	"bytes"
	"fmt"

	"rea/providers/format/container"
)

func newBytes(b []byte) *bytes.Reader { return bytes.NewReader(b) }

// dictionaries looks at the first block header of an xz stream before its
// decoder does, because the decoder allocates whatever history it asks for.
// Encoders write the same size into every block.
type dictionaries struct {
	r      *bufio.Reader
	window int64
	looked bool
}

func (d *dictionaries) Read(p []byte) (int, error) {
	if !d.looked {
		d.looked = true
		if err := d.look(); err != nil {
			return 0, err
		}
	}
	return d.r.Read(p)
}

func (d *dictionaries) ReadByte() (byte, error) {
	if !d.looked {
		d.looked = true
		if err := d.look(); err != nil {
			return 0, err
		}
	}
	return d.r.ReadByte()
}

// The stream header has 12 bytes. A block header is its size in words, flags,
// optional sizes, then filters: id, length of properties, properties.
func (d *dictionaries) look() error {
	head, _ := d.r.Peek(12 + 1024)
	if len(head) < 14 || head[12] == 0 {
		return nil
	}
	size := (int(head[12]) + 1) * 4
	if len(head) < 12+size {
		return nil
	}
	b := head[14 : 12+size]
	for _, flag := range []byte{0x40, 0x80} {
		if head[13]&flag != 0 {
			_, b = multibyte(b)
		}
	}
	for range int(head[13]&3) + 1 {
		var id, n uint64
		id, b = multibyte(b)
		n, b = multibyte(b)
		if n > uint64(len(b)) {
			return nil // the decoder says what is wrong
		}
		if id == 0x21 && n == 1 && dictionarySize(b[0]) > d.window {
			return &container.Error{Format: "xz", Kind: container.Bounded, What: fmt.Sprintf("the stream wants a history of more than %d bytes", d.window), Offset: container.Unknown}
		}
		b = b[n:]
	}
	return nil
}

func multibyte(b []byte) (uint64, []byte) {
	var v uint64
	for i := 0; i < len(b) && i < 9; i++ {
		v |= uint64(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			return v, b[i+1:]
		}
	}
	return 0, nil
}

func dictionarySize(c byte) int64 {
	if c > 40 {
		return 1 << 40
	}
	return int64(2|c&1) << (c/2 + 11)
}
