//go:build unix

package scripted

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"rea/generated/model"
	"rea/runtime/bridge"
	"rea/runtime/bridge/facts"
	"rea/runtime/engine"
)

// run answers one operation: it sends rows to out and gives the last value.
func (s *server) run(ctx context.Context, op string, args []byte, out stream) (any, error) {
	switch op {
	case facts.Program:
		return s.program(ctx)
	case facts.Procedures:
		return nil, s.procedures(ctx, out)
	case facts.Symbols:
		return nil, s.symbols(ctx, out)
	case facts.Texts:
		return nil, s.texts(ctx, out)
	case facts.Transfers:
		return nil, s.transfers(ctx, out)
	case facts.Body:
		var a facts.BodyArgs
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, err
		}
		return s.body(ctx, a, out)
	case facts.References:
		var a facts.ReferenceArgs
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, err
		}
		return nil, s.references(ctx, a, out)
	case facts.Instruction:
		var a facts.AddressArgs
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, err
		}
		return s.instruction(ctx, a)
	case facts.Item:
		var a facts.ItemArgs
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, err
		}
		return s.item(ctx, a)
	case facts.Decompile:
		var a facts.DecompileArgs
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, err
		}
		return s.decompile(ctx, a)
	case facts.Annotate:
		var a facts.AnnotateArgs
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, err
		}
		return s.notes.apply(a)
	case facts.TypeNames:
		return nil, out.rows(op, []string{"int", "scripted_struct"})
	case facts.Type:
		var a facts.NameArgs
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, err
		}
		return dataType(a.Name)
	case facts.Cursor:
		return facts.CursorFacts{Address: s.notes.cursor}, nil
	case facts.Move:
		var a facts.AddressArgs
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, err
		}
		s.notes.cursor = &a.Address
		return facts.CursorFacts{Address: &a.Address}, nil
	}
	return nil, &bridge.Failure{Code: bridge.FailUnsupported, Message: "no operation " + op}
}

func (s *server) program(ctx context.Context) (any, error) {
	sum, err := s.eng.Summary(ctx)
	if err != nil {
		return nil, err
	}
	p := facts.ProgramFacts{
		Language: "scripted", Instructions: sum.Instructions, CodeBytes: sum.CodeBytes, Blocks: sum.BasicBlocks, References: sum.References, Notes: sum.Notes,
	}
	segments, _, err := s.eng.Segments(ctx)
	if err == nil && len(segments) > 0 {
		p.ImageBase = uint64(segments[0].Start)
	}
	return p, err
}

func (s *server) procedures(ctx context.Context, out stream) error {
	if n := s.behaviour.Rows; n > 0 {
		list := make([]facts.Procedure, n)
		for i := range list {
			at := uint64(0x1000 + 16*i)
			list[i] = facts.Procedure{Entry: at, Name: fmt.Sprintf("scripted_function_%d", i), Source: facts.SourceImported, Ranges: []uint64{at, at + 16}}
		}
		return chunked(out, facts.Procedures, list)
	}
	var list []facts.Procedure
	for p, err := range s.eng.Procedures(ctx) {
		if err != nil {
			return err
		}
		b, err := s.eng.Body(ctx, p.Address, engine.Ranges)
		if err != nil {
			return err
		}
		row := facts.Procedure{
			Entry: uint64(p.Address), Name: p.Name, Source: facts.SourceImported, NoReturn: !p.Returns,
			External: p.Kind == model.ProcedureKindExternal, ThunkExternal: p.Kind == model.ProcedureKindImportStub, Ranges: []uint64{},
		}
		if p.Demangled != nil {
			row.Demangled = *p.Demangled
		}
		if !p.Named {
			row.Source = facts.SourceDefault
		}
		if p.Kind == model.ProcedureKindThunk || p.Kind == model.ProcedureKindImportStub {
			if to := b.Classification.ThunkTarget; to != nil {
				at := uint64(to.Address)
				row.Thunk = &at
			}
		}
		for _, r := range b.Ranges {
			row.Ranges = append(row.Ranges, uint64(r.Start), uint64(r.End))
		}
		list = append(list, row)
	}
	return chunked(out, facts.Procedures, list)
}

