package conform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"rea/generated/model"
	"rea/runtime/engine"
)

// sampled is how many procedures are looked at closely.
const sampled = 200

// Compare opens an engine and tells where it breaks its promises on that file,
// and where its facts are not those of a reference that has opened the same one.
// Engines that find functions in different ways need not list the same ones:
// which ones differ is told as what it is, a difference. It fails where the
// engine cannot be opened or does not start.
func Compare(ctx context.Context, open func(context.Context) (engine.Engine, error), reference engine.Engine) (checks []Check, err error) {
	c := &comparison{ctx: ctx, ref: reference}
	if c.eng, err = open(ctx); err != nil {
		return nil, err
	}
	defer func() { c.eng.Close() }()
	if err := Start(ctx, c.eng); err != nil {
		return nil, err
	}
	for _, step := range []struct {
		name string
		need model.EngineCapability
		run  func(T)
	}{
		{"identity", "", func(t T) { identity(t, &suite{eng: c.eng}) }},
		{"segments", model.EngineCapabilitySegments, c.segments},
		{"procedures", model.EngineCapabilityFunctions, c.procedures},
		{"bytes", model.EngineCapabilityBytes, c.bytes},
		{"blocks", model.EngineCapabilityBody, c.blocks},
		{"calls", model.EngineCapabilityReferences, c.calls},
		{"names", model.EngineCapabilityNames, c.names},
		{"strings", model.EngineCapabilityStrings, c.strings},
		{"pseudocode", model.EngineCapabilityPseudocode, c.pseudocode},
		{"cancelled", model.EngineCapabilityFunctions, c.cancelled},
	} {
		if ended(ctx, c.eng) { // it failed in the last step
			c.eng.Close()
			again, err := open(ctx)
			if err != nil {
				return nil, err
			}
			c.eng = again
		}
		r := &recorder{ctx: ctx, check: Check{Name: step.name, State: Passed}}
		r.run(func(t T) {
			if step.need != "" && !slices.Contains(c.eng.Capabilities(), step.need) {
				t.Skipf("the engine does not state %s", step.need)
			}
			step.run(t)
		})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		checks = append(checks, r.check)
	}
	return checks, nil
}

type comparison struct {
	ctx      context.Context
	eng, ref engine.Engine
	list     []model.Procedure // functions with a body
}

func (c *comparison) segments(t T) {
	mine, _, err := c.eng.Segments(c.ctx)
	if err != nil {
		t.Fatal(err)
	}
	theirs, _, err := c.ref.Segments(c.ctx)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		start, end model.Address
		file       int64
	}
	short := func(list []model.Segment) (out []row) {
		for _, s := range list {
			out = append(out, row{s.Start, s.End, s.FileSize})
		}
		return out
	}
	if d := diff(short(mine), short(theirs)); d != "" {
		t.Error(d)
	}
}

// procedures compares the starts of functions.
func (c *comparison) procedures(t T) {
	mine, theirs := map[model.Address]model.Procedure{}, map[model.Address]model.Procedure{}
	for _, p := range everyProcedure(t, c.eng) {
		if _, twice := mine[p.Address]; twice {
			t.Errorf("%s is listed twice", p.Address)
		}
		mine[p.Address] = p
		if p.Kind == model.ProcedureKindFunction {
			c.list = append(c.list, p)
		}
	}
	for _, p := range everyProcedure(t, c.ref) {
		theirs[p.Address] = p
		if _, ok := mine[p.Address]; !ok {
			t.Errorf("%s at %s is not listed", p.Name, p.Address)
		}
	}
	for _, p := range c.list {
		if _, ok := theirs[p.Address]; !ok {
			t.Errorf("%s at %s is listed, and the reference has no function there", p.Name, p.Address)
		}
		back, err := c.eng.Containing(c.ctx, p.Address)
		if err != nil || back == nil || back.Address != p.Address {
			t.Errorf("%s does not lie in itself: %s", p.Address, said(back, err))
		}
	}
}

// sample are functions that are looked at closely.
func (c *comparison) sample(t T) []model.Procedure {
	if len(c.list) == 0 {
		t.Skipf("no function was listed that could be looked at")
	}
	return c.list[:min(len(c.list), sampled)]
}

func (c *comparison) bytes(t T) {
	for _, p := range c.sample(t) {
		mine, errMine := c.eng.Bytes(c.ctx, p.Address, 16)
		theirs, errTheirs := c.ref.Bytes(c.ctx, p.Address, 16)
		if !bytes.Equal(mine, theirs) || (errMine == nil) != (errTheirs == nil) {
			t.Errorf("%s: % x, %v; the reference has % x, %v", p.Address, mine, errMine, theirs, errTheirs)
		}
	}
}

