package dispatch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/session"
)

// state is what the needs of tools are compared with.
type state struct {
	open         bool
	engine       string // id of the bound engine, or ""
	capabilities []model.EngineCapability
	features     model.ClientFeatures
}

func (d *Dispatcher) stateOf(b *session.Binding) state {
	s := state{features: d.config.Session.Client().Features}
	if b != nil {
		s.open = true
		if p := b.Profile(); p != nil {
			s.engine = p.Provider.ID
			s.capabilities = b.Engine.Capabilities()
		}
	}
	return s
}

// availability says whether a tool can be called now.
type availability struct {
	available   bool
	cause       cause
	reason      string
	remediation string
	missing     []string // capabilities, hosts or client features
	features    []string // client features, required or optional, that are missing
	providers   []string // engines that have the missing capabilities
}

type cause int

const (
	nothing cause = iota
	hiddenFamily
	noTarget
	missing
)

func (d *Dispatcher) availability(spec *tool.Spec, s state) availability {
	a := availability{available: true, features: missingFeatures(spec, s.features)}
	refuse := func(c cause, remediation, format string, args ...any) availability {
		a.available, a.cause, a.reason, a.remediation = false, c, fmt.Sprintf(format, args...), remediation
		return a
	}
	need := spec.Requires
	if !d.Shown(spec.Family) {
		return refuse(hiddenFamily, ShowHint, "family %s was not chosen at start", spec.Family)
	}
	if len(need.Host) > 0 && !slices.Contains(need.Host, d.host) {
		a.missing = slices.Clone(need.Host)
		return refuse(missing, "Run rea on one of these systems.", "it needs %s and this is %s", strings.Join(need.Host, " or "), d.host)
	}
	if need.Target && !s.open {
		return refuse(noTarget, "Call open_binary with the path of the binary first.", "no target is open")
	}
	if lacking := subtract(need.Engine, s.capabilities); len(lacking) > 0 {
		a.missing = lacking
		a.providers = d.providersOf(lacking)
		remedy := "No configured engine supplies this."
		if len(a.providers) > 0 {
			remedy = "Open the target with provider_id " + strings.Join(a.providers, " or ") + "."
		}
		switch {
		case !s.open:
			return refuse(noTarget, "Call open_binary with the path of the binary first.", "no target is open")
		case s.engine == "":
			return refuse(missing, remedy, "no engine is bound to the target")
		}
		return refuse(missing, remedy, "the bound engine %s does not supply %s", s.engine, strings.Join(lacking, ", "))
	}
	for _, feature := range need.ClientRequired {
		if !hasFeature(s.features, feature) {
			a.missing = append(a.missing, feature)
		}
	}
	if len(a.missing) > 0 {
		return refuse(missing, "Use a client that has them.", "the client does not have %s", strings.Join(a.missing, ", "))
	}
	return a
}

// ShowHint tells how families that are hidden can be shown.
const ShowHint = "Start the server with the family in REA_MCP_TOOLSETS or --toolsets, or with neither."

// fault is the error of a call that cannot be made.
func (a availability) fault(spec *tool.Spec) error {
	if a.cause == noTarget {
		return fault.NoTargetOpen(fault.NoTargetOpenDetails{Tool: spec.Name}, nil)
	}
	return fault.CapabilityUnavailable(fault.CapabilityUnavailableDetails{
		Tool: spec.Name, Reason: a.reason, Missing: orEmpty(a.missing), Providers: orEmpty(a.providers),
	}, nil)
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func subtract(need, have []model.EngineCapability) []string {
	var lacking []string
	for _, c := range need {
		if !slices.Contains(have, c) {
			lacking = append(lacking, string(c))
		}
	}
	return lacking
}

// providersOf are the engines that state all the capabilities.
func (d *Dispatcher) providersOf(capabilities []string) []string {
	var ids []string
	for _, p := range d.config.Session.Providers() {
		description := p.Describe()
		all := true
		for _, c := range capabilities {
			all = all && slices.Contains(description.Capabilities, model.EngineCapability(c))
		}
		if all {
			ids = append(ids, description.Provider.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

func missingFeatures(spec *tool.Spec, have model.ClientFeatures) []string {
	var lacking []string
	for _, list := range [][]string{spec.Requires.ClientRequired, spec.Requires.ClientOptional} {
		for _, feature := range list {
			if !hasFeature(have, feature) && !slices.Contains(lacking, feature) {
				lacking = append(lacking, feature)
			}
		}
	}
	return lacking
}

func hasFeature(f model.ClientFeatures, name string) bool {
	switch name {
	case "elicitation_form":
		return f.ElicitationForm
	case "elicitation_url":
		return f.ElicitationURL
	case "roots":
		return f.Roots
	case "sampling":
		return f.Sampling
	}
	return false
}

// Availability describes every tool there is, hidden ones included, in order of
// name: whether it can be called now, and if not what to do.
func (d *Dispatcher) Availability(context.Context) []model.ToolAvailability {
	bound, release := d.config.Session.Acquire()
	defer release()
	s := d.stateOf(bound)
	specs := tool.Specs()
	out := make([]model.ToolAvailability, 0, len(specs))
	for _, spec := range specs {
		a := d.availability(spec, s)
		t := model.ToolAvailability{
			Name: spec.Name, Family: spec.Family, Available: a.available,
			RequiredClientFeatures: spec.Requires.ClientRequired,
			OptionalClientFeatures: spec.Requires.ClientOptional,
			MissingClientFeatures:  a.features,
			Effects:                model.ToolEffects(spec.Effects),
		}
		if !a.available {
			t.Reason, t.Remediation = &a.reason, &a.remediation
		}
		out = append(out, t)
	}
	return out
}
