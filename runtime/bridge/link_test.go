//go:build unix

package bridge

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/child"
)

// sleeping is a link whose process does nothing; who plays its script connects
// to the place that is sent to places.
func sleeping(t *testing.T, adjust func(*Config)) (l *Link, places chan *Place) {
	t.Helper()
	places = make(chan *Place, 4)
	base, err := os.MkdirTemp("", "brt")
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		Provider: model.Provider{ID: "test", Name: "Test"}, SHA256: "00", StartTimeout: 5 * time.Second, Base: base, Grace: 100 * time.Millisecond,
		Prepare: func(_ context.Context, p *Place) (child.Command, error) {
			places <- p
			return child.Command{Path: "sleep", Args: []string{"60"}}, nil
		},
	}
	if adjust != nil {
		adjust(&c)
	}
	l = New(c)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		left, _ := os.ReadDir(base)
		for _, e := range left {
			t.Errorf("%s is left", e.Name())
		}
		os.RemoveAll(base)
	})
	return l, places
}

func dial(t *testing.T, p *Place, token string) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", p.socket())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := WriteFrame(conn, greeting{Protocol: Protocol, Token: token, Engine: "test", SHA256: "00"}); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestPlace is for its owner only.
func TestPlace(t *testing.T) {
	p, err := newPlace("")
	if err != nil {
		t.Fatal(err)
	}
	defer p.remove(removePlace)
	l, err := p.listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := p.Mkdir("a/b"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Copy(t.Context(), "a/copy", []byte("data"), "00"); err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("a copy with another digest: %v", err)
	}
	if _, err := p.Copy(t.Context(), "copy", []byte("data"), "3a6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7"); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Copy(ended, "late", []byte("data"), "00"); !errors.Is(err, context.Canceled) {
		t.Errorf("a copy that was given up: %v", err)
	}
	err = filepath.WalkDir(p.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if left := p.remove(removePlace); left != nil {
		t.Errorf("%v is left", left)
	}
}

// TestStranger: somebody who is not the engine and does not know the token is
// turned away, and the start goes on.
func TestStranger(t *testing.T) {
	l, places := sleeping(t, nil)
	answer := make(chan error, 1)
	go func() {
		_, err := l.Ask(t.Context(), Question{Op: "anything"})
		answer <- err
	}()
	p := <-places
	stranger := dial(t, p, "guess")
	stranger.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := stranger.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a stranger is not turned away: %v", err)
	}
	script := dial(t, p, p.token)
	if _, err := ReadFrame(script, MaxFrame); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(p.Path("token")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the token is still there: %v", err)
	}
	if _, err := net.Dial("unix", p.socket()); err == nil {
		t.Error("a second script can connect")
	}
	if err := WriteFrame(script, map[string]any{"id": 1, "end": map[string]any{"x": 1}}); err != nil {
		t.Fatal(err)
	}
	if err := <-answer; err != nil {
		t.Error(err)
	}
}

// TestQueue: questions beyond the bound are refused, and those that wait go on.
func TestQueue(t *testing.T) {
	l, places := sleeping(t, func(c *Config) { c.Queue = 2 })
	answers := make(chan error, 3)
	ask := func() {
		_, err := l.Ask(t.Context(), Question{Op: "slow", Rows: func(string, jsontext.Value) error { return nil }})
		answers <- err
	}
	go ask()
	p := <-places
	script := dial(t, p, p.token)
	if _, err := ReadFrame(script, MaxFrame); err != nil {
		t.Fatal(err)
	}
	go ask()
	go ask()
	for l.Activity().Queued < 2 {
		time.Sleep(time.Millisecond)
	}
	if _, err := l.Ask(t.Context(), Question{Op: "slow"}); fault.CodeOf(err) != fault.ResourceConstraintCode {
		t.Errorf("beyond the bound: %v", err)
	}
	if a := l.Activity(); a.Status != "busy" || a.Running != 1 || a.Phase != "slow" {
		t.Errorf("activity %+v", a)
	}
	for id := 1; id <= 3; id++ {
		if id > 1 {
			if _, err := ReadFrame(script, MaxFrame); err != nil {
				t.Fatal(err)
			}
		}
		if err := WriteFrame(script, map[string]any{"id": id, "part": "p", "rows": []int{1}}); err != nil {
			t.Fatal(err)
		}
		if err := WriteFrame(script, map[string]any{"id": id, "end": struct{}{}}); err != nil {
			t.Fatal(err)
		}
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
}

// TestForeignScript: a script in a process that is not ours is told to quit, and
// its process is left alone.
func TestForeignScript(t *testing.T) {
	l, places := sleeping(t, func(c *Config) { c.Grace = time.Second })
	go l.Ask(t.Context(), Question{Op: "anything"})
	p := <-places
	script := dial(t, p, p.token)
	if _, err := ReadFrame(script, MaxFrame); err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 1)
	go func() {
		data, _ := ReadFrame(script, MaxFrame)
		told <- string(data)
		script.Close()
	}()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if got := <-told; got != `{"quit":true}` {
		t.Errorf("the script is told %s", got)
	}
	if _, err := l.Ask(t.Context(), Question{Op: "anything"}); err == nil {
		t.Error("a closed link answers")
	}
}

func TestCompanion(t *testing.T) {
	shell := func(script string) func(*Place) (child.Command, error) {
		return func(*Place) (child.Command, error) {
			return child.Command{Path: "/bin/sh", Args: []string{"-c", script}}, nil
		}
	}
	l, places := sleeping(t, func(c *Config) { c.Companion = shell("echo 17; exec sleep 60") })
	go l.Start(t.Context())
	if p := <-places; p.Companion != "17" {
		t.Errorf("the companion says %q", p.Companion)
	}
	l, _ = sleeping(t, func(c *Config) { c.Companion = shell("echo broken >&2; exit 1") })
	if err := l.Start(t.Context()); fault.CodeOf(err) != fault.ProviderUnavailableCode || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a companion that ends: %v", err)
	}
	l, _ = sleeping(t, func(c *Config) {
		c.Companion, c.StartTimeout = shell("exec sleep 60"), 200*time.Millisecond
	})
	if err := l.Start(t.Context()); fault.CodeOf(err) != fault.ProviderTimeoutCode || !strings.Contains(err.Error(), "200 ms") {
		t.Errorf("a companion that says nothing: %v", err)
	}
}

// TestCleanup_that_fails names the kinds of what remains.
func TestCleanup_that_fails(t *testing.T) {
	l, places := sleeping(t, func(c *Config) { c.removeAll = func(string) error { return errors.New("busy") } })
	go l.Start(t.Context())
	place := <-places
	if err := place.Mkdir("project"); err != nil {
		t.Fatal(err)
	}
	err := l.Close()
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.CleanupIncompleteCode {
		t.Fatalf("error is %v", err)
	}
	if got := strings.Join(f.Details.(*fault.CleanupIncompleteDetails).Remaining, " "); got != "project temp_root" {
		t.Errorf("what remains is %q", got)
	}
	if err := os.RemoveAll(place.Root); err != nil {
		t.Error(err)
	}
}
