package enginetest

import (
	"context"

	"rea/generated/model"
	"rea/runtime/engine"
)

// Provider hands out one fake. Plain hides its optional parts: data types, value
// flow, Objective-C, Swift.
type Provider struct {
	Fake  *Fake
	Plain bool
}

// Describe tells the fake's capabilities.
func (p Provider) Describe() engine.Description {
	return engine.Description{Provider: model.Provider{ID: p.Fake.ID, Name: p.Fake.ID}, Capabilities: p.Fake.Capabilities()}
}

// Available is always true.
func (Provider) Available(context.Context) engine.Availability {
	return engine.Availability{Available: true}
}

// Supports everything.
func (Provider) Supports(*engine.Target) engine.Support { return engine.Support{Supported: true} }

// Open gives the fake the analyst's names.
func (p Provider) Open(_ context.Context, _ *engine.Target, names engine.Names) (engine.Engine, error) {
	p.Fake.names = names
	if p.Plain {
		return struct{ engine.Engine }{p.Fake}, nil
	}
	return p.Fake, nil
}
