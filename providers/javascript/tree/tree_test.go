package tree_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rea/providers/javascript/jstest"
	"rea/providers/javascript/tree"
)

var bounds = tree.Options{MaxFiles: 1000, MaxFileBytes: 1 << 20, MaxTextBytes: 8 << 20, MaxTotalBytes: 64 << 20, MaxDepth: 3}

func write(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func paths(tr *tree.Tree) (list []string) {
	for i := range tr.Files {
		list = append(list, tr.Files[i].Path+" "+string(tr.Files[i].Kind))
	}
	return list
}

// pack makes an archive with the packer of Electron itself.
const pack = `
const asar = require("@electron/asar");
const [from, to] = process.argv.slice(2);
asar.createPackageWithOptions(from, to, {unpack: "*.node"}).catch((e) => { console.error(e); process.exit(1); });
`

// packed is an application of Electron with an archive and an unpacked add-on.
func packed(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("installs packages")
	}
	packages := jstest.Packages(t, "@electron/asar@3.2.17")
	source := write(t, t.TempDir(), map[string]string{
		"package.json": `{"main":"main.js"}`, "main.js": "require('./lib/a'); require('./fast.node')", "lib/a.js": "exports.a = 1", "fast.node": "\x7fELF native",
	})
	dir := t.TempDir()
	jstest.Node(t, packages, pack, nil, source, filepath.Join(dir, "resources/app.asar"))
	write(t, dir, map[string]string{"LICENSE": "x", "resources/extra.js": "1"})
	return dir
}

var members = []string{
	"LICENSE other", "resources/app.asar container", "resources/app.asar!/fast.node native", "resources/app.asar!/lib/a.js javascript",
	"resources/app.asar!/main.js javascript", "resources/app.asar!/package.json json", "resources/extra.js javascript",
}

func TestAnArchiveInAFolder(t *testing.T) {
	dir := packed(t)
	tr, err := tree.Read(t.Context(), dir, bounds)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(members, paths(tr)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	single, err := tree.Read(t.Context(), filepath.Join(dir, "resources/app.asar"), bounds)
	if err != nil {
		t.Fatal(err)
	}
	if single.Format != "asar" || len(single.Files) != 4 || single.SHA256 != tr.Files[1].SHA256 {
		t.Errorf("the archive alone: %s with %v", single.Format, paths(single))
	}
}

func TestAlteredMembersEndTheReadingOrAreSetAside(t *testing.T) {
	for _, tt := range []struct{ name, file, from, to string }{
		{"unpacked", "resources/app.asar.unpacked/fast.node", "native", "nativE"},
		{"packed", "resources/app.asar", "exports.a = 1", "exports.a = 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := packed(t)
			path := filepath.Join(dir, tt.file)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, bytes.Replace(data, []byte(tt.from), []byte(tt.to), 1), 0o600); err != nil {
				t.Fatal(err)
			}
			var contradiction *tree.ErrContradiction
			if _, err := tree.Read(t.Context(), dir, bounds); !errors.As(err, &contradiction) {
				t.Fatalf("err = %v", err)
			}
			if contradiction.Unpacked != (tt.name == "unpacked") || contradiction.Declared == contradiction.Observed {
				t.Errorf("contradiction = %+v", contradiction.Contradiction)
			}
			lenient := bounds
			lenient.Continue = true
			tr, err := tree.Read(t.Context(), dir, lenient)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(members, paths(tr)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			aside := slices.IndexFunc(tr.Files, func(f tree.File) bool { return f.Contradicted })
			if len(tr.Contradictions) != 1 || aside < 0 || tr.Files[aside].Data != nil {
				t.Errorf("contradictions = %+v", tr.Contradictions)
			}
			if !unread(tr, tr.Files[aside].Path) {
				t.Errorf("gaps = %v", tr.Gaps)
			}
		})
	}
}

// unread reports whether a gap says of a file that it was not read.
func unread(tr *tree.Tree, path string) bool {
	return slices.ContainsFunc(tr.Gaps, func(g tree.Gap) bool { return g.What == "file "+path && g.Reason != "" })
}

func TestDamagedArchivesAreToldAsSuch(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(packed(t), "resources/app.asar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 8, 20, 60} {
		path := filepath.Join(t.TempDir(), "app.asar")
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := tree.Read(t.Context(), path, bounds); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestLinksThatLeadAway(t *testing.T) {
	dir := t.TempDir()
	for name, link := range map[string]string{"in.js": "a.js", "folder": "sub", "away.js": "/nowhere/a.js", "gone.js": "./none.js"} {
		if err := os.Symlink(link, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	for _, name := range []string{"a.js", "sub/b.js"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("1"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := tree.Read(t.Context(), dir, bounds)
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.Gaps) != 1 || tr.Gaps[0].What != "symbolic links" || tr.Gaps[0].Omitted != 2 {
		t.Errorf("gaps = %+v", tr.Gaps)
	}
}

func TestAMissingUnpackedFileIsUnavailable(t *testing.T) {
	dir := packed(t)
	if err := os.RemoveAll(filepath.Join(dir, "resources/app.asar.unpacked")); err != nil {
		t.Fatal(err)
	}
	tr, err := tree.Read(t.Context(), dir, bounds)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(tr.Files, func(f tree.File) bool { return strings.HasSuffix(f.Path, "fast.node") })
	if i < 0 || tr.Files[i].SHA256 != "" || tr.Files[i].Reason == "" {
		t.Errorf("files = %v", paths(tr))
	}
	if !unread(tr, tr.Files[i].Path) {
		t.Errorf("gaps = %v", tr.Gaps)
	}
	single, err := tree.Read(t.Context(), filepath.Join(dir, "resources/app.asar"), bounds)
	if err != nil {
		t.Fatal(err)
	}
	if len(single.Gaps) != 1 || strings.Contains(single.Gaps[0].Reason, dir) {
		t.Errorf("gaps of the archive alone = %v", single.Gaps)
	}
}

func TestAPackageWithWebAssets(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range map[string]string{"assets/www/index.html": "<script src=a.js></script>", "assets/www/a.js": "a()", "classes.dex": "dex"} {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	dir := write(t, t.TempDir(), map[string]string{"app.apk": b.String(), "nested.zip": ""})
	tr, err := tree.Read(t.Context(), filepath.Join(dir, "app.apk"), bounds)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"assets/www/a.js javascript", "assets/www/index.html html", "classes.dex other"}, paths(tr)); diff != "" || tr.Format != "zip" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	tr, err = tree.Read(t.Context(), dir, bounds)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(paths(tr), "app.apk!/assets/www/a.js javascript") {
		t.Errorf("files = %v", paths(tr))
	}
}

func TestBoundsAreNamed(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{"a.js": "aaaa", "b.js": strings.Repeat("b", 100), "c.js": "c", "D.js": "d", "d.js": "d"})
	o := bounds
	o.MaxFileBytes, o.MaxFiles = 50, 4
	tr, err := tree.Read(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.Files) != 4 || len(tr.Gaps) == 0 || tr.Gaps[0].Omitted != 1 {
		t.Errorf("%v, gaps %+v", paths(tr), tr.Gaps)
	}
	i := slices.IndexFunc(tr.Files, func(f tree.File) bool { return f.Path == "b.js" })
	if i < 0 || tr.Files[i].Data != nil || tr.Files[i].Reason == "" || tr.Files[i].SHA256 == "" {
		t.Errorf("the large file: %+v", tr.Files[i])
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tree.Read(ctx, dir, o); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}
