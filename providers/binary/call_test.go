package binary_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"rea/generated/fault"
	"rea/generated/tool"
	"rea/providers/binary"
	"rea/runtime/session"
)

// call runs a tool with nothing open, as a call with a path does.
func call[O any](t testing.TB, name string, input map[string]any) (*O, *tool.Result) {
	t.Helper()
	out, result, err := try[O](t, name, input)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out, result
}

func try[O any](t testing.TB, name string, input map[string]any) (*O, *tool.Result, error) {
	t.Helper()
	bindings := tool.Bindings(tool.Families{Binary: binary.New(session.Target)})
	b := bindings[slices.IndexFunc(bindings, func(b tool.Binding) bool { return b.Spec.Name == name })]
	args, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	in, err := b.Decode(args)
	if err != nil {
		t.Fatalf("%s %s: %v", name, args, err)
	}
	ctx, _, stop := session.With(t.Context(), name, nil)
	defer stop()
	result, err := b.Call(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	if !json.Valid(result.Output.AppendJSON(nil)) {
		t.Fatalf("%s: not JSON: %s", name, result.Output.AppendJSON(nil))
	}
	return result.Output.(any).(*O), result, nil
}

func codeOf(err error) fault.Code { return fault.CodeOf(err) }

// write puts a file into a fresh folder.
func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// need skips unless one of the programs is installed, and gives its path.
func need(t testing.TB, programs ...string) string {
	t.Helper()
	for _, p := range programs {
		if path, err := exec.LookPath(p); err == nil {
			return path
		}
	}
	t.Skipf("none of %v is installed", programs)
	return ""
}

// run runs a program and gives what it wrote.
func run(t testing.TB, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
	return string(out)
}
