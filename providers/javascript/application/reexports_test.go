package application_test

import (
	"testing"
)

// What a module exports of others looks as it does there.
func TestShapesOfWhatIsHandedOn(t *testing.T) {
	a := analyze(t, write(t, map[string]string{
		"index.mjs": `export {f2 as f, h as default} from './h.mjs'; export {o} from './all.mjs'; export {z} from 'elsewhere'; import {q} from './h.mjs'; export {q as r}; export {c} from './circle.mjs';`,
		"h.mjs":     `export function f2(a, b) {} export const h = (x) => 1, q = {m(a) {}};`,
		"all.mjs":   `export * from './part.mjs';`, "part.mjs": `export const o = {a: 2};`,
		"circle.mjs": `export {c} from './index.mjs'; export * from './circle.mjs';`,
	}))
	for i := range a.Graph.Nodes {
		n := &a.Graph.Nodes[i]
		if label(n) != "index.mjs" {
			continue
		}
		want := `{"default":{"kind":"function","params":[{"pattern":"name"}],"returns":[{"kind":"number","value":"1"}]},` +
			`"f":{"kind":"function","params":[{"pattern":"name"},{"pattern":"name"}]},"o":{"kind":"object","members":{"a":{"kind":"number","value":"2"}}},` +
			`"r":{"kind":"object","members":{"m":{"kind":"function","params":[{"pattern":"name"}]}}}}`
		if got := string(n.Properties["export_shapes"]); got != want {
			t.Errorf("shapes are %s", got)
		}
		return
	}
	t.Error("no index.mjs")
}