func (s *server) symbols(ctx context.Context, out stream) error {
	var list []facts.Symbol
	for n, err := range s.eng.Names(ctx) {
		if err != nil {
			return err
		}
		row := facts.Symbol{Address: uint64(n.Address), Name: n.Name, Kind: facts.SymbolLabel, Source: facts.SourceImported}
		if n.Demangled != nil {
			row.Demangled = *n.Demangled
		}
		switch n.Kind {
		case model.NameKindFunction:
			row.Kind = facts.SymbolFunction
		case model.NameKindObject:
			row.Kind = facts.SymbolData
		case model.NameKindImport:
			row.Import = true
			if n.Library != nil {
				row.Library = *n.Library
			}
		case model.NameKindExport:
			row.Export = true
		}
		list = append(list, row)
	}
	return chunked(out, facts.Symbols, list)
}

func (s *server) texts(ctx context.Context, out stream) error {
	var list []facts.Text
	for t, err := range s.eng.Strings(ctx, 1) {
		if err != nil {
			return err
		}
		list = append(list, facts.Text{Address: uint64(t.Address), Length: int(t.ByteLength), Encoding: string(t.Encoding), Uses: int(t.Uses)})
	}
	return chunked(out, facts.Texts, list)
}

func (s *server) transfers(ctx context.Context, out stream) error {
	var list []facts.Transfer
	for p, err := range s.eng.Procedures(ctx) {
		if err != nil {
			return err
		}
		b, err := s.eng.Body(ctx, p.Address, engine.Targets)
		if err != nil {
			return err
		}
		for _, c := range b.Targets {
			row := facts.Transfer{
				From: uint64(c.Address), Call: c.Kind == model.CallTargetKindCall || c.Kind == model.CallTargetKindIndirectCall,
				Computed: c.Kind == model.CallTargetKindIndirectCall || c.Kind == model.CallTargetKindIndirectJump, Operand: c.Operand,
			}
			if c.Method == model.CallTargetMethodImportSlot && len(c.Targets) == 1 && c.Targets[0].Name != nil {
				row.Import, row.Slot = *c.Targets[0].Name, uint64(c.Targets[0].Address)
			} else if c.State == model.CallTargetStateResolved || c.Method == model.CallTargetMethodJumpTable { // candidates are no targets
				for _, to := range c.Targets {
					row.To = append(row.To, uint64(to.Address))
				}
			}
			list = append(list, row)
		}
	}
	return chunked(out, facts.Transfers, list)
}

func (s *server) body(ctx context.Context, a facts.BodyArgs, out stream) (any, error) {
	b, err := s.eng.Body(ctx, model.Address(a.Entry), engine.Blocks|engine.Instructions|engine.Outgoing)
	if err != nil {
		return nil, err
	}
	for _, want := range a.Want {
		switch want {
		case facts.Blocks:
			err = chunked(out, want, blocks(b.Blocks))
		case facts.Instructions:
			lines := make([]facts.Line, len(b.Instructions))
			for i := range lines {
				lines[i] = line(&b.Instructions[i])
			}
			err = chunked(out, want, lines)
		case facts.Outgoing:
			err = chunked(out, want, references(b.Outgoing))
		}
		if err != nil {
			return nil, err
		}
	}
	return facts.BodyFacts{Blocks: b.BlockCount, Instructions: b.InstructionCount}, nil
}

func blocks(list []model.BasicBlock) []facts.Block {
	out := make([]facts.Block, len(list))
	for i, b := range list {
		out[i] = facts.Block{Start: uint64(b.Start), End: uint64(b.End), Instructions: int(b.Instructions), Next: []facts.Edge{}}
		for _, next := range b.Successors {
			out[i].Next = append(out[i].Next, facts.Edge{To: uint64(next.Address), Kind: string(next.Kind)})
		}
	}
	return out
}

func line(in *model.Instruction) facts.Line {
	l := facts.Line{Address: uint64(in.Address), Length: len(in.Bytes) / 2, Mnemonic: in.Mnemonic, Operands: in.Operands, Flow: string(in.Flow)}
	if in.Target != nil {
		at := uint64(in.Target.Address)
		l.Target = &at
	}
	return l
}

var referenceKinds = map[model.ReferenceKind]string{
	model.ReferenceKindCall: facts.RefCall, model.ReferenceKindTailCall: facts.RefJump, model.ReferenceKindJump: facts.RefJump,
	model.ReferenceKindJumpTable: facts.RefComputedJump, model.ReferenceKindRead: facts.RefRead, model.ReferenceKindWrite: facts.RefWrite,
	model.ReferenceKindAddressOf: facts.RefData, model.ReferenceKindPointer: facts.RefData, model.ReferenceKindImport: facts.RefIndirection,
}

