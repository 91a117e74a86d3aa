package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"rea/generated/schema"
	"rea/generated/tool"
)

// TestMain lets the test program be the server of a test.
func TestMain(m *testing.M) {
	if os.Getenv("REA_TEST_SERVER") != "" {
		os.Exit(serveProcess())
	}
	os.Exit(m.Run())
}

// serveProcess serves on standard input and output, and prints where it should not.
func serveProcess() int {
	stdio, err := TakeStdio()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	noise := func() {
		fmt.Println("noise of a library")
		syscall.Write(1, []byte("noise of C\n"))
		cmd := exec.Command("sh", "-c", "echo noise of a child")
		cmd.Stdout = os.Stdout
		cmd.Run()
	}
	noise()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	n := &native{documents: func(ctx context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) {
		noise()
		if os.Getenv("REA_TEST_SERVER") == "slow" {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return &tool.Finding[tool.ListDocumentsOutput]{Result: tool.ListDocumentsOutput{Documents: []string{"a"}}}, nil
	}}
	t := &testing.B{}
	if err := Run(ctx, Config{Dispatcher: newDispatcher(processBench{t}, n), Profile: schema.Full, Stdio: stdio}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// processBench stands for a test in the server process.
type processBench struct{ testing.TB }

func (processBench) Helper()         {}
func (processBench) TempDir() string { return os.TempDir() }
func (processBench) Fatal(args ...any) {
	fmt.Fprintln(os.Stderr, args...)
	os.Exit(1)
}

type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startProcess(t *testing.T, mode string) *process {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs signals and sh")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "REA_TEST_SERVER="+mode, "TMPDIR="+t.TempDir())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	p := &process{cmd, in, bufio.NewReader(out)}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"9"}}}`)
	p.line(t)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

// line reads one line, which must be JSON.
func (p *process) line(t *testing.T) string {
	t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil || !json.Valid([]byte(line)) {
		t.Fatalf("line is %q, %v", line, err)
	}
	return line
}

// ends waits for the process, and returns its exit status.
func (p *process) ends(t *testing.T) int {
	t.Helper()
	done := make(chan struct{})
	go func() {
		p.cmd.Wait()
		close(done)
	}()
	select {
	case <-done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(15 * time.Second):
		t.Fatal("the process does not end")
		return -1
	}
}

const listDocuments = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_documents","arguments":{}}}`

func TestProcess_stdout_carries_protocol_lines_only(t *testing.T) {
	p := startProcess(t, "quick")
	fmt.Fprintln(p.in, listDocuments)
	if line := p.line(t); !strings.Contains(line, `"id":1`) {
		t.Errorf("line is %q", line)
	}
	p.in.Close()
	if rest, err := io.ReadAll(p.out); err != nil || len(rest) > 0 {
		t.Errorf("after the answer: %q, %v", rest, err)
	}
	if code := p.ends(t); code != 0 {
		t.Errorf("exit status is %d", code)
	}
}

func TestProcess_ends_by_signal(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		for _, mode := range []string{"quick", "slow"} {
			p := startProcess(t, mode)
			if mode == "slow" {
				fmt.Fprintln(p.in, listDocuments)
				time.Sleep(100 * time.Millisecond)
			}
			p.cmd.Process.Signal(sig)
			if code := p.ends(t); code != 0 {
				t.Errorf("%v while %s: exit status %d", sig, mode, code)
			}
		}
	}
}

func TestProcess_ends_when_the_client_is_gone(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		t.Skip("needs sh")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "REA_TEST_SERVER=slow", "TMPDIR="+t.TempDir())
	cmd.Stdout = w
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	p := &process{cmd, in, bufio.NewReader(r)}
	t.Cleanup(func() { cmd.Process.Kill() })
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"9"}}}`)
	p.line(t)
	fmt.Fprintln(in, listDocuments)
	time.Sleep(100 * time.Millisecond)
	in.Close()
	r.Close()
	p.ends(t)
}

// TestSDK_client talks to the server with the SDK's own client.
func TestSDK_client(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs sh")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "REA_TEST_SERVER=quick", "TMPDIR="+t.TempDir())
	var updates []string
	client := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			updates = append(updates, req.Params.Message)
		},
	})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cs, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := cs.ListTools(ctx, nil)
	if err != nil || len(tools.Tools) < 30 || tools.NextCursor != "" {
		t.Fatalf("%v", err)
	}
	for _, tl := range tools.Tools {
		if tl.Annotations == nil || tl.InputSchema == nil || tl.OutputSchema == nil {
			t.Errorf("tool %s is incomplete", tl.Name)
		}
	}
	params := &mcp.CallToolParams{Name: "list_documents", Arguments: map[string]any{}}
	params.SetProgressToken("p")
	res, err := cs.CallTool(ctx, params)
	if err != nil || res.IsError || res.StructuredContent == nil {
		t.Fatalf("result is %+v, %v", res, err)
	}
	id, _ := res.StructuredContent.(map[string]any)["evidence_id"].(string)
	read, err := cs.ReadResource(ctx, &mcp.ReadResourceParams{URI: "rea://evidence/" + id})
	if err != nil || len(read.Contents) != 1 || !strings.Contains(read.Contents[0].Text, id) {
		t.Errorf("reading the record: %+v, %v", read, err)
	}
	list, err := cs.ListResources(ctx, nil)
	if err != nil || len(list.Resources) != 1 {
		t.Errorf("resources are %+v, %v", list, err)
	}
	if _, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "none"}); err == nil {
		t.Error("an unknown tool can be called")
	}
	bad, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "list_documents", Arguments: map[string]any{"x": 1}})
	if err != nil || !bad.IsError || bad.StructuredContent != nil {
		t.Errorf("a wrong argument gives %+v, %v", bad, err)
	}
	if err := cs.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	if len(updates) < 2 {
		t.Errorf("updates are %v", updates)
	}
}
