package application_test

import (
	"slices"
	"strings"
	"testing"

	"rea/generated/model"
)

// Options of windows that another module makes name preload scripts, and ipcRenderer is
// itself where an object holds it.
func TestWhatObjectsHold(t *testing.T) {
	a := analyze(t, write(t, map[string]string{
		"package.json": `{"name": "held", "main": "main.js"}`,
		"main.js":      `const {BrowserWindow, ipcMain} = require('electron'); const {options} = require('./options'); new BrowserWindow({...options()}); ipcMain.handle('held', f);`,
		"options.js":   `const path = require('path'); exports.options = () => { const prefs = {preload: path.join(__dirname, 'pre.js')}; return {show: false, webPreferences: prefs}; };`,
		"pre.js":       `const {ipcRenderer} = require('electron'); const electron = {ipc: ipcRenderer, deep: {ipc: ipcRenderer}}; electron.ipc.invoke('held'); electron.deep.ipc.send('deep');`,
	}))
	if got := edges(a, model.ApplicationRelationInvokes, model.ApplicationRelationSends); !slices.Equal(got, []string{"pre.js invokes held", "pre.js sends deep"}) {
		t.Errorf("messages are %q", got)
	}
	if got := processesOf(a)["pre.js"]; got != `["preload"]` {
		t.Errorf("pre.js runs in %s", got)
	}
}

// What stands behind an object that is only known when the program runs is certain, and
// what stands before it is not.
func TestOptionsThatMayBeOverridden(t *testing.T) {
	a := analyze(t, write(t, map[string]string{"main.js": `const {BrowserWindow} = require('electron');
		new BrowserWindow({width: 1, webPreferences: {nodeIntegration: true, ...o, sandbox: true}});
		new BrowserWindow({...p, show: false, webPreferences: {sandbox: true}});
		new BrowserWindow({show: false, ...{frame: true, ...q, title: 'a'}, height: 2});
		new BrowserWindow(Object.assign({frame: false, show: true}, {show: false, webPreferences: {sandbox: false}}));
		new BrowserWindow(Object.assign({frame: false}, r, {show: false}));`}))
	want := []string{
		`["webPreferences.nodeIntegration"] {"webPreferences.nodeIntegration":true,"webPreferences.sandbox":true,"width":1}`,
		` {"show":false,"webPreferences.sandbox":true}`,
		`["show","frame"] {"frame":true,"height":2,"show":false,"title":"a"}`,
		` {"frame":false,"show":false,"webPreferences.sandbox":false}`,
		`["frame"] {"frame":false,"show":false}`,
	}
	var got []string
	for i := range a.Graph.Nodes {
		if n := &a.Graph.Nodes[i]; n.Kind == model.ApplicationNodeKindBrowserWindow {
			got = append(got, string(n.Properties["options_overridable"])+" "+string(n.Properties["options"]))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
