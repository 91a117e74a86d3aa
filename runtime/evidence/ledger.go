package evidence

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"

	"rea/generated/wire"
)

// DefaultMemory is how many record bytes a ledger keeps in memory before it
// writes to a segment.
const DefaultMemory = 16 << 20

// MaxRecords is how many records a ledger holds; the index of so many takes some
// hundred megabytes.
const MaxRecords = 250_000

// ErrFull is returned for a record beyond [MaxRecords].
var ErrFull = fmt.Errorf("the ledger holds %d records, which is the limit", MaxRecords)

// ErrNotHeld is returned for an id that the ledger does not hold.
var ErrNotHeld = errors.New("the ledger holds no such record")

// A Ledger holds the records of one connection: append-only, addressed by
// identity, an equal record held once. Its index stays in memory, bytes beyond
// the memory limit do not. All methods may be called concurrently; reading one
// record or counting them never waits for a record being written.
type Ledger struct {
	dir    string
	memory int64

	writing sync.Mutex // held while bytes are stored; guards current
	current *segment

	mu       sync.RWMutex // guards the index, never held during input or output
	index    map[ID]*entry
	order    []*entry
	inMemory int64
	stored   int64
	shared   map[string]string // strings that many summaries have in common
}

// entry is one record in the index.
type entry struct {
	summary Summary
	digest  [sha256.Size]byte // of the complete canonical bytes
	inline  []byte            // nil when the bytes are in segment
	segment *segment
	offset  int64
}

// NewLedger makes an empty ledger that spills to files in dir; "" is the
// system's place for temporary files. memory 0 selects [DefaultMemory].
func NewLedger(dir string, memory int64) *Ledger {
	if memory <= 0 {
		memory = DefaultMemory
	}
	l := &Ledger{dir: dir, memory: memory}
	l.reset()
	return l
}

// reset empties the index; the caller holds mu or is the only user.
func (l *Ledger) reset() {
	l.index, l.order, l.shared = map[ID]*entry{}, nil, map[string]string{}
	l.inMemory, l.stored = 0, 0
}

// Append adds a record. It reports whether the record is new; a record with an
// identity that is already held changes nothing.
func (l *Ledger) Append(r *Record) (added bool, err error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	if l.Has(r.id) {
		return false, nil
	}
	if l.Len() >= MaxRecords {
		return false, ErrFull
	}
	e := &entry{summary: summarize(r)}
	var hashing sync.WaitGroup
	hashing.Go(func() { e.digest = sum(r.canonical) })
	defer hashing.Wait()
	if l.fits(len(r.canonical)) {
		e.inline = kept(r.canonical)
	} else {
		if l.current == nil {
			if l.current, err = newSegment(l.dir); err != nil {
				return false, err
			}
		}
		if e.offset, err = l.current.write(r.canonical); err != nil {
			return false, err
		}
		e.segment = l.current
	}
	hashing.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.insert(e)
	return true, nil
}

func newEntry(r *Record) *entry {
	return &entry{summary: summarize(r), digest: sum(r.canonical)}
}

// kept is a document that nobody changes, without much unused room behind it.
func kept(doc []byte) []byte {
	if cap(doc)-len(doc) > len(doc)/16+64 {
		return wire.Append(nil, doc)
	}
	return doc[:len(doc):len(doc)]
}

func sum(doc []byte) (digest [sha256.Size]byte) {
	h := sha256.New()
	wire.Write(h, doc)
	h.Sum(digest[:0])
	return digest
}

func (l *Ledger) fits(size int) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.inMemory+int64(size) <= l.memory
}

// insert adds to the index; the caller holds mu.
func (l *Ledger) insert(e *entry) {
	e.summary.share(l.shared)
	l.index[e.summary.ID] = e
	l.order = append(l.order, e)
	l.stored += int64(e.summary.Bytes)
	if e.inline != nil {
		l.inMemory += int64(len(e.inline))
	} else {
		e.segment.hold()
	}
}

// Has reports whether the ledger holds a record.
func (l *Ledger) Has(id ID) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.index[id] != nil
}

// Len is the number of records held.
func (l *Ledger) Len() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.order)
}

// Size is the number of canonical record bytes held.
func (l *Ledger) Size() int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.stored
}

// Get reads one record, or fails with [ErrNotHeld].
func (l *Ledger) Get(id ID) (*Record, error) {
	l.mu.RLock()
	e := l.index[id]
	if e != nil && e.segment != nil {
		e.segment.hold()
		defer e.segment.release()
	}
	l.mu.RUnlock()
	if e == nil {
		return nil, ErrNotHeld
	}
	return e.record()
}

// record reads the record. The caller holds the segment.
func (e *entry) record() (*Record, error) {
	doc, err := e.read(nil)
	if err != nil {
		return nil, err
	}
	r := &Record{id: e.summary.ID, canonical: doc}
	if err := splitObject(doc, 0, memberNames[:], r.spans[:]); err != nil {
		return nil, fmt.Errorf("reading stored evidence %s: %w", r.id, err)
	}
	return r, nil
}

// read returns the canonical bytes, in buf when it is large enough and the
// bytes are in a segment. The caller holds the segment.
func (e *entry) read(buf []byte) ([]byte, error) {
	if e.inline != nil {
		return e.inline, nil
	}
	doc := slices.Grow(buf[:0], e.summary.Bytes)[:e.summary.Bytes]
	if err := e.segment.read(doc, e.offset); err != nil {
		return nil, err
	}
	if sum(doc) != e.digest {
		return nil, fmt.Errorf("reading stored evidence %s: its bytes have changed", e.summary.ID)
	}
	return doc, nil
}

// Summaries are what the ledger holds, in the order it was recorded.
func (l *Ledger) Summaries() []Summary {
	l.mu.RLock()
	defer l.mu.RUnlock()
	out := make([]Summary, len(l.order))
	for i, e := range l.order {
		out[i] = e.summary
	}
	return out
}

// Summary is what the ledger knows of one record; false when it does not hold it.
func (l *Ledger) Summary(id ID) (Summary, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if e := l.index[id]; e != nil {
		return e.summary, true
	}
	return Summary{}, false
}

// Page is up to limit summaries from offset on, in the order of recording.
func (l *Ledger) Page(offset, limit int) (page []Summary, total int) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	total = len(l.order)
	offset = min(max(offset, 0), total)
	for _, e := range l.order[offset:min(offset+max(limit, 0), total)] {
		page = append(page, e.summary)
	}
	return page, total
}

// Clear forgets every record and reports how many there were. Readers that
// have begun finish with what they had.
func (l *Ledger) Clear() int {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.order)
	for _, e := range l.order {
		if e.segment != nil {
			e.segment.release()
		}
	}
	if l.current != nil {
		l.current.release()
		l.current = nil
	}
	l.reset()
	return n
}
