package evidence

import (
	"bytes"
	"context"
	"errors"
	"syscall"
	"testing"
)

func TestLedger_full_disk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("a small file system cannot be mounted: %v", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	l := NewLedger(dir, 1)
	defer l.Clear()
	kept := numbered(t, 1, 400<<10)
	if _, err := l.Append(kept); err != nil {
		t.Fatal(err)
	}
	_, err := l.Append(numbered(t, 2, 2<<20))
	if stored := new(StorageError); !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &stored) || stored.Dir != dir {
		t.Errorf("a record that does not fit gives %v", err)
	}
	small := numbered(t, 3, 100)
	if _, err := l.Append(small); err != nil {
		t.Errorf("after that, a small record gives %v", err)
	}
	for _, want := range []*Record{kept, small} {
		if got, err := l.Get(want.ID()); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("a record was damaged: %v", err)
		}
	}
	from := NewLedger(t.TempDir(), 1)
	defer from.Clear()
	fill(t, from, 20, 100<<10)
	if _, err := l.Import(context.Background(), bytes.NewReader(export(t, from)), DefaultImportLimits); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("an import that does not fit gives %v", err)
	}
	if l.Len() != 2 {
		t.Errorf("%d records are held", l.Len())
	}
}
