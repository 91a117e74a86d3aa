package artifacts_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"rea/generated/fault"
	"rea/generated/tool"
	"rea/providers/artifacts"
	"rea/runtime/dispatch"
	"rea/runtime/evidence"
	"rea/runtime/session"
)

// standIn behaves as hdiutil does, with a directory for a volume. It writes down
// how it was called.
const standIn = `#!/bin/sh
echo "$@" >> "$LOG"
case $1 in
attach)
	[ -z "$FAIL_ATTACH" ] || { echo "hdiutil: attach failed - image not recognized" >&2; exit 1; }
	while [ $# -gt 1 ]; do [ "$1" = -mountroot ] && root=$2; shift; done
	mkdir "$root/Thing" && echo content > "$root/Thing/file"
	[ -z "$SLOW_ATTACH" ] || sleep 20
	echo '<plist><key>dev-entry</key><string>/dev/disk9s1</string><key>dev-entry</key><string>/dev/disk9</string></plist>' ;;
detach)
	[ -z "$FAIL_DETACH" ] || { echo busy >&2; exit 16; }
	rm -r "$TMPDIR"/rea-mount-*/* ;;
esac
`

func attaching(t *testing.T) (s *server, image string, calls func() []string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	dir, temp := t.TempDir(), t.TempDir()
	log := filepath.Join(dir, "log")
	t.Setenv("TMPDIR", temp)
	t.Setenv("LOG", log)
	program := filepath.Join(dir, "hdiutil")
	if err := os.WriteFile(program, []byte(standIn), 0o755); err != nil {
		t.Fatal(err)
	}
	image = filepath.Join(dir, "thing.dmg")
	if err := os.WriteFile(image, []byte("not read by rea"), 0o600); err != nil {
		t.Fatal(err)
	}
	sess := session.New(session.Config{Version: "test", Ledger: evidence.NewLedger("", 0)})
	t.Cleanup(func() { sess.Close(context.Background(), nil) })
	s = &server{dispatch.New(dispatch.Config{Session: sess, Bindings: tool.Bindings(tool.Families{Artifacts: artifacts.Attaching(program)}), Version: "test"})}
	return s, image, func() []string {
		b, _ := os.ReadFile(log)
		return strings.Split(strings.TrimSpace(string(b)), "\n")
	}
}

func empty(t *testing.T) {
	t.Helper()
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// TestMount: the volumes of an image are read while it is attached, read-only
// and out of sight, and it is detached as a whole.
func TestMount(t *testing.T) {
	s, image, calls := attaching(t)
	got, record := s.inspect(t, values{"path": image, "mount": true})
	var paths []string
	for _, o := range got.Occurrences.Items {
		paths = append(paths, o.Path)
	}
	if !slices.Equal(paths, []string{"Thing", "Thing/file"}) || got.Root.Size == nil || *got.Root.Size != 15 || record.Subject == nil || !strings.Contains(strings.Join(record.Limitations, "\n"), "file systems of macOS") {
		t.Errorf("%q, %+v, %q", paths, got.Root, record.Limitations)
	}
	log := calls()
	if len(log) != 2 || !strings.HasPrefix(log[0], "attach -readonly -nobrowse -noautoopen -plist -mountroot ") || !strings.HasSuffix(log[0], image) || log[1] != "detach -force /dev/disk9" {
		t.Errorf("%q", log)
	}
	empty(t)
	out, f := s.extract(t, values{"path": image, "mount": true, "select": []string{"Thing"}})
	if f != nil || len(out.Files) != 1 || onDisk(t, out.Directory)["Thing/file"] != "content\n" {
		t.Fatalf("%+v (%v)", out, f)
	}
	os.RemoveAll(out.Directory)
	empty(t)
}

func TestMountFails(t *testing.T) {
	s, image, _ := attaching(t)
	t.Setenv("FAIL_ATTACH", "1")
	_, f := s.call(t, "inspect_artifact", values{"path": image, "mount": true})
	if f == nil || f.Code != fault.ArtifactOperationFailedCode || !strings.Contains(f.Message, "image not recognized") {
		t.Errorf("%v", f)
	}
	empty(t)
	if _, f = s.call(t, "inspect_artifact", values{"path": filepath.Dir(image), "mount": true}); f == nil || f.Code != fault.ArtifactOperationFailedCode {
		t.Errorf("a directory: %v", f)
	}
	t.Setenv("FAIL_ATTACH", "")
	t.Setenv("FAIL_DETACH", "1")
	_, f = s.call(t, "inspect_artifact", values{"path": image, "mount": true})
	if f == nil || f.Code != fault.CleanupIncompleteCode || len(f.Details.(*fault.CleanupIncompleteDetails).Remaining) != 2 {
		t.Errorf("%v", f)
	}
}

// TestMountCancelled: what was mounted before the call ended is taken away.
func TestMountCancelled(t *testing.T) {
	s, image, calls := attaching(t)
	t.Setenv("SLOW_ATTACH", "1")
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	args, _ := json.Marshal(values{"path": image, "mount": true})
	if _, err := s.d.Call(ctx, "inspect_artifact", args); err == nil {
		t.Error("it was not cancelled")
	}
	if log := calls(); len(log) != 2 || !strings.HasPrefix(log[1], "detach -force "+os.Getenv("TMPDIR")) {
		t.Errorf("%q", log)
	}
	empty(t)
}

// TestMountElsewhere: other systems say what they lack.
func TestMountElsewhere(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("it is there")
	}
	_, f := serve(t).call(t, "inspect_artifact", values{"path": zipOf(t, entry{name: "a"}), "mount": true})
	if f == nil || f.Code != fault.CapabilityUnavailableCode || !strings.Contains(f.Message, "hdiutil") {
		t.Errorf("%v", f)
	}
}
