package config

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"rea/cmd/setup/config/edit"
)

// TestExistingEntries goes through testdata/entries.txtar: each case is a file
// with an entry as people write it, the file with the command brought up to
// date, and the file without the entry.
func TestExistingEntries(t *testing.T) {
	data, err := os.ReadFile("testdata/entries.txtar")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]map[string][]byte{}
	var order []string
	for _, f := range txtar.Parse(data).Files {
		name, part, _ := strings.Cut(f.Name, " ")
		if cases[name] == nil {
			cases[name] = map[string][]byte{}
			order = append(order, name)
		}
		cases[name][part] = f.Data
	}
	if len(order) < 15 {
		t.Fatalf("only %d cases", len(order))
	}
	want := edit.Object{
		{Key: "command", Value: "/usr/bin/rea"},
		{Key: "args", Value: edit.Array{"mcp"}},
		{Key: "timeout", Value: int64(300), Initial: true},
		{Key: "env", Value: edit.Object{{Key: "JAVA_HOME", Value: "/opt/jdk"}}},
	}
	for _, name := range order {
		c := cases[name]
		s := sample{name: name}
		for _, k := range kinds {
			if dir, _, _ := strings.Cut(name, "/"); dir == k.dir {
				s.format, s.path = k.format, k.path
			}
		}
		t.Run(name, func(t *testing.T) {
			f := open(t, s, c["before"])
			if _, _, found := f.Entry(); !found {
				t.Fatal("the entry is not found")
			}
			got, err := f.Put(want)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, c["updated"]) {
				t.Errorf("updated:\n%s\nwant\n%s", got, c["updated"])
			}
			if again, err := open(t, s, got).Put(want); err != nil || !bytes.Equal(again, got) {
				t.Errorf("a second run: %v\n%s", err, again)
			}
			gone, err := open(t, s, c["before"]).Remove(0)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(gone, c["removed"]) {
				t.Errorf("removed:\n%s\nwant\n%s", gone, c["removed"])
			}
		})
	}
}

// TestMalformed holds that what can't be read is named with its place.
func TestMalformed(t *testing.T) {
	for _, tt := range []struct {
		name, kind, src string
		line, column    int
		reason          string
	}{
		{"json_no_comma", "json", "{\n  \"a\": 1\n  \"b\": 2\n}\n", 3, 3, "comma"},
		{"json_cut_off", "json", "{\"mcpServers\": {", 1, 17, "the end of the file"},
		{"json_single_quotes", "json", "{'a': 1}", 1, 2, "key"},
		{"json_bad_escape", "json", "{\"a\": \"\\x41\"}", 1, 8, "escape"},
		{"json_open_string", "json", "{\"a\": \"x\n}", 1, 9, "line break"},
		{"json_word", "json", "{\"a\": nope}", 1, 7, "nope"},
		{"json_two_values", "json", "{}\n{}\n", 2, 1, "behind the end"},
		{"json_list_root", "json", "[]\n", 1, 1, "the file is not an object"},
		{"json_servers_null", "json", "{\"mcpServers\": null}", 1, 16, "mcpServers is not an object"},
		{"json_servers_list", "json", "{\n\t\"mcpServers\": []}", 2, 16, "mcpServers is not an object"},
		{"json_open_comment", "json", "{} /* x", 1, 4, "comment"},
		{"json_utf16", "json", "\xff\xfe{\x00}\x00", 1, 1, "UTF-16"},
		{"json_column_counts_characters", "json", "{\"é\": ?}", 1, 7, "value"},
		{"json_bom_is_no_column", "json", "\xef\xbb\xbf{\"e\": ?}", 1, 7, "value"},
		{"json_not_utf8", "json", "{\"a\":\n \"x\xe9\"}", 2, 4, "UTF-8"},
		{"json_too_deep", "json", strings.Repeat("[", 100000), 1, 514, "nested"},
		{"toml_no_value", "toml", "a = \nb = 1\n", 1, 5, "value"},
		{"toml_twice", "toml", "a = 1\nb = 2\na = 3\n", 3, 1, "defined twice"},
		{"toml_table_twice", "toml", "[a]\n[b]\n[a]\n", 3, 1, "defined twice"},
		{"toml_key_and_table", "toml", "a = 1\n[a.b]\n", 2, 1, "has a value already"},
		{"toml_open_string", "toml", "a = \"x\nb = 1\n", 1, 7, "line break"},
		{"toml_bad_number", "toml", "a = 01\n", 1, 5, "is not a value"},
		{"toml_two_on_a_line", "toml", "a = 1 b = 2\n", 1, 7, "where the line should end"},
		{"toml_open_header", "toml", "[a\n", 1, 3, "]"},
		{"toml_servers_text", "toml", "mcp_servers = \"x\"\n", 1, 15, "mcp_servers is not a table"},
		{"toml_servers_array", "toml", "[[mcp_servers]]\n", 1, 1, "array of tables"},
		{"toml_open_list", "toml", "a = [1,\n", 1, 5, "doesn't end"},
		{"yaml_tab", "yaml", "a:\n\tb: 1\n", 2, 1, "tab"},
		{"yaml_colon", "yaml", "a: b: c\n", 1, 5, "colon"},
		{"yaml_open_quote", "yaml", "a: \"b\nc: d\n", 1, 4, "doesn't end"},
		{"yaml_indent", "yaml", "a: 1\n  b: 2\n", 2, 4, "colon"},
		{"yaml_twice", "yaml", "a: 1\na: 2\n", 2, 1, "defined twice"},
		{"yaml_open_brace", "yaml", "a: {b: 1\n", 1, 4, "doesn't end"},
		{"yaml_two_documents", "yaml", "a: 1\n---\nb: 2\n", 2, 1, "second document"},
		{"yaml_document_behind_the_end", "yaml", "a: 1\n...\nb: 2\n", 3, 1, "second document"},
		{"yaml_text_behind_the_end", "yaml", "a: 1\n... b\n", 2, 4, "on the line"},
		{"yaml_list_root", "yaml", "- a\n", 1, 1, "the file is not a mapping"},
		{"yaml_servers_text", "yaml", "extensions: none\n", 1, 13, "extensions is not a mapping"},
		{"yaml_not_a_list", "yaml-list", "mcpServers:\n  a: 1\n", 2, 3, "mcpServers is not a list"},
		{"yaml_dedent", "yaml", "a:\n    b: 1\n  c: 2\n", 3, 3, "indented more"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, k := range kinds {
				if k.dir != tt.kind {
					continue
				}
				_, err := Open(k.format, []byte(tt.src), k.path)
				var e *edit.Error
				if !errors.As(err, &e) {
					t.Fatalf("err = %v", err)
				}
				if e.Line != tt.line || e.Column != tt.column || !strings.Contains(e.Reason, tt.reason) {
					t.Errorf("%v, want %d:%d … %s", e, tt.line, tt.column, tt.reason)
				}
			}
		})
	}
}

