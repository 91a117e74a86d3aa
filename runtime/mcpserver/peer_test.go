package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rea/generated/model"
	"rea/generated/schema"
	"rea/generated/tool"
	"rea/runtime/delivery"
	"rea/runtime/dispatch"
	"rea/runtime/engine"
	"rea/runtime/evidence"
	"rea/runtime/session"
)

// native answers two tools as a test wishes; the others panic.
type native struct {
	tool.NativeHandlers
	documents func(context.Context) (*tool.Finding[tool.ListDocumentsOutput], error)
}

func (n *native) ListDocuments(ctx context.Context, _ *tool.ListDocumentsInput) (*tool.Finding[tool.ListDocumentsOutput], error) {
	return n.documents(ctx)
}

// status is a session family with one tool.
type status struct {
	tool.SessionHandlers
	session *session.Session
}

func (s *status) BinarySession(context.Context, *tool.BinarySessionInput) (*tool.BinarySessionOutput, error) {
	var out tool.BinarySessionOutput
	out.Result.View = tool.BinarySessionOutputResultViewSummary
	out.Result.AnalysisActivity.Status = model.AnalysisActivityStatusIdle
	out.Result.Alignment.State = model.AlignmentStateUnknown
	out.Result.Records = int64(s.session.Ledger().Len())
	return &out, nil
}

type provider struct{}

func (provider) Describe() engine.Description {
	return engine.Description{Provider: model.Provider{ID: "embedded", Name: "E"}}
}
func (provider) Available(context.Context) engine.Availability {
	return engine.Availability{Available: true}
}
func (provider) Supports(*engine.Target) engine.Support { return engine.Support{Supported: true} }
func (provider) Open(context.Context, *engine.Target, engine.Names) (engine.Engine, error) {
	return eng{}, nil
}

type eng struct{ engine.Engine }

func (eng) Profile() model.AnalysisProfile {
	return model.AnalysisProfile{Provider: model.Provider{ID: "embedded", Name: "E"}, Digest: strings.Repeat("d", 64)}
}
func (eng) Capabilities() []model.EngineCapability { return nil }
func (eng) Close() error                           { return nil }
func (eng) Names(context.Context) iter.Seq2[model.NameItem, error] {
	return func(yield func(model.NameItem, error) bool) {
		for _, name := range []string{"main", "malloc", "free", "main"} {
			if !yield(model.NameItem{Name: name}, nil) {
				return
			}
		}
	}
}

// peer is a server under test and a raw client of it.
type peer struct {
	t       testing.TB
	in      *os.File
	out     *bufio.Reader
	native  *native
	session *session.Session
	done    chan error
	stop    context.CancelFunc
	seen    []message // notifications that were read over
}

type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// dispatcher for tests, with a target open.
func newDispatcher(t testing.TB, n *native) *dispatch.Dispatcher {
	t.Helper()
	s := session.New(session.Config{
		Providers: []engine.Provider{provider{}},
		Recognize: func(string, []byte, string) (session.Recognition, error) {
			return session.Recognition{Kind: model.TargetKindExecutable, Format: model.TargetFormatElf, Architecture: model.ArchitectureX86_64}, nil
		},
		Ledger:       evidence.NewLedger(t.TempDir(), 0),
		DrainTimeout: 200 * time.Millisecond,
	})
	path := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(context.Background(), session.OpenRequest{Path: path}); err != nil {
		t.Fatal(err)
	}
	return dispatch.New(dispatch.Config{
		Session: s, Version: "1.2.3",
		Bindings: tool.Bindings(tool.Families{Native: n, Session: &status{session: s}}),
	})
}

func documents(names ...string) func(context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) {
	return func(context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) {
		return &tool.Finding[tool.ListDocumentsOutput]{Result: tool.ListDocumentsOutput{Documents: names}}, nil
	}
}

func pipe(t testing.TB) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// start serves over pipes. change may alter the configuration.
func start(t testing.TB, change func(*Config)) *peer {
	t.Helper()
	n := &native{documents: documents("a")}
	inR, inW := pipe(t)
	outR, outW := pipe(t)
	ctx, cancel := context.WithCancel(context.Background())
	config := Config{
		Dispatcher: newDispatcher(t, n), Profile: schema.Full, Budget: delivery.MinBudget,
		Stdio: Stdio{In: inR, Out: outW}, DrainTimeout: 5 * time.Second,
	}
	if change != nil {
		change(&config)
	}
	p := &peer{t: t, in: inW, out: bufio.NewReaderSize(outR, 1<<20), native: n, session: config.Dispatcher.Session(), done: make(chan error, 1), stop: cancel}
	go func() {
		p.done <- Run(ctx, config)
		outW.Close()
	}()
	t.Cleanup(func() {
		cancel()
		inW.Close()
		outR.Close()
	})
	return p
}

// ready is start with the handshake done.
func ready(t testing.TB, change func(*Config)) *peer {
	t.Helper()
	p := start(t, change)
	p.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"9"}}}`)
	p.answer(`"init"`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

func (p *peer) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatalf("sending: %v", err)
	}
}

func (p *peer) call(id int, name, args string) {
	p.t.Helper()
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, name, args))
}

// next reads one message; its line must be JSON by itself.
func (p *peer) next() message {
	p.t.Helper()
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		p.t.Fatalf("reading: %v after %q", err, line)
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		p.t.Fatalf("%v in line %.300q", err, line)
	}
	return m
}

// answer reads up to the answer with the id, as JSON.
func (p *peer) answer(id string) message {
	p.t.Helper()
	for {
		m := p.next()
		if m.Method != "" {
			p.seen = append(p.seen, m)
			continue
		}
		if string(m.ID) != id {
			p.t.Fatalf("answer has id %s, want %s: %s %+v", m.ID, id, m.Result, m.Error)
		}
		return m
	}
}

// result is a tools/call result.
type result struct {
	Content []struct{ Type, Text string }
	IsError bool             `json:"isError"`
	Data    *json.RawMessage `json:"structuredContent"`
}

func (m message) tool(t testing.TB) result {
	t.Helper()
	var r result
	if m.Error != nil {
		t.Fatalf("protocol error %+v", m.Error)
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		t.Fatalf("%v in %.300s", err, m.Result)
	}
	return r
}

// code is the code of a tool error, "" for a success.
func (r result) code(t testing.TB) string {
	t.Helper()
	if !r.IsError {
		return ""
	}
	var doc struct{ Error struct{ Code string } }
	if err := json.Unmarshal([]byte(r.Content[0].Text), &doc); err != nil {
		t.Fatal(err)
	}
	if r.Data != nil || len(r.Content) != 1 {
		t.Errorf("an error has structured content or %d blocks", len(r.Content))
	}
	return doc.Error.Code
}

// ends waits for Run to return.
func (p *peer) ends() error {
	p.t.Helper()
	select {
	case err := <-p.done:
		return err
	case <-time.After(10 * time.Second):
		p.t.Fatal("the server does not end")
		return errors.New("")
	}
}
