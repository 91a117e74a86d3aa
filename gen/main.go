// Gen writes generated/ from contracts/. Without arguments it writes what has
// changed and deletes generated files whose contract is gone; with -check it
// writes nothing and fails if there is anything to write.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rea/gen/emit"
	"rea/gen/ir"
	"rea/gen/load"
)

func main() {
	root := flag.String("C", ".", "repository `folder`")
	check := flag.Bool("check", false, "fail if generated files differ from the contracts, and write nothing")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	files, err := generate(os.DirFS(root))
	if err != nil {
		return err
	}
	drift, err := compare(root, files)
	if err != nil || len(drift) == 0 {
		return err
	}
	if check {
		return fmt.Errorf("generated files differ from the contracts; run go generate ./...\n  %s", strings.Join(drift, "\n  "))
	}
	for _, name := range drift {
		if err := put(filepath.Join(root, name), files[name]); err != nil {
			return err
		}
	}
	return nil
}

// generate is the whole pipeline, contracts in and files out.
func generate(root fs.FS) (map[string][]byte, error) {
	set, err := load.Load(root)
	if err != nil {
		return nil, err
	}
	api, err := ir.Build(set)
	if err != nil {
		return nil, err
	}
	return emit.Files(set, api)
}

// compare lists the files that have to be written or, when they are not in
// files, deleted.
func compare(root string, files map[string][]byte) ([]string, error) {
	var drift []string
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err != nil || !bytes.Equal(got, want) {
			drift = append(drift, name)
		}
	}
	err := filepath.WalkDir(filepath.Join(root, "generated"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if _, ok := files[name]; !ok && ours(name) {
			drift = append(drift, name)
		}
		return nil
	})
	slices.Sort(drift)
	return drift, err
}

// ours reports whether a file is written by this program. The other files of
// generated/ are kept by hand: what no contract changes.
func ours(name string) bool {
	base := filepath.Base(name)
	return strings.Contains(base, ".gen.") || strings.HasSuffix(base, "_gen_test.go")
}

func put(path string, data []byte) error {
	if data == nil {
		return os.Remove(path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	// A build that runs meanwhile sees the old file or the new one.
	temporary := path + ".new"
	if err := os.WriteFile(temporary, data, 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
