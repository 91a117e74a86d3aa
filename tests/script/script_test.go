// Package script tries the command line as a shell does. Each file under
// testdata is a script (see testscript) that runs the built program.
//
// Variables: $ls is /bin/ls, $menu and $stripped are fixtures built by gcc, with
// and without symbols, $text is a file that is no program, $macho a program for
// macOS, $universal one of two architectures, and $rea the program itself. Scripts that need
// what a machine lacks are skipped by conditions: [fixtures], [bash], [zsh], [fish].
package script

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"rea/tests/built"
)

func TestMain(m *testing.M) { built.Main(m) }

func TestScripts(t *testing.T) {
	rea := built.Rea(t)
	fixtures := t.TempDir()
	haveFixtures := false
	if _, err := exec.LookPath("gcc"); err == nil {
		haveFixtures = true
		for name, flags := range map[string][]string{
			"menu":     {"-O1", "-g"},
			"stripped": {"-O1", "-s"},
		} {
			if err := os.Rename(built.C(t, "menu.c", flags...), filepath.Join(fixtures, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(rea)+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("menu", filepath.Join(fixtures, "menu"))
			env.Setenv("stripped", filepath.Join(fixtures, "stripped"))
			env.Setenv("ls", "/bin/ls")
			env.Setenv("rea", rea)
			for name, sample := range map[string]string{"macho": "throw_arm64", "universal": "universal.o"} {
				path, err := filepath.Abs(filepath.Join("../../providers/format/macho/testdata", sample))
				if err != nil {
					return err
				}
				env.Setenv(name, path)
			}
			return os.WriteFile(filepath.Join(env.WorkDir, "text"), []byte("no program\n"), 0o600)
		},
		Condition: func(name string) (bool, error) {
			if name == "fixtures" {
				return haveFixtures, nil
			}
			_, err := exec.LookPath(name)
			return err == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":      code,
			"json":      checkJSON,
			"fits":      fits,
			"interrupt": interrupt,
		},
	})
}

// code runs a program and checks its exit code: code 3 rea analyze missing.
// Its standard error must begin with a code or word and a colon unless it is 0.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N PROGRAM [ARGUMENT...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = strings.TrimPrefix(exit.ProcessState.String(), "exit status ")
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// checkJSON checks that a file (or stdout) is one JSON value, that it has the
// named members, and, for name=value, what they hold as text. Names are paths
// with dots.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: json FILE [PATH[=VALUE]...]")
	}
	var doc any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &doc); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	for _, want := range args[1:] {
		path, value, compare := strings.Cut(want, "=")
		at := doc
		for _, name := range strings.Split(path, ".") {
			object, ok := at.(map[string]any)
			if !ok {
				ts.Fatalf("%s: nothing at %s", args[0], path)
			}
			if at, ok = object[name]; !ok {
				ts.Fatalf("%s: nothing at %s", args[0], path)
			}
		}
		got, err := json.Marshal(at)
		ts.Check(err)
		if text, ok := at.(string); ok {
			got = []byte(text)
		}
		if compare && string(got) != value {
			ts.Fatalf("%s is %s, want %s", path, got, value)
		}
	}
}

// fits checks that no line of a file is longer than a number of characters.
func fits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fits FILE WIDTH")
	}
	var width int
	if err := json.Unmarshal([]byte(args[1]), &width); err != nil {
		ts.Fatalf("%v", err)
	}
	for l := range strings.Lines(ts.ReadFile(args[0])) {
		if n := len([]rune(strings.TrimRight(l, "\r\n"))); n > width {
			ts.Fatalf("a line has %d characters, more than %d:\n%s", n, width, l)
		}
	}
}

// interrupt starts a program, sends it a signal after a time and checks the
// exit code: interrupt INT 300ms 130 rea mcp. It keeps standard input open.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: interrupt SIGNAL AFTER CODE PROGRAM [ARGUMENT...]")
	}
	signal := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM}[args[0]]
	after, err := time.ParseDuration(args[1])
	ts.Check(err)
	cmd := exec.Command(findIn(ts, args[3]), args[4:]...)
	cmd.Dir = ts.MkAbs(".")
	stdin, err := cmd.StdinPipe()
	ts.Check(err)
	defer stdin.Close()
	ts.Check(cmd.Start())
	time.Sleep(after)
	ts.Check(cmd.Process.Signal(signal))
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		cmd.Process.Kill()
		ts.Fatalf("still running 10 s after the signal")
	}
	if got := strings.TrimPrefix(cmd.ProcessState.String(), "exit status "); got != args[2] {
		ts.Fatalf("exit code %s, want %s", got, args[2])
	}
}

// findIn looks a program up in the PATH of the script.
func findIn(ts *testscript.TestScript, program string) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path := filepath.Join(dir, program); exists(path) {
			return path
		}
	}
	ts.Fatalf("no program %s", program)
	return ""
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
