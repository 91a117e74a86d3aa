// Package scripted plays the part of an engine process: it speaks the protocol
// of runtime/bridge as a bridge script does, over a real socket, and answers
// from any engine.Engine. It misbehaves in every way that a Behaviour names, so
// that those who run engines can be tested without one.
//
// A test starts itself again in place of the engine's launcher: see [Main].
package scripted

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// Behaviour is how the process behaves.
type Behaviour struct {
	Engine  string        // id it says it has
	Version string        // and version
	SHA256  string        // and digest of the imported bytes; "" tells the truth
	Delay   time.Duration // before it connects
	// Start names what goes wrong before it is ready, At what goes wrong when the
	// operation Op is asked.
	Start Fault
	At    Fault
	Op    string
	// Orphan leaves a grandchild in a session of its own, which ignores signals
	// that can be ignored.
	Orphan bool
	// Stubborn ignores the wish that it ends.
	Stubborn bool
	// Rows is the number of rows of a made-up list, in place of the program's procedures.
	Rows int
}

// A Fault is one way to misbehave.
type Fault string

const (
	None       Fault = ""
	Crash      Fault = "crash"     // it exits with status 3
	Leave      Fault = "leave"     // it exits with status 0
	Hang       Fault = "hang"      // it does nothing more
	Garbage    Fault = "garbage"   // a frame that is no JSON
	Half       Fault = "half"      // half a frame, then the end
	HalfHang   Fault = "half_hang" // half a frame, then nothing
	Oversize   Fault = "oversize"  // a frame that claims to be enormous
	Empty      Fault = "empty"     // a frame of no bytes
	WrongToken Fault = "token"     // it does not know the token
	Protocol   Fault = "protocol"  // it speaks another protocol
	Silent     Fault = "silent"    // it connects and says nothing
	Connected  Fault = "connected" // it connects and crashes
	WrongID    Fault = "wrong_id"  // it answers what was not asked
	Endless    Fault = "endless"   // it answers without end until it is cancelled
	Deaf       Fault = "deaf"      // it answers without end, even then
	Stall      Fault = "stall"     // it answers when it is cancelled
	Refuse     Fault = "refuse"    // it fails
	BadRows    Fault = "bad_rows"  // rows that are no array
	Lie        Fault = "lie"       // it leaves out every other row of a list
)

const settings = "behaviour.json"

// Install makes path a launcher that behaves so: a link to the running test.
func Install(path string, b Behaviour) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	data, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), settings), data, 0o600); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	os.Remove(path)
	return os.Symlink(self, path)
}

// installed is the behaviour of the launcher that this process was started as;
// nil when it was not.
func installed(argv0 string) *Behaviour {
	data, err := os.ReadFile(filepath.Join(filepath.Dir(argv0), settings))
	if err != nil {
		return nil
	}
	var b Behaviour
	if json.Unmarshal(data, &b) != nil {
		return nil
	}
	return &b
}
