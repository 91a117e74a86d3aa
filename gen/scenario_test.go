package main

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the errors that scenarios give into them")

// A scenario is an archive of contracts that are added to, or replace, those of
// the repository's models and errors, with either
//
//   - want.err, what the generator says about them, or
//   - check_test.go, a test in package tool_test that is compiled and run with what
//     the generator makes of them.
func TestScenarios(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			contracts := base(t)
			var want, check *txtar.File
			for i := range archive.Files {
				switch f := &archive.Files[i]; f.Name {
				case "want.err":
					want = f
				case "check_test.go":
					check = f
				default:
					contracts["contracts/"+f.Name] = &fstest.MapFile{Data: f.Data}
				}
			}
			files, err := generate(contracts)
			switch {
			case want != nil:
				got := ""
				if err != nil {
					got = strings.ReplaceAll(err.Error(), "contracts/", "") + "\n"
				}
				if *update {
					want.Data = []byte(got)
					if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(string(want.Data), got); diff != "" {
					t.Errorf("errors (-want +got):\n%s", diff)
				}
			case err != nil:
				t.Fatal(err)
			default:
				compile(t, files, check.Data)
			}
		})
	}
}

// base is the repository's contracts without its tools.
func base(t *testing.T) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	root := os.DirFS("..")
	for _, pattern := range []string{"contracts/*.json", "contracts/models/*.json", "contracts/errors/*.json"} {
		names, err := fs.Glob(root, pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			data, err := fs.ReadFile(root, name)
			if err != nil {
				t.Fatal(err)
			}
			out[name] = &fstest.MapFile{Data: data}
		}
	}
	return out
}

// compile builds a copy of the module with other generated files and runs a test
// in it.
func compile(t *testing.T, files map[string][]byte, check []byte) {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, data []byte) {
		if err := put(filepath.Join(dir, name), data); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range files {
		if !strings.HasSuffix(name, "_test.go") {
			write(name, data)
		}
	}
	kept, err := filepath.Glob("../generated/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(kept, "../go.mod", "../go.sum") {
		if ours(path) || strings.HasSuffix(path, "_test.go") {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(strings.TrimPrefix(filepath.ToSlash(path), "../"), data)
	}
	write("generated/tool/check_test.go", check)
	cmd := exec.Command("go", "test", "-vet=all", "./generated/tool")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestGeneration_is_the_same_every_time(t *testing.T) {
	first, err := generate(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again, err := generate(os.DirFS(".."))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, again); diff != "" {
			t.Fatalf("(-first +again):\n%s", diff)
		}
	}
}

func TestRun_writes_checks_and_deletes_orphans(t *testing.T) {
	dir := t.TempDir()
	for name, f := range base(t) {
		if err := put(filepath.Join(dir, name), f.Data); err != nil {
			t.Fatal(err)
		}
	}
	tool := filepath.Join(dir, "contracts/tools/demo/echo.json")
	if err := put(tool, []byte(echo)); err != nil {
		t.Fatal(err)
	}
	hand := filepath.Join(dir, "generated/tool/tool.go")
	if err := put(hand, []byte("package tool\n")); err != nil {
		t.Fatal(err)
	}
	generated := filepath.Join(dir, "generated/tool/echo.gen.go")
	err := run(dir, true)
	if err == nil || !strings.Contains(err.Error(), "go generate ./...") || !strings.Contains(err.Error(), "generated/tool/echo.gen.go") {
		t.Errorf("before the first run, -check says %v", err)
	}
	if _, err := os.Stat(generated); err == nil {
		t.Error("-check writes")
	}
	if err := run(dir, false); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, true); err != nil {
		t.Errorf("after a run, -check says %v", err)
	}
	if err := os.Remove(tool); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(generated); err == nil {
		t.Error("the file of a contract that is gone is still there")
	}
	if _, err := os.Stat(hand); err != nil {
		t.Errorf("a file kept by hand is gone: %v", err)
	}
}

const echo = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "Echo",
  "description": "Gives back what it was given, for tests.",
  "x-tool": {
    "family": "demo",
    "requires": {"target": false, "engine": []},
    "effects": {"idempotent": true},
    "errors": [],
    "evidence": null,
    "cli": {"positional": ["text"]},
    "examples": [{"title": "a word", "input": {"text": "a"}}],
    "rejects": [{"title": "nothing", "input": {}, "at": "/text"}]
  },
  "$defs": {
    "input": {"type": "object", "additionalProperties": false, "required": ["text"], "properties": {"text": {"type": "string"}}},
    "output": {"type": "object", "additionalProperties": false, "required": ["text"], "properties": {"text": {"type": "string"}}}
  }
}
`
