package inventory_test

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
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

// TestExtension: a Chrome extension is a zip archive behind a header that signs
// it.
func TestExtension(t *testing.T) {
	header := append([]byte("Cr24\x03\x00\x00\x00\x28\x00\x00\x00"), make([]byte, 0x28)...)
	res := walk(t, written(t, append(header, zipped(t, 8, file{"manifest.json", []byte("{}")})...)), inventory.Options{})
	if c := res.Root.Inside.Claims; res.Root.Format != "crx" || len(c) != 1 || c[0].Kind != "signature" || c[0].Name != "CRX3 header" || c[0].Size != int64(len(header)) {
		t.Errorf("%s, %+v", res.Root.Format, c)
	}
}

// TestISOInfo: paths and contents are those that isoinfo knows.
func TestISOInfo(t *testing.T) {
	program(t, "genisoimage", "isoinfo")
	dir := filepath.Dir(tree(t))
	shell(t, dir, "genisoimage -quiet -R -o pkg tree; isoinfo -R -f -i pkg > list; mkdir out; while IFS= read -r f; do if [ -f \"tree$f\" ] && [ ! -L \"tree$f\" ]; then isoinfo -R -x \"$f\" -i pkg | sha256sum | cut -c1-64 | sed \"s#\\$# $f#\"; fi; done < list > sums")
	got := map[string]string{}
	for _, it := range walk(t, filepath.Join(dir, "pkg"), inventory.Options{}).Root.Inside.Items {
		got["/"+it.Raw] = it.SHA256
	}
	read := func(name string) []string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(b)), "\n")
	}
	list, sums := read("list"), read("sums")
	if len(list) != len(got) || len(sums) < 300 {
		t.Errorf("isoinfo lists %d, %d are listed; %d sums", len(list), len(got), len(sums))
	}
	for _, path := range list {
		if _, ok := got[path]; !ok {
			t.Errorf("%s is missing", path)
		}
	}
	for _, line := range sums {
		if sum, path, _ := strings.Cut(line, " "); got[path] != sum {
			t.Errorf("%s is %s, want %s", path, got[path], sum)
		}
	}
}

// TestInstaller: the streams of an installer package are those that 7-Zip gives,
// and its cabinet holds the file.
func TestInstaller(t *testing.T) {
	program(t, "7zz", "gunzip")
	dir := t.TempDir()
	msi, err := filepath.Abs("../../format/cfb/testdata/small.msi.gz")
	if err != nil {
		t.Fatal(err)
	}
	shell(t, dir, "gunzip -c "+msi+" > pkg; 7zz x -bd -tCompound -oout pkg; 7zz x -bd -ocab out/Sample.cab")
	res := walk(t, filepath.Join(dir, "pkg"), inventory.Options{})
	sums := func(dir string) (out []string) {
		for _, v := range onDisk(t, dir) {
			out = append(out, v)
		}
		slices.Sort(out)
		return out
	}
	var streams, inCab []string
	for _, it := range res.Root.Inside.Items {
		streams = append(streams, "file "+it.SHA256)
		if it.Raw == "Sample.cab" {
			for _, in := range it.Inside.Items {
				inCab = append(inCab, "file "+in.SHA256)
			}
		}
	}
	slices.Sort(streams)
	if want := sums(filepath.Join(dir, "out")); res.Root.Format != "msi" || !slices.Equal(streams, want) {
		t.Errorf("%s with %q, want %q", res.Root.Format, streams, want)
	}
	if want := sums(filepath.Join(dir, "cab")); !slices.Equal(inCab, want) {
		t.Errorf("%q, want %q", inCab, want)
	}
}

// TestBehindProgram: an archive behind a Windows program is read, an installer
// that is not is named.
func TestBehindProgram(t *testing.T) {
	program(t, "7zz", "gcab")
	exe, err := filepath.Abs("../../format/pe/testdata/sample_x86.dll")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(tree(t))
	shell(t, dir, "7zz a -bd -snl a.7z tree; gcab -c -z a.cab tree/a.txt; cat "+exe+" a.7z > s7; cat "+exe+" a.cab > sc; (cat "+exe+"; printf ';!@Install@!UTF-8!\nTitle=\"x\"\n;!@InstallEnd@!'; cat a.7z) > si; (cat "+exe+"; printf '\\0\\0\\0\\0\\357\\276\\255\\336NullsoftInst'; head -c 100 /dev/zero) > sn; mkdir all; cp s7 all; 7zz a -bd -tzip -mx0 z.zip s7")
	for name, count := range map[string]int{"s7": 309, "sc": 1, "si": 309} {
		res := walk(t, filepath.Join(dir, name), inventory.Options{})
		if n := res.Root.Inside; res.Root.Format != "pe" || n == nil || n.Failed != nil || len(n.Items) < count {
			t.Errorf("%s: %+v", name, res.Root)
		}
	}
	if res := walk(t, filepath.Join(dir, "sn"), inventory.Options{}); !res.Root.Opaque || !strings.Contains(strings.Join(res.Root.Notes, "\n"), "nsis") {
		t.Errorf("%+v", res.Root)
	}
	for _, name := range []string{"all", "z.zip"} {
		if it := items(walk(t, filepath.Join(dir, name), inventory.Options{}))["s7"]; it.Inside == nil || len(it.Inside.Items) < 309 {
			t.Errorf("%s: %+v", name, it)
		}
	}
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
	roles := map[string]string{}
	dir := t.TempDir()
	shell(t, dir, `mkdir in; cd in; for f in META-INF/MANIFEST.MF META-INF/CERT.SF META-INF/CERT.RSA AndroidManifest.xml classes.dex AppxSignature.p7x AppxBlockMap.xml .signature.p7s x.nuspec \
		x-1.dist-info/RECORD x-1.dist-info/METADATA extension.vsixmanifest package/services/digital-signature/xml-signature/a.psdsxs _xmlsignatures/sig1.xml '[Content_Types].xml' \
		Payload/A.app/_CodeSignature/CodeResources Payload/A.app/embedded.mobileprovision Payload/A.app/Info.plist META-INF/mozilla.rsa manifest.json; do mkdir -p "$(dirname "$f")"; echo x > "$f"; done; zip -qr ../pkg.zip .`)
	for _, it := range walk(t, filepath.Join(dir, "pkg.zip"), inventory.Options{}).Root.Inside.Items {
		roles[it.Raw] = it.Role
	}
	for want, names := range map[string]string{
		"signature": "META-INF/CERT.RSA AppxSignature.p7x .signature.p7s package/services/digital-signature/xml-signature/a.psdsxs _xmlsignatures/sig1.xml Payload/A.app/_CodeSignature/CodeResources Payload/A.app/embedded.mobileprovision META-INF/mozilla.rsa",
		"manifest":  "META-INF/MANIFEST.MF META-INF/CERT.SF AndroidManifest.xml AppxBlockMap.xml x.nuspec x-1.dist-info/RECORD x-1.dist-info/METADATA extension.vsixmanifest [Content_Types].xml Payload/A.app/Info.plist manifest.json",
		"":          "classes.dex",
	} {
		for name := range strings.FieldsSeq(names) {
			if roles[name] != want {
				t.Errorf("%s is a %q, want %q", name, roles[name], want)
			}
		}
	}
	dir = t.TempDir()
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
