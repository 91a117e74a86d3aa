package javascript_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/providers/javascript/jstest"
	"rea/providers/javascript/semantic"
	"rea/runtime/dispatch"
)

// items is a list of a result.
func items(v any) []object {
	var out []object
	for _, item := range v.([]any) {
		out = append(out, item.(object))
	}
	return out
}

// way is a path to a goal, as "relation kind label".
func way(goal object) (out []string) {
	for _, step := range items(goal["path"]) {
		place := step["place"].(object)
		out = append(out, strings.TrimSpace(strings.NewReplacer("<nil>", "").Replace(fmt.Sprint(step["relation"], " ", place["kind"], " ", place["label"]))))
	}
	return out
}

// What a page asks for goes through the exposed API, the message, a bundled module
// of the main process, to the request and to the native add-on.
func TestValuesAcrossProcesses(t *testing.T) {
	app, _ := jstest.Electron(t)
	d := tools(t)
	id, _, _ := call(t, d, "analyze_javascript_application", object{"path": app.Archive})
	trace := func(input object) object {
		input["application"] = retained(id)
		_, _, r := call(t, d, "trace_javascript_semantics", input)
		return r
	}
	r := trace(object{"seed": object{"kind": "api", "value": "notes"}, "goal": object{"kind": "call", "value": "fetch"}})
	goals := items(r["goals"])
	if len(goals) != 1 {
		t.Fatalf("goals: %v", r["goals"])
	}
	path := way(goals[0])
	want := []string{
		"call-site notes.search", "becomes-parameter parameter", "argument-of event electron.ipcRenderer.invoke", "delivered-to listener electron.ipcMain.handle",
		"becomes-parameter parameter", "argument-of call-site", "becomes-parameter parameter", "flows-to property-slot body", "has-property expression", "requested-with request fetch",
	}
	if len(path) != len(want) {
		t.Fatalf("path: %q", path)
	}
	for i := range want {
		if !strings.HasPrefix(path[i], want[i]) {
			t.Errorf("step %d: %q, want %q", i, path[i], want[i])
		}
	}
	modules := map[string]bool{}
	for _, step := range items(goals[0]["path"]) {
		modules[step["place"].(object)["module"].(string)] = true
	}
	for _, m := range []string{"webpack://notes/src/preload/index.js", "webpack://notes/src/main/index.js", "webpack://notes/src/main/search.js"} {
		if !modules[m] {
			t.Errorf("the path does not lead through %s: %v", m, modules)
		}
	}

	// Who runs what a module does, out to the page.
	r = trace(object{"seed": object{"kind": "call", "value": "writeFileSync", "module": "src/main/plain.js"}, "direction": "callers", "goal": object{"kind": "call", "value": "ipcRenderer.send"}})
	if g := items(r["goals"]); len(g) != 1 {
		t.Errorf("nobody sends: %v", r["summary"])
	}
	// What a handler leads to.
	r = trace(object{"seed": object{"kind": "call", "value": "ipcMain.handle"}, "direction": "callees", "goal": object{"kind": "call", "value": "fetch"}})
	if g := items(r["goals"]); len(g) != 1 {
		t.Errorf("the handler asks nobody: %v", r["summary"])
	}
	// Where the address of a command comes from, and what holds a store.
	r = trace(object{"seed": object{"kind": "environment", "value": "NOTES_API"}, "direction": "ownership"})
	if s := r["summary"].(object); s["functions"].(float64) < 1 || s["modules"].(float64) < 1 {
		t.Errorf("summary: %v", s)
	}
	r = trace(object{"seed": object{"kind": "call", "value": "child_process.exec"}, "direction": "backward", "goal": object{"kind": "literal", "value": "xdg-mime", "match": "contains"}})
	if g := items(r["goals"]); len(g) != 1 || g[0]["depth"].(float64) != 1 {
		t.Errorf("the command: %v", r["goals"])
	}
	// A worker's program is reached from where it is started.
	r = trace(object{"seed": object{"kind": "call", "value": "utilityProcess.fork"}, "goal": object{"kind": "module", "value": "dist/indexer.js"}})
	if g := items(r["goals"]); len(g) == 0 {
		t.Errorf("the utility process is not reached: %v", r["summary"])
	}
}