// FuzzEdit holds for any bytes: what can be opened can be edited or is refused,
// nothing is lost, a second run changes nothing, and removing restores the file.
func FuzzEdit(f *testing.F) {
	for _, s := range samples(f) {
		for i, k := range kinds {
			if k.format == s.format {
				f.Add(uint8(i), s.src)
			}
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, src []byte) {
		k := kinds[int(kind)%len(kinds)]
		file, err := Open(k.format, src, k.path)
		if err != nil {
			return
		}
		_, _, had := file.Entry()
		made := file.Missing()
		one, err := file.Put(entry("/usr/bin/rea"))
		if err != nil {
			return
		}
		if !had && !contains(one, src) {
			t.Fatalf("lost a byte:\n%q\n%q", src, one)
		}
		again, err := Open(k.format, one, k.path)
		if err != nil {
			t.Fatalf("can't read what was written: %v\n%q\n%q", err, src, one)
		}
		if two, err := again.Put(entry("/usr/bin/rea")); err != nil || !bytes.Equal(one, two) {
			t.Fatalf("a second run: %v\n%q\n%q\n%q", err, src, one, two)
		}
		back, err := again.Remove(made)
		if err != nil {
			return
		}
		if !had && len(back) > len(src)+4 {
			t.Fatalf("removing left something:\n%q\n%q\n%q", src, one, back)
		}
		if gone, err := Open(k.format, back, k.path); err != nil {
			t.Fatalf("can't read what was left: %v\n%q\n%q", err, one, back)
		} else if _, _, found := gone.Entry(); found {
			t.Fatalf("still there:\n%q\n%q", one, back)
		}
	})
}

// TestIndent: what is written is indented like the file.
func TestIndent(t *testing.T) {
	for file, want := range map[string]string{
		"yaml/wide-indent.yaml":   "\n    rea:\n        name: rea\n        command: /usr/bin/rea\n        args: [mcp]\n        timeout: 300\n        env:\n            GHIDRA_INSTALL_DIR: ",
		"yaml/goose.yaml":         "\n  rea:\n    name: rea\n    command: /usr/bin/rea\n    args: [mcp]\n    timeout: 300\n    env:\n      GHIDRA_INSTALL_DIR: ",
		"yaml-list/wide-end.yaml": "\n    - name: rea\n      command: /usr/bin/rea\n      args: [mcp]\n      timeout: 300\n      env:\n          GHIDRA_INSTALL_DIR: ",
	} {
		src, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		s := sample{name: file, format: YAML, src: src}
		for _, k := range kinds {
			if strings.HasPrefix(file, k.dir+"/") {
				s.path = k.path
			}
		}
		if got := put(t, s, src, "/usr/bin/rea"); !strings.Contains(string(got), want) {
			t.Errorf("%s:\n%s", file, got)
		}
	}
}
