package tests

import (
	"os/exec"
	"testing"
)

// Generated code is what the contracts say. When this fails, run: go generate ./...
func TestGenerated_code_is_current(t *testing.T) {
	cmd := exec.Command("go", "run", "./gen", "-check")
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go run ./gen -check: %v\n%s\nrun: go generate ./...", err, out)
	}
}
