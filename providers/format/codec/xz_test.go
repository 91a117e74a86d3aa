package codec_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

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

// TestXZ_filters: what the xz program filters comes back, in whatever pieces it
// is read, and with streams without filters around it.
func TestXZ_filters(t *testing.T) {
	program, err := exec.LookPath("xz")
	if err != nil {
		t.Skip("xz is not installed")
	}
	// Bytes of which branches are made, in every order.
	random := rand.New(rand.NewSource(7))
	opcodes := []byte{0xe8, 0xe9, 0, 0xff, 0xeb, 0xf0, 0xf8, 0x48, 1, 0x40, 0x7f, 0x94, 0x90, 0x97, 0x55}
	code := make([]byte, 100_001)
	for i := range code {
		code[i] = opcodes[random.Intn(len(opcodes))]
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	native, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	code = append(code, native[:min(len(native), 80_000)]...)
	for _, filters := range []string{
		"--x86", "--x86=start=4096", "--arm", "--armthumb", "--powerpc", "--sparc", "--arm64", "--arm64=start=8192", "--delta=dist=4", "--delta=dist=256 --x86", "--x86 --delta=dist=1 --arm",
	} {
		for _, blocks := range []string{"", "--block-size=70003"} {
			cmd := exec.Command(program, strings.Fields("-c "+blocks+" "+filters+" --lzma2=preset=0")...)
			cmd.Stdin = bytes.NewReader(code)
			packed, err := cmd.Output()
			if err != nil {
				if strings.Contains(filters, "arm64") { // older programs have no such filter
					continue
				}
				t.Fatalf("%s: %v", filters, err)
			}
			plain := xzOf(t, xz.WriterConfig{}, text)
			data := slices.Concat(plain, packed, plain)
			want := text + string(code) + text
			got, err := codec.All(codec.XZ, data, int64(len(want)))
			if err != nil || string(got) != want {
				t.Errorf("%s %s: %d bytes, want %d (%v)", filters, blocks, len(got), len(want), err)
			}
			r, err := codec.XZ(bytes.NewReader(packed))
			if err != nil {
				t.Fatal(err)
			}
			if got, err = io.ReadAll(iotest.OneByteReader(r)); err != nil || !bytes.Equal(got, code) {
				t.Errorf("%s %s byte by byte: %d bytes, want %d (%v)", filters, blocks, len(got), len(code), err)
			}
			if _, err := codec.All(codec.XZ, packed[:len(packed)/2], int64(len(code))); container.KindOf(err) != container.Corrupt {
				t.Errorf("%s %s: half of it: %v", filters, blocks, err)
			}
		}
	}
	cmd := exec.Command(program, "-c", "--ia64", "--lzma2")
	cmd.Stdin = bytes.NewReader(code)
	if packed, err := cmd.Output(); err == nil {
		if _, err := codec.All(codec.XZ, packed, int64(len(code))); container.KindOf(err) != container.Unsupported {
			t.Errorf("a filter that is not read: %v", err)
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
