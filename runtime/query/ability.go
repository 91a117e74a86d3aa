package query

import (
	"rea/generated/fault"
	"rea/generated/model"
)

// Ability is the rare part A of the call's engine. An engine that states the
// capability has the methods as well; one without them is told from others by
// the same fault that stops a call whose capability is missing.
func Ability[A any](c *Call, tool string, capability model.EngineCapability) (A, error) {
	a, ok := any(c.Engine).(A)
	if ok {
		return a, nil
	}
	return a, fault.CapabilityUnavailable(fault.CapabilityUnavailableDetails{
		Tool:      tool,
		Reason:    "the bound engine " + c.Engine.Profile().Provider.ID + " does not supply " + string(capability),
		Missing:   []string{string(capability)},
		Providers: []string{},
	}, nil)
}
