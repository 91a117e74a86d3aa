// Package tree reads what an application is shipped as, a folder, an archive, a
// package or one file, into one list of files with their digests. Archives
// inside are opened. Nothing is written and no link is followed.
//
// # Paths
//
// A path uses slashes and is relative to what was opened. What lies in an
// archive has the path of the archive, "!/", and its path inside. Bytes that are
// not UTF-8 are escaped.
//
// # Integrity
//
// Bytes that contradict what their container declares of them end the reading,
// or, when the caller wants to go on, are recorded and set aside: they are
// listed, and nothing in them is read.
package tree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rea/providers/format/asar"
	"rea/providers/format/container"
	"rea/providers/format/zip"
)

// Options bound the reading.
type Options struct {
	MaxFiles      int
	MaxFileBytes  int64 // of a text that is kept, or an archive in an archive
	MaxTextBytes  int64 // of all texts that are kept
	MaxTotalBytes int64 // of all that is read
	MaxDepth      int   // of archives in archives
	// Continue sets contradicted bytes aside instead of ending the reading.
	Continue bool
	// Skip, when there is one, tells the folders of a folder that are not read.
	Skip func(dir string) bool
}

// Kind of a file, by its name and first bytes.
type Kind string

// Kinds of file.
const (
	JavaScript Kind = "javascript"
	TypeScript Kind = "typescript"
	JSON       Kind = "json"
	HTML       Kind = "html"
	CSS        Kind = "css"
	SourceMap  Kind = "source-map"
	Native     Kind = "native"
	WASM       Kind = "wasm"
	Container  Kind = "container"
	Symlink    Kind = "symlink"
	Other      Kind = "other"
)

// Text reports whether files of the kind are kept to be read.
func (k Kind) Text() bool {
	return k == JavaScript || k == TypeScript || k == JSON || k == HTML || k == SourceMap
}

// A File is one file of an application.
type File struct {
	Path   string
	Kind   Kind
	Size   int64
	SHA256 string // "" when it was not read
	Data   []byte // of texts
	Link   string // of symbolic links
	// Reason why it was not read, or "".
	Reason       string
	Contradicted bool
}

// A Contradiction is a file that is not what its container declares.
type Contradiction struct {
	Path, Container, ContainerSHA256      string
	Type                                  container.Type
	Algorithm, Declared, Observed, SHA256 string
	Unpacked                              bool
}

// A Tree is an application as it is shipped.
type Tree struct {
	Format         string // "directory", "asar", "zip" or "file"
	Name           string
	SHA256         string // of the container, or of the list of files of a folder
	Files          []File // by path
	Contradictions []Contradiction
	Gaps           []Gap
	Bytes          int64
}

// A Gap is something that was not read.
type Gap struct {
	What    string
	Omitted int64 // -1 when unknown
	Reason  string
}

// ErrContradiction is the error of bytes that contradict their container.
type ErrContradiction struct{ Contradiction }

func (e *ErrContradiction) Error() string {
	return fmt.Sprintf("%s: %s is %s, not %s", e.Path, e.Algorithm, e.Observed, e.Declared)
}

// Read reads what lies at a path of this machine.
func Read(ctx context.Context, name string, opts Options) (*Tree, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	r := &reader{ctx: ctx, opts: opts, tree: &Tree{Name: filepath.Base(filepath.Clean(name))}}
	switch {
	case info.IsDir():
		r.tree.Format = "directory"
		err = r.directory(name)
	case info.Mode().IsRegular():
		err = r.single(name)
	default:
		return nil, fmt.Errorf("it is %s, not a file or a folder", info.Mode().Type())
	}
	if err != nil {
		return nil, err
	}
	return r.finish(), ctx.Err()
}

type reader struct {
	ctx  context.Context
	opts Options
	tree *Tree
	text int64
	full bool // a bound ended the reading
	left int64

	buffer []byte
}

func (r *reader) gap(what string, omitted int64, reason string) {
	r.tree.Gaps = append(r.tree.Gaps, Gap{what, omitted, reason})
}

