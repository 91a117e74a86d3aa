package report

import (
	"bytes"
	"strings"
	"testing"

	"rea/cmd/terminal"
)

// What results say is the application's word: it cannot write to the terminal, and
// lines keep to the width.
func TestFinding_is_safe(t *testing.T) {
	const evil = `a\u001b[2J\u202e\nb`
	place := `{"path":"` + evil + `","start":9,"end":10,"line":3}`
	code := `{"node_id":"n1","kind":"parameter","label":"` + evil + `","module":"` + evil + `","location":` + place + `}`
	app := `{"name":"` + evil + `","sha256":"ab","root_sha256":"cd","files":1,"coverage":"partial"}`
	side := `{"label":"` + evil + `","path":"` + evil + `","location":` + place + `}`
	reasons := `{"reasons":["` + evil + `"]}`
	for tool, result := range map[string]string{
		"trace_application_feature": `{"application":` + app + `,"seed":{"kind":"channel","value":"` + evil + `"},"seed_matches":[{"node":0,"kind":"ipc-channel","field":"label","value":"` + evil + `"}],
			"nodes":[{"item":{"kind":"ipc-channel","label":"` + evil + `"},"side":"seed"},{"item":{"kind":"javascript-module","label":"webpack://a/` + evil + `"},"side":"outgoing"}],
			"functions":[{"name":"` + evil + `","node":1,"location":` + place + `,"side":"outgoing","events":["` + evil + `"],"calls":["` + evil + `"]}],
			"edges":[{"from":1,"to":0,"relation":"sends","location":` + place + `}],
			"native_handoffs":[{"path":"` + evil + `","sha256":"ab","requested_names":["` + evil + `"],"evidence_ids":[]}],
			"coverage":{"omitted_nodes":1,"frontier":[{"label":"` + evil + `","side":"outgoing","reason":"max_depth"}]}}`,
		"trace_javascript_semantics": `{"application":` + app + `,"seed":{"kind":"api","value":"` + evil + `"},"direction":"forward","seed_matches":[{"place":` + code + `}],
			"nodes":[{"place":` + code + `}],"unknowns":[{"place":` + code + `,"reason":"` + evil + `"}],"goals":[],"page":{"offset":0,"size":1,"total":2,"next_cursor":"jsc_1"}}`,
		"compare_application_versions": `{"left":` + app + `,"right":` + app + `,"summary":{"changed":1},"by_kind":{"endpoint":{"changed":1}},"coverage":{"left":` + reasons + `,"right":` + reasons + `},
			"total":1,"items":[{"kind":"endpoint","status":"changed","left":` + side + `,"right":` + side + `,"changes":[{"name":"` + evil + `","left":"` + evil + `","right":{"a":"` + evil + `"}}],"match":{"candidates":["jan_` + evil + `","jan_1"]},"reason":"` + evil + `"}]}`,
		"compare_source_to_bundle": `{"application":` + app + `,"reference":` + app + `,"summary":{"unknown":1},"coverage":{"application":` + reasons + `},"total":1,
			"items":[{"source_path":"` + evil + `","status":"unknown","confidence":"low","candidates":[{"kind":"file","label":"` + evil + `","score":3}],"reason":"` + evil + `"}]}`,
		"import_reference_source": `{"root_sha256":"ab","files":1,"bytes":2,"packages":[{"path":".","name":"` + evil + `","version":"` + evil + `"},{"path":"` + evil + `","name":"b","version":"1"}],"vcs":{"kind":"git","revision":"` + evil + `"},
			"exclusions":[{"path":"` + evil + `","reason":"` + evil + `"}],"parse_failures":[{"path":"` + evil + `","reason":"` + evil + `"}],"entries":[{"path":"` + evil + `","kind":"javascript","language":null,"state":"read","size":2,"features":1,"sha256":"ab"}]}`,
		"compare_javascript_export_shapes": `{"left":` + app + `,"right":` + app + `,"summary":{"changed":1,"exports":1,"modules":1},"coverage":{"left":` + reasons + `,"right":` + reasons + `},"total":1,
			"changes":[{"module":{"left_path":"` + evil + `","right_path":"` + evil + `"},"export":"` + evil + `","path":"members.` + evil + `","status":"changed",
			"left":{"kind":"function","params":[{"pattern":"` + evil + `"}],"returns":[{"kind":"string","value":"` + evil + `"}]},"right":{"kind":"class","members":{"` + evil + `":{"kind":"` + evil + `"}}},"left_location":` + place + `,"right_location":` + place + `,"reason":"` + evil + `"}]}`,
	} {
		var out bytes.Buffer
		done, err := Finding(&out, tool, []byte(`{"evidence_id":"ev_1","normalized_result":`+result+`,"limitations":["`+evil+`"]}`), terminal.Screen{Width: 60}, 3)
		if !done || err != nil {
			t.Fatalf("%s: %v, %v", tool, done, err)
		}
		if strings.ContainsAny(out.String(), "\x1b\u202e") {
			t.Errorf("%s writes what the application says to the terminal:\n%q", tool, out.String())
		}
		for _, l := range strings.Split(out.String(), "\n") {
			if terminal.Width(l) > 60 {
				t.Errorf("%s: a line of %d: %s", tool, terminal.Width(l), l)
			}
		}
	}
	if done, err := Finding(&bytes.Buffer{}, "trace_application_feature", []byte(`{"result":1}`), terminal.Screen{}, 0); done || err != nil {
		t.Errorf("what is no record: %v, %v", done, err)
	}
}
