package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"rea/generated/tool"
	"rea/tests/built"
)

func TestList_is_complete_and_stable(t *testing.T) {
	s := server(t, built.Rea(t), nil)
	if caps := s.InitializeResult().Capabilities; caps.Tools == nil || caps.Tools.ListChanged {
		t.Errorf("tools capability is %+v; the list never changes", caps.Tools)
	}
	before := marshal(t, tools(t, s))
	call(t, s, "open_binary", object{"path": built.Rea(t)})
	if after := marshal(t, tools(t, s)); !bytes.Equal(before, after) {
		t.Error("the list changed when a target was opened")
	}
	again := marshal(t, tools(t, server(t, built.Rea(t), nil)))
	if !bytes.Equal(before, again) {
		t.Error("a second server lists other tools")
	}
}

func TestToolsets_choose_families(t *testing.T) {
	var want, have []string
	for _, spec := range tool.Specs() {
		if spec.Family == "session" || spec.Family == "binary" {
			want = append(want, spec.Name)
		}
	}
	for _, listed := range tools(t, server(t, built.Rea(t), nil, "REA_MCP_TOOLSETS=session,binary")) {
		have = append(have, listed.Name)
	}
	if !slices.Equal(have, want) || !slices.Contains(have, "open_binary") || slices.Contains(have, "list_procedures") {
		t.Errorf("listed are %q, want %q", have, want)
	}
	for _, env := range []string{"REA_MCP_TOOLSETS=no_such_family", "REA_MCP_INPUT_SCHEMA_PROFILE=tiny", "REA_MCP_MAX_RESPONSE_BYTES=12"} {
		cmd := exec.Command(built.Rea(t), "mcp")
		cmd.Env = append(os.Environ(), env)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if cmd.ProcessState.ExitCode() != 2 || !strings.HasPrefix(stderr.String(), "configuration_invalid: ") || stdout.Len() > 0 {
			t.Errorf("%s: %v, stderr %q, stdout %q", env, err, &stderr, &stdout)
		}
	}
}

func TestCompact_profile_fits(t *testing.T) {
	for _, tool := range tools(t, server(t, built.Rea(t), nil, "REA_MCP_INPUT_SCHEMA_PROFILE=compact")) {
		if n := len(marshal(t, tool.InputSchema)); n > 13312 {
			t.Errorf("%s: %d bytes", tool.Name, n)
		}
	}
}

// Everything on standard output is one JSON-RPC message a line, and requests
// that were read before the end of input are answered.
func TestStdout_carries_protocol_lines_only(t *testing.T) {
	var in strings.Builder
	fmt.Fprintln(&in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	fmt.Fprintln(&in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	fmt.Fprintln(&in, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"open_binary","arguments":{"path":"`+built.Rea(t)+`"}}}`)
	fmt.Fprintln(&in, `this is no JSON`)
	fmt.Fprintln(&in, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"binary_session","arguments":{}}}`)
	cmd := exec.Command(built.Rea(t), "mcp")
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ids := map[string]bool{}
	for line := range bytes.Lines(out) {
		var m struct {
			JSONRPC string
			ID      json.RawMessage
		}
		if err := json.Unmarshal(line, &m); err != nil || m.JSONRPC != "2.0" {
			t.Errorf("not a message: %.200s", line)
		}
		ids[string(m.ID)] = true
	}
	for _, id := range []string{"1", "2", "3"} {
		if !ids[id] {
			t.Errorf("request %s was not answered", id)
		}
	}
}

// A binary of some size, so that its analysis takes a while.
func large(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no Go installation: ", err)
	}
	path := strings.TrimSpace(string(out)) + "/bin/go"
	if _, err := os.Stat(path); err != nil {
		t.Skip("no large binary: ", err)
	}
	return path
}

func TestCancelled_calls_end_and_the_server_goes_on(t *testing.T) {
	s := server(t, built.Rea(t), nil)
	call(t, s, "open_binary", object{"path": large(t)})
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "binary_overview", Arguments: object{}}); err == nil {
		t.Skip("the analysis was quicker than the cancellation")
	}
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("the cancelled call took %v", d)
	}
	r := call(t, s, "get_evidence_bundle", object{})
	if strings.Contains(text(t, r), "binary_overview") {
		t.Error("the cancelled call left evidence")
	}
	call(t, s, "binary_overview", object{})
}

func TestProgress_increases_and_ends(t *testing.T) {
	var mu sync.Mutex
	var seen []float64
	options := &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.Params.Progress)
		if r.Params.Total != 0 {
			t.Errorf("a total of %v was made up", r.Params.Total)
		}
		if r.Params.Message == "" {
			t.Error("an update says nothing")
		}
	}}
	s := server(t, built.Rea(t), options)
	call(t, s, "open_binary", object{"path": large(t)})
	params := &mcp.CallToolParams{Name: "binary_overview", Arguments: object{}}
	params.SetProgressToken("p1")
	if r, err := s.CallTool(t.Context(), params); err != nil || r.IsError {
		t.Fatalf("%v, %+v", err, r)
	}
	time.Sleep(100 * time.Millisecond)
	mu.Lock()
	defer mu.Unlock()
	if len(seen) == 0 {
		t.Fatal("no update of a long call")
	}
	for i := 1; i < len(seen); i++ {
		if seen[i] <= seen[i-1] {
			t.Errorf("progress went from %v to %v", seen[i-1], seen[i])
		}
	}
}

func TestEvidence_is_a_resource(t *testing.T) {
	s := server(t, built.Rea(t), nil)
	call(t, s, "open_binary", object{"path": built.C(t, "menu.c")})
	r := call(t, s, "procedure_info", object{"procedure": "main"})
	id, _ := at(t, r, "evidence_id").(string)
	res, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "rea://evidence/" + id})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Contents) != 1 || !strings.Contains(res.Contents[0].Text, id) {
		t.Errorf("the resource holds %+v", res.Contents)
	}
}

// Many callers at once, under the race detector; status calls are answered
// beside them.
func TestConcurrent_callers(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a second binary")
	}
	fixture := built.C(t, "menu.c", "-O1")
	s := server(t, built.RaceRea(t), nil, "GORACE=halt_on_error=1 exitcode=66")
	call(t, s, "open_binary", object{"path": fixture})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for _, c := range []struct {
				tool string
				args object
			}{
				{"binary_overview", object{}},
				{"binary_session", object{"detail": "summary"}},
				{"list_procedures", object{"offset": i}},
				{"analyze_function", object{"procedure": "choose"}},
				{"set_comment", object{"address": "main", "comment": fmt.Sprint(i)}},
				{"search_strings", object{"pattern": "s"}},
				{"open_binary", object{"path": fixture}},
				{"get_evidence_bundle", object{}},
			} {
				if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: c.args}); err != nil {
					t.Errorf("%s: %v", c.tool, err)
				}
			}
		})
	}
	wg.Wait()
	call(t, s, "close_binary", object{})
}
