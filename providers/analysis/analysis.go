// Package analysis is the family of tools that put facts of the bound engine
// together: dossiers, graphs, traces, comparisons. What an engine cannot supply
// is said where it is missing, inside the result; every bound that cut
// something off is a limitation of the finding.
package analysis

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/query"
)

// Handlers serve one session.
type Handlers struct{ source query.Source }

// New makes the handlers of the session that source speaks for.
func New(source query.Source) *Handlers { return &Handlers{source} }

func (h *Handlers) call(ctx context.Context, document *string) (*query.Call, error) {
	return h.source.Open(ctx, document)
}

var _ tool.AnalysisHandlers = (*Handlers)(nil)
