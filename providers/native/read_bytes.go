package native

import (
	"context"
	"encoding/hex"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// ReadBytes reads stored bytes, across segments that touch, and says why it
// stopped where it gives fewer than were asked for.
func (h *Handlers) ReadBytes(ctx context.Context, in *tool.ReadBytesInput) (*tool.Finding[tool.ReadBytesOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	addr, err := engine.ParseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	mapping, err := query.MappingOf(ctx, c.Engine)
	if err != nil {
		return nil, err
	}
	if err := mapping.Check(addr); err != nil {
		return nil, err
	}
	wanted := int(in.Length)
	data := make([]byte, 0, wanted)
	at := addr
	for len(data) < wanted && mapping.Has(at) && at >= addr { // at < addr: the address space ends
		more, err := c.Engine.Bytes(ctx, at, wanted-len(data))
		if err != nil {
			return nil, err
		}
		if len(more) == 0 {
			break
		}
		data = append(data, more...)
		at += model.Address(len(more))
	}
	f := &tool.Finding[tool.ReadBytesOutput]{
		Result: tool.ReadBytesOutput{
			Address: addr, Requested: in.Length, Returned: int64(len(data)), Complete: len(data) == wanted,
			Bytes: hex.EncodeToString(data), Ascii: printable(data),
		},
		Locations: query.At(addr),
	}
	if len(data) > 0 {
		f.Locations = query.In([]model.AddressRange{{Start: addr, End: at}})
	}
	if len(data) == wanted {
		return f, nil
	}
	reason := "nothing is mapped at " + at.String()
	if mapping.Has(at) && at >= addr {
		where, err := c.Engine.Locate(ctx, at)
		if err != nil {
			return nil, err
		}
		reason = "the file stores nothing for " + at.String()
		if where.Reason != "" {
			reason += ": " + where.Reason
		}
	}
	f.Result.Reason = &reason
	f.Limitations = []string{reason}
	return f, nil
}

func printable(data []byte) string {
	out := make([]byte, len(data))
	for i, b := range data {
		out[i] = '.'
		if 0x20 <= b && b < 0x7f {
			out[i] = b
		}
	}
	return string(out)
}
