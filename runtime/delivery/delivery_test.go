package delivery

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rea/generated/fault"
)

// wire parses what WriteMembers writes.
type wireResult struct {
	Content []struct{ Type, Text string }
	IsError bool             `json:"isError"`
	Data    *json.RawMessage `json:"structuredContent"`
}

func written(t testing.TB, r *Result) (wireResult, int) {
	t.Helper()
	var out bytes.Buffer
	out.WriteByte('{')
	if err := r.WriteMembers(&out); err != nil {
		t.Fatal(err)
	}
	out.WriteByte('}')
	if bytes.ContainsAny(out.Bytes(), "\n\r") {
		t.Error("the message has a line break in it")
	}
	var w wireResult
	if err := json.Unmarshal(out.Bytes(), &w); err != nil {
		t.Fatalf("%v in %s", err, out.Bytes())
	}
	if len(w.Content) != 1 || w.Content[0].Type != "text" {
		t.Fatalf("content is %+v", w.Content)
	}
	return w, out.Len()
}

func success(t testing.TB, doc string) *Result {
	t.Helper()
	r, err := Success([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSuccess_layout(t *testing.T) {
	long := strings.Repeat("x", 2000)
	item := `{"address":"0x401000","name":"` + strings.Repeat("n", 70) + `"}`
	for _, tt := range []struct{ name, doc, text string }{
		{"short_stays_on_one_line", `{"a":[1,2,{"b":null}]}`, `{"a":[1,2,{"b":null}]}`},
		{"long_is_broken", `{"items":[` + item + `,` + item + `],"total":2}`,
			"{\n \"items\": [\n  {\n   \"address\": \"0x401000\",\n   \"name\": \"" + strings.Repeat("n", 70) + "\"\n  },\n  {\n   \"address\": \"0x401000\",\n   \"name\": \"" + strings.Repeat("n", 70) + "\"\n  }\n ],\n \"total\": 2\n}"},
		{"bulky_members_go_last", `{"code":"` + long + `","name":"f","list":["` + long + `"],"end":true}`,
			"{\n \"name\": \"f\",\n \"end\": true,\n \"code\": \"" + long + "\",\n \"list\": [\n  \"" + long + "\"\n ]\n}"},
		{"numbers_share_lines", `{"n":[` + strings.TrimSuffix(strings.Repeat("12345678,", 30), ",") + `]}`,
			"{\n \"n\": [\n  " + strings.TrimSuffix(strings.Repeat(strings.Repeat("12345678,", 10)+"\n  ", 3), ",\n  ") + "\n ]\n}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, _ := written(t, success(t, tt.doc))
			if diff := cmp.Diff(tt.text, w.Content[0].Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

// same reports whether two JSON texts mean the same.
func same(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatalf("%v in %.200s", err, a)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatalf("%v in %.200s", err, b)
	}
	return cmp.Equal(x, y)
}

// big is a document of about size bytes of the kind that tools return.
func big(size int) string {
	var b strings.Builder
	b.WriteString(`{"evidence_id":"ev_1","normalized_result":{"items":[`)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"address":"0x%x","name":"function_%d<T>&é\"\\","text":"mov eax, [rbx+%d]\n","calls":[1,2,3]}`, 0x401000+16*i, i, i)
	}
	b.WriteString(`],"total":1}}`)
	return b.String()
}

func check(t *testing.T, doc string) {
	t.Helper()
	r := success(t, doc)
	w, n := written(t, r)
	if w.IsError || w.Data == nil {
		t.Fatal("a success has no structured content")
	}
	if !same(t, []byte(doc), *w.Data) || !same(t, []byte(doc), []byte(w.Content[0].Text)) {
		t.Error("the forms differ from the document")
	}
	const fixed = len(`{"content":[{"type":"text","text":""}],"structuredContent":}`)
	if got := int64(n - fixed + Envelope); got != r.Size() {
		t.Errorf("size is %d, the wire has %d", r.Size(), got)
	}
	for line := range strings.Lines(w.Content[0].Text) {
		if len(line) > 2000 && strings.Count(line, `"`) > 4 {
			t.Errorf("a line of %d characters holds more than one string", len(line))
		}
	}
}

