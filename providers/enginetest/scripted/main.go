//go:build unix

package scripted

import (
	"encoding/binary"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"rea/runtime/bridge"
	"rea/runtime/engine"
)

// orphanMark makes the process the orphan of another.
const orphanMark = "SCRIPTED_ORPHAN"

// Main is called first in TestMain. When this process was started as an
// installed launcher it plays the engine and does not return. place finds the
// bridge's directory and the target among the arguments; open opens the target.
func Main(place func(args []string) (root, target string), open func(path string) (engine.Engine, string, error)) {
	if os.Getenv(orphanMark) != "" {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		time.Sleep(time.Minute)
		os.Exit(0)
	}
	b := installed(os.Args[0])
	if b == nil {
		return
	}
	if b.Stubborn {
		signal.Ignore(syscall.SIGTERM)
	}
	root, target := place(os.Args[1:])
	if b.Orphan {
		orphan()
	}
	os.Stderr.WriteString("the scripted engine starts\n")
	time.Sleep(b.Delay)
	switch b.Start {
	case Crash:
		os.Stderr.WriteString("ERROR the scripted engine crashes\n")
		os.Exit(3)
	case Leave:
		os.Exit(0)
	case Hang:
		hang()
	}
	eng, digest, err := open(target)
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(4)
	}
	if b.SHA256 != "" {
		digest = b.SHA256
	}
	conn, err := net.Dial("unix", filepath.Join(root, "s"))
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(5)
	}
	token, err := os.ReadFile(filepath.Join(root, "token"))
	if err != nil {
		os.Exit(6)
	}
	hello := map[string]any{"protocol": bridge.Protocol, "token": string(token), "engine": b.Engine, "version": b.Version, "sha256": digest}
	switch b.Start {
	case WrongToken:
		hello["token"] = "guess"
	case Protocol:
		hello["protocol"] = bridge.Protocol + 1
	case Silent:
		hang()
	case Connected:
		os.Exit(3)
	}
	if !misbehave(conn, b.Start) {
		if err := bridge.WriteFrame(conn, hello); err != nil {
			os.Exit(7)
		}
	}
	s := &server{behaviour: b, conn: conn, eng: eng}
	s.serve()
	os.Exit(0)
}

// orphan leaves a process in a session of its own.
func orphan() {
	self, err := os.Executable()
	if err != nil {
		os.Exit(8)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), orphanMark+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		os.Exit(9)
	}
	cmd.Process.Release()
}

func hang() {
	for {
		time.Sleep(time.Hour)
	}
}

// misbehave breaks the frames of a connection, and reports whether it did.
func misbehave(conn net.Conn, f Fault) bool {
	frame := func(n uint32, data string) {
		conn.Write(append(binary.BigEndian.AppendUint32(nil, n), data...))
	}
	switch f {
	case Garbage:
		frame(9, "\x00\xff{garbage"[:9])
	case Half:
		frame(100, `{"id":`)
		conn.Close()
	case HalfHang:
		frame(100, `{"id":`)
		hang()
	case Oversize:
		frame(0xfffffff0, "{")
	case Empty:
		frame(0, "")
	default:
		return false
	}
	return true
}
