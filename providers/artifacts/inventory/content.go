package inventory

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"rea/providers/format/container"
	"rea/providers/format/zip"
)

var buffers = sync.Pool{New: func() any { return new([256 << 10]byte) }}

// sourced is content that lies in a file of its own.
type sourced interface{ Source() container.Source }

// content reads the content of one item, hashes it, and expands it when it is a
// container. The error ends the walk.
func (w *walk) content(it *Item, e *container.Entry, depth int64, again bool, beside companion, up *ancestors) error {
	if err := w.budget.check(); err != nil {
		return w.unread(it, nil, err)
	}
	rc, err := e.Open()
	if err != nil {
		return w.unread(it, nil, err)
	}
	defer rc.Close()
	if s, ok := rc.(sourced); ok {
		src := s.Source()
		e.Section = io.NewSectionReader(watched{w.ctx, src}, 0, src.Size())
	}
	c := &content{walk: w, it: it, e: e, depth: depth, up: &ancestors{item: it, up: up, scope: up.scope}, beside: beside}
	if c.up.scope == nil { // a file of a directory
		c.up.scope = &scope{size: e.Size}
	}
	c.m = &meter{r: rc, b: w.budget, of: c.up.scope, packed: e.Packed}
	buffer := buffers.Get().(*[256 << 10]byte)
	defer buffers.Put(buffer)
	n, err := fill(c.m, buffer[:headSize])
	if err != nil && err != io.EOF {
		return w.unread(it, c, err)
	}
	c.ended = err == io.EOF
	c.head = buffer[:n]
	it.Identity = identify(c.head, c.ended)
	c.open = c.opener()
	return c.read(buffer[headSize:], again)
}

// content is what one reading needs.
type content struct {
	walk   *walk
	it     *Item
	e      *container.Entry
	depth  int64
	up     *ancestors
	beside companion
	m      *meter
	head   []byte
	ended  bool // head is everything
	open   *opener
	digest *digester
	out    io.Writer // digest and sink
	sink   bool
}

// opener decides whether and how the content is expanded.
func (c *content) opener() *opener {
	it, w := c.it, c.walk
	if c.e.Section != nil && openerOf(it.Format) == nil {
		if format := atEnd(c.e.Section, it.Identity); format != "" {
			if it.Kind == KindExecutable || it.Kind == KindScript {
				it.note("a %s archive stands behind the program", format)
				return w.allowed(c, openerOf(format))
			}
			it.Identity = Identity{Format: format, Kind: KindContainer}
		} else if format, at := behind(c.e.Section, c.head); format != "" {
			return w.allowed(c, it.behind(format, at))
		}
	}
	return w.allowed(c, openerOf(it.Format))
}

func (w *walk) allowed(c *content, o *opener) *opener {
	switch {
	case o == nil:
		if c.it.Kind == KindContainer {
			c.it.Opaque = true
			c.it.note("what is in it is not read: there is no reader of %s", c.it.Format)
		}
		return nil
	case w.Shallow && w.sel == nil && c.it.Type != container.Stream, w.Shallow && w.sel != nil && !w.sel.reaches(c.it.Path):
		return nil
	case c.depth >= w.budget.Depth:
		w.budget.note(LimitDepth, c.it.Path, -1)
		c.it.note("it is a container and not expanded: the limit of depth was reached")
		return nil
	}
	return o
}

// atEnd finds formats that say what they are at the end of the file.
func atEnd(src container.Source, id Identity) string {
	var tail [tailSize]byte
	n := min(src.Size(), tailSize)
	if n < 22 {
		return ""
	}
	if k, _ := src.ReadAt(tail[tailSize-n:], src.Size()-n); int64(k) < n {
		return ""
	}
	switch {
	case n == tailSize && string(tail[:4]) == "koly":
		return "udif"
	case string(tail[tailSize-22:tailSize-18]) == "PK\x05\x06" && id.Kind != KindText && zip.HasEnd(src):
		return "zip"
	}
	return ""
}

// read chooses the way through the content.
func (c *content) read(buffer []byte, again bool) error {
	w, e := c.walk, c.e
	c.digest = newDigester(e.Digests, e.Trailer != nil)
	c.out = c.digest
	if w.Sink != nil && w.sel.wants(c.it.Path) {
		to, err := w.Sink.Begin(c.it, c.open != nil)
		if err != nil {
			return err
		}
		if to != nil {
			c.sink = true
			c.out = io.MultiWriter(c.digest, to)
		}
	}
	switch {
	case c.open == nil:
		return c.finish(c.copy(buffer, c.out), nil)
	case e.Section != nil:
		if err := c.finish(c.copy(buffer, c.out), nil); err != nil || !c.expandable() {
			return err
		}
		return c.inside(func() (container.Reader, error) { return c.open.source(e.Section, c.beside) })
	case c.open.stream != nil && len(e.Digests) == 0:
		return c.through(buffer)
	case c.open.stream != nil && again:
		return c.twice(buffer)
	}
	return c.spooled(buffer)
}

