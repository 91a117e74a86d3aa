package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/query"
)

// InspectNativeInstruction takes one instruction apart.
func (h *Handlers) InspectNativeInstruction(ctx context.Context, in *tool.InspectNativeInstructionInput) (*tool.Finding[tool.InspectNativeInstructionOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	addr, err := query.Mapped(ctx, c.Engine, in.Address)
	if err != nil {
		return nil, err
	}
	d, err := c.Engine.Instruction(ctx, addr)
	if err != nil {
		return nil, err
	}
	f := &tool.Finding[tool.InspectNativeInstructionOutput]{
		Result: tool.InspectNativeInstructionOutput{
			Instruction:      d.Instruction,
			Architecture:     c.Target.Architecture,
			Size:             int64(d.Size),
			Procedure:        d.Procedure,
			Block:            d.Block,
			RegistersRead:    d.Read,
			RegistersWritten: d.Written,
			Immediate:        d.Immediate,
			References:       d.References,
			InReachedCode:    d.Reached,
		},
		Locations: query.At(addr),
	}
	if d.MemoryExpression != "" {
		m := &tool.InspectNativeInstructionOutputMemory{
			Expression: d.MemoryExpression,
			Address:    d.MemoryAddress,
			Access:     tool.InspectNativeInstructionOutputMemoryAccess(d.MemoryAccess),
		}
		if d.MemorySize > 0 {
			size := int64(d.MemorySize)
			m.Size = &size
		}
		f.Result.Memory = m
	}
	if !d.Reached {
		f.Limitations = []string{"analysis did not find an instruction start here; the bytes were decoded because they were asked for"}
	}
	return f, nil
}
