package application_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rea/generated/model"
	"rea/providers/javascript/jstest"
)

// Channels that are named in other modules, in the ways of CommonJS, of modules
// and of compilers.
var constants = map[string]string{
	"package.json": `{"name":"t1","main":"main.js"}`,
	"channels.js": `exports.SAVE='file:save'; exports.nested={OPEN:'file:open', deep:{X:'deep:x'}}; exports.PREFIX='app';
exports.TICK=` + "`" + `${exports.PREFIX}:tick` + "`" + `;
exports.frozen=Object.freeze({A:'frozen:a'});
var api={}; api.LATER='later:a'; exports.api=api;
let changing='a'; if(Math.random()) changing='b'; exports.changing=changing;`,
	"esm.mjs": `export const ESM='esm:one'; export default {D:'esm:d'}; export const obj={K:'esm:k'}; export * from './more.mjs'; export {Z as Y} from './more.mjs'; export * as ns from './more.mjs';`,
	"more.mjs": `export const M='more:m'; export const Z='more:z';
export class St { static S='st:s' }`,
	"enum.js": `"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Old = exports.Ch = exports.SELF = void 0;
exports.SELF='self:x';
var Ch;
(function (Ch) { Ch["Load"] = "enum:load"; Ch["Num"]=1; })(Ch || (exports.Ch = Ch = {}));
var Old;
(function (Old) { Old["Load"] = "old:load"; Old[Old["N"]=0]="N"})(Old = exports.Old || (exports.Old = {}));
var E2=(e=>(e.Min="min:x",e))(E2||{}); exports.E2=E2;`,
	"index.js": `"use strict";
var __exportStar=function(m,e){for(var p in m)e[p]=m[p]};
Object.defineProperty(exports, "__esModule", { value: true });
__exportStar(require("./enum"), exports);
exports.CH = require('./channels');
var channels_1=require('./channels');
Object.defineProperty(exports,'REX',{enumerable:true,get:function(){return channels_1.SAVE}});
exports.default={DEF:channels_1.nested.OPEN};`,
	"main.js": `const {app,ipcMain,BrowserWindow}=require('electron');
const {SAVE, nested:{OPEN}}=require('./channels'); const C=require('./channels');
const idx=require('./index'); const d=require('./index').default;
ipcMain.handle(SAVE, f1); ipcMain.handle(OPEN,f2); ipcMain.on(C.nested.deep.X,f3); ipcMain.on(C.TICK,f3);
ipcMain.handle(idx.Ch.Load,f); ipcMain.handle(idx.Old.Load,f); ipcMain.handle(idx.CH.frozen.A,f); ipcMain.on(idx.SELF,f);ipcMain.handle(idx.E2.Min,f);
ipcMain.on(C.api.LATER,f); ipcMain.on(C.changing,f); ipcMain.on(` + "`" + `${C.PREFIX}:two` + "`" + `,f); ipcMain.on("".concat(C.PREFIX,":three"),f); ipcMain.on(d.DEF+'x',f);ipcMain.on(idx.REX+'y',f);
process.env[C.PREFIX]; localStorage.getItem(C.SAVE); fetch(C.PREFIX+'/x?'+q);`,
	"preload.mjs": `import {ipcRenderer, contextBridge} from 'electron'; import {ESM,M,Y,ns,obj} from './esm.mjs'; import D,* as All from './esm.mjs'; import C from './channels.js'; import {SAVE} from './channels.js'; import {St} from './more.mjs';
ipcRenderer.invoke(ESM);ipcRenderer.invoke(M);ipcRenderer.invoke(Y);ipcRenderer.invoke(ns.Z+'2');ipcRenderer.invoke(obj.K);ipcRenderer.invoke(D.D);ipcRenderer.invoke(All.default.D+'2');
ipcRenderer.invoke(C.SAVE); ipcRenderer.invoke(SAVE);ipcRenderer.send(St.S);
contextBridge.exposeInMainWorld(C.PREFIX,{a:()=>ipcRenderer.invoke(SAVE)});`,
}