func references(list []model.Reference) []facts.Reference {
	out := make([]facts.Reference, len(list))
	for i, r := range list {
		out[i] = facts.Reference{
			From: uint64(r.From), To: uint64(r.To), Kind: referenceKinds[r.Kind], Code: r.FromProcedure != nil || r.Kind != model.ReferenceKindPointer,
		}
	}
	return out
}

func (s *server) references(ctx context.Context, a facts.ReferenceArgs, out stream) error {
	dir := engine.To
	if a.Direction == facts.From {
		dir = engine.From
	}
	list, err := s.eng.References(ctx, model.Address(a.Address), dir)
	if err != nil {
		return err
	}
	return chunked(out, facts.References, references(list))
}

func (s *server) instruction(ctx context.Context, a facts.AddressArgs) (any, error) {
	d, err := s.eng.Instruction(ctx, model.Address(a.Address))
	if err != nil {
		return nil, err
	}
	f := facts.InstructionFacts{Line: line(&d.Instruction), Defined: d.Reached, Read: d.Read, Written: d.Written}
	f.Line.Length = d.Size
	if d.MemoryExpression != "" {
		f.Memory = &facts.Memory{Text: d.MemoryExpression, Access: d.MemoryAccess, Size: d.MemorySize}
		if d.MemoryAddress != nil {
			at := uint64(*d.MemoryAddress)
			f.Memory.Address = &at
		}
	}
	if d.Immediate != nil {
		f.Scalar = *d.Immediate
	}
	return f, nil
}

func (s *server) item(ctx context.Context, a facts.ItemArgs) (any, error) {
	item, err := s.eng.Item(ctx, model.Address(a.Address), a.Step)
	if err != nil || item == nil {
		return facts.ItemFacts{}, err
	}
	at := uint64(item.Address)
	return facts.ItemFacts{Address: &at, Kind: item.Kind}, nil
}

// decompile writes a text that shows what the notes call the function.
func (s *server) decompile(ctx context.Context, a facts.DecompileArgs) (any, error) {
	b, err := s.eng.Body(ctx, model.Address(a.Entry), engine.Instructions)
	if err != nil {
		return nil, err
	}
	name := b.Procedure.Name
	if given := s.notes.values[key{a.Entry, facts.NoteName}]; given != nil {
		name = *given
	}
	var text strings.Builder
	fmt.Fprintf(&text, "int %s(int first)\n{\n", name)
	for _, in := range b.Instructions {
		fmt.Fprintf(&text, "  /* %s %s */\n", in.Mnemonic, in.Operands)
	}
	text.WriteString("}\n")
	return facts.Decompiled{
		Text: text.String(), Signature: "int " + name + "(int first)", Return: "int", Convention: "__stdcall",
		Variables: []facts.Variable{{Name: "first", Type: "int", Location: "EDI", Parameter: true}, {Name: "local_c", Type: "int", Location: "Stack[-0xc]"}},
	}, nil
}

func dataType(name string) (any, error) {
	size, at, bits := int64(8), int64(4), int64(3)
	switch name {
	case "int":
		size = 4
		return facts.TypeFacts{Name: name, Kind: "base", Size: &size, Source: "BuiltInTypes"}, nil
	case "scripted_struct":
		return facts.TypeFacts{Name: name, Kind: "struct", Size: &size, Source: "scripted", Members: []facts.Member{{Name: "bits", Type: "int", Offset: &at, Bits: &bits}}}, nil
	}
	return nil, &bridge.Failure{Code: bridge.FailNotFound, Message: "no type " + name}
}

// notes are the annotations of the engine's copy.
type notes struct {
	values map[key]*string
	cursor *uint64
}

type key struct {
	address uint64
	kind    string
}

// apply makes all changes or none; a name with a space is refused.
func (n *notes) apply(a facts.AnnotateArgs) (any, error) {
	for _, c := range a.Changes {
		if c.Kind == facts.NoteName && c.Value != nil && strings.Contains(*c.Value, " ") {
			return nil, &bridge.Failure{Code: bridge.FailRefused, Message: fmt.Sprintf("%q is no name", *c.Value)}
		}
	}
	if n.values == nil {
		n.values = map[key]*string{}
	}
	done := facts.Annotated{Previous: make([]*string, len(a.Changes))}
	for i, c := range a.Changes {
		k := key{c.Address, c.Kind}
		done.Previous[i] = n.values[k]
		n.values[k] = c.Value
	}
	return done, nil
}
