package hfsplus_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rea/providers/format/container"
	"rea/providers/format/container/containertest"
	"rea/providers/format/hfsplus"
	"rea/providers/format/partition"
)

// volume makes an image that is an HFS+ volume, among others, and extracts it
// with 7-Zip.
func volume(t testing.TB) (dir string, data []byte) {
	t.Helper()
	for _, name := range []string{"xorriso", "7zz"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("no %s on this machine", name)
		}
	}
	dir = t.TempDir()
	cmd := exec.Command("bash", "-ec", `mkdir -p tree/deep/er "tree/na me"; cd tree
for i in $(seq 400); do echo "file $i" > "deep/er/a-file-with-a-long-name-$i"; done
seq 100000 > numbers; : > empty; echo text > "na me/é.txt"; ln -s numbers link; cd ..
xorriso -outdev pkg -hfsplus on -map tree / -commit 2>&1
7zz x -bd -snl -tHFS -oout pkg`)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(dir, "pkg"))
	if err != nil {
		t.Fatal(err)
	}
	return dir, data
}

// hfs finds the volume by the partition map of the image.
func hfs(t testing.TB, data []byte) container.Source {
	t.Helper()
	table, err := partition.Open(containertest.Source(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range containertest.Drain(t, table, 0) {
		if strings.HasSuffix(e.Path, "Apple_HFS") {
			return e.Section
		}
	}
	t.Fatal("the image has no volume")
	return nil
}

// TestAgainst7z: every file has the content that 7-Zip extracts.
func TestAgainst7z(t *testing.T) {
	dir, data := volume(t)
	r, err := hfsplus.Open(hfs(t, data))
	if err != nil {
		t.Fatal(err)
	}
	tops, _ := filepath.Glob(filepath.Join(dir, "out", "*")) // 7-Zip puts the name of the volume in front
	if len(tops) != 1 {
		t.Fatalf("7zz wrote %v", tops)
	}
	top, seen := tops[0], map[string]bool{}
	for _, e := range containertest.Drain(t, r, 1<<30) {
		local := filepath.Join(top, e.Path)
		seen[e.Path] = true
		switch e.Type {
		case container.Directory:
			if info, err := os.Stat(local); err != nil || !info.IsDir() {
				t.Errorf("%s: %v", e.Path, err)
			}
		case container.Symlink:
			if e.Link != "numbers" {
				t.Errorf("%s leads to %q", e.Path, e.Link)
			}
		case container.File:
			want, err := os.ReadFile(local)
			if err != nil || e.Err != nil || !bytes.Equal(e.Content, want) || e.Size != int64(len(want)) {
				t.Errorf("%s: %d bytes, want %d (%v, %v)", e.Path, len(e.Content), len(want), e.Err, err)
			}
		}
	}
	err = filepath.WalkDir(top, func(p string, d os.DirEntry, err error) error {
		rel := strings.TrimPrefix(strings.TrimPrefix(p, top), "/")
		if err == nil && rel != "" && !seen[rel] && !strings.HasPrefix(rel, "[") {
			t.Errorf("%s is missing", rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) < 400 {
		t.Errorf("only %d entries", len(seen))
	}
}

func small(t testing.TB) []byte {
	packed, err := os.ReadFile("testdata/small.img.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func FuzzOpen(f *testing.F) {
	f.Add(small(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := hfsplus.Open(containertest.Source(data)); err == nil {
			containertest.Drain(t, r, 1<<20)
		}
	})
}
