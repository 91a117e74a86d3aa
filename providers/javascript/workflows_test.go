package javascript_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	evidencestore "rea/runtime/evidence"

	"rea/providers/javascript"
	"rea/providers/javascript/graph"
	"rea/runtime/dispatch"
	"rea/runtime/session"
)

// tools is a dispatcher of the family over an empty session.
func tools(t testing.TB) *dispatch.Dispatcher {
	t.Helper()
	return dispatch.New(dispatch.Config{
		Session:  session.New(session.Config{Ledger: evidencestore.NewLedger(t.TempDir(), 0)}),
		Bindings: tool.Bindings(tool.Families{Javascript: javascript.New()}), Version: "1.2.3",
	})
}

// folder writes files and gives the folder they are in.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var old = map[string]string{
	"package.json": `{"name":"demo","version":"1.0.0","main":"main.js"}`,
	"main.js": `const {app, BrowserWindow, ipcMain} = require("electron");
const search = require("./search"), fast = require("./build/fast.node");
new BrowserWindow({webPreferences: {preload: __dirname + "/preload.js", sandbox: true}});
ipcMain.handle("search", (e, q) => search.query(q));`,
	"preload.js": `const {contextBridge, ipcRenderer} = require("electron");
contextBridge.exposeInMainWorld("api", {find: (q) => ipcRenderer.invoke("search", q)});`,
	"search.js":       `exports.query = (q) => { localStorage.setItem("last", q); return fetch("https://api.example.com/v1"); };`,
	"helper.js":       `module.exports = function helper(a) { return a.first + a.second + a.third; };`,
	"build/fast.node": "\x7fELF native",
	"__proto__.js":    `exports.constructor = {__proto__: null, constructor: 1, hasOwnProperty: "a"}; fetch("https://api.example.com/__proto__");`,
}

// changed are the files of old with some of them replaced.
func changed(replaced map[string]string) map[string]string {
	out := map[string]string{}
	for name, text := range old {
		out[name] = text
	}
	for name, text := range replaced {
		if text == "" {
			delete(out, name)
		} else {
			out[name] = text
		}
	}
	return out
}

