//go:build unix

package ghidra

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"rea/providers/enginetest/scripted"
	"rea/runtime/bridge"
	"rea/runtime/bridge/facts"
)

// built is the program, built at first use and removed by TestMain.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "ghb")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "rea")
	if out, err := exec.Command("go", "build", "-o", bin, "rea/cmd/rea").CombinedOutput(); err != nil {
		return bin, fmt.Errorf("the program does not build: %s", out)
	}
	return bin, nil
})

// builds tells that the program was asked for.
var builds atomic.Bool

// command builds the program and says how to run it with a scripted Ghidra,
// with temporary files in a directory of the test.
func command(t *testing.T, h *harness) func(args ...string) *exec.Cmd {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the program")
	}
	builds.Store(true)
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return func(args ...string) *exec.Cmd {
		cmd := exec.Command(bin, args...)
		cmd.Env = append(os.Environ(), "TMPDIR="+h.base, InstallSetting+"="+h.provider.Getenv(InstallSetting), JavaSetting+"="+h.provider.Getenv(JavaSetting))
		return cmd
	}
}

// TestCommand_signalled_twice: what starts a program often signals it and its
// group, and the engine is released all the same.
func TestCommand_signalled_twice(t *testing.T) {
	h := newHarness(t, scripted.Behaviour{Delay: time.Minute}, nil)
	rea := command(t, h)
	cmd := rea("list-procedures", "--provider", ID, program(t))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return len(h.processes()) > 0 }, func() any { return "not started" })
	for range 3 {
		cmd.Process.Signal(syscall.SIGINT)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err == nil {
		t.Error("a command that was stopped ends well")
	} else if exit, _ = err.(*exec.ExitError); exit == nil || exit.ExitCode() != 130 {
		t.Errorf("it ends with %v", err)
	}
	h.clean(t)
}

// TestCommand_killed: what a process that was killed leaves behind goes with the
// next one that starts an engine, or serves.
func TestCommand_killed(t *testing.T) {
	h := newHarness(t, scripted.Behaviour{Delay: time.Minute, Orphan: true, Stubborn: true}, nil)
	rea := command(t, h)
	path := program(t)
	kill := func() {
		t.Helper()
		cmd := rea("list-procedures", "--provider", ID, path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The engine and its orphan; where processes have no environment to read,
		// the directory of the target comes before both.
		eventually(t, func() bool {
			made, _ := filepath.Glob(filepath.Join(h.base, "*", "target", "target"))
			return len(made) == 1 && (runtime.GOOS != "linux" || len(h.processes()) > 1)
		}, func() any { return "not started" })
		cmd.Process.Kill()
		cmd.Wait()
		if left := bridge.Abandoned(h.base); len(left) != 1 {
			t.Fatalf("abandoned are %q", left)
		}
	}
	kill()
	if out, err := rea("doctor").Output(); !strings.Contains(string(out), "of an engine whose server was killed") {
		t.Errorf("the doctor does not tell of it: %v\n%s", err, out)
	}
	cmd := rea("mcp")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return len(bridge.Abandoned(h.base)) == 0 && len(h.processes()) == 0 }, func() any { return h.processes() })
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server: %v", err)
	}
	h.clean(t)

	kill()
	if err := scripted.Install(filepath.Join(h.provider.Getenv(JavaSetting), "bin", "java"), scripted.Behaviour{Engine: ID, Version: "12.0"}); err != nil {
		t.Fatal(err)
	}
	if out, err := rea("list-procedures", "--provider", ID, path).CombinedOutput(); err != nil {
		t.Errorf("the next one: %v\n%s", err, out)
	}
	h.clean(t)
}

