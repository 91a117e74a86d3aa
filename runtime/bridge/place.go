package bridge

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"
)

// RootVariable names our place in the environment of an engine, so that every
// process that inherited it can be known as ours.
const RootVariable = "REA_BRIDGE_ROOT"

// A Place is the private directory of one engine process.
type Place struct {
	Root string
	// Companion is the first line that the companion of the engine has written.
	Companion string
	token     string
	lock      *os.File // held as long as the place is ours
}

// placePrefix begins the names of places; digits follow.
const placePrefix = "rea-"

// maxSocketPath is what every system accepts as the path of a socket.
const maxSocketPath = 100

// parent is where places are made: base, or the directory for temporary files
// unless its path is too long for that of a socket.
func parent(base string) string {
	if base != "" {
		return base
	}
	if base = os.TempDir(); len(base)+len("/rea-0000000000/s") > maxSocketPath {
		return "/tmp"
	}
	return base
}

func newPlace(base string) (*Place, error) {
	root, err := os.MkdirTemp(parent(base), placePrefix)
	if err != nil {
		return nil, err
	}
	// The engine may resolve links where we would not.
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	p := &Place{Root: root}
	p.own()
	secret := make([]byte, 32)
	rand.Read(secret)
	p.token = hex.EncodeToString(secret)
	if err := p.Write("token", []byte(p.token)); err != nil {
		p.remove(removePlace)
		return nil, err
	}
	return p, nil
}

// Path of a file of the place.
func (p *Place) Path(name string) string { return filepath.Join(p.Root, name) }

// Write makes a file that only the owner can read.
func (p *Place) Write(name string, data []byte) error {
	return os.WriteFile(p.Path(name), data, 0o600)
}

// Mkdir makes directories that only the owner can enter.
func (p *Place) Mkdir(names ...string) error {
	for _, name := range names {
		if err := os.MkdirAll(p.Path(name), 0o700); err != nil {
			return err
		}
	}
	return nil
}

func (p *Place) socket() string { return p.Path("s") }

func (p *Place) listen() (*net.UnixListener, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: p.socket(), Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(p.socket(), 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// remove deletes the place and names the kinds of what could not be deleted.
func (p *Place) remove(removeAll func(string) error) (remaining []string) {
	defer func() {
		if p.lock != nil {
			p.lock.Close()
		}
	}()
	for try := range 4 {
		// A process that is ending may still write.
		if try > 0 {
			time.Sleep(time.Duration(try) * 30 * time.Millisecond)
		}
		if removeAll(p.Root) == nil {
			return nil
		}
	}
	for _, left := range []struct{ kind, path string }{
		{"socket", p.socket()}, {"project", p.Path("project")}, {"temp_root", p.Root},
	} {
		if _, err := os.Lstat(left.path); !errors.Is(err, fs.ErrNotExist) {
			remaining = append(remaining, left.kind)
		}
	}
	return remaining
}

// removePlace deletes the directory of a place, the name of its owner last: what
// a process that is killed meanwhile leaves behind is known as what it is.
func removePlace(root string) error {
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.Name() == ownerFile {
			continue
		}
		if err := os.RemoveAll(filepath.Join(root, e.Name())); err != nil {
			return err
		}
	}
	return os.RemoveAll(root)
}
