package iso9660_test

import (
	"testing"

	"rea/providers/format/container/containertest"
	"rea/providers/format/iso9660"
)

var files = []string{"rockridge.iso.gz", "joliet.iso.gz"}

func TestSmall(t *testing.T) {
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			containertest.Small(t, containertest.File(t, name), containertest.Opening(iso9660.Open))
		})
	}
}

func TestDamage(t *testing.T) {
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			containertest.Damage(t, containertest.File(t, name), containertest.Opening(iso9660.Open))
		})
	}
}

func FuzzOpen(f *testing.F) {
	var seeds [][]byte
	for _, name := range files {
		seeds = append(seeds, containertest.File(f, name))
	}
	containertest.Fuzz(f, containertest.Opening(iso9660.Open), seeds...)
}
