// Package binary is the family of tools that read a binary's own tables from
// its bytes, with no engine.
package binary

import (
	"context"

	"rea/generated/tool"
	"rea/providers/format/native"
	"rea/providers/format/object"
	"rea/runtime/engine"
)

// A Target gives the target of the call in ctx, whether or not an engine is
// bound to it. It fails with no_target_open.
type Target func(ctx context.Context) (*engine.Target, error)

// Handlers serve one session.
type Handlers struct{ target Target }

// New makes the handlers of the session that target speaks for.
func New(target Target) *Handlers { return &Handlers{target} }

var _ tool.BinaryHandlers = (*Handlers)(nil)

// image is the parsed form of the open target, shared with the engines.
func (h *Handlers) image(ctx context.Context) (*engine.Target, *object.Image, error) {
	t, err := h.target(ctx)
	if err != nil {
		return nil, nil, err
	}
	im, err := engine.Memo(t, "image", func() (*object.Image, error) {
		return native.Load(t.Data, native.Options{Slice: t.Slice})
	})
	return t, im, err
}
