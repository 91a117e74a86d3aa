package embedded_test

import (
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"

	"rea/runtime/engine"
	"rea/runtime/query"
)

// all is the rows of a list.
func all[T any](t *testing.T, rows iter.Seq2[T, error]) []T {
	t.Helper()
	var out []T
	for row, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, row)
	}
	return out
}

// TestListsBeginAnywhere compares lists that begin at a row with the rest of those
// that begin at the first.
func TestListsBeginAnywhere(t *testing.T) {
	words := strings.Repeat(`puts("another string of the program" + argc); puts("one more " "of them"); `, 3)
	for i := range 10 {
		words += fmt.Sprintf("puts(\"string number %d\"); ", i)
	}
	eng := compile(t, "gcc", "lists.c", strings.Replace(interfaces, "long c = 0;", "long c = 0; "+words, 1), "-O1")
	index := eng.(query.RowIndex)
	procedures, texts := all(t, eng.Procedures(t.Context())), all(t, eng.Strings(t.Context(), 6))
	if len(procedures) < 20 || len(texts) < 10 {
		t.Fatalf("%d procedures, %d strings", len(procedures), len(texts))
	}
	for skip := range 25 {
		rows, total, err := index.ProceduresFrom(t.Context(), skip)
		if err != nil || total != len(procedures) {
			t.Fatalf("%d procedures, want %d; %v", total, len(procedures), err)
		}
		if got, want := all(t, rows), procedures[min(skip, total):]; len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("procedures from %d: %v, want %v", skip, got, want)
		}
		if got, want := all(t, index.StringsFrom(t.Context(), 6, skip)), texts[min(skip, len(texts)):]; len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("strings from %d: %v, want %v", skip, got, want)
		}
	}
}

// TestMeasures compares the measures of all procedures with their rows, and with
// the callers of each.
func TestMeasures(t *testing.T) {
	eng := compile(t, "gcc", "measures.c", interfaces, "-O1")
	measures, err := eng.(query.MeasureIndex).Measures(t.Context())
	procedures := all(t, eng.Procedures(t.Context()))
	if err != nil || len(measures) != len(procedures) {
		t.Fatalf("%d measures of %d procedures; %v", len(measures), len(procedures), err)
	}
	called := 0
	for i, p := range procedures {
		b, err := eng.Body(t.Context(), p.Address, engine.Callers)
		if err != nil {
			t.Fatal(err)
		}
		if want := (query.Measure{Kind: p.Kind, Size: p.Size, Callers: len(b.Callers)}); measures[i] != want {
			t.Errorf("%s: %+v, want %+v", p.Name, measures[i], want)
		}
		called += len(b.Callers)
	}
	if called < 15 {
		t.Errorf("only %d calls", called)
	}
}
