package bundle

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"testing"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
	"rea/providers/javascript/symbol"
)

func TestZZ(t *testing.T) {
	data, err := os.ReadFile("/tmp/js/b/builds.json")
	if err != nil {
		t.Skip()
	}
	var builds []struct {
		Name    string
		Files   map[string]string
		Modules []struct {
			ID, Path, File string
			Nested         []struct{ Path string }
		}
	}
	if err := json.Unmarshal(data, &builds); err != nil {
		t.Fatal(err)
	}
	for _, b := range builds {
		nested := 0
		for _, m := range b.Modules {
			nested += len(m.Nested)
		}
		fmt.Printf("== %s: truth %d (+%d nested)\n", b.Name, len(b.Modules), nested)
		if os.Getenv("V") != "" {
			for _, m := range b.Modules {
				fmt.Printf("     T %s %s %v\n", m.ID, m.Path, m.Nested)
			}
		}
		var names []string
		for name := range b.Files {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			f, _ := parse.Parse(t.Context(), b.Files[name], parse.Options{})
			tab := scope.Resolve(f)
			d := Detect(&File{File: f, Scopes: tab, Names: symbol.New(f, tab), Parents: f.Parents()})
			fmt.Printf("   %s errors %d\n", name, f.Failed)
			for _, b := range d.Bundles {
				kinds := map[Kind]int{}
				req := 0
				for _, m := range b.Modules {
					kinds[m.Kind]++
					req += len(m.Requires)
					if os.Getenv("V") != "" {
						fmt.Printf("       %s %q path %q %v\n", m.Kind, m.ID, m.Path, m.Requires)
					}
				}
				fmt.Printf("     %s %v entries %v requires %d (%s)\n", b.Bundler, kinds, b.Entries, req, b.Basis)
			}
		}
	}
}
