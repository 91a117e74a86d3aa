package query

import (
	"context"
	"slices"

	"rea/generated/model"
	"rea/runtime/engine"
)

// A Call is what a handler works with: the engine of the call's target, the
// analyst's notes about that target and the document that is meant.
type Call struct {
	Target   *engine.Target
	Engine   engine.Engine
	Notes    Notes
	Document string
}

// A Source tells what the call in ctx works on; the session is one. It fails
// with no_target_open when nothing is open.
type Source func(ctx context.Context) (*engine.Target, engine.Engine, Notes, error)

// Open is the call in ctx, on the document that was named or the open one.
func (s Source) Open(ctx context.Context, document *string) (*Call, error) {
	t, eng, notes, err := s(ctx)
	if err != nil {
		return nil, err
	}
	name, err := Document(ctx, eng, document)
	if err != nil {
		return nil, err
	}
	return &Call{t, eng, notes, name}, nil
}

// Notes are what the analyst has said about a target.
type Notes interface {
	engine.Names
	// Cursor is where the analyst looks; false until it was moved.
	Cursor() (model.Address, bool)
	SetCursor(model.Address)
	Comment(model.Address) (string, bool)
	InlineComment(model.Address) (string, bool)
	Bookmark(model.Address) (string, bool)
	Bookmarks() []model.Bookmark
	// Comments lists comments of both kinds inside [start, end), by address.
	Comments(start, end model.Address) []model.CommentItem
	// Apply makes all the changes or none, and tells what was there before.
	Apply([]Change) ([]*string, error)
}

// NoteKind is a kind of note.
type NoteKind string

const (
	NameNote     NoteKind = "name"
	CommentNote  NoteKind = "comment"
	InlineNote   NoteKind = "inline"
	BookmarkNote NoteKind = "bookmark"
)

// A Change sets one note, or removes it when Value is nil.
type Change struct {
	Address model.Address
	Kind    NoteKind
	Value   *string
}

// Cursor is where the analyst looks: where the engine's own cursor is, for an
// engine that has one, else at the entry point until it was moved.
func (c *Call) Cursor(ctx context.Context) (model.Address, error) {
	addr, moved := c.Notes.Cursor()
	if state, ok := c.Engine.(engine.CursorState); ok {
		if at, err := state.CursorAt(ctx); err != nil || at != nil {
			return valueOr(at, addr), err
		}
	}
	if moved {
		return addr, nil
	}
	summary, err := c.Engine.Summary(ctx)
	if err != nil {
		return 0, err
	}
	if entry := summary.Target.Entry; entry != nil {
		return entry.Address, nil
	}
	m, err := MappingOf(ctx, c.Engine)
	if err != nil || len(m.ranges) == 0 {
		return 0, err
	}
	return m.ranges[0].Start, nil
}

func valueOr(at *model.Address, other model.Address) model.Address {
	if at == nil {
		return other
	}
	return *at
}

// MoveCursor puts the cursor at addr, the engine's own as well.
func (c *Call) MoveCursor(ctx context.Context, addr model.Address) error {
	if state, ok := c.Engine.(engine.CursorState); ok {
		if err := state.MoveCursor(ctx, addr); err != nil {
			return err
		}
	}
	c.Notes.SetCursor(addr)
	return nil
}

// Address is the address that the caller wrote, or the cursor when nothing was written.
func (c *Call) Address(ctx context.Context, written *string) (model.Address, error) {
	if written == nil {
		return c.Cursor(ctx)
	}
	return engine.ParseAddress(*written)
}

// MappedAddress is Address, which must be mapped.
func (c *Call) MappedAddress(ctx context.Context, written *string) (model.Address, error) {
	addr, err := c.Address(ctx, written)
	if err != nil {
		return 0, err
	}
	m, err := MappingOf(ctx, c.Engine)
	if err != nil {
		return 0, err
	}
	return addr, m.Check(addr)
}

// Name is the best name at addr, nil when there is none.
func (c *Call) Name(ctx context.Context, addr model.Address) (*string, error) {
	item, err := NameAt(ctx, c.Engine, c.Notes, addr)
	if err != nil || item == nil {
		return nil, err
	}
	return &item.Name, nil
}

// Has reports whether the engine states the capability.
func (c *Call) Has(capability model.EngineCapability) bool {
	return slices.Contains(c.Engine.Capabilities(), capability)
}
