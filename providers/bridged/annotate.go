package bridged

import (
	"context"
	"errors"
	"slices"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/bridge"
	"rea/runtime/bridge/facts"
	"rea/runtime/engine"
)

// Annotate makes all the changes in the engine's copy, or none.
func (e *Engine) Annotate(ctx context.Context, changes []engine.Annotation) ([]*string, error) {
	if !e.states(model.EngineCapabilityWriteAnnotations) {
		return nil, e.lacks(model.EngineCapabilityWriteAnnotations)
	}
	e.syncing.Lock()
	defer e.syncing.Unlock()
	previous, err := e.apply(ctx, changes)
	if err != nil {
		return nil, err
	}
	for i, c := range changes {
		if c.Kind == engine.NameNote {
			e.remember(c.Address, c.Value, previous[i])
			e.pinned[c.Address] = true
		}
	}
	return previous, nil
}

// remember what the engine's copy calls an address now, and what it did before
// anybody named it.
func (e *Engine) remember(addr model.Address, value, previous *string) {
	if _, named := e.shown[addr]; !named {
		e.before[addr] = previous
	}
	if value == nil {
		delete(e.shown, addr)
		delete(e.before, addr)
		return
	}
	e.shown[addr] = *value
}

// apply sends changes; e.syncing is held.
func (e *Engine) apply(ctx context.Context, changes []engine.Annotation) ([]*string, error) {
	args := facts.AnnotateArgs{Changes: make([]facts.Change, len(changes))}
	for i, c := range changes {
		args.Changes[i] = facts.Change{Address: uint64(c.Address), Kind: string(c.Kind), Value: c.Value}
	}
	var done facts.Annotated
	err := e.ask(ctx, bridge.Question{Op: facts.Annotate, Args: args}, &done)
	var failure *bridge.Failure
	if errors.As(err, &failure) && failure.Code == bridge.FailRefused {
		return nil, fault.ExecutionFailure(fault.ExecutionFailureDetails{Operation: "annotating the engine's copy", Reason: failure.Message}, nil)
	}
	if err != nil {
		return nil, err
	}
	if len(done.Previous) != len(changes) {
		return nil, errors.New("the engine's answer to annotate is incomplete")
	}
	return done.Previous, nil
}

// showNames brings the analyst's names into the engine's copy before its
// decompiler is asked, and takes those back that are gone. A name that the
// engine refuses stays as it was there, and one that was set in the copy alone
// stays until the analyst names the address.
func (e *Engine) showNames(ctx context.Context) error {
	if !e.config.ShowsNames {
		return nil
	}
	e.syncing.Lock()
	defer e.syncing.Unlock()
	var changes []engine.Annotation
	now := map[model.Address]bool{}
	for addr, name := range e.config.Names.AllNames() {
		now[addr] = true
		delete(e.pinned, addr)
		if shown, ok := e.shown[addr]; !ok || shown != name {
			changes = append(changes, engine.Annotation{Address: addr, Kind: engine.NameNote, Value: &name})
		}
	}
	for addr := range e.shown {
		if !now[addr] && !e.pinned[addr] {
			changes = append(changes, engine.Annotation{Address: addr, Kind: engine.NameNote, Value: e.before[addr]})
		}
	}
	slices.SortFunc(changes, func(a, b engine.Annotation) int {
		if a.Address < b.Address {
			return -1
		}
		return 1
	})
	for _, c := range changes {
		previous, err := e.apply(ctx, []engine.Annotation{c})
		if fault.CodeOf(err) == fault.ExecutionFailureCode {
			previous, err = []*string{nil}, nil
		}
		if err != nil {
			return err
		}
		if !now[c.Address] {
			delete(e.shown, c.Address)
			delete(e.before, c.Address)
			continue
		}
		e.remember(c.Address, c.Value, previous[0])
	}
	return nil
}