var program = map[string]string{
	"main.js": `import {run, Store} from "./lib.js"; import * as all from "./lib.js"; import again from "./again.js";
const first = run(process.env.START);
all.run(first); again(first); new Store(first);
setTimeout(() => run(1), 10); missing(first); JSON.parse(process.env.START);`,
	"lib.js":   `export function run(value) { return inner(value); } function inner(x) { return {x}; } export class Store { constructor(v) { this.v = v; } }`,
	"again.js": `export {run as default} from "./lib.js"; export * from "./lib.js";`,
}

func analyzed(t *testing.T, d *dispatch.Dispatcher, files map[string]string) (id string, record []byte) {
	t.Helper()
	id, record, _ = call(t, d, "analyze_javascript_application", object{"path": folder(t, files)})
	return id, record
}

func TestPagesOfATrace(t *testing.T) {
	d := tools(t)
	id, record := analyzed(t, d, program)
	ask := func(size int, cursor any) object {
		in := object{"application": retained(id), "seed": object{"kind": "environment", "value": "START"}, "page_size": size}
		if cursor != nil {
			in["cursor"] = cursor
		}
		_, _, r := call(t, d, "trace_javascript_semantics", in)
		return r
	}
	relations := func(r object) (out []string) {
		nodes := items(r["nodes"])
		name := func(i any) string { return fmt.Sprint(nodes[int(i.(float64))]["place"].(object)["node_id"]) }
		for _, e := range items(r["relations"]) {
			out = append(out, name(e["from"])+" "+fmt.Sprint(e["relation"])+" "+name(e["to"]))
		}
		return out
	}
	whole := relations(ask(1000, nil))
	if len(whole) < 15 {
		t.Fatalf("%d relations", len(whole))
	}
	var paged []string
	var cursor any
	for pages := 0; ; pages++ {
		r := ask(4, cursor)
		paged = append(paged, relations(r)...)
		if cursor = r["page"].(object)["next_cursor"]; cursor == nil || pages > 100 {
			break
		}
	}
	if !slices.Equal(whole, paged) {
		t.Errorf("pages give %d relations, the whole %d", len(paged), len(whole))
	}
	// A cursor belongs to its question and its evidence.
	good := ask(4, nil)["page"].(object)["next_cursor"].(string)
	other, _ := analyzed(t, d, map[string]string{"main.js": program["main.js"] + "\n", "lib.js": program["lib.js"], "again.js": program["again.js"]})
	forged := good[:len(good)-1] + map[bool]string{true: "0", false: "1"}[good[len(good)-1] != '0']
	moved := strings.Replace(good, "jsc_4_", "jsc_8_", 1)
	for name, in := range map[string]object{
		"another page size": {"application": retained(id), "seed": object{"kind": "environment", "value": "START"}, "page_size": 5, "cursor": good},
		"another seed":      {"application": retained(id), "seed": object{"kind": "function", "value": "run"}, "page_size": 4, "cursor": good},
		"another direction": {"application": retained(id), "seed": object{"kind": "environment", "value": "START"}, "direction": "backward", "page_size": 4, "cursor": good},
		"another analysis":  {"application": retained(other), "seed": object{"kind": "environment", "value": "START"}, "page_size": 4, "cursor": good},
		"forged":            {"application": retained(id), "seed": object{"kind": "environment", "value": "START"}, "page_size": 4, "cursor": forged},
		"moved":             {"application": retained(id), "seed": object{"kind": "environment", "value": "START"}, "page_size": 4, "cursor": moved},
	} {
		args, _ := json.Marshal(in)
		if _, err := d.Call(t.Context(), "trace_javascript_semantics", args); fault.CodeOf(err) != fault.InvalidRequestCode {
			t.Errorf("%s: error %v", name, err)
		}
	}
	// Inline and retained are one, and another session gives the same.
	_, _, inline := call(t, tools(t), "trace_javascript_semantics", object{"application": json.RawMessage(record), "seed": object{"kind": "environment", "value": "START"}, "page_size": 4})
	x, _ := json.Marshal(inline)
	y, _ := json.Marshal(ask(4, nil))
	if string(x) != string(y) {
		t.Error("inline and retained Evidence give different results")
	}
}

