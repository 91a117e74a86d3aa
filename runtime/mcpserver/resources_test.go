package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rea/runtime/evidence"
)

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