func (r *reader) finish() *Tree {
	t := r.tree
	slices.SortStableFunc(t.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	slices.SortStableFunc(t.Contradictions, func(a, b Contradiction) int { return strings.Compare(a.Path, b.Path) })
	if r.full {
		r.gap("files", r.left, fmt.Sprintf("more than %d files or %d bytes", r.opts.MaxFiles, r.opts.MaxTotalBytes))
	}
	r.unread()
	folded := map[string]bool{}
	collisions := int64(0)
	for i := range t.Files {
		low := strings.ToLower(t.Files[i].Path)
		if folded[low] {
			collisions++
		}
		folded[low] = true
	}
	if collisions > 0 {
		r.gap("paths that differ in case alone", collisions, "they are one file on some systems; here each is its own")
	}
	if t.SHA256 == "" {
		h := sha256.New()
		for i := range t.Files {
			f := &t.Files[i]
			fmt.Fprintf(h, "%q %q %d %s %q\n", f.Path, f.Kind, f.Size, f.SHA256, f.Link)
		}
		t.SHA256 = hex.EncodeToString(h.Sum(nil))
	}
	return t
}

// maxUnread bounds the files that are named as not read; the list of files has
// the reason of every one.
const maxUnread = 1000

// unread records the files that were not read, or set aside, and links that lead
// to nothing that was.
func (r *reader) unread() {
	t := r.tree
	told := map[string]bool{}
	for _, g := range t.Gaps {
		told[g.What] = true
	}
	named, more, away := 0, int64(0), int64(0)
	var dangling string
	for i := range t.Files {
		f := &t.Files[i]
		switch {
		case f.Kind == Symlink && !r.leads(f):
			if away++; away == 1 {
				dangling = f.Path
			}
			continue
		case f.Reason == "" || told["program in "+f.Path]:
			continue
		}
		if named++; named > maxUnread {
			more++
			continue
		}
		r.gap("file "+f.Path, -1, f.Reason)
	}
	if more > 0 {
		r.gap("more files", more, "the list of files has the reason of each")
	}
	if away > 0 {
		r.gap("symbolic links", away, "links are not followed out of the application, and these lead to nothing in it, as "+dangling)
	}
}

// leads reports whether a link leads to a file or folder that was read.
func (r *reader) leads(f *File) bool {
	if path.IsAbs(f.Link) || strings.Contains(f.Link, ":") {
		return false
	}
	to := path.Join(path.Dir(f.Path), f.Link)
	if to == "." {
		return true
	}
	_, found := slices.BinarySearchFunc(r.tree.Files, to, func(f File, want string) int { return strings.Compare(f.Path, want) })
	if found {
		return true
	}
	at, _ := slices.BinarySearchFunc(r.tree.Files, to+"/", func(f File, want string) int { return strings.Compare(f.Path, want) })
	return at < len(r.tree.Files) && strings.HasPrefix(r.tree.Files[at].Path, to+"/")
}

// room reports whether another file may be read.
func (r *reader) room() bool {
	if r.full || len(r.tree.Files) >= r.opts.MaxFiles || r.tree.Bytes >= r.opts.MaxTotalBytes {
		r.full = true
		r.left++
		return false
	}
	return true
}

// inward is where a link at a path in a folder leads: relative to the link, where it goes
// out of the folder by its name and into it again.
func inward(folder, p, link string) string {
	base, err := filepath.Abs(folder)
	if err != nil {
		return filepath.ToSlash(link)
	}
	at := filepath.Join(base, filepath.FromSlash(path.Dir(p)))
	to := link
	if !filepath.IsAbs(to) {
		if out := path.Join(path.Dir(p), filepath.ToSlash(link)); out != ".." && !strings.HasPrefix(out, "../") {
			return filepath.ToSlash(link)
		}
		to = filepath.Join(at, link)
	}
	if rel, err := filepath.Rel(base, to); err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return filepath.ToSlash(link)
	}
	rel, err := filepath.Rel(at, to)
	if err != nil {
		return filepath.ToSlash(link)
	}
	return filepath.ToSlash(rel)
}

