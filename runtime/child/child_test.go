//go:build unix

package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func shell(script string) Command {
	return Command{Path: "sh", Args: []string{"-c", script}, Grace: 200 * time.Millisecond}
}

// gone waits until a process is no more.
func gone(t *testing.T, pid int) {
	t.Helper()
	for range 300 {
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) || zombie(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is still running", pid)
}

// zombie: an orphan whose new parent does not reap is dead all the same.
func zombie(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(line[bytes.LastIndexByte(line, ')'):]), " Z ")
}

func TestOutput(t *testing.T) {
	out, err := Output(t.Context(), shell("echo hello; echo no >&2"), 100)
	if err != nil || string(out) != "hello\n" {
		t.Errorf("output is %q, %v", out, err)
	}
	out, err = Output(t.Context(), shell("yes"), 1000)
	if err == nil || len(out) != 1000 {
		t.Errorf("endless output gives %d bytes, %v", len(out), err)
	}
	var exit *exec.ExitError
	if _, err := Output(t.Context(), shell("exit 3"), 10); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("exit status 3 gives %v", err)
	}
	if _, err := Output(t.Context(), Command{Path: "/no/such/program"}, 10); err == nil {
		t.Error("a missing program starts")
	}
	out, err = Output(t.Context(), Command{Path: "sh", Args: []string{"-c", "pwd; echo $X; cat"}, Dir: "/", Env: []string{"X=y", "PATH=" + os.Getenv("PATH")}, Stdin: strings.NewReader("in")}, 100)
	if err != nil || string(out) != "/\ny\nin" {
		t.Errorf("output is %q, %v", out, err)
	}
}

// family starts a shell with a background child and tells both ids.
func family(t *testing.T, ctx context.Context, trap string) (*Process, int) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := shell(trap + "sleep 60 & echo $!; wait; sleep 60")
	c.Stdout = w
	p, err := Start(ctx, c)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 20)
	n, err := r.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	id, err := strconv.Atoi(strings.TrimSpace(string(line[:n])))
	if err != nil {
		t.Fatal(err)
	}
	return p, id
}

func TestContext_ends_the_family(t *testing.T) {
	for name, trap := range map[string]string{"by_asking": "", "by_force": "trap '' TERM; "} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			p, background := family(t, ctx, trap)
			start := time.Now()
			cancel()
			if err := p.Wait(); !errors.Is(err, context.Canceled) {
				t.Errorf("the child ends with %v", err)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("ending took %v", took)
			}
			gone(t, p.PID())
			gone(t, background)
		})
	}
}

func TestChild_that_ends_leaves_nobody_behind(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only where a child can be waited for without reaping it")
	}
	c := shell("sleep 60 >/dev/null 2>&1 & echo $!")
	out, err := Output(t.Context(), c, 100)
	if err != nil {
		t.Fatal(err)
	}
	id, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	gone(t, id)
}

func TestOutput_kept_open_is_not_waited_for(t *testing.T) {
	start := time.Now()
	if _, err := Output(t.Context(), shell("sleep 60 & exit 0"), 100); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		t.Errorf("error is %v", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("waiting took %v", took)
	}
}

func TestKill(t *testing.T) {
	p, background := family(t, t.Context(), "trap '' TERM; ")
	p.Kill()
	if err := p.Wait(); err == nil {
		t.Error("a killed child ends well")
	}
	p.Kill() // the id may be another's by now
	gone(t, background)
}

func TestSnapshot(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	p, background := family(t, t.Context(), "")
	s, err := p.Snapshot()
	if err != nil || s.PID != p.PID() || s.Parent != os.Getpid() || s.Group != p.PID() || !slices.Contains(s.Descendants, background) {
		t.Errorf("snapshot is %+v, %v", s, err)
	}
	p.Kill()
	p.Wait()
	if _, err := p.Snapshot(); !errors.Is(err, ErrUnavailable) {
		t.Errorf("of an ended child: %v", err)
	}
}

func TestStart_with_an_ended_context(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, shell("true")); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}
