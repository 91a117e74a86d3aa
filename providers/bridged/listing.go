package bridged

import (
	"context"
	"errors"
	"strings"

	"rea/generated/model"
	"rea/runtime/bridge"
	"rea/runtime/bridge/facts"
	"rea/runtime/engine"
)

// Instruction decodes the instruction at addr.
func (e *Engine) Instruction(ctx context.Context, addr model.Address) (*engine.InstructionDetail, error) {
	if _, err := e.Locate(ctx, addr); err != nil {
		return nil, err
	}
	t, err := e.tables(ctx)
	if err != nil {
		return nil, err
	}
	d := &engine.InstructionDetail{References: []model.Reference{}, Read: []string{}, Written: []string{}}
	var f facts.InstructionFacts
	err = e.ask(ctx, bridge.Question{Op: facts.Instruction, Args: facts.AddressArgs{Address: uint64(addr)}}, &f)
	var failure *bridge.Failure
	if errors.As(err, &failure) && failure.Code == bridge.FailNotFound {
		d.Size = 1
		d.Instruction = e.line(ctx, &t, &facts.Line{Address: uint64(addr), Length: 1, Mnemonic: "??", Flow: string(model.FlowInvalid)})
		return d, nil
	}
	if err != nil {
		return nil, err
	}
	d.Instruction, d.Size, d.Reached = e.line(ctx, &t, &f.Line), max(1, f.Line.Length), f.Defined
	d.Read, d.Written = orEmpty(f.Read), orEmpty(f.Written)
	if f.Scalar != "" {
		d.Immediate = &f.Scalar
	}
	if m := f.Memory; m != nil {
		d.MemoryExpression, d.MemorySize = operand(m.Text)
		d.MemoryAccess, d.MemorySize = accessWord(m.Access), max(d.MemorySize, m.Size)
		if m.Address != nil {
			at := model.Address(*m.Address)
			d.MemoryAddress = &at
		}
	}
	if i, ok := t.procedures.containing(uint64(addr)); ok {
		ref := e.ref(t.procedures, i)
		d.Procedure = &ref
		body, err := e.Body(ctx, ref.Address, engine.Blocks)
		if err != nil {
			return nil, err
		}
		for _, b := range body.Blocks {
			if b.Start <= addr && addr < b.End {
				d.Block = &model.AddressRange{Start: b.Start, End: b.End}
			}
		}
	}
	d.References, err = e.References(ctx, addr, engine.From)
	return d, err
}

// sizes of memory operands, as engines write them.
var sizes = map[string]int{
	"byte": 1, "word": 2, "dword": 4, "float": 4, "qword": 8, "double": 8, "tword": 10, "extended": 10, "xmmword": 16, "ymmword": 32, "zmmword": 64,
}

// operand takes the address out of an operand such as qword ptr [RAX + 0x8],
// and the size that it states; 0 when it states none.
func operand(text string) (expression string, size int) {
	before, rest, bracket := strings.Cut(text, "[")
	if !bracket {
		return text, 0
	}
	expression, _, _ = strings.Cut(rest, "]")
	words := strings.Fields(strings.ToLower(before))
	if len(words) > 0 {
		size = sizes[words[0]]
		if last := words[len(words)-1]; strings.HasSuffix(last, "s:") {
			expression = last + expression
		}
	}
	return expression, size
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// Item is the start of the instruction or data item after or before addr.
func (e *Engine) Item(ctx context.Context, addr model.Address, step int) (*engine.Item, error) {
	if _, err := e.programFacts(ctx); err != nil {
		return nil, err
	}
	var f facts.ItemFacts
	if err := e.ask(ctx, bridge.Question{Op: facts.Item, Args: facts.ItemArgs{Address: uint64(addr), Step: step}}, &f); err != nil {
		return nil, err
	}
	if f.Address == nil {
		return nil, nil
	}
	return &engine.Item{Address: model.Address(*f.Address), Kind: itemWord(f.Kind)}, nil
}

// CursorAt is where the engine's cursor is; nil for an engine without one.
func (e *Engine) CursorAt(ctx context.Context) (*model.Address, error) {
	if !e.config.HasCursor {
		return nil, nil
	}
	var f facts.CursorFacts
	if err := e.ask(ctx, bridge.Question{Op: facts.Cursor}, &f); err != nil || f.Address == nil {
		return nil, err
	}
	at := model.Address(*f.Address)
	return &at, nil
}

// MoveCursor puts the engine's cursor at addr.
func (e *Engine) MoveCursor(ctx context.Context, addr model.Address) error {
	if !e.config.HasCursor {
		return nil
	}
	return e.ask(ctx, bridge.Question{Op: facts.Move, Args: facts.AddressArgs{Address: uint64(addr)}}, nil)
}
