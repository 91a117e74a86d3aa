package dispatch

import (
	"bytes"
	"context"
	"fmt"

	"rea/generated/fault"
	"rea/generated/tool"
	"rea/runtime/evidence"
)

// Parameters are canonical JSON, in which a member is written in one way only.
var (
	wantsSummary  = []byte(`"detail":"summary"`)
	wantsComplete = []byte(`"detail":"complete"`)
)

// viewTool projects retained records.
const viewTool = "inspect_analysis_view"

// summarized reports whether a call asks for the summary of its record. The
// record is the complete one: its parameters, and so its identity, are those of
// a call that asks for everything.
func (d *Dispatcher) summarized(spec *tool.Spec, parameters []byte) (bool, []byte, error) {
	if !bytes.Contains(parameters, wantsSummary) {
		return false, parameters, nil
	}
	if d.config.Ephemeral || d.bindings[viewTool] == nil {
		return false, nil, fault.CapabilityUnavailable(fault.CapabilityUnavailableDetails{
			Tool: spec.Name, Missing: []string{"session retention"}, Providers: []string{},
			Reason: "detail summary keeps the complete record in the session, and this session keeps none",
		}, nil)
	}
	return true, bytes.Replace(parameters, wantsSummary, wantsComplete, 1), nil
}

// summaryOf is the summary view of a record that is kept.
func (d *Dispatcher) summaryOf(ctx context.Context, id evidence.ID) (*Outcome, error) {
	args := fmt.Sprintf(`{"analysis":{"kind":"retained-evidence","evidence_id":%q},"view":"summary"}`, id)
	return d.run(ctx, d.bindings[viewTool], []byte(args))
}
