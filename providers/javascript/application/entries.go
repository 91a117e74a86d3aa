package application

import (
	"path"
	"slices"
	"strings"

	"rea/generated/model"
	"rea/providers/javascript/graph"
	"rea/providers/javascript/resolve"
	"rea/providers/javascript/tree"
)

// An entry is a file with which a package is used.
type entry struct {
	kind, value string
	subpath     string
	conditions  []string
}

func (e *entry) properties() graph.Properties {
	p := graph.Properties{"entry": e.kind}
	if e.subpath != "" {
		p["subpath"] = e.subpath
	}
	if len(e.conditions) > 0 {
		p["conditions"] = e.conditions
	}
	return p
}

// entries are those that a manifest names. What it exports to types alone is none.
func (a *analysis) entries(dir string, m *resolve.Manifest, inside bool) []entry {
	list := []entry{{kind: "main", value: m.Main}, {kind: "module", value: m.Module}, {kind: "browser", value: m.Browser}}
	names := make([]string, 0, len(m.Bin))
	for name := range m.Bin {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		list = append(list, entry{kind: "bin", value: m.Bin[name]})
	}
	if m.Main == "" && !inside && a.Has(path.Join(dir, "index.js")) {
		list = append(list, entry{kind: "main", value: "index.js"})
	}
	for _, x := range m.Exported() {
		if !slices.Contains(x.Conditions, "types") && !strings.HasSuffix(x.Path, ".d.ts") {
			list = append(list, entry{"exports", x.Path, x.Subpath, x.Conditions})
		}
	}
	replaced := make([]string, 0, len(m.Replaced))
	for from, to := range m.Replaced {
		if strings.HasPrefix(to, ".") {
			replaced = append(replaced, from)
		}
	}
	slices.Sort(replaced)
	for _, from := range replaced {
		list = append(list, entry{kind: "browser", value: m.Replaced[from], subpath: from})
	}
	return list
}

// maxMatches bounds the files of one pattern.
const maxMatches = 200

// drawPattern draws the files that a pattern of exports means.
func (a *analysis) drawPattern(package_ int64, dir string, e *entry) {
	found, more := 0, int64(0)
	folder := ""
	if dir != "." {
		folder = dir + "/"
	}
	first, _ := slices.BinarySearchFunc(a.tree.Files, folder, func(f tree.File, folder string) int { return strings.Compare(f.Path, folder) })
	for i := first; i < len(a.tree.Files); i++ {
		p, ok := strings.CutPrefix(a.tree.Files[i].Path, folder)
		if !ok {
			break
		}
		if strings.Contains(p, "node_modules/") || !resolve.Matches(e.value, p) {
			continue
		}
		if found++; found > maxMatches {
			more++
			continue
		}
		a.b.Edge(package_, a.fileNodes[i], model.ApplicationRelationLoads, a.b.From(fromPackage), nil, e.properties())
	}
	if more > 0 {
		a.b.Gap("files that package "+dir+" exports as "+e.value, more, "they are very many")
	}
}
