package javascript_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rea/providers/javascript/jstest"
)

// editor is an application whose main process keeps everything in one module, as
// most do, so that what belongs together is not told by files.
var editor = map[string]string{
	"package.json":                     `{"name":"editor","version":"1.0.0","main":"main.js","dependencies":{"semver":"7.0.0"}}`,
	"native/hash.node":                 "\x7fELF hash",
	"native/unused.node":               "\x7fELF unused",
	"node_modules/semver/package.json": `{"name":"semver","version":"7.0.0","main":"index.js"}`,
	"node_modules/semver/index.js":     `exports.gt = (a, b) => a > b; exports.valid = (a) => !!a;`,
	"main.js": `const {app, BrowserWindow, ipcMain, dialog, shell} = require("electron");
const path = require("path"), fs = require("fs"), cp = require("child_process"), semver = require("semver");
const hash = require("./native/hash.node"), other = require("./native/unused.node");
const {Store} = require("./store"), log = require("./log");
const store = new Store(app.getPath("userData"));
let win;
function createWindow() {
  win = new BrowserWindow({webPreferences: {preload: path.join(__dirname, "preload.js"), contextIsolation: true}});
  win.loadFile("index.html");
  win.on("closed", () => { win = null; });
}
async function openDocument(event, name) {
  const text = await fs.promises.readFile(path.join(store.folder, name), "utf8");
  log.info("open " + name);
  return {text, digest: hash.digest(text)};
}
ipcMain.handle("doc:open", openDocument);
ipcMain.handle("doc:save", (event, name, text) => {
  store.put("last", name);
  fs.writeFileSync(path.join(store.folder, name), text);
  win.webContents.send("doc:saved", name);
});
ipcMain.handle("app:update", async () => {
  const response = await fetch("https://updates.editor.example/latest?channel=stable");
  const latest = await response.json();
  if (semver.gt(latest.version, process.env.EDITOR_VERSION)) install(latest.url);
  return latest;
});
function install(url) { cp.execFile("/usr/bin/installer", [url]); }
ipcMain.on("open:external", (event, url) => shell.openExternal(url));
ipcMain.on("telemetry", (event, what) => report(what));
function report(what) { fetch("https://telemetry.editor.example/v1", {method: "POST", body: JSON.stringify(what)}); }
process.on("uncaughtException", (err) => report({err}));
app.whenReady().then(createWindow);
if (other) other.start();
`,
	"store.js": `const fs = require("fs"), path = require("path");
class Store {
  constructor(folder) { this.folder = folder; this.file = path.join(folder, "settings.json"); }
  get(key) { return JSON.parse(fs.readFileSync(this.file))[key]; }
  put(key, value) { const all = this.all(); all[key] = value; fs.writeFileSync(this.file, JSON.stringify(all)); }
  all() { return JSON.parse(fs.readFileSync(this.file)); }
}
exports.Store = Store;
`,
	"log.js": `const fs = require("fs"); const target = process.env.EDITOR_LOG;
exports.info = (text) => { if (target) fs.appendFileSync(target, text); };
exports.unused = () => fetch("https://logs.editor.example/");
`,
	"preload.js": `const {contextBridge, ipcRenderer} = require("electron");
contextBridge.exposeInMainWorld("editor", {
  open: (name) => ipcRenderer.invoke("doc:open", name),
  save: (name, text) => ipcRenderer.invoke("doc:save", name, text),
  onSaved: (f) => ipcRenderer.on("doc:saved", (event, name) => f(name)),
  update: () => ipcRenderer.invoke("app:update"),
  external: (url) => ipcRenderer.send("open:external", url),
});
window.addEventListener("error", (e) => ipcRenderer.send("telemetry", e.message));
`,
	"index.html": `<!doctype html><title>Editor</title><script type="module" src="./page.mjs"></script>`,
	"page.mjs": `import {remember} from "./recent.mjs";
import {help} from "./help.mjs";
const area = document.querySelector("textarea");
async function load(name) {
  const {text} = await window.editor.open(name);
  area.value = text;
  remember(name);
}
document.querySelector("#open").addEventListener("click", () => load("a.txt"));
document.querySelector("#save").addEventListener("click", () => window.editor.save("a.txt", area.value));
document.querySelector("#help").addEventListener("click", help);
window.editor.onSaved((name) => { document.title = name; });
setInterval(() => window.editor.update(), 3600000);
`,
	"recent.mjs": `export function remember(name) { localStorage.setItem("recent", name); }
export function forget() { localStorage.removeItem("recent"); sessionStorage.clear(); }
`,
	"help.mjs": `export async function help() { const r = await fetch("/help/index.json"); show(await r.json()); }
function show(pages) { sessionStorage.setItem("help", pages.length); window.editor.external("https://help.editor.example"); }
`,
}

