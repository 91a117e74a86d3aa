package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"rea/generated/fault"
	"rea/generated/tool"
	"rea/runtime/evidence"
	"rea/runtime/progress"
)

func TestCall(t *testing.T) {
	p := ready(t, nil)
	p.call(1, "list_documents", "{}")
	r := p.answer("1").tool(t)
	if r.IsError || len(r.Content) != 1 || r.Data == nil {
		t.Fatalf("result is %+v", r)
	}
	var a, b struct {
		ID string `json:"evidence_id"`
	}
	if json.Unmarshal(*r.Data, &a) != nil || json.Unmarshal([]byte(r.Content[0].Text), &b) != nil || a != b || !strings.HasPrefix(a.ID, "ev_") {
		t.Errorf("the forms differ: %v %v", a, b)
	}
	p.call(2, "list_documents", `{"x":1}`)
	if code := p.answer("2").tool(t).code(t); code != "invalid_request" {
		t.Errorf("code is %q", code)
	}
	p.call(3, "no_such_tool", "{}")
	if m := p.answer("3"); m.Error == nil || m.Error.Code != -32602 || !strings.Contains(string(m.Error.Data), "tool_not_found") {
		t.Errorf("an unknown tool gives %+v", m.Error)
	}
	p.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"list_documents"}}`)
	if code := p.answer("4").tool(t).code(t); code != "" {
		t.Errorf("without arguments: %q", code)
	}
	p.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":7,"arguments":{"big":"` + strings.Repeat("x", 100_000) + `"}}}`)
	if m := p.answer("5"); m.Error == nil || m.Error.Code != -32602 || len(m.Error.Message) > 3000 {
		t.Errorf("a malformed call gives an error of %d characters, %d", len(m.Error.Message), m.Error.Code)
	}
	p.call(6, "binary_session", "{}")
	if r := p.answer("6").tool(t); !strings.Contains(string(*r.Data), `"records":1`) {
		t.Errorf("status is %s", *r.Data)
	}
	p.call(7, "binary_session", "{}")
	p.answer("7").tool(t)
	p.native.documents = documents("b")
	p.call(8, "list_documents", "{}")
	p.answer("8").tool(t)
	p.call(9, "binary_session", "{}")
	if r := p.answer("9").tool(t); !strings.Contains(string(*r.Data), `"records":2`) {
		t.Errorf("status is stale: %s", *r.Data)
	}
}

func TestStatus_is_never_behind_work(t *testing.T) {
	p := ready(t, func(c *Config) { c.MaxCalls = 2 })
	var mu sync.Mutex
	running, most := 0, 0
	release := make(chan struct{})
	p.native.documents = func(context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) {
		mu.Lock()
		running++
		most = max(most, running)
		mu.Unlock()
		<-release
		mu.Lock()
		running--
		mu.Unlock()
		return &tool.Finding[tool.ListDocumentsOutput]{}, nil
	}
	for i := range 8 {
		p.call(i, "list_documents", "{}")
	}
	for i := range 50 {
		start := time.Now()
		p.call(100+i, "binary_session", "{}")
		p.answer(fmt.Sprint(100 + i)).tool(t)
		if took := time.Since(start); took > time.Second {
			t.Fatalf("status took %v", took)
		}
	}
	close(release)
	for range 8 {
		p.next().tool(t)
	}
	if most != 2 {
		t.Errorf("%d calls ran at once, want 2", most)
	}
}

func TestPanic_is_a_result(t *testing.T) {
	p := ready(t, nil)
	p.native.documents = func(context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) { panic("boom") }
	p.call(1, "list_documents", "{}")
	if code := p.answer("1").tool(t).code(t); code != "execution_failure" {
		t.Errorf("code is %q", code)
	}
	p.native.documents = documents("a")
	p.call(2, "list_documents", "{}")
	p.answer("2").tool(t)
}

