package native

import (
	"context"
	"strings"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// ProcedureAssembly writes the instructions of a procedure as lines.
func (h *Handlers) ProcedureAssembly(ctx context.Context, in *tool.ProcedureAssemblyInput) (*tool.Finding[tool.ProcedureAssemblyOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	b, ref, err := body(ctx, c.Engine, in.Procedure, engine.Instructions|engine.Ranges)
	if err != nil {
		return nil, err
	}
	page := query.Slice(b.Instructions, in.Offset, in.Limit)
	f := &tool.Finding[tool.ProcedureAssemblyOutput]{
		Result: tool.ProcedureAssemblyOutput{
			Procedure: ref, Syntax: tool.ProcedureAssemblyOutputSyntax(syntax(c, b)),
			Offset: page.Offset, NextOffset: page.Next, Lines: make([]string, 0, len(page.Items)),
		},
		Limitations: query.Gaps(b, 0),
		Locations:   query.In(b.Ranges),
	}
	if _, missing := b.Missing[engine.Instructions]; !missing {
		f.Result.Total = &page.Total
	}
	for i := range page.Items {
		f.Result.Lines = append(f.Result.Lines, line(&page.Items[i]))
	}
	return f, nil
}

// line is "0x401000  call 0x401136  ; main". Names that the operands show
// already are not repeated.
func line(in *model.Instruction) string {
	var b strings.Builder
	b.WriteString(in.Address.String())
	b.WriteString("  ")
	b.WriteString(in.Mnemonic)
	if in.Operands != "" {
		b.WriteByte(' ')
		b.WriteString(query.Visible(in.Operands))
	}
	if in.Target != nil && in.Target.Name != nil && !strings.Contains(in.Operands, *in.Target.Name) {
		b.WriteString("  ; ")
		b.WriteString(query.Visible(*in.Target.Name))
	}
	return b.String()
}

// syntax names the assembly dialect, also where no instruction could be read.
func syntax(c *query.Call, b *engine.Body) string {
	switch {
	case b.Syntax != "":
		return b.Syntax
	case c.Target.Architecture == model.ArchitectureArm, c.Target.Architecture == model.ArchitectureArm64:
		return "arm"
	}
	return "intel"
}
