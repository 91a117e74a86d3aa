package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/vector.json")

// vector is the published test vector.
type vector struct {
	Record    json.RawMessage `json:"record"`
	Canonical string          `json:"canonical"`
	Semantic  string          `json:"semantic"`
	ID        string          `json:"evidence_id"`
}

func draft(t testing.TB) []byte {
	t.Helper()
	doc, err := os.ReadFile("testdata/record.json")
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func sealed(t testing.TB) *Record {
	t.Helper()
	r, err := Seal(draft(t))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// semantic is the semantic form as the package documentation words it, taken
// apart and put together by other means than identify.
func semantic(t *testing.T, canonical []byte) []byte {
	t.Helper()
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(canonical, &doc); err != nil {
		t.Fatal(err)
	}
	delete(doc, "evidence_id")
	delete(doc, "environment")
	if subject := doc["subject"]; string(subject) != "null" {
		var parts map[string]json.RawMessage
		if err := json.Unmarshal(subject, &parts); err != nil {
			t.Fatal(err)
		}
		delete(parts, "name")
		delete(parts, "local_path")
		doc["subject"] = join(parts, "architecture", "digest", "format")
	}
	return join(doc, "analysis_profile", "authority", "confidence", "evidence_links", "limitations", "locations",
		"normalized_result", "operation", "parameters", "predicate_type", "provider", "raw_result", "schema_version", "subject")
}

func join(doc map[string]json.RawMessage, names ...string) []byte {
	var out bytes.Buffer
	for i, name := range names {
		fmt.Fprintf(&out, "%c%q:%s", "{,"[min(i, 1)], name, doc[name])
	}
	out.WriteByte('}')
	return out.Bytes()
}

func TestVector(t *testing.T) {
	r := sealed(t)
	got := vector{draft(t), string(r.Bytes()), string(semantic(t, r.Bytes())), r.ID().String()}
	if *update {
		doc, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("testdata/vector.json", append(doc, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	doc, err := os.ReadFile("testdata/vector.json")
	if err != nil {
		t.Fatal(err)
	}
	var want vector
	if err := json.Unmarshal(doc, &want); err != nil {
		t.Fatal(err)
	}
	got.Record, want.Record = nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("vector (-published +got):\n%s", diff)
	}
	if sum := sha256.Sum256([]byte(want.Semantic)); want.ID != "ev_"+hex.EncodeToString(sum[:]) {
		t.Errorf("the published id is not the hash of the published semantic form")
	}
}

// TestVector_in_python computes the vector from the record with nothing of ours.
func TestVector_in_python(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	out, err := exec.Command(python, "testdata/identity.py", "testdata/vector.json").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestCanonical_of_the_RFC(t *testing.T) {
	// Section 3.2.2 of RFC 8785, input and output.
	const in = `{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`
	const want = `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`
	got, err := Canonical([]byte(in))
	if err != nil || string(got) != want {
		t.Errorf("canonical form is %s, %v", got, err)
	}
}

func TestCanonical_refuses(t *testing.T) {
	for name, in := range map[string]string{
		"duplicate":          `{"a":1,"a":1}`,
		"duplicate_escaped":  `{"a":1,"\u0061":1}`,
		"duplicate_deep":     `[{"x":{"a":1,"b":2,"a":3}}]`,
		"invalid_utf8":       "\"\xc3\x28\"",
		"overlong_utf8":      "\"\xc0\xaf\"",
		"utf8_surrogate":     "\"\xed\xa0\x80\"",
		"lone_high":          `"\ud800"`,
		"lone_low":           `"\udc00x"`,
		"swapped_surrogates": `"\udc00\ud800"`,
		"nan":                `NaN`,
		"infinity":           `[Infinity]`,
		"minus_infinity":     `-Infinity`,
		"huge":               `1e309`,
		"huge_integer":       strings.Repeat("9", 400),
		"inexact_integer":    `9007199254740993`,
		"inexact_64_bit":     `18446744073709551615`,
		"leading_zero":       `01`,
		"leading_zero_deep":  `[1,01,2]`,
		"leading_minus_zero": `[1,-01,2]`,
		"ends_in_a_comma":    `[1,2,]`,
		"two_commas":         `[1,,2]`,
		"no_digits":          `[1,-,2]`,
		"plus":               `+1`,
		"bare_point":         `1.`,
		"control":            "\"\x01\"",
		"trailing":           `{} {}`,
		"comment":            `{}//`,
		"open":               `{"a":[1,2`,
		"empty":              ``,
		"deep":               strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1),
		"very_deep":          strings.Repeat(`{"a":`, 10000),
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Canonical([]byte(in)); err == nil {
				t.Errorf("accepted as %s", got)
			}
		})
	}
}

func TestCanonical_accepts_the_edge(t *testing.T) {
	for in, want := range map[string]string{
		`9007199254740992`:        `9007199254740992`,
		`-9007199254740991`:       `-9007199254740991`,
		`1e308`:                   `1e+308`,
		`100000000000000000000`:   `100000000000000000000`,
		`5e-324`:                  `5e-324`,
		`0.1e1`:                   `1`,
		`[0,-0,1,-12 ,3, 4,1.0]`:  `[0,0,1,-12,3,4,1]`,
		`[1,[2,3],"4",[],5,6]`:    `[1,[2,3],"4",[],5,6]`,
		`{"__proto__":{"":null}}`: `{"__proto__":{"":null}}`,
		`"\ud834\udd1e"`:          `"𝄞"`,
		strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth): strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth),
	} {
		got, err := Canonical([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("canonical form of %s is %s, %v", in, got, err)
		}
	}
}

func edit(t *testing.T, doc []byte, old, new string) []byte {
	t.Helper()
	if bytes.Count(doc, []byte(old)) != 1 {
		t.Fatalf("%q does not occur once", old)
	}
	return bytes.Replace(doc, []byte(old), []byte(new), 1)
}

func TestSeal_identity(t *testing.T) {
	base := sealed(t)
	for _, tt := range []struct {
		name, old, new string
		same           bool
	}{
		{"name", `"name": "ls"`, `"name": "dir"`, true},
		{"local_path", `"local_path": "/bin/ls"`, `"local_path": null`, true},
		{"environment", `"os": "linux"`, `"os": "windows"`, true},
		{"no_environment", `{"os": "linux", "architecture": "amd64", "rea_version": "1.0.0"}`, `null`, true},
		{"member_order", `"schema_version": 2,
  "operation": "list_strings",`, `"operation": "list_strings",
  "schema_version": 2,`, true},
		{"number_spelling", `1.50`, `1.5`, true},
		{"digest", `"e3b0`, `"f3b0`, false},
		{"format", `"format": "elf"`, `"format": "pe"`, false},
		{"architecture", `"x86_64"`, `null`, false},
		{"no_subject", `{"name": "ls", "digest": {"sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}, "format": "elf", "architecture": "x86_64", "local_path": "/bin/ls"}`, `null`, false},
		{"operation", `"operation": "list_strings"`, `"operation": "list_names"`, false},
		{"predicate", `rea:native.list_strings:1`, `rea:native.list_strings:2`, false},
		{"result", `"total": 2`, `"total": 3`, false},
		{"confidence", `"observed"`, `"derived"`, false},
		{"authority", `"shipped-artifact"`, `"controlled-replay"`, false},
		{"provider", `"id": "embedded"`, `"id": "ghidra"`, false},
		{"provider_version", `"version": "1.0.0"`, `"version": "1.0.1"`, false},
		{"profile", `"analysis_profile": null`, `"analysis_profile": {}`, false},
		{"parameters", `"min_length": 4`, `"min_length": 5`, false},
		{"limitations", `["strings in compressed sections are not read"]`, `[]`, false},
		{"locations", `{"kind": "address", "address": "0x401000"}`, `{"kind": "address", "address": "0x401008"}`, false},
		{"links", `"evidence_links": []`, `"evidence_links": ["ev_0000000000000000000000000000000000000000000000000000000000000000"]`, false},
		{"raw", `"raw_result": null`, `"raw_result": 0`, false},
		{"version", `"schema_version": 2`, `"schema_version": 3`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Seal(edit(t, draft(t), tt.old, tt.new))
			if err != nil {
				t.Fatal(err)
			}
			if same := r.ID() == base.ID(); same != tt.same {
				t.Errorf("same identity: %v, want %v", same, tt.same)
			}
		})
	}
}

