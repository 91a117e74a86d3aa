package bridge

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"rea/runtime/child"
	"rea/runtime/progress"
)

// run is one engine process from its start to its end.
type run struct {
	link    *Link
	cancel  context.CancelCauseFunc
	reports progress.Broadcast
	ready   chan struct{} // closed when the start has settled; err is set by then
	err     error

	// Guarded by Link.mu.
	waiting int
	phase   string

	// Set by start, which no question overtakes.
	place    *Place
	listener *net.UnixListener
	process  *child.Process
	beside   *child.Process // the companion
	output   tail
	conn     *net.UnixConn
	foreign  bool   // the script runs in a process that is not ours
	version  string // of the engine, as it says itself

	lane   chan struct{} // holds the open question
	broken chan struct{} // closed when there will be no more answers
	cause  error         // set before broken is closed

	writing sync.Mutex // of frames, which must not mix

	mu      sync.Mutex // of what follows
	next    int64
	pending *pending
}

func (r *run) enter(phase string) {
	r.link.mu.Lock()
	r.phase = phase
	r.link.mu.Unlock()
}

// start brings the engine to where it answers questions.
func (r *run) start(ctx context.Context) error {
	l := r.link
	limit := l.config.StartTimeout
	late := errors.New("start-up took too long")
	timed, stop := context.WithTimeoutCause(ctx, limit, late)
	defer stop()
	reporting := r.reports.Context(timed)
	progress.Reportf(reporting, "starting %s; the first question waits for import and analysis", l.config.Provider.Name)
	go l.wait(reporting)
	phase, err := r.launch(ctx, timed)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		if cause := context.Cause(ctx); errors.Is(cause, errClosed) {
			return cause
		}
		return context.Canceled
	case context.Cause(timed) == late:
		return l.late(limit, phase)
	}
	return err
}

// launch does the work of start. life ends with the engine, ctx with the start.
func (r *run) launch(life, ctx context.Context) (phase string, err error) {
	l := r.link
	phase = "preparing"
	r.enter(phase)
	Sweep(l.config.Base)
	if r.place, err = newPlace(l.config.Base); err != nil {
		return phase, fmt.Errorf("making a private directory: %w", err)
	}
	if r.listener, err = r.place.listen(); err != nil {
		return phase, fmt.Errorf("listening in a private directory: %w", err)
	}
	if l.config.Companion != nil {
		phase = "starting the companion"
		r.enter(phase)
		if err := r.accompany(life, ctx); err != nil {
			return phase, err
		}
	}
	command, err := l.config.Prepare(ctx, r.place)
	if err != nil {
		return phase, err
	}
	if ctx.Err() != nil {
		return phase, ctx.Err()
	}
	if command.Env == nil {
		command.Env = os.Environ()
	}
	command.Env = append(command.Env, RootVariable+"="+r.place.Root)
	command.Stdout, command.Stderr, command.Grace = &r.output, &r.output, l.config.Grace
	phase = "starting and analysing"
	r.enter(phase)
	if r.process, err = child.Start(life, command); err != nil {
		return phase, l.unavailable("it cannot be started: %v", err)
	}
	l.observe(r)
	err = r.accept(ctx)
	if err == nil {
		l.observe(r)
	}
	return phase, err
}

// accompany starts the companion and waits for its first line.
func (r *run) accompany(life, ctx context.Context) error {
	command, err := r.link.config.Companion(r.place)
	if err != nil {
		return err
	}
	first := &firstLine{ready: make(chan struct{})}
	command.Env = append(command.Env, RootVariable+"="+r.place.Root)
	command.Stdout, command.Stderr, command.Grace = first, &r.output, r.link.config.Grace
	if r.beside, err = child.Start(life, command); err != nil {
		return r.link.unavailable("its companion cannot be started: %v", err)
	}
	select {
	case <-first.ready:
		r.place.Companion = first.text()
		return nil
	case <-r.beside.Done():
		return r.link.unavailable("its companion %s ended: %s", command.Path, r.output.lines(3))
	case <-ctx.Done():
		return ctx.Err()
	}
}

// greeted is a connection whose script has said who it is, or failed to.
type greeted struct {
	conn    *net.UnixConn
	ours    bool
	foreign bool
	version string
	err     error
}

// accept waits for the script. Connections of others are turned away; a script
// of our own process that is not what it must be ends the start.
func (r *run) accept(ctx context.Context) error {
	l := r.link
	found := make(chan greeted)
	accepting, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		for {
			conn, err := r.listener.AcceptUnix()
			if err != nil {
				return
			}
			go func() {
				g := r.greet(accepting, conn)
				select {
				case found <- g:
				case <-accepting.Done():
					conn.Close()
				}
			}()
		}
	}()
	ended := r.process.Done()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
			// A launcher may hand over and end well; the script is what counts.
			if err := r.process.Wait(); err == nil && l.config.HandsOver {
				ended = nil
				continue
			}
			return l.unavailable("it ended before it was ready: %s", r.lastWords())
		case g := <-found:
			switch {
			case g.err == nil:
				r.conn, r.foreign, r.version = g.conn, g.foreign, g.version
				r.listener.Close()
				os.Remove(r.place.Path("token"))
				return nil
			case g.ours:
				g.conn.Close()
				return l.unavailable("its bridge script %v", g.err)
			}
			g.conn.Close()
		}
	}
}

