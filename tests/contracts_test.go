package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Inputs become parameters of records, in which numbers are exact in double
// precision: an integer that has no bound would be refused only there.
func TestContracts_bound_the_integers_of_inputs(t *testing.T) {
	files, err := filepath.Glob("../contracts/tools/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no contracts: ", err)
	}
	const exact = 1 << 53
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Defs struct{ Input any } `json:"$defs"`
		}
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var walk func(v any, at string)
		walk = func(v any, at string) {
			switch v := v.(type) {
			case map[string]any:
				_, fixed := v["const"]
				if top, ok := v["maximum"].(float64); v["type"] == "integer" && !fixed && (!ok || top > exact) {
					t.Errorf("%s: %s has no maximum that is exact in double precision", filepath.Base(file), at)
				}
				for name, item := range v {
					walk(item, at+"/"+name)
				}
			case []any:
				for i, item := range v {
					walk(item, fmt.Sprintf("%s/%d", at, i))
				}
			}
		}
		walk(doc.Defs.Input, "input")
	}
}
