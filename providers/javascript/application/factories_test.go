package application_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rea/generated/model"
	"rea/providers/javascript/jstest"
)

// Windows and workers that other modules make, with what they are told.
var factories = map[string]string{
	"package.json": `{"name":"t8","main":"main.js"}`,
	"main.js":      `const path=require('path'); const {createWindow,worker}=require('./win'); createWindow('app/index.html', path.join(__dirname,'app','preload.js')); worker(path.join(__dirname,'wk.js'))`,
	"win.js": `const {BrowserWindow}=require('electron');
function createWindow(page, preload){ const w=new BrowserWindow({webPreferences:{preload}}); w.loadFile(page); return w }
module.exports={createWindow, worker(f){ return new (require('worker_threads').Worker)(f) }};`,
	"app/preload.js": `1`,
	"wk.js":          `1`,
	"app/index.html": `<script>1</script>`,
}

func TestFactoriesOfOtherModules(t *testing.T) {
	p := processesOf(analyze(t, write(t, factories)))
	for file, want := range map[string]string{"app/index.html": `["renderer"]`, "app/preload.js": `["preload"]`, "wk.js": `["worker"]`, "win.js": `["main"]`} {
		if p[file] != want {
			t.Errorf("%s runs in %s", file, p[file])
		}
	}
}

// forge is an application as Electron Forge builds it with webpack: paths are put in
// as code, workers are chunks.
var forge = map[string]string{
	"channels.js": `exports.IPC = Object.freeze({ SAVE: 'doc:save', LOAD: 'doc:load', TICK: 'app:tick', QUIT: 'app:quit' });`,
	"windows.js": `import { BrowserWindow, ipcMain } from 'electron'; import { IPC } from './channels';
export const createWindow = (entry, preload, opts = {}) => { const w = new BrowserWindow({ width: 800, ...opts, webPreferences: { preload, nodeIntegration: false } }); w.loadURL(entry); ipcMain.handle(IPC.SAVE, () => w.webContents.send(IPC.TICK)); return w; };`,
	"main.js": `import { app, ipcMain } from 'electron'; import path from 'node:path'; import { createWindow } from './windows'; import { IPC } from './channels'; const native = require('./addon');
app.on('ready', () => { const win = createWindow(MAIN_WINDOW_WEBPACK_ENTRY, MAIN_WINDOW_PRELOAD_WEBPACK_ENTRY, { height: 600 }); ipcMain.handle(IPC.LOAD, () => native.checksum('x')); ipcMain.on(IPC.QUIT, () => app.quit()); ipcMain.on('plain', () => win.close()); });`,
	"addon.js": `module.exports = __non_webpack_require__('./native/add.node');`,
	"preload.js": `import { contextBridge, ipcRenderer } from 'electron'; import { IPC } from './channels';
contextBridge.exposeInMainWorld('api', { save: (d) => ipcRenderer.invoke(IPC.SAVE, d), load: () => ipcRenderer.invoke(IPC.LOAD), tick: (f) => ipcRenderer.on(IPC.TICK, f), quit: () => ipcRenderer.send(IPC.QUIT), send: (c, d) => ipcRenderer.send(c, d) });`,
	"renderer.js": `import './dep'; window.api.save(1); window.api.send('plain'); new Worker(new URL('./w.js', import.meta.url));`,
	"dep.js":      `fetch('/from-dep')`,
	"w.js":        `import './dep2'; postMessage(1)`,
	"dep2.js":     `self.x=1`,
}

const forgeScript = `
const webpack = require('webpack'), fs = require('fs'), path = require('path'), [, , from, to, mode] = process.argv;
const run = (target, entry, folder, filename, more) => new Promise((done, failed) => webpack({
	context: from, mode, devtool: false, target, entry: './' + entry + '.js', output: {path: path.join(to, folder), filename, publicPath: ''}, node: {__dirname: false, __filename: false}, ...more,
}, (error, stats) => error || stats.hasErrors() ? failed(error || new Error(stats.toString())) : done()));
(async () => {
	await run('electron-main', 'main', '.webpack/main', 'index.js', {plugins: [new webpack.DefinePlugin({
		MAIN_WINDOW_WEBPACK_ENTRY: "\x60file://${require('path').resolve(__dirname, '..', 'renderer', 'main_window', 'index.html')}\x60",
		MAIN_WINDOW_PRELOAD_WEBPACK_ENTRY: "require('path').resolve(__dirname, '../renderer', 'main_window', 'preload.js')"})]});
	await run('electron-renderer', 'preload', '.webpack/renderer/main_window', 'preload.js', {});
	await run('web', 'renderer', '.webpack/renderer/main_window', 'index.js', {});
	fs.mkdirSync(path.join(to, '.webpack/main/native'));
	fs.writeFileSync(path.join(to, '.webpack/main/native/add.node'), '\x7fELF');
	fs.writeFileSync(path.join(to, '.webpack/renderer/main_window/index.html'), '<script defer src="index.js"></script>');
	fs.writeFileSync(path.join(to, 'package.json'), '{"name": "forge", "main": ".webpack/main"}');
})();
`

func TestElectronForge(t *testing.T) {
	tools := jstest.ElectronTools(t)
	from := write(t, forge)
	for _, mode := range []string{"production", "development"} {
		to := t.TempDir()
		jstest.Node(t, tools, forgeScript, nil, from, to, mode)
		a := analyze(t, to)
		var got []string
		for file, process := range processesOf(a) {
			got = append(got, filepath.Base(file)+" "+process)
		}
		slices.Sort(got)
		chunks, err := filepath.Glob(filepath.Join(to, ".webpack/renderer/main_window/*.index.js"))
		if err != nil || len(chunks) != 1 {
			t.Fatal(chunks, err)
		}
		want := []string{filepath.Base(chunks[0]) + ` ["worker"]`, `index.html ["renderer"]`, `index.js ["main"]`, `index.js ["renderer"]`, `preload.js ["preload"]`}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: processes are %q, not %q", mode, got, want)
		}
		if got := named(a, model.ApplicationNodeKindIpcChannel); strings.Join(got, " ") != "- unknown app:quit inferred app:tick inferred doc:load inferred doc:save inferred plain" {
			t.Errorf("%s: channels are %q", mode, got)
		}
		for i := range a.Graph.Nodes {
			if n := &a.Graph.Nodes[i]; n.Kind == model.ApplicationNodeKindIpcChannel && n.Label != nil && string(n.Properties["pairing"]) != `"paired"` {
				t.Errorf("%s: %s is %s", mode, label(n), n.Properties["pairing"])
			}
		}
		if !slices.ContainsFunc(edges(a, model.ApplicationRelationImports), func(e string) bool { return strings.HasSuffix(e, "native/add.node") }) {
			t.Errorf("%s: imports are %q", mode, edges(a, model.ApplicationRelationImports))
		}
	}
}