// shop is a web application with its server.
var shop = map[string]string{
	"package.json": `{"name":"shop","version":"1.0.0","main":"server/index.js","dependencies":{"express":"4.0.0"}}`,
	"server/index.js": `const express = require("express"), {orders} = require("./orders"), auth = require("./auth");
const app = express();
app.get("/api/cart", auth.required, (req, res) => res.json(orders.list(req.user)));
app.post("/api/order", auth.required, async (req, res) => { const id = await orders.place(req.user, req.body); res.json({id}); });
app.get("/health", (req, res) => res.send(process.env.SHOP_VERSION));
app.listen(process.env.PORT);
`,
	"server/orders.js": `const db = require("./db"), {charge} = require("./payment");
exports.orders = {
  list(user) { return db.query("select", user); },
  async place(user, items) { await charge(user, items); return db.query("insert", items); },
};
`,
	"server/payment.js": `exports.charge = async (user, items) => {
  const key = process.env.PAYMENT_KEY;
  return fetch("https://pay.example/v2/charges", {method: "POST", headers: {authorization: key}, body: JSON.stringify(items)});
};
exports.refund = (id) => fetch("https://pay.example/v2/refunds/" + id, {method: "POST"});
`,
	"server/db.js": `const {Client} = require("pg"); const client = new Client(process.env.DATABASE_URL);
exports.query = (text, values) => client.query(text, values);
`,
	"server/auth.js":    `exports.required = (req, res, next) => { if (!req.headers.token) fetch("https://id.example/check"); next(); };`,
	"public/index.html": `<!doctype html><script type="module" src="/app.mjs"></script>`,
	"public/app.mjs": `import {cart} from "./cart.mjs"; import {track} from "./track.mjs";
document.querySelector("#buy").onclick = async () => { const r = await cart.order(); track("order", r.id); };
navigator.serviceWorker.register("/sw.js");
cart.load();
`,
	"public/cart.mjs": `import {request} from "./http.mjs";
export const cart = {
  items: JSON.parse(localStorage.getItem("cart") || "[]"),
  async load() { this.items = await request("/api/cart"); this.keep(); },
  keep() { localStorage.setItem("cart", JSON.stringify(this.items)); },
  async order() { const r = await fetch("/api/order", {method: "POST", body: JSON.stringify(this.items)}); localStorage.removeItem("cart"); return r.json(); },
};
`,
	"public/http.mjs":  `export async function request(path) { const r = await fetch(path, {headers: {token: sessionStorage.getItem("token")}}); return r.json(); }`,
	"public/track.mjs": `export function track(what, id) { navigator.sendBeacon("https://stats.example/t", JSON.stringify({what, id})); }`,
	"public/sw.js":     `self.addEventListener("fetch", (e) => e.respondWith(caches.match(e.request)));`,
}

// A slice is what a person who knows the sources says belongs to a feature: nodes as
// "kind label", the ends of labels being enough. What is after a "|" may be in it.
type cut struct {
	seed, value string
	want        string
	functions   string // names of functions of it, where these have names
}