func TestPanic_outside_of_tools(t *testing.T) {
	p := ready(t, nil)
	// The engine of the tests has no method behind this completion's session.
	p.native.documents = nil
	p.call(1, "list_documents", "{}")
	if code := p.answer("1").tool(t).code(t); code != "execution_failure" {
		t.Errorf("code is %q", code)
	}
	p.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	p.answer("2")
}

func TestProgress(t *testing.T) {
	p := ready(t, nil)
	p.native.documents = func(ctx context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) {
		for i := range 40 {
			progress.Reportf(ctx, "step %d", i)
			time.Sleep(10 * time.Millisecond)
		}
		return &tool.Finding[tool.ListDocumentsOutput]{}, nil
	}
	for i, token := range []string{`"tok"`, `7`} {
		p.seen = nil
		start := time.Now()
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"list_documents","arguments":{},"_meta":{"progressToken":%s}}}`, i, token))
		p.answer(fmt.Sprint(i)).tool(t)
		took := time.Since(start)
		last := 0.0
		for _, m := range p.seen {
			var params struct {
				ProgressToken json.RawMessage
				Progress      float64
				Total         *float64
				Message       string
			}
			if err := json.Unmarshal(m.Params, &params); err != nil {
				t.Fatal(err)
			}
			if string(params.ProgressToken) != token || params.Progress <= last || params.Total != nil || params.Message == "" {
				t.Errorf("update is %+v after %v", params, last)
			}
			last = params.Progress
		}
		most := int(took/progress.Interval) + 2
		if n := len(p.seen); n < 3 || n > most {
			t.Errorf("%d updates in %v, at most %d allowed", n, took, most)
		}
		if end := string(p.seen[len(p.seen)-1].Params); !strings.Contains(end, "done") {
			t.Errorf("the last update is %s", end)
		}
	}
	p.seen = nil
	p.call(9, "list_documents", "{}")
	p.answer("9").tool(t)
	if len(p.seen) != 0 {
		t.Errorf("without a token: %d updates", len(p.seen))
	}
}

func TestCancel(t *testing.T) {
	p := ready(t, nil)
	begun := make(chan struct{})
	p.native.documents = func(ctx context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) {
		close(begun)
		<-ctx.Done()
		return &tool.Finding[tool.ListDocumentsOutput]{}, nil // too late
	}
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_documents","arguments":{},"_meta":{"progressToken":1}}}`)
	<-begun
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"test"}}`)
	if code := p.answer("1").tool(t).code(t); code != "cancelled" {
		t.Errorf("code is %q", code)
	}
	if end := string(p.seen[len(p.seen)-1].Params); !strings.Contains(end, "cancelled") {
		t.Errorf("the last update is %s", end)
	}
	if n := p.session.Ledger().Len(); n != 0 {
		t.Errorf("a cancelled call left %d records", n)
	}
}

func TestCancel_while_waiting_for_a_slot(t *testing.T) {
	p := ready(t, func(c *Config) { c.MaxCalls = 1 })
	begun, release := make(chan struct{}), make(chan struct{})
	p.native.documents = func(context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) {
		close(begun)
		<-release
		return &tool.Finding[tool.ListDocumentsOutput]{}, nil
	}
	p.call(1, "list_documents", "{}")
	<-begun
	p.call(2, "list_documents", "{}")
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	if code := p.answer("2").tool(t).code(t); code != "cancelled" { // before or after the handler began to wait
		t.Errorf("code is %q", code)
	}
	close(release)
	p.answer("1").tool(t)
}

func TestBudget(t *testing.T) {
	p := ready(t, nil)
	p.native.documents = documents(strings.Repeat("<&>", 2<<20)) // 6 MB, twice
	p.call(1, "list_documents", "{}")
	r := p.answer("1").tool(t)
	if code := r.code(t); code != "resource_constraint" {
		t.Fatalf("code is %q", code)
	}
	var doc struct {
		Error struct {
			Remediation struct{ Action string }
			Details     struct {
				Resource string
				Limits   struct {
					Limit, Needed int64
					Reference     struct {
						Kind string
						ID   string `json:"evidence_id"`
					} `json:"evidence_reference"`
				} `json:"reported_limits"`
			}
		}
	}
	if err := json.Unmarshal([]byte(r.Content[0].Text), &doc); err != nil {
		t.Fatal(err)
	}
	d := doc.Error.Details
	if d.Resource != "transport" || d.Limits.Limit != 10<<20 || d.Limits.Needed < 12<<20 || d.Limits.Reference.Kind != "retained-evidence" {
		t.Errorf("details are %+v", d)
	}
	id, err := evidence.ParseID(d.Limits.Reference.ID)
	if err != nil {
		t.Fatal(err)
	}
	if record, err := p.session.Ledger().Get(id); err != nil || len(record.Bytes()) < 6<<20 {
		t.Errorf("the record is not held completely: %v", err)
	}
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"rea://evidence/%s"}}`, id))
	if m := p.answer("2"); m.Error != nil {
		t.Errorf("6 MB as text alone: %+v", m.Error)
	}
	raised := ready(t, func(c *Config) { c.Budget = 16 << 20 })
	raised.native.documents = p.native.documents
	raised.call(1, "list_documents", "{}")
	if r := raised.answer("1").tool(t); r.IsError || len(*r.Data) < 6<<20 || len(r.Content[0].Text) < 6<<20 {
		t.Error("a raised budget does not deliver")
	}
}

