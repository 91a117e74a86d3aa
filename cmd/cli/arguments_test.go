package cli

import (
	"errors"
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPermute(t *testing.T) {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Int("depth", 0, "")
	fs.Bool("used", false, "")
	fs.String("format", "", "")
	for _, tt := range []struct {
		name, args, want, hint string
	}{
		{"flags_last", "/bin/ls main --depth 3", "--depth 3 -- /bin/ls main", ""},
		{"flags_first", "--depth=3 /bin/ls -- main", "--depth=3 -- /bin/ls main", ""},
		{"switch_takes_no_value", "--used /bin/ls -format json", "--used -format json -- /bin/ls", ""},
		{"after_the_dashes_all_is_positional", "a -- --depth 3", "-- a --depth 3", ""},
		{"a_dash_is_stdin", "- --used", "--used -- -", ""},
		{"a_value_may_look_like_a_flag", "--depth --used x", "--depth --used -- x", ""},
		{"unknown", "--dept 3", "", "did you mean --depth?"},
		{"nothing_near", "--zzzzzz", "", "rea help cmd lists its flags"},
		{"no_name_of_a_flag", "-[Foo bar:]", "", "what comes after -- are arguments, even if it begins with a dash"},
		{"no_value", "x --depth", "", ""},
		{"empty", "", "--", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := permute("cmd", fs, strings.Fields(tt.args))
			if tt.want == "" {
				var usage *usageError
				if !errors.As(err, &usage) || usage.hint != tt.hint {
					t.Fatalf("got %v, hint %+v; want hint %q", got, err, tt.hint)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := permute("cmd", fs, []string{"x", "--help"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("--help gives %v", err)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"list-strings", "list-segments", "xrefs", "analyze", "mcp"}
	for word, want := range map[string]string{
		"list-string": "list-strings", "lits-segments": "list-segments", "xref": "xrefs",
		"anal": "analyze", "analyse": "analyze", "qqq": "", "decompile": "", "mpc": "mcp",
	} {
		if got := nearest(word, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
