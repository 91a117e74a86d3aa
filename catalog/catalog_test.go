package catalog

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kaptinlin/jsonschema"

	"rea/generated/catalog"
)

const inputSchema = `{"type":"object","additionalProperties":false,"required":["procedure"],"properties":{
"procedure":{"$ref":"#/$defs/selector","description":"Which one."},
"limit":{"type":"integer","minimum":1,"maximum":500,"default":100},
"mode":{"type":"string","enum":["a","b"]},
"names":{"type":"array","maxItems":3,"items":{"type":"object","properties":{"address":{"$ref":"#/$defs/selector"}}}},
"next":{"anyOf":[{"type":"integer","minimum":0},{"type":"null"}]},
"any":{"type":["null","boolean","object","array","number","string"]},
"by":{"type":"object","additionalProperties":{"type":"integer"}}},
"$defs":{"selector":{"type":"string","description":"Name or address.","minLength":1,"maxLength":9}}}`

func TestRows(t *testing.T) {
	got, err := rows([]byte(inputSchema))
	if err != nil {
		t.Fatal(err)
	}
	want := []Row{
		{Name: "procedure", Type: "string", Required: true, Rules: "1 to 9 characters", Description: "Which one."},
		{Name: "limit", Type: "integer", Default: "100", Rules: "1 to 500"},
		{Name: "mode", Type: "string", Rules: "a | b"},
		{Name: "names", Type: "list of object", Rules: "at most 3 items"},
		{Depth: 1, Name: "address", Type: "string", Rules: "1 to 9 characters", Description: "Name or address."},
		{Name: "next", Type: "integer | null"},
		{Name: "any", Type: "any JSON"},
		{Name: "by", Type: "map of integer"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestRows_of_a_part(t *testing.T) {
	got, err := rows([]byte(`{"properties":{"outer":{"$ref":"#/$defs/o"}},"$defs":{"o":{"properties":{"inner":{"type":"string"}}}}}`), "outer")
	if err != nil || len(got) != 1 || got[0].Name != "inner" {
		t.Errorf("rows are %+v, err %v", got, err)
	}
	if _, err := rows([]byte(`{"type":"object"}`), "outer"); err == nil {
		t.Error("a missing property gives rows")
	}
}

func TestRows_of_recursive_schemas_end(t *testing.T) {
	got, err := rows([]byte(`{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}},"loop":{"$ref":"#/$defs/loop"}}}`))
	if err != nil || len(got) != 2 {
		t.Errorf("%d rows, err %v", len(got), err)
	}
}

func document() *catalog.Document {
	commit, modified, tool := "0123abcd", true, "list_things"
	schema := json.RawMessage(inputSchema)
	return &catalog.Document{
		FormatVersion: FormatVersion,
		Package:       catalog.Package{Name: "rea", Version: "v1.2.3"},
		Revision:      catalog.Revision{Commit: &commit, Modified: &modified},
		Families:      []catalog.Family{{Name: "native", Tools: []string{"list_things"}}},
		Tools: []catalog.Tool{{
			Name: "list_things", Title: "List <things>", Description: "Lists & counts </script> things.", Family: "native",
			Examples:    []catalog.Example{{Title: "one", Input: json.RawMessage(`{"a":"<b>"}`)}},
			InputSchema: schema, CompactInputSchema: schema, OutputSchema: schema,
		}},
		Errors:   []catalog.Fault{{Code: "no_target_open", DetailsSchema: schema}},
		Commands: []catalog.Command{{Name: "list-things", Tool: &tool, Usage: "rea list-things FILE"}, {Name: "version", Usage: "rea version"}},
	}
}

func TestExport_writes_its_files(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "dir")
	paths, err := Export(dir, document(), "guide\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{filepath.Join(dir, DataFile), filepath.Join(dir, PageFile), filepath.Join(dir, GuideFile)}, paths); diff != "" {
		t.Fatal(diff)
	}
	if guide, err := os.ReadFile(paths[2]); err != nil || string(guide) != "guide\n" {
		t.Errorf("the guide is %q (%v)", guide, err)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	var back catalog.Document
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if again, err := JSON(&back); err != nil || !bytes.Equal(again, data) {
		t.Errorf("the document does not survive reading and writing: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("%d files are left in the folder, want 3 (%v)", len(entries), err)
	}
}

func TestPage_escapes_and_loads_nothing(t *testing.T) {
	var b strings.Builder
	if err := Page(&b, document()); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"List &lt;things&gt;", "Lists &amp; counts &lt;/script&gt;", "0123abcd, with local changes", "$ref", `id="command-version"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, `id="command-list-things"`) {
		t.Error("a tool is listed a second time as a command")
	}
	for _, never := range []string{"src=", "@import", "url(", "https://"} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %q", never)
		}
	}
}

func TestRevision_is_exact_or_said_to_be_unknown(t *testing.T) {
	_, r := fromBuildInfo(&debug.BuildInfo{})
	if r.Commit != nil || r.Reason == nil || !strings.HasPrefix(describe(r), "unknown (") {
		t.Errorf("a build without version control is %v", r)
	}
	pkg, r := fromBuildInfo(&debug.BuildInfo{
		Main: debug.Module{Version: "v1.0.0"},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "false"},
		},
	})
	if got, want := pkg.Version+" "+describe(r), "v1.0.0 abc of 2026-01-02T03:04:05Z"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNew_describes_every_tool_and_obeys_its_schema(t *testing.T) {
	doc := New([]catalog.Engine{}, []catalog.Command{})
	if len(doc.Tools) < 50 || len(doc.Commands) != len(doc.Tools) || len(doc.CatalogDigest) != 64 {
		t.Errorf("%d tools, %d commands, digest %q", len(doc.Tools), len(doc.Commands), doc.CatalogDigest)
	}
	data, err := JSON(doc)
	if err != nil {
		t.Fatal(err)
	}
	s, err := jsonschema.NewCompiler().Compile([]byte(catalog.Schema))
	if err != nil {
		t.Fatal(err)
	}
	if r := s.ValidateJSON(data); !r.IsValid() {
		t.Errorf("the document breaks its schema: %v", r.DetailedErrors())
	}
}
