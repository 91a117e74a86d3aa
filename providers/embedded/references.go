package embedded

import (
	"context"

	"rea/generated/model"
	"rea/providers/embedded/program"
	"rea/runtime/engine"
)

// reference is the row of one use. Jumps that leave their function are tail
// calls; the target of a call through an import's pointer is that pointer.
func (e *Engine) reference(p *program.Program, r program.Ref) model.Reference {
	row := model.Reference{From: model.Address(r.From), To: model.Address(r.To), Kind: e.referenceKind(p, r)}
	if i, ok := p.FunctionContaining(r.From); ok && r.Kind != program.RefPointer {
		ref := e.procedureRef(p, i)
		row.FromProcedure = &ref
	}
	if name := e.describe(p, r.To); name != "" {
		row.ToName = &name
	}
	return row
}

func (e *Engine) referenceKind(p *program.Program, r program.Ref) model.ReferenceKind {
	switch r.Kind {
	case program.RefCall:
		return model.ReferenceKindCall
	case program.RefJump, program.RefBranch:
		for _, c := range p.CallsBetween(r.From, r.From+1) {
			if c.To == r.To && c.Kind == program.TailCall {
				return model.ReferenceKindTailCall
			}
		}
		return model.ReferenceKindJump
	case program.RefRead:
		for _, c := range p.CallsBetween(r.From, r.From+1) {
			if c.Slot == r.To {
				return model.ReferenceKindImport
			}
		}
		return model.ReferenceKindRead
	case program.RefWrite:
		return model.ReferenceKindWrite
	case program.RefAddress:
		return model.ReferenceKindAddressOf
	}
	return model.ReferenceKindPointer
}

// longestShown bounds a string shown in place of a name, in bytes.
const longestShown = 200

// describe is the name at addr, or the text of the string there in quotes.
func (e *Engine) describe(p *program.Program, addr uint64) string {
	if n := e.nameAt(p, addr); n != "" {
		return n
	}
	if s, ok := p.StringAt(addr); ok {
		text, cut := shorten(p, s, longestShown)
		if cut {
			text += "…"
		}
		return `"` + text + `"`
	}
	return ""
}

// References lists uses of addr, or what the instruction or pointer at addr refers to.
func (e *Engine) References(ctx context.Context, addr model.Address, dir engine.Direction) ([]model.Reference, error) {
	p, err := e.program(ctx)
	if err != nil {
		return nil, err
	}
	out := []model.Reference{}
	if dir == engine.From {
		for _, r := range p.RefsFrom(uint64(addr), uint64(addr)+1) {
			out = append(out, e.reference(p, r))
		}
		return append(out, e.tableReferences(p, uint64(addr))...), nil
	}
	for r := range p.RefsTo(uint64(addr), uint64(addr)+1) {
		if len(out)%1024 == 1023 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out = append(out, e.reference(p, r))
	}
	for _, jump := range e.tableUsers()[uint64(addr)] {
		row := e.reference(p, program.Ref{From: jump, To: uint64(addr), Kind: program.RefJump})
		row.Kind = model.ReferenceKindJumpTable
		out = append(out, row)
	}
	sortReferences(out)
	return out, nil
}

// indexTables lists the jumps that reach an address through a table, by address.
func (e *Engine) indexTables() map[uint64][]uint64 {
	users := map[uint64][]uint64{}
	p := e.run.done
	for i := range p.Tables {
		t := &p.Tables[i]
		for _, to := range t.Targets {
			if jumps := users[to]; len(jumps) == 0 || jumps[len(jumps)-1] != t.Jump {
				users[to] = append(jumps, t.Jump)
			}
		}
	}
	return users
}

// tableReferences are the targets of the jump tables used at addr, each once.
func (e *Engine) tableReferences(p *program.Program, addr uint64) []model.Reference {
	var out []model.Reference
	seen := map[uint64]bool{}
	for _, t := range p.TablesAt(addr) {
		for _, to := range t.Targets {
			if !seen[to] {
				seen[to] = true
				row := e.reference(p, program.Ref{From: addr, To: to, Kind: program.RefJump})
				row.Kind = model.ReferenceKindJumpTable
				out = append(out, row)
			}
		}
	}
	return out
}
