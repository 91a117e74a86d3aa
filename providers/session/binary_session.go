package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	state "rea/runtime/session"
)

// BinarySession tells the state. It waits for nothing.
func (h *Handlers) BinarySession(ctx context.Context, in *tool.BinarySessionInput) (*tool.BinarySessionOutput, error) {
	if in.Family != nil && !slices.Contains(tool.FamilyNames(), *in.Family) {
		return nil, fault.InvalidRequest(fault.InvalidRequestDetails{
			Pointer: "/family", Keyword: "enum", Expected: "one of " + strings.Join(tool.FamilyNames(), ", "),
		}, nil)
	}
	bound, release := h.config.Session.Acquire()
	defer release()
	alignment := h.alignment(in)
	r := tool.BinarySessionOutputResult{
		View:             tool.BinarySessionOutputResultView(in.Detail),
		Open:             bound != nil,
		AnalysisActivity: activity(bound),
		Alignment:        alignment,
		Records:          int64(h.config.Session.Ledger().Len()),
	}
	if bound != nil {
		target := bound.TargetModel()
		r.Target, r.AnalysisRun, r.AnalysisProviderBinding = &target, bound.Run(), bound.Model()
		r.Annotations = int64(bound.Notes.Count())
	}
	r.RecommendedActions = recommend(bound, alignment)
	switch in.Detail {
	case tool.BinarySessionInputDetailFull:
		h.identify(ctx, &r, alignment)
		h.tools(ctx, &r, in, false)
	case tool.BinarySessionInputDetailCapabilities:
		h.tools(ctx, &r, in, true)
	}
	return &tool.BinarySessionOutput{Result: r}, nil
}

// identify adds who serves whom with what.
func (h *Handlers) identify(ctx context.Context, r *tool.BinarySessionOutputResult, alignment model.Alignment) {
	id, client := h.config.Identity, h.config.Session.Client()
	s := &model.ServerIdentity{
		Package: model.ServerIdentityPackage{Name: id.Package, Version: id.Version},
		Server:  model.ServerIdentityServer{Name: id.Server, Version: id.Version},
		SDK:     model.ServerIdentitySDK{Name: id.SDK, Version: id.SDKVersion},
		Catalog: model.ServerIdentityCatalog{
			Digest: id.CatalogDigest(), Tools: int64(len(tool.Specs())),
			InputSchemaProfile: model.ServerIdentityCatalogInputSchemaProfile(id.InputSchemaProfile),
		},
		Alignment: alignment,
	}
	if id.ServerPath != "" {
		path := state.Printable(id.ServerPath)
		s.Server.Path = &path
	}
	if client.Protocol != "" {
		s.NegotiatedProtocolVersion = &client.Protocol
	}
	if client.Name != "" {
		s.Client = &model.ServerIdentityClient{Name: client.Name, Version: client.Version}
	}
	r.ServerIdentity, r.ClientFeatures = s, &client.Features
	r.AnalysisProviderCandidates = h.config.Session.Candidates(ctx)
	shown, hidden := h.hidden()
	r.Toolsets = &tool.BinarySessionOutputResultToolsets{Shown: shown, Hidden: hidden}
	if len(hidden) > 0 {
		r.Toolsets.HowToShow = &h.config.HowToShow
	}
}

// tools adds the availability of tools: all, or one page.
func (h *Handlers) tools(ctx context.Context, r *tool.BinarySessionOutputResult, in *tool.BinarySessionInput, paged bool) {
	all := h.config.Availability(ctx)
	if in.Family != nil {
		all = slices.DeleteFunc(all, func(t model.ToolAvailability) bool { return t.Family != *in.Family })
	}
	total := int64(len(all))
	r.Tools = &tool.BinarySessionOutputResultTools{Total: total}
	if paged {
		start := min(in.Cursor, total)
		end := start + min(in.Limit, total-start)
		all = all[start:end]
		if end < total {
			r.Tools.NextCursor = &end
		}
	}
	r.ToolAvailability = all
}

// alignment compares what runs with what the caller expects.
func (h *Handlers) alignment(in *tool.BinarySessionInput) model.Alignment {
	id := h.config.Identity
	a := model.Alignment{State: model.AlignmentStateUnknown, Reasons: []string{}}
	expect := func(what string, expected *string, found string, same func(a, b string) bool) {
		switch {
		case expected == nil:
			return
		case found == "":
			a.Reasons = append(a.Reasons, fmt.Sprintf("%s is unknown, expected %q", what, *expected))
		case !same(*expected, found):
			a.Reasons = append(a.Reasons, fmt.Sprintf("%s is %q, expected %q", what, found, *expected))
		}
		if a.State == model.AlignmentStateUnknown {
			a.State = model.AlignmentStateAligned
		}
		if len(a.Reasons) > 0 {
			a.State = model.AlignmentStateMCPServerRestartRequired
		}
	}
	equal := func(a, b string) bool { return a == b }
	expect("package version", in.ExpectedPackageVersion, id.Version, equal)
	if in.ExpectedCatalogDigest != nil {
		expect("catalog digest", in.ExpectedCatalogDigest, id.CatalogDigest(), equal)
	}
	expect("server path", in.ExpectedServerPath, id.ServerPath, samePath)
	if a.State == model.AlignmentStateMCPServerRestartRequired {
		remedy := "Restart the MCP server from the expected installation, then compare again."
		a.Remediation = &remedy
	}
	return a
}

func activity(bound *state.Binding) model.AnalysisActivity {
	a := model.AnalysisActivity{Status: model.AnalysisActivityStatusNotObserved}
	if bound == nil || bound.Engine == nil {
		return a
	}
	now := bound.Engine.Activity()
	a.Status = model.AnalysisActivityStatus(now.Status)
	a.Running, a.Queued = int64(now.Running), int64(now.Queued)
	if now.Phase != "" {
		a.Phase = &now.Phase
	}
	return a
}

func recommend(bound *state.Binding, alignment model.Alignment) []string {
	actions := []string{}
	if alignment.Remediation != nil {
		actions = append(actions, *alignment.Remediation)
	}
	switch {
	case bound == nil:
		actions = append(actions, "Call open_binary with the path of a binary.")
	case bound.Engine == nil:
		actions = append(actions, "Call inspect_binary_layout; no engine is bound.")
	case bound.Ended():
		actions = append(actions, "Call open_binary with the path of the target: its engine has ended, and that starts another.")
	default:
		actions = append(actions, "Call binary_overview for a picture of the target.")
	}
	return actions
}
