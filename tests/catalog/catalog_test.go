// Package catalog tries the exported catalog as its readers do.
package catalog

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"rea/tests/built"
)

func TestMain(m *testing.M) { built.Main(m) }

// export runs the command and reads the document it wrote.
func export(t *testing.T) (dir string, doc document) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "catalog")
	if out, err := exec.Command(built.Rea(t), "catalog", "export", "--out", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if guide, err := os.ReadFile(filepath.Join(dir, "SKILL.md")); err != nil || !bytes.Contains(guide, []byte("name: rea\n")) || !bytes.Contains(guide, []byte("`inspect_artifact`")) {
		t.Errorf("the guide for agents: %v\n%.300s", err, guide)
	}
	data, err := os.ReadFile(filepath.Join(dir, "product-catalog.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	return dir, doc
}

type document struct {
	Package  struct{ Name, Version string }
	Revision struct{ Commit, Reason *string }
	Digest   string `json:"catalog_digest"`
	Families []struct {
		Name  string
		Tools []string
	}
	Tools []struct {
		Name, Family, Description, Command string
		InputSchema                        map[string]any  `json:"input_schema"`
		OutputSchema                       map[string]any  `json:"output_schema"`
		Annotations                        map[string]bool `json:"annotations"`
		Effects                            map[string]bool
		Errors                             []string
		Examples                           []struct{ Input map[string]any }
	}
	Errors    []struct{ Code, Category, Action string }
	Providers []struct {
		ID           string
		Capabilities []string
	}
	Commands []struct{ Name, Usage, Tool string }
}

func TestDocument_is_complete(t *testing.T) {
	_, doc := export(t)
	if doc.Package.Name != "rea" || doc.Package.Version == "" || len(doc.Digest) < 32 {
		t.Errorf("identity is %+v, digest %q", doc.Package, doc.Digest)
	}
	if (doc.Revision.Commit == nil) == (doc.Revision.Reason == nil) {
		t.Errorf("revision must be known or say why not: %+v", doc.Revision)
	}
	codes := map[string]bool{}
	for _, e := range doc.Errors {
		codes[e.Code] = true
		if e.Category == "" || e.Action == "" {
			t.Errorf("error %s lacks category or remedy", e.Code)
		}
	}
	commands := map[string]string{}
	for _, c := range doc.Commands {
		commands[c.Name] = c.Tool
	}
	listed := 0
	for _, f := range doc.Families {
		listed += len(f.Tools)
	}
	if listed != len(doc.Tools) || listed < 50 {
		t.Errorf("families list %d tools, there are %d", listed, len(doc.Tools))
	}
	for _, tool := range doc.Tools {
		if tool.InputSchema["type"] != "object" || tool.OutputSchema["type"] != "object" {
			t.Errorf("%s lacks a schema", tool.Name)
		}
		if len(tool.Annotations) != 4 || len(tool.Effects) != 10 || tool.Description == "" || len(tool.Examples) == 0 {
			t.Errorf("%s is incomplete: %+v", tool.Name, tool)
		}
		if commands[tool.Command] != tool.Name {
			t.Errorf("%s: command %q is not listed", tool.Name, tool.Command)
		}
		for _, code := range tool.Errors {
			if !codes[code] {
				t.Errorf("%s can fail with %s, which is not listed", tool.Name, code)
			}
		}
	}
	if i := slices.IndexFunc(doc.Providers, func(p struct {
		ID           string
		Capabilities []string
	}) bool {
		return p.ID == "embedded"
	}); i < 0 || len(doc.Providers[i].Capabilities) == 0 {
		t.Errorf("the embedded engine is missing: %+v", doc.Providers)
	}
}

func TestPage_in_a_browser(t *testing.T) {
	dir, doc := export(t)
	b := startBrowser(t)
	b.open("file://" + filepath.Join(dir, "index.html"))

	total := strconv.Itoa(len(doc.Tools))
	if got := b.eval(`document.querySelectorAll("article[data-tool]:not([hidden])").length`); got != total {
		t.Errorf("%s tools are shown, want %s", got, total)
	}
	if got := b.eval(`document.getElementById("count").textContent`); got != total+" tools" {
		t.Errorf("the count says %q, want %s", got, total)
	}
	screenshot(b, "light.png")

	// The slash key begins a search; every word must occur.
	b.press("/", "/")
	if got := b.eval(`document.activeElement.id + ":" + document.activeElement.value`); got != "search:" {
		t.Fatalf("after / the focus is on %q", got)
	}
	b.write("call graph")
	b.until(`!document.getElementById("tool-get_call_graph").hidden && document.getElementById("tool-read_bytes").hidden`)
	if got := b.eval(`document.querySelector("nav li[data-for=tool-read_bytes]").hidden`); got != "true" {
		t.Error("the contents still list a tool that does not match")
	}
	screenshot(b, "search.png")

	// Enter goes to the first match, j to the next.
	b.press("Enter", "")
	first := b.eval(`document.activeElement.closest("article").id`)
	if got := b.eval(`location.hash`); got != "#"+first {
		t.Errorf("Enter went to %q, the address says %q", first, got)
	}

	// A link to a hidden tool ends the search.
	b.eval(`location.hash = "#tool-read_bytes"`)
	b.until(`!document.getElementById("tool-read_bytes").hidden && document.getElementById("search").value === ""`)
	b.press("j", "j")
	if got := b.eval(`document.activeElement.closest("article")?.id`); got == "" || got == first {
		t.Errorf("j went to %q", got)
	}

	// A search for nonsense says so, and Escape brings everything back.
	b.press("/", "/")
	b.write("zzqqxx")
	b.until(`!document.getElementById("nothing").hidden`)
	b.press("Escape", "")
	b.until(`document.querySelectorAll("article[data-tool]:not([hidden])").length === ` + total)

	before := b.eval(`getComputedStyle(document.body).backgroundColor`)
	b.eval(`document.getElementById("theme").click()`)
	if after := b.eval(`getComputedStyle(document.body).backgroundColor`); after == before {
		t.Errorf("the background stays %s in the other theme", after)
	}
	screenshot(b, "dark.png")

	// A link into the page shows what it names.
	b.open("file://" + filepath.Join(dir, "index.html") + "#error-procedure_not_found")
	b.until(`(() => { const r = document.getElementById("error-procedure_not_found").getBoundingClientRect(); return r.top >= 0 && r.bottom < innerHeight })()`)
	screenshot(b, "link.png")
	if c := b.complaints(); len(c) > 0 {
		t.Errorf("the page complained: %q", c)
	}
}

// screenshot is kept where REA_TEST_SCREENSHOTS says, to be looked at.
func screenshot(b *browser, name string) {
	dir := os.Getenv("REA_TEST_SCREENSHOTS")
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), data, 0o644)
	}
	if err != nil {
		b.t.Error(err)
	}
}
