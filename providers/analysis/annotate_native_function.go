package analysis

import (
	"context"
	"errors"
	"fmt"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// AnnotateNativeFunction applies what the analyst has to say about a function
// in one step, after everything was checked.
func (h *Handlers) AnnotateNativeFunction(ctx context.Context, in *tool.AnnotateNativeFunctionInput) (*tool.Finding[tool.AnnotateNativeFunctionOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	p, err := c.Engine.Resolve(ctx, in.Procedure)
	if err != nil {
		return nil, err
	}
	changes := entryNotes(p.Address, in)
	inline, outside, err := inlineNotes(ctx, c, &p, in.InlineComments)
	if err != nil {
		return nil, err
	}
	changes = append(changes, inline...)
	previous, err := apply(ctx, c, changes)
	if err != nil {
		return nil, err
	}
	if in.Name != nil {
		p.Name = *in.Name
	}
	f := &tool.Finding[tool.AnnotateNativeFunctionOutput]{
		Result:      tool.AnnotateNativeFunctionOutput{Procedure: query.Ref(&p)},
		Limitations: outside,
		Locations:   query.At(p.Address),
	}
	for i, change := range changes {
		f.Result.Applied = append(f.Result.Applied, tool.AnnotateNativeFunctionOutputAppliedItem{
			Address:  change.Address,
			Kind:     tool.AnnotateNativeFunctionOutputAppliedItemKind(change.Kind),
			Value:    change.Value,
			Previous: previous[i],
		})
	}
	return f, nil
}

// apply makes the changes in the engine's copy of the program, where the engine
// keeps one, and in the notes: in both or in neither.
func apply(ctx context.Context, c *query.Call, changes []query.Change) ([]*string, error) {
	copied, keeps := c.Engine.(engine.Annotator)
	if !keeps || !c.Has(model.EngineCapabilityWriteAnnotations) || len(changes) == 0 {
		return c.Notes.Apply(changes)
	}
	there := make([]engine.Annotation, len(changes))
	for i, n := range changes {
		there[i] = engine.Annotation{Address: n.Address, Kind: engine.NoteKind(n.Kind), Value: n.Value}
	}
	before, err := copied.Annotate(ctx, there)
	if err != nil {
		return nil, err
	}
	previous, err := c.Notes.Apply(changes)
	if err == nil {
		return previous, nil
	}
	// Taken back in the opposite order, so that two changes of one place end
	// with what was there first.
	back := make([]engine.Annotation, len(there))
	for i := range there {
		k := len(there) - 1 - i
		back[i] = engine.Annotation{Address: there[k].Address, Kind: there[k].Kind, Value: before[k]}
	}
	_, undo := copied.Annotate(context.WithoutCancel(ctx), back)
	return nil, errors.Join(err, undo)
}

func entryNotes(entry model.Address, in *tool.AnnotateNativeFunctionInput) []query.Change {
	var out []query.Change
	if in.Name != nil {
		out = append(out, query.Change{Address: entry, Kind: query.NameNote, Value: in.Name})
	}
	if in.Comment != nil {
		out = append(out, query.Change{Address: entry, Kind: query.CommentNote, Value: orNone(*in.Comment)})
	}
	if in.Bookmark != nil {
		out = append(out, query.Change{Address: entry, Kind: query.BookmarkNote, Value: in.Bookmark})
	}
	return out
}

// inlineNotes checks that every address is mapped. One outside of the function
// is applied all the same, and said.
func inlineNotes(ctx context.Context, c *query.Call, p *model.Procedure, notes []tool.AnnotateNativeFunctionInputInlineComment) (changes []query.Change, outside []string, err error) {
	if len(notes) == 0 {
		return nil, nil, nil
	}
	mapping, err := query.MappingOf(ctx, c.Engine)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range notes {
		addr, err := engine.ParseAddress(n.Address)
		if err != nil {
			return nil, nil, err
		}
		if err := mapping.Check(addr); err != nil {
			return nil, nil, err
		}
		in, err := c.Engine.Containing(ctx, addr)
		if err != nil {
			return nil, nil, err
		}
		if in == nil || in.Address != p.Address {
			outside = append(outside, fmt.Sprintf("the inline comment at %s lies outside of the function", addr))
		}
		changes = append(changes, query.Change{Address: addr, Kind: query.InlineNote, Value: orNone(n.Comment)})
	}
	return changes, outside, nil
}

// orNone is nil for an empty text, which removes a note.
func orNone(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
