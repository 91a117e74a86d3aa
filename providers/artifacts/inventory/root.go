package inventory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"rea/providers/format/container"
	"rea/providers/format/zip"
)

// rootFile is what a walk begins with.
type rootFile struct {
	path string
	file *os.File
	dir  *directory
	size int64 // 0 for a directory
}

// ErrNotRegular is a root that is neither a file nor a directory.
var ErrNotRegular = &fs.PathError{Op: "open", Err: fs.ErrInvalid}

func openRoot(path string) (*rootFile, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		d, err := openDirectory(path)
		if err != nil {
			return nil, err
		}
		return &rootFile{path: path, dir: d}, nil
	case !info.Mode().IsRegular():
		return nil, ErrNotRegular
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err == nil && info.Size() == 0 { // what has bytes all the same is made when it is read
		if n, _ := f.ReadAt(make([]byte, 1), 0); n > 0 {
			err = ErrNotRegular
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &rootFile{path: path, file: f, size: info.Size()}, nil
}

func (r *rootFile) Close() error {
	if r.dir != nil {
		return r.dir.Close()
	}
	return r.file.Close()
}

// beside opens files in the directory beside an ASAR archive.
func (r *rootFile) beside(inside string) (io.ReadCloser, int64, error) {
	root, err := os.OpenRoot(r.path + unpackedSuffix)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	return openRegular(root, filepath.FromSlash(inside))
}

// root walks from the root down. The file itself is hashed while its entries
// are read.
func (w *walk) root(r *rootFile) (*Item, error) {
	it := &Item{
		Type: container.File, Mode: container.Unknown, Size: r.size, Declared: container.Unknown, Packed: container.Unknown, Offset: container.Unknown, Status: Observed,
	}
	up := &ancestors{item: it}
	if r.dir == nil {
		up.scope = &scope{size: r.size}
	}
	if r.dir != nil {
		it.Type, it.Size, it.Status = container.Directory, container.Unknown, NoContent
		it.Identity = Identity{Format: "directory", Kind: KindContainer}
		n, err := w.expand(r.dir, "", 1, up)
		it.Inside = n
		return it, err
	}
	src := io.NewSectionReader(watched{w.ctx, r.file}, 0, r.size)
	head := make([]byte, min(r.size, headSize))
	if err := container.ReadFull(src, "file", 0, head); err != nil {
		return nil, err
	}
	it.Identity = identify(head, r.size <= headSize)
	open := openerOf(it.Format)
	if open == nil {
		format := atEnd(src, it.Identity)
		inside, at := "", int64(0)
		if format == "" {
			inside, at = behind(src, head)
		}
		switch {
		case inside != "":
			open = it.behind(inside, at)
		case format == "" && it.Kind != KindText && zip.HasEnd(src):
			open = openerOf("zip")
			it.note("a zip archive stands behind other data")
		case format != "" && (it.Kind == KindExecutable || it.Kind == KindScript):
			open = openerOf(format)
			it.note("a %s archive stands behind the program", format)
		case format != "":
			it.Identity = Identity{Format: format, Kind: KindContainer}
			open = openerOf(format)
		case it.Kind == KindContainer:
			it.Opaque = true
			it.note("what is in it is not read: there is no reader of %s", it.Format)
		}
	}
	// Ancestors compare digests, so a container in the root waits for the root's.
	up.pending = &pendingHash{done: make(chan struct{})}
	hash := func() {
		up.pending.err = w.hashRoot(it, src)
		close(up.pending.done)
	}
	if open == nil || w.pool.jobs == nil {
		hash()
	} else {
		go hash()
	}
	n, err := w.rootInside(it, src, open, r, up)
	it.Inside = n
	if err != nil {
		w.cancel(err)
	}
	<-up.pending.done
	if err == nil {
		err = up.pending.err
	}
	return it, err
}

// watched is a file that can no longer be read when its context has ended, so
// that a reader which skips or lists a lot ends, too.
type watched struct {
	ctx context.Context
	io.ReaderAt
}

func (f watched) ReadAt(p []byte, at int64) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	return f.ReaderAt.ReadAt(p, at)
}

func (w *walk) rootInside(it *Item, src container.Source, open *opener, r *rootFile, up *ancestors) (*Node, error) {
	if open == nil {
		return nil, nil
	}
	reader, err := open.source(src, r.beside)
	if err != nil {
		if container.KindOf(err) == "" {
			return nil, err
		}
		it.note("it cannot be expanded: %v", err)
		return &Node{Format: it.Format, Failed: err}, nil
	}
	n, err := w.expand(reader, "", 1, up)
	if err == nil {
		it.Format = n.family(it.Format)
	}
	return n, err
}

// hashRoot reads the root once more than its entries do; limits are not for it.
func (w *walk) hashRoot(it *Item, src container.Source) error {
	h := sha256.New()
	buffer := make([]byte, 1<<20)
	in := io.NewSectionReader(src, 0, src.Size())
	for {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		n, err := in.Read(buffer)
		h.Write(buffer[:n])
		if err == io.EOF {
			it.SHA256 = hex.EncodeToString(h.Sum(nil))
			return nil
		}
		if err != nil {
			return err
		}
	}
}
