package elf

import (
	stdelf "debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestReadLinkage_agrees_with_the_standard_library(t *testing.T) {
	paths, _ := filepath.Glob("testdata/*.elf")
	for _, path := range append(paths, "/bin/ls", "/bin/bash") {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		f, err := stdelf.Open(path)
		if err != nil {
			continue
		}
		defer f.Close()
		got, err := ReadLinkage(data)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		needed, _ := f.DynString(stdelf.DT_NEEDED)
		name, _ := f.DynString(stdelf.DT_SONAME)
		rpath, _ := f.DynString(stdelf.DT_RPATH)
		runpath, _ := f.DynString(stdelf.DT_RUNPATH)
		if !slices.Equal(got.Needed, needed) || got.SOName != strings.Join(name, "") || got.RPath != strings.Join(rpath, "") || got.RunPath != strings.Join(runpath, "") || got.Machine != f.Machine.String() {
			t.Errorf("%s: %+v, want %v %v %v %v", path, got, needed, name, rpath, runpath)
		}
	}
}

func FuzzReadLinkage(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.elf")
	for _, path := range paths {
		if b, err := os.ReadFile(path); err == nil {
			f.Add(b)
		}
	}
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Fuzz(func(t *testing.T, data []byte) { ReadLinkage(data) })
}
