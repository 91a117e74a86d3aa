package ask

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens a pseudo terminal: what is written to the master is typed.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

// typist types when the first words are shown: by then the terminal is raw, and
// Ctrl-C is a key. Before, the terminal itself would take it as a signal.
type typist struct {
	terminal *os.File
	keys     string
}

func (w *typist) Write(b []byte) (int, error) {
	if _, err := w.terminal.WriteString(w.keys); err != nil {
		return 0, err
	}
	w.keys = ""
	return len(b), nil
}

func TestKeys(t *testing.T) {
	t.Setenv("TERM", "xterm")
	for _, tt := range []struct {
		name, typed string
		want        []int
	}{
		{"enter_takes_the_preset", "\r", []int{0, 2}},
		{"arrows_and_space", "\x1b[B \r", []int{0, 1, 2}},
		{"up_wraps", "\x1b[A \r", []int{0}},
		{"application_keys", "\x1bOB\x1bOB \r", []int{0}},
		{"all", "a\r", []int{0, 1, 2}},
		{"quit", "q", nil},
		{"control_c", "\x03", nil},
		{"nothing_left", " jj \r", nil},
		{"unknown_keys", "\x1b[5~z\x1b[1;5C\r", []int{0, 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			master, slave := terminal(t)
			before, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
			if err != nil {
				t.Fatal(err)
			}
			p := Screen(slave, slave, &typist{master, tt.typed})
			if p.screen == nil {
				t.Fatal("a terminal is not recognized")
			}
			got, err := p.Choose("which?", three)
			if !reflect.DeepEqual(got, tt.want) || (tt.want == nil) != (err != nil) {
				t.Errorf("%v, %v", got, err)
			}
			if err != nil && errors.Is(err, ErrInterrupted) != (tt.name == "control_c") {
				t.Errorf("err = %v", err)
			}
			after, _ := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
			if !reflect.DeepEqual(before, after) {
				t.Error("the terminal is not as it was")
			}
		})
	}
}
