package script

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rea/tests/built"
)

// BenchmarkAnalyze is the report of a program as a user waits for it, from
// starting rea to its end.
func BenchmarkAnalyze(b *testing.B) {
	rea := built.Rea(b)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	for name, path := range map[string]string{
		"ls": "/bin/ls",
		"go": filepath.Join(strings.TrimSpace(string(root)), "bin", "go"),
	} {
		b.Run(name, func(b *testing.B) {
			if !exists(path) {
				b.Skip("not here: ", path)
			}
			for b.Loop() {
				if out, err := exec.Command(rea, "analyze", path).CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
			}
		})
	}
}
