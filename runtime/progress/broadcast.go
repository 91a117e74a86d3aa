package progress

import (
	"context"
	"sync"
)

// A Broadcast carries the reports of work that several calls wait for, such as
// an analysis that runs once and serves everyone. The zero value is ready.
type Broadcast struct {
	mu        sync.Mutex
	latest    string
	followers map[*Reporter]int
}

// Context returns ctx with the broadcast as its listener.
func (b *Broadcast) Context(ctx context.Context) context.Context {
	return With(ctx, NewReporter(func(_ int64, message string) { b.send(message) }))
}

func (b *Broadcast) send(message string) {
	b.mu.Lock()
	b.latest = message
	followers := make([]*Reporter, 0, len(b.followers))
	for r := range b.followers {
		followers = append(followers, r)
	}
	b.mu.Unlock()
	for _, r := range followers {
		r.Report(message)
	}
}

// Follow forwards reports to the listener of ctx, starting with the latest one,
// until stop is called.
func (b *Broadcast) Follow(ctx context.Context) (stop func()) {
	r, _ := ctx.Value(contextKey{}).(*Reporter)
	if r == nil {
		return func() {}
	}
	b.mu.Lock()
	if b.followers == nil {
		b.followers = map[*Reporter]int{}
	}
	b.followers[r]++
	latest := b.latest
	b.mu.Unlock()
	if latest != "" {
		r.Report(latest)
	}
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.followers[r]--; b.followers[r] <= 0 {
			delete(b.followers, r)
		}
	})
}
