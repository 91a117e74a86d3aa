package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"rea/generated/fault"
	"rea/runtime/delivery"
	"rea/runtime/dispatch"
	"rea/runtime/progress"
)

// noContent is what the SDK answers for a call.
const noContent = `"content":[]`

// statusFamily are tools that never wait behind others.
const statusFamily = "session"

// callTool runs one tool. Whatever a tool fails with is a result; only an
// unknown tool is an error of the protocol.
func (s *server) callTool(ctx context.Context, req *mcp.CallToolRequest) (mcp.Result, error) {
	s.observeClient(req)
	params := req.Params
	reporter, finish := s.progressOf(ctx, req)
	out, err := s.run(progress.With(ctx, reporter), params.Name, params.Arguments)
	finish(err)
	var f *fault.Error
	if errors.As(err, &f) && f.Code == fault.ToolNotFoundCode {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: f.Message, Data: json.RawMessage(f.JSON())}
	}
	result, err := s.deliver(ctx, params.Name, out, err)
	if err != nil {
		return nil, err
	}
	s.conn.replace(number(req), noContent, typed(params, result))
	return &mcp.CallToolResult{Content: []mcp.Content{}}, nil
}

// typed adds the kind to a result where the protocol has one.
func typed(params mcp.Params, p payload) payload {
	if isSessionless(params) {
		return complete{p}
	}
	return p
}

type complete struct{ payload }

func (c complete) WriteMembers(w io.Writer) error {
	if err := c.payload.WriteMembers(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, `,"resultType":"complete"`)
	return err
}

// cancelledResult is the result of a call that was cancelled before it ran.
func cancelledResult(sessionless bool) (payload, error) {
	var f *fault.Error
	if err := fault.Cancelled(fault.CancelledDetails{}, context.Canceled); !errors.As(err, &f) {
		return nil, err
	}
	result, err := delivery.Failure(f)
	if err != nil || !sessionless {
		return result, err
	}
	return complete{result}, nil
}

// observeClient keeps the client up to date in the protocol without a
// handshake, where every request says who sends it.
func (s *server) observeClient(req *mcp.CallToolRequest) {
	if !isSessionless(req.Params) {
		return
	}
	if now := clientOf(req.ClientInfo(), req.ClientCapabilities(), req.ProtocolVersion()); now != s.session.Client() {
		s.session.SetClient(now)
	}
}

// isSessionless reports whether a request follows the protocol without a
// handshake: then it names the version itself.
func isSessionless(params mcp.Params) bool {
	_, ok := params.GetMeta()[mcp.MetaKeyProtocolVersion]
	return ok
}

// run waits for a slot and dispatches.
func (s *server) run(ctx context.Context, name string, args json.RawMessage) (*dispatch.Outcome, error) {
	if !s.isStatus(name) {
		select {
		case s.slots <- struct{}{}:
		default:
			progress.Report(ctx, "waiting for other calls to end")
			select {
			case s.slots <- struct{}{}:
			case <-ctx.Done():
				return nil, fault.Cancelled(fault.CancelledDetails{}, ctx.Err())
			}
		}
		defer func() { <-s.slots }()
	}
	return s.config.Dispatcher.Call(ctx, name, args)
}

func (s *server) isStatus(name string) bool {
	spec := s.config.Dispatcher.Spec(name)
	return spec == nil || spec.Family == statusFamily
}

// progressOf makes the reporter of a call, nil when the client did not ask for
// progress, and what ends it.
func (s *server) progressOf(ctx context.Context, req *mcp.CallToolRequest) (*progress.Reporter, func(error)) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil, func(error) {}
	}
	ctx = context.WithoutCancel(ctx) // the last update of a cancelled call is still told
	reporter := progress.NewReporter(func(n int64, message string) {
		req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: float64(n), Message: message,
		})
	})
	reporter.Report(req.Params.Name + ": started")
	return reporter, func(err error) {
		switch code := fault.CodeOf(err); code {
		case "":
			reporter.Finish(req.Params.Name + ": done")
		case fault.CancelledCode:
			reporter.Finish(req.Params.Name + ": cancelled")
		default:
			reporter.Finish(fmt.Sprintf("%s: failed, %s", req.Params.Name, code))
		}
	}
}

// deliver makes the result of a call, within the client's buffer.
func (s *server) deliver(ctx context.Context, name string, out *dispatch.Outcome, err error) (*delivery.Result, error) {
	if err != nil {
		return s.deliverFault(ctx, name, err)
	}
	result, err := s.success(name, out)
	if err != nil {
		s.config.Log.Error("result cannot be delivered", "tool", name, "error", err)
		return s.deliverFault(ctx, name, fault.ExecutionFailure(fault.ExecutionFailureDetails{Operation: name, Reason: err.Error()}, err))
	}
	if s.config.Budget.Fits(result) {
		return result, nil
	}
	next := s.config.Dispatcher.FollowUp(out)
	return delivery.Failure(s.config.Budget.Refuse(result, next.EvidenceID, "the complete result does not fit the client's receive buffer", next.Action))
}

func (s *server) success(name string, out *dispatch.Outcome) (*delivery.Result, error) {
	if out.Record != nil {
		return delivery.Success(out.Document)
	}
	return s.plain.success(name, out.Document)
}

// deliverFault delivers a diagnostic; one that does not fit is kept as Evidence
// and a bounded one delivered in its place.
func (s *server) deliverFault(ctx context.Context, name string, err error) (*delivery.Result, error) {
	var f *fault.Error
	if !errors.As(err, &f) {
		return nil, err
	}
	result, err := delivery.Failure(f)
	if err != nil {
		return nil, err
	}
	if s.config.Budget.Fits(result) {
		return result, nil
	}
	reason := fmt.Sprintf("the diagnostic %s does not fit the client's receive buffer", f.Code)
	action := "Write the complete diagnostic, a record of this connection, to a file with export_evidence_bundle."
	id, err := s.config.Dispatcher.RetainFault(context.WithoutCancel(ctx), name, f)
	if err != nil {
		reason += "; it could not be retained: " + err.Error()
		action = f.Remediation.Action
	}
	return delivery.Failure(s.config.Budget.Refuse(result, id, reason, action))
}

// memo keeps the last prepared result of tools whose answer rarely changes, so
// that status calls cost little.
type memo struct {
	mu      sync.Mutex
	results map[string]*delivery.Result
}

// maxMemo bounds a result that is kept.
const maxMemo = 256 << 10

func (m *memo) success(name string, doc []byte) (*delivery.Result, error) {
	m.mu.Lock()
	known := m.results[name]
	m.mu.Unlock()
	if known != nil && bytes.Equal(known.Document().JSON(), doc) {
		return known, nil
	}
	result, err := delivery.Success(doc)
	if err == nil && len(doc) <= maxMemo {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.results == nil {
			m.results = map[string]*delivery.Result{}
		}
		m.results[name] = result
	}
	return result, err
}
