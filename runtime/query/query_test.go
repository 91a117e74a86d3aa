package query_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// numbers is an engine's list of n rows that fails at row bad, if there is one.
func numbers(n, bad int) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range n {
			if i == bad {
				yield(0, errors.New("broken"))
				return
			}
			if !yield(i, nil) {
				return
			}
		}
	}
}

func at(n int64) *int64 { return &n }

func TestPages(t *testing.T) {
	even := func(n *int) bool { return *n%2 == 0 }
	rows := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for _, tt := range []struct {
		name          string
		offset, limit int64
		keep          func(*int) bool
		want          query.Page[int]
	}{
		{"first", 0, 3, nil, query.Page[int]{Items: []int{0, 1, 2}, Total: 10, Next: at(3)}},
		{"last_full", 7, 3, nil, query.Page[int]{Items: []int{7, 8, 9}, Total: 10, Offset: 7}},
		{"last_short", 8, 3, nil, query.Page[int]{Items: []int{8, 9}, Total: 10, Offset: 8}},
		{"at_the_end", 10, 3, nil, query.Page[int]{Items: []int{}, Total: 10, Offset: 10}},
		{"largest_numbers", 1<<63 - 1, 1<<63 - 1, nil, query.Page[int]{Items: []int{}, Total: 10, Offset: 1<<63 - 1}},
		{"all", 0, 500, nil, query.Page[int]{Items: rows, Total: 10}},
		{"filtered", 1, 2, even, query.Page[int]{Items: []int{2, 4}, Total: 5, Offset: 1, Next: at(3)}},
		{"filtered_away", 0, 2, func(*int) bool { return false }, query.Page[int]{Items: []int{}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := query.Stream(t.Context(), numbers(10, -1), tt.offset, tt.limit, tt.keep)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("stream (-want +got):\n%s", diff)
			}
			kept := rows
			if tt.keep != nil {
				kept = query.Keep(rows, tt.keep)
			}
			if diff := cmp.Diff(tt.want, query.Slice(kept, tt.offset, tt.limit)); diff != "" {
				t.Errorf("slice (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStreamsEnd(t *testing.T) {
	if _, err := query.Stream(t.Context(), numbers(10, 5), 0, 3, nil); err == nil || err.Error() != "broken" {
		t.Errorf("a failing stream: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	seen := 0
	err := query.Each(ctx, numbers(1_000_000, -1), func(n *int) error {
		if seen++; *n == 1000 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || seen > 2000 {
		t.Errorf("cancelled: %v after %d rows", err, seen)
	}
	seen = 0
	err = query.Each(t.Context(), numbers(10, 5), func(n *int) error {
		if seen++; *n == 3 {
			return query.ErrStop
		}
		return nil
	})
	if err != nil || seen != 4 {
		t.Errorf("stopped: %v after %d rows", err, seen)
	}
}

func TestMatching(t *testing.T) {
	for _, tt := range []struct {
		name, pattern, mode string
		caseSensitive       bool
		text                string
		want                bool
		reason              string // of the fault
	}{
		{"literal", "a.c", "literal", false, "xA.Cx", true, ""},
		{"literal_dot", "a.c", "literal", false, "abc", false, ""},
		{"literal_case", "a.c", "literal", true, "A.C", false, ""},
		{"literal_parenthesis", "(", "literal", false, "f(x)", true, ""},
		{"literal_unicode", "ÄÖ", "literal", false, "xäö", true, ""},
		{"expression", "^a.c$", "regex", false, "ABC", true, ""},
		{"expression_case", "^a.c$", "regex", true, "ABC", false, ""},
		{"expression_own_flags", "(?-i)abc", "regex", false, "ABC", false, ""},
		{"invalid_utf8", "abc", "literal", false, "\xffABC", true, ""},
		{"open", "a(b", "regex", false, "", false, "missing closing ): a(b"},
		{"close", "a)(b", "regex", false, "", false, "unexpected ): a)(b"},
		{"look_ahead", "a(?=b)", "regex", true, "", false, "invalid or unsupported Perl syntax: (?="},
		{"back_reference", `(a)\1`, "regex", true, "", false, `invalid escape sequence: \1`},
		{"too_large", "((a{100}){100}){100}", "regex", true, "", false, "invalid repeat count: {100}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := query.Pattern(tt.pattern, tt.mode, tt.caseSensitive)
			if tt.reason == "" {
				if err != nil || m.Match(tt.text) != tt.want {
					t.Errorf("match = %v, want %v (err: %v)", err == nil && m.Match(tt.text), tt.want, err)
				}
				return
			}
			var e *fault.Error
			if !errors.As(err, &e) || e.Code != fault.InvalidPatternCode {
				t.Fatalf("err = %v", err)
			}
			d := e.Details.(*fault.InvalidPatternDetails)
			if d.Pattern != tt.pattern || !strings.HasPrefix(d.Reason, tt.reason) {
				t.Errorf("details = %+v, want reason %q", d, tt.reason)
			}
		})
	}
}

// mapped is an engine that has segments only.
type mapped struct {
	engine.Engine
	ranges    []model.AddressRange
	documents []string
}

func (m mapped) Segments(context.Context) (out []model.Segment, _ []model.Section, _ error) {
	for _, r := range m.ranges {
		out = append(out, model.Segment{Start: r.Start, End: r.End})
	}
	return out, nil, nil
}

func (m mapped) Documents(context.Context) ([]string, error) { return m.documents, nil }

func TestMapping(t *testing.T) {
	// Out of order, empty, overlapping, touching and up to the end of the address space.
	eng := mapped{ranges: []model.AddressRange{
		{Start: 0x5000, End: 0x6000}, {Start: 0x1000, End: 0x2000}, {Start: 0x3000, End: 0x3000},
		{Start: 0x1800, End: 0x2800}, {Start: 0x2800, End: 0x2900}, {Start: 0xffff_ffff_ffff_f000, End: 0},
	}}
	low := model.AddressRange{Start: 0x1000, End: 0x2900}
	mid := model.AddressRange{Start: 0x5000, End: 0x6000}
	high := model.AddressRange{Start: 0xffff_ffff_ffff_f000, End: 0}
	for _, tt := range []struct {
		addr    model.Address
		nearest []model.AddressRange // nil: mapped
	}{
		{0, []model.AddressRange{low}},
		{0xfff, []model.AddressRange{low}},
		{0x1000, nil},
		{0x28ff, nil},
		{0x2900, []model.AddressRange{low, mid}},
		{0x3000, []model.AddressRange{low, mid}},
		{0x5fff, nil},
		{0x6000, []model.AddressRange{mid, high}},
		{0xffff_ffff_ffff_f000, nil},
		{0xffff_ffff_ffff_ffff, nil},
	} {
		_, err := query.Mapped(t.Context(), eng, tt.addr.String())
		if tt.nearest == nil {
			if err != nil {
				t.Errorf("%s: %v", tt.addr, err)
			}
			continue
		}
		var e *fault.Error
		if !errors.As(err, &e) || e.Code != fault.AddressNotMappedCode {
			t.Errorf("%s: %v", tt.addr, err)
			continue
		}
		if diff := cmp.Diff(&fault.AddressNotMappedDetails{Address: tt.addr, Nearest: tt.nearest}, e.Details); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.addr, diff)
		}
	}
	if _, err := query.Mapped(t.Context(), mapped{}, "0"); fault.CodeOf(err) != fault.AddressNotMappedCode {
		t.Errorf("nothing mapped at all: %v", err)
	}
}

func TestDocument(t *testing.T) {
	eng := mapped{documents: []string{"a", "b"}}
	for _, tt := range []struct {
		name *string
		want string
		code fault.Code
	}{
		{nil, "a", ""}, {ptr("b"), "b", ""}, {ptr("A"), "", fault.DocumentNotFoundCode}, {ptr("a "), "", fault.DocumentNotFoundCode},
	} {
		got, err := query.Document(t.Context(), eng, tt.name)
		if got != tt.want || fault.CodeOf(err) != tt.code {
			t.Errorf("%v: %q, %v", tt.name, got, err)
		}
	}
	if _, err := query.Document(t.Context(), mapped{}, nil); fault.CodeOf(err) != fault.DocumentNotFoundCode {
		t.Errorf("no document: %v", err)
	}
}

func ptr(s string) *string { return &s }

// named is an engine that has names only, and tells how many were read.
type named struct {
	engine.Engine
	items []model.NameItem
	read  *int
}

func (n named) Names(context.Context) iter.Seq2[model.NameItem, error] {
	return func(yield func(model.NameItem, error) bool) {
		for _, item := range n.items {
			*n.read++
			if !yield(item, nil) {
				return
			}
		}
	}
}

type analyst map[model.Address]string

func (a analyst) NameAt(addr model.Address) (string, bool) { s, ok := a[addr]; return s, ok }

func (a analyst) AddressOf(name string) (model.Address, bool) {
	for addr, s := range a {
		if s == name {
			return addr, true
		}
	}
	return 0, false
}

func (a analyst) AllNames() iter.Seq2[model.Address, string] {
	return func(yield func(model.Address, string) bool) {
		addrs := []model.Address{}
		for addr := range a {
			addrs = append(addrs, addr)
		}
		slices.Sort(addrs)
		for _, addr := range addrs {
			if !yield(addr, a[addr]) {
				return
			}
		}
	}
}

func TestNames(t *testing.T) {
	read := 0
	item := func(addr model.Address, name string, kind model.NameKind) model.NameItem {
		return model.NameItem{Address: addr, Name: name, Kind: kind, Source: model.StartSourceSymbol}
	}
	eng := named{read: &read, items: []model.NameItem{
		item(1, "first", model.NameKindFunction),
		item(5, ".text", model.NameKindSection), item(5, "z", model.NameKindFunction), item(5, "a", model.NameKindFunction), item(5, "exported", model.NameKindExport),
		item(9, "last", model.NameKindObject), item(10, "beyond", model.NameKindObject), item(11, "further", model.NameKindObject),
	}}
	notes := analyst{0: "zero", 5: "mine", 20: "end"}
	names := func(items []model.NameItem) (out []string) {
		for _, i := range items {
			out = append(out, i.Name)
		}
		return out
	}
	got, err := query.NamesAt(t.Context(), eng, notes, 5)
	if diff := cmp.Diff([]string{"mine", "a", "z", "exported", ".text"}, names(got)); diff != "" || err != nil {
		t.Errorf("at 5 (-want +got):\n%s%v", diff, err)
	}
	if read != 6 { // up to the first name behind it
		t.Errorf("%d names were read", read)
	}
	if best, err := query.NameAt(t.Context(), eng, analyst{}, 5); err != nil || best.Name != "a" {
		t.Errorf("best = %v, %v", best, err)
	}
	if none, err := query.NameAt(t.Context(), eng, analyst{}, 6); err != nil || none != nil {
		t.Errorf("none = %v, %v", none, err)
	}
	var all []model.NameItem
	err = query.Each(t.Context(), query.AllNames(t.Context(), eng, notes), func(n *model.NameItem) error { all = append(all, *n); return nil })
	want := []string{"zero", "first", "mine", ".text", "z", "a", "exported", "last", "beyond", "further", "end"}
	if diff := cmp.Diff(want, names(all)); diff != "" || err != nil {
		t.Errorf("all (-want +got):\n%s%v", diff, err)
	}
}

func TestGaps(t *testing.T) {
	b := &engine.Body{
		Missing: map[engine.Facet]engine.Gap{
			engine.API: {Reason: "no types"}, engine.Pseudocode: {Reason: "no decompiler"}, engine.Callers: {Reason: "not indexed"},
		},
		Limitations: []string{"own"},
	}
	want := []string{"callers are unknown: not indexed", "calling interface is unknown: no types", "own"}
	if diff := cmp.Diff(want, query.Gaps(b, engine.Pseudocode)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"main":             "main",
		"Straße 日本":        "Straße 日本",
		"a\x1b[31m\n\x00":  `a\u{1b}[31m\u{a}\u{0}`,
		"\u202eevil\u2028": `\u{202e}evil\u{2028}`,
		"\xff":             "\ufffd",
	} {
		if got := query.Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
}
