package versions

import (
	"slices"
	"strings"
	"testing"

	"rea/generated/model"
	"rea/providers/javascript/application"
	"rea/providers/javascript/recorded"
	"rea/providers/javascript/tree"
)

// What a side doesn't show since it was not read, or is only known when the program
// runs, is not gone from it.
func TestOnlyOneSideShows(t *testing.T) {
	const manifest = `{"name":"z","version":"1","main":"m.js"}`
	const code = "const {ipcMain, ipcRenderer, BrowserWindow} = require('electron'); require('./x'); ipcMain.handle('a', f); ipcRenderer.invoke('a'); localStorage.setItem('k', 1); fetch('https://h.example/a');\nexports.f = exports.g = () => 1;"
	wide := "\xff\xfe"
	for i := range len(code) {
		wide += code[i:i+1] + "\x00"
	}
	window := func(options string) string {
		return "const {BrowserWindow} = require('electron'), o = JSON.parse(x); new BrowserWindow(" + options + ")"
	}
	for name, tt := range map[string]struct {
		left, right string
		max         int // files of the right side that are read, 0 for all
		certain     []string
	}{
		"utf_16":       {left: code, right: wide},
		"syntax_error": {left: code, right: "require('./x'); exports.f = () => 1; fetch('/new'); \nlet let = ]; " + code, certain: []string{"calls"}},
		"cut":          {left: code, right: code, max: 2},
		"spread":       {left: window("{frame: true, webPreferences: {sandbox: true, nodeIntegration: false}}"), right: window("{webPreferences: {nodeIntegration: true, ...o}, ...o}"), certain: []string{"options.webPreferences.nodeIntegration"}},
	} {
		t.Run(name, func(t *testing.T) {
			left := analyzed(t, folder(t, map[string]string{"package.json": manifest, "m.js": tt.left, "x.js": "1"}))
			dir := folder(t, map[string]string{"package.json": manifest, "m.js": tt.right, "x.js": "1"})
			right := analyzed(t, dir)
			if tt.max > 0 {
				right = bounded(t, dir, tt.max)
			}
			for n, sides := range [][2]*recorded.Application{{left, right}, {right, left}} {
				c, err := Compare(t.Context(), sides[0], sides[1])
				if err != nil {
					t.Fatal(err)
				}
				for i := range c.Items {
					it := &c.Items[i]
					if gone := (Status)([]string{"removed", "added"}[n]); it.Status == gone || tt.max > 0 && (it.Status == Added || it.Status == Removed) {
						t.Errorf("row %d and %d are called %s", it.Left, it.Right, it.Status)
					}
					for _, ch := range it.Changes {
						if lost := [2][]byte{ch.Right, ch.Left}[n]; lost == nil && !slices.Contains(tt.certain, ch.Name) || strings.HasPrefix(ch.Name, "pairing") {
							t.Errorf("%s is %s → %s", ch.Name, ch.Left, ch.Right)
						}
					}
				}
			}
			for _, want := range tt.certain {
				c, err := Compare(t.Context(), left, right)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.ContainsFunc(c.Items, func(it Item) bool {
					return slices.ContainsFunc(it.Changes, func(ch Change) bool { return ch.Name == want })
				}) {
					t.Errorf("%s is not changed", want)
				}
			}
		})
	}
}

func bounded(t *testing.T, path string, files int) *recorded.Application {
	t.Helper()
	read, err := tree.Read(t.Context(), path, tree.Options{MaxFiles: files, MaxFileBytes: 1 << 30, MaxTextBytes: 1 << 30, MaxTotalBytes: 1 << 32, MaxDepth: 4, Continue: true})
	if err != nil {
		t.Fatal(err)
	}
	a, err := application.Analyze(t.Context(), read)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Graph.Nodes {
		n := &a.Graph.Nodes[i]
		if n.Kind == model.ApplicationNodeKindExternalModule {
			if p := a.Provenance[n.Provenance]; p.Reason != nil && *p.Reason == "no such file" {
				t.Errorf("%s: %s, but not all files were read", *n.Label, *p.Reason)
			}
		}
	}
	return record(t, a)
}
