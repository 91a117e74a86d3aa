//go:build unix

package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"

	"rea/generated/fault"
	"rea/runtime/bridge"
	"rea/runtime/engine"
)

// server answers questions one after the other.
type server struct {
	behaviour *Behaviour
	conn      net.Conn
	eng       engine.Engine
	cancelled atomic.Int64 // id of the question that was given up
	notes     notes
}

type question struct {
	ID     int64           `json:"id"`
	Op     string          `json:"op"`
	Args   json.RawMessage `json:"args"`
	Cancel int64           `json:"cancel"`
	Quit   bool            `json:"quit"`
}

func (s *server) serve() {
	questions := make(chan question, 16)
	go func() {
		defer close(questions)
		for {
			data, err := bridge.ReadFrame(s.conn, bridge.MaxFrame)
			if err != nil {
				return
			}
			var q question
			if json.Unmarshal(data, &q) != nil || q.Quit && !s.behaviour.Stubborn {
				return
			}
			if q.Cancel != 0 {
				s.cancelled.Store(q.Cancel)
				continue
			}
			questions <- q
		}
	}()
	for q := range questions {
		s.answer(q)
	}
	if s.behaviour.Stubborn {
		hang()
	}
}

// stream sends the rows of one question.
type stream struct {
	s  *server
	id int64
	op string
}

var errCancelled = errors.New("cancelled")

func (o stream) rows(part string, rows any) error {
	if o.s.cancelled.Load() == o.id {
		return errCancelled
	}
	return bridge.WriteFrame(o.s.conn, map[string]any{"id": o.id, "part": part, "rows": rows})
}

// chunked sends rows in frames of moderate size.
func chunked[T any](o stream, part string, rows []T) error {
	const size = 1000
	if b := o.s.behaviour; b.At == Lie && b.Op == o.op {
		var told []T
		for i := 1; i < len(rows); i += 2 {
			told = append(told, rows[i])
		}
		rows = told
	}
	for len(rows) > size {
		if err := o.rows(part, rows[:size]); err != nil {
			return err
		}
		rows = rows[size:]
	}
	return o.rows(part, rows)
}

func (s *server) answer(q question) {
	out := stream{s, q.ID, q.Op}
	if s.behaviour.Op == q.Op && s.fails(out, q) {
		return
	}
	end, err := s.run(context.Background(), q.Op, q.Args, out)
	if err != nil {
		s.fail(q.ID, err)
		return
	}
	if end == nil {
		end = struct{}{}
	}
	bridge.WriteFrame(s.conn, map[string]any{"id": q.ID, "end": end})
}

func (s *server) fail(id int64, err error) {
	f := bridge.Failure{Code: "failed", Message: err.Error()}
	var failure *bridge.Failure
	switch {
	case errors.As(err, &failure):
		f = *failure
	case errors.Is(err, errCancelled):
		f.Code = bridge.FailCancelled
	case fault.CodeOf(err) == fault.ProcedureNotFoundCode, fault.CodeOf(err) == fault.AddressNotMappedCode, fault.CodeOf(err) == fault.DataTypeNotFoundCode:
		f.Code = bridge.FailNotFound
	}
	bridge.WriteFrame(s.conn, map[string]any{"id": id, "fail": f})
}

// fails does what the behaviour says of an operation.
func (s *server) fails(out stream, q question) bool {
	if misbehave(s.conn, s.behaviour.At) {
		return true
	}
	switch s.behaviour.At {
	case Crash:
		os.Stderr.WriteString("ERROR the scripted engine crashes at " + q.Op + "\n")
		os.Exit(3)
	case Hang:
		hang()
	case WrongID:
		bridge.WriteFrame(s.conn, map[string]any{"id": q.ID + 7, "end": struct{}{}})
	case BadRows:
		bridge.WriteFrame(s.conn, map[string]any{"id": q.ID, "part": q.Op, "rows": "none"})
		bridge.WriteFrame(s.conn, map[string]any{"id": q.ID, "end": struct{}{}})
	case Refuse:
		s.fail(q.ID, &bridge.Failure{Code: bridge.FailUnsupported, Message: "it was told to refuse"})
	case Stall:
		for s.cancelled.Load() != q.ID {
			time.Sleep(time.Millisecond)
		}
		s.fail(q.ID, errCancelled)
	case Endless, Deaf:
		for {
			err := out.rows("nothing", []int{})
			if err == nil || errors.Is(err, errCancelled) && s.behaviour.At == Deaf {
				time.Sleep(time.Millisecond)
				continue
			}
			s.fail(q.ID, err)
			return true
		}
	default:
		return false
	}
	return true
}
