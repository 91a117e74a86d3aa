package progress

import (
	"io"
	"sync"
	"time"
)

// Patience is how long a command may take before it reports on a terminal.
const Patience = time.Second

// A Terminal shows progress to a person once a command has taken longer than
// [Patience]. On an interactive terminal one line is rewritten in place;
// elsewhere every update is a line.
type Terminal struct {
	out         io.Writer
	interactive bool
	start       time.Time

	mu    sync.Mutex
	shown bool // a line stands on the terminal
	held  string
	last  string // message shown last
	timer *time.Timer
	done  bool
}

// NewTerminal writes to out, which is usually stderr.
func NewTerminal(out io.Writer, interactive bool) *Terminal {
	t := &Terminal{out: out, interactive: interactive, start: time.Now()}
	t.timer = time.AfterFunc(Patience, t.release)
	return t
}

// Sink is the terminal as the sink of a [Reporter].
func (t *Terminal) Sink(_ int64, message string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done {
		return
	}
	if time.Since(t.start) < Patience {
		t.held = message
		return
	}
	t.show(message)
}

// release shows what was reported before the patience ended.
func (t *Terminal) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.done && t.held != "" {
		t.show(t.held)
	}
}

func (t *Terminal) show(message string) {
	t.held = ""
	if message == t.last {
		return
	}
	t.last = message
	if t.interactive {
		io.WriteString(t.out, "\r\x1b[K"+message)
	} else {
		io.WriteString(t.out, message+"\n")
	}
	t.shown = true
}

// Close removes the line of an interactive terminal; nothing is shown after it.
func (t *Terminal) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done {
		return
	}
	t.done = true
	t.timer.Stop()
	if t.shown && t.interactive {
		io.WriteString(t.out, "\r\x1b[K")
	}
}
