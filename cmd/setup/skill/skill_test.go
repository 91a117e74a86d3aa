package skill

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"rea/generated/fault"
	"rea/generated/tool"
)

// TestGuideNamesRealThings holds every name in the guide against the contracts.
func TestGuideNamesRealThings(t *testing.T) {
	known := map[string]bool{}
	for _, s := range tool.Specs() {
		known[s.Name] = true
	}
	tools := len(known)
	for _, c := range fault.Codes() {
		known[string(c)] = true
	}
	// Members of results and inputs.
	for _, word := range []string{
		"provider_id", "tool_availability", "next_offset", "normalized_result", "evidence_id", "retained_evidence",
	} {
		known[word] = true
	}
	for _, m := range regexp.MustCompile("`([a-z]+(?:_[a-z]+)+)`").FindAllStringSubmatch(guide, -1) {
		if !known[m[1]] {
			t.Errorf("the guide names %s, which doesn't exist", m[1])
		}
	}
	_, all, _ := strings.Cut(Text(), "## All tools")
	if n := strings.Count(all, "\n- `"); n != tools {
		t.Errorf("the list has %d tools, there are %d", n, tools)
	}
}

// TestPathTools holds what the guide says of paths against the inputs.
func TestPathTools(t *testing.T) {
	got := PathTools()
	if !slices.Contains(got, "inspect_artifact") || !slices.Contains(got, "inspect_macho") ||
		slices.Contains(got, "inspect_binary_layout") || slices.Contains(got, "open_binary") || slices.Contains(got, "import_evidence_bundle") {
		t.Errorf("the tools that take a path are said to be %q", got)
	}
	if text := Text(); strings.Contains(text, "{path") || !strings.Contains(text, list(got)) {
		t.Error("the guide doesn't list them")
	}
}

// TestFrontMatter holds what agents require of a skill.
func TestFrontMatter(t *testing.T) {
	head, _, ok := strings.Cut(strings.TrimPrefix(Text(), "---\n"), "\n---\n")
	if !ok || !strings.HasPrefix(head, "name: rea\ndescription: ") {
		t.Fatalf("front matter: %q", head)
	}
	if len(head) > 1024 {
		t.Errorf("the front matter has %d bytes", len(head))
	}
}
