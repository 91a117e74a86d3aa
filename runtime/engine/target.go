package engine

import (
	"sync"

	"rea/generated/model"
)

// Target is one opened file: the bytes that were read once, and their
// identity. Nothing of it changes after it was opened.
type Target struct {
	Path         string // absolute
	Name         string // file name
	SHA256       string
	Data         []byte
	Kind         model.TargetKind
	Format       model.TargetFormat
	Architecture model.Architecture
	Slice        string   // chosen slice of a universal file, or ""
	Slices       []string // every slice that could be chosen

	mu   sync.Mutex
	memo map[string]func() (any, error)
}

// Memo computes f once for t under key and gives its result to every caller:
// how the parsed image is shared by engines and format tools.
func Memo[T any](t *Target, key string, f func() (T, error)) (T, error) {
	t.mu.Lock()
	once, ok := t.memo[key]
	if !ok {
		once = sync.OnceValues(func() (any, error) { return f() })
		if t.memo == nil {
			t.memo = map[string]func() (any, error){}
		}
		t.memo[key] = once
	}
	t.mu.Unlock()
	v, err := once()
	if err != nil {
		var zero T
		return zero, err
	}
	return v.(T), nil
}

// Keep puts a value that is computed already under key, as Memo would.
func (t *Target) Keep(key string, v any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.memo == nil {
		t.memo = map[string]func() (any, error){}
	}
	t.memo[key] = func() (any, error) { return v, nil }
}
