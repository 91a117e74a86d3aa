package inventory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"

	"rea/providers/format/container"
	"rea/runtime/progress"
)

// Options of a walk.
type Options struct {
	Bounds Bounds
	// Continue records contradictory content; otherwise it stops the walk.
	Continue bool
	Select   []string // logical paths; nil for everything
	// Shallow expands containers only on the way to what is selected.
	Shallow bool
	Sink    Sink // nil for none
}

// A Sink receives the contents of selected items, one at a time.
type Sink interface {
	// Begin gives where the content goes, nil when it is not wanted. The content
	// of expanded items is given too.
	Begin(it *Item, expanded bool) (io.Writer, error)
	// End follows the content; a failed one was not read to its end.
	End(it *Item, failed error) error
	// Drop takes back what was received from a container whose own content
	// turned out to contradict its digest.
	Drop(n *Node) error
}

// A Result is a finished walk.
type Result struct {
	Root     *Item // Inside is what it holds
	Limits   []Limit
	Missed   []string // selected and not found
	Expanded int64    // containers
	Bytes    int64    // content that was read
}

type walk struct {
	Options
	ctx    context.Context
	cancel context.CancelCauseFunc
	budget *budget
	sel    *selection
	pool   *pool
	nodes  int64
	mu     sync.Mutex
}

// ancestors are the contents around a container, for archives that hold
// themselves.
type ancestors struct {
	item *Item
	up   *ancestors
	// scope of the file that all of it is in.
	scope *scope
	// pending is the digest of a root that is being hashed, nil once it is known.
	pending *pendingHash
}

// pendingHash lets those who need a digest wait for it.
type pendingHash struct {
	done chan struct{}
	err  error // once done
}

func (a *ancestors) has(sha256 string) bool {
	for ; a != nil; a = a.up {
		if a.pending != nil {
			<-a.pending.done
		}
		if a.item.SHA256 == sha256 {
			return true
		}
	}
	return false
}

// Walk makes the inventory of the file or directory at path.
func Walk(ctx context.Context, path string, opt Options) (*Result, error) {
	workers := runtime.GOMAXPROCS(0)
	if opt.Sink != nil {
		workers = 1
	}
	res, again, err := walkOnce(ctx, path, opt, workers)
	if err == nil && again && workers > 1 {
		progress.Report(ctx, "a limit was reached; reading again in order")
		res, _, err = walkOnce(ctx, path, opt, 1)
	}
	return res, err
}

func walkOnce(ctx context.Context, path string, opt Options, workers int) (*Result, bool, error) {
	root, err := openRoot(path)
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &walk{
		Options: opt, ctx: inner, cancel: cancel, budget: newBudget(inner, opt.Bounds), sel: newSelection(opt.Select), pool: newPool(workers),
	}
	it, err := w.root(root)
	w.pool.close()
	// A fault in one entry cancels the others: it is the reason, whatever they say.
	if cause := context.Cause(inner); cause != nil && (err == nil || errors.Is(err, context.Canceled)) {
		err = cause
	}
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	if err != nil {
		return nil, false, err
	}
	return &Result{Root: it, Limits: w.budget.limits(), Missed: w.sel.missed(opt.Select), Expanded: w.nodes, Bytes: w.budget.total.Load()}, w.budget.global.Load(), nil
}

// limits that were reached, in a fixed order.
func (b *budget) limits() []Limit {
	var out []Limit
	for _, name := range []string{LimitEntries, LimitEntryBytes, LimitTotalBytes, LimitPathBytes, LimitDepth, LimitRatio, LimitTime} {
		if l := b.reached[name]; l != nil {
			out = append(out, *l)
		}
	}
	return out
}

