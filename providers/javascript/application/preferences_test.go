package application_test

import (
	"slices"
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
