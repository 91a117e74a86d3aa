package application_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rea/generated/model"
)

// Functions that hand on what they are given to those that ask, over several levels and
// modules, in objects, classes and clients that are exported.
var handing = map[string]string{
	"package.json": `{"name": "handing", "main": "main.js", "type": "module"}`,
	"http.js": `import axios from 'axios';
export const http = axios.create({baseURL: 'https://api.example/v1'});
export default axios.create({baseURL: '/plain'});`,
	"client.js": `import {http} from './http.js';
const BASE = 'https://shop.example/v2';
export function request(path, options) { return fetch(BASE + path, options); }
export const get = (p) => request(p);
export const post = (p, body) => request(` + "`/post${p}`" + `, {method: 'POST', body});
export class Client {
	constructor(base) { this.base = base; this.http = http; }
	get(path) { return fetch(` + "`${this.base}${path}`" + `); }
	list() { return this.get('/list'); }
	inner() { return this.http.get('/inner'); }
	static ping(p) { return fetch('/ping' + p); }
}
export const client = new Client('https://instance.example');
export const users = () => http.get('/users');
export const raw = (url, data) => http.post(url, data);
export const resolved = (p) => fetch(new URL(p, 'https://url.example/root/'));
export const optional = ({path, method}) => fetch('https://object.example' + path, {method});
export const whole = (o) => fetch('https://whole.example' + o.url);
export function xhr(url) { const x = new XMLHttpRequest(); x.open('GET', url); }`,
	"index.js": `export * from './client.js'; export {default as plain} from './http.js';`,
	"main.js": `import {request, get, post, Client, client, raw, resolved, optional, whole, xhr, plain} from './index.js'; import * as all from './index.js';
request('/cart'); get('/one'); post('/two'); get(` + "`/users/${id}/orders`" + `); raw('/raw'); resolved('rel'); resolved('/abs'); optional({path: '/o'}); whole({url: '/w'}); xhr('/xhr?k=SECRET');
client.get('/c'); new Client(location.origin).get('/new'); Client.ping('/p'); plain.get('/g'); all.get('/ns'); get('https://other.example/a');
class Service { constructor() { this.api = client; } load() { return this.api.get('/field'); } }
function local(p) { return fetch('/local' + p); } local('/a'); const outer = (p) => local('/b' + p); outer('/c');
const api = {get(p) { return fetch('/api' + p); }}; api.get('/m'); get(unknown); local(unknown);`,
}

func TestFunctionsHandOnAddresses(t *testing.T) {
	a := analyze(t, write(t, handing))
	var got []string
	for _, row := range named(a, model.ApplicationNodeKindEndpoint) {
		if strings.HasPrefix(row, "- ") {
			continue
		}
		got = append(got, strings.TrimSuffix(row, " inferred"))
	}
	want := []string{
		"/api/m", "/api{}", "/local/a", "/local/b/c", "/local/b{}", "/local{}", "/ping/p", "/ping{}", "/plain", "/plain/g", "/xhr?k=",
		"https://api.example/v1", "https://api.example/v1/inner", "https://api.example/v1/raw", "https://api.example/v1/users",
		"https://instance.example", "https://instance.example/c", "https://instance.example/field",
		"https://object.example", "https://object.example/o", "https://object.example{}", "https://other.example/a",
		"https://shop.example/v2", "https://shop.example/v2/cart", "https://shop.example/v2/ns", "https://shop.example/v2/one", "https://shop.example/v2/post/two",
		"https://shop.example/v2/post{}", "https://shop.example/v2/users/{}/orders", "https://shop.example/v2https://other.example/a", "https://shop.example/v2{}",
		"https://url.example/abs", "https://url.example/root/", "https://url.example/root/rel", "https://url.example/root/{}",
		"https://whole.example", "https://whole.example/w", "https://whole.example{}", "{}/list", "{}/new",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("endpoints (-want +got):\n%s", diff)
	}
}

// Channels go through functions of several modules, too.
func TestFunctionsHandOnChannels(t *testing.T) {
	a := analyze(t, write(t, map[string]string{
		"package.json": `{"name": "channels", "main": "main.js"}`,
		"main.js":      `const {ipcMain} = require('electron'); const on = (c, f) => ipcMain.handle('app:' + c, f); exports.on = (c, f) => on(c, f); require('./more');`,
		"more.js":      `const {on} = require('./main'); on('save', () => 1); require('./names').forEach((n) => on(n, () => 2)); on(require('./names').load, () => 3);`,
		"names.js":     `exports.load = 'load';`,
		"preload.js":   `const {ipcRenderer, contextBridge} = require('electron'); const ask = (c, ...a) => ipcRenderer.invoke('app:' + c, ...a); contextBridge.exposeInMainWorld('api', {save: () => ask('save'), load: () => ask('load')});`,
	}))
	want := []string{"- unknown", "- unknown", "app:load inferred", "app:save inferred"}
	if diff := cmp.Diff(want, named(a, model.ApplicationNodeKindIpcChannel)); diff != "" {
		t.Errorf("channels (-want +got):\n%s", diff)
	}
}
