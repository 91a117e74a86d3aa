package application_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rea/generated/model"
)

// Native add-ons in the ways in which packages find them. Contents differ, so that
// each has a digest of its own.
var addons = map[string]string{
	"main.js": `const native=require('bindings')('fast'); native.checksum(data); const {hash}=native; hash(1);
const n2=require('./build/Release/fast.node'); n2.direct(1);
const n3=require('node-gyp-build')(__dirname); n3.viaBuild();
const n4=require('napi'); n4.napiCall();
const n5=require('ngb'); n5.x(); const n6=require('pkgbind');
import('./build/Release/fast.node'); process.dlopen(module, require('path').join(__dirname,'build','Release','fast.node'));
const lib=process.platform==='win32'?'./prebuilds/win32-x64/a.node':'./prebuilds/linux-x64/a.node'; require(lib);
require(` + "`" + `./prebuilds/${process.platform}-${process.arch}/a.node` + "`" + `); require('./prebuilds/'+process.platform+'-'+process.arch+'/a.node');`,
	"package.json":            `{"name":"t6","main":"main.js"}`,
	"build/Release/fast.node": "\x7fELF1",
	"node_modules/napi/index.js": `const { existsSync, readFileSync } = require('fs'); const { join } = require('path'); const { platform, arch } = process
let nativeBinding = null; let localFileExisted = false; let loadError = null
switch (platform) {
  case 'win32': switch (arch) { case 'x64': localFileExisted = existsSync(join(__dirname, 'napi.win32-x64-msvc.node')); try { if (localFileExisted) { nativeBinding = require('./napi.win32-x64-msvc.node') } else { nativeBinding = require('napi-win32-x64-msvc') } } catch (e) { loadError = e } break }
  case 'linux': switch (arch) { case 'x64': try { nativeBinding = require('./napi.linux-x64-gnu.node') } catch (e) { loadError = e } break }
}
const { napiCall, other } = nativeBinding
module.exports.napiCall = napiCall
module.exports.other = other`,
	"node_modules/napi/napi.linux-x64-gnu.node":           "\x7fELF4",
	"node_modules/napi/package.json":                      `{"name":"napi","main":"index.js"}`,
	"node_modules/ngb/i.js":                               `module.exports=require('node-gyp-build')(__dirname)`,
	"node_modules/ngb/package.json":                       `{"name":"ngb","main":"i.js"}`,
	"node_modules/ngb/prebuilds/linux-x64/node.napi.node": "\x7fELF5",
	"node_modules/ngb/prebuilds/win32-x64/node.napi.node": "MZ6",
	"node_modules/pkgbind/i.js":                           `var binary=require('@mapbox/node-pre-gyp'); var path=require('path'); var bp=binary.find(path.resolve(path.join(__dirname,'./package.json'))); var binding=module.exports=require(bp); binding.open();`,
	"node_modules/pkgbind/package.json":                   `{"name":"pkgbind","main":"i.js","binary":{"module_name":"pb","module_path":"./lib/binding"}}`,
	"node_modules/pkgbind/lib/binding/pb.node":            "\x7fELF7",
	"prebuilds/darwin-arm64/a.node":                       "\xcf\xfa\xed\xfe3",
	"prebuilds/linux-x64/a.node":                          "\x7fELF2",
}

func TestAddonsAreFound(t *testing.T) {
	a := analyze(t, write(t, addons))
	var got []string
	for i := range a.Graph.Edges {
		e := &a.Graph.Edges[i]
		from, to := &a.Graph.Nodes[e.From], &a.Graph.Nodes[e.To]
		native := to.Kind == model.ApplicationNodeKindNativeAddon || to.Kind == model.ApplicationNodeKindNativeBinding
		if !native || e.Relation == model.ApplicationRelationContains {
			continue
		}
		if to.Kind == model.ApplicationNodeKindNativeAddon && to.Identity.SHA256 == nil {
			t.Errorf("%s has no digest", label(to))
		}
		got = append(got, fmt.Sprintf("%s %s %s", label(from), label(to), string(e.Properties["names"])))
	}
	slices.Sort(got)
	got = slices.Compact(got)
	want := []string{
		`main.js build/Release/fast.node `, `main.js build/Release/fast.node ["direct"]`, `main.js fast ["checksum","hash"]`, `main.js . ["viaBuild"]`,
		`main.js ./build/Release/fast.node `, `main.js ./prebuilds/*-*/a.node `, `main.js prebuilds/linux-x64/a.node `,
		`fast build/Release/fast.node `, `./build/Release/fast.node build/Release/fast.node `,
		`. build/Release/fast.node `, `. prebuilds/darwin-arm64/a.node `, `. prebuilds/linux-x64/a.node `,
		`./prebuilds/*-*/a.node prebuilds/darwin-arm64/a.node `, `./prebuilds/*-*/a.node prebuilds/linux-x64/a.node `,
		`node_modules/napi/index.js node_modules/napi/napi.linux-x64-gnu.node ["napiCall","other"]`,
		`node_modules/ngb/i.js . `, `. node_modules/ngb/prebuilds/linux-x64/node.napi.node `, `. node_modules/ngb/prebuilds/win32-x64/node.napi.node `,
		`node_modules/pkgbind/i.js ./package.json ["open"]`, `./package.json node_modules/pkgbind/lib/binding/pb.node `,
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("add-ons (-want +got):\n%s", diff)
	}
}
