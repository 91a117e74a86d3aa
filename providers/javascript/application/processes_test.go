package application_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rea/generated/model"
)

// An application with a process of every kind, as electron-vite and Electron Forge lay them out.
var processes = map[string]string{
	"package.json":                      `{"name":"t3","main":"out/main/index.js"}`,
	"node_modules/tinylib/i.js":         `exports.a=1`,
	"node_modules/tinylib/package.json": `{"name":"tinylib","version":"1.0.0","main":"i.js"}`,
	"out/main/child.js":                 `require('./shared')`,
	"out/main/code.js":                  `require('./shared')`,
	"out/main/index.js": `"use strict";
const electron = require("electron");
const path = require("path");
const utils = require("@electron-toolkit/utils");
const tiny=require('tinylib');
const { Worker } = require("worker_threads"); const { fork } = require('child_process');
let mainWindow = null;
function createWindow() {
  mainWindow = new electron.BrowserWindow({ width: 900, show: false, webPreferences: { preload: path.join(__dirname, "../preload/index.js"), sandbox: false } });
  mainWindow.webContents.setWindowOpenHandler((details) => { electron.shell.openExternal(details.url); return { action: "allow", overrideBrowserWindowOptions:{webPreferences:{preload:path.join(__dirname,'../preload/popup.js'),nodeIntegration:true}} }; });
  if (utils.is.dev && process.env["ELECTRON_RENDERER_URL"]) { mainWindow.loadURL(process.env["ELECTRON_RENDERER_URL"]); }
  else { mainWindow.loadFile(path.join(__dirname, "../renderer/index.html")); }
  mainWindow.on('closed',()=>{mainWindow=null});
}
new Worker(require.resolve('./wt.js')); fork(path.join(__dirname,'child.js')); electron.utilityProcess.fork(path.join(__dirname,'util.js'));
new Worker(path.join(__dirname,'code.js'));
class Settings { open(){ this.win = new electron.BrowserWindow({title:'s'}); this.win.loadURL(url.format({pathname: path.join(__dirname,'..','renderer','settings.html'), protocol:'file:', slashes:true})); } }
const third=new electron.BrowserWindow(); third.loadURL(` + "`" + `file://${require('path').resolve(__dirname,'..','renderer','third.html')}` + "`" + `); third.loadURL(` + "`" + `file://${__dirname}/../renderer/third.html` + "`" + `);
const fourth=new electron.BrowserWindow(); fourth.loadURL('app://./fourth.html'); fourth.loadURL(require('url').pathToFileURL(path.join(electron.app.getAppPath(),'out/renderer/fifth.html')).href);
const r=new electron.BrowserWindow(); r.loadURL('https://remote.example/app?x=SECRET'); const dd=new electron.BrowserWindow(); dd.loadURL('data:text/html,<b>x</b>'); const ee=new electron.BrowserWindow(); ee.loadFile('out/renderer/root.html');
require('child_process').spawn(process.execPath,[path.join(__dirname,'spawned.js')]);`,
	"out/main/shared.js":              `1`,
	"out/main/spawned.js":             `require('./shared')`,
	"out/main/util.js":                `require('./shared')`,
	"out/main/wt.js":                  `require('./shared')`,
	"out/preload/index.js":            `1`,
	"out/preload/popup.js":            `1`,
	"out/renderer/fifth.html":         `<script src=assets/fifth.js></script>`,
	"out/renderer/fourth.html":        `<script src=assets/fourth.js></script>`,
	"out/renderer/guest.html":         `<script src=assets/guest.js></script>`,
	"out/renderer/guestpre.js":        `require("electron")`,
	"out/renderer/imp.js":             `1`,
	"out/renderer/index.html":         `<script type=module src="./assets/index.js"></script><webview src="./guest.html" preload="./guestpre.js"></webview>`,
	"out/renderer/root.html":          `<script src=assets/root.js></script>`,
	"out/renderer/service.js":         `importScripts('imp.js')`,
	"out/renderer/settings.html":      `<script src=assets/settings.js></script>`,
	"out/renderer/third.html":         `<script src=assets/third.js></script>`,
	"out/renderer/assets/dep-lazy.js": `1`,
	"out/renderer/assets/dep-sw.js":   `1`,
	"out/renderer/assets/dep-w.js":    `1`,
	"out/renderer/assets/dep-w2.js":   `1`,
	"out/renderer/assets/dep-wl.js":   `1`,
	"out/renderer/assets/fifth.js":    `1`,
	"out/renderer/assets/fourth.js":   `1`,
	"out/renderer/assets/guest.js":    `1`,
	"out/renderer/assets/index.js": `new Worker(new URL('./w.js', import.meta.url),{type:'module'}); new SharedWorker(new URL('./sw.js', import.meta.url)); new Worker(""+new URL('./w2.js',import.meta.url).href);
navigator.serviceWorker.register('/service.js'); ctx.audioWorklet.addModule(new URL('./wl.js',import.meta.url)); import('./lazy.js');`,
	"out/renderer/assets/lazy.js":     `import './dep-lazy.js'`,
	"out/renderer/assets/root.js":     `1`,
	"out/renderer/assets/settings.js": `1`,
	"out/renderer/assets/sw.js":       `import './dep-sw.js'`,
	"out/renderer/assets/third.js":    `1`,
	"out/renderer/assets/w.js":        `import './dep-w.js'`,
	"out/renderer/assets/w2.js":       `import './dep-w2.js'`,
	"out/renderer/assets/wl.js":       `import './dep-wl.js'`,
}

