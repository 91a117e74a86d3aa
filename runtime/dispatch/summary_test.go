package dispatch_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/binary"
	evidencefamily "rea/providers/evidence"
	"rea/providers/format/native"
	"rea/runtime/dispatch"
	"rea/runtime/evidence"
	"rea/runtime/session"
)

// layouts is a dispatcher of the real tools with the running test program open.
func layouts(t *testing.T, ephemeral bool) *dispatch.Dispatcher {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	s := session.New(session.Config{
		Recognize: func(_ string, data []byte, slice string) (session.Recognition, error) {
			im, err := native.Load(data, native.Options{Slice: slice})
			if err != nil {
				return session.Recognition{}, err
			}
			return session.Recognition{Kind: model.TargetKind(im.Kind), Format: model.TargetFormat(im.Format), Architecture: model.Architecture(im.Arch)}, nil
		},
		Ledger: evidence.NewLedger(t.TempDir(), 0),
	})
	if _, err := s.Open(t.Context(), session.OpenRequest{Path: filepath.Clean(path)}); err != nil {
		t.Skipf("%s: %v", runtime.GOOS, err)
	}
	return dispatch.New(dispatch.Config{
		Session: s, Version: "1.2.3", Ephemeral: ephemeral,
		Bindings: tool.Bindings(tool.Families{
			Binary:   binary.New(session.Target),
			Evidence: evidencefamily.New(evidencefamily.Config{Session: s}),
		}),
	})
}

func TestDetail_summary_keeps_the_complete_record(t *testing.T) {
	d := layouts(t, false)
	summary, err := d.Call(t.Context(), "inspect_binary_layout", []byte(`{"detail":"summary","symbol_limit":20}`))
	if err != nil {
		t.Fatal(err)
	}
	record, err := summary.Record.Decode()
	if err != nil {
		t.Fatal(err)
	}
	view, ok := summary.Output.(*tool.InspectAnalysisViewOutput)
	if !ok || record.Operation != "inspect_analysis_view" || view.ParentOperation != "inspect_binary_layout" || view.View != "summary" {
		t.Fatalf("%s with %T", record.Operation, summary.Output)
	}
	if !slices.Equal(record.EvidenceLinks, []string{view.ParentEvidenceID}) {
		t.Errorf("links %v, parent %s", record.EvidenceLinks, view.ParentEvidenceID)
	}
	parent, err := d.Retained(view.ParentEvidenceID)
	if err != nil {
		t.Fatal(err)
	}
	complete, err := d.Call(t.Context(), "inspect_binary_layout", []byte(`{"symbol_limit":20}`))
	if err != nil {
		t.Fatal(err)
	}
	if complete.Record.ID().String() != parent.EvidenceID {
		t.Errorf("the complete call sealed %s, the summary kept %s", complete.Record.ID(), parent.EvidenceID)
	}
	if n := d.Session().Ledger().Len(); n != 2 {
		t.Errorf("%d records are held, want the complete one and its view", n)
	}
}

func TestDetail_summary_needs_retention(t *testing.T) {
	d := layouts(t, true)
	_, err := d.Call(t.Context(), "inspect_binary_layout", []byte(`{"detail":"summary"}`))
	if fault.CodeOf(err) != fault.CapabilityUnavailableCode {
		t.Errorf("error %v", err)
	}
	if d.Session().Ledger().Len() != 0 {
		t.Error("something was recorded")
	}
	if _, err := d.Call(t.Context(), "inspect_binary_layout", []byte(`{"detail":"complete"}`)); err != nil {
		t.Error(err)
	}
}

// TestOptional_path works on the open target when no file is named.
func TestOptional_path(t *testing.T) {
	d := layouts(t, false)
	out, err := d.Call(t.Context(), "inspect_go_binary", nil)
	if err != nil {
		t.Fatal(err)
	}
	record, err := out.Record.Decode()
	if err != nil {
		t.Fatal(err)
	}
	bound, release := d.Session().Acquire()
	sum, path := bound.Target.SHA256, bound.Target.Path
	release()
	if record.Subject == nil || record.Subject.Digest.SHA256 != sum {
		t.Errorf("subject %+v, want %s", record.Subject, sum)
	}
	named, err := d.Call(t.Context(), "inspect_go_binary", fmt.Appendf(nil, `{"path":%q}`, path))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(named.Record.Member("parameters")), "path") {
		t.Errorf("a local path is a parameter: %s", named.Record.Member("parameters"))
	}
	if _, err := d.Session().Close(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Call(t.Context(), "inspect_go_binary", nil); fault.CodeOf(err) != fault.NoTargetOpenCode {
		t.Errorf("nothing open: %v", err)
	}
}
