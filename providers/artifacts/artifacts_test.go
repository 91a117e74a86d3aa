package artifacts_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/generated/wire"
	"rea/providers/artifacts"
	"rea/runtime/dispatch"
	"rea/runtime/evidence"
	"rea/runtime/session"
)

// server is a session whose calls go the way that clients' calls go.
type server struct{ d *dispatch.Dispatcher }

func serve(t testing.TB) *server {
	sess := session.New(session.Config{Version: "test", Ledger: evidence.NewLedger("", 0)})
	t.Cleanup(func() { sess.Close(context.Background(), nil) })
	return &server{dispatch.New(dispatch.Config{Session: sess, Bindings: tool.Bindings(tool.Families{Artifacts: artifacts.New()}), Version: "test"})}
}

func (s *server) call(t testing.TB, name string, input any) (*dispatch.Outcome, *fault.Error) {
	t.Helper()
	args, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.d.Call(t.Context(), name, args)
	if err == nil {
		return out, nil
	}
	f, ok := err.(*fault.Error)
	if !ok {
		t.Fatalf("%s: %v is no fault", name, err)
	}
	return nil, f
}

type values = map[string]any

// inspect gives the result of a record and its id.
func (s *server) inspect(t testing.TB, input values) (*tool.InspectArtifactOutput, *model.EvidenceRecord) {
	t.Helper()
	out, f := s.call(t, "inspect_artifact", input)
	if f != nil {
		t.Fatal(f)
	}
	record, err := out.Record.Decode()
	if err != nil {
		t.Fatal(err)
	}
	var got tool.InspectArtifactOutput
	if err := wire.Decode(record.NormalizedResult, wire.RecordDepth, &got, (*tool.InspectArtifactOutput).DecodeJSON); err != nil {
		t.Fatal(err)
	}
	return &got, record
}

func (s *server) extract(t testing.TB, input values) (*tool.ExtractArtifactOutputResult, *fault.Error) {
	t.Helper()
	out, f := s.call(t, "extract_artifact", input)
	if f != nil {
		return nil, f
	}
	var got tool.ExtractArtifactOutput
	if err := wire.Decode(out.Document, wire.RecordDepth, &got, (*tool.ExtractArtifactOutput).DecodeJSON); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(got.Result.Directory) })
	return &got.Result, nil
}

func (s *server) compare(t testing.TB, left, right any) *tool.CompareArtifactsOutput {
	t.Helper()
	out, f := s.call(t, "compare_artifacts", values{"left": left, "right": right, "include_unchanged": true})
	if f != nil {
		t.Fatal(f)
	}
	record, err := out.Record.Decode()
	if err != nil {
		t.Fatal(err)
	}
	var got tool.CompareArtifactsOutput
	if err := wire.Decode(record.NormalizedResult, wire.RecordDepth, &got, (*tool.CompareArtifactsOutput).DecodeJSON); err != nil {
		t.Fatal(err)
	}
	return &got
}

func retained(r *model.EvidenceRecord) values {
	return values{"kind": "retained-evidence", "evidence_id": r.EvidenceID}
}

type entry struct {
	name, text string
	mode       fs.FileMode
}

func zipOf(t testing.TB, entries ...entry) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(e.mode | 0o644)
		out, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		out.Write([]byte(e.text))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file(t, b.Bytes())
}

func tarOf(t testing.TB, headers ...*tar.Header) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		if h.Typeflag == 0 {
			h.Typeflag, h.Size = tar.TypeReg, 4
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			w.Write([]byte("text"))
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file(t, b.Bytes())
}

func file(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "artifact.bin")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// broken changes the declared CRC-32 of the first entry.
func broken(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[bytes.Index(data, []byte("PK\x01\x02"))+16] ^= 0xff
	return file(t, data)
}

