// Package processor runs instruction samples on a real processor, or an
// emulator of one, so that tests of decoders and lifters can compare what they
// say about an instruction with what it does.
//
// A sample starts with every register, the flags and a window of memory set by
// the test; the state it leaves is returned. Programs that a test executes are
// built with the machine's C compilers at test time; where those or the
// emulator are absent, the test skips.
package processor

import (
	"bufio"
	"embed"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

//go:embed testdata/*.c
var sources embed.FS

// Where the code and the memory window of a sample are.
const (
	CodeAddress   = 0x41000000
	MemoryAddress = 0x40000000 + 1792
	memoryBytes   = 512
	codeBytes     = 64
)

// State is the registers and memory before or after a sample.
type State struct {
	Regs   [32]uint64 // x86-64: RAX…R15 first; AArch64: X0…X30, SP
	Flags  uint64     // RFLAGS or NZCV
	Signal uint64     // after: 0, or the signal that ended the sample
	Vector [32][32]byte
	Memory [memoryBytes]byte
}

// Sample is one execution. Code must fall through at its end, and must leave
// the stack pointer usable.
type Sample struct {
	State
	Code [codeBytes]byte
	Len  uint64
}

// Start builds the runner for an architecture ("amd64", "386" or "arm64").
func Start(t testing.TB, arch string) *Machine {
	t.Helper()
	compiler, emulator := "gcc", ""
	if arch == "arm64" && runtime.GOARCH != "arm64" {
		compiler, emulator = "aarch64-linux-gnu-gcc", "qemu-aarch64"
	} else if arch != runtime.GOARCH && !(arch == "386" && runtime.GOARCH == "amd64") || runtime.GOOS != "linux" {
		t.Skipf("no way to run %s code here", arch)
	}
	cc, err := exec.LookPath(compiler)
	if err != nil {
		t.Skipf("%s is not installed", compiler)
	}
	m := &Machine{}
	if emulator != "" {
		path, err := exec.LookPath(emulator)
		if err != nil {
			t.Skipf("%s is not installed", emulator)
		}
		m.command = []string{path, "-cpu", "max"}
	}
	text, err := sources.ReadFile("testdata/" + arch + ".c")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	src, program := filepath.Join(dir, arch+".c"), filepath.Join(dir, "runner")
	if err := os.WriteFile(src, text, 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"-O1", "-static", "-fno-pie", "-no-pie", "-Wl,-z,noexecstack", "-o", program, src}
	if arch == "arm64" {
		args = append(args, "-Wl,-Ttext-segment=0x42000000")
	}
	if arch == "386" {
		args = append(args, "-m32", "-nostdlib", "-ffreestanding", "-fno-stack-protector", "-fcf-protection=none")
	}
	if out, err := exec.CommandContext(t.Context(), cc, args...).CombinedOutput(); err != nil {
		t.Skipf("cannot build the runner: %v\n%s", err, out)
	}
	m.command = append(m.command, program)
	if arch == "386" && exec.CommandContext(t.Context(), program).Run() != nil { // there are no samples
		path, err := exec.LookPath("qemu-i386")
		if err != nil {
			t.Skip("the system runs no 32-bit programs, and qemu-i386 is not installed")
		}
		m.command = []string{path, "-cpu", "max", program}
	}
	return m
}

// Machine runs samples.
type Machine struct {
	command []string
}

// Run executes the samples in order and returns the state each one left.
func (m *Machine) Run(t testing.TB, samples []Sample) []State {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), m.command[0], m.command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fed := make(chan error, 1)
	go func() {
		fed <- feed(in, samples)
	}()
	states := make([]State, len(samples))
	r := bufio.NewReaderSize(out, 1<<16)
	for i := range states {
		var raw [sampleBytes]byte
		if _, err := io.ReadFull(r, raw[:]); err != nil {
			t.Fatalf("sample %d (% x): %v", i, samples[i].Code[:samples[i].Len], err)
		}
		states[i].parse(raw[:])
	}
	if err := <-fed; err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return states
}

func feed(w io.WriteCloser, samples []Sample) error {
	b := bufio.NewWriterSize(w, 1<<16)
	raw := make([]byte, 0, sampleBytes)
	for i := range samples {
		raw = samples[i].append(raw[:0])
		if _, err := b.Write(raw); err != nil {
			return fmt.Errorf("feeding the runner: %w", err)
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("feeding the runner: %w", err)
	}
	return w.Close()
}

// sampleBytes is the size of struct sample in the runner.
const sampleBytes = 34*8 + 32*32 + memoryBytes + codeBytes + 8

func (s *Sample) append(b []byte) []byte {
	for _, r := range s.Regs {
		b = binary.LittleEndian.AppendUint64(b, r)
	}
	b = binary.LittleEndian.AppendUint64(b, s.Flags)
	b = binary.LittleEndian.AppendUint64(b, 0)
	for i := range s.Vector {
		b = append(b, s.Vector[i][:]...)
	}
	b = append(b, s.Memory[:]...)
	b = append(b, s.Code[:]...)
	return binary.LittleEndian.AppendUint64(b, s.Len)
}

func (s *State) parse(b []byte) {
	for i := range s.Regs {
		s.Regs[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	s.Flags = binary.LittleEndian.Uint64(b[256:])
	s.Signal = binary.LittleEndian.Uint64(b[264:])
	b = b[272:]
	for i := range s.Vector {
		b = b[copy(s.Vector[i][:], b):]
	}
	copy(s.Memory[:], b)
}