// score says which nodes of a trace are expected, and which are missing.
func score(t *testing.T, r object, want string) (right, wrong, missing []string) {
	t.Helper()
	must, may, _ := strings.Cut(want, "|")
	musts, mays := fields(must), fields(may)
	found := make([]bool, len(musts))
	for _, n := range items(r["nodes"]) {
		item := n["item"].(object)
		label := fmt.Sprint(item["label"])
		is := func(w string) bool {
			kind, name, _ := strings.Cut(w, " ")
			return kind == item["kind"] && (label == name || strings.HasSuffix(label, "/"+name) || strings.HasPrefix(label, name+"?"))
		}
		if i := slices.IndexFunc(musts, is); i >= 0 {
			found[i] = true
			right = append(right, label)
		} else if !slices.ContainsFunc(mays, is) {
			wrong = append(wrong, fmt.Sprint(item["kind"], " ", label))
		}
	}
	for i, ok := range found {
		if !ok {
			missing = append(missing, musts[i])
		}
	}
	return right, wrong, missing
}

func fields(list string) (out []string) {
	for _, f := range strings.Split(list, ",") {
		if f = strings.TrimSpace(f); f != "" {
			out = append(out, f)
		}
	}
	return out
}

// desk is what an action of the page of the editor goes through.
const (
	desk = "javascript-asset main.js, javascript-asset preload.js, context-bridge-api editor, javascript-asset page.mjs, html-document index.html,"
	runs = "electron-main main.js, electron-renderer index.html, electron-preload preload.js, browser-window BrowserWindow, external-module electron, external-module path, external-module fs"
)

