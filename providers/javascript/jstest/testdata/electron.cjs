// Builds an Electron application as they are shipped: main, preload and utility
// process by webpack, pages and their worker by vite, packed into an archive with
// a native add-on beside it.
//
//   node electron.cjs OUT VERSION ADDON
//
// VERSION is 1 or 2: the second release changes the search, drops a module, adds
// another and switches the sandbox off.
const fs = require("fs"), path = require("path");
const [out, version, addon] = process.argv.slice(2);
const second = version === "2";
const project = path.join(out, "project");

const sources = {
  "package.json": JSON.stringify({name: "notes", version: second ? "2.0.0" : "1.0.0", main: "dist/main.js", dependencies: {bindings: "1.5.0"}}),
  "src/main/index.js": `import {app, BrowserWindow, ipcMain, protocol, MessageChannelMain, utilityProcess} from "electron";
import path from "node:path";
import {createStore} from "./store.js";
import {search} from "./search.js";
import {startUpdates} from "./updates.js";
import {registerExports} from "./export.js";

const SCHEME = "notes";
app.setAsDefaultProtocolClient(SCHEME);
app.on("open-url", (event, url) => openLink(url));
protocol.registerSchemesAsPrivileged([{scheme: "asset", privileges: {standard: true}}]);

let window;
function createWindow() {
  window = new BrowserWindow({
    width: 1200, height: 800,
    webPreferences: {preload: path.join(__dirname, "preload.js"), contextIsolation: true, nodeIntegration: false, sandbox: ${!second}},
  });
  window.loadFile(path.join(__dirname, "renderer", "index.html"));
}
function openLink(url) {
  const target = new URL(url);
  window.webContents.send("link:opened", target.pathname);
}
app.whenReady().then(() => {
  protocol.handle("asset", (request) => serve(request.url));
  const store = createStore(app.getPath("userData"));
  ipcMain.handle("notes:search", async (event, query) => search(store, query));
  ipcMain.handle("notes:save", (event, note) => store.save(note));
  ipcMain.on("notes:export", registerExports);
  const indexer = utilityProcess.fork(path.join(__dirname, "indexer.js"), [], {serviceName: "indexer"});
  const {port1, port2} = new MessageChannelMain();
  indexer.postMessage({type: "start"}, [port1]);
  createWindow();
  window.webContents.postMessage("indexer:port", null, [port2]);
  startUpdates();
});
async function serve(url) { return new Response(url); }
`,
  "src/main/store.js": `import fs from "node:fs";
import path from "node:path";
import {safeStorage} from "electron";
export class Store {
  constructor(folder) { this.file = path.join(folder, "notes.json"); }
  load() { return JSON.parse(fs.readFileSync(this.file, "utf8")); }
  save(note) {
    const secret = safeStorage.encryptString(note.body);
    fs.writeFileSync(this.file, JSON.stringify({title: note.title, secret: secret.toString("base64")}));
    return note.title;
  }
}
export function createStore(folder) { return new Store(folder); }
`,
  "src/main/search.js": `import bindings from "bindings";
const index = bindings("fastindex");
export async function search(store, query) {
  const local = index.find(query);
  const url = (process.env.NOTES_API || "https://api.notes.example") + "/v${second ? 2 : 1}/search?q=" + encodeURIComponent(query);
  const remote = await fetch("https://user:secret@api.notes.example/v${second ? 2 : 1}/search?token=abc#top", {method: "POST", body: query});
  return rank(local.concat(await remote.json()), url${second ? ", store" : ""});
}
export function rank(items, url${second ? ", store" : ""}) {
  return items.filter((item) => item.score > ${second ? "0.5 && store" : "0.25"}).map((item) => ({...item, url}));
}
`,
  "src/main/updates.js": `import {autoUpdater} from "electron";
import {exec} from "node:child_process";
export function startUpdates() {
  autoUpdater.setFeedURL({url: "https://updates.notes.example/stable"});
  autoUpdater.on("update-downloaded", () => autoUpdater.quitAndInstall());
  if (process.platform === "linux") exec("xdg-mime default notes.desktop x-scheme-handler/notes");
}
`,
  "src/main/export.js": second ? `import {writeArchive} from "./archive.js";
export function registerExports(event, target) { writeArchive(target, "notes"); event.sender.send("notes:exported", target); }
` : `import {writePlain} from "./plain.js";
export function registerExports(event, target) { writePlain(target, "notes"); event.sender.send("notes:exported", target); }
`,
  [second ? "src/main/archive.js" : "src/main/plain.js"]: second ? `import zlib from "node:zlib";
import fs from "node:fs";
export function writeArchive(target, text) { fs.writeFileSync(target + ".gz", zlib.gzipSync(Buffer.from(text + " packed"))); }
` : `import fs from "node:fs";
export function writePlain(target, text) { fs.writeFileSync(target + ".txt", text + " in plain text", "utf8"); }
`,
  "src/preload/index.js": `import {contextBridge, ipcRenderer} from "electron";
const notes = {
  search: (query) => ipcRenderer.invoke("notes:search", query),
  save: (note) => ipcRenderer.invoke("notes:save", note),
  exportTo: (target) => ipcRenderer.send("notes:export", target),
  onLink: (listener) => ipcRenderer.on("link:opened", (event, target) => listener(target)),
};
notes.onExported = (listener) => ipcRenderer.on("notes:exported", listener);
contextBridge.exposeInMainWorld("notes", notes);
ipcRenderer.on("indexer:port", (event) => { const [port] = event.ports; port.onmessage = (e) => window.postMessage(e.data, "*"); });
`,
  "src/indexer/index.js": `import {Worker, isMainThread, parentPort} from "node:worker_threads";
process.parentPort.on("message", ({data, ports}) => {
  const crawler = new Worker(__dirname + "/crawler.js", {workerData: data});
  crawler.on("message", (found) => ports[0].postMessage(found));
});
`,
  "src/indexer/crawler.js": `import {parentPort, workerData} from "node:worker_threads";
parentPort.postMessage({type: workerData.type, count: 3});
`,
  "src/renderer/index.html": `<!doctype html><html><head><meta charset="utf-8"><title>Notes</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'self'"></head>
<body><div id="root"></div><script type="module" src="./main.jsx"></script></body></html>
`,
  "src/renderer/main.jsx": `import React from "react";
import {createRoot} from "react-dom/client";
import {HashRouter, Routes, Route} from "react-router-dom";
import {SearchPage} from "./search.jsx";
import {Settings} from "./settings.jsx";
if ("serviceWorker" in navigator) navigator.serviceWorker.register("./sw.js");
createRoot(document.getElementById("root")).render(
  <HashRouter><Routes><Route path="/search/:term" element={<SearchPage />} /><Route path="/settings" element={<Settings />} /></Routes></HashRouter>);
`,
  "src/renderer/search.jsx": `import React, {useState} from "react";
import Highlighter from "./highlight.worker.js?worker";
export function SearchPage() {
  const [items, setItems] = useState([]);
  async function onSubmit(term) {
    localStorage.setItem("last-search", term);
    const found = await window.notes.search(term);
    const worker = new Highlighter();
    worker.onmessage = (event) => setItems(event.data);
    worker.postMessage({term, found});
  }
  return <input onChange={(event) => onSubmit(event.target.value)} data-count={items.length} />;
}
`,
  "src/renderer/settings.jsx": `import React from "react";
import {flags} from "./flags.js";
export function Settings() {
  const save = (note) => window.notes.save({title: note, body: sessionStorage.getItem("draft")});
  const live = new WebSocket("wss://live.notes.example/feed?session=1");
  live.onmessage = (event) => save(JSON.parse(event.data).title);
  return flags.isEnabled("new-settings") ? <b>new</b> : <i>old</i>;
}
`,
  "src/renderer/flags.js": `export const flags = {isEnabled(name) { return new URLSearchParams(location.search).has(name); }};
`,
  "src/renderer/highlight.worker.js": `self.onmessage = (event) => {
  const {term, found} = event.data;
  self.postMessage(found.filter((note) => note.title.includes(term)));
};
`,
  "src/renderer/public/sw.js": `self.addEventListener("fetch", (event) => event.respondWith(caches.match(event.request)));
`,
};

