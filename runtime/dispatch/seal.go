package dispatch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/generated/wire"
	"rea/runtime/evidence"
	"rea/runtime/evidence/claims"
	"rea/runtime/session"
)

// blankID holds the place of an id in a document until it is known.
var blankID = evidence.ID{}.String()

// seal makes the record of a result, keeps it, and gives what the caller gets.
func (d *Dispatcher) seal(ctx context.Context, call *session.Call, spec *tool.Spec, bound *session.Binding, parameters []byte, result *tool.Result) (*Outcome, error) {
	record := &model.EvidenceRecord{
		EvidenceID:       blankID,
		Operation:        spec.Name,
		PredicateType:    spec.Evidence.PredicateType,
		NormalizedResult: result.Output.AppendJSON(make([]byte, 0, result.Size)),
		Confidence:       cmpOr(result.Confidence, spec.Evidence.Confidence),
		Authority:        spec.Evidence.Authority,
		Subject:          result.Subject,
		Provider:         model.Provider{ID: claims.Own, Name: claims.Own, Version: &d.config.Version},
		Limitations:      result.Limitations,
		Locations:        result.Locations,
		EvidenceLinks:    links(result.Links),
		Environment:      d.environment(),
		RawResult:        result.Raw,
	}
	if bound != nil {
		if record.Subject == nil {
			record.Subject = bound.Subject()
		}
		if call.UsedEngine() {
			record.AnalysisProfile = bound.Profile()
			record.Provider = record.AnalysisProfile.Provider
			if n := bound.Notes.Names(); n > 0 && record.Authority == model.EvidenceAuthorityShippedArtifact {
				record.Limitations = append(slices.Clone(record.Limitations),
					fmt.Sprintf("names set by the analyst stand in place of the file's own: %d", n))
			}
		}
	}
	if err := wire.Decode(parameters, wire.RecordDepth, &record.Parameters, readParameters); err != nil {
		return nil, fmt.Errorf("writing the parameters: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	document := record.AppendJSON(make([]byte, 0, len(record.NormalizedResult)+len(record.NormalizedResult)/64+4096))
	sealed, err := evidence.Seal(document)
	if err != nil {
		return nil, err
	}
	at := bytes.Index(document, []byte(blankID))
	copy(document[at:], sealed.ID().String())
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, err := d.config.Session.Ledger().Append(sealed); err != nil {
		return nil, storage(err)
	}
	return &Outcome{Spec: spec, Output: result.Output, Document: document, Record: sealed}, nil
}

func cmpOr[T comparable](a, b T) T {
	var zero T
	if a != zero {
		return a
	}
	return b
}

func readParameters(v *map[string]jsontext.Value, d *wire.Decoder) error {
	return wire.Map(d, v, 0, wire.Unbounded, func(v *jsontext.Value, d *wire.Decoder) error { return d.Any(v) })
}

// links are sorted, each once.
func links(ids []string) []string {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// storage is the fault for records that cannot be kept.
func storage(err error) error {
	d := fault.ResourceConstraintDetails{Resource: fault.ResourceConstraintDetailsResourceMemory}
	action := "Export what is worth keeping with export_evidence_bundle, clear the connection with close_binary, and repeat the call."
	var files *evidence.StorageError
	switch {
	case errors.As(err, &files):
		d.Resource = fault.ResourceConstraintDetailsResourceStorage
		action = fmt.Sprintf("Free space in %s, or start rea with TMPDIR set to a directory that has more; records that were held before are untouched.", session.Printable(files.Dir))
	case errors.Is(err, evidence.ErrFull):
		limit := int64(evidence.MaxRecords)
		d.Resource, d.ReportedLimits.Limit = fault.ResourceConstraintDetailsResourceEntries, &limit
	}
	d.Reason = "records cannot be kept: " + bounded(err.Error())
	return fault.Advise(fault.ResourceConstraint(d, err), action)
}

// parameters is the input as a record holds it: defaults applied, local paths
// left out, and Evidence, however it came, as references.
func (d *Dispatcher) parameters(b *tool.Binding, in wire.Appender) ([]byte, error) {
	restore, err := referenced(b, in)
	if err != nil {
		return nil, err
	}
	defer restore()
	doc, err := withoutPaths(in.AppendJSON(nil), b.Spec.Paths)
	if err != nil {
		return nil, err
	}
	canonical, err := evidence.Canonical(doc)
	if err != nil { // a number that a record cannot hold
		pointer, reason := evidence.Place(doc, err)
		return nil, fault.InvalidRequest(fault.InvalidRequestDetails{Pointer: pointer, Keyword: "number", Expected: reason}, err)
	}
	return canonical, nil
}

// referenced puts references in place of inline records until restore is called.
func referenced(b *tool.Binding, in wire.Appender) (restore func(), err error) {
	if b.Evidence == nil {
		return func() {}, nil
	}
	places := b.Evidence(in)
	values := make([]model.EvidenceInput, len(places))
	for i, place := range places {
		values[i] = *place
		if record, ok := (*place).(*model.EvidenceRecord); ok {
			*place = &model.EvidenceReference{EvidenceID: record.EvidenceID}
		}
	}
	return func() {
		for i, place := range places {
			*place = values[i]
		}
	}, nil
}

// withoutPaths drops the members at the pointers, in which * is every item.
func withoutPaths(doc []byte, pointers []string) ([]byte, error) {
	if len(pointers) == 0 {
		return doc, nil
	}
	var out bytes.Buffer
	in, enc := jsontext.NewDecoder(bytes.NewBuffer(doc)), jsontext.NewEncoder(&out)
	for depth := 0; ; {
		if in.PeekKind() == '"' && atName(in) {
			name, err := in.ReadToken()
			if err != nil {
				return nil, err
			}
			name = name.Clone()
			if matches(in.StackPointer(), pointers) {
				if err := in.SkipValue(); err != nil {
					return nil, err
				}
				continue
			}
			if err := enc.WriteToken(name); err != nil {
				return nil, err
			}
		}
		token, err := in.ReadToken()
		if err != nil {
			return nil, err
		}
		if err := enc.WriteToken(token); err != nil {
			return nil, err
		}
		switch token.Kind() {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth == 0 {
			return bytes.TrimSpace(out.Bytes()), nil
		}
	}
}

// atName reports whether the next token of in is a member name.
func atName(in *jsontext.Decoder) bool {
	kind, length := in.StackIndex(in.StackDepth())
	return kind == '{' && length%2 == 0
}

func matches(at jsontext.Pointer, pointers []string) bool {
	for _, pattern := range pointers {
		want := slices.Collect(jsontext.Pointer(pattern).Tokens())
		have := slices.Collect(at.Tokens())
		if len(want) != len(have) {
			continue
		}
		same := true
		for i := range want {
			same = same && (want[i] == "*" || want[i] == have[i])
		}
		if same {
			return true
		}
	}
	return false
}