// TestCommand_verify: what an engine answers wrongly is told, and no more than that.
func TestCommand_verify(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed")
	}
	for _, tt := range []struct {
		name    string
		b       scripted.Behaviour
		exit    int
		out     []string // of standard output
		differs []string // all checks that differ
		err     string
	}{
		{"good", scripted.Behaviour{}, 0, []string{"Nothing differs: 3", "passed   annotations", "passed   value_flow"}, nil, ""},
		{"lies_about_strings", scripted.Behaviour{Op: facts.Texts, At: scripted.Lie}, 1, []string{"is used there", "is not listed"}, []string{"strings", "references", "strings"}, "failed: 3 checks of ghidra differ"},
		{"lies_about_names", scripted.Behaviour{Op: facts.Symbols, At: scripted.Lie}, 1, []string{"has names []"}, []string{"names", "names"}, "2 checks"},
		{"lies_about_transfers", scripted.Behaviour{Op: facts.Transfers, At: scripted.Lie}, 1, []string{"which is not listed"}, []string{"calls", "call_targets", "summary"}, "3 checks"},
		{"ends_at_one_question", scripted.Behaviour{Op: facts.Decompile, At: scripted.Crash}, 1, []string{"crashes at decompile"}, []string{"pseudocode", "facets", "pseudocode", "same_answer_of_another_engine", "annotations"}, "5 checks"},
		{"never_decompiles", scripted.Behaviour{Op: facts.Decompile, At: scripted.Refuse}, 1, []string{"none has pseudocode: the decompiler failed: it was told to refuse"}, []string{"pseudocode", "pseudocode", "annotations"}, "checks of ghidra differ"},
		{"does_not_start", scripted.Behaviour{Start: scripted.Crash}, 3, nil, nil, "provider_unavailable: engine ghidra is unavailable: it ended before it was ready: exit status 3"},
		{"lies_about_its_version", scripted.Behaviour{Version: "11.9"}, 3, nil, nil, "and its files say"},
		{"imported_other_bytes", scripted.Behaviour{SHA256: strings.Repeat("0", 64)}, 3, nil, nil, "were imported"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHarness(t, tt.b, nil)
			cmd := command(t, h)("doctor", "--provider", ID, "--verify", program(t))
			var out, failed bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &failed
			cmd.Run()
			if cmd.ProcessState.ExitCode() != tt.exit || !strings.Contains(failed.String(), tt.err) {
				t.Errorf("exit code %d, %s; want %d, %s", cmd.ProcessState.ExitCode(), failed.String(), tt.exit, tt.err)
			}
			for _, want := range tt.out {
				if !strings.Contains(out.String(), want) {
					t.Errorf("it does not say %q", want)
				}
			}
			if tt.out == nil && out.Len() > 0 {
				t.Errorf("checks of an engine that cannot be had")
			}
			var differs []string
			for line := range strings.Lines(out.String()) {
				if name, ok := strings.CutPrefix(line, "  differs  "); ok {
					differs = append(differs, strings.TrimSpace(name))
				}
			}
			if !slices.Equal(differs, tt.differs) {
				t.Errorf("%q differ, want %q", differs, tt.differs)
			}
			if t.Failed() {
				t.Log(out.String())
			}
			h.clean(t)
		})
	}
}

// TestCommand_engine_that_fails: a command tells that its engine doesn't run, on
// standard error alone and once, and tries to start it no more.
func TestCommand_engine_that_fails(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		b    scripted.Behaviour
		exit int
		code string
		text string // on standard error
	}{
		{"analyze", []string{"analyze"}, scripted.Behaviour{Start: scripted.Crash}, 3, "provider_unavailable", "rea doctor --provider ghidra --verify FILE"},
		{"analyze_json", []string{"analyze", "--format", "json"}, scripted.Behaviour{Start: scripted.Crash}, 3, "provider_unavailable", "rea doctor --provider ghidra --verify FILE"},
		{"analyze_all_json", []string{"analyze", "--format", "json", "--rows", "0"}, scripted.Behaviour{Start: scripted.Hang}, 124, "provider_timeout", "more than 500 ms with REA_GHIDRA_STARTUP_TIMEOUT_MS"},
		{"analyze_ended", []string{"analyze", "--rows", "0"}, scripted.Behaviour{Op: facts.Texts, At: scripted.Crash}, 3, "provider_unavailable", "Run the command again"},
		{"graph", []string{"graph"}, scripted.Behaviour{Start: scripted.Crash}, 3, "provider_unavailable", "rea doctor --provider ghidra --verify FILE"},
		{"tool_json", []string{"list-procedures", "--format", "json"}, scripted.Behaviour{Start: scripted.Crash}, 3, "provider_unavailable", "rea doctor --provider ghidra --verify FILE"},
		{"address_json", []string{"inspect-address-context", "--format", "json"}, scripted.Behaviour{Start: scripted.Crash}, 3, "provider_unavailable", "rea doctor --provider ghidra --verify FILE"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHarness(t, tt.b, nil)
			starts := filepath.Join(t.TempDir(), "starts")
			counted(t, filepath.Join(h.provider.Getenv(JavaSetting), "bin", "java"), starts)
			path := program(t)
			args := append(slices.Clone(tt.args), "--provider", ID, path)
			if tt.args[0] == "inspect-address-context" {
				args = append(args, entry(t, path))
			}
			cmd := command(t, h)(args...)
			cmd.Env = append(cmd.Env, TimeoutSetting+"=30000")
			if tt.b.Start == scripted.Hang {
				cmd.Env = append(cmd.Env, TimeoutSetting+"=500")
			}
			var out, failed bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &failed
			cmd.Run()
			if cmd.ProcessState.ExitCode() != tt.exit || out.Len() > 0 {
				t.Errorf("exit code %d, want %d; standard output: %s", cmd.ProcessState.ExitCode(), tt.exit, out.String())
			}
			code, told := "", diagnostic(failed.String())
			if slices.Contains(tt.args, "json") {
				var doc struct{ Error struct{ Code string } }
				if err := json.Unmarshal([]byte(told), &doc); err != nil {
					t.Errorf("standard error is no document: %v", err)
				}
				code = doc.Error.Code
			} else {
				code, _, _ = strings.Cut(told, ":")
			}
			if code != tt.code || !strings.Contains(told, tt.text) {
				t.Errorf("code %q, want %q and %q", code, tt.code, tt.text)
			}
			if n, _ := os.ReadFile(starts); len(n) != 1 {
				t.Errorf("the engine was started %d times", len(n))
			}
			if t.Failed() {
				t.Log(failed.String())
			}
			h.clean(t)
		})
	}
}

