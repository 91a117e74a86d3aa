// Package child runs processes that belong to us: engines and their helpers.
//
// A child gets a process group of its own (a job object on Windows), so that
// ending it ends what it has started as well. It lives as long as its context:
// when that ends, the group is asked to end, and killed when it has not after
// the grace. [Process.Wait] must be called; it returns when the child has ended
// and its output was read.
//
// Only processes that were started here are ever signalled, and only while they
// are known to be running: a process id that has been waited for is not used.
package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

// DefaultGrace is how long a child may take to end by itself.
const DefaultGrace = 5 * time.Second

// Command says what to run.
type Command struct {
	Path string   // absolute, or looked up in PATH
	Args []string // without the name
	Dir  string
	Env  []string // nil is the environment of this process
	// Stdin is read by the child; nil is an empty input.
	Stdin io.Reader
	// Stdout and Stderr are written by the child; nil discards.
	Stdout, Stderr io.Writer
	// Grace is how long the child may take to end when its context has; 0 is
	// DefaultGrace.
	Grace time.Duration
}

// A Process is one running child.
type Process struct {
	cmd   *exec.Cmd
	ctx   context.Context
	grace time.Duration
	group group

	mu     sync.Mutex
	ended  bool // Wait has returned, or is about to
	killed bool

	done chan struct{} // closed when ended
	err  error
}

// Start runs the command until it ends or ctx does.
func Start(ctx context.Context, c Command) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := exec.LookPath(c.Path)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.Path, err)
	}
	grace := c.Grace
	if grace <= 0 {
		grace = DefaultGrace
	}
	cmd := exec.Command(path, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	// Output that a descendant keeps open is not waited for longer than this.
	cmd.WaitDelay = grace
	p := &Process{cmd: cmd, ctx: ctx, grace: grace, done: make(chan struct{})}
	if err := p.group.start(cmd); err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.Path, err)
	}
	go p.watch()
	go p.wait()
	return p, nil
}

// wait ends what the child leaves behind, while its id is still its own, and
// reaps it.
func (p *Process) wait() {
	p.group.sweep()
	err := p.cmd.Wait()
	p.mu.Lock()
	p.ended = true
	killed := p.killed
	p.mu.Unlock()
	p.group.close()
	if cause := p.ctx.Err(); cause != nil && killed {
		err = errors.Join(cause, err)
	}
	p.err = err
	close(p.done)
}

// watch ends the child when its context ends.
func (p *Process) watch() {
	select {
	case <-p.done:
		return
	case <-p.ctx.Done():
	}
	p.end(p.group.ask)
	timer := time.NewTimer(p.grace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		p.end(p.group.kill)
	}
}

// end sends a signal unless the child has been reaped.
func (p *Process) end(signal func(pid int) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.killed = true
	signal(p.cmd.Process.Pid)
}

// Kill ends the child and its group at once.
func (p *Process) Kill() { p.end(p.group.kill) }

// Wait returns when the child has ended. The error is nil for exit status 0, an
// [*exec.ExitError] for another, and wraps the error of the context when that
// ended the child.
func (p *Process) Wait() error {
	<-p.done
	return p.err
}

// Done is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// PID of the child; it is not to be signalled.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// A Snapshot is what was seen of a child and its descendants at one moment. It
// is history as soon as it exists, and says nothing of processes that came and
// went between two snapshots.
type Snapshot struct {
	PID         int
	Parent      int
	Group       int
	Descendants []int // sorted
}

// ErrUnavailable is returned where the host cannot tell, or the child has ended.
var ErrUnavailable = errors.New("process information is unavailable")

// Snapshot looks at the child and its descendants.
func (p *Process) Snapshot() (Snapshot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return Snapshot{}, fmt.Errorf("%w: the child has ended", ErrUnavailable)
	}
	return snapshot(p.cmd.Process.Pid)
}

// Output runs a command to its end and returns at most limit bytes of its
// standard output. More than that is an error.
func Output(ctx context.Context, c Command, limit int) ([]byte, error) {
	out := &limited{left: limit}
	c.Stdout = out
	p, err := Start(ctx, c)
	if err != nil {
		return nil, err
	}
	err = p.Wait()
	if out.full {
		return out.data, fmt.Errorf("%s wrote more than %d bytes", c.Path, limit)
	}
	return out.data, err
}

// limited keeps the first bytes and ends the writer when there are more.
type limited struct {
	data []byte
	left int
	full bool
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.left {
		l.data = append(l.data, p[:l.left]...)
		l.left, l.full = 0, true
		return 0, io.ErrShortWrite
	}
	l.data, l.left = append(l.data, p...), l.left-len(p)
	return len(p), nil
}