func TestSeal_refuses_other_members(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"profile_missing", `"analysis_profile": null,`, ``, `member "analysis_profile" is missing`},
		{"last_missing", `,
  "raw_result": null`, ``, `member "raw_result" is missing`},
		{"unknown", `"raw_result": null`, `"raw_result": null, "recorded_at": 1`, `unknown member "recorded_at"`},
		{"unknown_at_the_end", `"raw_result": null`, `"raw_result": null, "zz": 1`, `unknown member "zz"`},
		{"unknown_at_the_start", `"raw_result": null`, `"raw_result": null, "a": 1`, `unknown member "a"`},
		{"unknown_in_subject", `"name": "ls"`, `"name": "ls", "size": 3`, `unknown member "size"`},
		{"subject_incomplete", `"name": "ls",`, ``, `member "name" is missing`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Seal(edit(t, draft(t), tt.old, tt.new))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want %q", err, tt.want)
			}
		})
	}
}

func TestVerify(t *testing.T) {
	r := sealed(t)
	back, err := Verify(r.Bytes())
	if err != nil || back.ID() != r.ID() || !bytes.Equal(back.Bytes(), r.Bytes()) {
		t.Fatalf("a sealed record does not verify: %v", err)
	}
	var loose bytes.Buffer
	if err := json.Indent(&loose, r.Bytes(), " ", "\t"); err != nil {
		t.Fatal(err)
	}
	if back, err = Verify(loose.Bytes()); err != nil || !bytes.Equal(back.Bytes(), r.Bytes()) {
		t.Errorf("the same record in another spelling: %v", err)
	}
	forged := edit(t, r.Bytes(), `"observed"`, `"derived"`)
	_, err = Verify(forged)
	e, ok := AsIntegrity(err)
	if !ok || e.Pointer != "/evidence_id" || e.Claimed != r.ID().String() || e.Computed == "" || e.Computed == e.Claimed {
		t.Errorf("a forged record gives %+v (%v)", e, err)
	}
}

