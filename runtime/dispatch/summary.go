package dispatch

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

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
		return false, nil, fault.Advise(fault.CapabilityUnavailable(fault.CapabilityUnavailableDetails{
			Tool: spec.Name, Missing: []string{"session retention"}, Providers: []string{},
			Reason: "detail summary keeps the complete record in the session, and this session keeps none",
		}, nil), "Leave detail out, which gives the complete record; inspect_analysis_view shows parts of it.")
	}
	return true, bytes.Replace(parameters, wantsSummary, wantsComplete, 1), nil
}

// summaryOf is the summary view of a record that is kept.
func (d *Dispatcher) summaryOf(ctx context.Context, id evidence.ID) (*Outcome, error) {
	args := fmt.Sprintf(`{"analysis":{"kind":"retained-evidence","evidence_id":%q},"view":"summary"}`, id)
	return d.run(ctx, d.bindings[viewTool], []byte(args))
}

// A FollowUp is where a caller finds what a response cannot hold.
type FollowUp struct {
	EvidenceID string // record to ask for, "" when nothing was recorded
	Action     string // what to do
}

// FollowUp of an outcome that does not fit into a response. A view leads to the
// record that it is a view of, since that is what can be viewed by smaller pages.
func (d *Dispatcher) FollowUp(out *Outcome) FollowUp {
	const export = "export_evidence_bundle writes the records of this connection to a file"
	if out.Record == nil {
		return FollowUp{Action: "Ask for less at a time; " + export + ", and inspect_analysis_view shows single records by pages."}
	}
	id := out.Record.ID().String()
	switch {
	case out.Spec.Name == viewTool:
		if view, ok := out.Output.(*tool.InspectAnalysisViewOutput); ok {
			id = view.ParentEvidenceID
		}
		return FollowUp{id, "Call inspect_analysis_view with this reference again and a smaller limit, or another view of it; " + export + "."}
	case slices.Contains(d.config.Viewed, out.Spec.Name):
		return FollowUp{id, "Call inspect_analysis_view with this reference, for a summary, one part or one page; " + export + "."}
	}
	return FollowUp{id, fmt.Sprintf("Ask for less at a time; %s. inspect_analysis_view takes records of %s, not of %s.",
		export, strings.Join(d.config.Viewed, ", "), out.Spec.Name)}
}
