package versions

import (
	"strconv"
	"testing"
)

// evaluated is a bundle as development builds have it: with modules in texts.
func evaluated(modules ...string) string {
	out := "(() => { var __webpack_modules__ = ({\n"
	for i := 0; i < len(modules); i += 2 {
		name, code := modules[i], modules[i+1]
		out += strconv.Quote(name) + ": ((module, exports, __webpack_require__) => {\neval(" + strconv.Quote(code+"\n\n//# sourceURL=webpack://z/"+name+"?") + ");\n}),\n"
	}
	return out + "}); var cache = {}; function __webpack_require__(id) { var c = cache[id]; if (c) return c.exports; var module = cache[id] = {exports: {}}; __webpack_modules__[id](module, module.exports, __webpack_require__); return module.exports; } var e = __webpack_require__(\"./index.js\"); })();"
}

// Code that is compiled from texts is compared as code, and a module with the same code
// under another name has moved.
func TestModulesInTexts(t *testing.T) {
	const index = "const h = __webpack_require__(/*! ./h.js */ \"./h.js\"); document.title = h.heavy([1, 2]);"
	const heavy = "exports.heavy = function (list) { return list.filter((x) => x.value !== 0).sort().map((x) => x.weight * 2); };"
	const indexOfMoved = "const h = __webpack_require__(/*! ./w.js */ \"./w.js\"); document.title = h.heavy([1, 2]);"
	old := analyzed(t, folder(t, map[string]string{"m.js": evaluated("./index.js", index, "./h.js", heavy)}))
	for name, tt := range map[string]struct {
		modules []string
		want    map[string]Status
	}{
		"locals":  {[]string{"./index.js", index, "./h.js", "/* new */ exports.heavy = function (all) { return all.filter((y) => y.value !== 0).sort().map((y) => y.weight * 2); };"}, map[string]Status{"./index.js": Unchanged, "./h.js": Unchanged, "m.js": Unchanged}},
		"number":  {[]string{"./index.js", index, "./h.js", "exports.heavy = function (list) { return list.filter((x) => x.value !== 0).sort().map((x) => x.weight * 3); };"}, map[string]Status{"./index.js": Unchanged, "./h.js": Changed, "m.js": Changed}},
		"renamed": {[]string{"./index.js", indexOfMoved, "./w.js", heavy}, map[string]Status{"./h.js": Moved}},
		"swapped": {[]string{"./index.js", index, "./h.js", "exports.other = 1;", "./w.js", heavy}, map[string]Status{"./h.js": Changed}},
	} {
		t.Run(name, func(t *testing.T) {
			recent := analyzed(t, folder(t, map[string]string{"m.js": evaluated(tt.modules...)}))
			c, err := Compare(t.Context(), old, recent)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]Status{}
			for i := range c.Items {
				if it := &c.Items[i]; it.Left >= 0 {
					got[old.Label(it.Left)] = it.Status
				}
			}
			for label, want := range tt.want {
				if got[label] != want {
					t.Errorf("%s is %s, want %s", label, got[label], want)
				}
			}
		})
	}
}

// The same bytes under another name are the same module, when no other is.
func TestModulesUnderOtherNames(t *testing.T) {
	bundle := func(name, body string) string {
		return `System.register("start", [` + strconv.Quote(name) + `], function (e) { return { setters: [(m) => {}], execute: function () { document.title = "begin"; } }; });
System.register(` + strconv.Quote(name) + `, [], function (e) { ` + body + ` });`
	}
	const body = `return { execute: function () { e("weight", window.weights.reduce((a, b) => a + b.value, 0)); } };`
	left := analyzed(t, folder(t, map[string]string{"m.js": bundle("lib/heavy.js", body)}))
	right := analyzed(t, folder(t, map[string]string{"m.js": bundle("lib/weighty.js", body)}))
	c, err := Compare(t.Context(), left, right)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Items {
		if it := &c.Items[i]; it.Left < 0 || it.Right < 0 {
			t.Errorf("rows %d and %d: %s, %s", it.Left, it.Right, it.Status, it.Reason)
		}
	}
}
