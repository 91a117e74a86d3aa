//go:build unix

package bridge

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// makesPlace names the directory in which a process of the test makes a place.
const makesPlace = "TEST_MAKES_PLACE"

// TestMain plays a process that is killed with a place and an engine.
func TestMain(m *testing.M) {
	base := os.Getenv(makesPlace)
	if base == "" {
		os.Exit(m.Run())
	}
	p, err := newPlace(base)
	if err != nil {
		panic(err)
	}
	if err := p.Mkdir("project/deep"); err != nil {
		panic(err)
	}
	cmd := exec.Command("sleep", "60")
	cmd.Env = append(os.Environ(), RootVariable+"="+p.Root)
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	os.Stdout.WriteString(p.Root + "\n")
	time.Sleep(time.Minute)
}

// running starts a process that makes a place.
func running(t *testing.T, base string) (root string, cmd *exec.Cmd) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), makesPlace+"="+base)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), cmd
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestSweep: places of processes that were killed go, with what still runs for
// them, and nothing else does.
func TestSweep(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	first, one := running(t, base)
	second, two := running(t, base)
	if found := Abandoned(base); found != nil {
		t.Errorf("while their processes run, %q are taken for abandoned", found)
	}
	if Sweep(base); !exists(first) || !exists(second) {
		t.Error("the place of a process that runs is swept")
	}
	for _, cmd := range []*exec.Cmd{one, two} {
		cmd.Process.Kill()
		cmd.Wait()
	}
	// What looks like a place and is none.
	mine, err := newPlace(base)
	if err != nil {
		t.Fatal(err)
	}
	defer mine.remove(removePlace)
	kept := []string{mine.Root}
	other := func(name string, mode os.FileMode, record string, recordMode os.FileMode) {
		dir := filepath.Join(base, name)
		if err := os.Mkdir(dir, mode); err != nil {
			t.Fatal(err)
		}
		if record != "" {
			if err := os.WriteFile(filepath.Join(dir, ownerFile), []byte(record), recordMode); err != nil {
				t.Fatal(err)
			}
		}
		kept = append(kept, dir)
	}
	record := func(name string) string { return ownerRecord(filepath.Join(base, name)) }
	other("rea-1", 0o700, "", 0)
	other("rea-2", 0o700, record("rea-1"), 0o600)
	other("rea-3", 0o755, record("rea-3"), 0o600)
	other("rea-4", 0o700, record("rea-4"), 0o644)
	other("rea-5", 0o700, record("rea-5")[:20], 0o600)
	other("rea-npm-6", 0o700, record("rea-npm-6"), 0o600)
	other("rea-", 0o700, record("rea-"), 0o600)
	other("rea-7", 0o700, "", 0)
	if err := os.Symlink(filepath.Join(first, ownerFile), filepath.Join(base, "rea-7", ownerFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(base, filepath.Join(base, "rea-8")); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		other("rea-9", 0o700, record("rea-9"), 0o600)
		if err := os.Chown(filepath.Join(base, "rea-9"), 12345, 12345); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{first, second}
	slices.Sort(want)
	found := Abandoned(base)
	if slices.Sort(found); !slices.Equal(found, want) {
		t.Errorf("abandoned are %q, want %q", found, want)
	}
	if remaining := Sweep(base); remaining != nil {
		t.Errorf("%q could not be removed", remaining)
	}
	for _, root := range want {
		if exists(root) {
			t.Errorf("%s is left", root)
		}
		if pids := carrying(root); len(pids) > 0 {
			t.Errorf("processes %v of %s are left", pids, root)
		}
	}
	for _, dir := range kept {
		if !exists(dir) {
			t.Errorf("%s is gone", dir)
		}
	}
	if found := Abandoned(base); found != nil {
		t.Errorf("after sweeping, %q are abandoned", found)
	}
}

// TestRemovePlace_names_its_owner_until_the_end: a removal that is broken off
// leaves a place that the next one knows.
func TestRemovePlace_names_its_owner_until_the_end(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("nothing is forbidden to this user")
	}
	base := t.TempDir()
	p, err := newPlace(base)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Mkdir("zz/inner"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(p.Path("zz"), 0o500); err != nil {
		t.Fatal(err)
	}
	if got := p.remove(removePlace); !slices.Equal(got, []string{"temp_root"}) {
		t.Errorf("what remains is %q", got)
	}
	if got := Abandoned(base); len(got) != 1 {
		t.Errorf("abandoned are %q", got)
	}
	os.Chmod(p.Path("zz"), 0o700)
	if Sweep(base); exists(p.Root) {
		t.Error("it is left")
	}
}
