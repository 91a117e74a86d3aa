package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"rea/cmd/terminal"
	"rea/generated/fault"
)

// fake answers tools with fixed results; a tool without one fails.
type fake map[string]any

func (f fake) call(_ context.Context, tool string, input any) ([]byte, error) {
	v, ok := f[tool]
	if !ok {
		return nil, fault.CapabilityUnavailable(fault.CapabilityUnavailableDetails{
			Tool: tool, Reason: "the engine is asleep", Missing: []string{}, Providers: []string{},
		}, nil)
	}
	if pages, ok := v.([]string); ok {
		offset := input.(map[string]any)["offset"].(int)
		for i, p := range pages {
			if fmt.Sprint(i*2) == fmt.Sprint(offset) {
				v = p
			}
		}
	}
	return []byte(v.(string)), nil
}

func record(result string) string {
	return `{"evidence_id":"ev_1","normalized_result":` + result + `,"limitations":["half of it is hidden","symbols: 0 of 9 are given"]}`
}

const (
	opened = `{"result":{"target":{"path":"/tmp/x\u001b[2J","sha256":"ab","size":1234567,"format":"elf","architecture":"arm64","kind":"executable","slice":"arm64","slices":["arm64","x86_64"]},
		"binding":{"provider":{"id":"embedded","name":"embedded engine","version":"1"}},"limitations":["from the header"]}}`
	laidOut = `{"target":{"bits":64,"endian":"little","file_type":"EXEC","machine":"AArch64","subtype":null,"os":"linux","entry":"0x1000","build_id":null,"interpreter":null,"soname":null,
		"compiler":["cc 1"],"go_version":null,"stripped":true,"debug":[]},
		"mitigations":[{"name":"pie","state":"enabled","detail":"because"}],"libraries":[{"name":"libc.so","delay_loaded":false,"weak":true}],"rpaths":[],
		"sections":{"total":1,"items":[{"name":".text","type":"PROGBITS","start":"0x1000","file_size":16,"readable":true,"writable":false,"executable":true,"mapped":true,"entropy":6.5}]},
		"imports":{"total":1,"items":[{"name":"puts","library":null,"version":null,"data":false}]},"exports":{"total":0,"items":[]}}`
	overviewed = `{"target":{"entry":{"address":"0x1000","name":"_start"}},"counts":{"procedures":4,"named_procedures":1,"strings":7,"basic_blocks":9,"instructions":99,"code_bytes":400,
		"call_edges":3,"unresolved_transfers":1,"references":8},"notes":["a note"],"imports":[{"name":"puts","library":null,"uses":2}],
		"largest_procedures":[{"address":"0x1000","name":"_Z1fv","demangled":"f()","size":300,"kind":"function"}],
		"most_called":[{"procedure":{"address":"0x1000","name":null},"callers":2}],
		"strings":[{"address":"0x2000","value":"red \u001b[31m","users":[{"address":"0x1000","name":"f()"},{"address":"0x1100","name":null}]},{"address":"0x2010","value":"unused","users":[]}]}`
)

var whole = fake{
	"open_binary":           opened,
	"inspect_binary_layout": record(laidOut),
	"binary_overview":       record(overviewed),
	"list_procedures": []string{
		record(`{"total":3,"next_offset":2,"items":[{"address":"0x1000","name":"a","size":1,"kind":"function"},{"address":"0x1100","name":"b","size":2,"kind":"thunk"}]}`),
		record(`{"total":3,"next_offset":null,"items":[{"address":"0x1200","name":"c","size":3,"kind":"function"}]}`),
	},
	"search_strings": record(`{"total":2,"next_offset":null,"items":[{"string":{"address":"0x2000","value":"hello"},"users":[{"address":"0x1000","name":"a"}]},{"string":{"address":"0x2010","value":"unused"},"users":[]}]}`),
}

