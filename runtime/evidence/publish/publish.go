// Package publish writes files that appear under their name only when they are
// complete.
//
// The bytes go to a staging file in the destination's directory, are flushed to
// the disk, and take the destination's name in one step. Whoever looks sees no
// file, the old one, or the new one. A staging file is removed when writing
// fails or is cancelled; one whose process was killed is removed by the next
// publication into the same directory.
//
// # Staging files
//
// The name of a staging file is ".rea-staging-" and 32 hex digits: 16 of chance
// and 16 that follow from those, so that another program's file is not taken
// for one of ours. Its owner holds a lock on it as long as it lives. A left-over
// is a regular file of such a name, with our owner, that nobody has locked.
//
// # Refusals
//
// A destination must not exist unless it may be overwritten, and then it must
// be a regular file that the caller does not want kept. No parent may be a symbolic link, because then the place
// that is written is not the one that was named; links directly below the root
// that belong to the administrator, such as /tmp on macOS, are the exception.
package publish

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Kind classifies a refusal.
type Kind string

const (
	Exists     Kind = "exists"
	NotRegular Kind = "not_regular"
	Symlink    Kind = "symlink"
	Missing    Kind = "missing"
	Permission Kind = "permission"
	NoSpace    Kind = "no_space"
	Protected  Kind = "protected"
	IO         Kind = "io"
)

// An Error says why a file was not published.
type Error struct {
	Path   string
	Kind   Kind
	Reason string
	Err    error
}

func (e *Error) Error() string { return fmt.Sprintf("cannot write %q: %s", e.Path, e.Reason) }

func (e *Error) Unwrap() error { return e.Err }

// Options choose how a file is published.
type Options struct {
	// Overwrite replaces an existing regular file.
	Overwrite bool
	// Keep says why an existing file must stay though Overwrite is set, "" when
	// it may go; without it, any may. The file is open for reading and at its
	// beginning.
	Keep func(*os.File) string
}

// File publishes what write produces under path, readable by its owner only. It
// returns the absolute path. When write fails or ctx ends, the destination is
// what it was; an error of write is returned as it is, unless it comes from
// writing.
func File(ctx context.Context, path string, opts Options, write func(io.Writer) error) (string, error) {
	d, err := locate(path)
	if err != nil {
		return "", err
	}
	defer d.dir.Close()
	if err := d.check(opts); err != nil {
		return "", err
	}
	removeLeftovers(d.dir)
	s, err := newStaging(d.dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) { // the directory is there, but takes no files
			return "", &Error{Path: d.path, Kind: IO, Reason: "its directory takes no new files", Err: err}
		}
		return "", d.failure("creating a file beside it", err)
	}
	defer s.discard()
	out := &checkedWriter{w: s.file}
	buffered := bufio.NewWriterSize(out, 256<<10)
	err = write(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if out.err != nil {
		return "", d.failure("writing", out.err)
	}
	if err != nil {
		return "", err
	}
	if err := s.file.Sync(); err != nil {
		return "", d.failure("flushing to the disk", err)
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := d.check(opts); err != nil {
		return "", err
	}
	if err := s.publish(d.base, opts.Overwrite); err != nil {
		return "", d.failure("giving the file its name", err)
	}
	syncDir(d.dir)
	return d.path, nil
}

// checkedWriter tells errors of the file from errors of the producer.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if err != nil {
		c.err = err
	}
	return n, err
}

// A destination is a name in a directory that is held open, so that what was
// checked is what is written.
type destination struct {
	path string // absolute
	base string
	dir  *os.Root
}

func locate(path string) (*destination, error) {
	refuse := func(kind Kind, reason string, err error) (*destination, error) {
		return nil, &Error{Path: path, Kind: kind, Reason: reason, Err: err}
	}
	if path == "" || strings.ContainsRune(path, 0) {
		return refuse(IO, "the path is empty or holds a NUL byte, and names no file", nil)
	}
	if os.IsPathSeparator(path[len(path)-1]) {
		return refuse(NotRegular, "the path names a directory", nil)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return refuse(IO, "the working directory is not known", err)
	}
	parent, base := filepath.Split(abs)
	if err := checkParents(filepath.Clean(parent)); err != nil {
		return refuse(err.Kind, err.Reason, err.Err)
	}
	dir, err := os.OpenRoot(parent)
	if err != nil {
		return refuse(kindOf(err), "its directory cannot be opened: "+plain(err), err)
	}
	named, err := os.Lstat(filepath.Clean(parent))
	if err == nil && named.IsDir() {
		held, statErr := dir.Stat(".")
		if statErr != nil || !os.SameFile(named, held) {
			dir.Close()
			return refuse(Symlink, "its directory changed while it was checked", statErr)
		}
	}
	return &destination{path: abs, base: base, dir: dir}, nil
}

// checkParents walks from the root down to dir.
func checkParents(dir string) *Error {
	volume := filepath.VolumeName(dir)
	rest := strings.Trim(dir[len(volume):], string(filepath.Separator))
	at := volume + string(filepath.Separator)
	if rest == "" {
		return nil
	}
	for i, name := range strings.Split(rest, string(filepath.Separator)) {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		if err != nil {
			return &Error{Kind: kindOf(err), Reason: fmt.Sprintf("its directory %q cannot be used: %s", at, plain(err)), Err: err}
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			if i == 0 && ownedByRoot(info) {
				continue
			}
			return &Error{Kind: Symlink, Reason: fmt.Sprintf("its parent %q is a symbolic link", at)}
		}
		if !info.IsDir() {
			return &Error{Kind: NotRegular, Reason: fmt.Sprintf("its parent %q is not a directory", at)}
		}
	}
	return nil
}

// check refuses a destination that stands in the way.
func (d *destination) check(opts Options) error {
	info, err := d.dir.Lstat(d.base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return d.failure("looking at it", err)
	case info.Mode()&fs.ModeSymlink != 0:
		return d.refuse(Symlink, "it is a symbolic link")
	case info.IsDir():
		return d.refuse(NotRegular, "it is a directory")
	case !info.Mode().IsRegular():
		return d.refuse(NotRegular, "it is not a regular file")
	case !opts.Overwrite:
		return d.refuse(Exists, exists)
	case opts.Keep != nil:
		return d.checkKept(opts.Keep)
	}
	return nil
}

const exists = "it exists, and overwrite was not asked for"

// checkKept refuses a destination that the caller wants kept.
func (d *destination) checkKept(keep func(*os.File) string) error {
	file, err := openExisting(d.dir, d.base)
	if err != nil {
		return d.failure("reading what is there", err)
	}
	defer file.Close()
	if reason := keep(file); reason != "" {
		return d.refuse(Protected, reason)
	}
	return nil
}

func (d *destination) refuse(kind Kind, reason string) error {
	return &Error{Path: d.path, Kind: kind, Reason: reason}
}

func (d *destination) failure(doing string, err error) error {
	kind := kindOf(err)
	if kind == Exists {
		return &Error{Path: d.path, Kind: kind, Reason: exists, Err: err}
	}
	return &Error{Path: d.path, Kind: kind, Reason: doing + " failed: " + plain(err), Err: err}
}

func kindOf(err error) Kind {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Missing
	case errors.Is(err, fs.ErrExist):
		return Exists
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return Permission
	case noSpace(err):
		return NoSpace
	}
	return IO
}

// plain is the cause of an error without the path that the caller repeats.
func plain(err error) string {
	if cause := new(fs.PathError); errors.As(err, &cause) {
		return cause.Err.Error()
	}
	if cause := new(os.LinkError); errors.As(err, &cause) {
		return cause.Err.Error()
	}
	return err.Error()
}
