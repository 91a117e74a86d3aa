package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rea/generated/cli"
)

var probe = cli.Command{
	Name: "probe", Tool: "probe", Target: true,
	Positionals: []cli.Argument{
		{Name: "start", Pointer: "/start", Type: cli.String, Required: true},
		{Name: "rest", Pointer: "/rest", Type: cli.String, Repeated: true},
	},
	Flags: []cli.Argument{
		{Name: "depth", Pointer: "/depth", Type: cli.Integer},
		{Name: "ratio", Pointer: "/ratio", Type: cli.Number},
		{Name: "used", Pointer: "/used", Type: cli.Boolean},
		{Name: "mode", Pointer: "/mode", Type: cli.String, Enum: []string{"a", "b"}},
		{Name: "offset-blocks", Pointer: "/offset/blocks", Type: cli.Integer},
		{Name: "offset-calls", Pointer: "/offset/calls", Type: cli.Integer},
		{Name: "pairs", Pointer: "/pairs", Type: cli.JSON},
		{Name: "tag", Pointer: "/tags", Type: cli.String, Repeated: true},
	},
}

func TestInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pairs.json")
	if err := os.WriteFile(file, []byte(" [1, 2]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		args []string
		want string // the input, or what the error says after "!"
	}{
		{"nothing", []string{"f"}, `{}`},
		{"positionals", []string{"f", "main", "x", "y z"}, `{"rest":["x","y z"],"start":"main"}`},
		{"types", []string{"f", "--depth", "0x10", "--ratio=1.5", "--used", "--mode", "b"}, `{"depth":16,"mode":"b","ratio":1.5,"used":true}`},
		{"large_numbers_survive", []string{"f", "--depth", "18446744073709551615"}, `{"depth":18446744073709551615}`},
		{"negative", []string{"f", "--depth=-3"}, `{"depth":-3}`},
		{"a_switch_off", []string{"f", "--used=false"}, `{"used":false}`},
		{"nested", []string{"f", "--offset-blocks", "1", "--offset-calls", "2"}, `{"offset":{"blocks":1,"calls":2}}`},
		{"repeated", []string{"f", "--tag", "a", "--tag", "b"}, `{"tags":["a","b"]}`},
		{"json", []string{"f", "--pairs", `[{"a":1}]`}, `{"pairs":[{"a":1}]}`},
		{"json_file", []string{"f", "--pairs", "@" + file}, `{"pairs":[1,2]}`},
		{"json_stdin", []string{"f", "--pairs", "-"}, `{"pairs":{"from":"stdin"}}`},
		{"whole_untouched", []string{"f", `{"b": 1, "b": 2}`}, `{"b": 1, "b": 2}`},
		{"whole_with_fields", []string{"f", `{"depth":1,"offset":{"blocks":9,"calls":9}}`, "--offset-calls", "2", "--depth", "5"}, `{"depth":5,"offset":{"blocks":9,"calls":2}}`},
		{"no_file", nil, "!probe needs the file to open"},
		{"no_number", []string{"f", "--depth", "3x"}, `!flag --depth: "3x" is not a whole number`},
		{"too_large", []string{"f", "--depth", "18446744073709551616"}, `!flag --depth: "18446744073709551616" is not a whole number`},
		{"no_ratio", []string{"f", "--ratio", "NaN"}, `!flag --ratio: "NaN" is not a number`},
		{"no_choice", []string{"f", "--mode", "c"}, `!flag --mode: "c" is not one of a, b`},
		{"no_json", []string{"f", "--pairs", "{"}, `!flag --pairs: "{" is not JSON`},
		{"no_whole", []string{"f", "{x}"}, `!"{x}" is not JSON`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := &input{stdin: strings.NewReader(`{"from":"stdin"}`)}
			fs := flags("probe")
			for i := range probe.Flags {
				fs.Var(field{in, &probe.Flags[i]}, probe.Flags[i].Name, "")
			}
			got, err := func() (string, error) {
				args, err := permute("probe", fs, tt.args)
				if err != nil {
					return "", err
				}
				if err := fs.Parse(args); err != nil {
					return "", usagef("", "%s", parseMessage(err))
				}
				if _, err := in.positional(&probe, fs.Args()); err != nil {
					return "", err
				}
				data, err := in.JSON()
				return string(data), err
			}()
			if err != nil {
				got = "!" + err.Error()
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// Every flag of every tool must be set through its own pointer.
func TestCommands_have_distinct_flags_and_pointers(t *testing.T) {
	for _, c := range cli.Commands() {
		names, pointers := map[string]bool{}, map[string]bool{}
		for _, f := range c.Flags {
			if names[f.Name] || pointers[f.Pointer] {
				t.Errorf("%s: --%s (%s) is there twice", c.Name, f.Name, f.Pointer)
			}
			names[f.Name], pointers[f.Pointer] = true, true
		}
		for i, p := range c.Positionals {
			if p.Repeated && i != len(c.Positionals)-1 {
				t.Errorf("%s: %s takes everything after it", c.Name, p.Name)
			}
		}
	}
}
