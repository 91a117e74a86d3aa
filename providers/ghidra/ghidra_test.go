//go:build unix

package ghidra

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"rea/generated/model"
	"rea/providers/embedded"
	"rea/providers/enginetest"
	"rea/providers/enginetest/scripted"
	"rea/providers/format/native"
	"rea/runtime/bridge"
	"rea/runtime/engine"
)

func TestMain(m *testing.M) {
	scripted.Main(place, func(path string) (engine.Engine, string, error) {
		t, err := target(path)
		if err != nil {
			return nil, "", err
		}
		eng, err := embedded.Provider{Version: "test"}.Open(context.Background(), t, engine.NoNames{})
		return eng, t.SHA256, err
	})
	code := m.Run()
	if builds.Load() {
		bin, _ := built()
		os.RemoveAll(filepath.Dir(bin))
	}
	os.Exit(code)
}

// place finds the root and the target in the arguments of the headless analyzer.
func place(args []string) (root, target string) {
	for i := range args[:len(args)-1] {
		switch args[i] {
		case "-import":
			target = args[i+1]
		case "ReaBridge.java":
			root = args[i+1]
		}
	}
	return root, target
}

func target(path string) (*engine.Target, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	im, err := native.Load(data, native.Options{})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	return &engine.Target{
		Path: path, Name: filepath.Base(path), SHA256: hex.EncodeToString(sum[:]), Data: data,
		Kind: model.TargetKind(im.Kind), Format: model.TargetFormat(im.Format), Architecture: model.Architecture(im.Arch),
	}, nil
}

func write(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// release makes the files of a Ghidra release and of a JDK, whose java behaves
// as it is told.
func release(t testing.TB, b scripted.Behaviour) (getenv func(string) string) {
	t.Helper()
	dir := t.TempDir()
	root, home := filepath.Join(dir, "ghidra"), filepath.Join(dir, "jdk")
	write(t, filepath.Join(root, "Ghidra", "application.properties"),
		"application.name=Ghidra\napplication.version=12.0\napplication.release.name=PUBLIC\napplication.java.min=21\napplication.java.max=\n", 0o644)
	write(t, filepath.Join(root, launchFile), "# settings\nVMARGS=-Djava.system.class.loader=ghidra.GhidraClassLoader\nVMARGS_LINUX=-Dl=1\nVMARGS_MACOS=-Dm=1\n", 0o644)
	write(t, filepath.Join(root, utility), "jar", 0o644)
	for _, platform := range []string{"linux_x86_64", "linux_arm_64", "mac_x86_64", "mac_arm_64"} {
		write(t, filepath.Join(root, "Ghidra", "Features", "Decompiler", "os", platform, "decompile"), "", 0o755)
	}
	write(t, filepath.Join(home, "release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"21.0.2\"\nOS_ARCH=\""+runtime.GOARCH+"\"\n", 0o644)
	write(t, filepath.Join(home, "bin", "javac"), "", 0o755)
	if b.Engine == "" {
		b.Engine = ID
	}
	if b.Version == "" {
		b.Version = "12.0"
	}
	if err := scripted.Install(filepath.Join(home, "bin", "java"), b); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{InstallSetting: root, JavaSetting: home}
	return func(name string) string { return env[name] }
}

// harness runs engines whose places are all in one directory.
type harness struct {
	provider Provider
	base     string
}

func newHarness(t testing.TB, b scripted.Behaviour, adjust func(*bridge.Config)) *harness {
	t.Helper()
	base, err := os.MkdirTemp("", "ght")
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{base: base}
	h.provider = Provider{Getenv: release(t, b), File: embedded.Provider{Version: "test"}, Adjust: func(c *bridge.Config) {
		c.Base, c.Grace = base, 200*time.Millisecond
		if adjust != nil {
			adjust(c)
		}
	}}
	t.Cleanup(func() {
		h.clean(t)
		os.RemoveAll(base)
	})
	return h
}

// clean fails the test when an engine has left a file, a socket or a process.
func (h *harness) clean(t testing.TB) {
	t.Helper()
	left, err := os.ReadDir(h.base)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		t.Errorf("%s is left", filepath.Join(h.base, e.Name()))
	}
	for _, pid := range h.processes() {
		t.Errorf("process %s is left", pid)
	}
}

// processes that carry a place of the harness in their environment.
func (h *harness) processes() (pids []string) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err == nil && strings.Contains(string(env), bridge.RootVariable+"="+h.base) {
			pids = append(pids, e.Name())
		}
	}
	return pids
}

func (h *harness) open(t testing.TB, path string) engine.Engine {
	t.Helper()
	tg, err := target(path)
	if err != nil {
		t.Fatal(err)
	}
	eng, err := h.provider.Open(t.Context(), tg, engine.NoNames{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return eng
}

// program is a small file to open.
func program(t testing.TB) string {
	t.Helper()
	self, err := os.Open("/bin/true")
	if err != nil {
		t.Skipf("no small program: %v", err)
	}
	self.Close()
	return "/bin/true"
}

func TestConformance(t *testing.T) {
	h := newHarness(t, scripted.Behaviour{}, nil)
	enginetest.Run(t, func(t *testing.T, path string) engine.Engine { return h.open(t, path) })
}
