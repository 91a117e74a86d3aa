package dispatch

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/generated/wire"
	"rea/runtime/evidence"
	"rea/runtime/evidence/claims"
)

// resolve replaces references to retained Evidence by the records, and holds
// records that came inline to their identity. In both forms a record must be
// one that its operation could have made: retained ones may have been imported.
func (d *Dispatcher) resolve(b *tool.Binding, in wire.Appender) error {
	if b.Evidence == nil {
		return nil
	}
	for i, place := range b.Evidence(in) {
		var record *model.EvidenceRecord
		switch v := (*place).(type) {
		case *model.EvidenceReference:
			retained, err := d.Retained(v.EvidenceID)
			if err != nil {
				return err
			}
			record, *place = retained, retained
		case *model.EvidenceRecord:
			verified, err := evidence.Verify(v.AppendJSON(nil))
			if err != nil {
				return integrity(pointerOf(b.Spec, i), err)
			}
			// Handlers see the canonical record, as they do of a retained one:
			// how a caller spells JSON says nothing.
			if record, err = verified.Decode(); err != nil {
				return integrity(pointerOf(b.Spec, i), &evidence.IntegrityError{Reason: err.Error()})
			}
			*place = record
		}
		if record.PredicateType == faultPredicate {
			return d.diagnostic(b.Spec, record, pointerOf(b.Spec, i))
		}
		if e := claims.Check(record); e != nil {
			return integrity(pointerOf(b.Spec, i), e)
		}
	}
	return nil
}

// Retained is a record that the session holds.
func (d *Dispatcher) Retained(id string) (*model.EvidenceRecord, error) {
	parsed, err := evidence.ParseID(id)
	if err != nil {
		return nil, notHeld(id)
	}
	record, err := d.config.Session.Ledger().Get(parsed)
	switch {
	case errors.Is(err, evidence.ErrNotHeld) && d.config.Ephemeral:
		return nil, fault.Advise(notHeld(id), "A command holds no earlier records: give the complete record, as JSON or @FILE with what --format json printed.")
	case errors.Is(err, evidence.ErrNotHeld):
		return nil, notHeld(id)
	case err != nil:
		return nil, err
	}
	m, err := record.Decode()
	if err != nil {
		return nil, fmt.Errorf("reading retained record %s: %w", id, err)
	}
	return m, nil
}

func notHeld(id string) error {
	return fault.EvidenceNotFound(fault.EvidenceNotFoundDetails{EvidenceID: id}, nil)
}

// pointerOf is where the i-th Evidence input stands; inputs that repeat share
// the pointer of their pattern.
func pointerOf(spec *tool.Spec, i int) string {
	if len(spec.Retained) == 0 {
		return ""
	}
	return spec.Retained[min(i, len(spec.Retained)-1)]
}

// integrity is the fault for Evidence that is not what it claims to be.
func integrity(pointer string, err error) error {
	e, ok := evidence.AsIntegrity(err)
	if !ok {
		return err
	}
	details := fault.EvidenceIntegrityMismatchDetails{Pointer: pointer + e.Pointer, Reason: e.Reason}
	if e.Claimed != "" {
		details.EvidenceID = &e.Claimed
	}
	if e.Computed != "" {
		details.ComputedID = &e.Computed
	}
	f := fault.EvidenceIntegrityMismatch(details, err)
	if e.Remedy != "" {
		f = fault.Advise(f, e.Remedy)
	}
	return f
}

// diagnostic is the fault for a retained diagnostic in the place of a finding.
func (d *Dispatcher) diagnostic(spec *tool.Spec, record *model.EvidenceRecord, pointer string) error {
	accepted := []string{}
	if spec.Name == "inspect_analysis_view" {
		accepted = append(accepted, d.config.Viewed...)
	}
	return fault.Advise(fault.EvidenceNotApplicable(fault.EvidenceNotApplicableDetails{
		EvidenceID: record.EvidenceID, Operation: record.Operation, Accepted: accepted, Pointer: pointer,
	}, nil), "The record tells why a call of "+bounded(record.Operation)+" failed, and is no finding: give the record of a call that succeeded. "+
		"export_evidence_bundle writes the diagnostic to a file.")
}

// faultPredicate is what a retained diagnostic states.
const faultPredicate = "rea:diagnostic:1"

// RetainFault keeps a diagnostic as Evidence and returns the id of its record.
func (d *Dispatcher) RetainFault(_ context.Context, name string, f *fault.Error) (string, error) {
	record := &model.EvidenceRecord{
		EvidenceID:       blankID,
		Operation:        name,
		PredicateType:    faultPredicate,
		NormalizedResult: f.JSON(),
		Confidence:       model.EvidenceConfidenceObserved,
		Authority:        model.EvidenceAuthorityAnalystInference,
		Provider:         model.Provider{ID: claims.Own, Name: claims.Own, Version: &d.config.Version},
		Environment:      d.environment(),
	}
	sealed, err := evidence.Seal(record.AppendJSON(nil))
	if err != nil {
		return "", err
	}
	if _, err := d.config.Session.Ledger().Append(sealed); err != nil {
		return "", err
	}
	return sealed.ID().String(), nil
}

func (d *Dispatcher) environment() *model.EvidenceEnvironment {
	return &model.EvidenceEnvironment{OS: runtime.GOOS, Architecture: runtime.GOARCH, ReaVersion: d.config.Version}
}
