package sevenzip

import (
	"encoding/binary"
	"fmt"
	"strings"

	"rea/providers/format/codec"
	"rea/providers/format/container"
)

// The ids of properties in headers.
const (
	idEnd              = 0x00
	idHeader           = 0x01
	idMainStreams      = 0x04
	idFiles            = 0x05
	idPack             = 0x06
	idUnpack           = 0x07
	idSubStreams       = 0x08
	idSize             = 0x09
	idCRC              = 0x0a
	idFolder           = 0x0b
	idUnpackSize       = 0x0c
	idNumUnpackStreams = 0x0d
	idEncodedHeader    = 0x17
)

const (
	signatureSize = 32
	maxHeader     = 64 << 20
	maxFiles      = 1 << 20
	maxCoders     = 32
)

// guard reads headers ahead of the library, which allocates what their counts
// claim, and holds them to what the header has room for.
type guard struct {
	src     container.Source
	b       []byte
	bad     bool
	methods []string // of every folder
	solid   []int64  // files of every folder
	summed  []bool   // whether every folder has a checksum
	packed  []int64
	packAt  int64
	folders []folder
	end     int64 // of the archive
	history int64 // the most that a coder asks for
}

type folder struct {
	coders  []coder
	outputs int64
	packs   int64
	sizes   []int64
	bound   map[int64]bool // outputs that go into another coder
}

// size of what comes out of the folder in the end.
func (f *folder) size() int64 {
	for i, n := range f.sizes {
		if !f.bound[int64(i)] {
			return n
		}
	}
	return 0
}

type coder struct {
	id    string
	props []byte
}

func (g *guard) fail(what string, args ...any) error {
	return &container.Error{Format: "7z", Kind: container.Corrupt, What: fmt.Sprintf(what, args...), Offset: container.Unknown}
}

// check reads the headers of src.
func check(src container.Source) (*guard, error) {
	h, err := container.ReadAt(src, "7z", 0, signatureSize)
	if err != nil {
		return nil, err
	}
	at, size := binary.LittleEndian.Uint64(h[12:]), binary.LittleEndian.Uint64(h[20:])
	g := &guard{src: src, end: signatureSize}
	if size > maxHeader || at > uint64(src.Size()) {
		return nil, g.fail("a header of %d bytes at %d", size, at)
	}
	if g.b, err = container.ReadAt(src, "7z", signatureSize+int64(at), int64(size)); err != nil {
		return nil, err
	}
	if size == 0 {
		return g, nil
	}
	g.end += int64(at + size)
	id := g.byte()
	if id == idEncodedHeader {
		if err := g.streams(); err != nil {
			return nil, err
		}
		text, err := g.decode()
		if err != nil {
			return nil, err
		}
		g = &guard{src: src, b: text, end: g.end}
		id = g.byte()
	}
	if id != idHeader {
		return nil, g.fail("a header of kind %d", id)
	}
	return g, g.header()
}

func (g *guard) byte() byte {
	if len(g.b) == 0 {
		g.bad = true
		return 0
	}
	c := g.b[0]
	g.b = g.b[1:]
	return c
}

func (g *guard) take(n int64) []byte {
	if n < 0 || n > int64(len(g.b)) {
		g.bad = true
		return nil
	}
	b := g.b[:n]
	g.b = g.b[n:]
	return b
}

// number reads an integer whose first byte tells how many follow.
func (g *guard) number() int64 {
	first := g.byte()
	var v uint64
	for i := range 8 {
		mask := byte(0x80) >> i
		if first&mask == 0 {
			v |= uint64(first&(mask-1)) << (8 * i)
			break
		}
		v |= uint64(g.byte()) << (8 * i)
	}
	if v > 1<<62 {
		g.bad = true
		return 0
	}
	return int64(v)
}

// count reads a number of things that take at least one bit each.
func (g *guard) count() int64 {
	n := g.number()
	if n > 8*int64(len(g.b)) || n > maxFiles {
		g.bad = true
		return 0
	}
	return n
}