// TestCommand_waits_for_an_engine: a command that waits says for what, on a pipe too.
func TestCommand_waits_for_an_engine(t *testing.T) {
	h := newHarness(t, scripted.Behaviour{Delay: 1500 * time.Millisecond}, nil)
	rea := command(t, h)
	for _, name := range []string{"analyze", "list-procedures", "graph"} {
		cmd := rea(name, "--provider", ID, program(t))
		var told bytes.Buffer
		cmd.Stderr = &told
		if err := cmd.Run(); err != nil || !strings.HasPrefix(told.String(), "starting Ghidra") {
			t.Errorf("%s: %v, standard error %q", name, err, told.String())
		}
	}
	h.clean(t)
}

// counted puts a program before a launcher that adds a byte to starts.
func counted(t *testing.T, launcher, starts string) {
	t.Helper()
	dir := filepath.Join(filepath.Dir(launcher), "counted")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	// What the launcher does is told by a file beside it.
	for _, name := range []string{"java", "behaviour.json"} {
		if err := os.Rename(filepath.Join(filepath.Dir(launcher), name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	script := fmt.Sprintf("#!/bin/sh\nprintf . >>%q\nexec %q \"$@\"\n", starts, filepath.Join(dir, "java"))
	if err := os.WriteFile(launcher, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
}

// diagnostic is standard error without what the command tells while it waits.
func diagnostic(text string) string {
	for strings.HasPrefix(text, "starting ") || strings.HasPrefix(text, "waiting ") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

// entry is the entry point of a program.
func entry(t *testing.T, path string) string {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Skipf("%s is no ELF file: %v", path, err)
	}
	defer f.Close()
	return fmt.Sprintf("0x%x", f.Entry)
}

// client speaks MCP with a server.
type client struct {
	t    *testing.T
	in   io.Writer
	out  *bufio.Scanner
	next int
	end  func() // of the server, which must end well
}

func (c *client) send(v map[string]any) {
	c.t.Helper()
	v["jsonrpc"] = "2.0"
	data, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.in.Write(append(data, '\n')); err != nil {
		c.t.Fatal(err)
	}
}

type message struct {
	ID     int    `json:"id"`
	Method string `json:"method"`
	Result struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
	Params struct {
		Message string `json:"message"`
	} `json:"params"`
}

func (c *client) receive() (m message) {
	c.t.Helper()
	if !c.out.Scan() {
		c.t.Fatalf("the server has ended: %v", c.out.Err())
	}
	if err := json.Unmarshal(c.out.Bytes(), &m); err != nil {
		c.t.Fatalf("%v: %s", err, c.out.Bytes())
	}
	return m
}

// begin sends a call and gives its id.
func (c *client) begin(tool string, args map[string]any) int {
	c.t.Helper()
	c.next++
	c.send(map[string]any{"id": c.next, "method": "tools/call", "params": map[string]any{
		"name": tool, "arguments": args, "_meta": map[string]any{"progressToken": tool},
	}})
	return c.next
}

// call waits for the reply, and collects what came before it.
func (c *client) call(tool string, args map[string]any) (reply message, progress []string) {
	c.t.Helper()
	id := c.begin(tool, args)
	for {
		m := c.receive()
		if m.ID == id && m.Method == "" {
			return m, progress
		}
		if m.Method == "notifications/progress" {
			progress = append(progress, m.Params.Message)
		}
	}
}

func text(m message) string {
	var all, compact bytes.Buffer
	for _, c := range m.Result.Content {
		all.WriteString(c.Text)
	}
	if json.Compact(&compact, all.Bytes()) != nil {
		return all.String()
	}
	return compact.String()
}

// connect starts a server and introduces a client to it.
func connect(t *testing.T, h *harness) *client {
	t.Helper()
	cmd := command(t, h)("mcp")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	scanner := bufio.NewScanner(out)
	scanner.Buffer(nil, 32<<20)
	c := &client{t: t, in: in, out: scanner}
	c.end = func() {
		t.Helper()
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ends with %v: %s", err, log.String())
		}
	}
	c.send(map[string]any{"id": 1000, "method": "initialize", "params": map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "1"},
	}})
	c.receive()
	c.send(map[string]any{"method": "notifications/initialized"})
	return c
}

// TestServer_recovers: a client gives up a cold start, sees what the engine does,
// closes, opens again and gets its answer, all on one connection.
func TestServer_recovers(t *testing.T) {
	h := newHarness(t, scripted.Behaviour{Delay: time.Minute}, nil)
	c := connect(t, h)
	open := map[string]any{"path": program(t), "provider_id": ID}
	if m, _ := c.call("open_binary", open); m.Result.IsError || !strings.Contains(text(m), `"selection_source":"request"`) {
		t.Fatalf("open: %s", text(m))
	}
	id := c.begin("binary_overview", map[string]any{})
	eventually(t, func() bool { return len(h.processes()) > 0 }, func() any { return "not started" })
	session := ""
	eventually(t, func() bool {
		m, _ := c.call("binary_session", map[string]any{"detail": "summary"})
		session = text(m)
		return strings.Contains(session, `"analysis_activity":{"status":"busy","running":1,"queued":0,"phase":"starting and analysing"}`) &&
			strings.Contains(session, `"state":"verified"`)
	}, func() any { return session })
	c.send(map[string]any{"method": "notifications/cancelled", "params": map[string]any{"requestId": id}})
	eventually(t, func() bool { return len(h.processes()) == 0 }, func() any { return h.processes() })
	if m, _ := c.call("close_binary", map[string]any{}); m.Result.IsError {
		t.Errorf("close: %s", text(m))
	}
	left, err := os.ReadDir(h.base)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if _, err := os.Stat(filepath.Join(h.base, e.Name(), "project")); err == nil {
			t.Errorf("%s is left", e.Name())
		}
	}
	java := filepath.Join(h.provider.Getenv(JavaSetting), "bin", "java")
	if err := scripted.Install(java, scripted.Behaviour{Engine: ID, Version: "12.0"}); err != nil {
		t.Fatal(err)
	}
	if m, _ := c.call("open_binary", open); m.Result.IsError {
		t.Fatalf("open again: %s", text(m))
	}
	if m, _ := c.call("binary_overview", map[string]any{}); m.Result.IsError || !strings.Contains(text(m), `"provider":{"id":"ghidra","name":"Ghidra","version":"12.0"}`) {
		t.Errorf("overview: %s", text(m))
	}
	c.end()
}

