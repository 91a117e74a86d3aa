package versions

import (
	"os"
	"path/filepath"
	"testing"
)

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What one release names is not said to be gone from one that makes a name of that
// kind when it runs; where nothing does, it is gone.
func TestNamesMadeAtRunTime(t *testing.T) {
	const manifest = `{"name":"z","version":"1","main":"m.js"}`
	const electron = "const {ipcMain, BrowserWindow, contextBridge} = require('electron');"
	for _, tt := range []struct {
		name, old, dynamic, without string
		kind                        string
	}{
		{"handler", "ipcMain.handle('save', f)", "ipcMain.handle(C.SAVE, f)", "f()", "ipc-handler"},
		{"channel", "ipcMain.handle('save', f)", "ipcMain.handle(C.SAVE, f)", "f()", "ipc-channel"},
		{"handler_of_a_method", "ipcMain.handle('save', f)", "ipcMain[C.M]('save', f)", "f()", "ipc-handler"},
		{"handler_bound", "ipcMain.handle('save', f)", "const on = ipcMain.handle.bind(ipcMain); on('save', f)", "f()", "ipc-handler"},
		{"environment_names", "process.env.TOKEN", "for (const k in process.env) f(k)", "f()", "environment-variable"},
		{"endpoint_handed", "fetch('https://h.example/api')", "const go = fetch; go(C.URL)", "f()", "endpoint"},
		{"module_handed", "require('ext-a')", "['ext-a'].map(require)", "f()", "external-module"},
		{"module_of_module", "require('ext-a')", "module.require(C.EXT)", "f()", "external-module"},
		{"storage_handed", "localStorage.setItem('k', 1)", "C.keep(localStorage)", "f()", "storage"},
		{"storage_chosen", "localStorage.setItem('k', 1)", "(C.x ? localStorage : sessionStorage).setItem('k', 1)", "f()", "storage"},
		{"environment", "process.env.TOKEN", "process.env[C.T]", "f()", "environment-variable"},
		{"endpoint", "fetch('https://h.example/api')", "fetch(C.URL)", "f()", "endpoint"},
		{"module", "require('ext-a')", "require(C.EXT)", "f()", "external-module"},
		{"storage", "localStorage.setItem('k', 1)", "localStorage.setItem(C.K, 1)", "f()", "storage"},
		{"worker", "new Worker('./w.js')", "new Worker(C.W)", "f()", "worker"},
		{"preload", "new BrowserWindow({webPreferences:{preload:__dirname+'/p.js'}})", "new BrowserWindow(C.W)", "f()", "electron-preload"},
		{"api", "contextBridge.exposeInMainWorld('a', {x: 1})", "contextBridge.exposeInMainWorld(C.A, {x: 1})", "f()", "context-bridge-api"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			side := func(code string) string {
				return folder(t, map[string]string{"package.json": manifest, "m.js": electron + "const C = require('./c'), f = () => 1;" + code, "c.js": "exports.f = require('fs')", "p.js": "1", "w.js": "1"})
			}
			old := analyzed(t, side(tt.old))
			for code, want := range map[string]Status{tt.dynamic: Unknown, tt.without: Removed} {
				c, err := Compare(t.Context(), old, analyzed(t, side(code)))
				if err != nil {
					t.Fatal(err)
				}
				back, err := Compare(t.Context(), analyzed(t, side(code)), old)
				if err != nil {
					t.Fatal(err)
				}
				found := false
				for i := range c.Items {
					it := &c.Items[i]
					if it.Right >= 0 && it.Left < 0 && want == Unknown && it.Status == Added {
						t.Errorf("%s: row %d is called added", code, it.Right)
					}
					if it.Left < 0 || it.Right >= 0 || string(old.Graph.Nodes[it.Left].Kind) != tt.kind {
						continue
					}
					found = true
					if it.Status != want {
						t.Errorf("%s: %s is %s (%s), want %s", code, old.Label(it.Left), it.Status, it.Reason, want)
					}
				}
				for i := range back.Items {
					it := &back.Items[i]
					if it.Left < 0 && want == Unknown && it.Status == Added && string(old.Graph.Nodes[it.Right].Kind) == tt.kind {
						t.Errorf("%s: the other way about, %s is called added", code, old.Label(it.Right))
					}
				}
				if !found {
					t.Errorf("%s: nothing became of it", code)
				}
			}
		})
	}
}

// Members that an API may have without showing them are not gone from it.
func TestOpenMembers(t *testing.T) {
	bridge := func(api string) string {
		return folder(t, map[string]string{"p.js": "const {contextBridge} = require('electron'); contextBridge.exposeInMainWorld('a', " + api + ")"})
	}
	for api, want := range map[string]Status{"{a: 1, ...x()}": Unknown, "{a: 1}": Changed, "{a: 1, c: 1, ...x()}": Changed} {
		old, recent := analyzed(t, bridge("{a: 1, b: 2}")), analyzed(t, bridge(api))
		c, err := Compare(t.Context(), old, recent)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.Items {
			if it := &c.Items[i]; it.Left >= 0 && old.Graph.Nodes[it.Left].Kind == "context-bridge-api" && it.Status != want {
				t.Errorf("%s: %s (%s), want %s", api, it.Status, it.Reason, want)
			}
		}
	}
}
