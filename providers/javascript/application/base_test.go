package application_test

import (
	"testing"

	"rea/generated/model"
)

func TestInlineModulesResolveAgainstTheBase(t *testing.T) {
	a := analyze(t, write(t, map[string]string{
		"page/index.html": `<base href="./sub/"><script type=module>import './m.mjs'; import('./n.mjs')</script>`,
		"page/sub/m.mjs":  "export {}", "page/sub/n.mjs": "export {}",
	}))
	found := map[string]bool{}
	for i := range a.Graph.Edges {
		if e := &a.Graph.Edges[i]; e.Relation == model.ApplicationRelationImports {
			found[label(&a.Graph.Nodes[e.To])] = true
		}
	}
	if !found["page/sub/m.mjs"] || !found["page/sub/n.mjs"] || len(found) != 2 {
		t.Errorf("imports %v", found)
	}
}
