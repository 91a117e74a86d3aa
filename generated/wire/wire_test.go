package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

func TestAppendString_is_canonical(t *testing.T) {
	for in, want := range map[string]string{
		"":                      `""`,
		"plain":                 `"plain"`,
		"\"\\/":                 `"\"\\/"`,
		"\b\t\n\f\r":            `"\b\t\n\f\r"`,
		"\x00\x1f\x7f":          `"\u0000\u001f` + "\x7f" + `"`,
		"<é>&\u2028":            "\"<é>&\u2028\"",
		"cut \xff\xc3":          "\"cut \uFFFD\uFFFD\"",
		"\xf0\x9f\x98\x80 \xed": "\"\U0001F600 \uFFFD\"",
		"\uFFFD stays":          "\"\uFFFD stays\"",
	} {
		if got := string(AppendString(nil, in)); got != want {
			t.Errorf("%q is written as %s, want %s", in, got, want)
		}
	}
}

// The numbers and their forms are those of RFC 8785, appendix B.
func TestAppendFloat_is_canonical(t *testing.T) {
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0",
		0x8000000000000000: "0",
		0x0000000000000001: "5e-324",
		0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308",
		0xffefffffffffffff: "-1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992",
		0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22",
		0x44b52d02c7e14af6: "1e+23",
		0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000",
		0x444b1ae4d6e2ef4f: "999999999999999900000",
		0x444b1ae4d6e2ef50: "1e+21",
		0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332",
		0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333",
		0x43143ff3c1cb0959: "1424953923781206.2",
		0x7ff0000000000000: "null",
		0x7ff8000000000000: "null",
	} {
		if got := string(AppendFloat(nil, math.Float64frombits(bits))); got != want {
			t.Errorf("%016x is written as %s, want %s", bits, got, want)
		}
	}
}

func TestAppendInts(t *testing.T) {
	for _, items := range [][]int64{nil, {0}, {-1, 9, 10, -10, 99, 100, -99, -100, 999, -999, 1000, -1000, 123456}, {math.MaxInt64, math.MinInt64, 7}} {
		want := AppendSlice(nil, items, func(v *int64, dst []byte) []byte { return AppendInt(dst, *v) })
		if got := AppendInts(nil, items); string(got) != string(want) {
			t.Errorf("%v is %s", items, got)
		}
	}
}

