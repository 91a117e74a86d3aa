package binary

import (
	"context"

	"rea/generated/tool"
	"rea/providers/binary/symbol"
)

// DemangleSymbols answers for each name on its own.
func (h *Handlers) DemangleSymbols(ctx context.Context, in *tool.DemangleSymbolsInput) (*tool.Finding[tool.DemangleSymbolsOutput], error) {
	var out tool.DemangleSymbolsOutput
	for i, s := range in.Symbols {
		if i%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		n := symbol.As(s, string(in.Scheme))
		if in.Scheme == tool.DemangleSymbolsInputSchemeAuto {
			n = symbol.Demangle(s)
		}
		row := tool.DemangleSymbolsOutputSymbol{
			Input: s, Output: s, Status: tool.DemangleSymbolsOutputSymbolStatusUnchanged, Name: optional(n.Qualified),
		}
		if n.Scheme != symbol.None {
			scheme := tool.DemangleSymbolsOutputSymbolScheme(n.Scheme)
			row.Scheme = &scheme
			row.Status = tool.DemangleSymbolsOutputSymbolStatusInvalid
		}
		if n.Readable != "" {
			row.Status, row.Output = tool.DemangleSymbolsOutputSymbolStatusDemangled, n.Readable
		}
		switch row.Status {
		case tool.DemangleSymbolsOutputSymbolStatusDemangled:
			out.Demangled++
		case tool.DemangleSymbolsOutputSymbolStatusUnchanged:
			out.Unchanged++
		default:
			out.Invalid++
		}
		out.Symbols = append(out.Symbols, row)
	}
	return &tool.Finding[tool.DemangleSymbolsOutput]{Result: out}, nil
}