// digests skips n optional checksums and tells which there are.
func (g *guard) digests(n int64) []bool {
	if n > 8*int64(len(g.b)) {
		g.bad = true
		return nil
	}
	defined := make([]bool, n)
	all, count := g.byte() != 0, int64(0)
	var flags []byte
	if !all {
		flags = g.take((n + 7) / 8)
	}
	for i := range defined {
		defined[i] = all || i/8 < len(flags) && flags[i/8]&(0x80>>(i%8)) != 0
		if defined[i] {
			count++
		}
	}
	g.take(4 * count)
	return defined
}

func (g *guard) header() error {
	id := g.byte()
	if id == idMainStreams {
		if err := g.streams(); err != nil {
			return err
		}
		id = g.byte()
	}
	if id == idFiles {
		// Every file has a name of at least its end.
		if n := g.number(); g.bad || n > maxFiles || 2*n > int64(len(g.b)) {
			return g.fail("%d files in a header of %d bytes", n, len(g.b))
		}
	}
	if g.bad {
		return g.fail("the header is damaged")
	}
	return nil
}

func (g *guard) streams() error {
	for {
		switch id := g.byte(); {
		case g.bad:
			return g.fail("the header is damaged")
		case id == idEnd:
			return nil
		case id == idPack:
			g.pack()
		case id == idUnpack:
			if err := g.unpack(); err != nil {
				return err
			}
		case id == idSubStreams:
			g.subStreams()
		default:
			return g.fail("property %d where streams are described", id)
		}
	}
}

func (g *guard) pack() {
	g.packAt = g.number()
	n := g.count()
	for id := g.byte(); id != idEnd && !g.bad; id = g.byte() {
		switch id {
		case idSize:
			for range n {
				g.packed = append(g.packed, g.number())
			}
		case idCRC:
			g.digests(n)
		default:
			g.bad = true
		}
	}
}

func (g *guard) unpack() error {
	if g.byte() != idFolder {
		return g.fail("no folders where they should be")
	}
	n := g.count()
	if g.byte() != 0 {
		return container.Errorf("7z", container.Unsupported, "folders are described elsewhere")
	}
	for range n {
		if err := g.folder(); err != nil {
			return err
		}
	}
	if g.byte() != idUnpackSize {
		return g.fail("no sizes where they should be")
	}
	for i := range g.folders {
		for range g.folders[i].outputs {
			g.folders[i].sizes = append(g.folders[i].sizes, g.number())
		}
	}
	g.solid = make([]int64, len(g.folders))
	for i := range g.solid {
		g.solid[i] = 1
	}
	g.summed = make([]bool, len(g.folders))
	for id := g.byte(); id != idEnd; id = g.byte() {
		if id != idCRC || g.bad {
			return g.fail("the header is damaged")
		}
		if summed := g.digests(n); len(summed) == len(g.summed) {
			g.summed = summed
		}
	}
	return nil
}

func (g *guard) folder() error {
	n := g.count()
	if n < 1 || n > maxCoders {
		return g.fail("a folder of %d coders", n)
	}
	f := folder{bound: map[int64]bool{}}
	var inputs int64
	var names []string
	for range n {
		head := g.byte()
		c := coder{id: string(g.take(int64(head & 15)))}
		in, out := int64(1), int64(1)
		if head&0x10 != 0 {
			in, out = g.count(), g.count()
		}
		if head&0x20 != 0 {
			c.props = g.take(g.number())
		}
		if in > maxCoders || out > maxCoders || g.bad {
			return g.fail("a coder is damaged")
		}
		want, err := c.bounded()
		if err != nil {
			return err
		}
		g.history = max(g.history, want)
		inputs, f.outputs = inputs+in, f.outputs+out
		f.coders = append(f.coders, c)
		names = append(names, methodName(c.id))
	}
	for range f.outputs - 1 {
		g.number()
		f.bound[g.number()] = true
	}
	f.packs = inputs - (f.outputs - 1)
	if f.packs < 1 || f.outputs < 1 {
		return g.fail("a folder without streams")
	}
	if f.packs > 1 {
		for range f.packs {
			g.number()
		}
	}
	g.folders = append(g.folders, f)
	g.methods = append(g.methods, strings.Join(names, "+"))
	return nil
}

