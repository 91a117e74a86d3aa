package sourcemap_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rea/providers/javascript/jstest"
	"rea/providers/javascript/sourcemap"
)

// consumer prints what Mozilla's reader finds in each map.
const consumer = `
const fs = require("fs"), {SourceMapConsumer} = require("source-map-js");
const out = JSON.parse(fs.readFileSync(0, "utf8")).map((file) => {
  const list = [];
  new SourceMapConsumer(JSON.parse(fs.readFileSync(file, "utf8"))).eachMapping((m) => {
    if (m.source !== null) list.push([m.generatedLine - 1, m.generatedColumn, m.source, m.originalLine - 1, m.originalColumn, m.name].join(" "));
  });
  return list;
});
process.stdout.write(JSON.stringify(out));
`

func TestPositionsAreThoseOfAnotherReader(t *testing.T) {
	if testing.Short() {
		t.Skip("installs packages")
	}
	dir := jstest.Packages(t, "source-map-js@1.2.1", "axios@1.7.9", "preact@10.25.4", "zod@3.24.1", "rxjs@7.8.1")
	var files []string
	for _, name := range []string{"axios/dist/axios.min.js.map", "preact/dist/preact.module.js.map", "rxjs/dist/bundles/rxjs.umd.js.map", "preact/hooks/dist/hooks.mjs.map"} {
		path := filepath.Join(dir, "node_modules", name)
		if _, err := os.Stat(path); err == nil {
			files = append(files, path)
		}
	}
	if len(files) < 2 {
		t.Fatalf("only %d maps", len(files))
	}
	input, err := json.Marshal(files)
	if err != nil {
		t.Fatal(err)
	}
	var truth [][]string
	if err := json.Unmarshal(jstest.Node(t, dir, consumer, input), &truth); err != nil {
		t.Fatal(err)
	}
	for i, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := sourcemap.Read(data)
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, s := range m.Segments {
			if s.Source < 0 {
				continue
			}
			name := ""
			if s.Name >= 0 {
				name = m.Names[s.Name]
			}
			have = append(have, fmt.Sprintf("%d %d %s %d %d %s", s.Line, s.Column, m.Sources[s.Source].Path, s.SourceLine, s.SourceColumn, name))
		}
		if len(have) != len(truth[i]) || len(have) < 100 {
			t.Errorf("%s: %d positions, not %d", path, len(have), len(truth[i]))
			continue
		}
		for j := range have {
			if have[j] != truth[i][j] {
				t.Errorf("%s: position %d is %q, not %q", path, j, have[j], truth[i][j])
				break
			}
		}
	}
}

func TestHostileMaps(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		ok        bool
		segments  int
	}{
		{"not_json", "{", false, 0},
		{"array", "[1]", false, 0},
		{"null", "null", false, 0},
		{"empty", "{}", false, 0},
		{"negative_source", `{"version":3,"sources":["a"],"mappings":"AADA"}`, true, 0},
		{"huge_source", `{"version":3,"sources":["a"],"mappings":"AggggggC"}`, true, 0},
		{"endless_number", `{"version":3,"sources":["a"],"mappings":"` + strings.Repeat("g", 1000) + `"}`, true, 0},
		{"good_among_bad", `{"version":3,"sources":["a"],"mappings":"AAAA,!!!!,CAAC"}`, true, 2},
		{"sections_in_sections", strings.Repeat(`{"sections":[{"offset":{"line":0,"column":0},"map":`, 50) + `{}` + strings.Repeat(`}]}`, 50), true, 0},
		{"section", `{"sections":[{"offset":{"line":2,"column":3},"map":{"sources":["a"],"mappings":"AAAA"}}]}`, true, 1},
		{"proto", `{"version":3,"__proto__":{"sources":["x"]},"constructor":1,"sources":["__proto__"],"mappings":"AAAA"}`, true, 1},
		{"wrong_types", `{"version":"3","sources":[1,null,{}],"sourcesContent":[1],"names":{},"mappings":"AAAA"}`, false, 0},
		{"guarded", ")]}'\n" + `{"version":3,"sources":["a"],"mappings":"AAAA"}`, true, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := sourcemap.Read([]byte(tt.src))
			if (err == nil) != tt.ok {
				t.Fatalf("err = %v", err)
			}
			if err == nil && len(m.Segments) != tt.segments {
				t.Errorf("%d positions", len(m.Segments))
			}
		})
	}
	var b strings.Builder
	b.WriteString(`{"version":3,"mappings":"AAAA","sources":[`)
	for i := range 1_000_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"a%d.js"`, i)
	}
	b.WriteString("]}")
	m, err := sourcemap.Read([]byte(b.String()))
	if err != nil || len(m.Sources) != sourcemap.MaxSources || len(m.Notes) == 0 {
		t.Errorf("a million sources: %v", err)
	}
}

func TestDeclaredMaps(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"a()\n//# sourceMappingURL=a.js.map\n", "a.js.map"},
		{"a()\n//@ sourceMappingURL=a.js.map", "a.js.map"},
		{"a()\n/*# sourceMappingURL=a.css.map */", "a.css.map"},
		{"a('sourceMappingURL=b.map')", ""},
		{"a()\n//# sourceMappingURL=data:application/json;base64," + strings.Repeat("e", 10_000), "data:application/json;base64," + strings.Repeat("e", 10_000)},
		{"", ""},
	} {
		if got := sourcemap.Declared(tt.src); got != tt.want {
			t.Errorf("%.40q declares %.40q", tt.src, got)
		}
	}
}

func TestNormalizedPaths(t *testing.T) {
	for _, tt := range []struct{ root, name, want string }{
		{"", "webpack://app/../node_modules/x/./y.js?1", "webpack://app/../node_modules/x/y.js"},
		{"", "webpack://app", "webpack://app"},
		{"", "../src/./a.js", "../src/a.js"},
		{"/root/", "a/../b.js", "/root/b.js"},
		{"", "webpack://app/./src/a.js?1234", "webpack://app/src/a.js"},
		{"", "webpack:///./src/a.js", "webpack:///src/a.js"},
		{"", "https://u:S@h/x.js?token=S#S", "https://h/x.js"},
		{"https://S@h:80/r", "x.js#S", "https://h:80/r/x.js"},
		{"", "webpack://@scope/package/./a#b.js", "webpack://@scope/package/a#b.js"},
	} {
		if got := sourcemap.Normalize(tt.root, tt.name); got != tt.want {
			t.Errorf("%q %q is %q, not %q", tt.root, tt.name, got, tt.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"version":3,"sources":["a","b"],"sourcesContent":["x",null],"names":["n"],"mappings":"AAAAA,CCDA;;GAAC"}`))
	f.Add([]byte(`{"version":3,"sections":[{"offset":{"line":1,"column":2},"map":{"sources":["a"],"mappings":"AAAA"}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := sourcemap.Read(data)
		if err != nil {
			return
		}
		for _, s := range m.Segments {
			if int(s.Source) >= len(m.Sources) || int(s.Name) >= len(m.Names) || s.Line < 0 || s.Column < 0 {
				t.Fatalf("%+v is out of range", s)
			}
		}
		m.Runs()
	})
}
