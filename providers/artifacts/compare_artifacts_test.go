package artifacts_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/evidence"
)

// rows are the changes by path.
func rows(c *tool.CompareArtifactsOutput) map[string]model.ArtifactChange {
	out := map[string]model.ArtifactChange{}
	for _, r := range c.Changes {
		if r.LeftPath != nil {
			out[*r.LeftPath] = r
		} else {
			out[*r.RightPath] = r
		}
	}
	return out
}

var full = values{"limit": 1000, "integrity_policy": "record-and-continue"}

func with(path string, more values) values {
	out := values{"path": path}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func TestCompare(t *testing.T) {
	s := serve(t)
	left := zipOf(t, entry{name: "same", text: "1"}, entry{name: "changed", text: "2"}, entry{name: "gone", text: "3"}, entry{name: "from/here", text: "moved content"}, entry{name: "mode", text: "5"})
	right := zipOf(t, entry{name: "same", text: "1"}, entry{name: "changed", text: "22"}, entry{name: "new", text: "4"}, entry{name: "to/there", text: "moved content"}, entry{name: "mode", text: "5", mode: 0o755})
	_, l := s.inspect(t, with(left, full))
	_, r := s.inspect(t, with(right, full))
	got := s.compare(t, retained(l), retained(r))
	if got.Status != tool.CompareArtifactsOutputStatusChanged {
		t.Errorf("status is %s", got.Status)
	}
	for path, want := range map[string]struct {
		status model.ArtifactChangeStatus
		facts  []string
	}{
		"same": {"unchanged", []string{}}, "changed": {"changed", []string{"content", "size"}}, "gone": {"removed", []string{}}, "new": {"added", []string{}},
		"from/here": {"moved", []string{}}, "mode": {"changed", []string{"mode"}},
	} {
		if row := rows(got)[path]; row.Status != want.status || !slices.Equal(row.Facts, want.facts) {
			t.Errorf("%s is %+v, want %+v", path, row, want)
		}
	}
	if row := rows(got)["from/here"]; row.RightPath == nil || *row.RightPath != "to/there" {
		t.Errorf("%+v", row)
	}
	if got.Total != 6 || got.Counts.Moved != 1 || got.Counts.Unchanged != 1 {
		t.Errorf("%+v", got.Counts)
	}
	// Inline records are the same thing.
	var inline [2]any
	for i, rec := range []*model.EvidenceRecord{l, r} {
		if err := json.Unmarshal(rec.AppendJSON(nil), &inline[i]); err != nil {
			t.Fatal(err)
		}
	}
	if again := s.compare(t, inline[0], inline[1]); again.Counts != got.Counts {
		t.Errorf("inline: %+v", again.Counts)
	}
	if same := s.compare(t, retained(l), retained(l)); same.Status != tool.CompareArtifactsOutputStatusUnchanged || same.Counts.Unchanged != 5 {
		t.Errorf("%+v", same)
	}
}

// TestCompareIncomplete: what a record does not list is not absent.
func TestCompareIncomplete(t *testing.T) {
	s := serve(t)
	left := zipOf(t, entry{name: "a", text: "1"}, entry{name: "b", text: "2"}, entry{name: "c", text: "3"})
	right := zipOf(t, entry{name: "a", text: "1"}, entry{name: "b", text: "2"}, entry{name: "d", text: "4"})
	_, l := s.inspect(t, with(left, values{"limit": 1}))
	_, r := s.inspect(t, with(right, full))
	got := s.compare(t, retained(l), retained(r))
	for _, path := range []string{"b", "d"} {
		if row := rows(got)[path]; row.Status != model.ArtifactChangeStatusUnknown || row.Reason == nil {
			t.Errorf("%s is %+v", path, row)
		}
	}
	if got.Counts.Added+got.Counts.Removed != 0 {
		t.Errorf("%+v", got.Counts)
	}
	// The digests of the whole inventories still tell that they differ, or not.
	if got.Status != tool.CompareArtifactsOutputStatusChanged {
		t.Errorf("status is %s", got.Status)
	}
	if same := s.compare(t, retained(l), retained(l)); same.Status != tool.CompareArtifactsOutputStatusUnchanged {
		t.Errorf("status of one with itself is %s", same.Status)
	}
	// A limited inventory proves nothing about what it left out.
	_, l = s.inspect(t, with(left, values{"max_entries": 2}))
	got = s.compare(t, retained(l), retained(r))
	if row := rows(got)["d"]; row.Status != model.ArtifactChangeStatusUnknown {
		t.Errorf("%+v", row)
	}
	if got.Status != tool.CompareArtifactsOutputStatusUnknown || got.Left.Complete {
		t.Errorf("%+v", got)
	}
	// Content that was not read is unknown, even of one name.
	_, l = s.inspect(t, with(left, values{"limit": 1000, "max_total_bytes": 1}))
	if row := rows(s.compare(t, retained(l), retained(r)))["b"]; row.Status != model.ArtifactChangeStatusUnknown {
		t.Errorf("%+v", row)
	}
}

// TestCompareContradiction: contradictory content is never unchanged.
func TestCompareContradiction(t *testing.T) {
	s := serve(t)
	sound := zipOf(t, entry{name: "a", text: "1"}, entry{name: "b", text: "2"})
	_, l := s.inspect(t, with(broken(t, sound), full))
	_, r := s.inspect(t, with(sound, full))
	for _, pair := range [][2]any{{retained(l), retained(r)}, {retained(r), retained(l)}, {retained(l), retained(l)}} {
		got := s.compare(t, pair[0], pair[1])
		if row := rows(got)["a"]; row.Status != model.ArtifactChangeStatusContradiction || row.Reason == nil {
			t.Errorf("%+v", row)
		}
		if got.Status != tool.CompareArtifactsOutputStatusContradiction || rows(got)["b"].Status != model.ArtifactChangeStatusUnchanged {
			t.Errorf("%+v", got)
		}
	}
}

// TestCompareContradictionOnAnotherPage: a contradiction that a record does not
// list as an occurrence is a row like any other.
func TestCompareContradictionOnAnotherPage(t *testing.T) {
	s := serve(t)
	sound := zipOf(t, entry{name: "a", text: "1"}, entry{name: "b", text: "2"})
	_, r := s.inspect(t, with(sound, full))
	for _, page := range []values{{"limit": 0}, {"limit": 1, "offset": 1}} {
		page["integrity_policy"] = "record-and-continue"
		_, l := s.inspect(t, with(broken(t, sound), page))
		for _, pair := range [][2]any{{retained(l), retained(r)}, {retained(r), retained(l)}, {retained(l), retained(l)}} {
			got := s.compare(t, pair[0], pair[1])
			if row := rows(got)["a"]; row.Status != model.ArtifactChangeStatusContradiction || row.Reason == nil || len(row.Facts) != 0 {
				t.Errorf("%v: %+v", page, row)
			}
			if got.Status != tool.CompareArtifactsOutputStatusContradiction || got.Counts.Contradiction != 1 {
				t.Errorf("%v: %s, %+v", page, got.Status, got.Counts)
			}
		}
	}
}

// TestCompareIncompleteMoves: a content that one record lists at another place
// may still be where it was; that the complete record does not have the other
// place is certain.
func TestCompareIncompleteMoves(t *testing.T) {
	s := serve(t)
	left := zipOf(t, entry{name: "z", text: "content"}, entry{name: "twice", text: "1"}, entry{name: "twice", text: "2"})
	right := zipOf(t, entry{name: "a", text: "content"}, entry{name: "twice", text: "2"}, entry{name: "z", text: "content"})
	_, l := s.inspect(t, with(left, full))
	_, r := s.inspect(t, with(right, values{"limit": 2}))
	for _, pair := range [][2]any{{retained(l), retained(r)}, {retained(r), retained(l)}} {
		got := s.compare(t, pair[0], pair[1])
		if c := got.Counts; c.Moved+c.Changed != 0 || c.Added+c.Removed != 1 || c.Unknown != 3 {
			t.Errorf("%+v", c)
		}
	}
}

func TestCompareRefusesOthers(t *testing.T) {
	s := serve(t)
	_, l := s.inspect(t, with(zipOf(t, entry{name: "a"}), full))
	out, f := s.call(t, "compare_artifacts", values{"left": retained(l), "right": retained(l)})
	if f != nil {
		t.Fatal(f)
	}
	other := values{"kind": "retained-evidence", "evidence_id": out.Record.ID().String()}
	if _, f := s.call(t, "compare_artifacts", values{"left": other, "right": retained(l)}); f == nil || f.Code != fault.EvidenceNotApplicableCode {
		t.Errorf("%v", f)
	}
}

// Inventories that are sealed well but say what an inventory cannot are refused
// where they say it.
func TestCompareRefusesFalseClaims(t *testing.T) {
	s := serve(t)
	_, l := s.inspect(t, with(zipOf(t, entry{name: "a"}), full))
	for pointer, change := range map[string]func(*model.EvidenceRecord){
		"/right/subject":        func(r *model.EvidenceRecord) { r.Subject.Digest.SHA256 = strings.Repeat("0", 64) },
		"/right/provider":       func(r *model.EvidenceRecord) { r.Provider.ID = "other" },
		"/right/authority":      func(r *model.EvidenceRecord) { r.Authority = "external-service" },
		"/right/predicate_type": func(r *model.EvidenceRecord) { r.PredicateType = "x" },
	} {
		forged, subject := *l, *l.Subject
		forged.Subject = &subject
		change(&forged)
		sealed, err := evidence.Seal(forged.AppendJSON(nil))
		if err != nil {
			t.Fatal(err)
		}
		_, f := s.call(t, "compare_artifacts", values{"left": retained(l), "right": json.RawMessage(sealed.Bytes())})
		if f == nil || f.Code != fault.EvidenceIntegrityMismatchCode || f.Details.(*fault.EvidenceIntegrityMismatchDetails).Pointer != pointer {
			t.Errorf("%s: %v", pointer, f)
		}
	}
}
