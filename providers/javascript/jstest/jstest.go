// Package jstest gives tests the JavaScript world as an independent source of
// truth: packages of the npm registry and programs run with Node.
package jstest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var installing sync.Mutex

// Packages installs packages, each written name@version, and gives the folder
// that holds node_modules. The folder is shared by the tests of a machine. The
// test is skipped where npm or the registry is not there.
func Packages(t testing.TB, specs ...string) string {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	installing.Lock()
	defer installing.Unlock()
	specs = slices.Sorted(slices.Values(specs))
	sum := sha256.Sum256([]byte(strings.Join(specs, "\n")))
	dir := filepath.Join(os.TempDir(), "rea-npm-"+hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(filepath.Join(dir, "complete")); err == nil {
		return dir
	}
	building, err := os.MkdirTemp(os.TempDir(), "rea-npm-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(building)
	if err := os.WriteFile(filepath.Join(building, "package.json"), []byte(`{"private":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	args := append([]string{"install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-save", "--legacy-peer-deps"}, specs...)
	cmd := exec.CommandContext(ctx, "npm", args...)
	cmd.Dir = building
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("npm install: %v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(building, "complete"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(building, dir); err != nil {
		if _, gone := os.Stat(filepath.Join(dir, "complete")); gone != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Node runs a CommonJS program in dir with input on its standard input, and
// gives what it prints.
func Node(t testing.TB, dir, program string, input []byte, args ...string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program.cjs")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", append([]string{"--max-old-space-size=4000", file}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(dir, "node_modules"))
	cmd.Stdin = bytes.NewReader(input)
	var out, failure bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failure
	if err := cmd.Run(); err != nil {
		t.Fatalf("node: %v\n%s", err, failure.Bytes())
	}
	return out.Bytes()
}
