package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rea/generated/model"
	"rea/generated/wire"
)

// tenMegabytes is a result of about 10 MB, strings, numbers and addresses mixed.
func tenMegabytes() *ListStringsOutput {
	out := &ListStringsOutput{Items: make([]model.StringItem, 50000)}
	section := ".rodata"
	for i := range out.Items {
		out.Items[i] = model.StringItem{
			Address: model.Address(0x400000 + i*40), Value: fmt.Sprintf("cannot open %q: line %d of /usr/share/file\n", "name", i),
			Encoding: model.StringEncodingAscii, ByteLength: 44, Section: &section, Uses: int64(i % 7),
		}
	}
	return out
}

func BenchmarkAppendJSON(b *testing.B) {
	out := tenMegabytes()
	text := out.AppendJSON(nil)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		out.AppendJSON(nil)
	}
}

func BenchmarkDecodeOutput(b *testing.B) {
	text := tenMegabytes().AppendJSON(nil)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeListStringsOutput(text); err != nil {
			b.Fatal(err)
		}
	}
}

// The same with the standard library, into the same fields without any check.
func BenchmarkDecodeOutput_unchecked(b *testing.B) {
	text := tenMegabytes().AppendJSON(nil)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		var v struct {
			Items []struct {
				Address, Value, Encoding string
				ValueTruncated           bool  `json:"value_truncated"`
				ByteLength               int64 `json:"byte_length"`
				Section                  *string
				Uses                     int64
			}
		}
		if err := json.Unmarshal(text, &v); err != nil {
			b.Fatal(err)
		}
	}
}

// inlineEvidence is the input of a comparison with a record of about 8 MB.
func inlineEvidence() []byte {
	digest := strings.Repeat("0", 64)
	record := `{"schema_version":2,"evidence_id":"ev_` + digest + `","operation":"list_strings","predicate_type":"p","normalized_result":` +
		string(tenMegabytes().AppendJSON(nil)) + `,"confidence":"observed","authority":"shipped-artifact","subject":null,` +
		`"provider":{"id":"embedded","name":"Embedded","version":null},"analysis_profile":null,"parameters":{},"limitations":[],` +
		`"locations":[],"evidence_links":[],"environment":null,"raw_result":null}`
	return []byte(`{"left":` + record + `,"right":{"kind":"retained-evidence","evidence_id":"ev_` + digest + `"}}`)
}

func BenchmarkDecodeInlineEvidence(b *testing.B) {
	text := inlineEvidence()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeCompareFunctionsInput(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeInput(b *testing.B) {
	text := []byte(`{"procedure":"0x401000","include_assembly":true,"limit":20,"collection_offset":{"callees":5}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeAnalyzeFunctionInput(text); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzDecodeInput(f *testing.F) {
	f.Add([]byte(`{"procedure":"main","collection_offset":{"callers":1}}`))
	f.Add([]byte(`{"left":{"kind":"retained-evidence"},"right":{"schema_version":2}}`))
	for _, c := range cases {
		for _, e := range c.spec.Examples {
			f.Add([]byte(e.Input))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, c := range cases {
			in, err := c.input(data)
			if err != nil {
				continue
			}
			written := in.AppendJSON(nil)
			again, err := c.input(written)
			if err != nil {
				t.Fatalf("%s: %s is written as %s and then refused: %v", c.spec.Name, data, written, err)
			}
			if !bytes.Equal(written, again.AppendJSON(nil)) {
				t.Fatalf("%s: %s does not come to rest", c.spec.Name, written)
			}
		}
	})
}

func TestDepth_is_bounded(t *testing.T) {
	deep := strings.Repeat("[", 100000)
	for name, decode := range map[string]func() error{
		"argument": func() error { _, err := DecodeListNamesInput([]byte(`{"document":` + deep)); return err },
		"evidence": func() error {
			_, err := DecodeCompareFunctionsInput([]byte(`{"left":{"schema_version":2,"normalized_result":` + deep))
			return err
		},
	} {
		if err := decode(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	nested := strings.Repeat(`[`, wire.RecordDepth) + strings.Repeat(`]`, wire.RecordDepth)
	_, err := DecodeCompareFunctionsInput([]byte(`{"left":{"kind":"retained-evidence","evidence_id":` + nested + `}}`))
	if err == nil {
		t.Error("nesting beyond the limit is accepted")
	}
}