// What the programs above send on and listen to. The channel that changes is not
// known.
var constantChannels = strings.Fields("- app:three app:tick app:two deep:x enum:load esm:d esm:d2 esm:k esm:one file:open file:openx file:save " +
	"file:savey frozen:a later:a min:x more:m more:z more:z2 old:load self:x st:s")

func channelNames(a *model.ApplicationAnalysis) (names []string) {
	for i := range a.Graph.Nodes {
		if n := &a.Graph.Nodes[i]; n.Kind == model.ApplicationNodeKindIpcChannel {
			names = append(names, label(n))
		}
	}
	slices.Sort(names)
	return names
}

func TestConstantsOfOtherModulesAreNames(t *testing.T) {
	dir := write(t, constants)
	a := analyze(t, dir)
	if diff := cmp.Diff(constantChannels, channelNames(a)); diff != "" {
		t.Errorf("channels (-want +got):\n%s", diff)
	}
	for i := range a.Graph.Nodes {
		n := &a.Graph.Nodes[i]
		if n.Kind == model.ApplicationNodeKindIpcChannel && n.Label != nil {
			if p := &a.Provenance[n.Provenance]; p.State != model.ApplicationProvenanceStateInferred || p.Reason == nil {
				t.Errorf("%s is %s", *n.Label, p.State)
			}
		}
	}
	others := rows(a, "storage", "environment-variable", "endpoint", "context-bridge-api")
	want := []string{`environment-variable app `, `storage file:save area="local"`, `endpoint app/x? `, `context-bridge-api app members=["a"] channels=["file:save"]`}
	if diff := cmp.Diff(want, others); diff != "" {
		t.Errorf("other names (-want +got):\n%s", diff)
	}
	pairs := edges(a, model.ApplicationRelationCalls)
	if want := []string{"main.js calls app/x?", "preload.mjs calls file:save"}; !slices.Equal(pairs, want) {
		t.Errorf("calls = %q", pairs)
	}
}

// bundleScript bundles main.js and preload.mjs of the folder in argv[2] in several
// ways, each into a folder of its own in argv[3].
const bundleScript = `
const path = require('path'), [, , from, to] = process.argv;
const esbuild = require('esbuild'), webpack = require('webpack');
const entries = {main: path.join(from, 'main.js'), preload: path.join(from, 'preload.mjs')};
for (const minify of [false, true]) {
	esbuild.buildSync({entryPoints: entries, bundle: true, minify, platform: 'node', external: ['electron'], outdir: path.join(to, minify ? 'esbuild-minified' : 'esbuild'), logLevel: 'error'});
}
const pack = (name, mode, devtool, concatenateModules) => new Promise((done, failed) => webpack({
	context: from, mode, devtool, target: 'electron-main', entry: entries, output: {path: path.join(to, name), filename: '[name].js'}, optimization: {concatenateModules},
}, (error, stats) => error || stats.hasErrors() ? failed(error || new Error(stats.toString())) : done()));
pack('webpack-eval', 'development', 'eval', false).then(() => pack('webpack', 'production', false, true)).then(() => pack('webpack-apart', 'production', false, false));
`

func TestConstantsOfOtherModulesInBundles(t *testing.T) {
	tools := jstest.ElectronTools(t)
	to := t.TempDir()
	jstest.Node(t, tools, bundleScript, nil, write(t, constants), to)
	for _, name := range []string{"esbuild", "esbuild-minified", "webpack-eval", "webpack", "webpack-apart"} {
		if _, err := os.Stat(filepath.Join(to, name, "main.js")); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(constantChannels, channelNames(analyze(t, filepath.Join(to, name)))); diff != "" {
			t.Errorf("channels of %s (-want +got):\n%s", name, diff)
		}
	}
}