func TestFeatures(t *testing.T) {
	bundled, _ := jstest.Electron(t)
	const notes = "module-group src/main/index.js, module-group src/preload/index.js, javascript-asset dist/renderer/assets/PAGE, html-document index.html, context-bridge-api notes,"
	const noted = `javascript-asset dist/main.js, javascript-asset dist/preload.js, electron-main dist/main.js, electron-renderer index.html, electron-preload preload.js, browser-window BrowserWindow, external-module electron, external-module node:fs, javascript-module external commonjs "electron", javascript-module external node-commonjs "node:fs"`
	for _, app := range []struct {
		name, path string
		cuts       []cut
	}{
		{"editor", folder(t, editor), []cut{
			{"channel", "doc:open", desk + "ipc-channel doc:open, ipc-handler doc:open, javascript-asset log.js, native-addon native/hash.node, javascript-asset recent.mjs, storage recent |" + runs + ", environment-variable EDITOR_LOG, javascript-asset store.js", "openDocument open load remember info"},
			{"channel", "doc:save", desk + "ipc-channel doc:save, ipc-handler doc:save, javascript-asset store.js, ipc-channel doc:saved, ipc-handler doc:saved |" + runs, "save put all"},
			{"channel", "app:update", desk + "ipc-channel app:update, ipc-handler app:update, endpoint https://updates.editor.example/latest, environment-variable EDITOR_VERSION, child-process /usr/bin/installer, javascript-asset semver/index.js |" + runs + ", external-module child_process", "install update gt"},
			{"channel", "telemetry", "ipc-channel telemetry, ipc-handler telemetry, javascript-asset main.js, javascript-asset preload.js, endpoint https://telemetry.editor.example/v1 |" + runs, "report"},
			{"endpoint", "https://telemetry.editor.example/v1", "endpoint https://telemetry.editor.example/v1, javascript-asset main.js, ipc-handler telemetry, ipc-channel telemetry, javascript-asset preload.js |" + runs, "report"},
			{"endpoint", "/help/index.json", "endpoint /help/index.json, javascript-asset help.mjs, storage help, context-bridge-api editor, javascript-asset preload.js, ipc-channel open:external, ipc-handler open:external, javascript-asset main.js, javascript-asset page.mjs, html-document index.html |" + runs + ", endpoint https://help.editor.example", "help show external"},
			{"storage", "recent", "storage recent, javascript-asset recent.mjs, javascript-asset page.mjs, html-document index.html |" + runs, "remember load forget"},
			{"native-export", "digest", desk + "native-addon native/hash.node, ipc-handler doc:open, ipc-channel doc:open, javascript-asset log.js, javascript-asset recent.mjs, storage recent |" + runs + ", environment-variable EDITOR_LOG", "openDocument"},
			{"api", "editor.external", "context-bridge-api editor, javascript-asset preload.js, ipc-channel open:external, ipc-handler open:external, javascript-asset main.js, javascript-asset help.mjs, storage help, javascript-asset page.mjs, endpoint /help/index.json, html-document index.html |" + runs + ", endpoint https://help.editor.example", "external show help"},
			{"export", "info", desk + "javascript-asset log.js, ipc-handler doc:open, ipc-channel doc:open |" + runs + ", javascript-asset recent.mjs, storage recent", "info openDocument"},
			{"environment", "EDITOR_VERSION", desk + "environment-variable EDITOR_VERSION, ipc-handler app:update, ipc-channel app:update, endpoint https://updates.editor.example/latest, child-process /usr/bin/installer, javascript-asset semver/index.js |" + runs + ", external-module child_process", "install"},
			{"module", "recent.mjs", "javascript-asset recent.mjs, storage recent, javascript-asset page.mjs |" + runs + ", html-document index.html", "load"},
			{"string", "/usr/bin/installer", desk + "child-process /usr/bin/installer, external-module child_process, ipc-handler app:update, ipc-channel app:update |" + runs, "install"},
		}},
		{"shop", folder(t, shop), []cut{
			{"route", "/api/order", "route /api/order, javascript-asset server/index.js, javascript-asset server/orders.js, javascript-asset server/payment.js, javascript-asset server/db.js, environment-variable PAYMENT_KEY, endpoint https://pay.example/v2/charges, javascript-asset server/auth.js, endpoint https://id.example/check | external-module express, external-module pg", "place charge query required"},
			{"route", "/health", "route /health, javascript-asset server/index.js, environment-variable SHOP_VERSION |", ""},
			{"endpoint", "https://pay.example/v2/charges", "endpoint https://pay.example/v2/charges, environment-variable PAYMENT_KEY, javascript-asset server/payment.js, javascript-asset server/orders.js, route /api/order, javascript-asset server/index.js |", "charge place"},
			{"environment", "PAYMENT_KEY", "endpoint https://pay.example/v2/charges, environment-variable PAYMENT_KEY, javascript-asset server/payment.js, javascript-asset server/orders.js, route /api/order, javascript-asset server/index.js |", "charge place"},
			{"endpoint", "/api/order", "endpoint /api/order, javascript-asset public/cart.mjs, storage cart, javascript-asset public/app.mjs, html-document public/index.html |", "order"},
			{"storage", "cart", "storage cart, endpoint /api/order, endpoint /api/cart, javascript-asset public/cart.mjs, javascript-asset public/app.mjs, html-document public/index.html | javascript-asset public/http.mjs, storage token, endpoint {}", "order keep load"},
			{"endpoint", "https://stats.example/t", "endpoint https://stats.example/t, javascript-asset public/track.mjs, javascript-asset public/app.mjs, html-document public/index.html |", "track"},
		}},
		{"notes", bundled.Archive, []cut{
			{"channel", "notes:search", notes + "ipc-channel notes:search, ipc-handler notes:search, javascript-module src/main/search.js, environment-variable NOTES_API, endpoint https://api.notes.example/v1/search, native-binding fastindex, native-addon build/Release/fastindex.node, storage last-search, javascript-asset WORKER, worker ./WORKER |" + noted, "search"},
			{"channel", "notes:export", "module-group src/main/index.js, module-group src/preload/index.js, context-bridge-api notes, ipc-channel notes:export, ipc-handler notes:export, javascript-module src/main/export.js, javascript-module src/main/plain.js, ipc-channel notes:exported, ipc-handler notes:exported |" + noted, ""},
			{"channel", "notes:save", notes + "ipc-channel notes:save, ipc-handler notes:save, javascript-module src/main/store.js, storage draft, storage safeStorage |" + noted, "save"},
			{"endpoint", "wss://live.notes.example/feed", notes + "endpoint wss://live.notes.example/feed, feature-flag new-settings, storage draft, ipc-channel notes:save, ipc-handler notes:save, javascript-module src/main/store.js, storage safeStorage |" + noted, ""},
			{"native-export", "find", notes + "native-binding fastindex, native-addon build/Release/fastindex.node, javascript-module src/main/search.js, environment-variable NOTES_API, endpoint https://api.notes.example/v1/search, ipc-handler notes:search, ipc-channel notes:search, storage last-search, javascript-asset WORKER, worker ./WORKER |" + noted, ""},
		}},
	} {
		t.Run(app.name, func(t *testing.T) {
			d := tools(t)
			id, _, analysis := call(t, d, "analyze_javascript_application", object{"path": app.path})
			names := strings.NewReplacer("PAGE", asset(analysis, "/index-"), "WORKER", asset(analysis, "/highlight.worker-"))
			var right, wrong, missing int
			for _, c := range app.cuts {
				_, _, r := call(t, d, "trace_application_feature", object{"application": retained(id), "seed": object{"kind": c.seed, "value": c.value}})
				yes, no, not := score(t, r, names.Replace(c.want))
				right, wrong, missing = right+len(yes), wrong+len(no), missing+len(not)
				if len(no)+len(not) > 0 {
					t.Logf("%s %s: too much %q, missing %q", c.seed, c.value, no, not)
				}
				got := map[string]bool{}
				for _, f := range items(r["functions"]) {
					got[fmt.Sprint(f["name"])] = true
				}
				for _, name := range strings.Fields(c.functions) {
					if !got[name] {
						t.Errorf("%s %s: function %s is missing of %v", c.seed, c.value, name, got)
					}
				}
			}
			precision, recall := float64(right)/float64(right+wrong), float64(right)/float64(right+missing)
			t.Logf("precision %.3f, recall %.3f", precision, recall)
			if precision < 0.95 || recall < 0.95 {
				t.Errorf("precision %.3f, recall %.3f of what a person takes for the features", precision, recall)
			}
		})
	}
}

