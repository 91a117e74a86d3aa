// Package mcp tries the server through clients that know nothing of it: the
// client of the Go SDK, and the inspector that npm distributes.
package mcp

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"rea/tests/built"
)

func TestMain(m *testing.M) { built.Main(m) }

// server starts program as an MCP server and connects to it.
func server(t testing.TB, program string, options *mcp.ClientOptions, env ...string) *mcp.ClientSession {
	t.Helper()
	cmd := exec.Command(program, "mcp")
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "rea-test", Version: "1"}, options)
	s, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// call runs a tool that must succeed.
func call(t testing.TB, s *mcp.ClientSession, tool string, args any) *mcp.CallToolResult {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if r.IsError {
		t.Fatalf("%s failed: %s", tool, text(t, r))
	}
	return r
}

// text is the one block of text of a reply.
func text(t testing.TB, r *mcp.CallToolResult) string {
	t.Helper()
	if len(r.Content) != 1 {
		t.Fatalf("%d blocks of content, want 1", len(r.Content))
	}
	block, ok := r.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("content is %T", r.Content[0])
	}
	return block.Text
}

// at reads a value out of the structured content.
func at(t testing.TB, r *mcp.CallToolResult, path ...string) any {
	t.Helper()
	v := r.StructuredContent
	for _, name := range path {
		object, ok := v.(map[string]any)
		if !ok {
			t.Fatalf("nothing at %v", path)
		}
		v = object[name]
	}
	return v
}

func tools(t testing.TB, s *mcp.ClientSession) []*mcp.Tool {
	t.Helper()
	var all []*mcp.Tool
	for tool, err := range s.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tool)
	}
	return all
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

type object = map[string]any
