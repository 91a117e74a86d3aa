//go:build unix

package ghidra

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/bridge"
	"rea/runtime/bridge/facts"
	"rea/runtime/child"
)

// compiled is a directory with the classes of the bridge script and of what it
// names of Ghidra.
func compiled(t *testing.T) string {
	t.Helper()
	for _, tool := range []string{"javac", "java"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	stubs, err := os.ReadFile("testdata/stubs.txt")
	if err != nil {
		t.Fatal(err)
	}
	source, out := t.TempDir(), t.TempDir()
	head := regexp.MustCompile(`(?m)^-- (\S+) --\n`)
	places := head.FindAllSubmatchIndex(stubs, -1)
	for i, at := range places {
		end := len(stubs)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		write(t, filepath.Join(source, string(stubs[at[2]:at[3]])), string(stubs[at[1]:end]), 0o644)
	}
	write(t, filepath.Join(source, "ReaBridge.java"), string(script), 0o644)
	cmd := exec.Command("javac", "--release", "17", "-Xlint:all,-serial,-options", "-Werror", "-d", out, "-sourcepath", source, filepath.Join(source, "Drive.java"))
	if text, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(text), "release version 17 not supported") {
			t.Skip("this JDK is older than 17")
		}
		t.Fatalf("the bridge script does not compile: %v\n%s", err, text)
	}
	return out
}

// TestScript runs the bridge script in a JVM, over its socket, with a program
// that has nothing in it.
func TestScript(t *testing.T) {
	classes := compiled(t)
	digest := strings.Repeat("ab", 32)
	version := "12.0"
	link := bridge.New(bridge.Config{
		Provider: model.Provider{ID: ID, Name: "Ghidra", Version: &version}, SHA256: digest, StartTimeout: time.Minute,
		Prepare: func(_ context.Context, p *bridge.Place) (child.Command, error) {
			return child.Command{Path: "java", Args: []string{"-Xshare:auto", "-XX:TieredStopAtLevel=1", "-Ddigest=" + digest, "-cp", classes, "Drive", p.Root}}, nil
		},
	})
	defer func() {
		if err := link.Close(); err != nil {
			t.Error(err)
		}
	}()
	text := func(s string) *string { return &s }
	change := func(kind string, value *string) facts.Change {
		return facts.Change{Address: 0x1000, Kind: kind, Value: value}
	}
	for _, tt := range []struct {
		name string
		op   string
		args any
		end  string // JSON that is contained in the last value
		fail string // code of the failure
	}{
		{"program", facts.Program, nil, `"image_base":4096`, ""},
		{"procedures", facts.Procedures, nil, `{}`, ""},
		{"symbols", facts.Symbols, nil, `{}`, ""},
		{"texts", facts.Texts, nil, `{}`, ""},
		{"transfers", facts.Transfers, nil, `{}`, ""},
		{"body", facts.Body, facts.BodyArgs{Entry: 0xffff_ffff_ffff_fff0, Want: []string{facts.Blocks, facts.Instructions, facts.Outgoing}}, `{"blocks":0,"instructions":0}`, ""},
		{"references_to", facts.References, facts.ReferenceArgs{Address: 1, Direction: facts.To}, `{}`, ""},
		{"references_from", facts.References, facts.ReferenceArgs{Address: 1, Direction: facts.From}, `{}`, ""},
		{"instruction", facts.Instruction, facts.AddressArgs{Address: 1}, "", bridge.FailNotFound},
		{"item_after", facts.Item, facts.ItemArgs{Address: 1, Step: 1}, `{}`, ""},
		{"item_before", facts.Item, facts.ItemArgs{Address: 1, Step: -1}, `{}`, ""},
		{"decompile", facts.Decompile, facts.DecompileArgs{Entry: 1, Seconds: 5}, "", "failed"},
		{"pcode", facts.PCode, facts.DecompileArgs{Entry: 1, Seconds: 5}, "", "failed"},
		{"type_names", facts.TypeNames, nil, `{}`, ""},
		{"type", facts.Type, facts.NameArgs{Name: "a \"quoted\" \\ name\u2028\n"}, "", bridge.FailNotFound},
		{"annotate", facts.Annotate, facts.AnnotateArgs{Changes: []facts.Change{
			change(facts.NoteName, text("n")), change(facts.NoteComment, text("ü😀\x01")), change(facts.NoteInline, nil), change(facts.NoteBookmark, text("b")),
		}}, `{"previous":[null,null,null,null]}`, ""},
		{"annotate_refused", facts.Annotate, facts.AnnotateArgs{Changes: []facts.Change{change(facts.NoteInline, text("x")), change(facts.NoteComment, text("refuse"))}}, "", bridge.FailRefused},
		{"unknown", "dance", nil, "", bridge.FailUnsupported},
		{"missing_argument", facts.Body, facts.AddressArgs{Address: 1}, "", "failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			end, err := link.Ask(t.Context(), bridge.Question{Op: tt.op, Args: tt.args, Timeout: 20 * time.Second, Rows: func(part string, rows jsontext.Value) error {
				t.Errorf("rows of %s: %s", part, rows)
				return nil
			}})
			var failure *bridge.Failure
			switch {
			case tt.fail != "":
				if !errors.As(err, &failure) || failure.Code != tt.fail || failure.Message == "" {
					t.Errorf("%s, %v; want failure %s", end, err, tt.fail)
				}
			case err != nil || !strings.Contains(string(end), tt.end) || !json.Valid(end):
				t.Errorf("%s, %v; want %s", end, err, tt.end)
			}
		})
	}
	// Questions from many sides are answered one after the other.
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if _, err := link.Ask(t.Context(), bridge.Question{Op: facts.TypeNames}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	t.Run("other_bytes", func(t *testing.T) { judged(t, classes) })
}

// judged: a script whose engine imported other bytes is not asked.
func judged(t *testing.T, classes string) {
	link := bridge.New(bridge.Config{
		Provider: model.Provider{ID: ID, Name: "Ghidra"}, SHA256: strings.Repeat("cd", 32), StartTimeout: time.Minute,
		Prepare: func(_ context.Context, p *bridge.Place) (child.Command, error) {
			return child.Command{Path: "java", Args: []string{"-Ddigest=" + strings.Repeat("ab", 32), "-cp", classes, "Drive", p.Root}}, nil
		},
	})
	if _, err := link.Ask(t.Context(), bridge.Question{Op: facts.Program}); fault.CodeOf(err) != fault.ProviderUnavailableCode {
		t.Errorf("error is %v", err)
	}
	if err := link.Close(); err != nil {
		t.Error(err)
	}
}