// call runs a tool and gives its result.
func call(t testing.TB, d *dispatch.Dispatcher, name string, input any) (id string, record []byte, result map[string]any) {
	t.Helper()
	args, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.Call(t.Context(), name, args)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var doc struct {
		EvidenceID string         `json:"evidence_id"`
		Result     map[string]any `json:"normalized_result"`
	}
	if err := json.Unmarshal(out.Document, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.EvidenceID, out.Document, doc.Result
}

type object = map[string]any

func retained(id string) object { return object{"kind": "retained-evidence", "evidence_id": id} }

func TestBothInputFormsGiveOneResult(t *testing.T) {
	d := tools(t)
	left, leftRecord, _ := call(t, d, "analyze_javascript_application", object{"path": folder(t, old)})
	right, rightRecord, _ := call(t, d, "analyze_javascript_application", object{"path": folder(t, changed(map[string]string{"search.js": `exports.query = (q, o) => fetch("https://api.example.com/v2");`}))})
	source, sourceRecord, _ := call(t, d, "import_reference_source", object{"path": folder(t, old)})
	for _, tt := range []struct {
		tool             string
		retained, inline object
	}{
		{
			"trace_application_feature",
			object{"application": retained(left), "seed": object{"kind": "channel", "value": "search"}},
			object{"application": json.RawMessage(leftRecord), "seed": object{"kind": "channel", "value": "search"}},
		},
		{
			"compare_application_versions",
			object{"left": retained(left), "right": retained(right)},
			object{"left": json.RawMessage(leftRecord), "right": json.RawMessage(rightRecord)},
		},
		{
			"compare_javascript_export_shapes",
			object{"left": retained(left), "right": retained(right)},
			object{"left": json.RawMessage(leftRecord), "right": json.RawMessage(rightRecord)},
		},
		{
			"compare_source_to_bundle",
			object{"application": retained(left), "reference": retained(source)},
			object{"application": json.RawMessage(leftRecord), "reference": json.RawMessage(sourceRecord)},
		},
	} {
		_, _, a := call(t, d, tt.tool, tt.retained)
		_, _, b := call(t, tools(t), tt.tool, tt.inline)
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if !bytes.Equal(x, y) {
			t.Errorf("%s: results differ\n%.500s\n%.500s", tt.tool, x, y)
		}
	}
}

// reseal changes a record and seals it again, as anyone can.
func reseal(t *testing.T, record []byte, change func(r *model.EvidenceRecord, a *model.ApplicationAnalysis)) json.RawMessage {
	t.Helper()
	verified, err := evidencestore.Verify(record)
	if err != nil {
		t.Fatal(err)
	}
	r, err := verified.Decode()
	if err != nil {
		t.Fatal(err)
	}
	a := &model.ApplicationAnalysis{}
	if err := decode(r.NormalizedResult, a); err != nil {
		t.Fatal(err)
	}
	change(r, a)
	r.NormalizedResult = a.AppendJSON(nil)
	sealed, err := evidencestore.Seal(r.AppendJSON(nil))
	if err != nil {
		t.Fatal(err)
	}
	m, err := sealed.Decode()
	if err != nil {
		t.Fatal(err)
	}
	return m.AppendJSON(nil)
}

func TestUnsoundEvidenceIsRefused(t *testing.T) {
	d := tools(t)
	_, record, _ := call(t, d, "analyze_javascript_application", object{"path": folder(t, old)})
	renumber := func(a *model.ApplicationAnalysis) {
		a.Graph.GraphID = graph.Digest(a.Files, &a.Locations, a.Provenance, &a.Graph)
	}
	for name, change := range map[string]func(r *model.EvidenceRecord, a *model.ApplicationAnalysis){
		"another authority": func(r *model.EvidenceRecord, _ *model.ApplicationAnalysis) {
			r.Authority = model.EvidenceAuthorityHistoricalReference
		},
		"another statement": func(r *model.EvidenceRecord, _ *model.ApplicationAnalysis) { r.PredicateType = "rea:other:1" },
		"another subject": func(r *model.EvidenceRecord, _ *model.ApplicationAnalysis) {
			r.Subject.Digest.SHA256 = strings.Repeat("0", 64)
		},
		"no subject":   func(r *model.EvidenceRecord, _ *model.ApplicationAnalysis) { r.Subject = nil },
		"another file": func(_ *model.EvidenceRecord, a *model.ApplicationAnalysis) { a.Files[0].Size++ },
		"an edge to nowhere": func(_ *model.EvidenceRecord, a *model.ApplicationAnalysis) {
			a.Graph.Edges[0].To = 1 << 40
			renumber(a)
		},
		"an edge before the first": func(_ *model.EvidenceRecord, a *model.ApplicationAnalysis) {
			a.Graph.Edges[0].Provenance = int64(len(a.Provenance))
			renumber(a)
		},
		"a location without a file": func(_ *model.EvidenceRecord, a *model.ApplicationAnalysis) {
			a.Locations.File[0] = 1 << 40
			renumber(a)
		},
		"columns of two lengths": func(_ *model.EvidenceRecord, a *model.ApplicationAnalysis) {
			a.Locations.Line = a.Locations.Line[1:]
			renumber(a)
		},
		"a node of another identity": func(_ *model.EvidenceRecord, a *model.ApplicationAnalysis) {
			a.Graph.Nodes[1].Kind = model.ApplicationNodeKindEndpoint
			renumber(a)
		},
		"a node twice": func(_ *model.EvidenceRecord, a *model.ApplicationAnalysis) {
			a.Graph.Nodes = append(a.Graph.Nodes, a.Graph.Nodes[1])
			renumber(a)
		},
	} {
		inline := reseal(t, record, change)
		for _, input := range []struct {
			tool string
			args object
		}{
			{"trace_application_feature", object{"application": inline, "seed": object{"kind": "string", "value": "a"}}},
			{"compare_application_versions", object{"left": json.RawMessage(record), "right": inline}},
			{"compare_javascript_export_shapes", object{"left": inline, "right": json.RawMessage(record)}},
		} {
			args, _ := json.Marshal(input.args)
			if _, err := d.Call(t.Context(), input.tool, args); fault.CodeOf(err) != fault.EvidenceIntegrityMismatchCode {
				t.Errorf("%s, %s: error %v", name, input.tool, err)
			}
		}
	}
}

func TestForeignEvidenceIsRefused(t *testing.T) {
	d := tools(t)
	app, _, _ := call(t, d, "analyze_javascript_application", object{"path": folder(t, old)})
	source, sourceRecord, _ := call(t, d, "import_reference_source", object{"path": folder(t, old)})
	missing := "ev_" + strings.Repeat("0", 64)
	for _, tt := range []struct {
		tool string
		args object
		code fault.Code
	}{
		{"trace_application_feature", object{"application": retained(source), "seed": object{"kind": "string", "value": "a"}}, fault.EvidenceNotApplicableCode},
		{"compare_application_versions", object{"left": retained(app), "right": retained(source)}, fault.EvidenceNotApplicableCode},
		{"compare_source_to_bundle", object{"application": retained(app), "reference": retained(app)}, fault.EvidenceNotApplicableCode},
		{"compare_application_versions", object{"left": retained(app), "right": retained(missing)}, fault.EvidenceNotFoundCode},
		{
			"trace_application_feature",
			object{"application": retained(app), "seed": object{"kind": "string", "value": "a"}, "native_observations": []any{json.RawMessage(sourceRecord)}},
			fault.EvidenceNotApplicableCode,
		},
		{"trace_application_feature", object{"application": retained(app), "seed": object{"kind": "string", "value": "(", "match": "regex"}}, fault.InvalidPatternCode},
		{"compare_javascript_export_shapes", object{"left": retained(app), "right": retained(app), "left_module_path": "nowhere.js"}, fault.NameNotFoundCode},
	} {
		args, _ := json.Marshal(tt.args)
		if _, err := d.Call(t.Context(), tt.tool, args); fault.CodeOf(err) != tt.code {
			t.Errorf("%s %v: error %v, want %s", tt.tool, tt.args, err, tt.code)
		}
	}
}

func TestVersions_of_an_application(t *testing.T) {
	d := tools(t)
	left, _, _ := call(t, d, "analyze_javascript_application", object{"path": folder(t, old)})
	for _, tt := range []struct {
		name    string
		replace map[string]string
		want    []string // "status kind label" of what is not unchanged
	}{
		{"nothing", nil, nil},
		{"layout and names", map[string]string{"helper.js": "module.exports=function helper(value)\n{ return value.first+value.second+value.third /* all */ }"}, nil},
		{"moved", map[string]string{"helper.js": "", "lib/helper.js": old["helper.js"]}, []string{"moved javascript-asset helper.js"}},
		{"removed", map[string]string{"helper.js": ""}, []string{"removed javascript-asset helper.js"}},
		{"a preference", map[string]string{"main.js": strings.Replace(old["main.js"], "sandbox: true", "sandbox: false", 1)}, []string{"changed javascript-asset main.js", "changed browser-window BrowserWindow"}},
		{"unread", map[string]string{"helper.js": "", "broken.js": "function ("}, []string{"removed javascript-asset helper.js", "added javascript-asset broken.js"}},
		{"a key, where code is unread", map[string]string{"search.js": "exports.query = ((;"}, []string{
			"changed javascript-asset search.js", "unknown storage last", "unknown endpoint https://api.example.com/v1",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			right, _, _ := call(t, d, "analyze_javascript_application", object{"path": folder(t, changed(tt.replace))})
			_, _, r := call(t, d, "compare_application_versions", object{"left": retained(left), "right": retained(right)})
			var got []string
			for _, item := range r["items"].([]any) {
				i := item.(object)
				side, ok := i["left"].(object)
				if !ok {
					side = i["right"].(object)
				}
				if i["kind"] == "package" || i["kind"] == "electron-main" {
					continue
				}
				got = append(got, fmt.Sprint(i["status"], " ", i["kind"], " ", side["label"]))
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// An archive of which a file was altered is a contradiction, though its bytes are
// equal on both sides.
func TestVersions_contradictions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.asar")
	if err := os.WriteFile(path, alteredArchive(), 0o600); err != nil {
		t.Fatal(err)
	}
	d := tools(t)
	id, _, _ := call(t, d, "analyze_javascript_application", object{"path": path, "integrity_policy": "record-and-continue"})
	_, _, r := call(t, d, "compare_application_versions", object{"left": retained(id), "right": retained(id), "include_unchanged": true})
	if r["status"] != "contradiction" {
		t.Errorf("status %v", r["status"])
	}
	for _, item := range r["items"].([]any) {
		i := item.(object)
		if l := i["left"].(object)["label"]; l == "a.js" && i["status"] != "contradiction" {
			t.Errorf("a.js is %v", i["status"])
		}
	}
}
