package application_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rea/generated/model"
)

// loaded are the files and modules that a file loads or imports.
func loaded(a *model.ApplicationAnalysis, from string) (list []string) {
	for i := range a.Graph.Edges {
		e := &a.Graph.Edges[i]
		if label(&a.Graph.Nodes[e.From]) == from && (e.Relation == model.ApplicationRelationLoads || e.Relation == model.ApplicationRelationImports) {
			to := &a.Graph.Nodes[e.To]
			list = append(list, strings.TrimPrefix(string(to.Kind)+" ", "javascript-asset ")+label(to))
		}
	}
	slices.Sort(list)
	return list
}

// Import maps of a page tell what its modules import, wherever these lie.
func TestImportMaps(t *testing.T) {
	a := analyze(t, write(t, map[string]string{
		"index.html": `<script type="importmap">{"imports": {"lib": "./sub/lib.js", "pk/": "./sub/pk/", "pk/own/": "./own/", "abs": "/sub/abs.js", "web": "https://cdn.example/web.js?key=a1", "none": null, "gone": "./gone.js", "./old.js": "./new.js"},
			"scopes": {"/sub/": {"lib": "./sub/scoped.js"}, "./sub/deep/": {"lib": "./sub/deepest.js"}}}</script><script type=module src=m.js></script>
			<script type="importmap">{"imports": {"lib": "./late.js", "late": "./late.js"}}</script>`,
		"m.js":          `import 'lib'; import 'pk/p.js'; import 'pk/own/q.js'; import 'abs'; import 'web'; import 'none'; import 'gone'; import './old.js'; import './sub/inner.js'; import './sub/deep/d.js'; import 'late'`,
		"sub/inner.js":  `import 'lib'; require('lib')`,
		"sub/deep/d.js": `import 'lib'`,
		"sub/lib.js":    "1", "sub/pk/p.js": "1", "own/q.js": "1", "sub/abs.js": "1", "new.js": "1", "old.js": "1", "late.js": "1", "sub/scoped.js": "1", "sub/deepest.js": "1",
		"other.html": `<script type=module src=n.js></script>`, "n.js": `import 'lib'`,
	}))
	for from, want := range map[string][]string{
		"m.js":         {"external-module gone", "external-module https://cdn.example/web.js?key=", "external-module none", "late.js", "new.js", "own/q.js", "sub/abs.js", "sub/deep/d.js", "sub/inner.js", "sub/lib.js", "sub/pk/p.js"},
		"sub/inner.js": {"external-module lib", "sub/scoped.js"}, "sub/deep/d.js": {"sub/deepest.js"}, "n.js": {"external-module lib"},
	} {
		if diff := cmp.Diff(want, loaded(a, from)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", from, diff)
		}
	}
}

// Pages that say different things about the same module leave it open.
func TestImportMapsThatDiffer(t *testing.T) {
	a := analyze(t, write(t, map[string]string{
		"a.html": `<script type="importmap">{"imports": {"lib": "./1.js", "same": "./1.js"}}</script><script type=module src=m.js></script>`,
		"b.html": `<script type="importmap">{"imports": {"lib": "./2.js", "same": "./1.js"}}</script><script type=module src=m.js></script>`,
		"c.html": `<script type="importmap">{</script>`,
		"m.js":   `import 'lib'; import 'same'`, "1.js": "1", "2.js": "2",
	}))
	if diff := cmp.Diff([]string{"1.js", "external-module lib"}, loaded(a, "m.js")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !hasGap(a, "import map of c.html") {
		t.Errorf("no gap for a map that is none")
	}
}

func hasGap(a *model.ApplicationAnalysis, what string) bool {
	return slices.ContainsFunc(a.Graph.Coverage.Gaps, func(g model.ApplicationCoverageGap) bool { return g.What == what })
}

// Addresses of scripts are read as browsers do, and code that is not read is told.
func TestAddressesOfScripts(t *testing.T) {
	a := analyze(t, write(t, map[string]string{
		"index.html": "<body onload=\"go('&quot;')\"><script src='with%20space.js'></script><script src='&#115;ub/ent.js?x=1&copy=2'></script><script src='\n sub/nl.js '></script>" +
			`<svg><script href="sub/svg.js"/><script xlink:href="sub/old.js"></script></svg><template><script src="sub/inert.js"></script></template><script src=sub/after.js></script>` +
			`<template shadowrootmode=open><script src="sub/shadow.js"></script></template><script language=vbscript src=x.vbs></script><script type=text/template src=t.js></script>` +
			`<a href=" java` + "\n" + `script:go()">x</a><iframe srcdoc="<script src=sub/doc.js></script>"></iframe>`,
		"with space.js": "1", "sub/ent.js": "1", "sub/nl.js": "1", "sub/svg.js": "1", "sub/old.js": "1", "sub/inert.js": "1", "sub/after.js": "1", "sub/shadow.js": "1", "sub/doc.js": "1", "x.vbs": "x=1", "t.js": "1",
	}))
	want := []string{"sub/after.js", "sub/ent.js", "sub/nl.js", "sub/old.js", "sub/shadow.js", "sub/svg.js", "with space.js"}
	if diff := cmp.Diff(want, loaded(a, "index.html")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, what := range []string{"handlers of events in index.html", "javascript: addresses in index.html", "srcdoc documents in index.html", "scripts in templates of index.html"} {
		if !hasGap(a, what) {
			t.Errorf("no gap %q", what)
		}
	}
}
