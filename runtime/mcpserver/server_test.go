package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"rea/generated/fault"
	"rea/generated/schema"
	"rea/generated/tool"
	"rea/runtime/evidence"
	"rea/runtime/progress"
)

func TestInitialize(t *testing.T) {
	for asked, want := range map[string]string{
		"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2025-03-26": "2025-03-26", "2024-11-05": "2024-11-05", "2099-01-01": "2025-11-25",
	} {
		p := start(t, nil)
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{"elicitation":{"url":{}},"sampling":{}},"clientInfo":{"name":"c","version":"9"}}}`, asked))
		var r struct {
			ProtocolVersion string
			Capabilities    json.RawMessage
			Instructions    string
			ServerInfo      struct{ Name, Version string }
		}
		if err := json.Unmarshal(p.answer("1").Result, &r); err != nil {
			t.Fatal(err)
		}
		if r.ProtocolVersion != want || r.ServerInfo.Name != "rea" || r.ServerInfo.Version != "1.2.3" || !strings.Contains(r.Instructions, "open_binary") {
			t.Errorf("asked for %s: %+v", asked, r)
		}
		if got := string(r.Capabilities); got != `{"completions":{},"prompts":{},"resources":{},"tools":{}}` {
			t.Errorf("capabilities are %s", got)
		}
		p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_documents","_meta":{"progressToken":1}}}`)
		p.answer("2").tool(t)
		c := p.session.Client()
		if c.Protocol != want || c.Name != "c" || c.Version != "9" || !c.Features.ElicitationURL || c.Features.ElicitationForm || !c.Features.Sampling || c.Features.Roots {
			t.Errorf("client is %+v", c)
		}
	}
}

func TestSessionless(t *testing.T) {
	p := start(t, nil)
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"m","version":"2"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`
	p.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`)
	if m := p.answer("1"); m.Error != nil || !strings.Contains(string(m.Result), `"2026-07-28"`) {
		t.Fatalf("discover gives %s %+v", m.Result, m.Error)
	}
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{` + meta + `}}`)
	if m := p.answer("2"); m.Error != nil || !strings.Contains(string(m.Result), `"list_documents"`) || !strings.Contains(string(m.Result), `"resultType":"complete"`) {
		t.Errorf("tools/list gives %.300s %+v", m.Result, m.Error)
	}
	p.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"list_documents","arguments":{},` + meta + `}}`)
	m := p.answer("3")
	if r := m.tool(t); r.IsError || r.Data == nil || !strings.Contains(string(m.Result), `"resultType":"complete"`) {
		t.Errorf("tools/call gives %s", m.Result)
	}
	if c := p.session.Client(); c.Protocol != "2026-07-28" || c.Name != "m" || !c.Features.ElicitationForm {
		t.Errorf("client is %+v", c)
	}
}