func (g *guard) subStreams() {
	var sizes, sums int64
	id := g.byte()
	if id == idNumUnpackStreams {
		for i := range g.folders {
			g.solid[i] = g.number()
			if g.bad || g.solid[i] > maxFiles {
				g.bad = true
				return
			}
		}
		id = g.byte()
	}
	var files int64
	for i, n := range g.solid {
		files += n
		sizes += max(n-1, 0)
		if n != 1 || !g.summed[i] {
			sums += n
		}
	}
	// Every file has a size, a checksum or a name to come.
	if files > maxFiles || files > 8*int64(len(g.b))+8 {
		g.bad = true
		return
	}
	if id == idSize {
		for range sizes {
			if g.number(); g.bad {
				return
			}
		}
		id = g.byte()
	}
	for ; id != idEnd && !g.bad; id = g.byte() {
		if id != idCRC {
			g.bad = true
			return
		}
		g.digests(sums)
	}
}

// bounded holds the memory that a coder asks for.
func (c *coder) bounded() (int64, error) {
	var want int64
	switch c.id {
	case "\x03\x01\x01":
		if len(c.props) >= 5 {
			want = int64(binary.LittleEndian.Uint32(c.props[1:]))
		}
	case "\x03\x04\x01":
		if len(c.props) >= 5 {
			want = int64(binary.LittleEndian.Uint32(c.props[1:]))
		}
	case "\x21":
		if len(c.props) >= 1 {
			want = int64(2|c.props[0]&1) << (min(c.props[0], 60)/2 + 11)
		}
	}
	if want > codec.MaxWindow {
		return 0, container.Errorf("7z", container.Bounded, "%s wants %d bytes of memory", methodName(c.id), want)
	}
	return want, nil
}

// decode unpacks a header that is a stream itself.
func (g *guard) decode() ([]byte, error) {
	if len(g.folders) != 1 || len(g.folders[0].coders) != 1 || len(g.packed) < 1 {
		if len(g.methods) == 1 && strings.Contains(g.methods[0], "aes") {
			return nil, container.Errorf("7z", container.Encrypted, "the header is encrypted")
		}
		return nil, container.Errorf("7z", container.Unsupported, "the header is packed in several steps")
	}
	f := &g.folders[0]
	size := f.size()
	if size > maxHeader {
		return nil, g.fail("a header of %d bytes", size)
	}
	packed, err := container.ReadAt(g.src, "7z", signatureSize+g.packAt, min(g.packed[0], maxHeader+1))
	if err != nil {
		return nil, err
	}
	c := f.coders[0]
	switch c.id {
	case "\x00":
		return packed, nil
	case "\x03\x01\x01":
		return codec.AllRawLZMA(packed, c.props, size)
	case "\x06\xf1\x07\x01":
		return nil, container.Errorf("7z", container.Encrypted, "the header is encrypted")
	}
	return nil, container.Errorf("7z", container.Unsupported, "the header is packed with %s", methodName(c.id))
}

func methodName(id string) string {
	switch id {
	case "\x00":
		return "stored"
	case "\x21":
		return "lzma2"
	case "\x03":
		return "delta"
	case "\x03\x01\x01":
		return "lzma"
	case "\x03\x04\x01":
		return "ppmd"
	case "\x03\x03\x01\x03", "\x04":
		return "bcj-x86"
	case "\x03\x03\x01\x1b":
		return "bcj2"
	case "\x03\x03\x05\x01":
		return "bcj-arm"
	case "\x0a":
		return "bcj-arm64"
	case "\x04\x01\x08":
		return "deflate"
	case "\x04\x01\x09":
		return "deflate64"
	case "\x04\x02\x02":
		return "bzip2"
	case "\x04\xf7\x11\x01":
		return "zstd"
	case "\x04\xf7\x11\x02":
		return "brotli"
	case "\x04\xf7\x11\x04":
		return "lz4"
	case "\x06\xf1\x07\x01":
		return "aes"
	}
	return fmt.Sprintf("method-%x", id)
}
