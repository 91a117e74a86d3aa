package evidence

import (
	"context"
	"fmt"
	"math"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/generated/wire"
	"rea/runtime/engine"
	store "rea/runtime/evidence"
)

// GetEvidenceBundle gives the records held now, or what is known of them.
func (h *Handlers) GetEvidenceBundle(ctx context.Context, in *tool.GetEvidenceBundleInput) (*tool.GetEvidenceBundleOutput, error) {
	if in.Detail == tool.GetEvidenceBundleInputDetailSummary {
		return h.summary(ctx, in)
	}
	for _, given := range []struct {
		name string
		is   bool
	}{{"filters", in.Filters != nil}, {"offset", in.Offset != nil}, {"limit", in.Limit != nil}} {
		if given.is {
			return nil, fault.InvalidRequest(fault.InvalidRequestDetails{
				Pointer: "/" + given.name, Keyword: "detail", Expected: given.name + " only with detail summary",
			}, nil)
		}
	}
	return h.complete(ctx)
}

func (h *Handlers) complete(ctx context.Context) (*tool.GetEvidenceBundleOutput, error) {
	view := h.ledger().View()
	defer view.Close()
	if err := h.checkBudget(view.Size()); err != nil {
		return nil, err
	}
	bundle := &model.EvidenceBundle{Manifest: manifestOf(view), Records: make([]model.EvidenceRecord, 0, view.Len())}
	for record, err := range view.Records() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		m, err := record.Decode()
		if err != nil {
			return nil, fmt.Errorf("reading retained record %s: %w", record.ID(), err)
		}
		bundle.Records = append(bundle.Records, *m)
	}
	return &tool.GetEvidenceBundleOutput{Result: tool.GetEvidenceBundleOutputResult{
		Detail: tool.GetEvidenceBundleOutputResultDetailComplete, Total: int64(len(bundle.Records)), Bundle: bundle,
	}}, nil
}

func manifestOf(view *store.View) model.EvidenceBundleManifest {
	m := view.Manifest()
	return model.EvidenceBundleManifest{Records: int64(m.Records), IDsSHA256: m.IDs, RecordsSHA256: m.Digests}
}

// checkBudget refuses, before anything is read, a bundle that cannot fit the
// client's buffer twice: as structured content and as text.
func (h *Handlers) checkBudget(size int64) error {
	if h.config.Budget <= 0 || 2*size <= h.config.Budget {
		return nil
	}
	needed := 2 * size
	return fault.Advise(fault.ResourceConstraint(fault.ResourceConstraintDetails{
		Resource: fault.ResourceConstraintDetailsResourceTransport,
		Reason:   "the complete bundle does not fit the client's receive buffer",
		ReportedLimits: fault.ResourceConstraintDetailsReportedLimits{
			Limit: &h.config.Budget, Needed: &needed,
		},
	}, nil), "Write it to a file with export_evidence_bundle, or list the records with detail summary and show single ones with inspect_analysis_view.")
}

// summary lists the records that match, in the order in which they were
// recorded: as many as were asked for, or else as many as a response can hold.
func (h *Handlers) summary(ctx context.Context, in *tool.GetEvidenceBundleInput) (*tool.GetEvidenceBundleOutput, error) {
	match, err := matcher(in.Filters)
	if err != nil {
		return nil, err
	}
	out := tool.GetEvidenceBundleOutputResult{
		Detail: tool.GetEvidenceBundleOutputResultDetailSummary, Records: []tool.GetEvidenceBundleOutputResultRecord{},
	}
	offset, limit := int64(0), int64(math.MaxInt64)
	if in.Offset != nil {
		offset = *in.Offset
	}
	room := &room{left: h.config.Budget - summaryHead}
	if in.Limit != nil {
		limit = *in.Limit
	}
	if in.Limit != nil || h.config.Budget <= 0 {
		room = nil // what was asked for is delivered or refused, but not cut
	}
	known := &parts{providers: map[string]model.Provider{}, subjects: map[string]*model.EvidenceSubject{}}
	full := false
	for _, s := range h.candidates(in.Filters) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !match(&s) {
			continue
		}
		out.Total++
		if out.Total <= offset || full {
			continue
		}
		row, err := known.row(&s)
		if err != nil {
			return nil, err
		}
		fits := room.takes(&row) || len(out.Records) == 0 // so that a next page begins further on
		if full = int64(len(out.Records)) == limit || !fits; full {
			continue
		}
		out.Records = append(out.Records, row)
	}
	out.Offset = min(offset, out.Total)
	if next := out.Offset + int64(len(out.Records)); next < out.Total {
		out.NextOffset = &next
	}
	return &tool.GetEvidenceBundleOutput{Result: out}, nil
}

