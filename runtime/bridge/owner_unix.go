//go:build unix

package bridge

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownerFile names the process that a place belongs to: the one that holds an
// exclusive lock on it. The system lets go of the lock when that process is gone,
// however it ended.
const ownerFile = "owner"

// ownerRecord is the content of the file. It names the place, so that a copy of
// a place elsewhere is not taken for one.
func ownerRecord(root string) string { return "rea engine place\n" + root + "\n" }

// own takes the lock. Without one, on file systems that have no locks, the place
// is as good as any, but nobody will tidy up behind this process.
func (p *Place) own() {
	f, err := os.OpenFile(p.Path(ownerFile), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return
	}
	// The record comes after the lock: who finds it unlocked finds it complete.
	if unix.Flock(int(f.Fd()), unix.LOCK_EX) == nil {
		if _, err := f.WriteString(ownerRecord(p.Root)); err == nil {
			p.lock = f
			return
		}
	}
	f.Close()
	os.Remove(p.Path(ownerFile))
}

// Abandoned lists the places in a directory whose process is gone. It changes
// nothing. An empty base is the directory for temporary files.
func Abandoned(base string) []string {
	var out []string
	for _, root := range placesIn(base) {
		if f := abandoned(root, unix.LOCK_SH); f != nil {
			f.Close()
			out = append(out, root)
		}
	}
	return out
}

// Sweep removes the places in a directory whose process is gone, and ends what
// still runs for them. It touches nothing that is not proven to be such a place.
// It gives the places that it could not remove.
func Sweep(base string) (remaining []string) {
	for _, root := range placesIn(base) {
		f := abandoned(root, unix.LOCK_EX)
		if f == nil {
			continue
		}
		if killStrays(root) > 0 || removePlace(root) != nil {
			remaining = append(remaining, root)
		}
		f.Close()
	}
	return remaining
}

func placesIn(base string) []string {
	dir, err := filepath.EvalSymlinks(parent(base))
	if err != nil {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if digits, ok := strings.CutPrefix(e.Name(), placePrefix); ok && e.IsDir() && digits != "" && strings.Trim(digits, "0123456789") == "" {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// abandoned gives the locked owner file of a place of this user that no process
// holds any more, nil for everything else.
func abandoned(root string, how int) *os.File {
	info, err := os.Lstat(root)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 || !mine(info) {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(root, ownerFile), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	if proven(f, root) && unix.Flock(int(f.Fd()), how|unix.LOCK_NB) == nil && recorded(f, root) {
		return f
	}
	f.Close()
	return nil
}

// proven tells whether f is the owner file that lies in root.
func proven(f *os.File, root string) bool {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 || !mine(info) {
		return false
	}
	there, err := os.Lstat(filepath.Join(root, ownerFile))
	return err == nil && os.SameFile(info, there)
}

func recorded(f *os.File, root string) bool {
	want := ownerRecord(root)
	got, err := io.ReadAll(io.LimitReader(f, int64(len(want))+1))
	return err == nil && string(got) == want
}

func mine(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}