// greet reads the greeting of a connection.
func (r *run) greet(ctx context.Context, conn *net.UnixConn) greeted {
	g := greeted{conn: conn, foreign: true}
	uid, pid, err := peer(conn)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		g.ours, g.foreign = true, false
	case err != nil || uid != os.Getuid():
		g.err = errors.New("belongs to another user")
		return g
	case pid == 0:
		g.ours, g.foreign = true, false
	default:
		g.foreign = pid != r.process.PID() && !inGroup(pid, r.process.PID())
		g.ours = !g.foreign
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	conn.SetDeadline(time.Now().Add(r.link.config.Handshake))
	data, err := ReadFrame(conn, 1<<16)
	if err != nil {
		g.err = fmt.Errorf("did not say who it is: %w", err)
		return g
	}
	var hello greeting
	if err := json.Unmarshal(data, &hello); err != nil {
		g.err = errors.New("sent a greeting that cannot be read")
		return g
	}
	g.version = hello.Version
	if g.err = r.judge(&hello); g.err == nil {
		conn.SetDeadline(time.Time{})
	}
	return g
}

// maxVersion bounds what an engine may say of its version, in bytes.
const maxVersion = 64

// judge compares a greeting with what was expected.
func (r *run) judge(h *greeting) error {
	c := &r.link.config
	if subtle.ConstantTimeCompare([]byte(h.Token), []byte(r.place.token)) != 1 {
		return errors.New("does not know the token")
	}
	switch want := c.Provider.Version; {
	case h.Protocol != Protocol:
		return fmt.Errorf("speaks protocol %d and not %d", h.Protocol, Protocol)
	case h.Engine != c.Provider.ID:
		return fmt.Errorf("is of engine %q and not of %q", h.Engine, c.Provider.ID)
	case len(h.Version) > maxVersion:
		return fmt.Errorf("names a version of %d bytes", len(h.Version))
	case want != nil && h.Version != *want:
		return fmt.Errorf("says that the engine has version %q, and its files say %q", h.Version, *want)
	case !strings.EqualFold(h.SHA256, c.SHA256):
		return fmt.Errorf("says that bytes with SHA-256 %q were imported, and the target has %q", h.SHA256, c.SHA256)
	}
	return nil
}

// lastWords say how the process ended and what it wrote last.
func (r *run) lastWords() string {
	how := "exit status 0"
	if err := r.process.Wait(); err != nil {
		how = err.Error()
	}
	if lines := r.output.lines(3); lines != "" {
		return how + "; it wrote: " + lines
	}
	return how
}

// why tells the reason for the end of the answers.
func (r *run) why(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.mu.Lock()
	cause := r.cause
	r.mu.Unlock()
	if cause == nil {
		cause = errors.New("the connection ended")
	}
	// A connection ends a moment before the process can be asked how it ended.
	// What ends otherwise was ended by us, and how a launcher of somebody else's
	// process ended says nothing.
	if errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrUnexpectedEOF) || errors.Is(cause, syscall.ECONNRESET) {
		select {
		case <-r.process.Done():
			if !r.foreign {
				return r.link.over("it has ended: %s", r.lastWords())
			}
		case <-time.After(time.Second):
		}
	}
	return r.link.over("it was ended, because its bridge broke: %v", cause)
}

func (r *run) setBroken(err error) {
	r.mu.Lock()
	r.cause = err
	r.mu.Unlock()
	close(r.broken)
}

// quit ends what is ours of the engine. One that runs in a process of somebody
// else is asked to let go of our document, and has a moment for it.
func (r *run) quit() {
	ready := isClosed(r.ready) && r.err == nil
	if ready && r.foreign {
		go r.write(question{Quit: true})
		select {
		case <-r.broken:
		case <-time.After(r.link.config.Grace):
		}
	}
	r.cancel(errClosed)
	if ready {
		r.conn.SetDeadline(time.Unix(1, 0))
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// end releases everything the run owns and names the kinds of what remains.
func (r *run) end() (remaining []string) {
	r.cancel(context.Canceled)
	if r.conn != nil {
		r.conn.Close()
	}
	if r.listener != nil {
		r.listener.Close()
	}
	for _, p := range []*child.Process{r.process, r.beside} {
		if p != nil && !r.gone(p) {
			remaining = append(remaining, "process")
		}
	}
	if r.place != nil && killStrays(r.place.Root) > 0 {
		remaining = append(remaining, "process")
	}
	if r.place != nil {
		remaining = append(remaining, r.place.remove(r.link.config.removeAll)...)
	}
	return remaining
}

// killPatience is how long the system may take to end a process that was killed.
// It takes no time but on a machine that has none left, so that this says when to
// give up and not how long to wait.
const killPatience = 10 * time.Second

// gone waits until a process that was told to end has ended.
func (r *run) gone(p *child.Process) bool {
	select {
	case <-p.Done():
		return true
	case <-time.After(2 * r.link.config.Grace):
	}
	p.Kill()
	select {
	case <-p.Done():
		return true
	case <-time.After(killPatience):
		return false
	}
}
