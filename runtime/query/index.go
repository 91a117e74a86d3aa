package query

import (
	"context"

	"rea/generated/model"
)

// Engines may implement these beside engine.Engine. Without them the same
// questions are answered by walking over everything.

// NameIndex finds the names at an address, analyst names excluded.
type NameIndex interface {
	NamesAt(ctx context.Context, addr model.Address) ([]model.NameItem, error)
}

// CallerIndex counts the procedures that call the one at entry.
type CallerIndex interface {
	CallerCount(ctx context.Context, entry model.Address) (int, error)
}