// copy reads all into out.
func (c *content) copy(buffer []byte, out io.Writer) error {
	if _, err := out.Write(c.head); err != nil {
		return &sinkError{err}
	}
	for !c.ended {
		n, err := c.m.Read(buffer)
		if n > 0 {
			if _, err := out.Write(buffer[:n]); err != nil {
				return &sinkError{err}
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sinkError is a failure of writing, which ends the walk.
type sinkError struct{ err error }

func (e *sinkError) Error() string { return "writing: " + e.err.Error() }
func (e *sinkError) Unwrap() error { return e.err }

// expandable reports whether the content was read and is not contradicted.
func (c *content) expandable() bool {
	it := c.it
	if it.Status == Mismatched {
		it.note("its content contradicts what is declared and is not expanded")
		return false
	}
	if it.Status != Verified && it.Status != Observed {
		return false
	}
	if c.up.up.has(it.SHA256) {
		it.note("it is one of the containers around itself and is not expanded again")
		return false
	}
	return true
}

// inside expands the content with a reader that is made now.
func (c *content) inside(open func() (container.Reader, error)) error {
	r, err := open()
	if err != nil {
		if container.KindOf(err) == "" && limitOf(err) == "" {
			return err
		}
		c.it.note("it cannot be expanded: %v", err)
		c.it.Inside = &Node{Path: c.it.Path, Format: c.it.Format, Failed: err}
		return nil
	}
	n, err := c.walk.expand(r, c.it.Path, c.depth+1, c.up)
	c.it.Inside = n
	if err == nil {
		c.it.Format = n.family(c.it.Format)
	}
	return err
}

// through expands the content while it is hashed.
func (c *content) through(buffer []byte) error {
	var in io.Reader = c.m
	if !c.ended && c.e.Section == nil && c.it.Method != "stored" && c.walk.pool.jobs != nil {
		a := newAhead(c.m)
		defer a.Close()
		in = a
	}
	failed := &sticky{r: io.MultiReader(bytes.NewReader(c.head), in)}
	tee := io.TeeReader(failed, c.out)
	r, err := c.open.stream(tee)
	if err != nil {
		return err
	}
	n, err := c.walk.expand(r, c.it.Path, c.depth+1, c.up)
	c.it.Inside = n
	if err != nil {
		return err
	}
	c.it.Format = n.family(c.it.Format)
	_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, tee, buffer)
	if failed.err != nil && failed.err != io.EOF {
		err = failed.err
	}
	return c.finish(err, n)
}

// sticky remembers what ended a stream, whoever saw it.
type sticky struct {
	r   io.Reader
	err error
}

func (s *sticky) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.r.Read(p)
	s.err = err
	return n, err
}

// twice hashes first and opens the content again to expand it.
func (c *content) twice(buffer []byte) error {
	if err := c.finish(c.copy(buffer, c.out), nil); err != nil || !c.expandable() {
		return err
	}
	rc, err := c.e.Open()
	if err != nil {
		return err
	}
	defer rc.Close()
	free := &meter{r: rc, b: c.walk.budget, of: c.up.scope, packed: c.e.Packed, free: true}
	return c.inside(func() (container.Reader, error) { return c.open.stream(free) })
}

// spooled keeps the content aside to expand it.
func (c *content) spooled(buffer []byte) error {
	s := new(spool)
	defer s.Close()
	if err := c.finish(c.copy(buffer, io.MultiWriter(c.out, s)), nil); err != nil || !c.expandable() {
		return err
	}
	return c.inside(func() (container.Reader, error) { return c.open.source(s.source(c.walk.ctx), c.beside) })
}

// finish compares what was read with what was declared. n is what was expanded
// on the way.
func (c *content) finish(failed error, n *Node) error {
	it, w := c.it, c.walk
	if failed != nil {
		return w.unread(it, c, failed)
	}
	it.SHA256, it.Size = c.digest.sha256(), c.digest.n
	declared := c.e.Digests
	if c.e.Trailer != nil {
		before := len(c.e.Notes)
		declared = append(declared, c.e.Trailer()...)
		it.Notes = append(it.Notes, c.e.Notes[before:]...)
	}
	it.Status = Observed
	for _, d := range declared {
		check, known := c.digest.check(d, it.SHA256)
		if !known {
			it.note("the declared %s is not verified", d.Algorithm)
			continue
		}
		it.Checks = append(it.Checks, check)
	}
	for _, b := range c.digest.blocks {
		if check, bad := b.check(); bad {
			it.Checks = append(it.Checks, check)
		}
	}
	if it.Declared >= 0 && it.Declared != it.Size {
		it.Checks = append(it.Checks, c.digest.size(it.Declared))
	}
	for _, check := range it.Checks {
		if it.Status == Observed {
			it.Status = Verified
		}
		if !check.Matches {
			it.Status, it.Quarantined = Mismatched, true
			if !w.Continue {
				return &Mismatch{it, check}
			}
		}
	}
	if it.Status == Mismatched && n != nil {
		it.Inside = nil
		it.note("its content contradicts what is declared; what it holds is left out")
		if w.Sink != nil {
			if err := w.Sink.Drop(n); err != nil {
				return err
			}
		}
	}
	if c.sink {
		return w.Sink.End(it, nil)
	}
	return nil
}

// unread says why content was not read. The error ends the walk.
func (w *walk) unread(it *Item, c *content, err error) error {
	if ctx := w.ctx.Err(); ctx != nil {
		return ctx
	}
	limit, kind := limitOf(err), container.KindOf(err)
	var write *sinkError
	switch {
	case errors.As(err, &write):
		return write.err
	case limit != "":
		it.Status, it.Limit = NotHashed, limit
		it.note("not read to its end: the limit of %s was reached", limit)
		w.budget.note(limit, it.Path, 1)
	default:
		it.Status, it.Why = Unreadable, kind
		if kind == "" {
			it.Why = container.Corrupt
		}
		it.note("%v", err)
	}
	if c != nil && c.sink {
		return w.Sink.End(it, err)
	}
	return nil
}
