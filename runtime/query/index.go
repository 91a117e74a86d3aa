package query

import (
	"context"
	"iter"

	"rea/generated/model"
)

// Engines may implement these beside engine.Engine. Without them the same
// questions are answered by walking over everything.

// NameIndex finds the names at an address, analyst names excluded.
type NameIndex interface {
	NamesAt(ctx context.Context, addr model.Address) ([]model.NameItem, error)
}

// RowIndex begins its lists at a later row without making those before it, so
// that the pages of a list take no longer together than the list does.
type RowIndex interface {
	// ProceduresFrom yields what Procedures does after skip rows; total is how
	// many it yields in all.
	ProceduresFrom(ctx context.Context, skip int) (rows iter.Seq2[model.Procedure, error], total int, err error)
	// StringsFrom yields what Strings does after skip rows.
	StringsFrom(ctx context.Context, minBytes, skip int) iter.Seq2[model.StringItem, error]
}

// A Measure is what a procedure is ranked by.
type Measure struct {
	Kind    model.ProcedureKind
	Size    int64
	Callers int // procedures that call it
}

// MeasureIndex measures all procedures, in the order of their rows, without
// making the rows.
type MeasureIndex interface {
	RowIndex
	Measures(ctx context.Context) ([]Measure, error)
}

// CallerIndex counts the procedures that call the one at entry.
type CallerIndex interface {
	CallerCount(ctx context.Context, entry model.Address) (int, error)
}