func TestToolsList(t *testing.T) {
	for _, profile := range []schema.Profile{schema.Full, schema.Compact} {
		p := ready(t, func(c *Config) { c.Profile = profile })
		p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		var list struct {
			Tools []struct {
				Name, Title, Description  string
				InputSchema, OutputSchema struct{ Type string }
				Annotations               struct{ ReadOnlyHint, DestructiveHint, IdempotentHint, OpenWorldHint *bool }
			}
			NextCursor *string
		}
		if err := json.Unmarshal(p.answer("1").Result, &list); err != nil {
			t.Fatal(err)
		}
		if list.NextCursor != nil || len(list.Tools) < 30 {
			t.Errorf("%d tools, cursor %v", len(list.Tools), list.NextCursor)
		}
		for i, tl := range list.Tools {
			a := tl.Annotations
			if tl.Title == "" || tl.Description == "" || tl.InputSchema.Type != "object" || tl.OutputSchema.Type != "object" ||
				a.ReadOnlyHint == nil || a.DestructiveHint == nil || a.IdempotentHint == nil || a.OpenWorldHint == nil {
				t.Errorf("tool %+v is incomplete", tl)
			}
			if i > 0 && tl.Name <= list.Tools[i-1].Name {
				t.Errorf("%s stands after %s", tl.Name, list.Tools[i-1].Name)
			}
		}
		p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"x"}}`)
		if m := p.answer("2"); m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("an invented cursor gives %+v", m)
		}
	}
}

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

func TestMethods_that_are_not_offered(t *testing.T) {
	p := start(t, nil)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if m := p.answer("1"); m.Error == nil {
		t.Error("tools are listed before the handshake")
	}
	p = ready(t, nil)
	for i, line := range []string{
		`"method":"logging/setLevel","params":{"level":"debug"}`,
		`"method":"resources/subscribe","params":{"uri":"rea://evidence/x"}`,
		`"method":"no/such"`,
		`"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"9"}}`,
	} {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,%s}`, i, line))
		if m := p.answer(fmt.Sprint(i)); m.Error == nil || m.Error.Code == 0 {
			t.Errorf("%s gives %s %+v", line, m.Result, m.Error)
		}
	}
	p.send(`{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	if m := p.answer("9"); m.Error != nil {
		t.Errorf("ping gives %+v", m.Error)
	}
}

func TestBad_lines_do_not_end_the_session(t *testing.T) {
	p := ready(t, nil)
	for i, tt := range []struct{ line, id string }{
		{"garbage", "null"},
		{`{"jsonrpc":"2.0","id":50,"method":"ping"`, "50"},
		{`{"jsonrpc":"2.0","id":51,"method":"ping"} {"jsonrpc":"2.0","method":"x"}`, "51"},
		{`[{"jsonrpc":"2.0","id":52,"method":"ping"}]`, "52"},
		{`{"jsonrpc":"2.0","id":53,"method":"tools/call","params":{"name":"list_documents","arguments":{"x":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}}}`, "53"},
		{`{"jsonrpc":"2.0","id":54,"method":"tools/call","params":{"x":"` + strings.Repeat("y", 33<<20) + `"}}`, "54"},
		{"{\"jsonrpc\":\"2.0\",\"id\":55,\"method\":\"\xff\"}", "55"},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null"},
		{"\x00\x01\x02", "null"},
	} {
		go p.send(tt.line) // the answer may come before the line was taken completely
		if m := p.answer(tt.id); m.Error == nil || m.Error.Code != -32700 && m.Error.Code != -32600 {
			t.Errorf("%.60q gives %+v", tt.line, m)
		}
		p.call(100+i, "list_documents", "{}")
		if r := p.answer(fmt.Sprint(100 + i)).tool(t); r.IsError {
			t.Errorf("after %.60q: %+v", tt.line, r)
		}
	}
}

func TestRequest_id_in_use(t *testing.T) {
	p := ready(t, nil)
	begun, release := make(chan struct{}), make(chan struct{})
	p.native.documents = func(context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) {
		close(begun)
		<-release
		return &tool.Finding[tool.ListDocumentsOutput]{}, nil
	}
	p.call(1, "list_documents", "{}")
	<-begun
	p.call(1, "binary_session", "{}")
	if m := p.answer("null"); m.Error == nil || !strings.Contains(m.Error.Message, "in use") {
		t.Errorf("a repeated id gives %+v", m)
	}
	close(release)
	if r := p.answer("1").tool(t); r.IsError {
		t.Errorf("the first request got %+v", r)
	}
}

