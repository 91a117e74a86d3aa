package semantic_test

import (
	"slices"
	"testing"
)

// What a stream gives goes into the one that it is piped into.
func TestPipes(t *testing.T) {
	list := relations(t, "var fs = require('fs'); var from = fs.createReadStream(p), to = make(); from.pipe(fs.createWriteStream(q)); from.pipe(to).pipe(a.b); from.pipe(unknown)")
	for _, want := range []string{"binding:from used-by-resource resource:fs.createWriteStream", "binding:from used-by-resource binding:to"} {
		if !slices.Contains(list, want) {
			t.Errorf("no %q in %q", want, list)
		}
	}
}

// A worker listens by the global that it assigns.
func TestHandlersOfGlobals(t *testing.T) {
	list := relations(t, "onmessage = function f(e) {}; var onerror; onerror = function g(x) {}")
	if !slices.Contains(list, "listener:onmessage handled-by function:f") || slices.Contains(list, "listener:onerror handled-by function:g") {
		t.Errorf("relations are %q", list)
	}
}
