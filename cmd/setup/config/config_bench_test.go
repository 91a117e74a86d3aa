package config

import (
	"bytes"
	"fmt"
	"testing"

	"rea/cmd/setup/config/edit"
)

// large are files of a megabyte: as lines, and as one line where a format
// allows that.
func large() []sample {
	const n = 1 << 20
	fill := func(head, item, tail string) []byte {
		var b bytes.Buffer
		b.WriteString(head)
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, item, i)
		}
		b.WriteString(tail)
		return b.Bytes()
	}
	json, toml, yaml := edit.Keys("mcpServers", "rea"), edit.Keys("mcp_servers", "rea"), edit.Keys("extensions", "rea")
	return []sample{
		{"json_lines", JSON, json, fill("{\n", "  \"key%d\": {\"a\": [1, 2, 3]},\n", "  \"mcpServers\": {}\n}\n")},
		{"json_one_line", JSON, json, fill("{", `"key%d":{"a":[1,2,3]},`, `"mcpServers":{}}`)},
		{"json_servers", JSON, json, fill(`{"mcpServers":{`, `"s%d":{"command":"x"},`, `"z":{}}}`)},
		{"toml_tables", TOML, toml, fill("", "[mcp_servers.s%d]\ncommand = \"x\"\n", "")},
		{"toml_keys", TOML, toml, fill("", "key%d = [1, 2, \"three\"]\n", "")},
		{"toml_inline", TOML, toml, fill("mcp_servers = { ", "s%d = { command = \"x\" }, ", "z = {} }\n")},
		{"yaml_lines", YAML, yaml, fill("extensions:\n", "  s%d:\n    cmd: x\n    args: [a, b]\n", "")},
		{"yaml_flow", YAML, yaml, fill("extensions: {", "s%d: {cmd: x}, ", "z: {}}\n")},
		{"yaml_text", YAML, yaml, fill("a: |\n", "  line %d\n", "")},
	}
}

func BenchmarkPutLarge(b *testing.B) {
	for _, s := range large() {
		b.Run(s.name, func(b *testing.B) {
			b.SetBytes(int64(len(s.src)))
			b.ReportAllocs()
			for b.Loop() {
				put(b, s, s.src, "/usr/bin/rea")
			}
		})
	}
}

// BenchmarkPut edits the settings of a client as people have them.
func BenchmarkPut(b *testing.B) {
	for _, s := range samples(b) {
		if s.name != "json/claude-user.json" && s.name != "toml/codex.toml" && s.name != "yaml/goose.yaml" {
			continue
		}
		b.Run(s.name, func(b *testing.B) {
			for b.Loop() {
				put(b, s, s.src, "/usr/bin/rea")
			}
		})
	}
}
