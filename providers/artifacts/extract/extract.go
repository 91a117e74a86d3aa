package extract

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"rea/providers/artifacts/inventory"
	"rea/providers/format/container"
)

// A File that was written.
type File struct {
	Item    *inventory.Item
	Name    string // relative to the directory, with slashes
	Renamed string // why it is not the logical path
}

// A Refusal is an entry that was not written.
type Refusal struct {
	Item   *inventory.Item
	Unsafe bool // because of its name
	Reason string
}

// A Directory receives contents. It lies where the system keeps temporary
// files, and only its owner can look into it. Whatever is written goes through
// one open root, so that no link can lead out of it.
type Directory struct {
	Path    string
	Files   []File
	Refused []Refusal

	root    *os.Root
	places  places
	made    map[string]bool
	open    map[*inventory.Item]*target
	byItem  map[*inventory.Item]File
	indexed int // files in byItem
	// exact are the paths that were selected by themselves.
	exact map[string]bool
}

// New makes the directory. Streams that are expanded are written only when they
// are selected exactly.
func New(selected []string) (*Directory, error) {
	path, err := os.MkdirTemp("", "rea-extract-*")
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	d := &Directory{Path: path, root: root, places: places{newFolder("")}, made: map[string]bool{"": true}, open: map[*inventory.Item]*target{}, exact: map[string]bool{}, byItem: map[*inventory.Item]File{}}
	for _, s := range selected {
		d.exact[s] = true
	}
	return d, nil
}

// Begin implements inventory.Sink.
func (d *Directory) Begin(it *inventory.Item, expanded bool) (io.Writer, error) {
	if expanded && it.Type == container.Stream && !d.exact[it.Path] {
		return nil, nil
	}
	at, raw, err := d.places.place(it.Path)
	var unsafe *Unsafe
	if errors.As(err, &unsafe) {
		d.Refused = append(d.Refused, Refusal{Item: it, Unsafe: true, Reason: unsafe.Reason})
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := d.folder(at.in.path); err != nil {
		return nil, err
	}
	for tries := 1; ; tries++ {
		f, err := d.root.OpenFile(filepath.FromSlash(at.path()), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			d.open[it] = &target{file: f, of: File{Item: it, Name: at.path(), Renamed: at.renamed}}
			return f, nil
		}
		if !errors.Is(err, fs.ErrExist) || tries == maxTries {
			return nil, err
		}
		at.next(raw)
	}
}

// target is the file that one content goes to. What is in an item is written
// while the item itself is.
type target struct {
	file *os.File
	of   File
}

// End implements inventory.Sink.
func (d *Directory) End(it *inventory.Item, failed error) error {
	t := d.open[it]
	if t == nil {
		return nil
	}
	delete(d.open, it)
	if err := t.file.Close(); err != nil {
		return err
	}
	if failed != nil {
		d.Refused = append(d.Refused, Refusal{Item: it, Reason: failed.Error()})
		return d.root.Remove(filepath.FromSlash(t.of.Name))
	}
	d.Files = append(d.Files, t.of)
	return nil
}

// Written is the file that the content of an item was written to.
func (d *Directory) Written(it *inventory.Item) (File, bool) {
	for _, f := range d.Files[d.indexed:] {
		d.byItem[f.Item] = f
	}
	d.indexed = len(d.Files)
	f, ok := d.byItem[it]
	return f, ok
}

// CopyTo writes the content of a file once more, as that of a link. The link
// takes over what is known of the content.
func (d *Directory) CopyTo(ctx context.Context, f File, to *Directory, link *inventory.Item) error {
	in, err := d.root.Open(filepath.FromSlash(f.Name))
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := to.Begin(link, false)
	if err != nil || out == nil {
		return err
	}
	link.SHA256, link.Size, link.Status, link.Checks = f.Item.SHA256, f.Item.Size, f.Item.Status, f.Item.Checks
	if _, err := io.CopyBuffer(out, &cancellable{ctx, in}, make([]byte, 256<<10)); err != nil {
		return err
	}
	return to.End(link, nil)
}

// cancellable reads until its context ends.
type cancellable struct {
	ctx context.Context
	in  io.Reader
}

func (c *cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.in.Read(p)
}

// Drop implements inventory.Sink: it removes what came out of a container that
// cannot be trusted.
func (d *Directory) Drop(n *inventory.Node) error {
	inside := map[*inventory.Item]bool{}
	collect(n, inside)
	kept := d.Files[:0]
	for _, f := range d.Files {
		if !inside[f.Item] {
			kept = append(kept, f)
			continue
		}
		d.Refused = append(d.Refused, Refusal{Item: f.Item, Reason: "the container around it contradicts its declared digest"})
		if err := d.root.Remove(filepath.FromSlash(f.Name)); err != nil {
			return err
		}
	}
	d.Files, d.indexed = kept, 0
	clear(d.byItem)
	return nil
}

func collect(n *inventory.Node, into map[*inventory.Item]bool) {
	if n == nil {
		return
	}
	for _, it := range n.Items {
		into[it] = true
		collect(it.Inside, into)
	}
}

// maxTries bounds how many names that the system takes for others are tried.
const maxTries = 100

// folder makes a directory and those above it.
func (d *Directory) folder(dir string) error {
	if d.made[dir] {
		return nil
	}
	if err := d.root.MkdirAll(filepath.FromSlash(dir), 0o700); err != nil {
		return err
	}
	d.made[dir] = true
	return nil
}

// Verify reads every file again and compares it with what was hashed.
func (d *Directory) Verify(ctx context.Context) error {
	buffer := make([]byte, 256<<10)
	for _, f := range d.Files {
		sum, n, err := d.hash(ctx, f.Name, buffer)
		if err != nil {
			return err
		}
		if sum != f.Item.SHA256 || n != f.Item.Size {
			return fmt.Errorf("%s was written and reads back as other bytes", f.Name)
		}
	}
	return nil
}

func (d *Directory) hash(ctx context.Context, name string, buffer []byte) (string, int64, error) {
	f, err := d.root.Open(filepath.FromSlash(name))
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	var total int64
	for {
		if err := ctx.Err(); err != nil {
			return "", 0, err
		}
		n, err := f.Read(buffer)
		h.Write(buffer[:n])
		total += int64(n)
		if err == io.EOF {
			return hex.EncodeToString(h.Sum(nil)), total, nil
		}
		if err != nil {
			return "", 0, err
		}
	}
}

// Keep ends the writing; the directory stays.
func (d *Directory) Keep() error { return d.root.Close() }

// Discard removes the directory and all in it.
func (d *Directory) Discard() error {
	for _, t := range d.open {
		t.file.Close()
	}
	d.removeFiles()
	return errors.Join(d.root.Close(), os.RemoveAll(d.Path))
}

// removeFiles removes what was written, on all processors: of many files that
// takes long, and whoever cancels waits for it.
func (d *Directory) removeFiles() {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 8) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(d.Files)); i = next.Add(1) - 1 {
				os.Remove(filepath.Join(d.Path, filepath.FromSlash(d.Files[i].Name)))
			}
		})
	}
	workers.Wait()
}
