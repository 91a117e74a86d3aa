package inventory

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rea/providers/format/container"
)

// directory presents a directory of the machine as a container. Links are
// listed and never followed, not even when they take the place of a file while
// it is read.
type directory struct {
	root  *os.Root
	notes []string
	gaps  []string
}

func openDirectory(path string) (*directory, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &directory{root: root}, nil
}

func (d *directory) Close() error              { return d.root.Close() }
func (d *directory) Format() string            { return "directory" }
func (d *directory) Seekable() bool            { return true }
func (d *directory) Claims() []container.Claim { return nil }
func (d *directory) Notes() []string           { return d.notes }

// Gaps are what was not listed.
func (d *directory) Gaps() []string { return d.gaps }

// Entries are given by name, a directory before what is in it.
func (d *directory) Entries() iter.Seq2[*container.Entry, error] {
	return func(yield func(*container.Entry, error) bool) { d.list(".", "", yield) }
}

// list gives the entries of a directory and reports whether to go on.
func (d *directory) list(dir, prefix string, yield func(*container.Entry, error) bool) bool {
	f, err := d.root.Open(dir)
	if err != nil {
		d.gaps = append(d.gaps, "a directory cannot be read: "+container.Escape(prefix)+": "+reason(err))
		return true
	}
	entries, err := f.ReadDir(-1)
	f.Close()
	if err != nil {
		d.gaps = append(d.gaps, "a directory was not read to its end: "+container.Escape(prefix)+": "+reason(err))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, de := range entries {
		e, err := d.entry(prefix+de.Name(), filepath.Join(dir, de.Name()), de)
		if err != nil {
			d.gaps = append(d.gaps, "an entry cannot be read: "+container.Escape(prefix+de.Name())+": "+reason(err))
			continue
		}
		if !yield(e, nil) {
			return false
		}
		if e.Type == container.Directory && !d.list(filepath.Join(dir, de.Name()), prefix+de.Name()+"/", yield) {
			return false
		}
	}
	return true
}

func (d *directory) entry(name, local string, de fs.DirEntry) (*container.Entry, error) {
	info, err := de.Info()
	if err != nil {
		return nil, err
	}
	e := &container.Entry{
		Path: name, Type: typeOfMode(info.Mode()), Mode: modeBits(info.Mode()), Size: container.Unknown, Packed: container.Unknown, Offset: container.Unknown,
	}
	switch e.Type {
	case container.Symlink:
		if e.Link, err = d.root.Readlink(local); err != nil {
			e.Notes = append(e.Notes, "its target cannot be read: "+reason(err))
		}
		e.Mode = container.Unknown
	case container.File:
		e.Size = info.Size()
		e.Open = func() (io.ReadCloser, error) {
			rc, _, err := openRegular(d.root, local)
			return rc, err
		}
	}
	return e, nil
}

// regular is an open file that gives its source.
type regular struct {
	*io.SectionReader
	file *os.File
}

func (r *regular) Close() error             { return r.file.Close() }
func (r *regular) Source() container.Source { return io.NewSectionReader(r.file, 0, r.Size()) }

// openRegular opens a file below root, if it is one and no link to one.
func openRegular(root *os.Root, local string) (io.ReadCloser, int64, error) {
	f, err := root.OpenFile(local, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, 0, absent(err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		f.Close()
		return nil, 0, absent(err)
	}
	return &regular{io.NewSectionReader(f, 0, info.Size()), f}, info.Size(), nil
}

var errNotRegular = errors.New("it is not a regular file")

func absent(err error) error {
	return &container.Error{Format: "directory", Kind: container.Absent, What: "the file cannot be opened", Offset: container.Unknown, Err: errors.New(reason(err))}
}

// reason is an error without the local path in it.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

func modeBits(m fs.FileMode) int64 {
	bits := int64(m.Perm())
	for _, b := range []struct {
		mode fs.FileMode
		bit  int64
	}{{fs.ModeSetuid, 0o4000}, {fs.ModeSetgid, 0o2000}, {fs.ModeSticky, 0o1000}} {
		if m&b.mode != 0 {
			bits |= b.bit
		}
	}
	return bits
}

func typeOfMode(m fs.FileMode) container.Type {
	switch {
	case m.IsRegular():
		return container.File
	case m.IsDir():
		return container.Directory
	case m&fs.ModeSymlink != 0:
		return container.Symlink
	case m&fs.ModeNamedPipe != 0:
		return container.FIFO
	case m&fs.ModeSocket != 0:
		return container.Socket
	case m&fs.ModeCharDevice != 0:
		return container.CharDev
	case m&fs.ModeDevice != 0:
		return container.BlockDev
	}
	return container.Other
}

// family of a node by the names in it.
func (n *Node) family(format string) string {
	if format == "compound-file" {
		return n.Format
	}
	if format != n.Format && !((format == "crx" || format == "jmod") && n.Format == "zip") {
		return format // an archive behind something else
	}
	return family(format, func(yield func(string) bool) {
		for _, it := range n.Items {
			if !yield(path.Clean("./" + it.Raw)) {
				return
			}
		}
	})
}