// asset is the name of the file whose path has a part in it.
func asset(analysis object, part string) string {
	for _, n := range items(analysis["graph"].(object)["nodes"]) {
		if label, _ := n["label"].(string); n["kind"] == "javascript-asset" && strings.Contains(label, part) {
			return label[strings.LastIndexByte(label, '/')+1:]
		}
	}
	return part
}

// A bound cuts what is far away, and what is cut is counted and named.
func TestFeatureLimits(t *testing.T) {
	d := tools(t)
	id, _, _ := call(t, d, "analyze_javascript_application", object{"path": folder(t, editor)})
	trace := func(direction string, limits object) object {
		_, _, r := call(t, d, "trace_application_feature", object{
			"application": retained(id), "seed": object{"kind": "channel", "value": "doc:open"}, "direction": direction, "limits": limits,
		})
		return r
	}
	count := func(r object, name string) int { return int(r["coverage"].(object)[name].(float64)) }
	whole := trace("both", object{})
	if s := whole["coverage"].(object); s["status"] != "complete-within-source" || count(whole, "omitted_nodes")+count(whole, "omitted_functions")+count(whole, "omitted_edges")+count(whole, "omitted_paths") > 0 {
		t.Errorf("without limits: %v", s)
	}
	for name, value := range map[string]int{"max_depth": 2, "max_nodes": 6, "max_edges": 5, "max_functions": 1, "max_paths": 2, "max_seed_matches": 1} {
		r := trace("both", object{name: value})
		c := r["coverage"].(object)
		if c["status"] != "truncated" || !slices.Contains(c["limits_reached"].([]any), any(name)) {
			t.Errorf("%s: %v", name, c)
		}
		named := slices.ContainsFunc(items(c["frontier"]), func(f object) bool { return f["reason"] == name && f["label"] != "" })
		omitted := count(r, "omitted_nodes") + count(r, "omitted_functions") + count(r, "omitted_edges") + count(r, "omitted_paths") + count(r, "omitted_seed_matches")
		if omitted == 0 || name != "max_paths" && name != "max_seed_matches" && !named {
			t.Errorf("%s: nothing is named or counted: %v", name, c)
		}
		for what, limit := range map[string]string{"nodes": "max_nodes", "edges": "max_edges", "functions": "max_functions", "paths": "max_paths"} {
			if limit == name && len(items(r[what])) > value {
				t.Errorf("%s: %d %s", name, len(items(r[what])), what)
			}
		}
	}
	// A side alone does not turn.
	for direction, lacks := range map[string]string{"incoming": "native-addon", "outgoing": "html-document"} {
		for _, n := range items(trace(direction, object{})["nodes"]) {
			if n["item"].(object)["kind"] == lacks {
				t.Errorf("%s has a %s", direction, lacks)
			}
		}
	}
}

