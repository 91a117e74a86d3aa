package conform

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"rea/generated/model"
	"rea/runtime/engine"
)

// State of a check.
type State string

const (
	Passed  State = "passed"
	Differs State = "differs"
	Skipped State = "skipped"
)

// A Check is one check that was run. Notes say what differs, or why it was skipped.
type Check struct {
	Name  string
	State State
	Notes []string
}

// maxNotes bounds what is kept of one check.
const maxNotes = 50

// Verify runs the suite on an engine that open makes for a path. The checks need
// gcc and binutils that build for x86_64 Linux; without them the first check is
// skipped and says so, and there are no others. progress, unless nil, is called
// before each check.
func Verify(ctx context.Context, open func(ctx context.Context, path string) (engine.Engine, error), progress func(name string)) ([]Check, error) {
	dir, err := os.MkdirTemp("", "rea-verify-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var opened []engine.Engine
	var checks []Check
	begin := func(name string, f func(T)) Check {
		if progress != nil {
			progress(name)
		}
		r := &recorder{ctx: ctx, dir: dir, check: Check{Name: name, State: Passed}}
		r.run(f)
		return r.check
	}
	first := begin("program", func(t T) {
		Suite(t, func(name string, unstated model.EngineCapability, check func(T)) {
			if ctx.Err() != nil {
				return
			}
			c := begin(name, check)
			if unstated != "" && c.State == Passed {
				c.State, c.Notes = Skipped, []string{fmt.Sprintf("the engine does not state %s", unstated)}
			}
			checks = append(checks, c)
		}, func(t T, path string) engine.Engine {
			eng, err := open(ctx, path)
			if err != nil {
				t.Fatalf("the engine does not open the program: %v", err)
			}
			opened = append(opened, eng)
			return eng
		})
	})
	var failed []error
	for _, eng := range opened {
		failed = append(failed, eng.Close())
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := errors.Join(failed...); err != nil {
		first.State = Differs
		first.Notes = append(first.Notes, "closing: "+err.Error())
	}
	return append([]Check{first}, checks...), nil
}

// recorder is a T that keeps what it is told.
type recorder struct {
	ctx   context.Context
	dir   string
	mu    sync.Mutex
	check Check
}

// run runs f in a goroutine of its own, which Fatal and Skipf can end.
func (r *recorder) run(f func(T)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				r.Errorf("the check panicked: %v\n%s", p, debug.Stack())
			}
		}()
		f(r)
	}()
	<-done
}

func (r *recorder) Helper()                  {}
func (r *recorder) Context() context.Context { return r.ctx }

func (r *recorder) TempDir() string {
	dir, err := os.MkdirTemp(r.dir, "")
	if err != nil {
		r.Fatal(err)
	}
	return dir
}

func (r *recorder) note(s State, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.check.State = s
	if text = strings.TrimSpace(text); len(r.check.Notes) < maxNotes && !slices.Contains(r.check.Notes, text) {
		r.check.Notes = append(r.check.Notes, text)
	}
}

func (r *recorder) Error(args ...any)                 { r.note(Differs, fmt.Sprintln(args...)) }
func (r *recorder) Errorf(format string, args ...any) { r.note(Differs, fmt.Sprintf(format, args...)) }

func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skipf(format string, args ...any) {
	r.note(Skipped, fmt.Sprintf(format, args...))
	runtime.Goexit()
}