func build(t *testing.T, f fake, rows int) *Report {
	t.Helper()
	r, err := Build(t.Context(), f.call, Options{Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(t *testing.T, r *Report, rows, width int) string {
	t.Helper()
	var b strings.Builder
	if err := r.Text(&b, terminal.Screen{Width: width}, rows); err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(b.String()) {
		if w := terminal.Width(strings.TrimSuffix(l, "\n")); width > 0 && w > width {
			t.Errorf("line of %d cells, more than %d: %s", w, width, l)
		}
	}
	return b.String()
}

func TestReport_complete(t *testing.T) {
	r := build(t, whole, 0)
	if len(r.Procedures.Items) != 3 || !r.Procedures.Complete || len(r.Strings.Items) != 1 {
		t.Errorf("procedures %+v, strings %+v", r.Procedures, r.Strings)
	}
	if len(r.Missing) != 0 || len(r.Evidence) != 5 {
		t.Errorf("missing %v, evidence %v", r.Missing, r.Evidence)
	}
	got := text(t, r, 0, 80)
	for _, want := range []string{
		`/tmp/x\x1b[2J`, "1,234,567 bytes", "ELF, 64-bit little-endian, executable (EXEC)", "arm64, slice arm64 of arm64, x86_64",
		"entry        0x1000 _start", "on  pie  because", "libc.so (weak)", "puts 2", "0x1100  2  b (thunk)", "0x2000  a  hello",
		"most called", "2 callers", "call edges   3", "1 computed transfer", "- from the header", "- a note", "- half of it is hidden",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the text lacks %q", want)
		}
	}
	for _, never := range []string{"\x1b", "unused", "symbols: 0"} {
		if strings.Contains(got, never) {
			t.Errorf("the text has %q", never)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}

func TestReport_bounded_asks_less(t *testing.T) {
	f := fake{}
	for _, tool := range []string{"open_binary", "inspect_binary_layout", "binary_overview"} {
		f[tool] = whole[tool]
	}
	r := build(t, f, 5)
	if len(r.Missing) != 0 {
		t.Errorf("the bounded report asked for %v", r.Missing)
	}
	got := text(t, r, 5, 50)
	for _, want := range []string{"largest\n", "300  f()", `f() +1  red \x1b[31m`, "3 more: rea list-procedures"} {
		if !strings.Contains(got, want) {
			t.Errorf("the text lacks %q:\n%s", want, got)
		}
	}
}

func TestReport_names_what_is_missing(t *testing.T) {
	r := build(t, fake{"open_binary": opened}, 0)
	var parts []string
	for _, m := range r.Missing {
		parts = append(parts, m.Part)
		if m.Code != "capability_unavailable" || m.Action == "" {
			t.Errorf("%+v", m)
		}
	}
	if got := strings.Join(parts, " "); got != "layout overview procedures used_strings" {
		t.Errorf("missing are %q", got)
	}
	if got := text(t, r, 0, 70); !strings.Contains(got, "no overview: ") || !strings.Contains(got, "is unavailable") {
		t.Errorf("the text does not say what is missing:\n%s", got)
	}
	data, err := r.JSON()
	if err != nil || !json.Valid(data) || !strings.Contains(string(data), `"layout": null`) {
		t.Errorf("document: %v\n%s", err, data)
	}
}

func TestReport_fails_when_the_engine_does(t *testing.T) {
	for _, broken := range []string{"binary_overview", "list_procedures", "search_strings"} {
		asked := 0
		call := func(ctx context.Context, tool string, input any) ([]byte, error) {
			if tool != broken {
				return whole.call(ctx, tool, input)
			}
			asked++
			return nil, fault.ProviderUnavailable(fault.ProviderUnavailableDetails{ProviderID: "e", Reason: "it ended", Candidates: []string{}}, nil)
		}
		if r, err := Build(t.Context(), call, Options{}); r != nil || fault.CodeOf(err) != fault.ProviderUnavailableCode || asked != 1 {
			t.Errorf("%s: asked %d times, %v", broken, asked, err)
		}
	}
}

func TestReport_fails_without_a_target_and_when_stopped(t *testing.T) {
	if _, err := Build(t.Context(), fake{}.call, Options{}); fault.CodeOf(err) != fault.CapabilityUnavailableCode {
		t.Errorf("without a target: %v", err)
	}
	stop := errors.New("stopped by hand")
	ctx, cancel := context.WithCancelCause(t.Context())
	call := func(ctx context.Context, tool string, input any) ([]byte, error) {
		if tool == "binary_overview" {
			cancel(stop)
		}
		return whole.call(ctx, tool, input)
	}
	if _, err := Build(ctx, call, Options{}); !errors.Is(err, stop) {
		t.Errorf("when stopped: %v", err)
	}
}
