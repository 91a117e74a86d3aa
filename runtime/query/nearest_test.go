package query_test

import (
	"slices"
	"testing"

	"rea/runtime/query"
)

func TestNearest(t *testing.T) {
	names := []string{"textdomain", "main", "sub_2010", "MAIN", "error_main", "maintain", "sub_3010", "x", "net/http.(*Server).Start", "ns::Task::start(int, char)"}
	for want, best := range map[string][]string{
		"mian":     {"main", "MAIN"},
		"Main":     {"main", "MAIN", "maintain"},
		"main2":    {"main", "MAIN"},
		"sub_20":   {"sub_2010"},
		"sub_2011": {"sub_2010", "sub_3010"},
		"exit":     {},
		"strat":    {"net/http.(*Server).Start", "ns::Task::start(int, char)"},
		"start2":   {"net/http.(*Server).Start", "ns::Task::start(int, char)"},
		"a.strat":  {},
		"":         {},
		"q":        {},
	} {
		n := query.NewNearest(want, 3)
		for i, name := range names {
			n.Offer(name, i)
		}
		got := []string{}
		for _, k := range n.Keys() {
			got = append(got, names[k])
		}
		if !slices.Equal(got, best) {
			t.Errorf("%q: %q, want %q", want, got, best)
		}
	}
}
