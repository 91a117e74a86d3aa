package cpio_test

import (
	"io"
	"testing"

	"rea/providers/format/container"
	"rea/providers/format/container/containertest"
	"rea/providers/format/cpio"
)

var files = []string{"newc.cpio", "crc.cpio", "odc.cpio", "bin.cpio"}

func fromSource(src container.Source) (container.Reader, error) { return cpio.Open(src), nil }

func fromStream(src container.Source) (container.Reader, error) {
	return cpio.OpenStream(struct{ io.Reader }{src}), nil
}

func TestSmall(t *testing.T) {
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			containertest.Small(t, containertest.File(t, name), fromSource)
			containertest.Small(t, containertest.File(t, name), fromStream)
		})
	}
}

func TestDamage(t *testing.T) {
	for _, name := range files {
		containertest.Damage(t, containertest.File(t, name), fromSource)
		containertest.Damage(t, containertest.File(t, name), fromStream)
	}
}

func FuzzOpen(f *testing.F) {
	for _, name := range files {
		f.Add(containertest.File(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) { containertest.SourceAndStream(t, data, fromSource, fromStream) })
}
