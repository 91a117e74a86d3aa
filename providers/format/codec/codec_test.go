package codec_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"

	"rea/providers/format/codec"
	"rea/providers/format/container"
)

var text = strings.Repeat("some text that repeats itself, and ", 2000)

func packed(t testing.TB, method string) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch method {
	case "deflate":
		w, err = flate.NewWriter(&b, 6)
	case "zlib":
		w = zlib.NewWriter(&b)
	case "xz":
		w, err = xz.NewWriter(&b)
	case "lzma":
		w, err = lzma.NewWriter(&b)
	case "zstd":
		w, err = zstd.NewWriter(&b)
	}
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, text)
	w.Close()
	return b.Bytes()
}

// pbzx is a stream of a compressed and a stored chunk.
func pbzx(t testing.TB) []byte {
	b := append([]byte("pbzx"), make([]byte, 8)...)
	part := packed(t, "xz")
	b = binary.BigEndian.AppendUint64(b, uint64(len(text)))
	b = append(binary.BigEndian.AppendUint64(b, uint64(len(part))), part...)
	b = binary.BigEndian.AppendUint64(b, 6)
	return append(binary.BigEndian.AppendUint64(b, 6), "stored"...)
}

func TestRoundTrips(t *testing.T) {
	for _, method := range []string{"deflate", "zlib", "xz", "lzma", "zstd"} {
		got, err := codec.All(codec.ByName(method), packed(t, method), int64(len(text)))
		if err != nil || string(got) != text {
			t.Errorf("%s: %d bytes (%v)", method, len(got), err)
		}
		if _, err := codec.All(codec.ByName(method), packed(t, method), int64(len(text)-1)); container.KindOf(err) != container.Bounded {
			t.Errorf("%s: more than allowed gives %v", method, err)
		}
		cut := packed(t, method)
		if _, err := codec.All(codec.ByName(method), cut[:len(cut)/2], int64(len(text))); container.KindOf(err) != container.Corrupt {
			t.Errorf("%s: half of it gives %v", method, err)
		}
	}
	if got, err := codec.All(codec.PBZX, pbzx(t), 1<<20); err != nil || string(got) != text+"stored" {
		t.Errorf("pbzx: %d bytes (%v)", len(got), err)
	}
}

// TestWindows: streams that ask for more memory than may be used are refused
// before it is taken.
func TestWindows(t *testing.T) {
	b := packed(t, "lzma")
	binary.LittleEndian.PutUint32(b[1:], 1<<31)
	if _, err := codec.All(codec.LZMA, b, 1<<20); err == nil {
		t.Error("a history of 2 GiB is accepted")
	}
	if got, err := codec.All(codec.LZMABlock(int64(len(text))), b, int64(len(text))); err != nil || string(got) != text {
		t.Errorf("a small block with a large history: %d bytes (%v)", len(got), err)
	}
	var x bytes.Buffer
	w, err := xz.WriterConfig{DictCap: 512 << 20}.NewWriter(&x)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, text)
	w.Close()
	if _, err := codec.All(codec.XZ, x.Bytes(), 1<<20); container.KindOf(err) != container.Bounded {
		t.Errorf("a history of 512 MiB: %v", err)
	}
}

func FuzzDecoders(f *testing.F) {
	for i, method := range []string{"deflate", "zlib", "xz", "lzma", "zstd"} {
		f.Add(byte(i), packed(f, method))
	}
	f.Add(byte(5), pbzx(f))
	f.Add(byte(6), []byte("bvx-\x02\x00\x00\x00abbvx$"))
	f.Add(byte(7), []byte("\xe3abc\x38\x03\x06"))
	f.Add(byte(8), []byte{0x17, 'a', 'b', 'c', 'd', 'e', 'f', 0x11, 0, 0})
	f.Add(byte(9), []byte{0x82, 'a', 'b', 'c', 0x40, 0, 0})
	f.Add(byte(13), packed(f, "deflate"))
	f.Add(byte(13), []byte("\x01\x05\x00\xfa\xffhello"))
	filtered, err := hex.DecodeString("fd377a585a0000016922de3603020400030101210100000007b375fa0100116361090bb4fd54a174041af2fee91517eb00000000e0ea46c000012a124b0854bc9042990d010000000001595a")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(byte(2), filtered) // x86 branches, and differences of every other byte
	f.Add(byte(10), []byte{0x31, 'a', 'b', 'c', 1, 0})
	f.Fuzz(func(t *testing.T, method byte, data []byte) {
		const limit = 1 << 20
		var out []byte
		var err error
		switch method % 14 {
		case 6:
			out, err = codec.LZFSE(data, limit)
		case 7:
			out, err = codec.LZVN(nil, data, limit)
		case 8:
			out, err = codec.LZO1X(data, limit)
		case 9:
			out, err = codec.ADC(data, limit)
		case 10:
			out, err = codec.LZ4Block(nil, data, limit)
		default:
			name := []string{"deflate", "zlib", "xz", "lzma", "zstd", "pbzx", "", "", "", "", "", "lz4", "bzip2", "deflate64"}[method%14]
			out, err = codec.All(codec.ByName(name), data, limit)
		}
		if len(out) > limit || err != nil && container.KindOf(err) == "" {
			t.Fatalf("method %d: %d bytes, %v", method, len(out), err)
		}
	})
}
