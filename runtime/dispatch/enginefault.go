package dispatch

import (
	"context"
	"slices"

	"rea/generated/fault"
)

// engineFault completes a fault of an engine with what the session knows: which
// others could take the target, and how the caller gets there. An engine gives
// the same fault to many calls, so that a copy is changed.
func (d *Dispatcher) engineFault(ctx context.Context, e *fault.Error) *fault.Error {
	known := *e
	switch details := e.Details.(type) {
	case *fault.ProviderTimeoutDetails:
		if details.Setting == nil && !d.config.Ephemeral {
			known.Remediation.Action = "Ask for less at once; close_binary and open_binary give an engine that is not busy with this question."
		}
	case *fault.ProviderUnavailableDetails:
		d.complete(ctx, &known, *details)
	}
	return &known
}

// complete gives a fault its details with what the session knows.
func (d *Dispatcher) complete(ctx context.Context, known *fault.Error, more fault.ProviderUnavailableDetails) {
	if len(more.Candidates) == 0 {
		more.Candidates = d.others(ctx, more.ProviderID)
	}
	if more.Ended {
		known.Remediation.Action = "Call open_binary with the same path, which starts another engine and keeps notes and records, then retry."
		if d.config.Ephemeral {
			known.Remediation.Action = "Run the command again, or with another engine (--provider)."
		}
	}
	known.Details = &more
}

// others are the ids of the available engines beside one that support the open
// target, sorted.
func (d *Dispatcher) others(ctx context.Context, id string) []string {
	ids := []string{}
	bound, release := d.config.Session.Acquire()
	defer release()
	if bound == nil {
		return ids
	}
	for _, p := range d.config.Session.Providers() {
		other := p.Describe().Provider.ID
		if other != id && p.Available(ctx).Available && p.Supports(bound.Target).Supported {
			ids = append(ids, other)
		}
	}
	slices.Sort(ids)
	return ids
}