// processesOf tells for each program and page which processes run it.
func processesOf(a *model.ApplicationAnalysis) map[string]string {
	out := map[string]string{}
	for i := range a.Graph.Nodes {
		n := &a.Graph.Nodes[i]
		if n.Kind == model.ApplicationNodeKindJavascriptAsset || n.Kind == model.ApplicationNodeKindHTMLDocument {
			out[label(n)] = string(n.Properties["processes"])
		}
	}
	return out
}

func TestEveryProgramHasItsProcess(t *testing.T) {
	a := analyze(t, write(t, processes))
	got := processesOf(a)
	want := map[string]string{}
	for process, files := range map[string]string{
		`["main"]`:                             "node_modules/tinylib/i.js out/main/index.js",
		`["child-process"]`:                    "out/main/child.js out/main/spawned.js",
		`["utility"]`:                          "out/main/util.js",
		`["child-process","utility","worker"]`: "out/main/shared.js",
		`["preload"]`:                          "out/preload/index.js out/preload/popup.js out/renderer/guestpre.js",
		`["service-worker"]`:                   "out/renderer/service.js out/renderer/imp.js",
		`["worker"]`:                           "out/main/wt.js out/main/code.js",
		`["renderer"]`:                         "out/renderer/guest.html out/renderer/assets/guest.js out/renderer/index.html out/renderer/assets/index.js out/renderer/assets/lazy.js out/renderer/assets/dep-lazy.js",
	} {
		for _, file := range strings.Fields(files) {
			want[file] = process
		}
	}
	for _, name := range strings.Fields("w sw w2 wl") {
		want["out/renderer/assets/"+name+".js"], want["out/renderer/assets/dep-"+name+".js"] = `["worker"]`, `["worker"]`
	}
	for _, name := range strings.Fields("settings third fourth fifth root") {
		want["out/renderer/"+name+".html"], want["out/renderer/assets/"+name+".js"] = `["renderer"]`, `["renderer"]`
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("processes (-want +got):\n%s", diff)
	}
	if bytes.Contains(a.AppendJSON(nil), []byte("SECRET")) {
		t.Error("a secret is kept")
	}
	for i := range a.Graph.Nodes {
		if n := &a.Graph.Nodes[i]; n.Kind == model.ApplicationNodeKindElectronRenderer && n.Label == nil {
			if r := a.Provenance[n.Provenance].Reason; r == nil || !strings.Contains(*r, "ELECTRON_RENDERER_URL") {
				t.Errorf("the page of the development server is %v", r)
			}
		}
	}
}

// Windows that are made by classes and functions, with options that are spread and handed on.
var windows = map[string]string{
	"a.html": `<script>1</script>`,
	"b.html": `<script>1</script>`,
	"c.html": `<script>1</script>`,
	"main.js": `const {app,BrowserWindow,BrowserView,WebContentsView}=require('electron'); const path=require('path');
const base={webPreferences:{contextIsolation:true, sandbox:true}}; const extra={width:1,webPreferences:{sandbox:false}};
class Win extends BrowserWindow{constructor(){super({title:'sub',webPreferences:{preload:path.join(__dirname,'sub.js')}}); this.loadFile('sub.html')}}
new Win();
function make(o,page){ const w=new BrowserWindow({show:false, ...o, webPreferences:{nodeIntegration:false, preload:o.preload}}); w.loadFile(page); return w }
const a=make({width:1,preload:path.join(__dirname,'pa.js')},'a.html'); make({width:2,preload:path.join(__dirname,'pb.js')},'b.html');
function create({preload,title='dflt'}){ return new BrowserWindow({title,webPreferences:{preload}}) } const cw=create({preload:path.join(__dirname,'pc.js')}); cw.loadFile('c.html');
const sp=new BrowserWindow({...base,...extra,frame:false});
const v=new BrowserView({webPreferences:{preload:path.join(__dirname,'pv.js')}}); v.webContents.loadURL('file://'+__dirname+'/v.html');
const wv=new WebContentsView({webPreferences:{preload:path.join(__dirname,'pw.js')}}); wv.webContents.loadFile('wv.html');
class Base extends BrowserWindow{constructor(opts){super({show:false,...opts})}} const bw=new Base({fullscreen:true,webPreferences:{preload:path.join(__dirname,'pd.js')}}); bw.loadURL('https://bw.example/');
win.webContents.session.setPreloads([path.join(__dirname,'ps.js')]);`,
	"pa.js":        `1`,
	"package.json": `{"name":"t4","main":"main.js"}`,
	"page.html":    `<iframe src="a.html"></iframe><webview src="v.html" preload="./ps.js" nodeintegration></webview><script src=page.js></script>`,
	"page.js":      `window.api.later(); const {deep}=window.api; deep.x(); window["api"].a; window['api']['later'](); const z=window.api; z.later(); self.iso.z(); api.deep.x?.();`,
	"pb.js":        `1`,
	"pc.js":        `1`,
	"pd.js":        `1`,
	"preload.js": `const {contextBridge,ipcRenderer}=require('electron');
const api={a:1}; api.later=()=>1; api.deep={x(){}}; contextBridge.exposeInMainWorld('api',api);
const asg=Object.assign({p:1},{q:2}); contextBridge.exposeInMainWorld('asg',asg);
const open=Object.assign({p:1},require('./none')); contextBridge.exposeInMainWorld('open',open);
contextBridge.exposeInMainWorld('sp',{...api,own:1}); contextBridge.exposeInMainWorld('env',{...process.env});
contextBridge.exposeInIsolatedWorld(1004,'iso',{z(){}});
const dyn={}; for(const k of ks) dyn[k]=1; contextBridge.exposeInMainWorld('dyn',dyn);
class Api{m(){} async n(){} static s(){} #priv(){}} contextBridge.exposeInMainWorld('cls',new Api());
contextBridge.exposeInMainWorld('fn',()=>1); contextBridge.exposeInMainWorld('str','text');
const {HOME,...rest}=process.env; const e=process.env; const {USER:u}=e; e.SHELL; 'CI' in process.env; process.env.A ||= 1; const {env}=process; env.VIAENV; const {env:{NESTED}}=process; 
window.shared={s1(){}, s2:1}; globalThis.other=5;`,
	"ps.js":    `1`,
	"pv.js":    `1`,
	"pw.js":    `1`,
	"sub.html": `<script>1</script>`,
	"sub.js":   `1`,
	"v.html":   `<script>1</script>`,
	"wv.html":  `<script>1</script>`,
}

