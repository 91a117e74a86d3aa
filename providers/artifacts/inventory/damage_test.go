package inventory_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rea/providers/artifacts/inventory"
	"rea/providers/format/container"
)

// formats are small archives of every format, made by the programs of each.
var formats = []struct{ name, needs, pack string }{
	{"zip", "zip", "zip -qry pkg in"},
	{"7z", "7zz", "7zz a -bd -snl pkg.7z in"},
	{"tar", "tar", "tar cf pkg in"},
	{"tar.gz", "tar", "tar czf pkg in"},
	{"tar.bz2", "bzip2", "tar cjf pkg in"},
	{"tar.xz", "xz", "tar cJf pkg in"},
	{"tar.zst", "zstd", "tar cf - in | zstd -q > pkg"},
	{"tar.lzma", "xz", "tar cf - in | xz --format=lzma > pkg"},
	{"tar.lz4", "lz4", "tar cf - in | lz4 -q > pkg"},
	{"gz", "gzip", "gzip < in/seq > pkg"},
	{"bz2", "bzip2", "bzip2 < in/seq > pkg"},
	{"xz", "xz", "xz < in/seq > pkg"},
	{"xz blocks", "xz", "xz --block-size=1000 --check=sha256 < in/seq > pkg; xz -Ccrc32 < in/seq >> pkg; head -c 8 /dev/zero >> pkg; xz < in/seq >> pkg"},
	{"zst", "zstd", "zstd -q < in/seq > pkg; zstd -q --check -19 < in/rnd >> pkg; zstd -q < in/e >> pkg"},
	{"lzma", "xz", "xz --format=lzma < in/seq > pkg"},
	{"lz4", "lz4", "lz4 -q < in/seq > pkg"},
	{"lz4 legacy", "lz4", "lz4 -l -q < in/seq > pkg"},
	{"cpio", "cpio", "find in | cpio -o -H newc --quiet > pkg"},
	{"cpio.odc", "cpio", "find in | cpio -o -H odc --quiet > pkg"},
	{"ar", "ar", "ar rc pkg in/seq in/rnd"},
	{"xar", "bsdtar", "bsdtar -cf pkg --format xar in"},
	{"squashfs", "mksquashfs", "mksquashfs in pkg -quiet -noappend"},
	{"iso", "genisoimage", "genisoimage -quiet -R -o pkg in"},
	{"cab", "gcab", "cd in && gcab -c -z ../pkg seq rnd e"},
}

// packed makes one of them.
func packed(t testing.TB, needs, pack string) string {
	t.Helper()
	program(t, needs)
	dir := t.TempDir()
	shell(t, dir, "mkdir -p in/d; seq 2000 > in/seq; head -c 20000 /dev/urandom > in/rnd; seq 10 > in/d/x; : > in/e; "+pack+"; if [ -e pkg.* ]; then mv pkg.* pkg; fi")
	return filepath.Join(dir, "pkg")
}

// files are the digests of everything that was read.
func files(res *inventory.Result) map[string]string {
	out := map[string]string{}
	for p, it := range items(res) {
		if it.SHA256 != "" && it.Type != container.Slice {
			out[p] = it.SHA256
		}
	}
	return out
}

// TestSuffix: bytes behind the end of an archive are named with their extent,
// and change nothing of what is read before them.
func TestSuffix(t *testing.T) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			path := packed(t, f.needs, f.pack)
			sound := walk(t, path, inventory.Options{})
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			before := map[int64]bool{}
			for _, c := range sound.Root.Inside.Claims {
				if c.Kind == "suffix" {
					before[c.Offset] = true
					if f.name != "xar" { // libarchive leaves room for a checksum
						t.Errorf("%+v", c)
					}
				}
			}
			for _, surplus := range []string{"X", "BZ", "and some surplus bytes", strings.Repeat("x", 70000)} {
				res := walk(t, written(t, append(bytes.Clone(data), surplus...)), inventory.Options{})
				named := false
				for _, c := range res.Root.Inside.Claims {
					if c.Kind == "suffix" && c.Offset+c.Size == int64(len(data)+len(surplus)) && (c.Offset == int64(len(data)) || before[c.Offset] || f.name == "squashfs" || f.name == "tar") {
						named = true
					}
				}
				if surplus == "BZ" && strings.HasSuffix(f.name, "bz2") {
					continue // it begins like another stream
				}
				if !named {
					t.Errorf("%d bytes: %+v", len(surplus), res.Root.Inside.Claims)
				}
				agree(t, files(res), files(sound))
			}
		})
	}
}

// TestCut: an archive that ends early gives what is there and says that it is
// not all; nothing in it is taken for other bytes than were declared.
func TestCut(t *testing.T) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			path := packed(t, f.needs, f.pack)
			sound := files(walk(t, path, inventory.Options{}))
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range []int{30, 60, 95} {
				res := walk(t, written(t, data[:len(data)*part/100]), inventory.Options{})
				for p, sum := range files(res) {
					if sound[p] != "" && sound[p] != sum {
						t.Errorf("%d %%: %s is %s, want %s", part, p, sum, sound[p])
					}
				}
				incomplete := res.Root.Inside == nil
				if n := res.Root.Inside; n != nil {
					incomplete = n.Failed != nil || len(n.Gaps) > 0
				}
				for _, it := range items(res) {
					incomplete = incomplete || it.Status == inventory.Unreadable || it.Inside != nil && it.Inside.Failed != nil
				}
				if len(files(res)) < len(sound) && !incomplete {
					t.Errorf("%d %%: %d of %d contents, and nothing says so", part, len(files(res)), len(sound))
				}
			}
		})
	}
}
