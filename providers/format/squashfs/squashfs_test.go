package squashfs_test

import (
	"testing"

	"rea/providers/format/container/containertest"
	"rea/providers/format/squashfs"
)

var files = []string{"gzip.squashfs", "xz.squashfs", "zstd.squashfs", "lz4.squashfs", "lzo.squashfs", "lzma.squashfs"}

func TestSmall(t *testing.T) {
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			containertest.Small(t, containertest.File(t, name), containertest.Opening(squashfs.Open))
		})
	}
}

func TestDamage(t *testing.T) {
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			containertest.Damage(t, containertest.File(t, name), containertest.Opening(squashfs.Open))
		})
	}
}

func FuzzOpen(f *testing.F) {
	var seeds [][]byte
	for _, name := range files {
		seeds = append(seeds, containertest.File(f, name))
	}
	containertest.Fuzz(f, containertest.Opening(squashfs.Open), seeds...)
}
