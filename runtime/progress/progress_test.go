package progress

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

type update struct {
	N  int64
	At time.Duration
	S  string
}

// record collects updates with the time since the start of the bubble.
func record(start time.Time, got *[]update) Sink {
	var mu sync.Mutex
	return func(n int64, message string) {
		mu.Lock()
		defer mu.Unlock()
		*got = append(*got, update{n, time.Since(start), message})
	}
}

func TestReporter_bounds_the_rate_and_keeps_the_latest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []update
		r := NewReporter(record(time.Now(), &got))
		ctx := With(t.Context(), r)
		Report(ctx, "first")
		time.Sleep(30 * time.Millisecond)
		Report(ctx, "superseded")
		time.Sleep(30 * time.Millisecond)
		Report(ctx, "second")
		time.Sleep(time.Second)
		Report(ctx, "third")
		time.Sleep(time.Millisecond)
		Report(ctx, "superseded by the end")
		r.Finish("done")
		r.Finish("again")
		Report(ctx, "late")
		time.Sleep(time.Second)
		synctest.Wait()
		want := []update{
			{1, 0, "first"},
			{2, 100 * time.Millisecond, "second"},
			{3, 1060 * time.Millisecond, "third"},
			{4, 1061 * time.Millisecond, "done"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("updates (-want +got):\n%s", diff)
		}
	})
}

func TestReporter_under_concurrency_stays_in_order(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []update
		r := NewReporter(record(time.Now(), &got))
		ctx := With(t.Context(), r)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 200 {
					Report(ctx, "work")
					time.Sleep(7 * time.Millisecond)
				}
			})
		}
		wg.Wait()
		r.Finish("done")
		for i, u := range got {
			if u.N != int64(i+1) {
				t.Fatalf("update %d has number %d", i, u.N)
			}
			if i > 0 && i < len(got)-1 && u.At-got[i-1].At < Interval {
				t.Errorf("update %d came %v after the one before", i, u.At-got[i-1].At)
			}
		}
		if len(got) < 10 || got[len(got)-1].S != "done" {
			t.Errorf("%d updates, the last %q", len(got), got[len(got)-1].S)
		}
	})
}

func TestReport_without_listener(t *testing.T) {
	Report(context.Background(), "nobody hears")
	if Listening(context.Background()) {
		t.Error("a bare context has a listener")
	}
}

func TestReporter_cleans_messages(t *testing.T) {
	var got []update
	NewReporter(record(time.Now(), &got)).Finish("a\x1b[31m\nb\u009b\xff" + strings.Repeat("é", 400))
	s := got[0].S
	if !strings.HasPrefix(s, "a\ufffd[31m\ufffdb\ufffd\ufffdé") || len(s) > maxMessage+len("…") || !strings.HasSuffix(s, "é…") {
		t.Errorf("message is %q", s)
	}
}

func TestBroadcast_reaches_every_follower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Broadcast
		work := b.Context(t.Context())
		var early, late []update
		stopEarly := b.Follow(With(t.Context(), NewReporter(record(time.Now(), &early))))
		Report(work, "one")
		time.Sleep(time.Second)
		stopLate := b.Follow(With(t.Context(), NewReporter(record(time.Now(), &late))))
		time.Sleep(time.Second)
		stopEarly()
		stopEarly()
		Report(work, "two")
		stopLate()
		b.Follow(t.Context())()
		want := func(at ...update) []update { return at }
		if diff := cmp.Diff(want(update{1, 0, "one"}), early); diff != "" {
			t.Errorf("early follower (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want(update{1, 0, "one"}, update{2, time.Second, "two"}), late); diff != "" {
			t.Errorf("late follower (-want +got):\n%s", diff)
		}
	})
}

func TestTerminal(t *testing.T) {
	for _, tt := range []struct {
		name        string
		interactive bool
		takes       time.Duration
		want        string
	}{
		{"quick_command_is_silent", true, 900 * time.Millisecond, ""},
		{"slow_command_on_a_terminal", true, 1500 * time.Millisecond, "\r\x1b[Kloading\r\x1b[Kstill loading\r\x1b[K"},
		{"slow_command_in_a_pipe", false, 1500 * time.Millisecond, "loading\nstill loading\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				term := NewTerminal(&out, tt.interactive)
				r := NewReporter(term.Sink)
				r.Report("loading")
				time.Sleep(tt.takes)
				if tt.takes > Patience {
					r.Report("still loading")
				}
				term.Close()
				r.Finish("done")
				if out.String() != tt.want {
					t.Errorf("shown %q, want %q", out.String(), tt.want)
				}
			})
		})
	}
}