// TestServer_engine_that_ends: the client is told that the engine is gone and what
// to do, and that helps.
func TestServer_engine_that_ends(t *testing.T) {
	h := newHarness(t, scripted.Behaviour{Op: facts.Texts, At: scripted.Crash}, nil)
	c := connect(t, h)
	open := map[string]any{"path": program(t), "provider_id": ID}
	if m, _ := c.call("open_binary", open); m.Result.IsError {
		t.Fatalf("open: %s", text(m))
	}
	at := entry(t, program(t))
	if m, _ := c.call("set_comment", map[string]any{"address": at, "comment": "kept"}); m.Result.IsError {
		t.Fatalf("comment: %s", text(m))
	}
	for range 2 {
		m, _ := c.call("list_strings", map[string]any{})
		for _, want := range []string{`"code":"provider_unavailable"`, "it has ended: exit status 3", "Call open_binary with the same path", `"candidates":["embedded"]`, `"ended":true`} {
			if !strings.Contains(text(m), want) {
				t.Errorf("%q is not in %s", want, text(m))
			}
		}
	}
	m, _ := c.call("binary_session", map[string]any{"detail": "summary"})
	if got := text(m); !strings.Contains(got, `"analysis_activity":{"status":"ended"`) || !strings.Contains(got, "its engine has ended") || strings.Contains(got, "Call binary_overview") {
		t.Errorf("session: %s", got)
	}
	if err := scripted.Install(filepath.Join(h.provider.Getenv(JavaSetting), "bin", "java"), scripted.Behaviour{Engine: ID, Version: "12.0"}); err != nil {
		t.Fatal(err)
	}
	if m, _ := c.call("open_binary", open); m.Result.IsError {
		t.Fatalf("open again: %s", text(m))
	}
	if m, _ := c.call("list_strings", map[string]any{}); m.Result.IsError {
		t.Errorf("strings: %s", text(m))
	}
	if m, _ := c.call("comment", map[string]any{"address": at}); !strings.Contains(text(m), "kept") {
		t.Errorf("the comment: %s", text(m))
	}
	c.end()
}
