package libsig

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rea/providers/format/object"
)

func TestDeclarationsReadBackAsWritten(t *testing.T) {
	for _, text := range []string{posix, win32} {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			s, ok := parse(line)
			if !ok {
				t.Fatalf("%q is not understood", line)
			}
			if got := s.String(); got != strings.TrimLeft(line, "=!") {
				t.Errorf("%q reads back as %q", line, got)
			}
		}
	}
}

func TestNamesAsFilesHaveThem(t *testing.T) {
	for _, tt := range []struct {
		name   string
		format object.Format
		want   string
	}{
		{"strlen", object.ELF, "strlen"},
		{"_exit", object.ELF, "_exit"},
		{"_strlen", object.MachO, "strlen"},
		{"__exit", object.MachO, "_exit"},
		{"_open$NOCANCEL", object.MachO, "open"},
		{"_MessageBoxA@16", object.PE, "MessageBoxA"},
		{"MessageBoxA", object.ELF, ""},
		{"memcpy@GLIBC_2.14", object.ELF, "memcpy"},
		{"", object.PE, ""},
	} {
		s, ok := Lookup(tt.name, tt.format)
		if ok != (tt.want != "") || ok && s.Name != tt.want {
			t.Errorf("%s in %s: %v, want %q", tt.name, tt.format, s, tt.want)
		}
	}
}

// The C compiler knows the declarations of its library: ours must be
// compatible with the headers' where both exist.
func TestDeclarationsAgreeWithTheHeaders(t *testing.T) {
	cc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is not installed")
	}
	headers := `#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <fcntl.h>
#include <dirent.h>
#include <signal.h>
#include <time.h>
#include <wchar.h>
#include <pthread.h>
#include <dlfcn.h>
#include <locale.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sys/stat.h>
#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sys/select.h>
`
	// Declared otherwise on purpose: as compilers see them before macros and
	// attributes, or with parameters that GNU's headers declare as unions.
	skip := map[string]bool{"bind": true, "connect": true, "accept": true, "accept4": true, "sendto": true, "recvfrom": true, "getsockname": true, "getpeername": true,
		"strchr": true, "inet_ntoa": true, "ptrace": true, "prctl": true, "wait": true, "gettimeofday": true, "strerror_r": true, "strtok_r": true, "putc": true, "getc": true}
	var b strings.Builder
	b.WriteString(headers)
	n := 0
	for line := range strings.Lines(posix) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		s, _ := parse(line)
		switch {
		case skip[s.Name], strings.HasPrefix(s.Name, "__"), strings.HasPrefix(s.Name, "_Z"), strings.HasPrefix(s.Name, "objc"), strings.Contains(line, "SEL"), strings.Contains(line, "id "),
			strings.Contains(line, "64"), strings.Contains(line, "struct "), strings.HasPrefix(s.Name, "arc4"), strings.HasPrefix(s.Name, "strlc"), s.Name == "_Unwind_Resume":
			continue
		}
		b.WriteString("#undef " + s.Name + "\n" + s.String() + ";\n")
		n++
	}
	src := filepath.Join(t.TempDir(), "check.c")
	if err := os.WriteFile(src, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _ := exec.Command(cc, "-fsyntax-only", "-w", "-fno-builtin", src).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "conflicting types") {
			t.Error(strings.TrimSpace(line))
		}
	}
	if n < 200 {
		t.Fatalf("only %d declarations were checked", n)
	}
}
