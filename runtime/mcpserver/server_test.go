package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"rea/generated/schema"
	"rea/generated/tool"
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
