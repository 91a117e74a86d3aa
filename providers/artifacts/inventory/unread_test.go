package inventory_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rea/providers/artifacts/inventory"
)

// TestUnread: containers without a reader are named and leave the inventory
// incomplete, and what only resembles them is data.
func TestUnread(t *testing.T) {
	at := func(offset int, magic string) string { return strings.Repeat("\x00", offset) + magic }
	fat := func(offset int, name string) string {
		b := []byte(at(offset, name) + strings.Repeat("\x00", 512))[:512]
		b[510], b[511] = 0x55, 0xaa
		return string(b)
	}
	ext := at(1024, "\x10\x00\x00\x00") + at(20, "\x02\x00\x00\x00") + at(28, "\x53\xef")
	disk := at(446, "\x80\x00\x02\x00\x83\x00\x00\x00\x00\x08\x00\x00\x00\x10\x00\x00") + at(48, "\x55\xaa")
	for _, tt := range []struct{ want, data string }{
		{"wim", "MSWIM\x00\x00\x00\xd0\x00\x00\x00"}, {"chm", "ITSF\x03\x00\x00\x00\x60\x00\x00\x00"}, {"ext", ext}, {"mbr", disk}, {"fat", fat(54, "FAT16   ")}, {"fat", fat(82, "FAT32   ")},
		{"ntfs", at(3, "NTFS    ")}, {"qcow", "QFI\xfb\x00\x00\x00\x03"}, {"udf", at(32769, "BEA01")}, {"lha", "\x20\x01-lh5-x"}, {"compress", "\x1f\x9d\x90abc"}, {"lzip", "LZIP\x01\x0cabc"},
		{"arj", "\x60\xea\x2b\x00\x22\x0b\x01\x02\x10\x00\x02\x00"}, {"android-boot", "ANDROID!\x00\x00"}, {"erofs", at(1024, "\xe2\xe1\xf5\xe0")},
	} {
		res := walk(t, written(t, []byte(tt.data)), inventory.Options{})
		if root := res.Root; root.Format != tt.want || root.Kind != inventory.KindContainer || !root.Opaque || len(root.Notes) == 0 {
			t.Errorf("%s: %+v", tt.want, root)
		}
	}
	for _, data := range []string{
		at(1024, "\x10\x00\x00\x00") + at(20, "\x07\x00\x00\x00") + at(28, "\x53\xef"), disk[:450] + "\x00" + disk[451:], at(510, "\x55\xaa"), "\x1f\x9d\x20abc", "\x60\xea\x00\x00", "LZIP of text", "x -lho- y",
	} {
		if res := walk(t, written(t, []byte(data)), inventory.Options{}); res.Root.Kind == inventory.KindContainer {
			t.Errorf("%q is a %s", data, res.Root.Format)
		}
	}
}

// TestModule: a module of Java is a zip archive behind four bytes.
func TestModule(t *testing.T) {
	data := append([]byte("JM\x01\x00"), zipped(t, 8, file{"classes/module-info.class", []byte("x")})...)
	dir := filepath.Dir(written(t, data))
	for _, path := range []string{filepath.Join(dir, "artifact"), dir} {
		root := walk(t, path, inventory.Options{}).Root
		if path == dir {
			root = root.Inside.Items[0]
		}
		if n := root.Inside; root.Format != "jmod" || n == nil || len(n.Items) != 1 || n.Items[0].Raw != "classes/module-info.class" {
			t.Errorf("%s: %+v", path, root)
		}
	}
	if jmod, err := exec.LookPath("jmod"); err == nil {
		shell(t, dir, "mkdir c; echo 'module m {}' > module-info.java; javac -d c module-info.java; "+jmod+" create --class-path c m.jmod; rm module-info.java")
		root := walk(t, filepath.Join(dir, "m.jmod"), inventory.Options{}).Root
		if n := root.Inside; root.Format != "jmod" || n == nil || !slices.ContainsFunc(n.Items, func(it *inventory.Item) bool {
			return it.Raw == "classes/module-info.class" && it.Status == inventory.Verified
		}) {
			t.Errorf("%+v", root)
		}
	}
}
