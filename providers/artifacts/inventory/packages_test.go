package inventory_test

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"rea/providers/artifacts/inventory"
	"rea/providers/format/container"
)

const spec = `Name: thing
Version: 1
Release: 1
Summary: x
License: x
BuildArch: noarch
%define _build_id_links none
%define __os_install_post %{nil}
%define __brp_mangle_shebangs true
%description
x
%install
mkdir -p %{buildroot}/opt/thing
cp -a TREE/. %{buildroot}/opt/thing
rm -f "%{buildroot}/opt/thing/na me é.txt"
%files
/opt/thing
%ghost /opt/ghost
`

// TestRPM: the files are those that rpm2cpio gives, and their declared digests
// are verified.
func TestRPM(t *testing.T) {
	program(t, "rpmbuild", "rpm2cpio", "cpio")
	for _, tt := range []struct{ name, payload, method string }{
		{"gzip", "w9.gzdio", "gzip"}, {"xz", "w2.xzdio", "xz"}, {"zstd", "w3.zstdio", "zstd"}, {"bzip2", "w9.bzdio", "bzip2"}, {"lzma", "w2.lzdio", "lzma"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Dir(tree(t))
			text := strings.ReplaceAll(spec, "TREE", filepath.Join(dir, "tree"))
			if err := os.WriteFile(filepath.Join(dir, "thing.spec"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			shell(t, dir, "touch tree/../ghost; rpmbuild -bb --quiet --define '_topdir '$PWD/top --define '_binary_payload "+tt.payload+"' --define '__spec_install_post %{nil}' thing.spec 2>&1 || { sed -i /ghost/d thing.spec; rpmbuild -bb --quiet --define '_topdir '$PWD/top --define '_binary_payload "+tt.payload+"' thing.spec; }")
			shell(t, dir, "cp top/RPMS/noarch/*.rpm pkg && mkdir out && cd out && rpm2cpio ../pkg | cpio -idm --quiet")
			res := walk(t, filepath.Join(dir, "pkg"), inventory.Options{})
			n := res.Root.Inside
			if res.Root.Format != "rpm" || n == nil || n.Failed != nil {
				t.Fatalf("%+v %+v", res.Root, n)
			}
			want := onDisk(t, filepath.Join(dir, "out"))
			delete(want, "opt") // made by cpio, not packaged
			agree(t, listed(n), want)
			for _, it := range n.Items {
				if it.Type == container.File && (it.Status != inventory.Verified || it.Method != tt.method || it.Checks[0].Algorithm != container.SHA256) {
					t.Fatalf("%s: %s by %v with %s", it.Path, it.Status, it.Checks, it.Method)
				}
			}
		})
	}
}

// asarTool installs the packer of Electron into the user's cache, once.
func asarTool(t testing.TB) string {
	t.Helper()
	program(t, "npm", "node")
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip("no cache folder: ", err)
	}
	dir := filepath.Join(cache, "rea-test", "asar-3.4.1")
	if _, err := os.Stat(filepath.Join(dir, "complete")); err != nil {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("npm", "install", "--no-audit", "--no-fund", "--no-save", "--prefix", dir, "@electron/asar@3.4.1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("npm can't install asar: %v\n%s", err, out)
		}
		if err := os.WriteFile(filepath.Join(dir, "complete"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "node_modules", ".bin", "asar")
}

// TestASAR: packed and unpacked entries are those that the tool of Electron
// extracts; its digests are verified, blocks too.
func TestASAR(t *testing.T) {
	asar := asarTool(t)
	dir := filepath.Dir(tree(t))
	shell(t, dir, "head -c 9000000 /dev/urandom > tree/blocks.dat; "+asar+" pack tree app.asar --unpack '*.bin' && "+asar+" extract app.asar out")
	want := onDisk(t, filepath.Join(dir, "out"))
	res := walk(t, filepath.Join(dir, "app.asar"), inventory.Options{})
	agree(t, listed(res.Root.Inside), want)
	unpacked := 0
	for _, it := range res.Root.Inside.Items {
		if it.Type == container.File && it.Status != inventory.Verified {
			t.Errorf("%s is %s", it.Path, it.Status)
		}
		if it.Unpacked {
			unpacked++
		}
	}
	if unpacked != 1 {
		t.Errorf("%d unpacked entries, want the random.bin", unpacked)
	}
	// In a directory and in a zip the companion lies beside the archive, too.
	shell(t, dir, "mkdir -p app/resources && mv app.asar app.asar.unpacked app/resources && zip -qr app.zip app")
	for _, root := range []string{"app", "app.zip"} {
		n := inside(t, walk(t, filepath.Join(dir, root), inventory.Options{}))
		for _, it := range n.Items {
			if path.Base(it.Raw) == "app.asar" {
				agree(t, listed(it.Inside), want)
				return
			}
		}
		t.Errorf("%s: no archive", root)
	}
	// A changed byte in a block is a contradiction of the file and of its blocks.
	data, err := os.ReadFile(filepath.Join(dir, "app/resources/app.asar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range inside(t, walk(t, filepath.Join(dir, "app/resources/app.asar"), inventory.Options{})).Items {
		if it.Path == "blocks.dat" {
			data[it.Offset+5_000_000] ^= 1
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "app/resources/app.asar"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, it := range inside(t, walk(t, filepath.Join(dir, "app/resources/app.asar"), inventory.Options{Continue: true})).Items {
		if it.Path == "blocks.dat" && (it.Status != inventory.Mismatched || len(it.Checks) != 2 || it.Checks[1].Algorithm != "sha256-blocks") {
			t.Errorf("%+v", it)
		}
	}
}

// TestUniversal: slices are what llvm-lipo puts together.
func TestUniversal(t *testing.T) {
	lipo := ""
	for _, name := range []string{"llvm-lipo", "llvm-lipo-14"} {
		if p, err := exec.LookPath(name); err == nil {
			lipo = p
		}
	}
	if lipo == "" {
		t.Skip("no llvm-lipo on this machine")
	}
	program(t, "go")
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module x\n", "main.go": "package main\n\nfunc main() { println(\"hi\") }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	shell(t, dir, "for a in amd64 arm64; do CGO_ENABLED=0 GOOS=darwin GOARCH=$a go build -o $a .; done; "+lipo+" -create amd64 arm64 -output pkg")
	res := walk(t, filepath.Join(dir, "pkg"), inventory.Options{})
	files := onDisk(t, dir)
	agree(t, listed(res.Root.Inside), map[string]string{"x86_64": files["amd64"], "arm64": files["arm64"]})
	for _, it := range res.Root.Inside.Items {
		if it.Format != "mach-o" || it.Kind != inventory.KindExecutable || it.Architecture != it.Raw || it.Type != container.Slice {
			t.Errorf("%+v", it)
		}
	}
}

// TestInitramfs: archives in a row are slices of the first.
func TestInitramfs(t *testing.T) {
	program(t, "cpio", "gzip")
	dir := filepath.Dir(tree(t))
	shell(t, dir, "(mkdir early && echo microcode > early/bin && cd early && find . | cpio -o -H newc --quiet) > pkg; (cd tree && find . | cpio -o -H newc --quiet | gzip) >> pkg")
	n := walk(t, filepath.Join(dir, "pkg"), inventory.Options{}).Root.Inside
	last := n.Items[len(n.Items)-1]
	if last.Type != container.Slice || last.Format != "gzip" {
		t.Fatalf("%+v", last)
	}
	agree(t, listed(last.Inside.Items[0].Inside), onDisk(t, filepath.Join(dir, "tree")))
}

// TestFamilies: packages are known by what they hold.
func TestFamilies(t *testing.T) {
	program(t, "zip", "bsdtar")
	for want, names := range map[string]string{
		"jar": "META-INF/MANIFEST.MF a.class", "apk": "AndroidManifest.xml classes.dex", "aab": "BundleConfig.pb base/manifest/AndroidManifest.xml",
		"ipa": "Payload/App.app/Info.plist", "msix": "AppxManifest.xml AppxBlockMap.xml", "nupkg": "x.nuspec lib/x.dll", "vsix": "extension.vsixmanifest extension/package.json",
		"whl": "x/__init__.py x-1.dist-info/WHEEL", "xpi": "manifest.json META-INF/mozilla.rsa", "docx": "[Content_Types].xml word/document.xml", "zip": "README src/main.c",
	} {
		dir := t.TempDir()
		shell(t, dir, `mkdir in; cd in; for f in `+names+`; do mkdir -p "$(dirname "$f")"; echo x > "$f"; done; zip -qr ../pkg.zip .`)
		if got := walk(t, filepath.Join(dir, "pkg.zip"), inventory.Options{}).Root.Format; got != want {
			t.Errorf("%s is %q, want %q", names, got, want)
		}
	}
	dir := t.TempDir()
	shell(t, dir, "mkdir -p in/App.app/Contents; echo x > in/App.app/Contents/Info.plist; echo x > in/Distribution; bsdtar -cf pkg --format xar -C in Distribution")
	if got := walk(t, filepath.Join(dir, "pkg"), inventory.Options{}).Root.Format; got != "pkg" {
		t.Errorf("an installer is %q", got)
	}
	for _, it := range walk(t, filepath.Join(dir, "in"), inventory.Options{}).Root.Inside.Items {
		if it.Path == "App.app" && it.Role != "bundle" || it.Path == "App.app/Contents/Info.plist" && it.Role != "manifest" {
			t.Errorf("%s is a %q", it.Path, it.Role)
		}
	}
}
