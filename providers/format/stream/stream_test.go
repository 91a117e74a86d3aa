package stream_test

import (
	"fmt"
	"strings"
	"testing"

	"rea/providers/format/container"
	"rea/providers/format/container/containertest"
	"rea/providers/format/stream"
)

var files = []string{"seq.gz", "seq.bz2", "seq.xz", "seq.lzma", "seq.zst", "seq.lz4", "legacy.lz4"}

func open(src container.Source) (container.Reader, error) {
	head := make([]byte, min(src.Size(), 64))
	src.ReadAt(head, 0)
	format := stream.Detect(head)
	if format == "" {
		return nil, container.Errorf("stream", container.Corrupt, "no known compression")
	}
	return stream.Open(format, src), nil
}

func TestContent(t *testing.T) {
	var want strings.Builder
	for i := 1; i <= 300; i++ {
		fmt.Fprintln(&want, i)
	}
	for _, name := range files {
		r, err := open(containertest.Source(containertest.File(t, name)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		entries := containertest.Drain(t, r, 1<<20)
		if len(entries) != 1 || entries[0].Err != nil || string(entries[0].Content) != want.String() || entries[0].Type != container.Stream {
			t.Errorf("%s: %d entries, %d bytes (%v)", name, len(entries), len(entries[0].Content), entries[0].Err)
		}
	}
}

// TestGzipChecksum: content that contradicts its checksum is given, and the
// declared checksum with it.
func TestGzipChecksum(t *testing.T) {
	data := containertest.File(t, "seq.gz")
	data[len(data)-8] ^= 1
	for e, err := range stream.Open("gzip", containertest.Source(data)).Entries() {
		if err != nil {
			t.Fatal(err)
		}
		rc, err := e.Open()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for b := make([]byte, 100); err == nil; {
			var k int
			k, err = rc.Read(b)
			n += k
		}
		if d := e.Trailer(); n != 1092 || len(d) != 1 || d[0].Algorithm != container.CRC32 || len(d[0].Value) != 8 {
			t.Errorf("%d bytes, %+v", n, d)
		}
	}
}

func TestDamage(t *testing.T) {
	for _, name := range files {
		containertest.Damage(t, containertest.File(t, name), open)
	}
}

func FuzzOpen(f *testing.F) {
	var seeds [][]byte
	for _, name := range files {
		seeds = append(seeds, containertest.File(f, name))
	}
	containertest.Fuzz(f, open, seeds...)
}