func TestInspectPages(t *testing.T) {
	s := serve(t)
	var entries []entry
	for i := range 25 {
		entries = append(entries, entry{name: fmt.Sprintf("f%02d", i), text: fmt.Sprint(i % 5)})
	}
	path := zipOf(t, entries...)
	whole, record := s.inspect(t, values{"path": path, "limit": 1000})
	if whole.Occurrences.Total != 25 || whole.Artifacts.Total != 6 || whole.Edges.Total != 5 || !whole.Complete || whole.Counts.Files != 25 {
		t.Fatalf("%+v", whole.Counts)
	}
	for _, e := range whole.Edges.Items {
		if e.Count != 5 || e.Parent != *whole.Root.SHA256 {
			t.Errorf("%+v", e)
		}
	}
	if record.Subject == nil || record.Subject.Digest.SHA256 != *whole.Root.SHA256 || *record.Subject.Format != "zip" {
		t.Errorf("subject is %+v", record.Subject)
	}
	var seen []string
	for offset := int64(0); ; {
		page, r := s.inspect(t, values{"path": path, "limit": 7, "offset": offset, "artifact_limit": 0, "edge_limit": 1})
		if page.InventorySHA256 != whole.InventorySHA256 || page.Counts != whole.Counts || len(page.Artifacts.Items) != 0 || len(page.Edges.Items) != 1 {
			t.Errorf("a page changes the inventory: %+v", page)
		}
		if !strings.Contains(strings.Join(r.Limitations, "\n"), "artifacts: 0 of 6 are given") {
			t.Errorf("limitations are %q", r.Limitations)
		}
		for _, o := range page.Occurrences.Items {
			seen = append(seen, o.Path)
		}
		if page.Occurrences.NextOffset == nil {
			break
		}
		offset = *page.Occurrences.NextOffset
	}
	if len(seen) != 25 || seen[0] != "f00" || seen[24] != "f24" {
		t.Errorf("%d rows", len(seen))
	}
}

// TestIdentity: the same bytes give the same record wherever they lie.
func TestIdentity(t *testing.T) {
	s := serve(t)
	path := zipOf(t, entry{name: "a", text: "x"}, entry{name: "b/c", text: "y"})
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, one := s.inspect(t, values{"path": path})
	_, two := s.inspect(t, values{"path": file(t, data)})
	if one.EvidenceID != two.EvidenceID {
		t.Errorf("%s and %s", one.EvidenceID, two.EvidenceID)
	}
}

func TestIntegrityFails(t *testing.T) {
	s := serve(t)
	path := broken(t, zipOf(t, entry{name: "bad", text: "content"}, entry{name: "good", text: "content"}))
	for _, name := range []string{"inspect_artifact", "extract_artifact"} {
		_, f := s.call(t, name, values{"path": path})
		if f == nil || f.Code != fault.ArtifactIntegrityMismatchCode {
			t.Fatalf("%s: %v", name, f)
		}
		d := f.Details.(*fault.ArtifactIntegrityMismatchDetails)
		if d.Path != "bad" || d.Algorithm != "crc32" || d.Operation != name || !strings.Contains(f.Remediation.Action, "record-and-continue") {
			t.Errorf("%s: %+v, %q", name, d, f.Remediation.Action)
		}
	}
	got, _ := s.inspect(t, values{"path": path, "integrity_policy": "record-and-continue"})
	if len(got.IntegrityContradictions) != 1 {
		t.Fatalf("%+v", got.IntegrityContradictions)
	}
	c := got.IntegrityContradictions[0]
	if c.Path != "bad" || c.ContainerSHA256 == nil || *c.ContainerSHA256 != *got.Root.SHA256 || !c.Quarantined || c.Unpacked || c.ObservedSHA256 == nil || got.Counts.Mismatched != 1 {
		t.Errorf("%+v", c)
	}
	out, f := s.extract(t, values{"path": path, "integrity_policy": "record-and-continue"})
	if f != nil {
		t.Fatal(f)
	}
	if len(out.Files) != 2 || len(out.IntegrityContradictions) != 1 || out.Files[0].HashStatus != model.ArtifactHashStatusMismatched {
		t.Errorf("%+v", out)
	}
}