func TestWindowsShowTheirPages(t *testing.T) {
	a := analyze(t, write(t, windows))
	var got []string
	for i := range a.Graph.Nodes {
		n := &a.Graph.Nodes[i]
		if n.Kind != model.ApplicationNodeKindBrowserWindow {
			continue
		}
		row := label(n) + " " + string(n.Properties["options_known"]) + " " + string(n.Properties["options"])
		for k := range a.Graph.Edges {
			if e := &a.Graph.Edges[k]; e.From == int64(i) {
				row += " " + strings.Trim(string(e.Properties["as"]), `"`) + "=" + label(&a.Graph.Nodes[e.To])
			}
		}
		got = append(got, row)
	}
	want := []string{
		`BrowserWindow true {"title":"sub","webPreferences.preload":"./sub.js"} preload=sub.js page=sub.html`,
		`BrowserWindow true {"preload":"./pa.js","show":false,"webPreferences.nodeIntegration":false,"webPreferences.preload":"./pa.js","width":1} preload=pa.js page=a.html`,
		`BrowserWindow true {"preload":"./pb.js","show":false,"webPreferences.nodeIntegration":false,"webPreferences.preload":"./pb.js","width":2} preload=pb.js page=b.html`,
		`BrowserWindow true {"title":"dflt","webPreferences.preload":"./pc.js"} preload=pc.js page=c.html`,
		`BrowserWindow true {"frame":false,"webPreferences.sandbox":false,"width":1}`,
		`BrowserView true {"webPreferences.preload":"./pv.js"} preload=pv.js page=./v.html`,
		`WebContentsView true {"webPreferences.preload":"./pw.js"} preload=pw.js page=wv.html`,
		`BrowserWindow true {"fullscreen":true,"show":false,"webPreferences.preload":"./pd.js"} preload=pd.js page=https://bw.example/`,
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("windows (-want +got):\n%s", diff)
	}
	apis := map[string]string{}
	var variables []string
	for i := range a.Graph.Nodes {
		switch n := &a.Graph.Nodes[i]; n.Kind {
		case model.ApplicationNodeKindContextBridgeAPI:
			apis[label(n)] = string(n.Properties["members"]) + " " + string(n.Properties["members_complete"])
		case model.ApplicationNodeKindEnvironmentVariable:
			variables = append(variables, label(n))
		}
	}
	if diff := cmp.Diff(map[string]string{
		"api": `["a","later","deep","deep.x"] true`, "asg": `["p","q"] true`, "open": `["p"] false`, "sp": `["a","later","deep","deep.x","own"] true`, "env": `[] false`,
		"iso": `["z"] true`, "dyn": `[] false`, "cls": `[] false`, "fn": `[] true`, "str": `[] true`,
	}, apis); diff != "" {
		t.Errorf("APIs (-want +got):\n%s", diff)
	}
	slices.Sort(variables)
	if want := strings.Fields("- - A CI HOME NESTED SHELL USER VIAENV"); !slices.Equal(variables, want) {
		t.Errorf("variables = %q", variables)
	}
}