// expand lists a container. What goes wrong in it is told in the node; an error
// ends the whole walk.
func (w *walk) expand(r container.Reader, path string, depth int64, up *ancestors) (n *Node, err error) {
	n = &Node{Path: path, Format: r.Format()}
	w.mu.Lock()
	w.nodes++
	w.mu.Unlock()
	var jobs sync.WaitGroup
	defer jobs.Wait()
	defer func() {
		if v := recover(); v != nil {
			n.Failed = container.Errorf(r.Format(), container.Corrupt, "the reader gave up: %v", v)
		}
	}()
	late := &siblings{}
	give := func(it *Item, e *container.Entry, beside companion) error {
		if !r.Seekable() {
			return w.content(it, e, depth, false, beside, up)
		}
		jobs.Add(1)
		w.pool.give(w.ctx, depth == 1, func() {
			defer jobs.Done()
			if err := w.content(it, e, depth, true, beside, up); err != nil {
				w.cancel(err)
			}
		})
		return nil
	}
	for e, err := range r.Entries() {
		if w.ctx.Err() != nil {
			return n, context.Cause(w.ctx)
		}
		if err != nil {
			n.Failed = err
			if limit := limitOf(err); limit != "" {
				n.Failed, n.Cut = nil, true
				w.budget.note(limit, path, -1)
			}
			break
		}
		if w.budget.late() {
			n.Cut = true
			w.budget.note(LimitTime, path, -1)
			break
		}
		it, err := w.list(n, e, late)
		if err != nil {
			return n, err
		}
		if n.Cut {
			break
		}
		if it == nil || !e.Type.HasContent() || e.Open == nil {
			continue
		}
		if r.Seekable() && late.wait(it, e) {
			continue
		}
		if err := give(it, e, nil); err != nil {
			return n, err
		}
	}
	for _, l := range late.waiting {
		if err := give(l.it, l.e, late.beside(l.e.Path)); err != nil {
			return n, err
		}
	}
	jobs.Wait()
	n.Claims, n.Notes = r.Claims(), append(n.Notes, r.Notes()...)
	if g, ok := r.(container.Gapped); ok {
		n.Gaps = g.Gaps()
	}
	return n, nil
}

// list puts an entry into the node; nil when it is not wanted.
func (w *walk) list(n *Node, e *container.Entry, late *siblings) (*Item, error) {
	if int64(len(e.Path)) > w.budget.PathBytes {
		w.budget.note(LimitPathBytes, n.Path, 1)
		n.Notes = append(n.Notes, fmt.Sprintf("an entry with a name of %d bytes is left out", len(e.Path)))
		return nil, nil
	}
	path := container.Join(n.Path, e.Path)
	late.add(e)
	if !w.sel.wants(path) && !w.sel.reaches(path) {
		n.Skipped++
		return nil, nil
	}
	if !w.budget.entry() {
		n.Cut = true
		w.budget.note(LimitEntries, path, -1)
		return nil, nil
	}
	it := describe(n.Path, e)
	it.Role = roleOf(e.Path)
	if e.Type == container.Directory && isBundle(e.Path) {
		it.Role = "bundle"
	}
	n.Items = append(n.Items, it)
	if len(n.Items)%512 == 0 {
		progress.Reportf(w.ctx, "%d entries, %d MiB read", w.budget.entries.Load(), w.budget.total.Load()>>20)
	}
	return it, nil
}

// siblings are what the entries of a container have beside them. ASAR archives
// wait until all entries are known.
type siblings struct {
	unpacked map[string]*container.Entry
	waiting  []waiting
}

type waiting struct {
	it *Item
	e  *container.Entry
}

const unpackedSuffix = ".unpacked"

func (s *siblings) add(e *container.Entry) {
	if e.Open == nil || !strings.Contains(e.Path, ".asar"+unpackedSuffix+"/") {
		return
	}
	if s.unpacked == nil {
		s.unpacked = map[string]*container.Entry{}
	}
	s.unpacked[e.Path] = e
}

func (s *siblings) wait(it *Item, e *container.Entry) bool {
	if !strings.HasSuffix(e.Path, ".asar") {
		return false
	}
	s.waiting = append(s.waiting, waiting{it, e})
	return true
}

func (s *siblings) beside(path string) companion {
	return func(inside string) (io.ReadCloser, int64, error) {
		e := s.unpacked[path+unpackedSuffix+"/"+inside]
		if e == nil {
			return nil, 0, errNoCompanion
		}
		rc, err := e.Open()
		return rc, e.Size, err
	}
}

var errNoCompanion = errors.New("there is no such file beside the archive")