// directory reads a folder without leaving it.
func (r *reader) directory(name string) error {
	root, err := os.OpenRoot(name)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if cause := r.ctx.Err(); cause != nil {
			return cause
		}
		if err != nil {
			r.add(File{Path: container.Escape(p), Kind: Other, Reason: reasonOf(err)})
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		switch {
		case d.IsDir():
			if p != "." && strings.HasSuffix(p, ".asar.unpacked") { // read through the archive
				if _, err := root.Lstat(strings.TrimSuffix(p, ".unpacked")); err == nil {
					return fs.SkipDir
				}
			}
			if path.Base(p) == ".git" || p != "." && r.opts.Skip != nil && r.opts.Skip(p) {
				return fs.SkipDir
			}
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			link, _ := root.Readlink(p)
			r.add(File{Path: container.Escape(p), Kind: Symlink, Link: container.Escape(inward(name, p, link))})
			return nil
		case !d.Type().IsRegular():
			r.add(File{Path: container.Escape(p), Kind: Other, Reason: "it is " + d.Type().String()})
			return nil
		}
		if !r.room() {
			return nil
		}
		file, err := root.Open(p)
		if err != nil {
			r.add(File{Path: container.Escape(p), Kind: Other, Reason: reasonOf(err)})
			return nil
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil || !info.Mode().IsRegular() {
			r.add(File{Path: container.Escape(p), Kind: Other, Reason: "it changed while it was looked at"})
			return nil
		}
		companion := func(inside string) (io.ReadCloser, int64, error) {
			f, err := root.Open(path.Join(p+".unpacked", inside))
			return sized(f, err)
		}
		return r.file(container.Escape(p), file, info.Size(), companion, 0)
	})
}

