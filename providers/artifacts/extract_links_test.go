package artifacts_test

import (
	"archive/tar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rea/generated/fault"
	"rea/generated/model"
)

// packed makes an archive of a small tree with a program of its format.
func packed(t testing.TB, needs, script string) string {
	t.Helper()
	for name := range strings.FieldsSeq(needs) {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("no %s on this machine", name)
		}
	}
	dir := t.TempDir()
	cmd := exec.Command("bash", "-ec", "mkdir -p in/d; seq 100 > in/a; ln in/a in/b; ln in/a in/d/c; seq 3000 > in/z; "+script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return filepath.Join(dir, "pkg")
}

// TestHardLinks: every name of a content gives it, whichever of them the archive
// stores it under, selected alone or with the others.
func TestHardLinks(t *testing.T) {
	const control = "mkdir in/DEBIAN; printf 'Package: x\nVersion: 1\nArchitecture: all\nMaintainer: x\nDescription: x\n' > in/DEBIAN/control; "
	const spec = "printf 'Name: x\nVersion: 1\nRelease: 1\nSummary: x\nLicense: x\nBuildArch: noarch\n%%description\nx\n%%install\nmkdir -p %%{buildroot}/in\ncp -a '$PWD/in/.' %%{buildroot}/in\n%%files\n/in\n' > x.spec; rpmbuild -bb --quiet --define \"_topdir $PWD/top\" x.spec 2>&1; cp top/RPMS/noarch/*.rpm pkg"
	s := serve(t)
	for _, tt := range []struct{ name, needs, script, prefix string }{
		{"tar", "tar", "tar cf pkg in", "in/"},
		{"tar dots", "tar", "tar cf pkg ./in", "./in/"},
		{"tar.gz", "tar", "tar czf pkg in", "in/"},
		{"pax", "bsdtar", "bsdtar --format pax -cf pkg in", "in/"},
		{"cpio newc", "cpio", "find in | cpio -o -H newc --quiet > pkg", "in/"},
		{"cpio odc", "cpio", "find in | cpio -o -H odc --quiet > pkg", "in/"},
		{"xar", "bsdtar", "bsdtar --format xar -cf pkg in", "in/"},
		{"deb", "dpkg-deb", control + "dpkg-deb -b in pkg", "data.tar.xz!/./"},
		{"deb without dots", "dpkg-deb", control + "dpkg-deb -b in pkg", "data.tar.xz!/"},
		{"rpm", "rpmbuild", spec, "./in/"},
		{"squashfs", "mksquashfs", "mksquashfs in pkg -quiet -noappend", ""},
		{"iso", "xorriso", "xorriso -outdev pkg -hardlinks on -map in / -commit 2>&1", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := packed(t, tt.needs, tt.script)
			want, err := os.ReadFile(filepath.Join(filepath.Dir(path), "in/a"))
			if err != nil {
				t.Fatal(err)
			}
			for _, names := range [][]string{{"a"}, {"b"}, {"d/c"}, {"b", "d/c"}, {"d"}, {"a", "b", "d"}} {
				selected := make([]string, len(names))
				for i, n := range names {
					selected[i] = tt.prefix + n
				}
				out, f := s.extract(t, values{"path": path, "select": selected})
				if f != nil {
					t.Errorf("%v: %v", names, f)
					continue
				}
				if len(out.Files) != len(names) || !out.Complete || len(out.Refused) > 0 {
					t.Errorf("%v: %+v", names, out)
				}
				for _, file := range out.Files {
					if got, err := os.ReadFile(filepath.Join(out.Directory, file.File)); err != nil || string(got) != string(want) || file.Size != int64(len(want)) {
						t.Errorf("%v: %s has %d bytes (%v)", names, file.File, len(got), err)
					}
				}
			}
		})
	}
}

// TestLinkTricks: links to nothing, in circles, to themselves, to what stands
// outside, and of more bytes than are allowed.
func TestLinkTricks(t *testing.T) {
	s := serve(t)
	link := func(name, to string) *tar.Header {
		return &tar.Header{Name: name, Typeflag: tar.TypeLink, Linkname: to}
	}
	path := tarOf(t, link("self", "self"), link("x", "y"), link("y", "x"), link("passwd", "/etc/passwd"), link("up", "../../etc/passwd"),
		&tar.Header{Name: "a"}, link("l1", "a"), link("l2", "l1"), link("l3", "./l2"), link("abs", "/a"), &tar.Header{Name: "../out"}, link("to-out", "../out"))
	out, f := s.extract(t, values{"path": path})
	if f != nil {
		t.Fatal(f)
	}
	refused := map[string]model.ArtifactRefusedKind{}
	for _, r := range out.Refused {
		refused[r.Path] = r.Kind
	}
	for _, name := range []string{"self", "x", "y", "passwd", "up"} {
		if refused[name] != model.ArtifactRefusedKindNotRegular {
			t.Errorf("%s is %q", name, refused[name])
		}
	}
	if refused["../out"] != model.ArtifactRefusedKindUnsafeName || refused["to-out"] != model.ArtifactRefusedKindUnsafeName || out.Complete {
		t.Errorf("%v", refused)
	}
	for name, text := range onDisk(t, out.Directory) {
		if text != "text" {
			t.Errorf("%s is %q", name, text)
		}
	}
	if len(out.Files) != 5 {
		t.Errorf("%+v", out.Files)
	}
	// A link to a link to a link, each of them not selected.
	if out, f = s.extract(t, values{"path": path, "select": []string{"l3"}}); f != nil || len(out.Files) != 1 || onDisk(t, out.Directory)["l3"] != "text" {
		t.Errorf("%+v (%v)", out, f)
	}
	for _, name := range []string{"self", "passwd", "x"} {
		if _, f := s.extract(t, values{"path": path, "select": []string{name}}); f == nil || f.Code != fault.ArtifactEntryUnavailableCode {
			t.Errorf("%s: %v", name, f)
		}
	}
	headers := []*tar.Header{{Name: "a"}}
	for i := range 20 {
		headers = append(headers, link(string(rune('b'+i)), "a"))
	}
	out, f = s.extract(t, values{"path": tarOf(t, headers...), "max_total_bytes": 40})
	if f != nil || len(out.Files) != 10 || out.Complete || len(out.Refused) != 11 || out.Refused[0].Kind != model.ArtifactRefusedKindLimit {
		t.Errorf("%+v (%v)", out, f)
	}
}

