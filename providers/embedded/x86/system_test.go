package x86

import (
	"debug/elf"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// everywhere widens the differential tests from a few libraries to every ELF
// file below some directories:
//
//	go test ./providers/embedded/x86 -run Objdump -timeout 3h -args -everywhere /usr/lib:/usr/bin
var everywhere = flag.String("everywhere", "", "compare all programs below these directories")

// programs are the ELF files to compare: C, C++, hand-written vector code and
// Go, as far as they exist.
func programs(t testing.TB, machine elf.Machine) []string {
	var out []string
	if *everywhere != "" {
		for _, dir := range filepath.SplitList(*everywhere) {
			_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
				if err == nil && entry.Type().IsRegular() && isProgram(path, machine) {
					out = append(out, path)
				}
				return nil // what can't be read isn't compared
			})
		}
		slices.Sort(out)
		return out
	}
	for _, p := range []string{
		"/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/lib64/libc.so.6", "/usr/lib64/libcrypto.so.3", "/usr/local/go/bin/gofmt",
		"/usr/i686-linux-gnu/lib/libc.so.6", "/lib/i386-linux-gnu/libc.so.6",
	} {
		if isProgram(p, machine) {
			out = append(out, p)
		}
	}
	return out
}

// isProgram reports whether a file is a linked program or library of a machine.
func isProgram(path string, machine elf.Machine) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	var head [20]byte
	if _, err := file.ReadAt(head[:], 0); err != nil {
		return false
	}
	return string(head[:4]) == elf.ELFMAG && (head[16] == byte(elf.ET_EXEC) || head[16] == byte(elf.ET_DYN)) && head[18] == byte(machine) && head[19] == 0
}

// section is code of a program.
type section struct {
	name string
	addr uint64
	data []byte
}

// sections reads what a program executes.
func sections(t testing.TB, f *elf.File) []section {
	var out []section
	for _, s := range f.Sections {
		if s.Type != elf.SHT_PROGBITS || s.Flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		data, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, section{s.Name, s.Addr, data})
	}
	return out
}

// at is the bytes from an address on.
func at(all []section, addr uint64) []byte {
	for _, s := range all {
		if addr >= s.addr && addr-s.addr < uint64(len(s.data)) {
			return s.data[addr-s.addr:]
		}
	}
	return nil
}
