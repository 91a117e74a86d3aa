// Package native is the family of single facts about the open target: each tool
// asks the bound engine, or the analyst's notes, one question and gives one page
// of the answer. It works with any engine.
package native

import (
	"context"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// Handlers serve one session.
type Handlers struct{ source query.Source }

// New makes the handlers of the session that source speaks for.
func New(source query.Source) *Handlers { return &Handlers{source} }

func (h *Handlers) call(ctx context.Context, document *string) (*query.Call, error) {
	return h.source.Open(ctx, document)
}

// body resolves a selector and reads facets of the procedure it means.
func body(ctx context.Context, eng engine.Engine, selector string, want engine.Facet) (*engine.Body, model.SymbolRef, error) {
	p, err := eng.Resolve(ctx, selector)
	if err != nil {
		return nil, model.SymbolRef{}, err
	}
	b, err := eng.Body(ctx, p.Address, want)
	if err != nil {
		return nil, model.SymbolRef{}, err
	}
	return b, query.Ref(&p), nil
}

var _ tool.NativeHandlers = (*Handlers)(nil)
