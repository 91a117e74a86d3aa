package shape_test

import (
	"strings"
	"testing"

	"rea/providers/javascript/bundle"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
	"rea/providers/javascript/shape"
	"rea/providers/javascript/symbol"
)

// shapeOf is the shape of the value of the last statement of a program.
func shapeOf(t *testing.T, src string) string {
	t.Helper()
	f, err := parse.Parse(t.Context(), src, parse.Options{})
	if err != nil || f.Failed > 0 {
		t.Fatalf("%v %v", err, f.Errors)
	}
	table := scope.Resolve(f)
	p := &bundle.File{File: f, Scopes: table, Names: symbol.New(f, table), Parents: f.Parents()}
	r := &shape.Reader{File: p, Budget: 1000}
	last := f.Last(f.Root)
	return string(r.Of(f.First(last)))
}

func TestMembersThatAreAssigned(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      string
	}{
		{"object", "const api = {}; api.find = function (a) {}; api.size = 3; api",
			`{"kind":"object","members":{"find":{"kind":"function","params":[{"pattern":"name"}]},"size":{"kind":"number","value":"3"}}}`},
		{"replaced", "const api = {a: 1}; api.a = 'x'; api", `{"kind":"object","members":{"a":{"kind":"string","value":"x"}}}`},
		{"function", "function f() {} f.help = 'text'; f", `{"kind":"function","params":[],"static":{"help":{"kind":"string","value":"text"}}}`},
		{"prototype", "function F(a) {} F.prototype.run = function () {}; F",
			`{"kind":"function","members":{"run":{"kind":"function","params":[]}},"params":[{"pattern":"name"}]}`},
		{"class", "class A { m() {} } A.create = () => 1; A",
			`{"kind":"class","members":{"m":{"kind":"function","params":[]}},"static":{"create":{"kind":"function","params":[],"returns":[{"kind":"number","value":"1"}]}}}`},
		{"perhaps", "const api = {}; if (x) api.find = 1; api", `{"kind":"object","members":{},"open":true}`},
		{"later", "const api = {}; function init() { api.find = 1 } api", `{"kind":"object","members":{},"open":true}`},
		{"computed", "const api = {}; api[name] = 1; api", `{"kind":"object","members":{},"open":true}`},
		{"itself", "const a = {}; a.self = a; a", `{"kind":"object","members":{"self":{"kind":"object","members":{}}}}`},
		{"prototype_keys", "const a = {}; a.__proto__ = {}; a.constructor = 1; a",
			`{"kind":"object","members":{"__proto__":{"kind":"object","members":{}},"constructor":{"kind":"number","value":"1"}}}`},
		{"addresses", "const a = {url: 'https://u:p@h.example/x?t=1#f'}; a", `{"kind":"object","members":{"url":{"kind":"string","value":"https://h.example/x?t="}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := shapeOf(t, tt.src); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	if many := shapeOf(t, "const a = {};"+strings.Repeat("a.b = a;", 20_000)+"a"); len(many) > 1<<20 {
		t.Errorf("%d bytes", len(many))
	}
}
