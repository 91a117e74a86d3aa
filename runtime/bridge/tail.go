package bridge

import (
	"bytes"
	"strings"
	"sync"
	"unicode"
)

// tailSize is how much of an engine's output is kept to explain its end.
const tailSize = 4096

// tail keeps the last bytes that were written.
type tail struct {
	mu   sync.Mutex
	data []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p[max(0, len(p)-tailSize):]...)
	if over := len(t.data) - tailSize; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(p), nil
}

// lines are the last n lines that are not empty, in one.
func (t *tail) lines(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for _, line := range bytes.Split(t.data, []byte{'\n'}) {
		text := strings.TrimSpace(strings.Map(func(r rune) rune {
			if unicode.IsPrint(r) {
				return r
			}
			return ' '
		}, strings.ToValidUTF8(string(line), "?")))
		if text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out[max(0, len(out)-n):], " | ")
}

// firstLine keeps the first line that is written and forgets the rest.
type firstLine struct {
	mu    sync.Mutex
	data  []byte
	ready chan struct{}
}

func (f *firstLine) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.ready:
		return len(p), nil
	default:
	}
	line, _, whole := bytes.Cut(p, []byte{'\n'})
	if f.data = append(f.data, line...); whole || len(f.data) > tailSize {
		close(f.ready)
	}
	return len(p), nil
}

func (f *firstLine) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.TrimSpace(string(f.data))
}
