package versions

import (
	"os"
	"path/filepath"
	"testing"

	"rea/generated/model"
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
		{"handler_bound", "ipcMain.handle('save', f)", "const on = ipcMain.handle.bind(ipcMain); on(C.SAVE, f)", "f()", "ipc-handler"},
		{"environment_names", "process.env.TOKEN", "for (const k in process.env) f(k)", "f()", "environment-variable"},
		{"endpoint_handed", "fetch('https://h.example/api')", "const go = fetch; go(C.URL)", "f()", "endpoint"},
		{"module_handed", "require('ext-a')", "['ext-a'].map(require)", "f()", "external-module"},
		{"module_of_module", "require('ext-a')", "module.require(C.EXT)", "f()", "external-module"},
		{"storage_handed", "localStorage.setItem('k', 1)", "C.keep(localStorage)", "f()", "storage"},
		{"storage_chosen", "localStorage.setItem('k', 1)", "(C.x ? localStorage : sessionStorage).setItem('k', 1)", "f()", "storage"},
		{"eval", "ipcMain.handle('save', f)", "eval(C.CODE)", "f()", "ipc-handler"},
		{"eval_of_text", "require('child_process').exec('git')", `eval("require('child_process').exec('git')")`, "eval('this')", "child-process"},
		{"indirect_eval", "localStorage.setItem('k', 1)", "(0, eval)(C.CODE)", "f()", "storage"},
		{"constructor_of_functions", "fetch('https://h.example/api')", "new Function('a', C.CODE)(1)", "Function('return this')()", "endpoint"},
		{"constructor_of_a_constructor", "process.env.TOKEN", "f.constructor.constructor(C.CODE)()", "f.constructor.constructor('return process')()", "environment-variable"},
		{"constructor_of_async_functions", "process.env.TOKEN", "const A = Object.getPrototypeOf(async function () {}).constructor; new A(C.CODE)()", "f()", "environment-variable"},
		{"compiled_by_vm", "ipcMain.handle('save', f)", "require('vm').runInThisContext(C.CODE)", "f()", "ipc-channel"},
		{"script_of_vm", "ipcMain.handle('save', f)", "const vm = require('vm'); new vm.Script(C.CODE)", "f()", "ipc-channel"},
		{"timer_of_text", "localStorage.setItem('k', 1)", "setTimeout('go(' + C.N + ')', 1)", "setTimeout(f, 1)", "storage"},
		{"global_chosen", "localStorage.setItem('k', 1)", "window[C.G].setItem('k', 1)", "window['session' + 'Storage'].setItem('j', 1)", "storage"},
		{"endpoint_of_a_list", "fetch('https://h.example/api')", "fetch.apply(null, C.LIST)", "f()", "endpoint"},
		{"endpoint_of_a_bound_function", "fetch('https://h.example/api')", "const go = fetch.bind(window); go(C.URL)", "f()", "endpoint"},
		{"socket_handed", "new WebSocket('wss://h.example/api')", "Reflect.construct(WebSocket, C.LIST)", "f()", "endpoint"},
		{"worker_handed", "new Worker('./w.js')", "Reflect.construct(Worker, C.LIST)", "f()", "worker"},
		{"module_of_created_require", "require('ext-a')", "require('module').createRequire(__filename)(C.EXT)", "f()", "external-module"},
		{"module_of_the_main_one", "require('ext-a')", "process.mainModule.require(C.EXT)", "f()", "external-module"},
		{"builtin_by_name", "require('child_process').exec('git')", "process.getBuiltinModule(C.M).exec('git')", "f()", "child-process"},
		{"environment_by_index", "process.env.TOKEN", "process['env'][C.T]", "f()", "environment-variable"},
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
				recent := analyzed(t, side(code))
				c, err := Compare(t.Context(), old, recent)
				if err != nil {
					t.Fatal(err)
				}
				back, err := Compare(t.Context(), recent, old)
				if err != nil {
					t.Fatal(err)
				}
				found := false
				for i := range c.Items {
					it := &c.Items[i]
					if it.Right >= 0 && it.Left < 0 && want == Unknown && it.Status == Added && unnamed(&recent.Graph.Nodes[it.Right]) {
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

// unnamed reports nodes that may be any of their kind.
func unnamed(n *model.ApplicationNode) bool {
	return (n.Label == nil || *n.Label == "") && n.Properties["what"] == nil
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