// TestNothingToGive: a call that could write nothing of what is there fails, in
// all formats alike; one that found nothing to write does not.
func TestNothingToGive(t *testing.T) {
	s := serve(t)
	temp := t.TempDir()
	for _, tt := range []struct {
		name, needs, script string
		kind                fault.ArtifactEntryUnavailableDetailsKind
	}{
		{"cut zip", "zip", "zip -qr x.zip in; head -c 500 x.zip > pkg", "corrupt"},
		{"cut 7z", "7zz", "7zz a -bd x.7z in; head -c 500 x.7z > pkg", "corrupt"},
		{"cut tar", "tar", "tar cf x in/z; head -c 2000 x > pkg", "corrupt"},
		{"cut gz", "gzip", "gzip < in/z | head -c 500 > pkg", "corrupt"},
		{"cut xz", "xz", "xz < in/z | head -c 500 > pkg", "corrupt"},
		{"cut bz2", "bzip2", "bzip2 < in/z | head -c 500 > pkg", "corrupt"},
		{"cut zst", "zstd", "zstd -q < in/z | head -c 500 > pkg", "corrupt"},
		{"cut tgz", "tar", "tar czf x in/z; head -c 500 x > pkg", "corrupt"},
		{"cut cpio", "cpio", "echo in/z | cpio -o -H newc --quiet | head -c 2000 > pkg", "corrupt"},
		{"cut ar", "ar", "ar rc x in/z; head -c 2000 x > pkg", "corrupt"},
		{"cut squashfs", "mksquashfs", "mksquashfs in x -quiet -noappend; head -c 1000 x > pkg", "corrupt"},
		{"cut xar", "bsdtar", "rm in/a in/b in/d/c; bsdtar -cf x --format xar in; head -c 1000 x > pkg", "corrupt"},
		{"cut cab", "gcab", "cd in; gcab -c -z ../x z; head -c 500 ../x > ../pkg", "corrupt"},
		{"encrypted zip", "zip", "zip -qP secret x.zip in/z; mv x.zip pkg", "encrypted"},
		{"encrypted AES zip", "7zz", "7zz a -bd -psecret -mem=AES256 -tzip x.zip in/z; mv x.zip pkg", "encrypted"},
		{"encrypted 7z", "7zz", "7zz a -bd -psecret x.7z in/z; mv x.7z pkg", "encrypted"},
		{"encrypted 7z header", "7zz", "7zz a -bd -psecret -mhe=on x.7z in/z; mv x.7z pkg", "encrypted"},
		{"text", "seq", "cp in/z pkg", "unsupported"},
		{"nothing", "seq", ": > pkg", "unsupported"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := packed(t, tt.needs, tt.script)
			t.Setenv("TMPDIR", temp)
			_, f := s.extract(t, values{"path": path})
			if f == nil || f.Code != fault.ArtifactEntryUnavailableCode || f.Details.(*fault.ArtifactEntryUnavailableDetails).Kind != tt.kind {
				t.Errorf("%v, want %s", f, tt.kind)
			}
			if left, _ := os.ReadDir(temp); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
	for name, script := range map[string]string{"no files": "mkdir l; tar cf pkg l", "only links": "mkdir l; ln -s x l/y; tar cf pkg l", "empty directory": "mkdir pkg"} {
		out, f := s.extract(t, values{"path": packed(t, "tar", script)})
		if f != nil || len(out.Files) != 0 || !out.Complete {
			t.Errorf("%s: %+v (%v)", name, out, f)
		}
	}
	// What can be given of an archive that ends early is given, and the rest named.
	out, f := s.extract(t, values{"path": packed(t, "tar", "tar cf x in/a in/z; head -c 3000 x > pkg")})
	if f != nil || len(out.Files) != 1 || out.Complete || len(out.Refused) != 1 || out.Refused[0].Kind != model.ArtifactRefusedKindCorrupt {
		t.Errorf("%+v (%v)", out, f)
	}
}
