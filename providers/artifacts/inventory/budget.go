package inventory

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of a walk. All are positive.
type Bounds struct {
	Depth      int64 // containers inside one another
	Entries    int64 // listed in all
	EntryBytes int64 // content of one entry
	TotalBytes int64 // content of all
	Ratio      int64 // content per packed byte
	PathBytes  int64 // length of a raw name
	Seconds    int64
	// EntryFloor is the content of one entry up to which its ratio is not looked
	// at, TotalFloor that of all contents of one file. 0 is the default: what is
	// read in a second or two, however repetitive it is.
	EntryFloor, TotalFloor int64
}

const (
	entryFloor = 256 << 20
	totalFloor = 1 << 30
)

// A scope holds all contents of one file, however deep they are in it, to what
// the file takes itself.
type scope struct {
	size  int64
	total atomic.Int64
}

// A Limit that was reached.
type Limit struct {
	Name    string
	Value   int64
	At      string // first logical path, in order
	LeftOut int64  // occurrences; -1 when unknown
}

// The names of limits.
const (
	LimitEntries    = "entries"
	LimitEntryBytes = "entry_bytes"
	LimitTotalBytes = "total_bytes"
	LimitPathBytes  = "path_bytes"
	LimitDepth      = "depth"
	LimitRatio      = "ratio"
	LimitTime       = "time"
)

// errLimit ends the reading of a content.
type errLimit struct{ name string }

func (e *errLimit) Error() string { return "the limit of " + e.name + " was reached" }

// limitOf names the limit that an error stands for, "" when it is another error.
func limitOf(err error) string {
	var e *errLimit
	if errors.As(err, &e) {
		return e.name
	}
	return ""
}

// budget counts a walk against its bounds. It is used concurrently.
type budget struct {
	Bounds
	ctx      context.Context
	deadline time.Time
	entries  atomic.Int64
	total    atomic.Int64
	// global tells that a bound over the whole was hit, so that what was cut
	// depends on the order of work.
	global atomic.Bool

	mu      sync.Mutex
	reached map[string]*Limit
}

func newBudget(ctx context.Context, b Bounds) *budget {
	b.EntryFloor, b.TotalFloor = cmp.Or(b.EntryFloor, entryFloor), cmp.Or(b.TotalFloor, totalFloor)
	return &budget{Bounds: b, ctx: ctx, deadline: time.Now().Add(time.Duration(b.Seconds) * time.Second), reached: map[string]*Limit{}}
}

// entry counts an entry and reports whether it may still be listed.
func (b *budget) entry() bool {
	if b.entries.Add(1) > b.Entries {
		b.entries.Add(-1)
		b.global.Store(true)
		return false
	}
	return true
}

// note remembers that a limit left out n occurrences, -1 for unknown.
func (b *budget) note(name, at string, n int64) {
	value := map[string]int64{
		LimitEntries: b.Entries, LimitEntryBytes: b.EntryBytes, LimitTotalBytes: b.TotalBytes, LimitPathBytes: b.PathBytes,
		LimitDepth: b.Depth, LimitRatio: b.Ratio, LimitTime: b.Seconds,
	}[name]
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.reached[name]
	if l == nil {
		l = &Limit{Name: name, Value: value, At: at}
		b.reached[name] = l
	}
	if n < 0 || l.LeftOut < 0 {
		l.LeftOut = -1
		return
	}
	l.LeftOut += n
}

// late reports whether the time is over.
func (b *budget) late() bool { return time.Now().After(b.deadline) }

// check fails when the call was cancelled or its time is over.
func (b *budget) check() error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	if b.late() {
		return &errLimit{LimitTime}
	}
	return nil
}

// meter is the only way contents are read: it counts them against every bound.
type meter struct {
	r      io.Reader
	b      *budget
	of     *scope
	packed int64 // bytes the content takes in its container, -1 when unknown
	free   bool  // the content was counted already
	n      int64
	since  int64 // bytes since context and clock were looked at
	failed error
}

// checkEvery is how much is read between two looks at context and clock.
const checkEvery = 128 << 10

func (m *meter) Read(p []byte) (int, error) {
	if m.failed != nil {
		return 0, m.failed
	}
	if m.n == 0 || m.since >= checkEvery {
		m.since = 0
		if m.failed = m.b.check(); m.failed != nil {
			return 0, m.failed
		}
	}
	n, err := m.r.Read(p[:min(len(p), checkEvery)])
	m.n += int64(n)
	m.since += int64(n)
	if n > 0 && !m.free {
		if limit := m.count(int64(n)); limit != "" {
			err = &errLimit{limit}
			n = 0
		}
	}
	m.failed = err
	return n, err
}

// count adds to the budget and names the limit that was reached, if any.
func (m *meter) count(n int64) string {
	total := m.b.total.Add(n)
	switch {
	case m.n > m.b.EntryBytes:
		return LimitEntryBytes
	case total > m.b.TotalBytes:
		m.b.global.Store(true)
		return LimitTotalBytes
	case m.packed >= 0 && m.n > m.b.EntryFloor && m.n/m.b.Ratio > m.packed:
		return LimitRatio
	}
	if all := m.of.total.Add(n); all > m.b.TotalFloor && all/m.b.Ratio > m.of.size {
		m.b.global.Store(true)
		return LimitRatio
	}
	return ""
}
