package sevenzip_test

import (
	"testing"

	"rea/providers/format/container"
	"rea/providers/format/container/containertest"
	"rea/providers/format/sevenzip"
)

var files = []string{"lzma2.7z", "ppmd.7z", "bcj.7z", "stored.7z"}

func TestSmall(t *testing.T) {
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			containertest.Small(t, containertest.File(t, name), containertest.Opening(sevenzip.Open))
		})
	}
}

func TestDamage(t *testing.T) {
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			containertest.Damage(t, containertest.File(t, name), containertest.Opening(sevenzip.Open))
		})
	}
}

func FuzzOpen(f *testing.F) {
	var seeds [][]byte
	for _, name := range files {
		seeds = append(seeds, containertest.File(f, name))
	}
	containertest.Fuzz(f, containertest.Opening(sevenzip.Open), seeds...)
}

// TestEncrypted: what is encrypted is said to be.
func TestEncrypted(t *testing.T) {
	if _, err := sevenzip.Open(containertest.Source(containertest.File(t, "encrypted_header.7z"))); container.KindOf(err) != container.Encrypted {
		t.Errorf("an encrypted header gives %v", err)
	}
	r, err := sevenzip.Open(containertest.Source(containertest.File(t, "encrypted.7z")))
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, e := range containertest.Drain(t, r, 1<<20) {
		if e.Type == container.File && e.Size > 0 {
			files++
			if !e.Encrypted || container.KindOf(e.Err) != container.Encrypted {
				t.Errorf("%s: encrypted %v, %v", e.Path, e.Encrypted, e.Err)
			}
		}
	}
	if files == 0 {
		t.Error("no files are listed")
	}
}
