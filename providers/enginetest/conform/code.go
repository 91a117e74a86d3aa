package conform

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strings"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/engine"
)

func (s *suite) body(t T, name string, want engine.Facet) *engine.Body {
	t.Helper()
	b, err := s.eng.Body(t.Context(), model.Address(s.Find(t, name).Addr), want)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Unambiguous are own functions that one name is enough for.
func Unambiguous() []string {
	return slices.DeleteFunc(slices.Clone(own), func(n string) bool { return n == "twice" })
}

func instructions(t T, s *suite) {
	for _, name := range Unambiguous() {
		sym := s.Find(t, name)
		b := s.body(t, name, engine.Instructions)
		var got []model.Address
		for _, in := range b.Instructions {
			got = append(got, in.Address)
			stored := s.bytesAt(uint64(in.Address), len(in.Bytes)/2)
			if in.Bytes != hex.EncodeToString(stored) || in.Mnemonic == "" || in.Flow == model.FlowInvalid {
				t.Errorf("%s: %+v; the file has % x there", name, in, stored)
			}
		}
		if want := s.Inside(sym); !slices.Equal(got, want) {
			t.Errorf("%s has instructions at %v; objdump lists %v", name, got, want)
		}
		if b.InstructionCount != len(got) {
			t.Errorf("%s has %d instructions and says %d", name, len(got), b.InstructionCount)
		}
		if b.Syntax != "intel" {
			t.Errorf("syntax = %q", b.Syntax)
		}
	}
	first := s.Inside(s.Find(t, "add"))[0]
	d, err := s.eng.Instruction(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	if d.Instruction.Address != first || d.Size != len(d.Instruction.Bytes)/2 || !d.Reached || d.Procedure == nil || d.Procedure.Address != first {
		t.Errorf("instruction = %+v", d)
	}
	// One byte into an instruction: decoded, and said not to be reached. Functions begin
	// with instructions of several bytes here.
	if d, err := s.eng.Instruction(t.Context(), first+1); err == nil && d.Reached {
		t.Errorf("%s is no instruction start: %+v", first+1, d)
	}
}

func blocks(t T, s *suite) {
	for _, name := range Unambiguous() {
		b := s.body(t, name, engine.Blocks|engine.Ranges|engine.Instructions)
		if len(b.Blocks) != b.BlockCount || len(b.Blocks) == 0 {
			t.Errorf("%s has %d blocks and says %d", name, len(b.Blocks), b.BlockCount)
		}
		if !slices.IsSortedFunc(b.Blocks, func(x, y model.BasicBlock) int { return cmp.Compare(x.Start, y.Start) }) {
			t.Errorf("%s: blocks are not in order", name)
		}
		starts := map[model.Address]bool{}
		for _, blk := range b.Blocks {
			starts[blk.Start] = true
		}
		total := int64(0)
		end := model.Address(0)
		for _, blk := range b.Blocks {
			if blk.Start < end || blk.End <= blk.Start {
				t.Errorf("%s: block %s–%s overlaps another or is empty", name, blk.Start, blk.End)
			}
			end = blk.End
			total += blk.Instructions
			if !slices.ContainsFunc(b.Ranges, func(r model.AddressRange) bool { return r.Start <= blk.Start && blk.End <= r.End }) {
				t.Errorf("%s: block %s–%s lies outside of %v", name, blk.Start, blk.End, b.Ranges)
			}
			for _, next := range blk.Successors {
				if !starts[next.Address] {
					t.Errorf("%s: no block starts at successor %s of %s", name, next.Address, blk.Start)
				}
			}
		}
		// What lies between blocks is padding.
		for _, in := range b.Instructions {
			i, _ := slices.BinarySearchFunc(b.Blocks, in.Address, func(blk model.BasicBlock, a model.Address) int { return cmp.Compare(blk.End, a+1) })
			if (i == len(b.Blocks) || in.Address < b.Blocks[i].Start) && !strings.Contains(in.Mnemonic+in.Operands, "nop") {
				t.Errorf("%s: %s %s at %s lies in no block", name, in.Mnemonic, in.Operands, in.Address)
			} else if i < len(b.Blocks) && in.Address >= b.Blocks[i].Start {
				total--
			}
		}
		if total != 0 {
			t.Errorf("%s: blocks count %d instructions more than lie in them", name, total)
		}
		if !starts[b.Procedure.Address] {
			t.Errorf("%s: no block starts at the entry", name)
		}
	}
	// The loop has a way back.
	back := false
	for _, blk := range s.body(t, "loop", engine.Blocks).Blocks {
		for _, next := range blk.Successors {
			back = back || next.Address <= blk.Start
		}
	}
	if !back {
		t.Error("loop has no edge backwards")
	}
}

func facets(t T, s *suite) {
	b := s.body(t, "main", 0)
	if b.BlockCount == 0 || b.InstructionCount == 0 || b.Procedure.Name != "main" {
		t.Errorf("without facets: %+v", b)
	}
	if b.Ranges != nil || b.Blocks != nil || b.Instructions != nil || b.Callees != nil || b.Callers != nil || b.Outgoing != nil ||
		b.Incoming != nil || b.Strings != nil || b.Names != nil || b.Targets != nil || b.Locals != nil || b.Pseudocode != nil || b.API != nil {
		t.Errorf("facets that were not asked for are filled in: %+v", b)
	}
	b = s.body(t, "main", everything)
	if b.Pseudocode == nil {
		if gap, ok := b.Missing[engine.Pseudocode]; !ok || gap.Reason == "" {
			t.Errorf("no pseudocode, and no reason: %+v", b.Missing)
		}
	}
	if b.API == nil {
		if gap, ok := b.Missing[engine.API]; !ok || gap.Reason == "" {
			t.Errorf("no calling interface, and no reason: %+v", b.Missing)
		}
	}
	if _, err := s.eng.Body(t.Context(), model.Address(s.Find(t, "main").Addr+1), 0); fault.CodeOf(err) != fault.ProcedureNotFoundCode {
		t.Errorf("no procedure starts inside of main: %v", err)
	}
}

func calls(t T, s *suite) {
	for _, name := range Unambiguous() {
		sym := s.Find(t, name)
		b := s.body(t, name, engine.Callees)
		got := map[string]bool{}
		for _, c := range b.Callees {
			got[strings.TrimSuffix(c.Procedure.Name, "@plt")] = true
			if len(c.Sites) == 0 || len(c.Kinds) == 0 {
				t.Errorf("%s calls %s from nowhere: %+v", name, c.Procedure.Name, c)
			}
			for _, site := range c.Sites {
				if !slices.Contains(s.Inside(sym), site) {
					t.Errorf("%s calls %s at %s, where it has no instruction", name, c.Procedure.Name, site)
				}
			}
			back, err := s.eng.Body(t.Context(), c.Procedure.Address, engine.Callers)
			if err != nil {
				t.Errorf("%s: %v", c.Procedure.Name, err)
				continue
			}
			i := slices.IndexFunc(back.Callers, func(r engine.Call) bool { return r.Procedure.Address == model.Address(sym.Addr) })
			if i < 0 || !slices.Equal(back.Callers[i].Sites, c.Sites) {
				t.Errorf("%s calls %s at %v, which has other callers: %+v", name, c.Procedure.Name, c.Sites, back.Callers)
			}
		}
		want := s.Calls(sym)
		for callee := range want {
			if !got[callee] && callee != name {
				t.Errorf("%s calls %s, which is not listed", name, callee)
			}
		}
		for callee := range got {
			if !want[callee] && name != "through_pointer" {
				t.Errorf("%s is said to call %s; objdump shows no such call", name, callee)
			}
		}
	}
	// tail ends with a jump to choose.
	for _, c := range s.body(t, "tail", engine.Callees).Callees {
		if c.Procedure.Name == "choose" && !slices.Equal(c.Kinds, []model.ReferenceKind{model.ReferenceKindTailCall}) {
			t.Errorf("tail reaches choose by %v", c.Kinds)
		}
	}
}

func callTargets(t T, s *suite) {
	b := s.body(t, "through_pointer", engine.Targets)
	i := slices.IndexFunc(b.Targets, func(c model.CallTarget) bool { return c.Kind == model.CallTargetKindIndirectCall })
	if i < 0 {
		t.Fatalf("the call through a pointer is not listed: %+v", b.Targets)
	}
	switch c := b.Targets[i]; c.State {
	case model.CallTargetStateUnresolved:
		if c.Reason == nil || *c.Reason == "" || b.Unresolved == 0 {
			t.Errorf("unresolved without a reason, or not counted (%d): %+v", b.Unresolved, c)
		}
	case model.CallTargetStateResolved: // the pointer is writable
		t.Errorf("a pointer that may change is said to be known: %+v", c)
	}
	if b := s.body(t, "add", engine.Targets); len(b.Targets) != 0 || b.Unresolved != 0 {
		t.Errorf("add transfers to %+v, %d unresolved", b.Targets, b.Unresolved)
	}
	// choose jumps through a table that is known completely.
	if b := s.body(t, "choose", engine.Targets); b.Unresolved != 0 {
		t.Errorf("the jump table of choose is not resolved: %+v", b.Targets)
	}
}

func references(t T, s *suite) {
	add := s.Find(t, "add")
	refs, err := s.eng.References(t.Context(), model.Address(add.Addr), engine.To)
	if err != nil {
		t.Fatal(err)
	}
	from := map[string]model.ReferenceKind{}
	for _, r := range refs {
		if r.To != model.Address(add.Addr) {
			t.Errorf("a reference to %s is listed: %+v", r.To, r)
		}
		if r.FromProcedure != nil && r.FromProcedure.Name != nil {
			from[*r.FromProcedure.Name] = r.Kind
		} else {
			from[""] = r.Kind
		}
		back, err := s.eng.References(t.Context(), r.From, engine.From)
		if err != nil || !slices.ContainsFunc(back, func(b model.Reference) bool { return b.To == r.To && b.Kind == r.Kind }) {
			t.Errorf("%s refers to %s, and does not say so: %s", r.From, r.To, said(back, err))
		}
	}
	if k := from["choose"]; k != model.ReferenceKindCall && k != model.ReferenceKindTailCall {
		t.Errorf("choose refers to add by %q", k)
	}
	if from[""] != model.ReferenceKindPointer {
		t.Errorf("the pointer handler refers to add by %q", from[""])
	}
	b := s.body(t, "greet", engine.UsedStrings|engine.UsedNames|engine.Outgoing)
	if !slices.ContainsFunc(b.Strings, func(u model.UsedValue) bool { return strings.HasPrefix(u.Value, "conformance greeting") }) {
		t.Errorf("greet uses %+v", b.Strings)
	}
	if !slices.ContainsFunc(b.Names, func(u model.UsedValue) bool { return strings.TrimSuffix(u.Value, "@plt") == "puts" }) {
		t.Errorf("greet uses names %+v", b.Names)
	}
	if refs, err := s.eng.References(t.Context(), 1, engine.To); err != nil || len(refs) != 0 {
		t.Errorf("references to nowhere: %s", said(refs, err))
	}
}
