package tool

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kaptinlin/jsonschema"

	"rea/generated/schema"
	"rea/generated/wire"
)

// replacements stand in for any value.
var replacements = []any{
	nil, true, false, json.Number("0"), json.Number("-0"), json.Number("-1"), json.Number("1.0"), json.Number("1.5"), json.Number("1e2"),
	json.Number("12e-1"), json.Number("0.0"), json.Number("9223372036854775807"), json.Number("9223372036854775808"),
	json.Number("-9223372036854775809"), json.Number("18446744073709551616"), json.Number("1e40"),
	"", "x", "0x1", "0X1", "é", "a\nb", "\u0000", strings.Repeat("y", 70), strings.Repeat("é", 5000),
	[]any{}, []any{nil}, []any{"x", "x"}, map[string]any{}, map[string]any{"kind": "retained-evidence"}, map[string]any{"x": json.Number("1")},
}

// mutants yields the documents that differ from doc at one place.
func mutants(doc any, yield func(any)) {
	for _, r := range replacements {
		yield(r)
	}
	switch v := doc.(type) {
	case map[string]any:
		add := maps.Clone(v)
		add["unknown-property"] = json.Number("1")
		yield(add)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			less := maps.Clone(v)
			delete(less, name)
			yield(less)
			less[name+"s"] = v[name]
			yield(less)
			mutants(v[name], func(m any) {
				other := maps.Clone(v)
				other[name] = m
				yield(other)
			})
		}
	case []any:
		yield(append(slices.Clone(v), v...))
		yield(append(slices.Clone(v), json.Number("1")))
		if len(v) > 0 {
			many := slices.Clone(v)
			for len(many) <= 600 {
				many = append(many, v[0])
			}
			yield(many)
		}
		for i := range v {
			yield(slices.Delete(slices.Clone(v), i, i+1))
			if i >= 3 {
				continue // lists are alike all along
			}
			mutants(v[i], func(m any) {
				other := slices.Clone(v)
				other[i] = m
				yield(other)
			})
		}
	case string:
		for _, s := range []string{v + "x", "x" + v, strings.ToUpper(v), v + v, v + "\n"} {
			yield(s)
		}
		if v != "" {
			yield(v[:len(v)-1])
		}
	case json.Number:
		for _, s := range []string{"1", "00", "e1"} {
			if n := string(v) + s; json.Valid([]byte(n)) {
				yield(json.Number(n))
			}
		}
	}
}

func parse(t *testing.T, text []byte) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// agree fails when decoder and oracle judge a document differently. They are not
// asked about what JSON Schema can't say: duplicate names, invalid UTF-8 and
// depth have tests of their own.
func agree(t *testing.T, s *jsonschema.Schema, decode func([]byte) (wire.Appender, error), doc any) (accepted bool) {
	t.Helper()
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	v, err := decode(text)
	r := s.ValidateJSON(text)
	if (err == nil) != r.IsValid() {
		if len(text) > 400 {
			text = append(text[:400], "…"...)
		}
		t.Errorf("%s: the decoder says %v, the schema %v at %q", text, err, r.IsValid(), places(r))
		return false
	}
	if err != nil {
		return false
	}
	if written := v.AppendJSON(nil); !s.ValidateJSON(written).IsValid() {
		t.Errorf("%s is accepted, but not what it is written as: %s", text, written)
	}
	return true
}

func TestMutants_of_inputs_are_judged_alike(t *testing.T) {
	for _, c := range cases {
		t.Run(c.spec.Name, func(t *testing.T) {
			t.Parallel()
			text := schema.CanonicalInput(c.spec.Name)
			s := oracle(t, text)
			bases := []any{map[string]any{}}
			for _, e := range c.spec.Examples {
				in, err := c.input([]byte(e.Input))
				if err != nil {
					t.Fatal(err)
				}
				bases = append(bases, parse(t, []byte(e.Input)), parse(t, in.AppendJSON(nil)))
			}
			for variant := range 4 {
				sample, err := json.Marshal(newSampler(t, text, variant).value())
				if err != nil {
					t.Fatal(err)
				}
				bases = append(bases, parse(t, sample))
			}
			judge(t, s, c.input, bases, 500)
		})
	}
}

func TestMutants_of_outputs_are_judged_alike(t *testing.T) {
	for _, c := range cases {
		t.Run(c.spec.Name, func(t *testing.T) {
			t.Parallel()
			text := schema.CanonicalOutput(c.spec.Name)
			var bases []any
			for variant := range 2 {
				sample, err := json.Marshal(newSampler(t, text, variant).value())
				if err != nil {
					t.Fatal(err)
				}
				bases = append(bases, parse(t, sample))
			}
			judge(t, oracle(t, text), c.output, bases, 150)
		})
	}
}

// judge compares decoder and oracle over mutants of all bases, evenly chosen up to
// a limit, some of them mutated twice.
func judge(t *testing.T, s *jsonschema.Schema, decode func([]byte) (wire.Appender, error), bases []any, limit int) {
	seen := map[string]bool{}
	var docs []any
	for _, base := range bases {
		docs = append(docs, base)
		mutants(base, func(m any) { docs = append(docs, m) })
	}
	rng := rand.New(rand.NewPCG(1, 2))
	step := max(1, len(docs)/limit)
	accepted, refused := 0, 0
	for i := 0; i < len(docs) && !t.Failed(); i += step {
		doc := docs[i]
		if rng.IntN(4) == 0 {
			var second []any
			mutants(doc, func(m any) { second = append(second, m) })
			doc = second[rng.IntN(len(second))]
		}
		key := fmt.Sprint(doc)
		if len(key) > 20000 || seen[key] { // the oracle is slow on large documents
			continue
		}
		seen[key] = true
		if agree(t, s, decode, doc) {
			accepted++
		} else {
			refused++
		}
	}
	if refused == 0 {
		t.Error("no mutant is refused")
	}
	if accepted == 0 {
		t.Error("no mutant is accepted")
	}
}
