package facts_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rea/providers/javascript/facts"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
	"rea/providers/javascript/symbol"
)

func extract(t *testing.T, src string) *facts.Found {
	t.Helper()
	f, err := parse.Parse(t.Context(), src, parse.Options{})
	if err != nil || f.Failed > 0 {
		t.Fatalf("%v %v", err, f.Errors)
	}
	table := scope.Resolve(f)
	return facts.Extract(&facts.Program{File: f, Scopes: table, Names: symbol.New(f, table), Parents: f.Parents()})
}

func TestFacts(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{"endpoints", "fetch('/api/a?token=1#x', {method: 'post'}); axios.get(`https://u:p@h.example.com/v1/${id}/x?q=${q}`); new WebSocket('wss://ws.example.com'); xhr.open('PUT', '/b'); fetch(url)",
			[]string{"endpoint /api/a?token= fetch", "endpoint https://h.example.com/v1/{}/x?q= axios.get", "endpoint https://h.example.com/v1/{}/x?q= literal", "endpoint wss://ws.example.com WebSocket", "endpoint wss://ws.example.com literal", "endpoint /b XMLHttpRequest.open", "endpoint ? fetch"}},
		{"namespaces_are_no_endpoints", "x = 'http://www.w3.org/2000/svg'; y = 'https://'; z = 'http://localhost:3000/a'", []string{"endpoint http://localhost:3000/a literal"}},
		{"storage", "localStorage.setItem(KEY, 1); const KEY = 'k'; sessionStorage.token = 2; document.cookie = 'sid=' + x; indexedDB.open('db'); window.localStorage.getItem(dynamic())",
			[]string{"storage k localStorage.setItem", "storage token sessionStorage", "storage sid document.cookie", "storage db indexedDB.open", "storage ? localStorage.getItem"}},
		{"environment", "process.env.A; const {B, C: c} = process.env; import.meta.env.VITE_D; process.env[name]",
			[]string{"environment-variable A process.env", "environment-variable B process.env", "environment-variable C process.env", "environment-variable VITE_D import.meta.env", "environment-variable ? process.env"}},
		{"routes", "app.get('/users/:id', handler); new Router({routes: [{path: '/home', component: Home}]}); x = <Route path=\"/about\" element={a}/>; map.get('/x')",
			[]string{"route /users/:id get", "route /home route object", "route /about <Route>"}},
		{"flags", "isFeatureEnabled('new-ui'); client.variation('beta', user, false)", []string{"feature-flag new-ui isFeatureEnabled", "feature-flag beta variation"}},
		{"aliases", "const e = require('electron'), {ipcMain: m} = e; m.handle('a', f); import {ipcRenderer as r} from 'electron'; r.send(`b`)", []string{"ipc a electron.ipcMain.handle", "ipc b electron.ipcRenderer.send"}},
		{"a_local_name_is_not_the_global", "function fetch(a) {} fetch('/x'); function f(localStorage) { localStorage.getItem('k') }", nil},
		{"processes", "const {fork} = require('node:child_process'); fork(path.join(__dirname, 'a.js')); new Worker(new URL('./w.js', import.meta.url)); require('child_process').exec('ls')",
			[]string{"child-process ./a.js child_process.fork", "worker ./w.js Worker", "child-process ls child_process.exec"}},
		{"workers", "new Worker('' + new URL('w.js', import.meta.url).href); new SharedWorker('/s.js'); ctx.audioWorklet.addModule('a.js'); new Worker('run()', {eval: true})",
			[]string{"worker ./w.js Worker", "worker /s.js SharedWorker", "worker a.js ctx.audioWorklet.addModule", "worker ? Worker"}},
		{"schemes_and_links", "const {app, protocol} = require('electron'); app.setAsDefaultProtocolClient('demo'); protocol.handle('asset', f); protocol.registerSchemesAsPrivileged([{scheme: 'a'}, {scheme: 'b'}]); app.on('open-url', g)",
			[]string{"endpoint demo: electron.app.setAsDefaultProtocolClient", "endpoint asset: electron.protocol.handle", "endpoint a: electron.protocol.registerSchemesAsPrivileged", "endpoint b: electron.protocol.registerSchemesAsPrivileged", "route open-url electron.app.on"}},
		{"updates", "const {autoUpdater: u} = require('electron-updater'); u.setFeedURL({url: 'https://u:p@up.example/x?k=1'}); u.setFeedURL({provider: 'github', owner: 'o', repo: 'r'}); u.setFeedURL(feed())",
			[]string{"endpoint https://up.example/x?k= electron-updater.autoUpdater.setFeedURL", "endpoint https://up.example/x?k= literal", "endpoint github/o/r electron-updater.autoUpdater.setFeedURL", "endpoint ? electron-updater.autoUpdater.setFeedURL"}},
		{"secrets", "const {safeStorage} = require('electron'), keytar = require('keytar'); safeStorage.encryptString(a); keytar.setPassword('svc', 'me', p)",
			[]string{"storage safeStorage electron.safeStorage.encryptString", "storage svc keytar.setPassword"}},
		{"add_ons", "require('node-gyp-build')(__dirname); require('bindings')('fast'); process.dlopen(module, path.join(__dirname, 'a.node')); const pre = require('@mapbox/node-pre-gyp'); pre.find(path.join(__dirname, '../package.json'))",
			[]string{"native-binding . node-gyp-build", "native-binding fast bindings", "native-addon ./a.node process.dlopen", "native-binding ../package.json @mapbox/node-pre-gyp.find"}},
		{"clients", "const axios = require('axios'); axios.create({baseURL: 'https://api.example'}); $.ajax({url: '/x', method: 'POST'}); require('electron').shell.openExternal('https://help.example/a')",
			[]string{"endpoint https://api.example axios.create", "endpoint https://api.example literal", "endpoint /x $.ajax", "endpoint https://help.example/a electron.shell.openExternal", "endpoint https://help.example/a literal"}},
		{"server_routes", "fastify.route({method: 'GET', url: '/a', handler: h}); use({url: '/b', handler: h})", []string{"route /a route object"}},
		{"programs", "require('execa').execa('git', ['log']); require('cross-spawn')('npm'); require('node-pty').spawn('bash')",
			[]string{"child-process git execa.execa", "child-process npm cross-spawn", "child-process bash node-pty.spawn"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var have []string
			for _, f := range extract(t, tt.src).Facts {
				name := f.Name
				if f.Dynamic {
					name = "?"
				}
				have = append(have, fmt.Sprintf("%s %s %s", f.Kind, name, f.Via))
			}
			if diff := cmp.Diff(tt.want, have); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestImportsAndExports(t *testing.T) {
	found := extract(t, `
import a, {b as c} from "m1"; import * as d from "m2"; import "m3";
export {c as e}; export {f as default} from "m4"; export * from "m5"; export * as g from "m6";
export const h = 1, {i, j: [k]} = x; export default class {} export function l() {}
const {n} = require("m7"); try { require("m8") } catch {} import("m9"); import(x); require.resolve("m10");
`)
	var have []string
	for _, i := range found.Imports {
		name := i.Specifier
		if i.Unknown {
			name = "?"
		}
		line := fmt.Sprintf("%s %s %s", i.Kind, name, strings.Join(i.Names, ","))
		if i.Optional {
			line += " optional"
		}
		have = append(have, strings.TrimSpace(line))
	}
	want := []string{"import m1 default,b", "import m2 *", "import m3", "re-export m4 f", "re-export m5 *", "re-export m6 *", "require m7 n", "require m8  optional", "dynamic-import m9", "dynamic-import ?", "resolve m10"}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("imports (-want +got):\n%s", diff)
	}
	var names []string
	for _, e := range found.Exports {
		names = append(names, e.Name)
	}
	if diff := cmp.Diff([]string{"e", "default", "*", "g", "h", "i", "k", "default", "l"}, names); diff != "" {
		t.Errorf("exports (-want +got):\n%s", diff)
	}
	names = nil
	for _, e := range extract(t, `exports.a = 1; module.exports.b = 2; Object.defineProperty(exports, "c", {get: () => d}); exports.x = void 0; function f(exports) { }`).Exports {
		names = append(names, e.Name)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, names); diff != "" {
		t.Errorf("CommonJS exports (-want +got):\n%s", diff)
	}
}
