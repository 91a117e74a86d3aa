package tests

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rea/tests/built"
)

func TestMain(m *testing.M) { built.Main(m) }

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// What the documents name exists.
func TestDocuments_name_what_exists(t *testing.T) {
	out, err := exec.Command(built.Rea(t), "__complete", "--", "").Output()
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(line, "\t")
		commands = append(commands, name)
	}
	command := regexp.MustCompile("(?m)(?:^\\$ |^|`)rea ([a-z][a-z-]+)")
	link := regexp.MustCompile(`\]\(([^)#:]+)\)`)
	for _, doc := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		text := read(t, doc)
		for _, m := range command.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(commands, m[1]) {
				t.Errorf("%s: there is no command rea %s", doc, m[1])
			}
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
				t.Errorf("%s: %v", doc, err)
			}
		}
	}
}

// internal variables are no settings: why.
var internal = map[string]string{
	"REA_BRIDGE_ROOT":     "set for engine processes, to know them as ours",
	"REA_SCRIPTED_ORPHAN": "set by the scripted engine of the tests for its own child",
}

// Every setting that the program reads is documented.
func TestSettings_are_documented(t *testing.T) {
	readme := read(t, "README.md")
	setting := regexp.MustCompile(`"(REA_[A-Z_]+)"`)
	found := 0
	for _, dir := range []string{"cmd", "runtime", "providers"} {
		err := filepath.WalkDir(filepath.Join("..", dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range setting.FindAllStringSubmatch(string(source), -1) {
				found++
				if internal[m[1]] == "" && !strings.Contains(readme, "`"+m[1]+"`") {
					t.Errorf("%s reads %s, which README.md does not explain", path, m[1])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 3 {
		t.Errorf("only %d settings were found in the code", found)
	}
}
