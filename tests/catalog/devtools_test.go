package catalog

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// browser is a headless Chromium that is spoken to over a pair of pipes
// (--remote-debugging-pipe): JSON messages, each ended by a zero byte.
type browser struct {
	t       *testing.T
	in      *os.File
	session string

	mu      sync.Mutex
	nextID  int
	replies map[int]chan reply
	trouble []string // what the page complained about
}

type reply struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

func startBrowser(t *testing.T) *browser {
	t.Helper()
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			program = p
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium on this machine")
	}
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "--window-size=1280,900", "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &browser{t: t, in: ourOut, replies: map[int]chan reply{}}
	t.Cleanup(func() {
		b.send("Browser.close", nil)
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			cmd.Process.Kill()
			<-ended
		}
		ourOut.Close()
		ourIn.Close()
	})
	go b.listen(ourIn)
	return b
}

func (b *browser) listen(r *os.File) {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			ID     int
			Method string
			Params json.RawMessage
			reply
		}
		if err := json.Unmarshal(line[:len(line)-1], &m); err != nil {
			continue
		}
		b.mu.Lock()
		switch m.Method {
		case "":
			if c := b.replies[m.ID]; c != nil {
				c <- m.reply
			}
		case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled":
			b.trouble = append(b.trouble, m.Method+": "+string(m.Params))
		}
		b.mu.Unlock()
	}
}

func (b *browser) send(method string, params any) chan reply {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nextID++
	m := map[string]any{"id": b.nextID, "method": method}
	if params != nil {
		m["params"] = params
	}
	if b.session != "" {
		m["sessionId"] = b.session
	}
	c := make(chan reply, 1)
	b.replies[b.nextID] = c
	data, err := json.Marshal(m)
	if err == nil {
		_, err = b.in.Write(append(data, 0))
	}
	if err != nil {
		c <- reply{Error: &struct{ Message string }{err.Error()}}
	}
	return c
}

func (b *browser) call(method string, params any, result any) {
	b.t.Helper()
	select {
	case r := <-b.send(method, params):
		if r.Error != nil {
			b.t.Fatalf("%s: %s", method, r.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(r.Result, result); err != nil {
				b.t.Fatal(err)
			}
		}
	case <-time.After(30 * time.Second):
		b.t.Fatalf("%s: no answer from the browser", method)
	}
}

// open loads url in a tab of its own and waits until the page says that it is ready.
func (b *browser) open(url string) {
	b.t.Helper()
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.until(`document.getElementById("main")?.dataset.ready === "true"`)
}

func (b *browser) until(condition string) {
	b.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if b.eval(condition) == "true" {
			return
		}
	}
	b.t.Fatalf("never came true: %s", condition)
}

// eval is the value of a JavaScript expression as text.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	return fmt.Sprint(r.Result.Value)
}

// press sends one key.
func (b *browser) press(key, text string) {
	b.t.Helper()
	params := map[string]any{"type": "keyDown", "key": key}
	if text != "" {
		params["text"] = text
	}
	b.call("Input.dispatchKeyEvent", params, nil)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key}, nil)
}

func (b *browser) write(text string) {
	for _, c := range text {
		b.press(string(c), string(c))
	}
}

func (b *browser) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.trouble...)
}