func TestVerify_detects_every_semantic_byte(t *testing.T) {
	r := sealed(t)
	doc := r.Bytes()
	free := 0
	for i := range doc {
		changed := bytes.Clone(doc)
		changed[i] ^= 0x01
		back, err := Verify(changed)
		if err != nil {
			continue
		}
		if back.ID() != r.ID() {
			t.Fatalf("byte %d flipped gives another record that verifies", i)
		}
		free++ // environment, name and local_path are bound by the bundle manifest
	}
	if free > 60 {
		t.Errorf("%d of %d bytes are not bound by the identity", free, len(doc))
	}
}

func TestParseID(t *testing.T) {
	r := sealed(t)
	if id, err := ParseID(r.ID().String()); err != nil || id != r.ID() {
		t.Errorf("id does not read back: %v", err)
	}
	for _, s := range []string{"", "ev_", "ev_00", strings.ToUpper(r.ID().String()), r.ID().String() + "0", "ev_" + strings.Repeat("g", 64)} {
		if _, err := ParseID(s); err == nil {
			t.Errorf("%q is taken for an id", s)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	f.Add(draft(f))
	f.Add([]byte(`[1e21,-0,"\ud83d\ude00",{"b":[],"a":{}}]`))
	f.Add([]byte(`{"a":1e309}`))
	f.Add([]byte(`[0,1,-2,30,-0,1234567890123456,[5,06],7,]`))
	f.Add([]byte("{\"\uE000\":1,\"\U00010000\":2,\"\\\"\":3,\"#\":4,\"\\u005c\":5}"))
	f.Add([]byte(`[1E-7,0.000001,123456789012345678,-0.0e5,1e21,1.5E+300,"\u007f\/\b\f\n\r\t"]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Canonical(data)
		// Another implementation accepts the same, but for numbers and depth.
		other := jsontext.Value(bytes.Clone(data))
		otherErr := other.Canonicalize()
		if err == nil && (otherErr != nil || !bytes.Equal(other, got)) {
			t.Fatalf("%q is %q, for jsontext %q, %v", data, got, other, otherErr)
		}
		if err != nil && otherErr == nil && !strings.Contains(err.Error(), "double precision") && !strings.Contains(err.Error(), "nesting") {
			t.Fatalf("%q is refused: %v", data, err)
		}
		if err != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatalf("accepted %q, which is not JSON", data)
		}
		again, err := Canonical(got)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("canonical form is not stable: %q then %q, %v", got, again, err)
		}
		var a, b any
		if json.Unmarshal(data, &a) != nil || json.Unmarshal(got, &b) != nil || !cmp.Equal(a, b) {
			t.Fatalf("%q changed its meaning to %q", data, got)
		}
	})
}

func FuzzVerify(f *testing.F) {
	f.Add(sealed(f).Bytes())
	f.Add(draft(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Verify(data)
		if err != nil {
			return
		}
		again, err := Seal(data)
		if err != nil || again.ID() != r.ID() || !bytes.Equal(again.Bytes(), r.Bytes()) {
			t.Fatalf("a verified record seals differently: %v", err)
		}
		sum := sha256.Sum256(semantic(t, r.Bytes()))
		if sum != [32]byte(r.ID()) {
			t.Fatal("the identity is not the hash of the semantic form")
		}
	})
}
