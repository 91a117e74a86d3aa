package codec_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"rea/providers/format/codec"
	"rea/providers/format/container"
)

func xzOf(t testing.TB, c xz.WriterConfig, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := c.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, text)
	w.Close()
	return b.Bytes()
}

// TestXZ: streams of every check, of several blocks and of growing histories in a
// row are one content.
func TestXZ(t *testing.T) {
	empty := xzOf(t, xz.WriterConfig{}, "")
	data := bytes.Clone(empty)
	want := ""
	for i, sum := range []byte{xz.None, xz.CRC32, xz.CRC64, xz.SHA256} {
		for _, dict := range []int{4096, 1 << 20, 64 << 10} {
			part := strings.Repeat(text[i:], 2)
			data = append(data, xzOf(t, xz.WriterConfig{CheckSum: sum, NoCheckSum: sum == xz.None, DictCap: dict, BlockSize: 20_000 + int64(dict)}, part)...)
			data = append(append(data, make([]byte, 4*i)...), empty...)
			want += part
		}
	}
	got, err := codec.All(codec.XZ, data, int64(len(want)))
	if err != nil || string(got) != want {
		t.Fatalf("%d bytes, want %d (%v)", len(got), len(want), err)
	}
	// Millions of empty streams are no depth.
	if got, err := codec.All(codec.XZ, bytes.Repeat(empty, 1<<16), 1); err != nil || len(got) != 0 {
		t.Errorf("%d bytes (%v)", len(got), err)
	}
	if xz, err := exec.LookPath("xz"); err == nil {
		cmd := exec.Command(xz, "-dc")
		cmd.Stdin = bytes.NewReader(data)
		if out, err := cmd.Output(); err != nil || string(out) != want {
			t.Errorf("xz has %d bytes of it (%v)", len(out), err)
		}
	}
}

// TestXZLies changes every byte of a small file: it never gives other content
// without an error.
func TestXZLies(t *testing.T) {
	const want = "some content of which no byte may change"
	for _, sum := range []byte{xz.CRC32, xz.CRC64, xz.SHA256} {
		data := xzOf(t, xz.WriterConfig{CheckSum: sum}, want)
		for i := range data {
			b := bytes.Clone(data)
			b[i] ^= 0x11
			if got, err := codec.All(codec.XZ, b, 1<<20); err == nil {
				t.Errorf("check %d, byte %d: %q", sum, i, got)
			} else if container.KindOf(err) == "" {
				t.Errorf("check %d, byte %d: %v", sum, i, err)
			}
		}
	}
	// A later block cannot ask for more memory than the first may.
	data := xzOf(t, xz.WriterConfig{}, want)
	large := bytes.Clone(data)
	large[16] = 40 // the history of a block with a header of 12 bytes: flags, filter, length of properties, properties
	n := 12 + (int(large[12])+1)*4 - 4
	binary.LittleEndian.PutUint32(large[n:], crc32.ChecksumIEEE(large[12:n]))
	if _, err := codec.All(codec.XZ, append(data, large...), 1<<20); container.KindOf(err) != container.Bounded {
		t.Errorf("4 GiB of history: %v", err)
	}
}
