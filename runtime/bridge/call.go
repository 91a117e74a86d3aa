package bridge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/fault"
)

// maxAnswer bounds the rows of one answer in bytes of JSON.
const maxAnswer = 1 << 29

// A Question is one operation of the script.
type Question struct {
	Op   string
	Args any // written as JSON; nil is the empty object
	// Rows receives the rows of one frame, a JSON array that is valid until it
	// returns; nil ignores them.
	Rows func(part string, rows jsontext.Value) error
	// Timeout is how long the answer may take; 0 is what the link says, for
	// questions about the whole program when Whole is set.
	Timeout time.Duration
	Whole   bool
}

// pending is the open question of a run.
type pending struct {
	id     int64
	op     string
	frames chan answer
	gone   chan struct{} // closed when nobody waits for the answer any more
}

// Ask asks the engine, which is started when it is not running, and gives the
// value of the last frame. A failure of the script is a *Failure. A question
// whose context ends is cancelled; the engine stays busy until it has noticed.
func (l *Link) Ask(ctx context.Context, q Question) (jsontext.Value, error) {
	args := jsontext.Value("{}")
	if q.Args != nil {
		data, err := json.Marshal(q.Args)
		if err != nil {
			return nil, err
		}
		args = data
	}
	r, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	if err := l.enqueue(ctx, r); err != nil {
		return nil, err
	}
	return r.ask(ctx, q, args)
}

// enqueue takes the lane of the run, behind others who wait for it.
func (l *Link) enqueue(ctx context.Context, r *run) error {
	select {
	case r.lane <- struct{}{}:
		return nil
	default:
	}
	l.mu.Lock()
	if l.queued >= l.config.Queue {
		l.mu.Unlock()
		limit := int64(l.config.Queue)
		d := fault.ResourceConstraintDetails{
			Resource: fault.ResourceConstraintDetailsResourceConcurrency,
			Reason:   fmt.Sprintf("%d questions wait for engine %s already", limit, l.config.Provider.ID),
		}
		d.ReportedLimits.Limit = &limit
		return fault.ResourceConstraint(d, nil)
	}
	l.queued++
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		l.queued--
		l.mu.Unlock()
	}()
	select {
	case r.lane <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-r.broken:
		return r.reason()
	}
}

func (r *run) reason() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cause
}

// ask sends a question; the lane is held, and the reader lets go of it when the
// answer has come.
func (r *run) ask(ctx context.Context, q Question, args jsontext.Value) (jsontext.Value, error) {
	limit := q.Timeout
	switch {
	case limit > 0:
	case q.Whole:
		limit = r.link.config.List
	default:
		limit = r.link.config.Answer
	}
	r.mu.Lock()
	r.next++
	p := &pending{id: r.next, op: q.Op, frames: make(chan answer, 4), gone: make(chan struct{})}
	r.pending = p
	r.mu.Unlock()
	if err := r.write(question{ID: p.id, Op: q.Op, Args: args}); err != nil {
		// The connection is gone, so the reader ends and tells why.
		select {
		case <-r.broken:
			return nil, r.reason()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	size := 0
	for {
		select {
		case a := <-p.frames:
			if a.Fail != nil {
				if a.Fail.Code == FailCancelled && ctx.Err() != nil {
					return nil, ctx.Err()
				}
				return nil, a.Fail
			}
			if a.End != nil {
				return a.End, nil
			}
			if size += len(a.Rows); size > maxAnswer {
				r.abandon(p)
				return nil, tooMuch(q.Op)
			}
			if q.Rows == nil {
				continue
			}
			if err := q.Rows(a.Part, a.Rows); err != nil {
				r.abandon(p)
				return nil, err
			}
		case <-ctx.Done():
			r.abandon(p)
			return nil, ctx.Err()
		case <-timer.C:
			r.abandon(p)
			return nil, r.link.timeout(limit, q.Op)
		case <-r.broken:
			return nil, r.reason()
		}
	}
}

func tooMuch(op string) error {
	limit := int64(maxAnswer)
	d := fault.ResourceConstraintDetails{
		Resource: fault.ResourceConstraintDetailsResourceMemory,
		Reason:   fmt.Sprintf("the engine answers %s with more than %d bytes", op, limit),
	}
	d.ReportedLimits.Limit = &limit
	return fault.ResourceConstraint(d, nil)
}

// abandon stops waiting for an answer. The lane stays taken until it has come.
func (r *run) abandon(p *pending) {
	r.mu.Lock()
	open := r.pending == p
	close(p.gone)
	r.mu.Unlock()
	if open {
		r.write(question{Cancel: p.id})
	}
}

// doing is the operation that is open, and whether nobody waits for it any more.
func (r *run) doing() (op string, abandoned, busy bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending == nil {
		return "", false, false
	}
	return r.pending.op, isClosed(r.pending.gone), true
}

// writeTimeout is how long a script may leave a question unread.
const writeTimeout = 10 * time.Second

func (r *run) write(q question) error {
	frame, err := AppendFrame(nil, q)
	if err != nil {
		return err
	}
	r.writing.Lock()
	defer r.writing.Unlock()
	r.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := r.conn.Write(frame); err != nil {
		// A frame that was written in part makes the rest unreadable.
		r.conn.Close()
		return fmt.Errorf("asking the engine: %w", err)
	}
	return nil
}

// read hands out answers until there are no more, and says why.
func (r *run) read() {
	err := r.readAll()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cause = err
}

func (r *run) readAll() error {
	for {
		data, err := ReadFrame(r.conn, MaxFrame)
		if err != nil {
			return err
		}
		var a answer
		if err := json.Unmarshal(data, &a); err != nil {
			return errors.New("an answer that cannot be read")
		}
		r.mu.Lock()
		p := r.pending
		if p == nil || p.id != a.ID {
			r.mu.Unlock()
			return fmt.Errorf("an answer to question %d, which is not open", a.ID)
		}
		if a.last() {
			r.pending = nil
		}
		r.mu.Unlock()
		select {
		case p.frames <- a:
		case <-p.gone:
		}
		if a.last() {
			<-r.lane
		}
	}
}
