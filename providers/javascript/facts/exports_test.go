package facts_test

import (
	"slices"
	"strings"
	"testing"
)

// Names that a module may export without showing them are told of as "*".
func TestOpenExports(t *testing.T) {
	for src, want := range map[string]string{
		"exports.a = 1":                                                              "a",
		"exports.a = 1; Object.keys(exports)":                                        "a",
		"if (typeof exports == 'object') f()":                                        "",
		"exports.a = 1; fill(exports)":                                               "* a",
		"require('./fill')(module.exports)":                                          "*",
		"exports.a = 1; exports[k] = 2":                                              "* a",
		"exports.a = 1; exports['b'] = 2":                                            "a b",
		"exports[Symbol.iterator] = f":                                               "",
		"module.exports = {...require('x'), a: 1}":                                   "* a",
		"const o = {b: 1}; module.exports = {...o, a: 1}":                            "a b",
		"module.exports = {[k]: 1, a: 1}":                                            "* a",
		"var self = exports; self.a = 1; self.b = 2":                                 "a b",
		"const m = module.exports; m.a = 1":                                          "a",
		"Object.assign(exports, {a: 1}, require('x'))":                               "* a",
		"Object.assign(module.exports, {a: 1})":                                      "a",
		"Object.defineProperties(exports, {a: {value: 1}, b: {get() { return 2 }}})": "a b",
		"Object.defineProperties(exports, list)":                                     "*",
		"Object.defineProperty(exports, 'a', {value: 1}); Object.defineProperty(exports, '__esModule', {value: true})": "a",
		"Object.defineProperty(exports, k, {value: 1})":                                                                "*",
		"Object.defineProperty(exports, Symbol.toStringTag, {value: 'Module'})":                                        "",
		"__exportStar(require('x'), exports)":                                                                          "*",
	} {
		var names []string
		for _, e := range extract(t, src).Exports {
			names = append(names, e.Name)
		}
		slices.Sort(names)
		if got := strings.Join(slices.Compact(names), " "); got != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}
