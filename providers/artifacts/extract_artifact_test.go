package artifacts_test

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rea/generated/fault"
	"rea/generated/model"
)

// onDisk lists the files below a directory by relative name.
func onDisk(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.IsDir() {
			if info.Mode().Perm() != 0o700 {
				t.Errorf("%s has mode %o", p, info.Mode().Perm())
			}
			return nil
		}
		if !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v", p, info.Mode())
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTricks: whatever an archive calls its entries, nothing is written outside
// of the directory, and nothing but regular files inside.
func TestTricks(t *testing.T) {
	s := serve(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	long := strings.Repeat("n", 250)
	path := tarOf(t,
		&tar.Header{Name: "good"}, &tar.Header{Name: "../up"}, &tar.Header{Name: "/abs"}, &tar.Header{Name: "a/../../up"}, &tar.Header{Name: `..\up`}, &tar.Header{Name: `C:\x`},
		&tar.Header{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, &tar.Header{Name: "link/passwd"},
		&tar.Header{Name: "hard", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}, &tar.Header{Name: "dev", Typeflag: tar.TypeChar}, &tar.Header{Name: "pipe", Typeflag: tar.TypeFifo},
		&tar.Header{Name: "Case"}, &tar.Header{Name: "case"}, &tar.Header{Name: "caf\u00e9"}, &tar.Header{Name: "cafe\u0301"}, &tar.Header{Name: "CON"}, &tar.Header{Name: "nul.txt"},
		&tar.Header{Name: "dot."}, &tar.Header{Name: "stream:alternate"}, &tar.Header{Name: long}, &tar.Header{Name: "good"}, &tar.Header{Name: "file"}, &tar.Header{Name: "file/under"},
		&tar.Header{Name: "./here"}, &tar.Header{Name: "100%"},
	)
	out, f := s.extract(t, values{"path": path})
	if f != nil {
		t.Fatal(f)
	}
	refused := map[string]model.ArtifactRefusedKind{}
	for _, r := range out.Refused {
		refused[r.Path] = r.Kind
	}
	for name, kind := range map[string]model.ArtifactRefusedKind{
		"../up": "unsafe_name", "/abs": "unsafe_name", "a/../../up": "unsafe_name", `..\\up`: "unsafe_name", `C:\\x`: "unsafe_name",
		"link": "not_regular", "hard": "not_regular", "dev": "not_regular", "pipe": "not_regular",
	} {
		if refused[name] != kind {
			t.Errorf("%s is %q, want %q", name, refused[name], kind)
		}
		delete(refused, name)
	}
	if len(refused) > 0 {
		t.Errorf("refused too: %v", refused)
	}
	files := onDisk(t, out.Directory)
	written := map[string]string{}
	for _, e := range out.Files {
		written[e.Path] = e.File
		sum := sha256.Sum256([]byte(files[e.File]))
		if files[e.File] != "text" || hex.EncodeToString(sum[:]) != e.SHA256 {
			t.Errorf("%s is %q in %s", e.Path, files[e.File], e.File)
		}
		if plain := strings.TrimPrefix(e.Path, "./") == e.File; plain != (e.Renamed == nil) {
			t.Errorf("%s is %s, renamed %v", e.Path, e.File, e.Renamed)
		}
	}
	if len(files) != len(out.Files) || len(files) != 16 {
		t.Errorf("%d files on disk, %d listed", len(files), len(out.Files))
	}
	for path, file := range map[string]string{
		"Case": "Case", "case": "case~2", "cafe\u0301": "cafe\u0301~2", "CON": "%43ON", "nul.txt": "%6Eul.txt", "dot.": "dot%2E", "stream:alternate": "stream%3Aalternate",
		"file/under": "file~2/under", "./here": "here", "100%": "100%25", "link/passwd": "link/passwd", "good": "good~2",
	} {
		if written[path] != file {
			t.Errorf("%q is written as %q, want %q", path, written[path], file)
		}
	}
	// Nothing beside the directory.
	if beside, _ := os.ReadDir(temp); len(beside) != 1 || filepath.Join(temp, beside[0].Name()) != out.Directory {
		t.Errorf("%v", beside)
	}
}

// TestSelectedTricks: what is asked for by name and cannot be given fails the
// call, with nothing left.
func TestSelectedTricks(t *testing.T) {
	s := serve(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	path := tarOf(t, &tar.Header{Name: "good"}, &tar.Header{Name: "../up"}, &tar.Header{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/etc"})
	for name, kind := range map[string]fault.ArtifactEntryUnavailableDetailsKind{"../up": "unsafe_name", "link": "not_regular", "absent": "not_found"} {
		_, f := s.extract(t, values{"path": path, "select": []string{"good", name}})
		if f == nil || f.Code != fault.ArtifactEntryUnavailableCode || f.Details.(*fault.ArtifactEntryUnavailableDetails).Kind != kind {
			t.Errorf("%s: %v", name, f)
		}
		if left, _ := os.ReadDir(temp); len(left) > 0 {
			t.Errorf("%s: %v is left", name, left)
		}
	}
}

func TestNestedExtraction(t *testing.T) {
	s := serve(t)
	inner, err := os.ReadFile(zipOf(t, entry{name: "dir/x", text: "x"}, entry{name: "y", text: "y"}))
	if err != nil {
		t.Fatal(err)
	}
	path := zipOf(t, entry{name: "in.zip", text: string(inner)}, entry{name: "z", text: "z"})
	for _, tt := range []struct {
		input values
		want  []string
	}{
		{values{}, []string{"in.zip", "z"}},
		{values{"nested": true}, []string{"in.zip", "in.zip!/dir/x", "in.zip!/y", "z"}},
		{values{"select": []string{"in.zip!/dir"}}, []string{"in.zip!/dir/x"}},
		{values{"select": []string{"in.zip!/dir/x", "z"}}, []string{"in.zip!/dir/x", "z"}},
		{values{"select": []string{"in.zip"}}, []string{"in.zip"}},
	} {
		tt.input["path"] = path
		out, f := s.extract(t, tt.input)
		if f != nil {
			t.Fatal(f)
		}
		files := onDisk(t, out.Directory)
		for _, name := range tt.want {
			if _, ok := files[name]; !ok {
				t.Errorf("%v: %s is missing", tt.input, name)
			}
		}
		if len(files) != len(tt.want) {
			t.Errorf("%v: %d files", tt.input, len(files))
		}
	}
}

// TestExtractionCancelled leaves nothing.
func TestExtractionCancelled(t *testing.T) {
	s := serve(t)
	path := zipOf(t, entry{name: "large", text: strings.Repeat("some text that is repeated ", 1<<20)}, entry{name: "other", text: strings.Repeat("x", 20<<20)})
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	args, _ := json.Marshal(values{"path": path})
	for _, after := range []int{0, 5, 20, 50, 100} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(after)*time.Millisecond)
		begin := time.Now()
		out, err := s.d.Call(ctx, "extract_artifact", args)
		cancel()
		if took := time.Since(begin) - time.Duration(after)*time.Millisecond; err != nil && took > 200*time.Millisecond {
			t.Errorf("after %d ms it took %v to end", after, took)
		}
		if err == nil { // it was faster
			os.RemoveAll(directoryOf(t, out.Document))
		}
		if left, _ := os.ReadDir(temp); len(left) > 0 {
			t.Errorf("after %d ms %v is left (%v)", after, left, err)
		}
	}
}

func directoryOf(t testing.TB, document []byte) string {
	var got struct{ Result struct{ Directory string } }
	if err := json.Unmarshal(document, &got); err != nil || got.Result.Directory == "" {
		t.Fatalf("%s (%v)", document, err)
	}
	return got.Result.Directory
}
