package session

import (
	"context"

	"rea/generated/fault"
	"rea/generated/tool"
	state "rea/runtime/session"
)

// CloseBinary closes what is open and clears the records of the connection. A
// snapshot is saved first; when that fails, nothing is closed.
func (h *Handlers) CloseBinary(ctx context.Context, in *tool.CloseBinaryInput) (*tool.CloseBinaryOutput, error) {
	var saved *tool.CloseBinaryOutputResultSnapshot
	save := func(b *state.Binding) error {
		switch {
		case in.SnapshotPath == nil:
			return nil
		case b == nil:
			return fault.Advise(fault.NoTargetOpen(fault.NoTargetOpenDetails{Tool: "close_binary"}, nil),
				"There is nothing to save a snapshot of: call close_binary without snapshot_path, or open_binary first. Nothing was cleared.")
		}
		s, err := h.config.Session.SaveSnapshot(ctx, b, *in.SnapshotPath, in.Overwrite)
		if err != nil {
			return err
		}
		saved = &tool.CloseBinaryOutputResultSnapshot{Path: s.Path, Bytes: s.Bytes, Entries: int64(s.Entries)}
		return nil
	}
	closed, err := h.config.Session.Close(ctx, save)
	if err != nil {
		return nil, err
	}
	return &tool.CloseBinaryOutput{Result: tool.CloseBinaryOutputResult{
		Closed: closed.WasOpen, RecordsCleared: int64(closed.Records), Snapshot: saved,
	}}, nil
}
