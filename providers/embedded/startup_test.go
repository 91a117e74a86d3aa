package embedded_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"rea/generated/model"
	"rea/providers/embedded"
	"rea/runtime/engine"
)

func TestMainIsFoundInStrippedExecutables(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "main.c")
	if err := os.WriteFile(source, []byte("int main(int argc, char **argv) { return argc + (argv != 0); }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"-pie", "-fPIE"}, {"-no-pie"}, {"-static"}, {"-static-pie"}} {
		t.Run(flags[0], func(t *testing.T) {
			full, stripped := filepath.Join(dir, "full"+flags[0]), filepath.Join(dir, "stripped"+flags[0])
			if out, err := exec.Command("gcc", append(flags, "-O1", "-o", full, source)...).CombinedOutput(); err != nil {
				t.Skipf("gcc cannot link this form: %s", out)
			}
			if out, err := exec.Command("strip", "-o", stripped, full).CombinedOutput(); err != nil {
				t.Fatalf("strip: %v\n%s", err, out)
			}
			eng := open(t, stripped)
			for _, name := range []string{"main", "_start"} {
				p, err := eng.Resolve(t.Context(), name)
				if err != nil {
					t.Fatal(err)
				}
				if want := symbol(t, full, name); uint64(p.Address) != want {
					t.Errorf("%s at %s, the symbol table says %#x", name, p.Address, want)
				}
			}
		})
	}
}

func open(t *testing.T, path string) engine.Engine {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	eng, err := embedded.Provider{Version: "test"}.Open(t.Context(), &engine.Target{
		Path: path, Name: filepath.Base(path), Data: data, Architecture: model.ArchitectureX86_64,
	}, engine.NoNames{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	return eng
}

func symbol(t *testing.T, path, name string) uint64 {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name == name {
			return s.Value
		}
	}
	t.Fatalf("no symbol %s", name)
	return 0
}
