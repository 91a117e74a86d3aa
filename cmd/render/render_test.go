package render

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"rea/cmd/terminal"
)

var update = flag.Bool("update", false, "rewrite the expected texts")

// Each testdata file holds one result as input.json and the expected text for
// every width it names: width-80.txt, width-0.txt for no bound.
func TestValue(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			changed := false
			for i := range ar.Files[1:] {
				f := &ar.Files[1+i]
				width, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(f.Name, "width-"), ".txt"))
				if err != nil {
					t.Fatalf("%s names no width", f.Name)
				}
				var got strings.Builder
				if err := Value(&got, ar.Files[0].Data, terminal.Screen{Width: width}); err != nil {
					t.Fatal(err)
				}
				for l := range strings.Lines(got.String()) {
					if w := terminal.Width(strings.TrimSuffix(l, "\n")); width > 0 && w > width {
						t.Errorf("%s: line of %d cells: %s", f.Name, w, l)
					}
				}
				if got.String() != string(f.Data) {
					if *update {
						f.Data, changed = []byte(got.String()), true
						continue
					}
					t.Errorf("%s is\n%s\nwant\n%s", f.Name, got.String(), f.Data)
				}
			}
			if changed {
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestValue_refuses_what_is_no_JSON(t *testing.T) {
	for _, in := range []string{"", "{", `{"a":1}{}`, "nope"} {
		if err := Value(&strings.Builder{}, []byte(in), terminal.Screen{}); err == nil {
			t.Errorf("%q was rendered", in)
		}
	}
}

func FuzzValue(f *testing.F) {
	f.Add([]byte(`{"evidence_id":"ev_1","normalized_result":{"total":1,"offset":0,"next_offset":null,"items":[{"a":"\u001b[2J","b":[1,2]}]}}`), 40)
	f.Add([]byte(`[[[1,{"address":"0x1","name":null}]],"日本"]`), 20)
	f.Fuzz(func(t *testing.T, data []byte, width int) {
		var out strings.Builder
		if Value(&out, data, terminal.Screen{Width: max(0, width%300)}) != nil {
			return
		}
		for _, r := range out.String() {
			if r < 0x20 && r != '\n' && r != '\t' || r == 0x7f || 0x80 <= r && r < 0xa0 {
				t.Fatalf("control character %U in %q", r, out.String())
			}
		}
	})
}
