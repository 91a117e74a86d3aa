package application_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rea/generated/model"
)

// What the main process sends by ipcRenderer reaches nobody, and handlers that are taken
// off say so.
func TestHandlersThatMayNotAnswer(t *testing.T) {
	a := analyze(t, write(t, map[string]string{
		"package.json": `{"name": "removed", "main": "main.js"}`,
		"main.js": `const {ipcMain, ipcRenderer, BrowserWindow} = require('electron'); new BrowserWindow({webPreferences: {preload: __dirname + '/preload.js'}});
ipcMain.handle('own', f); ipcRenderer.invoke('own'); ipcMain.handle('both', f); ipcRenderer.invoke('both');
ipcMain.handle('gone', f); ipcMain.on('gone', f); ipcMain.removeHandler('gone');
ipcMain.on('heard', f); ipcMain.off('heard', f);`,
		"preload.js": `const {ipcRenderer} = require('electron'); ipcRenderer.invoke('both'); ipcRenderer.invoke('gone'); ipcRenderer.send('heard')`,
	}))
	var got []string
	for i := range a.Graph.Edges {
		e := &a.Graph.Edges[i]
		from, to := &a.Graph.Nodes[e.From], &a.Graph.Nodes[e.To]
		if to.Kind == model.ApplicationNodeKindIpcChannel {
			got = append(got, strings.Join([]string{label(from), string(e.Relation), label(to), string(e.Properties["pairing"]), string(from.Properties["removed_at"])}, " "))
		}
	}
	for _, want := range []string{
		`main.js invokes own "unpaired" `, `own handles own "unpaired" `, `main.js invokes both "unpaired" `, `preload.js invokes both "paired" `,
		`gone handles gone "paired" ["main.js:3"]`, `gone handles gone "unpaired" `, `heard handles heard "paired" ["main.js:4"]`,
	} {
		found := false
		for _, row := range got {
			found = found || row == want
		}
		if !found {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// Links that leave an application by their names and lead into it again are followed.
func TestLinksThatComeBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "loop")
	if err := os.CopyFS(dir, os.DirFS(write(t, map[string]string{"a.js": "require('./self/x'); require('./whole/x'); require('./away/x')", "x.js": "1"}))); err != nil {
		t.Fatal(err)
	}
	for name, link := range map[string]string{"self": "../loop", "whole": dir, "away": "../elsewhere"} {
		if err := os.Symlink(link, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	got := edges(analyze(t, dir), model.ApplicationRelationImports)
	if len(got) != 2 || got[0] != "a.js imports ./away/x" || got[1] != "a.js imports x.js" {
		t.Errorf("imports are %q", got)
	}
}
