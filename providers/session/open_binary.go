package session

import (
	"context"

	"rea/generated/tool"
	state "rea/runtime/session"
)

// OpenBinary opens a file in place of what is open.
func (h *Handlers) OpenBinary(ctx context.Context, in *tool.OpenBinaryInput) (*tool.OpenBinaryOutput, error) {
	req := state.OpenRequest{Path: in.Path}
	if in.ProviderID != nil {
		req.Provider = *in.ProviderID
	}
	if in.Architecture != nil {
		req.Slice = *in.Architecture
	}
	if in.SnapshotPath != nil {
		req.Snapshot = *in.SnapshotPath
	}
	bound, err := h.config.Session.Open(ctx, req)
	if err != nil {
		return nil, err
	}
	r := tool.OpenBinaryOutputResult{
		Target: bound.TargetModel(), RunID: bound.RunID, Binding: bound.Model(), Limitations: append([]string{}, bound.Limitations...),
	}
	if s := bound.Snapshot(); s != nil {
		r.Snapshot = &tool.OpenBinaryOutputResultSnapshot{Path: s.Path, Entries: int64(s.Entries)}
	}
	return &tool.OpenBinaryOutput{Result: r}, nil
}
