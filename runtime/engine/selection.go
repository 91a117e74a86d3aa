package engine

import (
	"cmp"
	"context"
	"slices"

	"rea/generated/fault"
	"rea/generated/model"
)

// DefaultID names the engine that is taken when nobody chose one and several
// could serve: the embedded one, which is always there.
const DefaultID = "embedded"

// Auto asks for the single engine that supports the target.
const Auto = "auto"

// Choice is a wish for an engine and who made it. The zero value means that nobody chose.
type Choice struct {
	ID     string
	Source model.SelectionSource
}

// Choose picks the strongest wish: the request, then the environment
// (REA_ANALYSIS_PROVIDER), then the command line (--provider). [Select] judges it.
func Choose(request, environment, flag string) Choice {
	for _, c := range []Choice{
		{request, model.SelectionSourceRequest},
		{environment, model.SelectionSourceEnvironment},
		{flag, model.SelectionSourceFlag},
	} {
		if c.ID != "" {
			return c
		}
	}
	return Choice{Source: model.SelectionSourceDefault}
}

// Candidates describes every provider, sorted by id, without starting any. t
// is nil when no target is open; selected is the bound engine's id or "".
func Candidates(ctx context.Context, providers []Provider, t *Target, selected string) []model.EngineCandidate {
	out := make([]model.EngineCandidate, 0, len(providers))
	for _, p := range sorted(providers) {
		d, a := p.Describe(), p.Available(ctx)
		c := model.EngineCandidate{
			Provider:     d.Provider,
			Capabilities: slices.Clone(d.Capabilities),
			Selected:     d.Provider.ID == selected,
		}
		c.Availability.State = model.EngineCandidateAvailabilityStateAvailable
		if !a.Available {
			c.Availability.State = model.EngineCandidateAvailabilityStateUnavailable
			c.Availability.Reason, c.Availability.Remediation = &a.Reason, &a.Remediation
		}
		c.TargetSupport.State = model.EngineCandidateTargetSupportStateUnknown
		if t != nil {
			s := p.Supports(t)
			c.TargetSupport.State = model.EngineCandidateTargetSupportStateSupported
			if !s.Supported {
				c.TargetSupport.State = model.EngineCandidateTargetSupportStateUnsupported
				c.TargetSupport.Reason = &s.Reason
			}
		}
		out = append(out, c)
	}
	return out
}

// Select finds the provider that a choice means for t. Nobody's choice takes
// DefaultID where it supports t, else works as auto; auto takes the single
// engine that is available and supports t. Everything else is a
// provider_selection fault that lists the candidates.
func Select(ctx context.Context, providers []Provider, t *Target, c Choice) (Provider, error) {
	providers = sorted(providers)
	if c.ID != "" && c.ID != Auto {
		for _, p := range providers {
			if p.Describe().Provider.ID != c.ID {
				continue
			}
			if a := p.Available(ctx); !a.Available {
				return nil, selectionFault(c, sentences(a.Reason, a.Remediation), fault.ProviderSelectionDetailsKindUnavailable, providers)
			}
			if s := p.Supports(t); !s.Supported {
				return nil, selectionFault(c, s.Reason, fault.ProviderSelectionDetailsKindUnsupported, providers)
			}
			return p, nil
		}
		return nil, selectionFault(c, "no engine has this id", fault.ProviderSelectionDetailsKindUnknown, providers)
	}
	var fit []Provider
	for _, p := range providers {
		if p.Available(ctx).Available && p.Supports(t).Supported {
			if c.ID == "" && p.Describe().Provider.ID == DefaultID {
				return p, nil
			}
			fit = append(fit, p)
		}
	}
	switch len(fit) {
	case 1:
		return fit[0], nil
	case 0:
		return nil, selectionFault(c, "no available engine supports the target", fault.ProviderSelectionDetailsKindUnsupported, providers)
	}
	return nil, selectionFault(c, "several engines support the target", fault.ProviderSelectionDetailsKindAmbiguous, fit)
}

// sentences joins what is wrong with the way out.
func sentences(reason, remediation string) string {
	if remediation == "" {
		return reason
	}
	return reason + ". " + remediation
}

func sorted(providers []Provider) []Provider {
	return slices.SortedFunc(slices.Values(providers), func(a, b Provider) int {
		return cmp.Compare(a.Describe().Provider.ID, b.Describe().Provider.ID)
	})
}

func selectionFault(c Choice, reason string, kind fault.ProviderSelectionDetailsKind, candidates []Provider) error {
	ids := []string{}
	for _, p := range candidates {
		ids = append(ids, p.Describe().Provider.ID)
	}
	requested := c.ID
	if requested == "" {
		requested = Auto
	}
	source := c.Source
	if source == "" {
		source = model.SelectionSourceDefault
	}
	return fault.ProviderSelection(fault.ProviderSelectionDetails{
		Requested: requested, SelectionSource: source, Reason: reason, Kind: kind, Candidates: ids,
	}, nil)
}
