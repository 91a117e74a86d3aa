package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"testing"

	"github.com/kaptinlin/jsonschema"

	"rea/generated/schema"
	"rea/generated/wire"
)

// A contractCase is what the tests know about one tool; the table is generated.
type contractCase struct {
	spec          *Spec
	input, output func([]byte) (wire.Appender, error)
	rejects       []reject
}

// A reject is an input that must be refused at a place.
type reject struct{ title, input, at string }

// oracle compiles a schema with a library that shares no code with ours.
func oracle(t *testing.T, text string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	refuse := func(url string) (io.ReadCloser, error) { return nil, errors.New("schemas are not fetched: " + url) }
	c.RegisterLoader("http", refuse)
	c.RegisterLoader("https", refuse)
	s, err := c.Compile([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// places are the locations of the innermost failures the oracle found. It gives
// each location relative to the one around it.
func places(r *jsonschema.EvaluationResult) []string {
	var out []string
	var walk func(r *jsonschema.EvaluationResult, at string)
	walk = func(r *jsonschema.EvaluationResult, at string) {
		at += r.InstanceLocation
		if len(r.Errors) > 0 {
			out = append(out, at)
		}
		for _, d := range r.Details {
			if !d.Valid {
				walk(d, at)
			}
		}
	}
	walk(r, "")
	sort.Strings(out)
	return out
}

func TestExamples_are_accepted_by_decoder_and_schemas(t *testing.T) {
	for _, c := range cases {
		t.Run(c.spec.Name, func(t *testing.T) {
			schemas := map[string]*jsonschema.Schema{
				"canonical": oracle(t, schema.CanonicalInput(c.spec.Name)),
				"full":      oracle(t, schema.Input(c.spec.Name, schema.Full)),
				"compact":   oracle(t, schema.Input(c.spec.Name, schema.Compact)),
			}
			for _, e := range c.spec.Examples {
				in, err := c.input([]byte(e.Input))
				if err != nil {
					t.Fatalf("%s: %v", e.Title, err)
				}
				canonical := in.AppendJSON(nil)
				again, err := c.input(canonical)
				if err != nil {
					t.Fatalf("%s: written as %s and then refused: %v", e.Title, canonical, err)
				}
				if second := again.AppendJSON(nil); !bytes.Equal(canonical, second) {
					t.Errorf("%s: written as %s and then as %s", e.Title, canonical, second)
				}
				for name, s := range schemas {
					for _, text := range []string{e.Input, string(canonical)} {
						if r := s.ValidateJSON([]byte(text)); !r.IsValid() {
							t.Errorf("%s: the %s schema refuses %s at %q", e.Title, name, text, places(r))
						}
					}
				}
			}
		})
	}
}

func TestRejects_are_refused_at_their_place(t *testing.T) {
	for _, c := range cases {
		s := oracle(t, schema.CanonicalInput(c.spec.Name))
		for _, r := range c.rejects {
			t.Run(c.spec.Name+"/"+r.title, func(t *testing.T) {
				_, err := c.input([]byte(r.input))
				var invalid *wire.InvalidError
				if !errors.As(err, &invalid) {
					t.Fatalf("the decoder says %v", err)
				}
				if invalid.Pointer != r.at {
					t.Errorf("refused at %q, want %q: %v", invalid.Pointer, r.at, err)
				}
				result := s.ValidateJSON([]byte(r.input))
				if result.IsValid() {
					t.Fatal("the canonical schema accepts it")
				}
				found := places(result)
				for _, at := range found {
					// A missing property and a list that is too long are reported at
					// what is around them by one of the two.
					if at == r.at || strings.HasPrefix(r.at, at) || strings.HasPrefix(at, r.at) {
						return
					}
				}
				t.Errorf("the canonical schema refuses it at %q, want %q", found, r.at)
			})
		}
	}
}

func TestAdvertised_examples_are_distinct_canonical_inputs(t *testing.T) {
	for _, c := range cases {
		var full struct{ Examples []json.RawMessage }
		if err := json.Unmarshal([]byte(schema.Input(c.spec.Name, schema.Full)), &full); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, e := range full.Examples {
			in, err := c.input(e)
			if err != nil {
				t.Errorf("%s: %s: %v", c.spec.Name, e, err)
				continue
			}
			text := string(in.AppendJSON(nil))
			if seen[text] {
				t.Errorf("%s: %s is advertised twice", c.spec.Name, e)
			}
			seen[text] = true
			if strings.Contains(text, `"normalized_result"`) {
				t.Errorf("%s: a whole Evidence record is advertised", c.spec.Name)
			}
		}
	}
}

func TestOutputs_agree_with_their_schemas(t *testing.T) {
	record := sealedSample(t)
	for _, c := range cases {
		t.Run(c.spec.Name, func(t *testing.T) {
			text := schema.CanonicalOutput(c.spec.Name)
			canonical, advertised := oracle(t, text), oracle(t, schema.Output(c.spec.Name))
			for variant := range 4 {
				sample := newSampler(t, text, variant).value()
				data, err := json.Marshal(sample)
				if err != nil {
					t.Fatal(err)
				}
				out, err := c.output(data)
				if err != nil {
					t.Fatalf("%s: %v", data, err)
				}
				written := out.AppendJSON(nil)
				if r := canonical.ValidateJSON(written); !r.IsValid() {
					t.Errorf("the canonical schema refuses %s at %q", written, places(r))
				}
				if c.spec.Evidence != nil {
					written = fmt.Appendf(nil, record, written)
				}
				if r := advertised.ValidateJSON(written); !r.IsValid() {
					t.Errorf("the advertised schema refuses %s at %q", written, places(r))
				}
			}
		})
	}
}
