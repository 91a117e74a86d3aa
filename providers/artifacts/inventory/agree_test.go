package inventory_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"rea/providers/artifacts/inventory"
	"rea/providers/format/container"
)

var bounds = inventory.Bounds{
	Depth: 16, Entries: 500000, EntryBytes: 1 << 36, TotalBytes: 1 << 37, Ratio: 200, PathBytes: 4096, Seconds: 120,
}

func walk(t testing.TB, path string, opt inventory.Options) *inventory.Result {
	t.Helper()
	if opt.Bounds == (inventory.Bounds{}) {
		opt.Bounds = bounds
	}
	res, err := inventory.Walk(t.Context(), path, opt)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// program skips the test where a program is missing.
func program(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("no %s on this machine", name)
		}
	}
}

func run(t testing.TB, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

func shell(t testing.TB, dir, script string) {
	t.Helper()
	run(t, dir, "bash", "-ec", script)
}

// tree makes a directory that formats have to work for: names with spaces and
// accents, empty and large files, repetitive and random ones, many in one
// directory, links.
func tree(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	random := make([]byte, 700_000)
	rand.Read(random)
	files := map[string][]byte{
		"a.txt": []byte("hello\n"), "zero": nil, "random.bin": random, "zeros": make([]byte, 3_000_000),
		"na me é.txt": []byte("x"), "deep/er/and/deeper/file": []byte("down here"), "deep/text": bytes.Repeat([]byte("a line of text\n"), 40_000),
		"bin/run": []byte("#!/bin/sh\necho hi\n"),
	}
	for i := range 300 {
		files[fmt.Sprintf("many/f%03d", i)] = fmt.Appendf(nil, "file %d\n", i*i)
	}
	for name, data := range files {
		local := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(local), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(local, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		os.Chmod(filepath.Join(dir, "bin/run"), 0o755), os.Mkdir(filepath.Join(dir, "empty"), 0o755), os.Symlink("a.txt", filepath.Join(dir, "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// onDisk lists a directory as the tests compare it.
func onDisk(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		rel = container.Escape(filepath.ToSlash(rel))
		switch {
		case d.IsDir():
			out[rel] = "directory"
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			out[rel] = "symlink " + target
		default:
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(data)
			out[rel] = "file " + hex.EncodeToString(sum[:])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// listed is the same of a container in an inventory. Hard links are what they
// link to.
func listed(n *inventory.Node) map[string]string {
	out := map[string]string{}
	for _, it := range n.Items {
		name := path.Clean(strings.TrimPrefix(container.Escape(it.Raw), "/"))
		switch it.Type {
		case container.Directory:
			out[name] = "directory"
		case container.Symlink:
			out[name] = "symlink " + it.Link
		case container.Hardlink:
			out[name] = out[path.Clean(strings.TrimPrefix(it.Link, "/"))]
		default:
			out[name] = "file " + it.SHA256
		}
	}
	delete(out, ".")
	return out
}

// inside goes down through streams to the container that has names.
func inside(t testing.TB, res *inventory.Result, names ...string) *inventory.Node {
	t.Helper()
	n := res.Root.Inside
	for {
		if n == nil {
			t.Fatalf("nothing was expanded: %+v", res.Root)
		}
		if len(n.Items) == 1 && n.Items[0].Type == container.Stream {
			n = n.Items[0].Inside
			continue
		}
		if len(names) == 0 {
			return n
		}
		var next *inventory.Node
		for _, it := range n.Items {
			if it.Raw == names[0] {
				next = it.Inside
			}
		}
		n, names = next, names[1:]
	}
}

func agree(t testing.TB, got, want map[string]string) {
	t.Helper()
	if len(want) == 0 {
		t.Fatal("nothing to compare with")
	}
	bad := 0
	for name, w := range want {
		if g := got[name]; g != w {
			if bad++; bad <= 10 {
				t.Errorf("%s is %q, want %q", name, g, w)
			}
		}
	}
	for name, g := range got {
		if _, ok := want[name]; !ok {
			if bad++; bad <= 10 {
				t.Errorf("%s is %q, and the other program knows nothing of it", name, g)
			}
		}
	}
}

// TestListingsAgree packs a tree with one program, unpacks it with another, and
// compares what came out with the inventory.
func TestListingsAgree(t *testing.T) {
	for _, tt := range []struct {
		name   string
		needs  string // programs
		pack   string // makes pkg from tree
		unpack string // makes out from pkg
		format string
		inside []string
	}{
		{"zip", "zip unzip", "cd tree && zip -qry ../pkg . && mv ../pkg.zip ../pkg", "unzip -q pkg -d out", "zip", nil},
		{"zip_bzip2", "7zz bsdtar", "cd tree && 7zz a -bd -snl -tzip -mm=bzip2 ../pkg.zip . && mv ../pkg.zip ../pkg", "mkdir out; bsdtar -xf pkg -C out", "zip", nil},
		{"zip_lzma", "7zz bsdtar", "cd tree && 7zz a -bd -snl -tzip -mm=lzma ../pkg.zip . && mv ../pkg.zip ../pkg", "mkdir out; bsdtar -xf pkg -C out", "zip", nil},
		{"zip_deflate64", "7zz unzip", "cat /bin/ls /bin/bash /bin/ls tree/zeros > tree/far; cd tree && 7zz a -bd -snl -tzip -mm=deflate64 -mx9 ../pkg.zip . && mv ../pkg.zip ../pkg", "7zz x -bd -snl -oout pkg", "zip", nil},
		{"zip_xz", "7zz", "cd tree && 7zz a -bd -snl -tzip -mm=xz ../pkg.zip . && mv ../pkg.zip ../pkg", "7zz x -bd -snl -oout pkg", "zip", nil},
		{"zip64", "zip unzip", "cd tree && zip -qry -fz ../pkg . && mv ../pkg.zip ../pkg", "unzip -q pkg -d out", "zip", nil},
		{"zip_behind_program", "zip unzip", "cd tree && zip -qry ../z . && cat /bin/ls ../z.zip > ../pkg", "unzip -q pkg -d out || [ $? = 1 ]", "elf", nil},
		{"7z", "7zz", "cd tree && 7zz a -bd -snl ../pkg.7z . && mv ../pkg.7z ../pkg", "7zz x -bd -snl -oout pkg", "7z", nil},
		{"7z_deflate", "7zz", "cd tree && 7zz a -bd -snl -ms=off -m0=deflate ../pkg.7z . && mv ../pkg.7z ../pkg", "7zz x -bd -snl -oout pkg", "7z", nil},
		{"7z_deflate64", "7zz", "cat /bin/ls /bin/bash /bin/ls tree/zeros > tree/far; cd tree && 7zz a -bd -snl -m0=deflate64 ../pkg.7z . && mv ../pkg.7z ../pkg", "7zz x -bd -snl -oout pkg", "7z", nil},
		{"7z_ppmd", "7zz", "cd tree && 7zz a -bd -snl -m0=ppmd ../pkg.7z . && mv ../pkg.7z ../pkg", "7zz x -bd -snl -oout pkg", "7z", nil},
		{"7z_bcj2", "7zz gcc", "cp /bin/ls tree/ls.exe; cd tree && 7zz a -bd -snl -mf=BCJ2 ../pkg.7z . && mv ../pkg.7z ../pkg", "7zz x -bd -snl -oout pkg", "7z", nil},
		{"tar_pax", "bsdtar", "bsdtar -cf pkg --format pax -C tree .", "mkdir out; tar xf pkg -C out", "tar", nil},
		{"tar_gnu_sparse", "tar", "cd tree; truncate -s 5M hole; printf end >> hole; cd ..; tar cSf pkg -C tree .", "mkdir out; bsdtar -xf pkg -C out", "tar", nil},
		{"tar_pax_sparse", "tar", "cd tree; truncate -s 5M hole; printf end >> hole; cd ..; tar c --format=posix -Sf pkg -C tree .", "mkdir out; bsdtar -xf pkg -C out", "tar", nil},
		{"tar_v7", "tar", "tar cf pkg --format=v7 -C tree .", "mkdir out; bsdtar -xf pkg -C out", "tar", nil},
		{"tar_hardlinks", "tar", "ln tree/a.txt tree/hard; tar cf pkg -C tree .", "mkdir out; bsdtar -xf pkg -C out", "tar", nil},
		{"tar_gz", "tar", "tar czf pkg -C tree .", "mkdir out; bsdtar -xf pkg -C out", "gzip", nil},
		{"tar_bz2", "bzip2", "tar cjf pkg -C tree .", "mkdir out; bsdtar -xf pkg -C out", "bzip2", nil},
		{"tar_xz", "xz", "tar cJf pkg -C tree .", "mkdir out; bsdtar -xf pkg -C out", "xz", nil},
		{"tar_xz_blocks", "xz", "tar cf - -C tree . | xz -T2 --block-size=100000 > pkg", "mkdir out; bsdtar -xf pkg -C out", "xz", nil},
		{"tar_zst", "zstd", "tar cf - -C tree . | zstd -q > pkg", "mkdir out; bsdtar -xf pkg -C out", "zstd", nil},
		{"tar_lzma", "xz", "tar cf - -C tree . | xz --format=lzma > pkg", "mkdir out; bsdtar -xf pkg -C out", "lzma", nil},
		{"tar_lz4", "lz4", "tar cf - -C tree . | lz4 -q > pkg", "mkdir out; bsdtar -xf pkg -C out", "lz4", nil},
		{"tar_lz4_legacy", "lz4", "tar cf - -C tree . | lz4 -l -q > pkg", "mkdir out; lz4 -dc pkg | tar xf - -C out", "lz4", nil},
		{"cpio_newc", "cpio", "cd tree && find . | cpio -o -H newc --quiet > ../pkg", "mkdir out; cd out && cpio -idm --quiet < ../pkg", "cpio", nil},
		{"cpio_crc", "cpio", "cd tree && find . | cpio -o -H crc --quiet > ../pkg", "mkdir out; cd out && cpio -idm --quiet < ../pkg", "cpio", nil},
		{"cpio_odc", "cpio", "cd tree && find . | cpio -o -H odc --quiet > ../pkg", "mkdir out; cd out && bsdcpio -idm --quiet < ../pkg", "cpio", nil},
		{"cpio_binary", "cpio", "cd tree && find . | cpio -o -H bin --quiet > ../pkg", "mkdir out; cd out && cpio -idm --quiet < ../pkg", "cpio", nil},
		{"iso_rockridge", "genisoimage", "genisoimage -quiet -R -J -o pkg tree", "mkdir out; bsdtar -xf pkg -C out; chmod -R u+w out", "iso9660", nil},
		{"iso_xorriso", "xorriso", "xorriso -outdev pkg -hfsplus on -map tree / -commit 2>&1", "mkdir out; bsdtar -xf pkg -C out; chmod -R u+w out", "iso9660", nil},
		{"iso_joliet", "genisoimage 7zz", "rm tree/link; genisoimage -quiet -J -o pkg tree", "7zz x -bd -oout pkg", "iso9660", nil},
		{"iso_plain", "genisoimage 7zz", "rm tree/link; genisoimage -quiet -o pkg tree", "7zz x -bd -oout pkg", "iso9660", nil},
		{"squashfs_gzip", "mksquashfs", "mksquashfs tree pkg -quiet -noappend -comp gzip", "unsquashfs -q -n -d out pkg", "squashfs", nil},
		{"squashfs_xz", "mksquashfs", "mksquashfs tree pkg -quiet -noappend -comp xz", "unsquashfs -q -n -d out pkg", "squashfs", nil},
		{"squashfs_zstd", "mksquashfs", "mksquashfs tree pkg -quiet -noappend -comp zstd -b 16384", "unsquashfs -q -n -d out pkg", "squashfs", nil},
		{"squashfs_lz4", "mksquashfs", "mksquashfs tree pkg -quiet -noappend -comp lz4", "unsquashfs -q -n -d out pkg", "squashfs", nil},
		{"squashfs_lzo", "mksquashfs", "mksquashfs tree pkg -quiet -noappend -comp lzo", "unsquashfs -q -n -d out pkg", "squashfs", nil},
		{"squashfs_lzma", "mksquashfs", "mksquashfs tree pkg -quiet -noappend -comp lzma -noI", "unsquashfs -q -n -d out pkg", "squashfs", nil},
		{"squashfs_no_fragments", "mksquashfs", "mksquashfs tree pkg -quiet -noappend -no-fragments -b 4096", "unsquashfs -q -n -d out pkg", "squashfs", nil},
		{"xar", "bsdtar", "bsdtar -cf pkg --format xar -C tree .", "mkdir out; bsdtar -xf pkg -C out", "xar", nil},
		{"xar_7z", "bsdtar 7zz", "bsdtar -cf pkg --format xar --options xar:compression=bzip2,xar:checksum=md5 -C tree .", "7zz x -bd -snl -oout pkg; rm out/*TOC*.xml", "xar", nil},
		{"ar", "ar", "rm -r tree/*/ tree/link; mv 'tree/na me é.txt' tree/a_name_that_is_longer_than_sixteen_bytes; cd tree && ar rc ../pkg *", "mkdir out; cd out && ar x ../pkg", "ar", nil},
		{"ar_bsd", "bsdtar", "rm -r tree/*/ tree/link; mv 'tree/na me é.txt' tree/a_name_that_is_longer_than_sixteen_bytes; cd tree && bsdtar -cf ../pkg --format ar *", "mkdir out; cd out && bsdtar -xf ../pkg", "ar", nil},
		{"cab_mszip", "gcab cabextract", "rm -r tree/*/ tree/link; cd tree && gcab -c -z ../pkg *", "cabextract -q -d out pkg", "cab", nil},
		{"cab_stored", "gcab 7zz", "rm -r tree/*/ tree/link; cd tree && gcab -c ../pkg *", "7zz x -bd -oout pkg", "cab", nil},
		{"deb", "dpkg-deb", "mkdir tree/DEBIAN; printf 'Package: x\\nVersion: 1\\nArchitecture: all\\nMaintainer: x\\nDescription: x\\n' > tree/DEBIAN/control; dpkg-deb -b tree pkg", "dpkg-deb -x pkg out", "deb", []string{"data.tar.xz"}},
		{"deb_zstd", "dpkg-deb", "mkdir tree/DEBIAN; printf 'Package: x\\nVersion: 1\\nArchitecture: all\\nMaintainer: x\\nDescription: x\\n' > tree/DEBIAN/control; dpkg-deb -Zgzip -b tree pkg", "dpkg-deb -x pkg out", "deb", []string{"data.tar.gz"}},
		{"nested", "zip tar", "tar cf t.tar -C tree . && gzip t.tar && zip -q -0 stored t.tar.gz && zip -q packed stored.zip && tar cJf pkg packed.zip", "mkdir out; bsdtar -xf t.tar.gz -C out", "xz", []string{"packed.zip", "stored.zip", "t.tar.gz"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			program(t, append(strings.Fields(tt.needs), "bsdtar")...)
			dir := tree(t)
			dir = filepath.Dir(dir)
			shell(t, dir, tt.pack)
			shell(t, dir, tt.unpack)
			res := walk(t, filepath.Join(dir, "pkg"), inventory.Options{})
			if res.Root.Format != tt.format {
				t.Errorf("format is %q, want %q", res.Root.Format, tt.format)
			}
			n := inside(t, res, tt.inside...)
			if n.Failed != nil {
				t.Error(n.Failed)
			}
			agree(t, listed(n), onDisk(t, filepath.Join(dir, "out")))
			data, err := os.ReadFile(filepath.Join(dir, "pkg"))
			if err != nil {
				t.Fatal(err)
			}
			if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != res.Root.SHA256 {
				t.Errorf("root is %s, want %x", res.Root.SHA256, sum)
			}
		})
	}
}

// TestDirectoriesAgree: a directory is what is on the disk.
func TestDirectoriesAgree(t *testing.T) {
	dir := tree(t)
	res := walk(t, dir, inventory.Options{})
	agree(t, listed(res.Root.Inside), onDisk(t, dir))
}
