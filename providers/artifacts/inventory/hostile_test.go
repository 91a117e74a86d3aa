package inventory_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"rea/providers/artifacts/inventory"
	"rea/providers/format/container"
)

type file struct {
	name string
	data []byte
}

func zipped(t testing.TB, method uint16, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		out, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		out.Write(f.data)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarred(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Size: int64(len(f.data)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		w.Write(f.data)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func written(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "artifact")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// items are all of an inventory, by logical path.
func items(res *inventory.Result) map[string]*inventory.Item {
	out := map[string]*inventory.Item{}
	var add func(n *inventory.Node)
	add = func(n *inventory.Node) {
		if n == nil {
			return
		}
		for _, it := range n.Items {
			out[it.Path] = it
			add(it.Inside)
		}
	}
	add(res.Root.Inside)
	return out
}

func limited(res *inventory.Result, name string) *inventory.Limit {
	for i := range res.Limits {
		if res.Limits[i].Name == name {
			return &res.Limits[i]
		}
	}
	return nil
}

// TestPaths: nested entries have logical paths with exactly one reading.
func TestPaths(t *testing.T) {
	inner := zipped(t, zip.Deflate, file{"dir/x", []byte("x")}, file{"odd!/name", []byte("y")}, file{"back\\slash", []byte("z")}, file{"\xff\x01", []byte("w")})
	data := tarred(t, file{"a/in.zip", inner}, file{"plain.gz", gzipped([]byte("text"))}, file{"t.tgz", gzipped(tarred(t, file{"deep", []byte("d")}))})
	got := items(walk(t, written(t, gzipped(data)), inventory.Options{}))
	for _, want := range []string{
		"!/", "a/in.zip", "a/in.zip!/dir/x", `a/in.zip!/odd\x21/name`, `a/in.zip!/back\\slash`, `a/in.zip!/\xff\x01`, "plain.gz", "plain.gz!/", "t.tgz", "t.tgz!/", "t.tgz!/deep",
	} {
		if got[want] == nil {
			t.Errorf("%q is missing", want)
			continue
		}
		if want != "!/" && container.Unescape(want) != want && container.Escape(container.Unescape(want[len("a/in.zip!/"):])) != want[len("a/in.zip!/"):] {
			t.Errorf("%q does not survive", want)
		}
	}
	if len(got) != 11 {
		t.Errorf("%d entries", len(got))
	}
}

// TestBrokenCRC: an entry whose bytes contradict its checksum stops a walk that
// fails closed; otherwise it is recorded, not expanded, and others go on.
func TestBrokenCRC(t *testing.T) {
	inner := zipped(t, zip.Store, file{"inside", []byte("content")})
	for name, method := range map[string]uint16{"stored": zip.Store, "deflated": zip.Deflate} {
		data := zipped(t, method, file{"bad.zip", inner}, file{"good.zip", inner})
		at := bytes.Index(data, []byte("PK\x01\x02"))
		data[at+16] ^= 0xff // the CRC-32 of the first entry
		path := written(t, data)
		_, err := inventory.Walk(t.Context(), path, inventory.Options{Bounds: bounds})
		var bad *inventory.Mismatch
		if !errors.As(err, &bad) || bad.Item.Path != "bad.zip" || bad.Check.Algorithm != container.CRC32 || bad.Check.Declared == bad.Check.Observed {
			t.Errorf("%s: %v", name, err)
		}
		got := items(walk(t, path, inventory.Options{Continue: true}))
		if it := got["bad.zip"]; it.Status != inventory.Mismatched || !it.Quarantined || it.Inside != nil || it.SHA256 == "" {
			t.Errorf("%s: %+v", name, it)
		}
		if it := got["good.zip!/inside"]; it == nil || it.Status != inventory.Verified {
			t.Errorf("%s: the sibling is %+v", name, it)
		}
	}
}

// TestBrokenGzip: a checksum behind the content takes back what was expanded.
func TestBrokenGzip(t *testing.T) {
	data := gzipped(tarred(t, file{"inside", []byte("content")}))
	data[len(data)-8] ^= 0xff
	res := walk(t, written(t, data), inventory.Options{Continue: true})
	got := items(res)
	if len(got) != 1 || got["!/"].Status != inventory.Mismatched || !got["!/"].Quarantined || got["!/"].Inside != nil {
		t.Errorf("%+v", got["!/"])
	}
	if _, err := inventory.Walk(t.Context(), written(t, data), inventory.Options{Bounds: bounds}); err == nil {
		t.Error("a broken checksum passes")
	}
}

// TestRatioLie: an entry that declares fewer bytes than it has is a
// contradiction of its size.
func TestRatioLie(t *testing.T) {
	data := zipped(t, zip.Deflate, file{"a", bytes.Repeat([]byte("text"), 1000)})
	binary.LittleEndian.PutUint32(data[bytes.Index(data, []byte("PK\x01\x02"))+24:], 10)
	it := items(walk(t, written(t, data), inventory.Options{Continue: true}))["a"]
	if it.Status != inventory.Mismatched || it.Size != 4000 || it.Declared != 10 {
		t.Errorf("%+v", it)
	}
}

// zeros is an archive of so many of them.
func zeros(t testing.TB, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestSpeed) })
	out, err := w.Create("zeros")
	if err != nil {
		t.Fatal(err)
	}
	for chunk := make([]byte, 1<<20); n > 0; n -= len(chunk) {
		out.Write(chunk)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRepetitive: a file that is honest and very repetitive is read.
func TestRepetitive(t *testing.T) {
	res := walk(t, written(t, zeros(t, 200<<20)), inventory.Options{})
	if it := items(res)["zeros"]; it.Status != inventory.Verified || len(res.Limits) > 0 {
		t.Errorf("%+v, %+v", it, res.Limits)
	}
}

// TestQuine: a disk whose partition is the disk itself is not read for ever.
func TestQuine(t *testing.T) {
	disk := make([]byte, 64<<10)
	copy(disk[512:], "EFI PART")
	binary.LittleEndian.PutUint64(disk[512+72:], 2) // the rows' sector
	binary.LittleEndian.PutUint32(disk[512+80:], 1)
	binary.LittleEndian.PutUint32(disk[512+84:], 128)
	disk[1024] = 1                                              // a type
	binary.LittleEndian.PutUint64(disk[1024+40:], 64<<10/512-1) // from the first sector to the last
	for path, data := range map[string][]byte{"": disk, "disk!/": zipped(t, zip.Store, file{"disk", disk}), "d.gz!/": zipped(t, zip.Store, file{"d.gz", gzipped(disk)})} {
		res := walk(t, written(t, data), inventory.Options{})
		it := items(res)[path+"1 00000001-0000-0000-0000-000000000000"]
		if it == nil || it.Inside != nil || !strings.Contains(strings.Join(it.Notes, "\n"), "one of the containers around itself") || limited(res, inventory.LimitDepth) != nil {
			t.Errorf("%q: %+v, %d containers", path, it, res.Expanded)
		}
	}
}

// TestDirectoryOfBombs: every file of a directory is held to its own size.
func TestDirectoryOfBombs(t *testing.T) {
	data := zipped(t, zip.Deflate, file{"zeros", make([]byte, 8<<20)})
	for range 2 {
		var level []file
		for i := range 16 {
			level = append(level, file{fmt.Sprintf("f%d.zip", i), data})
		}
		data = zipped(t, zip.Deflate, level...)
	}
	path := written(t, data) // 16² × 8 MiB = 2 GiB
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "b"), []byte("plain"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := bounds
	b.TotalFloor = 64 << 20
	res := walk(t, filepath.Dir(path), inventory.Options{Bounds: b})
	if limited(res, inventory.LimitRatio) == nil || res.Bytes > 100<<20 || items(res)["b"].Status != inventory.Observed {
		t.Errorf("%d bytes read, %+v", res.Bytes, res.Limits)
	}
}

// TestSparseTricks: holes of any size cost nothing, and a map that contradicts
// itself is damage.
func TestSparseTricks(t *testing.T) {
	sparse := func(records map[string]string, data string) []byte {
		var b bytes.Buffer
		var pax strings.Builder
		for _, k := range []string{"GNU.sparse.major", "GNU.sparse.minor", "GNU.sparse.name", "GNU.sparse.realsize", "size"} {
			v, ok := records[k]
			if !ok {
				continue
			}
			n := len(k) + len(v) + 3
			for len(fmt.Sprint(n))+len(k)+len(v)+3 != n {
				n = len(fmt.Sprint(n)) + len(k) + len(v) + 3
			}
			fmt.Fprintf(&pax, "%d %s=%s\n", n, k, v)
		}
		block := func(kind byte, name string, content string) {
			h := make([]byte, 512)
			copy(h, name)
			copy(h[100:], "0000644\x000000000\x000000000\x00"+fmt.Sprintf("%011o\x00%011o\x00        %c", len(content), 0, kind))
			copy(h[257:], "ustar\x0000")
			sum := 0
			for _, c := range h {
				sum += int(c)
			}
			copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
			b.Write(append(h, content...))
			b.Write(make([]byte, -len(content)&511))
		}
		block('x', "PaxHeaders/f", pax.String())
		block('0', "f", data)
		block('0', "after", "plain")
		b.Write(make([]byte, 1024))
		return b.Bytes()
	}
	list := func(lines ...int64) string {
		text := fmt.Sprintln(len(lines) / 2)
		for _, n := range lines {
			text += fmt.Sprintln(n)
		}
		return text + strings.Repeat("\x00", -len(text)&511)
	}
	with := func(size string) map[string]string {
		return map[string]string{"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "f", "GNU.sparse.realsize": size}
	}
	b := bounds
	b.TotalFloor = 32 << 20
	// Sound: a hole, then four bytes.
	got := items(walk(t, written(t, sparse(with("1028"), list(1024, 4)+"data")), inventory.Options{Bounds: b}))
	if it := got["f"]; it == nil || it.Size != 1028 || it.Status != inventory.Observed && it.Status != inventory.Verified || got["after"] == nil {
		t.Errorf("%+v", it)
	}
	// A hole of an exabyte.
	res := walk(t, written(t, sparse(with("1152921504606846976"), list(0, 4, 1<<60, 0)+"data")), inventory.Options{Bounds: b})
	if it := items(res)["f"]; it == nil || it.Status != inventory.NotHashed || res.Bytes > 64<<20 || items(res)["after"] == nil {
		t.Errorf("%+v, %d bytes read", it, res.Bytes)
	}
	for name, data := range map[string][]byte{
		"behind the end":  sparse(with("1028"), list(1<<40, 4)+"data"),
		"backwards":       sparse(with("1028"), list(512, 4, 0, 4)+"datadata"),
		"more than there": sparse(with("4096"), list(0, 2048)+"data"),
		"negative":        sparse(with("1028"), list(-4, 4)+"data"),
		"no numbers":      sparse(with("1028"), "one\ntwo\n"+strings.Repeat("\x00", 504)),
		"no size":         sparse(with("-1"), list(0, 4)+"data"),
	} {
		res := walk(t, written(t, data), inventory.Options{Bounds: b, Continue: true})
		it := items(res)["f"]
		if n := res.Root.Inside; n == nil || n.Failed == nil && (it == nil || it.Status != inventory.Unreadable && it.Status != inventory.Mismatched) {
			t.Errorf("%s: %+v, %+v", name, it, n)
		}
	}
}

// TestBomb: content of a thousandfold size is not read to its end.
func TestBomb(t *testing.T) {
	bomb := zeros(t, 100<<20)
	res := walk(t, written(t, zipped(t, zip.Deflate, file{"bomb.zip", bomb}, file{"after", []byte("still read")})), inventory.Options{Bounds: inventory.Bounds{
		Depth: 16, Entries: 1000, EntryBytes: 1 << 40, TotalBytes: 1 << 40, Ratio: 100, PathBytes: 4096, Seconds: 60, EntryFloor: 16 << 20,
	}})
	got := items(res)
	if it := got["bomb.zip!/zeros"]; it.Status != inventory.NotHashed || it.Limit != inventory.LimitRatio || it.SHA256 != "" {
		t.Errorf("%+v", it)
	}
	if l := limited(res, inventory.LimitRatio); l == nil || l.At != "bomb.zip!/zeros" || l.LeftOut != 1 || l.Value != 100 {
		t.Errorf("%+v", res.Limits)
	}
	if got["after"].Status != inventory.Verified || res.Bytes > 40<<20 {
		t.Errorf("%+v, %d bytes read", got["after"], res.Bytes)
	}
}

// TestNestedBombs: many archives of archives end at the bound over the whole.
func TestNestedBombs(t *testing.T) {
	data := zipped(t, zip.Deflate, file{"zeros", make([]byte, 8<<20)})
	for range 3 {
		var level []file
		for i := range 16 {
			level = append(level, file{fmt.Sprintf("f%d.zip", i), data})
		}
		data = zipped(t, zip.Deflate, level...)
	}
	begin := time.Now()
	b := bounds
	b.TotalFloor = 64 << 20
	res := walk(t, written(t, data), inventory.Options{Bounds: b}) // 16³ × 8 MiB = 32 GiB from some kilobytes
	if limited(res, inventory.LimitRatio) == nil || res.Bytes > 100<<20 {
		t.Errorf("%d bytes read, %+v", res.Bytes, res.Limits)
	}
	t.Logf("%d bytes in %v", res.Bytes, time.Since(begin))
}

// TestDepth: archives in archives end at the bound, which is named.
func TestDepth(t *testing.T) {
	data := zipped(t, zip.Store, file{"x", []byte("x")})
	for range 40 {
		data = zipped(t, zip.Store, file{"again.zip", data})
	}
	res := walk(t, written(t, data), inventory.Options{})
	if limited(res, inventory.LimitDepth) == nil || res.Expanded != bounds.Depth {
		t.Errorf("%d containers, %+v", res.Expanded, res.Limits)
	}
}

// TestOverlap: entries that share their bytes are told, and the bytes are
// counted for each.
func TestOverlap(t *testing.T) {
	data := zipped(t, zip.Deflate, file{"a", make([]byte, 1000)}, file{"b", make([]byte, 1000)})
	first := bytes.Index(data, []byte("PK\x01\x02"))
	second := first + 1 + bytes.Index(data[first+1:], []byte("PK\x01\x02"))
	copy(data[second+42:second+46], data[first+42:first+46])
	res := walk(t, written(t, data), inventory.Options{Continue: true})
	if notes := strings.Join(res.Root.Inside.Notes, "\n"); !strings.Contains(notes, "1 entries overlap") {
		t.Errorf("notes are %q", notes)
	}
}

// TestLimits: every bound is named with where it cut and what it left out, and
// what is before it does not depend on timing.
func TestLimits(t *testing.T) {
	var files []file
	for i := range 50 {
		files = append(files, file{fmt.Sprintf("f%02d", i), bytes.Repeat([]byte{byte(i)}, 1000)})
	}
	files = append(files, file{strings.Repeat("n", 300), []byte("long name")})
	path := written(t, zipped(t, zip.Deflate, files...))
	for _, tt := range []struct {
		name string
		set  func(b *inventory.Bounds)
		at   string
		left int64
	}{
		{inventory.LimitEntries, func(b *inventory.Bounds) { b.Entries = 10 }, "f10", -1},
		{inventory.LimitTotalBytes, func(b *inventory.Bounds) { b.TotalBytes = 10_500 }, "f10", 41},
		{inventory.LimitEntryBytes, func(b *inventory.Bounds) { b.EntryBytes = 500 }, "f00", 50},
		{inventory.LimitPathBytes, func(b *inventory.Bounds) { b.PathBytes = 100 }, "", 1},
	} {
		var before *inventory.Result
		for range 3 {
			b := bounds
			tt.set(&b)
			res := walk(t, path, inventory.Options{Bounds: b})
			if l := limited(res, tt.name); l == nil || l.At != tt.at && tt.name != inventory.LimitEntryBytes || l.LeftOut != tt.left {
				t.Errorf("%s: %+v", tt.name, res.Limits)
			}
			if before != nil && tt.name != inventory.LimitEntryBytes && !reflect.DeepEqual(before.Root, res.Root) {
				t.Errorf("%s: two walks differ", tt.name)
			}
			before = res
		}
	}
}

// TestSameTwice: parallel work gives one answer.
func TestSameTwice(t *testing.T) {
	inner := zipped(t, zip.Deflate, file{"x", []byte("x")}, file{"t.gz", gzipped([]byte("y"))})
	var files []file
	for i := range 100 {
		files = append(files, file{fmt.Sprintf("f%d.zip", i), inner}, file{fmt.Sprintf("g%d", i), bytes.Repeat([]byte{byte(i)}, i*100)})
	}
	path := written(t, zipped(t, zip.Deflate, files...))
	first := walk(t, path, inventory.Options{})
	for range 5 {
		if again := walk(t, path, inventory.Options{}); !reflect.DeepEqual(first, again) {
			t.Fatal("two walks differ")
		}
	}
}

// TestSelection: only what is selected is listed, and what leads to it is read.
func TestSelection(t *testing.T) {
	inner := zipped(t, zip.Deflate, file{"dir/a", []byte("a")}, file{"dir/b", []byte("b")}, file{"c", []byte("c")})
	archive := tarred(t, file{"in.zip", inner}, file{"other.zip", inner}, file{"dir/x", []byte("x")}, file{"dir2", []byte("y")})
	path, packed := written(t, archive), written(t, gzipped(archive))
	for _, tt := range []struct {
		selected []string
		want     []string
		missed   []string
	}{
		{[]string{"dir"}, []string{"dir/x"}, nil},
		{[]string{"dir/"}, []string{"dir/x"}, nil},
		{[]string{"in.zip!/dir"}, []string{"in.zip", "in.zip!/dir/a", "in.zip!/dir/b"}, nil},
		{[]string{"in.zip!/c", "nothing", "dir2"}, []string{"in.zip", "in.zip!/c", "dir2"}, []string{"nothing"}},
		{[]string{"other.zip"}, []string{"other.zip", "other.zip!/dir/a", "other.zip!/dir/b", "other.zip!/c"}, nil},
	} {
		res := walk(t, path, inventory.Options{Select: tt.selected})
		got := items(res)
		for _, p := range tt.want {
			if got[p] == nil {
				t.Errorf("%v: %s is missing", tt.selected, p)
			}
		}
		if len(got) != len(tt.want) || !reflect.DeepEqual(res.Missed, tt.missed) {
			t.Errorf("%v: %d entries, missed %v", tt.selected, len(got), res.Missed)
		}
		// The same in a compressed file, whose stream has no name.
		if got := items(walk(t, packed, inventory.Options{Select: tt.selected})); len(got) != len(tt.want)+1 || got["!/"] == nil {
			t.Errorf("%v: %d entries in the compressed file", tt.selected, len(got))
		}
	}
}

// TestCancel: a walk ends soon after its context does, wherever it is, and
// leaves nothing behind.
func TestCancel(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	noise := make([]byte, 24<<20)
	for i := range noise {
		noise[i] = byte(i * i >> 7)
	}
	inner := zipped(t, zip.Deflate, file{"noise", noise}, file{"zeros", make([]byte, 64<<20)})
	path := written(t, zipped(t, zip.Deflate, file{"a.zip", inner}, file{"b.zip", inner}, file{"c.tgz", gzipped(tarred(t, file{"n", noise}))}))
	for _, after := range []time.Duration{0, 5, 20, 50, 100, 150, 200, 300} {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := inventory.Walk(ctx, path, inventory.Options{Bounds: bounds})
			done <- err
		}()
		time.Sleep(after * time.Millisecond)
		begin := time.Now()
		cancel()
		err := <-done
		if d := time.Since(begin); d > 200*time.Millisecond {
			t.Errorf("after %d ms it took %v to end", after, d)
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("after %d ms: %v", after, err)
		}
		if left, _ := os.ReadDir(temp); len(left) > 0 {
			t.Errorf("after %d ms %v is left", after, left)
		}
	}
}

// TestDirectoryTricks: links are listed, not followed.
func TestDirectoryTricks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	dir := t.TempDir()
	for _, err := range []error{
		os.Symlink("/etc/passwd", filepath.Join(dir, "passwd")), os.Symlink("..", filepath.Join(dir, "up")), os.WriteFile(filepath.Join(dir, "no"), []byte("secret"), 0),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	got := items(walk(t, dir, inventory.Options{}))
	if len(got) != 3 || got["passwd"].Type != container.Symlink || got["passwd"].Link != "/etc/passwd" || got["up"].Type != container.Symlink {
		t.Errorf("%+v", got)
	}
	if os.Geteuid() != 0 && got["no"].Status != inventory.Unreadable {
		t.Errorf("a file that cannot be read is %+v", got["no"])
	}
}

// TestRefusedRoots: what is neither file nor directory is an error.
func TestRefusedRoots(t *testing.T) {
	if _, err := inventory.Walk(t.Context(), filepath.Join(t.TempDir(), "missing"), inventory.Options{Bounds: bounds}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := inventory.Walk(t.Context(), os.DevNull, inventory.Options{Bounds: bounds}); runtime.GOOS != "windows" && !errors.Is(err, inventory.ErrNotRegular) {
		t.Error(err)
	}
	res := walk(t, written(t, nil), inventory.Options{})
	if res.Root.Format != "empty" || res.Root.SHA256 != hex.EncodeToString([]byte("\xe3\xb0\xc4\x42\x98\xfc\x1c\x14\x9a\xfb\xf4\xc8\x99\x6f\xb9\x24\x27\xae\x41\xe4\x64\x9b\x93\x4c\xa4\x95\x99\x1b\x78\x52\xb8\x55")) {
		t.Errorf("%+v", res.Root)
	}
}
