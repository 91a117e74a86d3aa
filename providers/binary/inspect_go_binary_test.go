package binary_test

import (
	"debug/elf"
	"debug/gosym"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"rea/generated/tool"
)

type goBinary = tool.InspectGoBinaryOutput

// TestInspectGoBinary_agrees_with_go_version looks at a program with
// dependencies, and at programs for other systems.
func TestInspectGoBinary_agrees_with_go_version(t *testing.T) {
	need(t, "go")
	own := filepath.Join(t.TempDir(), "gen")
	run(t, "", "go", "build", "-o", own, "rea/gen")
	for _, path := range []string{own, write(t, "program", darwin(t)), windows(t)} {
		want := map[string]bool{}
		lines := strings.Split(run(t, "", "go", "version", "-m", path), "\n")
		for _, l := range lines[1:] {
			want[strings.Trim(l, "\t")] = true
		}
		delete(want, "")
		out, _ := call[goBinary](t, "inspect_go_binary", map[string]any{"path": path})
		if !strings.HasSuffix(lines[0], ": "+*out.GoVersion) {
			t.Errorf("version %s, want %s", *out.GoVersion, lines[0])
		}
		have := map[string]bool{}
		line := func(parts ...string) { have[strings.Join(parts, "\t")] = true }
		module := func(kind string, path, version string, sum *string) {
			if sum != nil {
				line(kind, path, version, *sum)
			} else {
				line(kind, path, version)
			}
		}
		line("path", *out.Path)
		if m := out.Main; m != nil {
			line("mod", m.Path, m.Version, "")
		}
		for _, d := range out.Dependencies.Items {
			module("dep", d.Path, d.Version, d.Sum)
		}
		for _, s := range out.Settings {
			line("build", s.Key+"="+s.Value)
		}
		for l := range want {
			l = strings.TrimRight(l, "\t")
			if strings.HasPrefix(l, "mod\t") {
				l += "\t"
			}
			if !have[l] && !strings.Contains(l, "\"") && !strings.Contains(l, "`") {
				t.Errorf("%s: %q is missing in %v", filepath.Base(path), l, have)
			}
		}
		if path == own && (len(out.Dependencies.Items) == 0 || out.Main == nil || out.Main.Path != "rea") {
			t.Errorf("%+v of %+v", out.Dependencies, out.Main)
		}
		if out.Target.OS == nil || out.Target.Architecture == nil || out.FunctionTable == nil {
			t.Errorf("%+v", out.Target)
		}
		if id := strings.TrimSpace(run(t, "", "go", "tool", "buildid", path)); id != "" && (out.BuildID == nil || *out.BuildID != id) {
			t.Errorf("build id %v, want %s", out.BuildID, id)
		}
	}
}

func windows(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	src, out := filepath.Join(dir, "m.go"), filepath.Join(dir, "program.exe")
	if err := os.WriteFile(src, []byte("package main\nfunc main() { println(1) }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, src)
	cmd.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0", "GO111MODULE=off")
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, msg)
	}
	return out
}

// TestInspectGoBinary_figures compares with debug/gosym.
func TestInspectGoBinary_figures(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the test program is no ELF file here")
	}
	path, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tab, err := f.Section(".gopclntab").Data()
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := gosym.NewTable(nil, gosym.NewLineTable(tab, f.Section(".text").Addr))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{}
	for _, fn := range symbols.Funcs {
		for _, pkg := range []string{"fmt", "net/netip", "testing", "rea/providers/binary", "rea/providers/format/elf"} {
			if rest, ok := strings.CutPrefix(fn.Name, pkg+"."); ok && rest != "" {
				want[pkg]++
			}
		}
	}
	out, _ := call[goBinary](t, "inspect_go_binary", map[string]any{"path": path, "package_limit": 10000, "type_limit": 10000})
	if n := int64(len(symbols.Funcs)); out.FunctionTable.Functions < n-2 || out.FunctionTable.Functions > n {
		t.Errorf("%d functions, want %d", out.FunctionTable.Functions, n)
	}
	seen := map[string]bool{}
	for _, p := range out.Packages.Items {
		if n, ok := want[p.Path]; ok {
			seen[p.Path] = true
			if p.Functions != n {
				t.Errorf("%s: %d functions, want %d", p.Path, p.Functions, n)
			}
		}
		kind := p.Kind
		switch {
		case p.Path == "fmt" && kind != "standard", p.Path == "rea/providers/format/elf" && kind != "main" && kind != "standard",
			strings.HasPrefix(p.Path, "github.com/go-json-experiment") && kind != "module":
			t.Errorf("%+v", p)
		}
	}
	for pkg, n := range want {
		if n > 0 && !seen[pkg] {
			t.Errorf("package %s is missing", pkg)
		}
	}
	types := map[string]bool{}
	for _, ty := range out.Types.Items {
		types[ty.Package+"."+ty.Name] = ty.PointerMethods+ty.ValueMethods > 0
	}
	for _, name := range []string{"testing.T", "reflect.Value", "rea/providers/binary.Handlers"} {
		if !types[name] {
			t.Errorf("type %s is missing", name)
		}
	}
}

func TestInspectGoBinary_refusals(t *testing.T) {
	if _, _, err := try[goBinary](t, "inspect_go_binary", map[string]any{"path": machoSamples + "throw_arm64"}); codeOf(err) != "unsupported_target" {
		t.Errorf("a C++ program: %v", err)
	}
	if _, _, err := try[goBinary](t, "inspect_go_binary", map[string]any{"path": write(t, "text", []byte("text"))}); codeOf(err) != "unsupported_target" {
		t.Errorf("text: %v", err)
	}
}
