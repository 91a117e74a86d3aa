package application_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rea/generated/model"
	"rea/providers/javascript/application"
	"rea/providers/javascript/semantic"
	"rea/providers/javascript/tree"
)

var bounds = tree.Options{MaxFiles: 100_000, MaxFileBytes: 128 << 20, MaxTextBytes: 512 << 20, MaxTotalBytes: 16 << 30, MaxDepth: 4}

// write lays files out in a new folder.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func analyze(t testing.TB, path string) *model.ApplicationAnalysis {
	t.Helper()
	tr, err := tree.Read(t.Context(), path, bounds)
	if err != nil {
		t.Fatal(err)
	}
	out, err := application.Analyze(t.Context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rows are nodes and edges as short lines: kind label {properties}, and from
// -relation-> to {properties}.
func rows(a *model.ApplicationAnalysis, kinds ...model.ApplicationNodeKind) (list []string) {
	for i := range a.Graph.Nodes {
		if n := &a.Graph.Nodes[i]; slices.Contains(kinds, n.Kind) {
			list = append(list, fmt.Sprintf("%s %s %s", n.Kind, label(n), properties(n, "pairing", "members", "channels", "options", "processes", "version", "area", "candidates")))
		}
	}
	return list
}

func label(n *model.ApplicationNode) string {
	if n.Label == nil {
		return "-"
	}
	return *n.Label
}

func properties(n *model.ApplicationNode, names ...string) string {
	var list []string
	for _, name := range names {
		if v, ok := n.Properties[name]; ok {
			list = append(list, name+"="+string(v))
		}
	}
	return strings.Join(list, " ")
}

func edges(a *model.ApplicationAnalysis, relations ...model.ApplicationRelation) (list []string) {
	for i := range a.Graph.Edges {
		e := &a.Graph.Edges[i]
		if slices.Contains(relations, e.Relation) {
			list = append(list, fmt.Sprintf("%s %s %s", label(&a.Graph.Nodes[e.From]), e.Relation, label(&a.Graph.Nodes[e.To])))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

var electron = map[string]string{
	"package.json": `{"name":"demo","version":"2.0.1","main":"dist/main.js"}`,
	"dist/main.js": `
const { app, BrowserWindow, ipcMain, utilityProcess } = require('electron');
const path = require('path');
const CH = { OPEN: 'file:open', SAVE: 'file:save' };
const win = new BrowserWindow({ width: 800, webPreferences: { preload: path.join(__dirname, 'preload.js'), contextIsolation: true, nodeIntegration: !1, sandbox: app.isPackaged } });
win.loadFile('dist/index.html');
win.webContents.send('tick', 1);
ipcMain.handle(CH.OPEN, async (e, p) => require('fs').readFileSync(p, 'utf8'));
ipcMain.on('dup', () => {}); ipcMain.on('dup', () => {});
ipcMain.handle(process.env.CHANNEL, () => 1);
require('bindings')('fast');
utilityProcess.fork(path.join(__dirname, 'job.js'));
fetch('https://user:secret@api.example.com/v1/items?token=abc&q=1#part');
`,
	"dist/preload.js": `
const { contextBridge, ipcRenderer } = require('electron');
contextBridge.exposeInMainWorld('files', { open: (p) => ipcRenderer.invoke('file:open', p), save: (p) => ipcRenderer.invoke('file:save', p), nested: { dup() { ipcRenderer.send('dup') } }, onTick: (cb) => ipcRenderer.on('tick', cb) });
`,
	"dist/index.html":         `<!doctype html><title>Demo</title><script src="renderer.js"></script><script>localStorage.setItem('theme', 'dark'); new Worker('worker.js');</script>`,
	"dist/renderer.js":        "window.files.open('a'); localStorage.getItem('theme'); /*! tiny-lib v1.2.3 | MIT */",
	"dist/worker.js":          "self.onmessage = () => postMessage(1)",
	"dist/job.js":             "process.parentPort.on('message', () => {})",
	"build/Release/fast.node": "\x7fELF",
}

func TestAnElectronApplication(t *testing.T) {
	a := analyze(t, write(t, electron))
	nodes := rows(a, model.ApplicationNodeKindElectronMain, model.ApplicationNodeKindElectronPreload, model.ApplicationNodeKindElectronRenderer,
		model.ApplicationNodeKindElectronUtility, model.ApplicationNodeKindBrowserWindow, model.ApplicationNodeKindContextBridgeAPI, model.ApplicationNodeKindIpcChannel,
		model.ApplicationNodeKindEndpoint, model.ApplicationNodeKindEnvironmentVariable, model.ApplicationNodeKindStorage, model.ApplicationNodeKindNativeBinding,
		model.ApplicationNodeKindWorker, model.ApplicationNodeKindLibrary, model.ApplicationNodeKindJavascriptAsset)
	slices.Sort(nodes)
	want := []string{
		`browser-window BrowserWindow options={"webPreferences.contextIsolation":true,"webPreferences.nodeIntegration":false,"webPreferences.preload":"./preload.js","webPreferences.sandbox":{"state":"unknown"},"width":800}`,
		`context-bridge-api files members=["open","save","nested","nested.dup","onTick"] channels=["dup","file:open","file:save","tick"]`,
		`electron-main dist/main.js `,
		`electron-preload ./preload.js `,
		`electron-renderer dist/index.html `,
		`electron-utility ./job.js `,
		`endpoint https://api.example.com/v1/items?token=&q= `,
		`environment-variable CHANNEL `,
		`ipc-channel - pairing="dynamic"`,
		`ipc-channel dup pairing="ambiguous"`,
		`ipc-channel file:open pairing="paired"`,
		`ipc-channel file:save pairing="unpaired"`,
		`ipc-channel tick pairing="paired"`,
		`javascript-asset dist/job.js processes=["utility"]`,
		`javascript-asset dist/main.js processes=["main"]`,
		`javascript-asset dist/preload.js processes=["preload"]`,
		`javascript-asset dist/renderer.js processes=["renderer"]`,
		`javascript-asset dist/worker.js processes=["worker"]`,
		`library tiny-lib 1.2.3 version="1.2.3"`,
		`native-binding fast candidates=1`,
		`storage theme area="local"`,
		`worker worker.js `,
	}
	if diff := cmp.Diff(want, nodes); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	calls := []string{"dist/main.js calls https://api.example.com/v1/items?token=&q=", "dist/main.js calls tick", "dist/preload.js calls file:open"}
	if diff := cmp.Diff(calls, edges(a, model.ApplicationRelationCalls)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	invokes := []string{"dist/preload.js invokes file:open", "dist/preload.js invokes file:save", "dist/renderer.js invokes files"}
	if diff := cmp.Diff(invokes, edges(a, model.ApplicationRelationInvokes)); diff != "" {
		t.Errorf("invokes (-want +got):\n%s", diff)
	}
	for _, secret := range []string{"secret", "abc", "#part"} {
		if bytes.Contains(a.AppendJSON(nil), []byte(secret)) {
			t.Errorf("the graph has %q", secret)
		}
	}
}

func TestTheSameApplicationGivesTheSameBytes(t *testing.T) {
	files := map[string]string{}
	for name, text := range electron {
		files[name] = text
	}
	for i := range 60 {
		files[fmt.Sprintf("lib/m%d.js", i)] = fmt.Sprintf("const a = require('./m%d'); exports.f%d = (x) => a.g(x + %d);", (i+1)%60, i, i)
	}
	first := analyze(t, write(t, files))
	for range 4 {
		again := analyze(t, write(t, files))
		again.Application.Name = first.Application.Name
		again.Graph.Nodes[0].Label = first.Graph.Nodes[0].Label
		again.Graph.GraphID = first.Graph.GraphID
		again.Semantics.GraphID, again.Semantics.ApplicationGraphID = first.Semantics.GraphID, first.Semantics.ApplicationGraphID
		if !bytes.Equal(first.AppendJSON(nil), again.AppendJSON(nil)) {
			t.Fatal("two analyses differ")
		}
	}
}

func TestTheSemanticGraphSurvivesItsColumns(t *testing.T) {
	a := analyze(t, write(t, electron))
	g, err := semantic.Decode(&a.Semantics)
	if err != nil {
		t.Fatal(err)
	}
	again := g.Encode()
	if !bytes.Equal(a.Semantics.AppendJSON(nil), again.AppendJSON(nil)) {
		t.Error("decoding and encoding changes the graph")
	}
	if len(g.Edges) < 20 {
		t.Errorf("%d relations", len(g.Edges))
	}
}

func TestHostileApplications(t *testing.T) {
	circular := map[string]string{}
	for i := range 10_000 {
		circular[fmt.Sprintf("m%d.js", i)] = fmt.Sprintf("import './m%d.js'; import './m%d.js'", (i+1)%10_000, (i*7)%10_000)
	}
	for name, files := range map[string]map[string]string{
		"manifest_is_array":  {"package.json": `[{"main":"a.js"}]`, "a.js": "a()"},
		"manifest_is_broken": {"package.json": `{"main":`, "a.js": "a()"},
		"prototype_keys":     {"package.json": `{"__proto__":{"main":"a.js"},"constructor":"x"}`, "a.js": `var o={__proto__:{a:1},constructor:b,hasOwnProperty:c};o.__proto__.x=localStorage.__proto__;exports.__proto__=1;process.env.__proto__`},
		"syntax_errors":      {"a.js": "var a = ;\nrequire('./b')\nfunction (", "b.js": "}}}}"},
		"bom_and_bad_utf8":   {"a.js": "\ufeffrequire('./b')", "b.js": "x = '\xff\xfe'; fetch('https://example.com/\xff')"},
		"circular":           circular,
		"html_without_end":   {"a.html": "<script>a(", "b.html": "<script src='"},
		"bad_maps":           {"a.js": "a()\n//# sourceMappingURL=a.js.map", "a.js.map": `{"version":3,"sources":["a.js.map"],"mappings":"ggggggggggggC"}`, "b.js.map": "[]", "c.js": "b()\n//# sourceMappingURL=../../../../etc/passwd"},
		"empty":              {"a.js": ""},
		"many_keys":          {"a.js": "var o={" + strings.Repeat("a:1,b:function(){},", 50_000) + "};" + strings.Repeat("o.a;o.b();", 50_000)},
		"exports_in_circles": inCircles(60),
		"one_class":          {"a.js": "class A{" + strings.Repeat("m(){this.m()}", 50_000) + "}"},
		"fake_bundle":        {"a.js": "var t={" + strings.Repeat("1:function(a,b,c){c(1)},", 20_000) + "};function r(i){var m={exports:{}};t[i](m,m.exports,r)}r(1)"},
		"registrations":      {"a.js": strings.Repeat(`__d(function(g,r,i,a,m,e,d){r(d[0])},1,[1]);`, 20_000) + "\nparcelRequire.register;var q=parcelRequire.register;" + strings.Repeat(`q("a",function(m,e){parcelRequire("a")});`, 10_000)},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			a := analyze(t, write(t, files))
			if took := time.Since(began); took > 60*time.Second {
				t.Errorf("it took %v", took)
			}
			if len(a.Graph.Nodes) < 2 {
				t.Errorf("%d nodes", len(a.Graph.Nodes))
			}
		})
	}
}

// inCircles are modules that hand on all that the others have, and ask for what none
// of them has.
func inCircles(n int) map[string]string {
	out := map[string]string{}
	for i := range n {
		text := fmt.Sprintf("import {none%d, other} from './m%d.js'; none%d(other);", i, (i+1)%n, i)
		for k := range n {
			text += fmt.Sprintf("export * from './m%d.js';", k)
		}
		out[fmt.Sprintf("m%d.js", i)] = text
	}
	return out
}

func TestSyntaxErrorsAreMarked(t *testing.T) {
	a := analyze(t, write(t, map[string]string{"a.js": "require('./b');\nvar x = ;\nfetch('https://example.com/a')", "b.js": "1"}))
	if s := a.Files[0].State; s != model.ApplicationFileStatePartial || a.Files[0].Reason == nil {
		t.Errorf("state = %s", s)
	}
	if got := edges(a, model.ApplicationRelationImports, model.ApplicationRelationCalls); len(got) != 2 {
		t.Errorf("edges = %v", got)
	}
	if a.Graph.Coverage.Status != model.ApplicationCoverageStatusPartial {
		t.Error("the coverage is called complete")
	}
}

func TestProgramsThatAreNotReadAreNamed(t *testing.T) {
	hermes := "\xc6\x1f\xbc\x03\xc1\x03\x19\x1f" + strings.Repeat("\x00", 200)
	a := analyze(t, write(t, map[string]string{"bad.ts": "let x: number = ;", "good.ts": "let x: number = 1", "main.jsbundle": hermes, "old.jsc": "\x01\x02\xde\xc0" + strings.Repeat("\x00", 100)}))
	for i, want := range []string{"line 1: ", "", "it is bytecode of Hermes, which is not read", "it is bytecode of V8, which is not read"} {
		f := &a.Files[i]
		if (f.State == model.ApplicationFileStateSkipped) != (want != "") || want != "" && (f.Reason == nil || !strings.HasPrefix(*f.Reason, want)) {
			t.Errorf("%s is %s, %v", f.Path, f.State, f.Reason)
		}
	}
	if len(a.Graph.Coverage.Gaps) < 3 {
		t.Errorf("gaps = %+v", a.Graph.Coverage.Gaps)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	dir := write(t, map[string]string{"a/b.js": "1"})
	for name, target := range map[string]string{"a/loop": "..", "a/self": "self", "outside": "/etc", "a/c.js": "b.js"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	a := analyze(t, dir)
	links := 0
	for _, f := range a.Files {
		if f.Kind == model.ApplicationFileKindSymlink {
			links++
		}
	}
	if links != 4 || len(a.Files) != 5 {
		t.Errorf("%d links of %d files", links, len(a.Files))
	}
}

func TestCancellationEndsAnAnalysis(t *testing.T) {
	tr, err := tree.Read(t.Context(), write(t, electron), bounds)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := application.Analyze(ctx, tr); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func FuzzAnalyze(f *testing.F) {
	for _, text := range electron {
		f.Add(text)
	}
	for _, s := range []string{
		"(function(m){var c={};function r(i){var o=c[i]={exports:{}};m[i].call(o.exports,o,o.exports,r)}r(0)})([function(e,t,n){n(1)},function(e,t){t.a=1}])",
		`(self.webpackChunk=self.webpackChunk||[]).push([[1],{2:(e,t,n)=>{n.d(t,{a:()=>b});var b=n(3)}}])`,
		"(function(){})({1:[function(require,module,exports){require('./a')},{'./a':2}],2:[function(r,m,e){},{}]},{},[1])",
		"var a=(e,t)=>()=>(t||e((t={exports:{}}).exports,t),t.exports),b=a((e,t)=>{t.exports=1});b()",
		"__d(function(g,r,i,a,m,e,d){r(d[0])},0,[1]);System.register(['a'],function(e,m){return{}});define('a',['b'],function(b){})",
		"var hasRequiredA;function requireA(){if(hasRequiredA)return a;hasRequiredA=1;return a}",
		"// src/a.js\nvar a=1;\n// src/b.js\nvar b=2;", "//#region src/a.js\nvar a;\n//#endregion\n//#region src/b.js\n//#endregion",
		`(globalThis.TURBOPACK=[]).push([1,{"[project]/a.js [client]":(e)=>{e.i("b");e.s(["x",()=>1])}}])`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		for _, name := range []string{"a.js", "a.html"} {
			tr := &tree.Tree{Format: "file", Name: name, SHA256: strings.Repeat("0", 64), Files: []tree.File{{Path: name, Kind: tree.JavaScript, Size: int64(len(src)), SHA256: strings.Repeat("0", 64), Data: []byte(src)}}}
			if name == "a.html" {
				tr.Files[0].Kind = tree.HTML
			}
			out, err := application.Analyze(t.Context(), tr)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := semantic.Decode(&out.Semantics); err != nil {
				t.Fatal(err)
			}
			for i := range out.Locations.Start {
				if out.Locations.Start[i] > out.Locations.End[i] || out.Locations.End[i] > int64(len(src)) {
					t.Fatalf("location %d to %d of %d bytes", out.Locations.Start[i], out.Locations.End[i], len(src))
				}
			}
		}
	})
}
