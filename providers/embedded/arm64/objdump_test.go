package arm64

import (
	"bufio"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// listed is one instruction of an objdump listing.
type listed struct {
	addr uint64
	word uint32
	text string
}

// objdump runs the disassembler and calls f for every instruction it lists.
func objdump(t testing.TB, f func(listed), args ...string) {
	t.Helper()
	path, err := exec.LookPath("aarch64-linux-gnu-objdump")
	if err != nil {
		t.Skip("aarch64-linux-gnu-objdump is not installed")
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		s, err := r.ReadString('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		head, rest, ok := strings.Cut(s, ":\t")
		if !ok {
			continue
		}
		addr, err := strconv.ParseUint(strings.TrimSpace(head), 16, 64)
		if err != nil {
			continue
		}
		raw, text, ok := strings.Cut(rest, "\t")
		if !ok {
			continue
		}
		word, err := strconv.ParseUint(strings.TrimSpace(raw), 16, 32)
		if err != nil || len(strings.TrimSpace(raw)) != 8 {
			continue
		}
		f(listed{addr, uint32(word), strings.TrimSpace(text)})
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}