func TestSuccess_size_is_the_wire(t *testing.T) {
	for name, doc := range map[string]string{
		"empty":       `{}`,
		"spaces":      " { \"a\" :\n [ ] } ",
		"escapes":     `{"a":"\"\\\u0000\u001f\n\t<>&\u2028` + strings.Repeat("é€😀", 50) + `"}`,
		"nested":      strings.Repeat(`{"a":`, 200) + `"` + strings.Repeat("x", 300) + `"` + strings.Repeat("}", 200),
		"large":       big(300_000),
		"long_string": `{"a":"` + strings.Repeat("y", 10_000) + `","b":1}`,
		"long_names":  `{"` + strings.Repeat("k", 3000) + `":[1,[2,[3,"` + strings.Repeat("z", 120) + `"]]]}`,
	} {
		t.Run(name, func(t *testing.T) { check(t, doc) })
	}
}

func TestSuccess_refuses_what_a_client_could_not_read(t *testing.T) {
	for _, doc := range []string{``, `{`, `{"a":}`, `{"a":1}{`, `[1]`, `"x"`, "{\"a\":\"\xff\"}", `{"a":1,"a":2}`} {
		if _, err := Success([]byte(doc)); err == nil {
			t.Errorf("%q is accepted", doc)
		}
	}
}

func TestFailure(t *testing.T) {
	err := fault.NoTargetOpen(fault.NoTargetOpenDetails{Tool: "list_names"}, nil).(*fault.Error)
	r, ferr := Failure(err)
	if ferr != nil {
		t.Fatal(ferr)
	}
	w, _ := written(t, r)
	if !w.IsError || w.Data != nil || !same(t, err.JSON(), []byte(w.Content[0].Text)) {
		t.Errorf("result is %+v", w)
	}
	var text countingEscaped
	r.doc.lines(&text)
	if r.Size() != int64(text)+Envelope {
		t.Errorf("an error counts %d bytes, its text has %d", r.Size(), text)
	}
}

func TestBudget(t *testing.T) {
	r := success(t, `{"a":"`+strings.Repeat("x", 2000)+`"}`)
	if !Budget(r.Size()).Fits(r) || Budget(r.Size()-1).Fits(r) {
		t.Error("the budget is not exact")
	}
	f := Budget(100).Refuse(r, "ev_"+strings.Repeat("0", 64), "too much", "ask for less")
	if f.Code != fault.ResourceConstraintCode {
		t.Errorf("code is %s", f.Code)
	}
	doc := string(f.JSON())
	for _, want := range []string{`"resource":"transport"`, `"evidence_reference":{"kind":"retained-evidence","evidence_id":"ev_000`, `"limit":100`, fmt.Sprintf(`"needed":%d`, r.Size()), `"action":"ask for less"`} {
		if !strings.Contains(doc, want) {
			t.Errorf("%s lacks %s", doc, want)
		}
	}
}

func TestParseBudget(t *testing.T) {
	for value, want := range map[string]Budget{"": 10485760, "10485760": 10485760, "9007199254740991": 9007199254740991} {
		if got, err := ParseBudget(value); err != nil || got != want {
			t.Errorf("%q is %d, %v", value, got, err)
		}
	}
	for _, value := range []string{"10485759", "0", "-1", "1e8", "0x1000000", " 10485760", "+10485760", "010485760", "10485760.0", "9007199254740992", "99999999999999999999", "ten"} {
		if _, err := ParseBudget(value); fault.CodeOf(err) != fault.ConfigurationInvalidCode {
			t.Errorf("%q gives %v", value, err)
		}
	}
}

func FuzzSuccess(f *testing.F) {
	f.Add([]byte(big(3000)))
	f.Add([]byte(`{"a":[[[[{}]]]],"b":"\ud83d\ude00\\\"","c":[1,2,3,` + strings.Repeat("4,", 100) + `5]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		if _, err := Success(bytes.Clone(doc)); err != nil {
			return
		}
		if !utf8.Valid(doc) || !json.Valid(doc) {
			t.Fatalf("%q is accepted", doc)
		}
		check(t, string(doc))
	})
}

func BenchmarkSuccess(b *testing.B) {
	doc := []byte(big(10 << 20))
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Success(doc); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteMembers(b *testing.B) {
	r := success(b, big(10<<20))
	b.SetBytes(r.Size())
	b.ReportAllocs()
	var out bytes.Buffer
	for b.Loop() {
		out.Reset()
		if err := r.WriteMembers(&out); err != nil {
			b.Fatal(err)
		}
	}
}
