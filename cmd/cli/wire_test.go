package cli

import (
	"slices"
	"testing"

	"rea/runtime/engine"
)

func TestEngineChoices_are_all_engines(t *testing.T) {
	want := []string{engine.Auto}
	for _, p := range engines(func(string) string { return "" }) {
		want = append(want, p.Describe().Provider.ID)
	}
	if !slices.Equal(engineChoices, want) {
		t.Errorf("choices are %q, engines %q", engineChoices, want)
	}
}