func TestTooMany_requests(t *testing.T) {
	p := ready(t, func(c *Config) { c.MaxCalls = 1 })
	release := make(chan struct{})
	p.native.documents = func(context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) {
		<-release
		return &tool.Finding[tool.ListDocumentsOutput]{}, nil
	}
	for i := range maxInFlight {
		p.call(i, "list_documents", "{}")
	}
	p.call(5000, "list_documents", "{}")
	if m := p.answer("5000"); m.Error == nil || m.Error.Code != codeBusy {
		t.Errorf("one request too many gives %+v", m)
	}
	close(release)
	for range maxInFlight {
		if m := p.next(); m.Error != nil {
			t.Fatalf("a queued request fails: %+v", m.Error)
		}
	}
	p.call(5001, "list_documents", "{}")
	p.answer("5001").tool(t)
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
	m := p.answer("2")
	if m.Error == nil { // cancelled before or after the handler began to wait
		if code := m.tool(t).code(t); code != "cancelled" {
			t.Errorf("code is %q", code)
		}
	}
	close(release)
	p.answer("1").tool(t)
}

func TestEnd_of_input_waits_for_answers(t *testing.T) {
	p := ready(t, nil)
	p.native.documents = func(ctx context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) {
		select {
		case <-time.After(300 * time.Millisecond):
			return &tool.Finding[tool.ListDocumentsOutput]{}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	p.call(1, "list_documents", "{}")
	p.call(2, "list_documents", "{}")
	p.in.Close()
	for range 2 {
		if r := p.next().tool(t); r.IsError {
			t.Errorf("result is %+v", r)
		}
	}
	if err := p.ends(); err != nil {
		t.Errorf("the server ends with %v", err)
	}
	if b, _ := p.session.Acquire(); b != nil {
		t.Error("the target is still open")
	}
}

func TestEnd_of_input_does_not_wait_for_ever(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"bounded":     func(c *Config) { c.DrainTimeout = 300 * time.Millisecond },
		"nobody_left": func(c *Config) { c.Stdio.Alive = func() bool { return false } },
	} {
		t.Run(name, func(t *testing.T) {
			p := ready(t, change)
			begun := make(chan struct{})
			p.native.documents = func(ctx context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) {
				close(begun)
				<-ctx.Done()
				return nil, ctx.Err()
			}
			p.call(1, "list_documents", "{}")
			<-begun
			p.in.Close()
			go io.Copy(io.Discard, p.out)
			if err := p.ends(); err != nil {
				t.Errorf("the server ends with %v", err)
			}
		})
	}
}

func TestStop(t *testing.T) {
	p := ready(t, nil)
	begun, ended := make(chan struct{}), make(chan struct{})
	p.native.documents = func(ctx context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) {
		close(begun)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}
	p.call(1, "list_documents", "{}")
	<-begun
	go io.Copy(io.Discard, p.out)
	p.stop()
	if err := p.ends(); err != nil {
		t.Errorf("the server ends with %v", err)
	}
	select {
	case <-ended:
	default:
		t.Error("the call goes on")
	}
	if b, _ := p.session.Acquire(); b != nil {
		t.Error("the target is still open")
	}
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

func TestResources(t *testing.T) {
	p := ready(t, nil)
	for i := range resourcePage + 5 {
		p.native.documents = documents(fmt.Sprint(i))
		p.call(i, "list_documents", "{}")
		p.answer(fmt.Sprint(i)).tool(t)
	}
	var uris []string
	cursor := ""
	for {
		p.send(`{"jsonrpc":"2.0","id":"l","method":"resources/list","params":{` + cursor + `}}`)
		var page struct {
			Resources  []struct{ URI, Name, MIMEType string }
			NextCursor string
		}
		if err := json.Unmarshal(p.answer(`"l"`).Result, &page); err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Resources {
			if !strings.HasPrefix(r.URI, "rea://evidence/ev_") || r.Name == "" {
				t.Errorf("resource is %+v", r)
			}
			uris = append(uris, r.URI)
		}
		if page.NextCursor == "" {
			break
		}
		cursor = fmt.Sprintf(`"cursor":%q`, page.NextCursor)
	}
	if len(uris) != resourcePage+5 {
		t.Fatalf("%d resources are listed", len(uris))
	}
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"r","method":"resources/read","params":{"uri":%q}}`, uris[3]))
	var read struct {
		Contents []struct{ URI, MIMEType, Text string }
	}
	if err := json.Unmarshal(p.answer(`"r"`).Result, &read); err != nil || len(read.Contents) != 1 {
		t.Fatalf("reading gives %+v, %v", read, err)
	}
	if r, err := evidence.Verify([]byte(read.Contents[0].Text)); err != nil || !strings.HasSuffix(uris[3], r.ID().String()) {
		t.Errorf("the resource does not verify: %v", err)
	}
	for i, uri := range []string{"rea://evidence/ev_00", "rea://evidence/" + evidence.ID{}.String(), "rea://other", "file:///etc/passwd"} {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":%q}}`, i, uri))
		if m := p.answer(fmt.Sprint(i)); m.Error == nil || m.Error.Code == 0 {
			t.Errorf("%s gives %+v", uri, m)
		}
	}
	p.send(`{"jsonrpc":"2.0","id":"c","method":"resources/list","params":{"cursor":"nonsense"}}`)
	if m := p.answer(`"c"`); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("an invented cursor gives %+v", m)
	}
	p.send(`{"jsonrpc":"2.0","id":"t","method":"resources/templates/list"}`)
	if m := p.answer(`"t"`); !strings.Contains(string(m.Result), `"uriTemplate":"rea://evidence/{id}"`) {
		t.Errorf("templates are %s", m.Result)
	}
}

