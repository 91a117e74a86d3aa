package application_test

import (
	"strings"
	"testing"

	"rea/generated/model"
)

// TestWorkersOfChunksThatTheRuntimeNames has the runtime of webpack in one file and
// what starts the worker in another.
func TestWorkersOfChunksThatTheRuntimeNames(t *testing.T) {
	const start = `(()=>{var m={1:(e,t,r)=>{r.e(480).then(r.bind(r,480))}},c={};function r(e){var n=c[e];if(n)return n.exports;var o=c[e]={exports:{}};m[e](o,o.exports,r);return o.exports}r.m=m,r.u=`
	const chunk = `(self.webpackChunkapp=self.webpackChunkapp||[]).push([[480],{480:(e,t,r)=>{t.f=()=>new Worker(new URL(r.p+r.u(ID),r.b))}}]);`
	for _, tt := range []struct{ name, runtime, id, folder, want string }{
		{"id", `e=>e+".js"`, "141", "", "141.js"},
		{"table", `e=>""+({7:"ab",141:"cd"}[e]||e)+".js"`, "141", "", "cd.js"},
		{"hashes", "e=>(e===141?\"work\":e)+\".\"+{141:\"0f\"}[e]+\".js\"", "141", "", "work.0f.js"},
		{"cases", "e=>{if(e===\"w\")return\"w.bundle.js\";return e+\".js\"}", `"w"`, "", "w.bundle.js"},
		{"folder", "e=>`js/${e}.js`", "141", "js/", "js/141.js"},
		{"what_is_not_there", `e=>e+".mjs"`, "141", "", ""},
		{"what_runs", `e=>f(e)+".js"`, "141", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{
				tt.folder + "main.js": start + tt.runtime + `,r(1)})()`, tt.folder + "480.js": strings.Replace(chunk, "ID", tt.id, 1),
				tt.folder + "141.js": `self.onmessage=1`, tt.folder + "cd.js": `1`, tt.folder + "work.0f.js": `1`, tt.folder + "w.bundle.js": `1`,
			}
			a := analyze(t, write(t, files))
			have := ""
			for i := range a.Graph.Nodes {
				if n := &a.Graph.Nodes[i]; n.Kind == model.ApplicationNodeKindWorker {
					for _, e := range a.Graph.Edges {
						if e.From == int64(i) && a.Graph.Nodes[e.To].Kind == model.ApplicationNodeKindJavascriptAsset {
							have = *a.Graph.Nodes[e.To].Label
						}
					}
				}
			}
			if have != tt.want {
				t.Errorf("the worker loads %q, not %q", have, tt.want)
			}
		})
	}
}
