package jstest

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

//go:embed testdata/electron.cjs
var electronScript string

// electronTools build the application.
var electronTools = []string{
	"webpack@5.97.1", "vite@6.0.7", "@electron/asar@3.2.17", "esbuild@0.25.0", "react@18.3.1", "react-dom@18.3.1", "react-router-dom@6.28.0", "bindings@1.5.0",
}

// ElectronTools gives the folder of the programs that Electron builds with.
func ElectronTools(t testing.TB) string {
	t.Helper()
	return Packages(t, electronTools...)
}

// An App is one release of an Electron application as it is shipped.
type App struct {
	Archive string   // app.asar, with its native add-on beside it
	Folder  string   // what is in the archive
	Sources string   // the sources that it was made of
	Addon   string   // the native add-on
	Modules []string // of the webpack bundles, as webpack names them
}

// Electron builds two releases of one application. They are shared by the tests of
// a machine, and must not be changed. The test is skipped where the tools or a C
// compiler are not there.
func Electron(t testing.TB) (first, second *App) {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is not installed")
	}
	tools := ElectronTools(t)
	sum := sha256.Sum256([]byte(electronScript))
	dir := filepath.Join(tools, "electron-"+hex.EncodeToString(sum[:8]))
	installing.Lock()
	defer installing.Unlock()
	if _, err := os.Stat(dir); err != nil {
		building, err := os.MkdirTemp(tools, "electron-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(building)
		addon, source := filepath.Join(building, "fastindex.node"), filepath.Join(building, "fastindex.c")
		code := "int fastindex_find(const char *query) { return query[0]; }\nvoid napi_register_module_v1(void) {}\n"
		if err := os.WriteFile(source, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(gcc, "-shared", "-fPIC", "-o", addon, source).CombinedOutput(); err != nil {
			t.Fatalf("gcc: %v\n%s", err, out)
		}
		for _, version := range []string{"1", "2"} {
			to := filepath.Join(building, version)
			if err := os.Mkdir(to, 0o700); err != nil {
				t.Fatal(err)
			}
			said := Node(t, tools, electronScript, nil, to, version, addon)
			if err := os.WriteFile(filepath.Join(to, "modules.json"), said, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Rename(building, dir); err != nil {
			if _, gone := os.Stat(dir); gone != nil {
				t.Fatal(err)
			}
		}
	}
	return appIn(t, filepath.Join(dir, "1")), appIn(t, filepath.Join(dir, "2"))
}

func appIn(t testing.TB, dir string) *App {
	t.Helper()
	var said struct{ Modules []string }
	data, err := os.ReadFile(filepath.Join(dir, "modules.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &said); err != nil {
		t.Fatal(err)
	}
	return &App{
		Archive: filepath.Join(dir, "app.asar"), Folder: filepath.Join(dir, "project", "app"), Sources: filepath.Join(dir, "project", "src"),
		Addon: filepath.Join(dir, "app.asar.unpacked", "build", "Release", "fastindex.node"), Modules: said.Modules,
	}
}
