package facts_test

import (
	"fmt"
	"testing"
)

// What is spread into options or given to an API later leaves them open.
func TestOpenObjects(t *testing.T) {
	const head = "const {BrowserWindow, contextBridge} = require('electron');"
	for src, want := range map[string]string{
		"new BrowserWindow({width: 1})":          "[browser-window BrowserWindow false [{width 1}]]",
		"new BrowserWindow({...opts, width: 1})": "[browser-window BrowserWindow true [{width 1}]]",
		"const o = {webPreferences: {preload: __dirname + '/p.js'}}; new BrowserWindow({...o, webPreferences: {...o.webPreferences, sandbox: true}})": "[preload ./p.js false [] browser-window BrowserWindow false [{webPreferences.sandbox true} {webPreferences.preload ./p.js}]]",
		"contextBridge.exposeInMainWorld('api', {a: 1})":                                           "[context-bridge-api api false [{members [a]} {members_complete true}]]",
		"const api = {a: 1}; contextBridge.exposeInMainWorld('api', api)":                          "[context-bridge-api api false [{members [a]} {members_complete true}]]",
		"const api = {a: 1}; api.b = 2; contextBridge.exposeInMainWorld('api', api)":               "[context-bridge-api api false [{members [a b]} {members_complete true}]]",
		"contextBridge.exposeInMainWorld('api', {['a' + 'b']: 1, [Symbol.iterator]: f})":           "[context-bridge-api api false [{members [ab]} {members_complete true}]]",
		"contextBridge.exposeInMainWorld('api', {a: 1, ['b' + c]: 1})":                             "[context-bridge-api api false [{members [a]} {members_complete false}]]",
		"const api = {a: {}}; api.a.b = 2; contextBridge.exposeInMainWorld('api', api)":            "[context-bridge-api api false [{members [a]} {members_complete false}]]",
		"const o = {width: 1}; o.height = 2; new BrowserWindow(o)":                                 "[browser-window BrowserWindow false [{width 1} {height 2}]]",
		"const o = {width: 1}; fill(o); new BrowserWindow(o)":                                      "[browser-window BrowserWindow true [{width 1}]]",
		"const o = {webPreferences: {}}; o.webPreferences.preload = p; new BrowserWindow(o)":       "[browser-window BrowserWindow true []]",
		"const api = {a: 1}; Object.assign(api, x()); contextBridge.exposeInMainWorld('api', api)": "[context-bridge-api api false [{members [a]} {members_complete false}]]",
		"const env = process.env; env.A; env[k]; const {B} = env":                                  "[environment-variable A false [] environment-variable  true [] environment-variable B false []]",
	} {
		var got []any
		for _, f := range extract(t, head+src).Facts {
			got = append(got, f.Kind, f.Name, f.Dynamic, f.Details)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s:\n got %v\nwant %s", src, got, want)
		}
	}
}
