package evidence

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func export(t testing.TB, l *Ledger) []byte {
	t.Helper()
	v := l.View()
	defer v.Close()
	var out bytes.Buffer
	info, err := v.WriteBundle(context.Background(), &out)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(out.Bytes())
	if info.Records != l.Len() || info.Bytes != int64(out.Len()) || v.Size() != info.Bytes || info.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("info %+v of %d bytes, size %d", info, out.Len(), v.Size())
	}
	return out.Bytes()
}

func importing(l *Ledger, doc []byte) (ImportInfo, error) {
	return l.Import(context.Background(), bytes.NewReader(doc), DefaultImportLimits)
}

func TestBundle_round_trip(t *testing.T) {
	for name, count := range map[string]int{"empty": 0, "one": 1, "many": 40} {
		t.Run(name, func(t *testing.T) {
			from := NewLedger(t.TempDir(), 4000)
			records := fill(t, from, count, 300)
			doc := export(t, from)
			if canonical, err := Canonical(doc); err != nil || !bytes.Equal(canonical, doc) {
				t.Errorf("the bundle is not canonical: %v", err)
			}
			to := NewLedger(t.TempDir(), 4000)
			for _, r := range records[:count/4] {
				if _, err := to.Append(r); err != nil {
					t.Fatal(err)
				}
			}
			info, err := to.Import(context.Background(), iotest.OneByteReader(bytes.NewReader(doc)), DefaultImportLimits)
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(doc)
			if info.Added != count-count/4 || info.Records != count || info.Bytes != int64(len(doc)) || info.SHA256 != hex.EncodeToString(sum[:]) {
				t.Errorf("imported %+v", info)
			}
			if !bytes.Equal(export(t, to), doc) {
				t.Error("what was imported is exported differently")
			}
			from.Clear()
			to.Clear()
		})
	}
}

func TestBundle_view_outlives_a_clear(t *testing.T) {
	l := NewLedger(t.TempDir(), 1)
	fill(t, l, 5, 100)
	want := export(t, l)
	v := l.View()
	l.Clear()
	var out bytes.Buffer
	if _, err := v.WriteBundle(context.Background(), &out); err != nil || !bytes.Equal(out.Bytes(), want) {
		t.Errorf("the view changed when the ledger was cleared: %v", err)
	}
	v.Close()
}

func TestBundle_cancel(t *testing.T) {
	l := NewLedger(t.TempDir(), 1)
	fill(t, l, 5, 100)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	v := l.View()
	defer v.Close()
	if _, err := v.WriteBundle(ctx, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("writing gives %v", err)
	}
	to := NewLedger(t.TempDir(), 1)
	if _, err := to.Import(ctx, bytes.NewReader(export(t, l)), DefaultImportLimits); !errors.Is(err, context.Canceled) {
		t.Errorf("importing gives %v", err)
	}
	l.Clear()
}

// rejects imports doc and demands an integrity error and an untouched ledger.
func rejects(t *testing.T, what string, doc []byte) *IntegrityError {
	t.Helper()
	l := NewLedger(t.TempDir(), 1)
	_, err := importing(l, doc)
	e, ok := AsIntegrity(err)
	if !ok {
		t.Errorf("%s: error is %v", what, err)
		return &IntegrityError{}
	}
	if l.Len() != 0 {
		t.Errorf("%s: %d records were admitted", what, l.Len())
	}
	return e
}

func smallBundle(t testing.TB) []byte {
	l := NewLedger(t.TempDir(), 1<<20)
	fill(t, l, 3, 5)
	return export(t, l)
}

func TestImport_every_cut(t *testing.T) {
	doc := smallBundle(t)
	for i := range doc {
		if _, err := ReadBundle(context.Background(), bytes.NewReader(doc[:i]), DefaultImportLimits, func(*Record) error { return nil }); err == nil {
			t.Fatalf("cut at %d of %d is accepted", i, len(doc))
		} else if _, ok := AsIntegrity(err); !ok {
			t.Fatalf("cut at %d gives %v", i, err)
		}
	}
}

func TestImport_every_flip(t *testing.T) {
	doc := smallBundle(t)
	for i := range doc {
		for _, bit := range []byte{0x01, 0x20, 0x80} {
			changed := bytes.Clone(doc)
			changed[i] ^= bit
			if _, err := ReadBundle(context.Background(), bytes.NewReader(changed), DefaultImportLimits, func(*Record) error { return nil }); err == nil {
				t.Fatalf("byte %d (%q) changed by %#x is accepted", i, doc[i], bit)
			} else if _, ok := AsIntegrity(err); !ok {
				t.Fatalf("byte %d changed gives %v", i, err)
			}
		}
	}
}