func (c *comparison) blocks(t T) {
	for _, p := range c.sample(t) {
		b, err := c.eng.Body(c.ctx, p.Address, engine.Blocks|engine.Ranges|engine.Instructions)
		if err != nil {
			t.Fatalf("%s: %v", p.Address, err)
		}
		end := model.Address(0)
		for _, blk := range b.Blocks {
			if blk.Start < end || blk.End <= blk.Start {
				t.Errorf("%s: block %s–%s overlaps another or is empty", p.Name, blk.Start, blk.End)
			}
			end = blk.End
		}
		if len(b.Blocks) != b.BlockCount || len(b.Instructions) != b.InstructionCount {
			t.Errorf("%s says %d blocks and %d instructions, and lists %d and %d", p.Name, b.BlockCount, b.InstructionCount, len(b.Blocks), len(b.Instructions))
		}
		if len(b.Blocks) > 0 && !slices.ContainsFunc(b.Blocks, func(blk model.BasicBlock) bool { return blk.Start == p.Address }) {
			t.Errorf("%s: no block starts at the entry", p.Name)
		}
	}
}

// calls looks whether callees and callers agree.
func (c *comparison) calls(t T) {
	for _, p := range c.sample(t) {
		b, err := c.eng.Body(c.ctx, p.Address, engine.Callees)
		if err != nil {
			t.Fatalf("%s: %v", p.Address, err)
		}
		for _, callee := range b.Callees {
			if callee.Procedure.Kind == model.ProcedureKindExternal {
				continue
			}
			back, err := c.eng.Body(c.ctx, callee.Procedure.Address, engine.Callers)
			if err != nil {
				t.Errorf("%s calls %s: %v", p.Name, callee.Procedure.Name, err)
				continue
			}
			if !slices.ContainsFunc(back.Callers, func(r engine.Call) bool { return r.Procedure.Address == p.Address }) {
				t.Errorf("%s calls %s, which does not list it as a caller", p.Name, callee.Procedure.Name)
			}
		}
	}
}

func (c *comparison) names(t T) {
	mine := map[model.Address][]string{}
	for _, n := range all(t, c.eng.Names(c.ctx), func(n *model.NameItem) model.Address { return n.Address }) {
		mine[n.Address] = append(mine[n.Address], n.Name)
	}
	for _, n := range all(t, c.ref.Names(c.ctx), func(n *model.NameItem) model.Address { return n.Address }) {
		if n.Kind == model.NameKindFunction && !slices.Contains(mine[n.Address], n.Name) {
			t.Errorf("%s at %s has names %q", n.Name, n.Address, mine[n.Address])
		}
	}
}

func (c *comparison) strings(t T) {
	mine := map[model.Address]string{}
	for _, s := range all(t, c.eng.Strings(c.ctx, 8), func(s *model.StringItem) model.Address { return s.Address }) {
		mine[s.Address] = s.Value
	}
	for _, s := range all(t, c.ref.Strings(c.ctx, 8), func(s *model.StringItem) model.Address { return s.Address }) {
		if got, ok := mine[s.Address]; s.Uses > 0 && (!ok || got != s.Value) {
			t.Errorf("%s has %q, and %q is used there", s.Address, got, s.Value)
		}
	}
}

func (c *comparison) pseudocode(t T) {
	list, reason := c.sample(t), ""
	list = list[:min(len(list), 20)]
	for _, p := range list {
		b, err := c.eng.Body(c.ctx, p.Address, engine.Pseudocode)
		switch {
		case err != nil:
			t.Fatalf("%s: %v", p.Address, err)
		case b.Pseudocode != nil:
			list = nil
		case b.Missing[engine.Pseudocode].Reason == "":
			t.Errorf("%s has no pseudocode, and no reason", p.Name)
		default:
			reason = b.Missing[engine.Pseudocode].Reason
		}
	}
	if len(list) > 0 && reason != "" {
		t.Errorf("of %d functions none has pseudocode: %s", len(list), reason)
	}
}

func (c *comparison) cancelled(t T) {
	ctx, cancel := context.WithCancel(c.ctx)
	cancel()
	if _, err := c.eng.Summary(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(fmt.Errorf("a cancelled question ends with %w", err))
	}
}