// sized is an opened file with its size. Errors don't name it: what is said of an
// archive doesn't depend on where it lies.
func sized(f *os.File, err error) (io.ReadCloser, int64, error) {
	if err != nil {
		return nil, 0, pathless(err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// pathless is an error without the path that it speaks of.
func pathless(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func reasonOf(err error) string { return pathless(err).Error() }

// single reads one file of this machine.
func (r *reader) single(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, 4096)
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	src := io.NewSectionReader(file, 0, info.Size())
	if open := archive(head[:n], src); open != nil {
		companion := func(inside string) (io.ReadCloser, int64, error) {
			root, err := os.OpenRoot(name + ".unpacked")
			if err != nil {
				return nil, 0, pathless(err)
			}
			defer root.Close()
			return sized(root.Open(inside))
		}
		sum := sha256.New()
		if err := r.copy(sum, io.NewSectionReader(file, 0, info.Size())); err != nil {
			return err
		}
		r.tree.SHA256 = hex.EncodeToString(sum.Sum(nil))
		opened, err := open(companion)
		if err != nil {
			return fmt.Errorf("the archive is damaged or was cut off: %w", err)
		}
		r.tree.Format = opened.Format()
		return r.entries("", r.tree.SHA256, opened, 0)
	}
	if strings.EqualFold(filepath.Ext(name), ".asar") {
		return errors.New("it is named as an ASAR archive and doesn't begin as one; it may be damaged")
	}
	r.tree.Format = "file"
	if err := r.file(container.Escape(r.tree.Name), file, info.Size(), nil, 0); err != nil {
		return err
	}
	f := &r.tree.Files[0]
	if f.Kind == Other && f.Data == nil && f.Size <= r.opts.MaxFileBytes { // asked for by name
		f.Kind = JavaScript
		if f.Data, err = io.ReadAll(io.NewSectionReader(file, 0, f.Size)); err != nil {
			return err
		}
	}
	r.tree.SHA256 = f.SHA256
	return nil
}

// opener makes the reader of a container.
type opener func(companion asar.Companion) (container.Reader, error)

// archive tells archives that hold applications, nil for other bytes.
func archive(head []byte, src container.Source) opener {
	switch {
	case asar.Is(head):
		return func(c asar.Companion) (container.Reader, error) { return asar.Open(src, c) }
	case zip.Is(head) || bytes.HasPrefix(head, []byte("Cr24")) && zip.HasEnd(src):
		return func(asar.Companion) (container.Reader, error) { return zip.Open(src) }
	}
	return nil
}

// entries reads what a container holds.
func (r *reader) entries(parent, digest string, c container.Reader, depth int) error {
	for e, err := range c.Entries() {
		if cause := r.ctx.Err(); cause != nil {
			return cause
		}
		if err != nil {
			r.gap("entries of "+cmpOr(parent, r.tree.Name), -1, err.Error())
			return nil
		}
		name := path.Clean("/" + strings.ReplaceAll(e.Path, "\\", "/"))[1:]
		p := container.Escape(name)
		if parent != "" {
			p = container.Join(parent, name)
		}
		switch {
		case e.Type == container.Directory:
			continue
		case e.Type == container.Symlink || e.Type == container.Hardlink:
			r.add(File{Path: p, Kind: Symlink, Link: container.Escape(e.Link)})
			continue
		case !e.Type.HasContent() || e.Open == nil:
			r.add(File{Path: p, Kind: Other, Reason: "it has no content"})
			continue
		case e.Encrypted:
			r.add(File{Path: p, Kind: Other, Reason: "it is encrypted"})
			continue
		}
		if !r.room() {
			continue
		}
		if err := r.entry(p, parent, digest, e, depth); err != nil {
			return err
		}
	}
	return nil
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// entry reads one entry of a container and holds it to its declared digests.
func (r *reader) entry(p, parent, digest string, e *container.Entry, depth int) error {
	rc, err := e.Open()
	if err != nil {
		r.add(File{Path: p, Kind: kindOf(p, nil), Size: max(e.Size, 0), Reason: err.Error()})
		return nil
	}
	defer rc.Close()
	at := len(r.tree.Files)
	var check hash.Hash
	var declared container.Digest
	for _, d := range e.Digests {
		switch {
		case d.Algorithm == container.SHA256:
			check, declared = nil, d
		case d.Algorithm == container.CRC32 && declared.Value == "":
			check, declared = crc32.NewIEEE(), d
		}
	}
	if err := r.stream(p, rc, check, e.Size); err != nil {
		return err
	}
	f := &r.tree.Files[at]
	if f.SHA256 != "" && declared.Value != "" {
		observed := f.SHA256
		if check != nil {
			observed = hex.EncodeToString(check.Sum(nil))
		}
		if !strings.EqualFold(observed, declared.Value) {
			c := Contradiction{
				Path: p, Container: cmpOr(parent, r.tree.Name), ContainerSHA256: digest, Type: e.Type, Algorithm: declared.Algorithm,
				Declared: declared.Value, Observed: observed, SHA256: f.SHA256, Unpacked: e.Unpacked,
			}
			if !r.opts.Continue {
				return &ErrContradiction{c}
			}
			r.tree.Contradictions = append(r.tree.Contradictions, c)
			f.Contradicted, f.Data, f.Reason = true, nil, "its bytes contradict the digest that its container declares"
			return nil
		}
	}
	return r.expand(at, depth)
}

// file reads a file of a folder; an archive among them is opened where it lies.
func (r *reader) file(p string, file *os.File, size int64, companion asar.Companion, depth int) error {
	head := make([]byte, 4096)
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		r.add(File{Path: p, Kind: Other, Size: size, Reason: reasonOf(err)})
		return nil
	}
	at := len(r.tree.Files)
	if err := r.stream(p, io.NewSectionReader(file, 0, size), nil, size); err != nil {
		return err
	}
	src := io.NewSectionReader(file, 0, size)
	open := archive(head[:n], src)
	if open == nil || r.tree.Format == "file" || !holdsCode(p, head[:n]) {
		return nil
	}
	return r.open(at, open, companion, depth)
}

// holdsCode reports whether an archive in an application is opened.
func holdsCode(p string, head []byte) bool {
	if asar.Is(head) {
		return true
	}
	switch strings.ToLower(path.Ext(p)) {
	case ".zip", ".vsix", ".crx", ".xpi", ".nw", ".apk", ".ipa", ".aab", ".jar":
		return true
	}
	return false
}

// expand opens an archive that was read out of another.
func (r *reader) expand(at, depth int) error {
	f := &r.tree.Files[at]
	if f.Kind != Container {
		return nil
	}
	if f.Data == nil {
		if f.Reason == "" {
			f.Reason = fmt.Sprintf("it has more than %d bytes, and an archive in an archive is opened in memory", r.opts.MaxFileBytes)
		}
		return nil
	}
	data := f.Data
	f.Data = nil
	head := data[:min(len(data), 4096)]
	if !holdsCode(f.Path, head) {
		return nil
	}
	open := archive(head, io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))))
	if open == nil {
		return nil
	}
	return r.open(at, open, nil, depth)
}

func (r *reader) open(at int, open opener, companion asar.Companion, depth int) error {
	f := &r.tree.Files[at]
	f.Kind, f.Data = Container, nil
	if depth >= r.opts.MaxDepth {
		f.Reason = fmt.Sprintf("archives in archives are opened to depth %d", r.opts.MaxDepth)
		return nil
	}
	c, err := open(companion)
	if err != nil {
		f.Reason = err.Error()
		return nil
	}
	return r.entries(f.Path, f.SHA256, c, depth+1)
}