func TestPrompts_and_completion(t *testing.T) {
	p := ready(t, nil)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`)
	if m := p.answer("1"); strings.Count(string(m.Result), `"name":"`) < 3 {
		t.Errorf("prompts are %s", m.Result)
	}
	p.send(`{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"explain_function","arguments":{"function":"main"}}}`)
	if m := p.answer("2"); m.Error != nil || !strings.Contains(string(m.Result), `\"main\"`) {
		t.Errorf("prompt is %s %+v", m.Result, m.Error)
	}
	p.send(`{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"explain_function"}}`)
	if m := p.answer("3"); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("a prompt without its argument gives %+v", m)
	}
	complete := func(ref, argument, value string) []string {
		p.t.Helper()
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":4,"method":"completion/complete","params":{"ref":%s,"argument":{"name":%q,"value":%q}}}`, ref, argument, value))
		var r struct{ Completion struct{ Values []string } }
		m := p.answer("4")
		if m.Error != nil {
			t.Fatalf("completion gives %+v", m.Error)
		}
		if err := json.Unmarshal(m.Result, &r); err != nil {
			t.Fatal(err)
		}
		return r.Completion.Values
	}
	if got := complete(`{"type":"ref/prompt","name":"explain_function"}`, "function", "ma"); strings.Join(got, " ") != "main malloc" {
		t.Errorf("functions are %v", got)
	}
	if got := complete(`{"type":"ref/prompt","name":"investigate_binary"}`, "path", "/"); len(got) != 1 {
		t.Errorf("paths are %v", got)
	}
	p.call(5, "list_documents", "{}")
	p.answer("5").tool(t)
	if got := complete(`{"type":"ref/resource","uri":"rea://evidence/{id}"}`, "id", "ev_"); len(got) != 1 {
		t.Errorf("ids are %v", got)
	}
	if got := complete(`{"type":"ref/prompt","name":"other"}`, "x", ""); got == nil || len(got) != 0 {
		t.Errorf("an unknown prompt gives %v", got)
	}
}

func TestTwo_connections_are_apart(t *testing.T) {
	one, two := ready(t, nil), ready(t, nil)
	one.call(1, "list_documents", "{}")
	r := one.answer("1").tool(t)
	var doc struct {
		ID string `json:"evidence_id"`
	}
	if err := json.Unmarshal(*r.Data, &doc); err != nil {
		t.Fatal(err)
	}
	two.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"rea://evidence/%s"}}`, doc.ID))
	if m := two.answer("1"); m.Error == nil {
		t.Error("one connection reads the records of the other")
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
