package tests

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// layers is the import rule of the tree: a package may import the rooms named
// for its own and nothing else of this module. The longest prefix decides.
var layers = []struct {
	room, why string
	may       []string
}{
	{"gen", "the generator reads contracts and writes bytes; it must build when generated/ is broken", []string{"gen"}},
	{"generated", "generated code is the ground everything stands on", []string{"generated"}},
	{"runtime", "the runtime serves any family and any engine", []string{"generated", "runtime"}},
	{"catalog", "documentation is made from contracts alone", []string{"generated", "catalog"}},
	{"providers/format", "parsers of hostile bytes are pure: bytes in, facts out", []string{"providers/format"}},
	{"providers/embedded", "the engine speaks the runtime's engine interface over the parsers", []string{"generated", "runtime", "providers/format", "providers/embedded"}},
	{"providers/ghidra", "an engine in a process of its own is a launcher and a script; what asks the script is shared", []string{"generated", "runtime", "providers/format", "providers/bridged"}},
	{"providers/hopper", "an engine in a process of its own is a launcher and a script; what asks the script is shared", []string{"generated", "runtime", "providers/format", "providers/bridged"}},
	{"providers", "a family knows the runtime and the parsers, never another family", []string{"generated", "runtime", "providers/format"}},
	{"cmd", "wiring: the only room that knows every family and engine", []string{"generated", "runtime", "providers", "catalog", "cmd"}},
	{"tests", "black box, but for fixtures", []string{"tests", "cmd", "generated", "runtime", "providers"}},
}

// outside lists third-party modules and the only rooms that may import them.
var outside = []struct {
	module string
	rooms  []string
}{
	{"github.com/modelcontextprotocol/go-sdk", []string{"runtime/mcpserver"}},
	{"github.com/dave/jennifer", []string{"gen"}},
	{"github.com/atombender/go-jsonschema", []string{"gen"}},
	{"github.com/kaptinlin/jsonschema", []string{"gen"}},
	{"github.com/peterbourgon/ff", []string{"cmd"}},
	{"github.com/klauspost/compress", []string{"providers/format/codec"}},
	{"github.com/ulikunitz/xz", []string{"providers/format/codec"}},
	{"github.com/bodgit/sevenzip", []string{"providers/format/sevenzip"}},
	{"github.com/nwaples/rardecode", []string{"providers/format/rar"}},
}

// decoders are the parsers that may stand on other modules, those above: the
// standard library does not know the compressions of zstd, xz, 7z and rar, and
// they are kept behind fences that bound memory and hold panics.
var decoders = []string{"providers/format/codec", "providers/format/sevenzip", "providers/format/rar"}

type pkg struct {
	ImportPath string
	Imports    []string
}

func TestImportsFollowTheLayers(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "rea/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := 0
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		seen++
		path := strings.TrimPrefix(p.ImportPath, "rea/")
		for _, imp := range p.Imports {
			if to, ours := strings.CutPrefix(imp, "rea/"); ours {
				checkRoom(t, path, to)
				continue
			}
			checkOutside(t, path, imp)
		}
	}
	if seen < 10 {
		t.Fatalf("only %d packages seen", seen)
	}
}

func checkRoom(t *testing.T, from, to string) {
	t.Helper()
	for _, l := range layers {
		if !within(from, l.room) {
			continue
		}
		if slices.ContainsFunc(l.may, func(room string) bool { return within(to, room) }) {
			return
		}
		// A package may always import what lies below its own folder.
		if l.room == "providers" && within(to, strings.Join(strings.SplitN(from, "/", 3)[:2], "/")) {
			return
		}
		t.Errorf("%s imports %s: %s", from, to, l.why)
		return
	}
	if from != "rea" {
		t.Errorf("%s lies in no known room; add it to the table with its reason", from)
	}
}

func checkOutside(t *testing.T, from, imp string) {
	t.Helper()
	for _, o := range outside {
		if within(imp, o.module) && !slices.ContainsFunc(o.rooms, func(room string) bool { return within(from, room) }) {
			t.Errorf("%s imports %s, which only %v may", from, imp, o.rooms)
		}
	}
	if within(from, "providers/format") && strings.Contains(strings.SplitN(imp, "/", 2)[0], ".") &&
		!slices.ContainsFunc(decoders, func(room string) bool { return within(from, room) }) {
		t.Errorf("%s imports %s: parsers use the standard library only", from, imp)
	}
}

func within(path, room string) bool { return path == room || strings.HasPrefix(path, room+"/") }
