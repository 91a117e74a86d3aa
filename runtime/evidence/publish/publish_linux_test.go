package publish

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestFile_refuses_devices(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, "/dev/null"} {
		_, err := File(t.Context(), path, Options{Overwrite: true}, text("x"))
		if e := new(Error); !errors.As(err, &e) || e.Kind != NotRegular {
			t.Errorf("%s: error is %v", path, err)
		}
	}
}

func TestFile_full_disk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("a small file system cannot be mounted: %v", err)
	}
	defer syscall.Unmount(dir, 0)
	path := filepath.Join(dir, "out")
	if _, err := File(t.Context(), path, Options{}, text("old")); err != nil {
		t.Fatal(err)
	}
	_, err := File(t.Context(), path, Options{Overwrite: true}, func(w io.Writer) error {
		for range 4 << 10 {
			if _, err := w.Write(make([]byte, 1<<10)); err != nil {
				return err
			}
		}
		return nil
	})
	if e := new(Error); !errors.As(err, &e) || e.Kind != NoSpace {
		t.Errorf("error is %v", err)
	}
	if got := entries(t, dir); len(got) != 1 || content(t, path) != "old" {
		t.Errorf("the directory holds %v", got)
	}
}

func TestFile_directory_without_permission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	_, err := File(t.Context(), filepath.Join(dir, "out"), Options{}, text("x"))
	if e := new(Error); !errors.As(err, &e) || e.Kind != Permission {
		t.Errorf("error is %v", err)
	}
}
