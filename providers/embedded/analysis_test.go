package embedded

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"rea/providers/embedded/program"
	"rea/runtime/progress"
)

// slow is an analysis whose runs end only when told to.
type slow struct {
	analysis
	runs    chan context.Context
	release chan error
}

func newSlow() *slow {
	s := &slow{runs: make(chan context.Context, 8), release: make(chan error)}
	s.start = func(ctx context.Context, report func(string, int, int)) (*program.Program, error) {
		report("descent", 1, 2)
		s.runs <- ctx
		select {
		case err := <-s.release:
			return &program.Program{}, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s
}

func TestConcurrentCallersShareOneRun(t *testing.T) {
	s := newSlow()
	var wg sync.WaitGroup
	got := make([]*program.Program, 8)
	for i := range got {
		wg.Go(func() { got[i], _ = s.get(t.Context()) })
	}
	<-s.runs
	for s.activity().Queued != len(got)-1 {
		time.Sleep(time.Millisecond)
	}
	s.release <- nil
	wg.Wait()
	for i, p := range got {
		if p == nil || p != got[0] {
			t.Fatalf("caller %d got %p, caller 0 %p", i, p, got[0])
		}
	}
	if p, err := s.get(t.Context()); p != got[0] || err != nil {
		t.Fatalf("a later caller got %p, %v", p, err)
	}
	if len(s.runs) != 0 {
		t.Fatal("it ran more than once")
	}
}

func TestRunStopsWithItsLastCaller(t *testing.T) {
	s := newSlow()
	first, stopFirst := context.WithCancel(t.Context())
	second, stopSecond := context.WithCancel(t.Context())
	defer stopSecond()
	errs := make(chan error, 2)
	for _, ctx := range []context.Context{first, second} {
		go func() { _, err := s.get(ctx); errs <- err }()
	}
	run := <-s.runs
	for s.activity().Queued != 1 {
		time.Sleep(time.Millisecond)
	}
	stopFirst()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if run.Err() != nil {
		t.Fatal("the run stopped although somebody still waits")
	}
	stopSecond()
	<-errs
	<-run.Done()
	if a := s.activity(); a.Status != "idle" {
		t.Fatalf("activity is %+v", a)
	}
	go func() { _, err := s.get(t.Context()); errs <- err }()
	<-s.runs
	s.release <- nil
	if err := <-errs; err != nil {
		t.Fatalf("the next caller got %v", err)
	}
}

func TestFailedAndPanickingRunsAreTriedAgain(t *testing.T) {
	var a analysis
	n := 0
	a.start = func(context.Context, func(string, int, int)) (*program.Program, error) {
		switch n++; n {
		case 1:
			return nil, errors.New("first")
		case 2:
			panic("second")
		}
		return &program.Program{}, nil
	}
	for i := range 3 {
		p, err := a.get(t.Context())
		if (err != nil) != (i < 2) || (p != nil) != (i == 2) {
			t.Fatalf("call %d: %v, %v", i, p, err)
		}
	}
}

func TestStopEndsTheRunAndRefusesQuestions(t *testing.T) {
	s := newSlow()
	errs := make(chan error, 1)
	go func() { _, err := s.get(t.Context()); errs <- err }()
	run := <-s.runs
	s.stop()
	if run.Err() == nil {
		t.Fatal("the run goes on after stop returned")
	}
	if err := <-errs; err == nil {
		t.Fatal("the caller got a program")
	}
	if _, err := s.get(t.Context()); !errors.Is(err, errClosed) {
		t.Fatalf("got %v", err)
	}
}

func TestCallersSeeProgress(t *testing.T) {
	s := newSlow()
	seen := make(chan string, 8)
	ctx := progress.With(t.Context(), progress.NewReporter(func(_ int64, m string) { seen <- m }))
	go func() { <-s.runs; s.release <- nil }()
	if _, err := s.get(ctx); err != nil {
		t.Fatal(err)
	}
	if m := <-seen; m != "analysing: descent, 1 of 2" {
		t.Fatalf("progress was %q", m)
	}
}
