package semantic_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rea/providers/javascript/bundle"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
	"rea/providers/javascript/semantic"
	"rea/providers/javascript/symbol"
)

// relations of a program as lines: kind:label relation kind:label. Nodes without
// a label have their text.
func relations(t *testing.T, src string) []string {
	t.Helper()
	f, err := parse.Parse(t.Context(), src, parse.Options{})
	if err != nil || f.Failed > 0 {
		t.Fatalf("%v %v", err, f.Errors)
	}
	table := scope.Resolve(f)
	p := &bundle.File{File: f, Scopes: table, Names: symbol.New(f, table), Parents: f.Parents()}
	prints := func() semantic.Prints { return semantic.NewPrints(f, table) }
	u := semantic.Extract(p, nil, nil, prints).Finish()
	name := func(i int32) string {
		n := &u.Nodes[i]
		label := u.Labels[n.Label]
		if label == "" {
			label = src[n.At.Start:n.At.End]
		}
		return n.Kind.Name() + ":" + label
	}
	var list []string
	for _, e := range u.Edges {
		list = append(list, fmt.Sprintf("%s %s %s", name(e.From), e.Kind.Name(), name(e.To)))
	}
	return list
}

func TestRelations(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{"assignment", "var a = 1, b = a;", []string{"binding:a flows-to binding:b"}},
		{"call_and_return", "function f(x) { return x } var y = f(z); var z = g();", []string{
			"parameter:x flows-to return-site:return x", "return-site:return x returned-by function:f", "call-site:f calls function:f",
			"function:f result-of-call call-site:f", "binding:z argument-of call-site:f", "binding:z becomes-parameter parameter:x", "call-site:f flows-to binding:y",
		}},
		{"properties", "var o = {k: v, m() { return this.k }}; var w = o.k; var v; o.m();", []string{
			"binding:v flows-to property-slot:k", "property-slot:k flows-to binding:w", "property-slot:k flows-to return-site:return this.k", "call-site:?.m calls function:m",
		}},
		{"closures", "function f(a) { return function g() { return a } }", []string{"parameter:a captured-by function:g"}},
		{"promises", "async function f() { var r = await fetch(u); r.json().then(function done(j) {}) } var u;", []string{
			"request:fetch awaited-by binding:r", "promise:?.then continues-with function:done", "binding:u requested-with request:fetch",
		}},
		{"events_and_timers", "setTimeout(function t() {}, 5); e.on('x', h); function h() {} process.on('SIGINT', h)", []string{
			"timer:setTimeout schedules function:t", "listener:e.on handled-by function:h", "signal:process.on handled-by function:h", "literal:x argument-of listener:e.on",
		}},
		{"environment_to_process", "const {spawn} = require('child_process'); const c = process.env.CMD; spawn(c);", []string{
			"config-source:process.env.CMD configures binding:c", "binding:c spawned-with child-process:child_process.spawn",
		}},
		{"parsing", "var o = JSON.parse(text); var text = fs.readFileSync(name); var name; var fs = require('fs');", []string{
			"binding:text parsed-by parsing:JSON.parse", "parsing:JSON.parse flows-to binding:o", "binding:name used-by-resource resource:fs.readFileSync",
		}},
		{"classes", "class A { go(q) { return this.step(q) } step(s) { return s } }", []string{"call-site:this.step calls function:step", "parameter:q becomes-parameter parameter:s"}},
		{"destructuring", "const {a: {b}} = cfg; var cfg = load(); use(b);", []string{"binding:b argument-of call-site:use", "call-site:load flows-to binding:cfg", "property-slot:cfg.a.b flows-to binding:b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			have := relations(t, tt.src)
			for _, want := range tt.want {
				if !slices.Contains(have, want) {
					t.Errorf("%q is missing in %q", want, have)
				}
			}
		})
	}
}

func TestNoFalseTargets(t *testing.T) {
	for _, src := range []string{
		"function f() {} f = other; f();",
		"function f(g) { g() } function g() {}",
		"var o = {m() {}, ...p}; o.m();",
		"var f = function a() {}; f = function b() {}; f();",
	} {
		for _, line := range relations(t, src) {
			if _, rest, ok := strings.Cut(line, " calls "); ok {
				t.Errorf("%q: a call of %s", src, rest)
			}
		}
	}
}
