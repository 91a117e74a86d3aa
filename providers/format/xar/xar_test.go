package xar_test

import (
	"testing"

	"rea/providers/format/container/containertest"
	"rea/providers/format/xar"
)

var files = []string{"small.xar"}

func TestSmall(t *testing.T) {
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			containertest.Small(t, containertest.File(t, name), containertest.Opening(xar.Open))
		})
	}
}

func TestDamage(t *testing.T) {
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			containertest.Damage(t, containertest.File(t, name), containertest.Opening(xar.Open))
		})
	}
}

func FuzzOpen(f *testing.F) {
	var seeds [][]byte
	for _, name := range files {
		seeds = append(seeds, containertest.File(f, name))
	}
	containertest.Fuzz(f, containertest.Opening(xar.Open), seeds...)
}