func TestSeedsOfATrace(t *testing.T) {
	d := tools(t)
	id, _ := analyzed(t, d, program)
	for _, tt := range []struct {
		name   string
		input  object
		status string
		seeds  float64
		goals  float64
	}{
		{"imported_function", object{"seed": object{"kind": "function", "value": "run"}, "direction": "callers", "goal": object{"kind": "call", "value": "run"}}, "found", 1, 3},
		{"function_that_another_module_hands_on", object{"seed": object{"kind": "function", "value": "run"}, "direction": "callers", "goal": object{"kind": "call", "value": "./again.js"}}, "found", 1, 1},
		{"default_export_of_another", object{"seed": object{"kind": "environment", "value": "START"}, "goal": object{"kind": "binding", "value": "x"}}, "partial", 2, 1},
		{"only_in_a_module", object{"seed": object{"kind": "binding", "value": "value", "module": "lib.js"}}, "partial", 1, 0},
		{"nothing", object{"seed": object{"kind": "function", "value": "nowhere"}}, "no_match", 0, 0},
		{"case", object{"seed": object{"kind": "function", "value": "RUN"}}, "no_match", 0, 0},
		{"folded", object{"seed": object{"kind": "function", "value": "RUN", "case_sensitive": false}}, "partial", 1, 0},
		{"pattern", object{"seed": object{"kind": "function", "value": "^(run|inner)$", "match": "regex"}}, "partial", 2, 0},
		{"depth", object{"seed": object{"kind": "environment", "value": "START"}, "limits": object{"max_depth": 1}}, "truncated", 2, 0},
		{"nodes", object{"seed": object{"kind": "environment", "value": "START"}, "limits": object{"max_nodes": 3}}, "truncated", 2, 0},
		{"relations", object{"seed": object{"kind": "environment", "value": "START"}, "limits": object{"max_relations": 2}}, "truncated", 2, 0},
		{"export", object{"seed": object{"kind": "export", "value": "Store"}, "goal": object{"kind": "call", "value": "Store"}}, "found", 1, 1},
		{"timer", object{"seed": object{"kind": "call", "value": "setTimeout"}, "direction": "callees", "goal": object{"kind": "function", "value": "inner"}}, "found", 1, 1},
		{"parsing", object{"seed": object{"kind": "environment", "value": "START"}, "goal": object{"kind": "call", "value": "JSON.parse"}, "families": []string{"configuration", "data-flow"}}, "partial", 2, 1},
		{"module", object{"seed": object{"kind": "module", "value": "lib.js"}}, "partial", 5, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.input["application"] = retained(id)
			_, _, r := call(t, d, "trace_javascript_semantics", tt.input)
			s := r["summary"].(object)
			if r["status"] != tt.status || s["seed_matches"] != tt.seeds || s["goals"] != tt.goals {
				t.Errorf("status %v, %v\nunknowns %v", r["status"], s, r["unknowns"])
			}
			if tt.status == "truncated" {
				if c := r["coverage"].(object); len(items(c["frontier"])) == 0 || len(c["limits_reached"].([]any)) == 0 {
					t.Errorf("coverage: %v", c)
				}
			}
		})
	}
	args, _ := json.Marshal(object{"application": retained(id), "seed": object{"kind": "function", "value": "run", "module": "none.js"}})
	if _, err := d.Call(t.Context(), "trace_javascript_semantics", args); fault.CodeOf(err) != fault.NameNotFoundCode {
		t.Errorf("error %v", err)
	}
	// Every node is found again by its id.
	_, _, r := call(t, d, "trace_javascript_semantics", object{"application": retained(id), "seed": object{"kind": "string", "value": ".", "match": "regex"}, "limits": object{"max_seed_matches": 1000, "max_depth": 0}})
	for _, m := range items(r["seed_matches"]) {
		want := m["place"].(object)["node_id"]
		_, _, one := call(t, d, "trace_javascript_semantics", object{"application": retained(id), "seed": object{"kind": "node-id", "value": want}, "limits": object{"max_depth": 0}})
		if got := items(one["seed_matches"]); len(got) != 1 || got[0]["place"].(object)["node_id"] != want {
			t.Errorf("%v: %v", want, got)
		}
	}
}

