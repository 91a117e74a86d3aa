package evidence

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"rea/runtime/evidence/publish"
)

// large is the JSON of a record of about size bytes, of the shape that tools
// return, with members that are not in canonical order.
func large(size int) []byte {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"function_%d","address":"0x%x","size":%d,"kind":"direct","callers":[1,2,3],"text":"mov eax, [rbx+%d]"}`, i, 0x401000+i*16, i*3, i)
	}
	return fmt.Appendf(nil, `{"schema_version":2,"operation":"list_procedures","predicate_type":"rea:test:1","normalized_result":{"total":1,"items":[%s]},
		"confidence":"observed","authority":"shipped-artifact","subject":null,"provider":{"id":"embedded","name":"E","version":null},
		"analysis_profile":null,"parameters":{},"limitations":[],"locations":[],"evidence_links":[],"environment":null,"raw_result":null}`, b.String())
}

// BenchmarkSeal is canonical form and identity of a record of 10 MB.
func BenchmarkSeal(b *testing.B) {
	doc := large(10 << 20)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Seal(doc); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVerify is the admission of a record of 10 MB.
func BenchmarkVerify(b *testing.B) {
	r, err := Seal(large(10 << 20))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(r.Bytes())))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Verify(r.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExport publishes a bundle of 2,000 records of 100 KB; compare with
// BenchmarkCopy, which publishes as many bytes from memory.
func BenchmarkExport(b *testing.B) {
	l := NewLedger(b.TempDir(), 0)
	defer l.Clear()
	fill(b, l, 2000, 100<<10)
	view := l.View()
	defer view.Close()
	b.SetBytes(view.Size())
	b.ReportAllocs()
	path := filepath.Join(b.TempDir(), "out")
	for b.Loop() {
		if _, err := publish.File(context.Background(), path, publish.Options{Overwrite: true}, func(w io.Writer) error {
			_, err := view.WriteBundle(context.Background(), w)
			return err
		}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCopy(b *testing.B) {
	part := bytes.Repeat([]byte("x"), 100<<10)
	b.SetBytes(int64(2000 * len(part)))
	path := filepath.Join(b.TempDir(), "out")
	for b.Loop() {
		if _, err := publish.File(context.Background(), path, publish.Options{Overwrite: true}, func(w io.Writer) error {
			for range 2000 {
				if _, err := w.Write(part); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkImport(b *testing.B) {
	l := NewLedger(b.TempDir(), 0)
	defer l.Clear()
	fill(b, l, 200, 100<<10)
	view := l.View()
	defer view.Close()
	var doc bytes.Buffer
	if _, err := view.WriteBundle(context.Background(), &doc); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(doc.Len()))
	b.ReportAllocs()
	for b.Loop() {
		to := NewLedger(b.TempDir(), 0)
		if _, err := to.Import(context.Background(), bytes.NewReader(doc.Bytes()), DefaultImportLimits); err != nil {
			b.Fatal(err)
		}
		to.Clear()
	}
}

func BenchmarkGet(b *testing.B) {
	l := NewLedger(b.TempDir(), 1)
	defer l.Clear()
	records := fill(b, l, 50, 100<<10)
	for i := 0; b.Loop(); i++ {
		if _, err := l.Get(records[i%len(records)].ID()); err != nil {
			b.Fatal(err)
		}
	}
}
