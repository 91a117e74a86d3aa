package cli

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"rea/generated/cli"
	"rea/generated/tool"
)

func TestExampleLine(t *testing.T) {
	for input, want := range map[string]string{
		`{}`:                                     "rea probe FILE",
		`{"start":"main","depth":3,"used":true}`: "rea probe FILE main --depth 3 --used",
		`{"start":"it's","rest":["a","b c"]}`:    `rea probe FILE 'it'\''s' a 'b c'`,
		`{"used":false,"pairs":[{"a":1}]}`:       `rea probe FILE --used=false --pairs '[{"a":1}]'`,
		`{"offset":{"blocks":1}}`:                `rea probe FILE --input '{"offset":{"blocks":1}}'`,
		`{"tags":["a","b"]}`:                     "rea probe FILE --tag a --tag b",
	} {
		if got := exampleLine(&probe, input); got != want {
			t.Errorf("%s is %s, want %s", input, got, want)
		}
	}
}

// A command keeps nothing, so no help shows how to ask for it.
func TestExamples_need_no_session(t *testing.T) {
	commands := cli.Commands()
	for i := range commands {
		if ownExamples[commands[i].Tool] != nil {
			continue
		}
		for _, e := range examples(&commands[i]) {
			if strings.Contains(e[0], "--detail summary") {
				t.Errorf("%s: %s", commands[i].Name, e[0])
			}
		}
	}
}

// What help shows must mean the example: the command line of every example of
// every contract, read back, gives its input.
func TestExamples_read_back(t *testing.T) {
	specs := map[string]*tool.Spec{}
	for _, s := range tool.Specs() {
		specs[s.Name] = s
	}
	commands := cli.Commands()
	for i := range commands {
		c := &commands[i]
		for _, e := range specs[c.Tool].Examples {
			line := exampleLine(c, e.Input)
			args := splitShell(t, line)[2:]
			in := &input{stdin: strings.NewReader("")}
			fs := flags(c.Name)
			for i := range c.Flags {
				fs.Var(field{in, &c.Flags[i]}, c.Flags[i].Name, "")
			}
			whole := fs.String("input", "", "")
			ordered, err := permute(c.Name, fs, args)
			if err == nil {
				err = fs.Parse(ordered)
			}
			if err == nil {
				_, err = in.positional(c, fs.Args())
			}
			if err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			if *whole != "" {
				in.whole = []byte(*whole)
			}
			data, err := in.JSON()
			if err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			var got, want any
			if json.Unmarshal(data, &got) != nil || json.Unmarshal([]byte(e.Input), &want) != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s means %s, want %s", line, data, e.Input)
			}
		}
	}
}

// splitShell splits a line of plain and single-quoted words.
func splitShell(t *testing.T, line string) []string {
	t.Helper()
	var words []string
	var word strings.Builder
	inWord := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				t.Fatalf("open quote: %s", line)
			}
			word.WriteString(line[i+1 : i+1+end])
			i += end + 1
			inWord = true
		case c == '\\':
			i++
			word.WriteByte(line[i])
		case c == ' ':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	return append(words, word.String())
}
