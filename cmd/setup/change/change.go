// Package change replaces several files so that either all of them change or
// none does, even when the process is killed in between.
//
// # Order of things
//
// A change runs under a lock of its state folder:
//
//  1. The journal is written. It names every file with the digests of the bytes
//     before and after, its backup and its staging file.
//  2. Backups are written, then all new contents, to staging files beside their
//     targets, with the targets' mode and owner.
//  3. Each target is compared with what the plan was made from, and replaced by
//     its staging file in one step, or removed.
//  4. All targets are read back.
//  5. The record of what was written is replaced, then the journal removed.
//
// A failure undoes what was done. Whoever finds a journal undoes it first: a
// target that holds the new bytes gets the old ones back from its backup, one
// that holds anything else is left alone and reported.
//
// Symbolic links stay: the file that they lead to is replaced. A file that
// forbids writing, or has several names (hard links), is refused, because a
// replacement would undo what somebody did on purpose.
package change

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A File is one file of a change.
type File struct {
	Path   string // as people name it
	Target string // behind symbolic links
	// Exists tells that there is a file now; Before are its bytes.
	Exists bool
	Before []byte
	// After are the new bytes; Delete removes the file instead.
	After  []byte
	Delete bool
	// Shared makes a new file one that others may read, as files of a project are.
	Shared bool

	info fs.FileInfo
}

// ErrReadOnly is the reason of a file that forbids writing.
var ErrReadOnly = errors.New("the file is read-only; rea doesn't override that")

// Load looks at a file that shall change. read gets its bytes.
func Load(path string, read func(string) ([]byte, error)) (*File, error) {
	target, err := resolve(path)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, Target: target}
	f.info, err = os.Lstat(target)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	f.Exists = true
	switch {
	case f.info.IsDir():
		return nil, fmt.Errorf("there is a folder at %s", target)
	case !f.info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", target)
	}
	f.Before, err = read(target)
	return f, err
}

// Writable tells why the file must not be replaced, or nil.
func (f *File) Writable() error {
	if !f.Exists {
		return nil
	}
	if f.info.Mode().Perm()&0o200 == 0 {
		return ErrReadOnly
	}
	if n := links(f.info); n > 1 {
		return fmt.Errorf("the file has %d names (hard links), which replacing it would part", n)
	}
	return nil
}

// Unchanged tells that there is nothing to do.
func (f *File) Unchanged() bool {
	if f.Delete {
		return !f.Exists
	}
	return f.Exists && digest(f.Before) == digest(f.After)
}

// resolve follows symbolic links. The file itself need not exist.
func resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for range 40 {
		parent, err := filepath.EvalSymlinks(filepath.Dir(abs))
		switch {
		case err == nil:
			abs = filepath.Join(parent, filepath.Base(abs))
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
		info, err := os.Lstat(abs)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
			return abs, nil
		}
		to, err := os.Readlink(abs)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(abs), to)
		}
		abs = to
	}
	return "", fmt.Errorf("%s is a chain of symbolic links without an end", path)
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