// asarOf makes an archive with one packed file and one beside it.
func asarOf(t testing.TB, packed, declared string) string {
	t.Helper()
	header := fmt.Sprintf(`{"files":{"main.js":{"size":%d,"offset":"0"},"native.node":{"size":6,"unpacked":true,"integrity":{"algorithm":"SHA256","hash":"%s","blockSize":4194304,"blocks":["%s"]}}}}`,
		len(packed), declared, declared)
	padded := (len(header) + 3) / 4 * 4
	b := make([]byte, 16)
	for i, v := range []int{4, padded + 8, padded + 4, len(header)} {
		binary.LittleEndian.PutUint32(b[4*i:], uint32(v))
	}
	b = append(append(append(b, header...), make([]byte, padded-len(header))...), packed...)
	path := filepath.Join(t.TempDir(), "app.asar")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestUnpackedNative: the usual cause of such a mismatch is named with the
// operation to repeat, and an absent companion is unavailable.
func TestUnpackedNative(t *testing.T) {
	s := serve(t)
	path := asarOf(t, "main();", strings.Repeat("ab", 32))
	if err := os.Mkdir(path+".unpacked", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".unpacked/native.node", []byte("signed"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, f := s.call(t, "extract_artifact", values{"path": path})
	if f == nil || f.Code != fault.ArtifactIntegrityMismatchCode {
		t.Fatal(f)
	}
	d := f.Details.(*fault.ArtifactIntegrityMismatchDetails)
	if !d.Unpacked || !strings.Contains(d.Cause, "sign or strip") || d.Operation != "extract_artifact" || d.Path != "native.node" {
		t.Errorf("%+v", d)
	}
	out, f := s.extract(t, values{"path": path, "integrity_policy": "record-and-continue"})
	if f != nil || len(out.Files) != 2 || len(out.IntegrityContradictions) != 1 || out.IntegrityContradictions[0].Cause == nil || !out.IntegrityContradictions[0].Unpacked {
		t.Fatalf("%+v (%v)", out, f)
	}
	if b, err := os.ReadFile(filepath.Join(out.Directory, "native.node")); err != nil || string(b) != "signed" {
		t.Errorf("%q (%v)", b, err)
	}
	if err := os.Remove(path + ".unpacked/native.node"); err != nil {
		t.Fatal(err)
	}
	for _, policy := range []string{"fail", "record-and-continue"} {
		_, f = s.extract(t, values{"path": path, "integrity_policy": policy})
		if f == nil || f.Code != fault.ArtifactEntryUnavailableCode || f.Category != "unavailable" || f.Details.(*fault.ArtifactEntryUnavailableDetails).Path != "native.node" {
			t.Errorf("%s: %v", policy, f)
		}
	}
	// What is not asked for may be absent.
	if out, f = s.extract(t, values{"path": path, "select": []string{"main.js"}}); f != nil || len(out.Files) != 1 {
		t.Errorf("%+v (%v)", out, f)
	}
}

func TestRefusedInputs(t *testing.T) {
	s := serve(t)
	for _, tt := range []struct {
		tool  string
		input values
		code  fault.Code
	}{
		{"inspect_artifact", values{"path": filepath.Join(t.TempDir(), "missing")}, fault.ArtifactOperationFailedCode},
		{"extract_artifact", values{"path": filepath.Join(t.TempDir(), "missing")}, fault.ArtifactOperationFailedCode},
		{"inspect_artifact", values{"path": "/dev/null"}, fault.ArtifactOperationFailedCode},
		{"extract_artifact", values{"path": zipOf(t, entry{name: "a"}), "select": []string{"b"}}, fault.ArtifactEntryUnavailableCode},
		{"compare_artifacts", values{"left": values{"kind": "retained-evidence", "evidence_id": "ev_" + strings.Repeat("0", 64)}, "right": values{"kind": "retained-evidence", "evidence_id": "ev_" + strings.Repeat("1", 64)}}, fault.EvidenceNotFoundCode},
	} {
		if _, f := s.call(t, tt.tool, tt.input); f == nil || f.Code != tt.code {
			t.Errorf("%s %v: %v, want %s", tt.tool, tt.input, f, tt.code)
		}
	}
}
