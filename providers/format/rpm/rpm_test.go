package rpm_test

import (
	"testing"

	"rea/providers/format/container/containertest"
	"rea/providers/format/rpm"
)

var files = []string{"small.rpm"}

func TestSmall(t *testing.T) {
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			containertest.Small(t, containertest.File(t, name), containertest.Opening(rpm.Open))
		})
	}
}

func TestDamage(t *testing.T) {
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			containertest.Damage(t, containertest.File(t, name), containertest.Opening(rpm.Open))
		})
	}
}

func FuzzOpen(f *testing.F) {
	var seeds [][]byte
	for _, name := range files {
		seeds = append(seeds, containertest.File(f, name))
	}
	containertest.Fuzz(f, containertest.Opening(rpm.Open), seeds...)
}