async function build() {
  const modules = process.env.NODE_PATH;
  for (const [name, text] of Object.entries(sources)) {
    const file = path.join(project, name);
    fs.mkdirSync(path.dirname(file), {recursive: true});
    fs.writeFileSync(file, text);
  }
  const link = path.join(project, "node_modules");
  if (!fs.existsSync(link)) fs.symlinkSync(modules, link);
  process.chdir(project);
  const webpack = require("webpack"), asar = require("@electron/asar");
  const vite = await import(require("url").pathToFileURL(path.join(modules, "vite/dist/node/index.js")));
  const stats = await new Promise((resolve, reject) => webpack({
    mode: "production", target: "electron-main", context: project, node: {__dirname: false},
    entry: {main: "./src/main/index.js", preload: "./src/preload/index.js", indexer: "./src/indexer/index.js", crawler: "./src/indexer/crawler.js"},
    output: {path: path.join(project, "app/dist"), filename: "[name].js"},
    externals: {electron: "commonjs electron", bindings: "commonjs bindings"}, devtool: "source-map",
    optimization: {concatenateModules: false},
  }, (err, s) => err || s.hasErrors() ? reject(err || new Error(s.toString())) : resolve(s)));
  await vite.build({
    root: path.join(project, "src/renderer"), base: "./", configFile: false, logLevel: "error", esbuild: {jsx: "transform"},
    build: {outDir: path.join(project, "app/dist/renderer"), emptyOutDir: true, sourcemap: false}, worker: {format: "es"},
  });
  fs.writeFileSync("app/package.json", sources["package.json"]);
  for (const name of ["bindings", "file-uri-to-path"]) fs.cpSync(path.join(modules, name), path.join("app/node_modules", name), {recursive: true});
  fs.mkdirSync("app/build/Release", {recursive: true});
  fs.copyFileSync(addon, "app/build/Release/fastindex.node");
  await asar.createPackageWithOptions("app", path.join(out, "app.asar"), {unpack: "*.node"});
  const list = stats.toJson({all: false, modules: true, nestedModules: true, chunkModules: true}).modules;
  process.stdout.write(JSON.stringify({modules: list.filter((m) => m.moduleType !== "runtime").map((m) => m.name)}));
}
build().catch((err) => { console.error(err); process.exit(1); });
