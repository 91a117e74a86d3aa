package x86

import (
	"bufio"
	"encoding/hex"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// listed is one instruction of an objdump listing.
type listed struct {
	addr  uint64
	bytes []byte
	text  string
}

// objdump runs the disassembler and calls f for every instruction it lists.
func objdump(t testing.TB, f func(listed), args ...string) {
	t.Helper()
	path, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip("objdump is not installed")
	}
	cmd := exec.CommandContext(t.Context(), path, append([]string{"-w", "-M", "intel"}, args...)...)
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
		colon := strings.IndexByte(s, ':')
		if colon < 0 || !strings.HasPrefix(s[colon:], ":\t") {
			continue
		}
		addr, err := strconv.ParseUint(strings.TrimSpace(s[:colon]), 16, 64)
		if err != nil {
			continue
		}
		raw, text, ok := strings.Cut(s[colon+2:], "\t")
		if !ok {
			continue
		}
		b, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(raw), " ", ""))
		if err != nil {
			continue
		}
		f(listed{addr, b, strings.TrimSpace(text)})
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}