func TestAlteredSemanticsAreRefused(t *testing.T) {
	d := tools(t)
	_, record := analyzed(t, d, program)
	for _, tt := range []struct {
		name   string
		change func(s *model.JavascriptSemantics)
		signed bool // with the id that the altered graph would have
	}{
		{"another label", func(s *model.JavascriptSemantics) { s.Strings[0] += "x" }, false},
		{"another relation", func(s *model.JavascriptSemantics) { s.To[0]++ }, false},
		{"another graph", func(s *model.JavascriptSemantics) { s.ApplicationGraphID = "jag_0" }, true},
		{"a longer node", func(s *model.JavascriptSemantics) { s.Lengths[0] = 1 << 30 }, true},
		{"a node beyond its file", func(s *model.JavascriptSemantics) { s.Lengths[0] += 1000 }, true},
		{"a node before its file", func(s *model.JavascriptSemantics) { s.Starts[1] = -1 << 40 }, true},
		{"a label that is not there", func(s *model.JavascriptSemantics) { s.Labels[0] = 1 << 40 }, true},
		{"a relation less", func(s *model.JavascriptSemantics) { s.From = s.From[1:] }, true},
		{"a relation to nowhere", func(s *model.JavascriptSemantics) { s.To[0] = 1 << 52 }, true},
		{"relations in disorder", func(s *model.JavascriptSemantics) { s.From[len(s.From)-1] = -1 }, true},
		{"another file", func(s *model.JavascriptSemantics) { s.Units[0].File = 99 }, true},
		{"one file twice", func(s *model.JavascriptSemantics) { s.Units[1].File = s.Units[0].File }, true},
		{"a module that is none", func(s *model.JavascriptSemantics) { s.Units[0].ApplicationNodes[0] = 0 }, true},
		{"a module that is not there", func(s *model.JavascriptSemantics) { s.Units[0].ApplicationNodes[0] = -1 }, true},
		{"more modules than nodes", func(s *model.JavascriptSemantics) { s.Units[0].Modules = append(s.Units[0].Modules, 1) }, true},
		{"a unit without modules", func(s *model.JavascriptSemantics) { s.Units[0].Modules, s.Units[0].ApplicationNodes = nil, nil }, true},
		{"lines without end", func(s *model.JavascriptSemantics) { s.Units[2].LineLengths[0] = 1 << 52 }, true},
		{"a function that is not there", func(s *model.JavascriptSemantics) { s.Functions[0] = -5 }, true},
	} {
		name := tt.name
		inline := reseal(t, record, func(_ *model.EvidenceRecord, a *model.ApplicationAnalysis) {
			tt.change(&a.Semantics)
			if tt.signed {
				a.Semantics.GraphID = semantic.Digest(&a.Semantics)
			}
		})
		args, _ := json.Marshal(object{"application": inline, "seed": object{"kind": "function", "value": "run"}})
		if _, err := d.Call(t.Context(), "trace_javascript_semantics", args); fault.CodeOf(err) != fault.EvidenceIntegrityMismatchCode {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
