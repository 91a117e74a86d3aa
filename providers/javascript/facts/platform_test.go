package facts_test

import (
	"fmt"
	"testing"
)

// Add-ons whose paths or packages the platform chooses are patterns, and what a loop asks
// for is each of its list.
func TestPlatformChooses(t *testing.T) {
	for src, want := range map[string]string{
		"require('@parcel/watcher-' + process.platform + '-' + process.arch)":                                                       "[@parcel/watcher-*-*] []",
		"const os = require('os'); require(`@a/b-${os.platform()}`)":                                                                "[@a/b-*] [os]",
		"const {platform, arch} = process; require(`./n.${platform}-${arch}.node`)":                                                 "[./n.*-*.node] []",
		"const path = require('path'); require(path.join(__dirname, '..', 'prebuilds', process.platform + '-' + arch(), 'a.node'))": "[../prebuilds/*-*/a.node] [path]",
		"for (const p of [`./${x}.node`, './wasm.node', `@i/s-${x}/s.node`]) { try { require(p) } catch {} }":                       "[./*.node @i/s-*/s.node] [./wasm.node]",
		"require('./lang-' + navigator.language)":                                                                                   "[] []",
		"require(process.platform)":       "[] []",
		"for (const p of [p]) require(p)": "[] []",
	} {
		found := extract(t, src)
		var bindings, imports []string
		for _, f := range found.Facts {
			bindings = append(bindings, f.Name)
		}
		for _, i := range found.Imports {
			if !i.Unknown {
				imports = append(imports, i.Specifier)
			}
		}
		if got := fmt.Sprint(bindings, imports); got != want {
			t.Errorf("%s: %s, not %s", src, got, want)
		}
	}
}
