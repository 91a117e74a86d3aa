package mcp

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"rea/tests/built"
)

// The inspector is an MCP client that its makers publish on npm. It needs a
// newer Node than many systems have, which npm has, too.
const (
	inspectorPackage = "@modelcontextprotocol/inspector@2.12.0"
	nodePackage      = "node@26.8.2"
)

// inspector installs the client into the user's cache, once, and returns the
// programs to run it with. Where npm can't provide it the test is skipped.
func inspector(t *testing.T) (node, script string) {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("no npm on this machine")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip("no cache folder: ", err)
	}
	dir := filepath.Join(cache, "rea-test", "inspector-2.12.0-node-26.8.2")
	node = filepath.Join(dir, "node_modules", "node", "bin", "node")
	script = filepath.Join(dir, "node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	if _, err := os.Stat(filepath.Join(dir, "complete")); err != nil {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(npm, "install", "--no-audit", "--no-fund", "--no-save", "--prefix", dir, nodePackage, inspectorPackage)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("npm can't install the inspector: %v\n%s", err, out)
		}
		if err := os.WriteFile(filepath.Join(dir, "complete"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return node, script
}

func TestInspector(t *testing.T) {
	if testing.Short() {
		t.Skip("installs programs")
	}
	node, script := inspector(t)
	inspect := func(args ...string) []byte {
		t.Helper()
		cmd := exec.Command(node, append([]string{script, "--cli", built.Rea(t), "mcp"}, args...)...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return out
	}
	// Strict: a schema that some model API refuses is an error.
	var listed struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(inspect("--method", "tools/list", "--strict"), &listed); err != nil {
		t.Fatal(err)
	}
	if want := len(tools(t, server(t, built.Rea(t), nil))); len(listed.Tools) != want {
		t.Errorf("the inspector sees %d tools, want %d", len(listed.Tools), want)
	}
	var reply struct {
		IsError           bool
		StructuredContent struct {
			Result struct{ Target struct{ Format string } }
		}
	}
	out := inspect("--method", "tools/call", "--tool-name", "open_binary", "--tool-arg", "path="+built.Rea(t))
	if err := json.Unmarshal(out, &reply); err != nil {
		t.Fatal(err)
	}
	if reply.IsError || reply.StructuredContent.Result.Target.Format == "" {
		t.Errorf("open_binary through the inspector: %s", out)
	}
}
