package inventory_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rea/providers/artifacts/inventory"
)

// sources are files of the sizes and the redundancy of programs' sources.
func sources(n int) []file {
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("function return const import value this if else for range error nil string 0x12 = { } ( )")
	var text bytes.Buffer
	for text.Len() < 1<<20 {
		fmt.Fprintf(&text, "%s ", words[r.IntN(len(words))])
		if r.IntN(8) == 0 {
			fmt.Fprintf(&text, "%x\n", r.Uint32())
		}
	}
	out := make([]file, n)
	for i := range out {
		size := []int{500, 3000, 9000, 20000, 60000}[r.IntN(5)]
		at := r.IntN(text.Len() - size)
		out[i] = file{fmt.Sprintf("d%d/s%d/f%d.js", i%50, i/50%20, i), text.Bytes()[at : at+size]}
	}
	return out
}

func total(files []file) (n int64) {
	for _, f := range files {
		n += int64(len(f.data))
	}
	return n
}

func bench(b *testing.B, path string, bytes int64) {
	b.SetBytes(bytes)
	for b.Loop() {
		if res := walk(b, path, inventory.Options{}); len(res.Root.Inside.Items) == 0 {
			b.Fatal("nothing is listed")
		}
	}
}

func BenchmarkDirectory(b *testing.B) {
	dir, files := b.TempDir(), sources(5000)
	for _, f := range files {
		local := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(local), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(local, f.data, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	bench(b, dir, total(files))
}

func BenchmarkZip(b *testing.B) {
	files := sources(5000)
	bench(b, written(b, zipped(b, zip.Deflate, files...)), total(files))
}

// BenchmarkASAR is over an archive whose files all have digests: its bytes are
// hashed once as a whole and once by file.
func BenchmarkASAR(b *testing.B) {
	files := sources(5000)
	var header, data bytes.Buffer
	header.WriteString(`{"files":{`)
	for i, f := range files {
		sum := sha256.Sum256(f.data)
		hash := hex.EncodeToString(sum[:])
		if i > 0 {
			header.WriteByte(',')
		}
		fmt.Fprintf(&header, `"%d":{"size":%d,"offset":"%d","integrity":{"algorithm":"SHA256","hash":"%s","blockSize":4194304,"blocks":["%s"]}}`, i, len(f.data), data.Len(), hash, hash)
		data.Write(f.data)
	}
	header.WriteString("}}")
	head := make([]byte, 16)
	padded := (header.Len() + 3) / 4 * 4
	for i, v := range []int{4, padded + 8, padded + 4, header.Len()} {
		binary.LittleEndian.PutUint32(head[4*i:], uint32(v))
	}
	header.Write(make([]byte, padded-header.Len()))
	bench(b, written(b, append(append(head, header.Bytes()...), data.Bytes()...)), total(files))
}

// BenchmarkTarGzip decodes in one goroutine and hashes in another.
func BenchmarkTarGzip(b *testing.B) {
	files := sources(5000)
	bench(b, written(b, gzipped(tarred(b, files...))), total(files))
}
