package tests

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rea/tests/built"
)

var update = flag.Bool("update", false, "write what the commands of README.md print now into it")

// The console blocks of README.md are what its commands print, word for word,
// with the compiler that the first of them names.
func TestREADME_shows_real_output(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("the example is compiled: ", err)
	}
	readme := read(t, "README.md")
	version, err := exec.Command("sh", "-c", "echo 'int main(void){return 0;}' | gcc -x c -S -o - - | grep -o 'GCC: [^\"]*'").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !*update && !strings.Contains(readme, strings.TrimSpace(string(version))) {
		t.Skipf("the example was made with another compiler than %s", version)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "tests", "fixtures"), os.DirFS("fixtures")); err != nil {
		t.Fatal(err)
	}
	run := func(command string) string {
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "COLUMNS=96", "PATH="+filepath.Dir(built.Rea(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, _ := cmd.CombinedOutput() // one of them fails, to show how
		return strings.ReplaceAll(string(out), dir, "/home/ana")
	}
	block := regexp.MustCompile("(?s)```console\n(.*?)```")
	blocks := 0
	now := block.ReplaceAllStringFunc(readme, func(old string) string {
		blocks++
		var b strings.Builder
		b.WriteString("```console\n")
		first := true
		for line := range strings.Lines(block.FindStringSubmatch(old)[1]) {
			command, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "$ ")
			if !ok {
				continue
			}
			if !first && !strings.HasPrefix(lastLine(b.String()), "$ ") {
				b.WriteByte('\n')
			}
			first = false
			b.WriteString("$ " + command + "\n" + strings.TrimRight(run(command), "\n"))
			if !strings.HasSuffix(b.String(), "\n") {
				b.WriteByte('\n')
			}
		}
		b.WriteString("```")
		return b.String()
	})
	if blocks < 4 {
		t.Fatalf("README.md has %d console blocks", blocks)
	}
	if now == readme {
		return
	}
	if *update {
		if err := os.WriteFile(filepath.Join("..", "README.md"), []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	was, is := strings.Split(readme, "\n"), strings.Split(now, "\n")
	for i := range min(len(was), len(is)) {
		if was[i] != is[i] {
			t.Errorf("README.md:%d says\n  %s\nbut the command prints\n  %s\nrun: go test ./tests -run README -update, and read the difference", i+1, was[i], is[i])
			return
		}
	}
	t.Error("README.md shows less or more than the commands print; run: go test ./tests -run README -update")
}

func lastLine(s string) string {
	s = strings.TrimSuffix(s, "\n")
	return s[strings.LastIndexByte(s, '\n')+1:]
}