func TestBudget_of_errors(t *testing.T) {
	p := ready(t, nil)
	long := fault.DocumentNotFound(fault.DocumentNotFoundDetails{Document: strings.Repeat("x", 11<<20), Documents: []string{}}, nil)
	p.native.documents = func(context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) { return nil, long }
	p.call(1, "list_documents", "{}")
	r := p.answer("1").tool(t)
	if code := r.code(t); code != "resource_constraint" || !strings.Contains(r.Content[0].Text, "document_not_found") {
		t.Fatalf("code is %q: %.300s", code, r.Content[0].Text)
	}
	if n := p.session.Ledger().Len(); n != 1 {
		t.Errorf("%d records are held", n)
	}
	for _, s := range p.session.Ledger().Summaries() {
		if !strings.Contains(r.Content[0].Text, s.ID.String()) {
			t.Error("the diagnostic does not name the record")
		}
	}
	// A medium error, of which only the text counts, is delivered.
	p.native.documents = func(context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) {
		return nil, fault.DocumentNotFound(fault.DocumentNotFoundDetails{Document: strings.Repeat("y", 4<<20), Documents: []string{}}, nil)
	}
	p.call(2, "list_documents", "{}")
	if code := p.answer("2").tool(t).code(t); code != "document_not_found" {
		t.Errorf("code is %q", code)
	}
}

func BenchmarkStatusCall(b *testing.B) {
	p := ready(b, nil)
	for i := 0; b.Loop(); i++ {
		p.call(i, "binary_session", "{}")
		if _, err := p.out.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
}

// However early a call is cancelled, its answer is the same diagnostic.
func TestCancelled_before_it_begins(t *testing.T) {
	p := ready(t, nil)
	p.native.documents = func(ctx context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for round := range 20 {
		var lines strings.Builder
		const calls = 20
		for i := range calls {
			fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"list_documents","arguments":{}}}`+"\n", round*calls+i)
			fmt.Fprintf(&lines, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`+"\n", round*calls+i)
		}
		p.send(strings.TrimSuffix(lines.String(), "\n"))
		for range calls {
			m := p.next()
			if m.Error != nil {
				t.Fatalf("call %s gives error %d, %s", m.ID, m.Error.Code, m.Error.Message)
			}
			if code := m.tool(t).code(t); code != "cancelled" {
				t.Fatalf("call %s gives %q", m.ID, code)
			}
		}
	}
}
