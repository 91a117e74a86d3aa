package analysis

import (
	"context"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// InspectAddressContext collects what is known about one address. Each facet
// stands for itself: one that the engine lacks is unavailable and the others
// are given.
func (h *Handlers) InspectAddressContext(ctx context.Context, in *tool.InspectAddressContextInput) (*tool.InspectAddressContextOutput, error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	addr, err := engine.ParseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	if c.Has(model.EngineCapabilitySegments) {
		if _, err := query.Mapped(ctx, c.Engine, in.Address); err != nil {
			return nil, err
		}
	}
	out := tool.InspectAddressContextOutputResult{
		Address:       addr,
		Document:      c.Document,
		Comment:       note(c.Notes.Comment(addr)),
		InlineComment: note(c.Notes.InlineComment(addr)),
		Bookmarks:     bookmarks(c.Notes, addr),
	}
	for _, facet := range []struct {
		into *model.TextFacet
		need model.EngineCapability
		read func(context.Context, *query.Call, model.Address) (*string, error)
	}{
		{&out.Name, model.EngineCapabilityNames, nameAt},
		{&out.Section, model.EngineCapabilitySegments, sectionAt},
		{&out.String, model.EngineCapabilityStrings, stringAt},
	} {
		gap, value, err := ask(ctx, c, addr, facet.need, facet.read)
		if err != nil {
			return nil, err
		}
		*facet.into = &model.TextFacetAvailable{Value: value}
		if gap != nil {
			*facet.into = gap
		}
	}
	gap, procedure, err := ask(ctx, c, addr, model.EngineCapabilityFunctions, procedureAt)
	if err != nil {
		return nil, err
	}
	out.Procedure = &model.ProcedureFacetAvailable{Value: procedure}
	if gap != nil {
		out.Procedure = gap
	}
	return &tool.InspectAddressContextOutput{Result: out}, nil
}

func nameAt(ctx context.Context, c *query.Call, addr model.Address) (*string, error) {
	return c.Name(ctx, addr)
}

func sectionAt(ctx context.Context, c *query.Call, addr model.Address) (*string, error) {
	at, err := c.Engine.Locate(ctx, addr)
	if err != nil || at.Section == "" {
		return nil, err
	}
	return &at.Section, nil
}

// stringAt is the string that the address lies in.
func stringAt(ctx context.Context, c *query.Call, addr model.Address) (*string, error) {
	var found *string
	err := query.Each(ctx, c.Engine.Strings(ctx, query.MinString), func(s *model.StringItem) error {
		if s.Address > addr {
			return query.ErrStop
		}
		if uint64(addr-s.Address) < uint64(s.ByteLength) {
			value := s.Value
			found = &value
		}
		return nil
	})
	return found, err
}

func procedureAt(ctx context.Context, c *query.Call, addr model.Address) (*model.Procedure, error) {
	return c.Engine.Containing(ctx, addr)
}

func bookmarks(notes query.Notes, addr model.Address) model.BookmarksFacet {
	out := &model.BookmarksFacetAvailable{Value: []model.Bookmark{}}
	if name, ok := notes.Bookmark(addr); ok {
		out.Value = append(out.Value, model.Bookmark{Address: addr, Name: name})
	}
	return out
}

func note(text string, ok bool) model.TextFacet {
	if !ok {
		return &model.TextFacetAvailable{}
	}
	return &model.TextFacetAvailable{Value: &text}
}

// ask reads one fact. It gives a gap where the fact is out of the engine's
// reach: the capability is not stated, or the question ends with that fault.
func ask[T any](ctx context.Context, c *query.Call, addr model.Address, need model.EngineCapability,
	read func(context.Context, *query.Call, model.Address) (*T, error)) (*model.Unavailable, *T, error) {
	if c.Has(need) {
		value, err := read(ctx, c, addr)
		if fault.CodeOf(err) != fault.CapabilityUnavailableCode {
			return nil, value, err
		}
	}
	return unavailable(engine.Gap{Reason: "the bound engine " + c.Engine.Profile().Provider.ID + " does not supply " + string(need)}), nil, nil
}