// candidates are the summaries that filters have to be compared with.
func (h *Handlers) candidates(f *tool.GetEvidenceBundleInputFilters) []store.Summary {
	if f == nil || f.EvidenceID == nil {
		return h.ledger().Summaries()
	}
	id, err := store.ParseID(*f.EvidenceID)
	if err != nil {
		return nil // the contract has seen to that
	}
	if s, ok := h.ledger().Summary(id); ok {
		return []store.Summary{s}
	}
	return nil
}

// summaryHead is more than what of a summary is not its rows, and the envelope.
const summaryHead = 4096

// room is what is left of a response. It counts a row as more than its size on
// the wire, as structured content and again as lines of text inside a string.
type room struct {
	left int64
	buf  []byte
}

func (r *room) takes(row *tool.GetEvidenceBundleOutputResultRecord) bool {
	if r == nil {
		return true
	}
	r.buf = row.AppendJSON(r.buf[:0])
	n := int64(2*len(r.buf)) + 2
	for _, b := range r.buf {
		switch b {
		case '"', '\\':
			n++ // escaped
		case ',', '{', '}', '[', ']':
			n += lineStart
		}
	}
	r.left -= n
	return r.left >= 0
}

// lineStart is a line break inside a string, the indentation of rows, and the
// space after a name.
const lineStart = 10

// matcher reads the filters but for the id, which all have to match exactly.
func matcher(f *tool.GetEvidenceBundleInputFilters) (func(*store.Summary) bool, error) {
	if f == nil {
		return func(*store.Summary) bool { return true }, nil
	}
	procedure := ""
	if f.ProcedureAddress != nil {
		addr, err := engine.ParseAddress(*f.ProcedureAddress)
		if err != nil {
			return nil, err
		}
		procedure = addr.String()
	}
	is := func(want *string, have string) bool { return want == nil || *want == have }
	return func(s *store.Summary) bool {
		return is(f.Operation, s.Operation) && is(f.TargetSHA256, s.SubjectSHA256) &&
			is(f.AnalysisProfileDigest, s.ProfileDigest) && (procedure == "" || s.Procedure != nil && s.Procedure.Address == procedure)
	}, nil
}

// parts are what many summaries have in common, read once.
type parts struct {
	providers map[string]model.Provider
	subjects  map[string]*model.EvidenceSubject
}

func (p *parts) provider(doc string) (v model.Provider, err error) {
	v, ok := p.providers[doc]
	if !ok {
		err = wire.Decode([]byte(doc), wire.InputDepth, &v, (*model.Provider).DecodeJSON)
		p.providers[doc] = v
	}
	return v, err
}

func (p *parts) subject(doc string) (*model.EvidenceSubject, error) {
	if doc == "null" {
		return nil, nil
	}
	v, ok := p.subjects[doc]
	if ok {
		return v, nil
	}
	v = new(model.EvidenceSubject)
	err := wire.Decode([]byte(doc), wire.InputDepth, v, (*model.EvidenceSubject).DecodeJSON)
	p.subjects[doc] = v
	return v, err
}

func (p *parts) row(s *store.Summary) (row tool.GetEvidenceBundleOutputResultRecord, err error) {
	row = tool.GetEvidenceBundleOutputResultRecord{
		EvidenceID: s.ID.String(), Operation: s.Operation, PredicateType: s.PredicateType, Bytes: int64(s.Bytes),
	}
	if row.Provider, err = p.provider(s.Provider); err != nil {
		return row, fmt.Errorf("reading the summary of %s: %w", s.ID, err)
	}
	if row.Subject, err = p.subject(s.Subject); err != nil {
		return row, fmt.Errorf("reading the summary of %s: %w", s.ID, err)
	}
	if s.ProfileDigest != "" {
		row.AnalysisProfileDigest = &s.ProfileDigest
	}
	if at := s.Procedure; at != nil {
		addr, err := engine.ParseAddress(at.Address)
		if err == nil {
			row.Procedure = &model.SymbolRef{Address: addr}
			if at.Name != "" {
				row.Procedure.Name = &at.Name
			}
		}
	}
	if d := s.Dossier; d != nil {
		row.NativeDossier = &tool.GetEvidenceBundleOutputResultRecordNativeDossier{
			ValueFlow: tool.GetEvidenceBundleOutputResultRecordNativeDossierValueFlow(d.ValueFlow), Omitted: d.Omitted,
		}
	}
	return row, nil
}