// The same question has one answer, and every path goes along edges that there are.
func TestFeaturePaths(t *testing.T) {
	d := tools(t)
	id, inline, _ := call(t, d, "analyze_javascript_application", object{"path": folder(t, editor)})
	for _, seed := range []object{
		{"kind": "channel", "value": "doc:open"},
		{"kind": "string", "value": ".", "match": "regex"},
		{"kind": "module", "value": "main.js"},
		{"kind": "process", "value": "main", "match": "contains"},
	} {
		input := object{"application": retained(id), "seed": seed, "limits": object{"max_seed_matches": 1000, "max_paths": 1000}}
		first, _, r := call(t, d, "trace_application_feature", input)
		if again, _, _ := call(t, tools(t), "trace_application_feature", object{"application": json.RawMessage(inline), "seed": seed, "limits": input["limits"]}); again != first {
			t.Errorf("%v: %s and %s", seed, first, again)
		}
		edges := items(r["edges"])
		for _, p := range items(r["paths"]) {
			nodes := map[any]bool{}
			for _, n := range p["nodes"].([]any) {
				nodes[n] = true
			}
			for _, e := range p["edges"].([]any) {
				if edge := edges[int(e.(float64))]; !nodes[edge["from"]] && !nodes[edge["to"]] {
					t.Errorf("%v: an edge of a path joins none of its nodes", seed)
				}
			}
		}
	}
}

// Code that is a text in the code is not followed, and that is said.
func TestFeatureOfCompiledCode(t *testing.T) {
	d := tools(t)
	id, _, _ := call(t, d, "analyze_javascript_application", object{"path": folder(t, map[string]string{"main.js": `(() => { var __webpack_modules__ = ({
"./src/api.js": ((m, __webpack_exports__, __webpack_require__) => { eval("function load(who) { return fetch(\"/api/v1\" + who); }\n//# sourceURL=webpack:///./src/api.js?"); })
}); var cache = {}; function __webpack_require__(id) { var module = cache[id] = {exports: {}}; __webpack_modules__[id](module, module.exports, __webpack_require__); return module.exports; }
__webpack_require__("./src/api.js"); })();`})})
	_, _, r := call(t, d, "trace_application_feature", object{"application": retained(id), "seed": object{"kind": "endpoint", "value": "/api", "match": "contains"}})
	c := r["coverage"].(object)
	if f := items(c["frontier"]); c["status"] != "partial" || len(f) != 1 || f[0]["reason"] != "unresolved" || f[0]["label"] != "./src/api.js" {
		t.Errorf("coverage: %v", c)
	}
	_, _, r = call(t, d, "trace_javascript_semantics", object{"application": retained(id), "seed": object{"kind": "string", "value": ".", "match": "regex"}})
	if s := r["status"]; s != "partial" {
		t.Errorf("status %v", s)
	}
}

// An export that a bundle hands on is the function of that name.
func TestFeatureOfAnExportThatIsHandedOn(t *testing.T) {
	d := tools(t)
	id, _, _ := call(t, d, "analyze_javascript_application", object{"path": folder(t, map[string]string{"lib.js": `var __defProp = Object.defineProperty;
var __export = (target, all) => { for (var name in all) __defProp(target, name, {get: all[name], enumerable: true}); };
var lib_exports = {};
__export(lib_exports, {load: () => load});
module.exports = __toCommonJS(lib_exports);
// src/load.ts
function load(id) { return fetch("/api/load/" + id); }
function other() { return fetch("/api/other"); }
`})})
	_, _, r := call(t, d, "trace_application_feature", object{"application": retained(id), "seed": object{"kind": "string", "value": "load"}})
	var labels []string
	for _, n := range items(r["nodes"]) {
		labels = append(labels, fmt.Sprint(n["item"].(object)["label"]))
	}
	if !slices.Contains(labels, "/api/load/{}") || slices.Contains(labels, "/api/other") {
		t.Errorf("%v %v", labels, r["functions"])
	}
}
