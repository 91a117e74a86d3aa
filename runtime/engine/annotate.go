package engine

import (
	"context"

	"rea/generated/model"
)

// NoteKind is a kind of annotation that an engine keeps in its own copy of the program.
type NoteKind string

const (
	NameNote     NoteKind = "name"
	CommentNote  NoteKind = "comment"
	InlineNote   NoteKind = "inline"
	BookmarkNote NoteKind = "bookmark"
)

// An Annotation sets one note, or removes it when Value is nil.
type Annotation struct {
	Address model.Address
	Kind    NoteKind
	Value   *string
}

// Annotator is implemented by engines that state write_annotations: they keep
// notes in their private copy of the program, where their decompiler sees them.
type Annotator interface {
	// Annotate makes all the changes or none, and tells what was there before each.
	Annotate(ctx context.Context, changes []Annotation) ([]*string, error)
}

// CursorState is implemented by engines that have a cursor of their own.
type CursorState interface {
	// CursorAt is where the engine's cursor is; nil when it has none now.
	CursorAt(ctx context.Context) (*model.Address, error)
	// MoveCursor puts it at addr.
	MoveCursor(ctx context.Context, addr model.Address) error
}
