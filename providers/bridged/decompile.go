package bridged

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/bridge"
	"rea/runtime/bridge/facts"
	"rea/runtime/engine"
)

// patience is how much longer than its deadline a decompilation may take to say
// that it was not met.
const patience = 15 * time.Second

// decompiled fills in pseudocode, locals and calling interface, which the
// decompiler knows together. One function that cannot be decompiled is a gap.
func (e *Engine) decompiled(ctx context.Context, p *facts.Procedure, b *engine.Body, want engine.Facet) error {
	wanted := want & (engine.Pseudocode | engine.Locals | engine.API)
	miss := func(reason, remediation string) {
		for _, f := range []engine.Facet{engine.Pseudocode, engine.Locals, engine.API} {
			if wanted&f != 0 {
				b.Missing[f] = engine.Gap{Reason: reason, Remediation: remediation}
			}
		}
	}
	if !e.states(model.EngineCapabilityPseudocode) {
		miss("the engine has no decompiler", "open the target with an engine that lists the capability pseudocode")
		return nil
	}
	if p.ThunkExternal || p.External {
		miss("the code of an import is not in the file", "analyse the library that has it")
		return nil
	}
	if err := e.showNames(ctx); err != nil {
		return err
	}
	var d facts.Decompiled
	args := facts.DecompileArgs{Entry: p.Entry, Seconds: int(e.config.Decompile.Seconds())}
	err := e.ask(ctx, bridge.Question{Op: facts.Decompile, Args: args, Timeout: e.config.Decompile + patience}, &d)
	var failure *bridge.Failure
	switch {
	case errors.As(err, &failure) && failure.Code == bridge.FailTimedOut:
		miss(fmt.Sprintf("the decompiler did not finish within %d s", args.Seconds), "read the instructions instead")
		return nil
	case failure != nil:
		miss("the decompiler failed: "+failure.Message, "read the instructions instead")
		return nil
	case err != nil:
		return err
	}
	e.present(&d, b, wanted)
	return nil
}

// present puts what the decompiler said where it belongs.
func (e *Engine) present(d *facts.Decompiled, b *engine.Body, want engine.Facet) {
	source := "decompiler of " + e.config.Profile.Provider.Name
	for _, w := range d.Warnings {
		b.Limitations = append(b.Limitations, "the decompiler warns: "+w)
	}
	if want&engine.Pseudocode != 0 {
		if d.Text == "" {
			b.Missing[engine.Pseudocode] = engine.Gap{Reason: "the decompiler gave no text", Remediation: "read the instructions instead"}
		} else {
			b.Pseudocode = &d.Text
		}
	}
	variables := make([]model.LocalVariable, len(d.Variables))
	parameters := []model.LocalVariable{}
	for i, v := range d.Variables {
		variables[i] = model.LocalVariable{Name: v.Name, Type: optional(v.Type), Location: optional(v.Location), Parameter: v.Parameter, Source: source}
		if v.Parameter {
			parameters = append(parameters, variables[i])
		}
	}
	if want&engine.Locals != 0 {
		b.Locals, b.Signature = variables, optional(d.Signature)
	}
	if want&engine.API != 0 {
		if d.Signature == "" {
			b.Missing[engine.API] = engine.Gap{Reason: "the decompiler gave no signature", Remediation: "read the instructions at the entry"}
			return
		}
		convention := d.Convention
		if convention == "" {
			convention = "unknown"
		}
		b.API = &model.NativeAPIAvailable{
			CallingConvention: convention, CallingConventionSource: source,
			Signature: optional(d.Signature), SignatureSource: source, ReturnType: optional(d.Return),
			Parameters: parameters, Limitations: []string{"types and parameters are the decompiler's conclusions unless the file has debug information"},
		}
	}
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// DataTypeNames lists names that contain pattern, sorted.
func (e *Engine) DataTypeNames(ctx context.Context, pattern string) ([]string, error) {
	names, err := e.typeNames(ctx)
	if err != nil {
		return nil, err
	}
	return matching(names, pattern, len(names)), nil
}

// DataType describes the type with exactly this name.
func (e *Engine) DataType(ctx context.Context, name string) (*model.DataType, error) {
	if !e.states(model.EngineCapabilityDataTypes) {
		return nil, e.lacks(model.EngineCapabilityDataTypes)
	}
	var f facts.TypeFacts
	err := e.ask(ctx, bridge.Question{Op: facts.Type, Args: facts.NameArgs{Name: name}}, &f)
	var failure *bridge.Failure
	if errors.As(err, &failure) && failure.Code == bridge.FailNotFound {
		names, err := e.typeNames(ctx)
		if err != nil {
			return nil, err
		}
		return nil, fault.DataTypeNotFound(fault.DataTypeNotFoundDetails{Name: name, Nearest: matching(names, name, 5)}, nil)
	}
	if err != nil {
		return nil, err
	}
	t := &model.DataType{
		Name: f.Name, Kind: typeWord(f.Kind), Size: f.Size, Underlying: optional(f.Underlying),
		Members: []model.DataTypeMember{}, Source: f.Source,
	}
	for _, m := range f.Members {
		t.Members = append(t.Members, model.DataTypeMember{Name: m.Name, Type: m.Type, Offset: m.Offset, BitSize: m.Bits, Value: m.Value})
	}
	return t, nil
}