func TestImport_rejects(t *testing.T) {
	doc := smallBundle(t)
	var parts struct{ Records []json.RawMessage }
	if err := json.Unmarshal(doc, &parts); err != nil {
		t.Fatal(err)
	}
	first, second := string(parts.Records[0]), string(parts.Records[1])
	var indented bytes.Buffer
	if err := json.Indent(&indented, doc, "", " "); err != nil {
		t.Fatal(err)
	}
	text := string(doc)
	for name, tt := range map[string]struct{ doc, pointer string }{
		"empty":              {"", ""},
		"null":               {"null", ""},
		"empty_object":       {"{}", ""},
		"array":              {"[" + text + "]", ""},
		"twice":              {text + text, ""},
		"line_break":         {text + "\n", ""},
		"indented":           {indented.String(), ""},
		"unknown_version":    {strings.Replace(text, `"bundle_version":1`, `"bundle_version":2`, 1), "/bundle_version"},
		"unknown_member":     {strings.Replace(text, `{"bundle`, `{"a":1,"bundle`, 1), ""},
		"member_at_the_end":  {strings.TrimSuffix(text, "}") + `,"z":1}`, "/z"},
		"members_reordered":  {`{"manifest":{},"bundle_version":1,"records":[]}`, ""},
		"manifest_count":     {strings.Replace(text, `"records":3`, `"records":2`, 1), "/manifest"},
		"record_left_out":    {strings.Replace(text, first+",", "", 1), "/manifest"},
		"records_swapped":    {strings.NewReplacer(first, second, second, first).Replace(text), "/records/1"},
		"record_twice":       {strings.Replace(text, second, first, 1), "/records/1"},
		"record_no_object":   {strings.Replace(text, second, "7", 1), "/records/1"},
		"record_with_spaces": {strings.Replace(text, `"operation":`, `"operation": `, 1), ""},
		"deep_record":        {strings.Replace(text, second, strings.Repeat("[", 9000)+strings.Repeat("]", 9000), 1), "/records/1"},
		"very_deep_record":   {strings.Replace(text, second, strings.Repeat("[", 100000), 1), "*"},
		"open_string":        {strings.Replace(text, second, `"`+strings.Repeat("x", 100000), 1), "*"},
	} {
		t.Run(name, func(t *testing.T) {
			if e := rejects(t, name, []byte(tt.doc)); tt.pointer != "*" && e.Pointer != tt.pointer {
				t.Errorf("rejected at %q (%s), want %q", e.Pointer, e.Reason, tt.pointer)
			}
		})
	}
}

func TestImport_bounds(t *testing.T) {
	doc := smallBundle(t)
	l := NewLedger(t.TempDir(), 1)
	for _, tt := range []struct {
		name   string
		limits ImportLimits
		ok     bool
	}{
		{"exact", ImportLimits{Bundle: int64(len(doc)), Record: 2000}, true},
		{"document", ImportLimits{Bundle: int64(len(doc)) - 1, Record: 2000}, false},
		{"record", ImportLimits{Bundle: 1 << 20, Record: 500}, false},
	} {
		_, err := l.Import(context.Background(), bytes.NewReader(doc), tt.limits)
		if _, integrity := AsIntegrity(err); integrity == tt.ok {
			t.Errorf("%s: error is %v", tt.name, err)
		}
	}
	// A record without an end is given up near the limit, not read to the end.
	endless := &endless{head: strings.NewReader(string(doc[:bytes.Index(doc, []byte(`"records":[`))+11]) + `"`)}
	_, err := l.Import(context.Background(), endless, ImportLimits{Bundle: 1 << 40, Record: 1 << 20})
	if e, ok := AsIntegrity(err); !ok || e.Pointer != "/records/0" {
		t.Errorf("a record without end gives %v", err)
	}
	if endless.n > 8<<20 {
		t.Errorf("read %d bytes of a record without end", endless.n)
	}
	l.Clear()
}

// endless is a head followed by the letter x.
type endless struct {
	head io.Reader
	n    int64
}

func (e *endless) Read(p []byte) (int, error) {
	n, err := e.head.Read(p)
	if err == nil {
		return n, nil
	}
	for i := range p {
		p[i] = 'x'
	}
	e.n += int64(len(p))
	return len(p), nil
}

func TestImport_reader_error_is_passed_on(t *testing.T) {
	broken := errors.New("cable")
	l := NewLedger(t.TempDir(), 1)
	src := io.MultiReader(bytes.NewReader(smallBundle(t)[:600]), iotest.ErrReader(broken))
	if _, err := l.Import(context.Background(), src, DefaultImportLimits); !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
}

func FuzzImport(f *testing.F) {
	doc := smallBundle(f)
	f.Add(doc)
	f.Add([]byte(`{"bundle_version":1,"manifest":{},"records":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var got [][]byte
		_, err := ReadBundle(context.Background(), bytes.NewReader(data), ImportLimits{Bundle: 1 << 20, Record: 1 << 16}, func(r *Record) error {
			got = append(got, r.Bytes())
			return nil
		})
		if err != nil {
			return
		}
		canonical, err := Canonical(data)
		if err != nil || !bytes.Equal(canonical, data) {
			t.Fatalf("accepted a bundle that is not canonical: %v", err)
		}
		if !slices.IsSortedFunc(got, func(a, b []byte) int {
			return strings.Compare(string(find(a, "evidence_id")), string(find(b, "evidence_id")))
		}) {
			t.Fatal("accepted records that are not sorted")
		}
	})
}