func TestAppendMap_sorts(t *testing.T) {
	m := map[string]int64{"b": 2, "a": 1, "é": 3, "": 0}
	got := string(AppendMap(nil, m, func(v *int64, b []byte) []byte { return AppendInt(b, *v) }))
	if want := `{"":0,"a":1,"b":2,"é":3}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAddress(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want Address
		ok   bool
	}{
		{"0x0", 0, true},
		{"0x401000", 0x401000, true},
		{"0xffffffffffffffff", math.MaxUint64, true},
		{"0x00401000", 0x401000, true},
		{"0x", 0, false},
		{"0x10000000000000000", 0, false},
		{"0X401000", 0, false},
		{"0x40100A", 0, false},
		{"401000", 0, false},
		{"", 0, false},
	} {
		var got Address
		err := got.UnmarshalText([]byte(tt.in))
		if (err == nil) != tt.ok || got != tt.want {
			t.Errorf("%q: %v, %v", tt.in, got, err)
		}
		if tt.ok && !strings.HasPrefix(tt.in, "0x00") && got.String() != tt.in {
			t.Errorf("%q is written as %s", tt.in, got)
		}
	}
}

func TestInt(t *testing.T) {
	for _, tt := range []struct {
		in      string
		want    int64
		keyword string
	}{
		{"0", 0, ""},
		{"-0", 0, ""},
		{"-0.0e5", 0, ""},
		{"1.0", 1, ""},
		{"120e-1", 12, ""},
		{"1.5e1", 15, ""},
		{"1e3", 1000, ""},
		{"100000000000000000000e-18", 100, ""},
		{"9223372036854775807", math.MaxInt64, ""},
		{"-9223372036854775808", math.MinInt64, ""},
		{"9223372036854775808", 0, "maximum"},
		{"-9223372036854775809", 0, "minimum"},
		{"1e400", 0, "maximum"},
		{"-1e99999999999999999999", 0, "minimum"},
		{"1e-99999999999999999999", 0, "type"},
		{"0e99999999999999999999", 0, ""},
		{"1.5", 0, "type"},
		{"15e-1", 0, "type"},
		{`"1"`, 0, "type"},
		{"null", 0, "type"},
		{"", 0, "syntax"},
		{"1 2", 1, "syntax"},
	} {
		var got int64
		err := Decode([]byte(tt.in), 8, &got, func(v *int64, d *Decoder) error { return d.Int(v, math.MinInt64, math.MaxInt64) })
		if got != tt.want || keyword(err) != tt.keyword {
			t.Errorf("%s: %d, %v", tt.in, got, err)
		}
	}
}

func TestUint(t *testing.T) {
	for in, want := range map[string]uint64{"0": 0, "-0": 0, "18446744073709551615": math.MaxUint64, "2e3": 2000} {
		var got uint64
		if err := Decode([]byte(in), 8, &got, func(v *uint64, d *Decoder) error { return d.Uint(v, 0, math.MaxUint64) }); err != nil || got != want {
			t.Errorf("%s: %d, %v", in, got, err)
		}
	}
	for in, want := range map[string]string{"-1": "minimum", "18446744073709551616": "maximum", "0.5": "type"} {
		var got uint64
		if err := Decode([]byte(in), 8, &got, func(v *uint64, d *Decoder) error { return d.Uint(v, 0, math.MaxUint64) }); keyword(err) != want {
			t.Errorf("%s: %d, %v", in, got, err)
		}
	}
}

func keyword(err error) string {
	var invalid *InvalidError
	if errors.As(err, &invalid) {
		return invalid.Keyword
	}
	return ""
}

// thing is a type as the generator writes them.
type thing struct {
	name  string
	items []thing
	other map[string]int64
	any   jsontext.Value
}

func (v *thing) decode(d *Decoder) error {
	if err := d.Object(); err != nil {
		return err
	}
	for {
		name, more, err := d.Name()
		if err != nil {
			return err
		}
		if !more {
			return nil
		}
		switch string(name) {
		case "name":
			err = d.StringIn(&v.name, 1, 4, nil)
		case "items":
			err = Slice(d, &v.items, 0, 3, (*thing).decode)
		case "other":
			err = Map(d, &v.other, 1, 2, func(v *int64, d *Decoder) error { return d.Int(v, 0, 9) })
		case "any":
			err = d.Any(&v.any)
		default:
			err = d.Unknown(name, "name, items, other, any")
		}
		if err != nil {
			return err
		}
	}
}

func TestFaults_name_their_place(t *testing.T) {
	for _, tt := range []struct{ in, pointer, keyword string }{
		{`[]`, "", "type"},
		{`{"name":5}`, "/name", "type"},
		{`{"name":""}`, "/name", "minLength"},
		{`{"name":"ééééé"}`, "/name", "maxLength"},
		{`{"n\u0061me":"ok","name":"again"}`, "/name", "duplicate"},
		{`{"x~/y":1}`, "/x~0~1y", "additionalProperties"},
		{`{"items":[{},{"items":[{"name":1}]}]}`, "/items/1/items/0/name", "type"},
		{`{"items":[{},{},{},{}]}`, "/items", "maxItems"},
		{`{"items":{}}`, "/items", "type"},
		{`{"other":{}}`, "/other", "minProperties"},
		{`{"other":{"a":1,"b":2,"c":3}}`, "/other", "maxProperties"},
		{`{"other":{"a":1,"b/":10}}`, "/other/b~1", "maximum"},
		{`{"any":[[[[[[]]]]]]}`, "/any", "depth"},
		{`{"items":[{"items":[{"items":[{}]}]}]}`, "/items/0/items/0/items", "depth"},
		{`{"name":"a"`, "", "syntax"},
		{`{"name":"a"} {}`, "", "syntax"},
		{"{\"name\":\"\xff\"}", "/name", "syntax"},
		{`{"any":"\ud800"}`, "/any", "syntax"},
	} {
		var v thing
		err := Decode([]byte(tt.in), 5, &v, (*thing).decode)
		var invalid *InvalidError
		if !errors.As(err, &invalid) {
			t.Errorf("%s is accepted: %v", tt.in, err)
			continue
		}
		if invalid.Pointer != tt.pointer || invalid.Keyword != tt.keyword {
			t.Errorf("%s: %s at %q, want %s at %q (%v)", tt.in, invalid.Keyword, invalid.Pointer, tt.keyword, tt.pointer, err)
		}
	}
}

// Whatever the names and the nesting of the input are, a fault is short.
func TestFaults_are_short(t *testing.T) {
	long := strings.Repeat("é~/", 1<<20)
	for what, in := range map[string]string{
		"unknown":   `{"` + long + `":1}`,
		"in_a_map":  `{"other":{"` + long + `":10}}`,
		"duplicate": `{"other":{"` + long + `":1,"` + long + `":1}}`,
		"syntax":    `{"other":{"` + long + `":}}`,
		"string":    `{"name":"` + long + `"}`,
		"depth":     strings.Repeat(`{"items":[`, 10_000),
	} {
		var v thing
		err := Decode([]byte(in), 30_000, &v, (*thing).decode)
		if err == nil || len(err.Error()) > 1000 {
			t.Errorf("%s gives an error of %d bytes", what, len(fmt.Sprint(err)))
		} else if !utf8.ValidString(err.Error()) {
			t.Errorf("%s gives %q", what, err)
		}
	}
}

func TestAny_keeps_the_text(t *testing.T) {
	in := `{"any": {"b":1.50, "a":[null,"[{"]}}`
	var v thing
	if err := Decode([]byte(in), 5, &v, (*thing).decode); err != nil || string(v.any) != `{"b":1.50, "a":[null,"[{"]}` {
		t.Errorf("%s, %v", v.any, err)
	}
}

// Tag and Has look at text that nobody has checked yet.
func FuzzLookahead(f *testing.F) {
	for _, s := range []string{`{"kind":"a"}`, `{ "x" : [1,{"kind":"no"}], "k\u0069nd" : "b" }`, `{"kind":5}`, `{"a":"\"}"`, `{`, `{"a"}`, `{"a":}`, `{,}`, `[]`, `{"kind":"a"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tag, found := NewDecoder([]byte(text), 8).Tag("kind")
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &want) != nil || jsontext.Value(text).IsValid() == false {
			return // only the absence of panics is asked for
		}
		var s *string
		if raw, ok := want["kind"]; ok && json.Unmarshal(raw, &s) != nil {
			s = nil
		}
		if found != (s != nil) || found && tag != *s {
			t.Errorf("%s: %q, %v", text, tag, found)
		}
		if has := NewDecoder([]byte(text), 8).Has("kind"); (has == 0) != (want["kind"] != nil) {
			t.Errorf("%s: Has says %d", text, has)
		}
	})
}

func FuzzInteger(f *testing.F) {
	for _, s := range []string{"0", "-1.50e1", "1e400", "1E-3", "0.000", "100e-2", "1E-700"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got int64
		err := Decode([]byte(text), 8, &got, func(v *int64, d *Decoder) error { return d.Int(v, -1<<53, 1<<53) })
		var want float64
		if json.Unmarshal([]byte(text), &want) != nil || len(text) > 15 {
			return // longer ones do not fit a float exactly
		}
		mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
		if want == 0 && strings.ContainsAny(mantissa, "123456789") {
			want = 0.5 // too near to 0 for a float, and no integer
		}
		if whole := want == math.Trunc(want) && math.Abs(want) <= 1<<53; (err == nil) != whole && strings.TrimSpace(text) != "null" {
			t.Errorf("%s: %d, %v", text, got, err)
		} else if err == nil && float64(got) != want {
			t.Errorf("%s: %d, want %v", text, got, want)
		}
	})
}
