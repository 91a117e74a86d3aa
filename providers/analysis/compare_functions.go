package analysis

import (
	"context"
	"fmt"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/generated/wire"
	"rea/runtime/query"
)

// CompareFunctions compares two recorded dossiers, dimension by dimension and
// without regard to where the functions lie, so that two versions of a program
// can be compared. What a record does not hold completely is never called
// unchanged.
func (h *Handlers) CompareFunctions(ctx context.Context, in *tool.CompareFunctionsInput) (*tool.Finding[tool.CompareFunctionsOutput], error) {
	left, err := readDossier(in.Left, "/left")
	if err != nil {
		return nil, err
	}
	right, err := readDossier(in.Right, "/right")
	if err != nil {
		return nil, err
	}
	same := left.sha256 != nil && right.sha256 != nil && *left.sha256 == *right.sha256
	out := tool.CompareFunctionsOutput{
		Left:          tool.CompareFunctionsOutputLeft{EvidenceID: left.record.EvidenceID, SHA256: left.sha256, Procedure: query.Ref(&left.result.Procedure)},
		Right:         tool.CompareFunctionsOutputRight{EvidenceID: right.record.EvidenceID, SHA256: right.sha256, Procedure: query.Ref(&right.result.Procedure)},
		FunctionMatch: functionMatch(&left.result.Procedure, &right.result.Procedure),
	}
	var changes []tool.CompareFunctionsOutputChange
	l, r := factsOf(&left.result, same), factsOf(&right.result, same)
	for i := range l {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, rows := compareFacts(&l[i], &r[i])
		out.Dimensions = append(out.Dimensions, d)
		changes = append(changes, rows...)
	}
	out.Status = overall(out.Dimensions)
	page := query.Slice(changes, in.Offset, in.Limit)
	out.Total, out.Offset, out.NextOffset, out.Changes = page.Total, page.Offset, page.Next, page.Items
	f := &tool.Finding[tool.CompareFunctionsOutput]{
		Result:      out,
		Links:       []string{left.record.EvidenceID},
		Limitations: compareLimitations(&out, left.record, right.record),
	}
	if right.record.EvidenceID != left.record.EvidenceID {
		f.Links = append(f.Links, right.record.EvidenceID)
	}
	if same {
		f.Subject = left.record.Subject
	}
	return f, nil
}

// recorded is a record of analyze_function and what it says.
type recorded struct {
	record *model.EvidenceRecord
	result tool.AnalyzeFunctionOutput
	sha256 *string
}

const dossierOperation = "analyze_function"

func readDossier(in model.EvidenceInput, pointer string) (*recorded, error) {
	record, ok := in.(*model.EvidenceRecord)
	if !ok {
		id := ""
		if ref, ok := in.(*model.EvidenceReference); ok {
			id = ref.EvidenceID
		}
		return nil, fault.EvidenceNotFound(fault.EvidenceNotFoundDetails{EvidenceID: id}, nil)
	}
	if record.Operation != dossierOperation {
		return nil, fault.EvidenceNotApplicable(fault.EvidenceNotApplicableDetails{
			EvidenceID: record.EvidenceID, Operation: record.Operation, Accepted: []string{dossierOperation}, Pointer: pointer,
		}, nil)
	}
	d := &recorded{record: record}
	err := wire.Decode(record.NormalizedResult, wire.RecordDepth, &d.result, (*tool.AnalyzeFunctionOutput).DecodeJSON)
	if err != nil {
		return nil, fault.EvidenceIntegrityMismatch(fault.EvidenceIntegrityMismatchDetails{
			Pointer: pointer + "/normalized_result", Reason: "it is not what analyze_function gives: " + err.Error(), EvidenceID: &record.EvidenceID,
		}, err)
	}
	if record.Subject != nil {
		d.sha256 = &record.Subject.Digest.SHA256
	}
	return d, nil
}

func functionMatch(l, r *model.Procedure) tool.CompareFunctionsOutputFunctionMatch {
	switch {
	case !l.Named || !r.Named:
		return tool.CompareFunctionsOutputFunctionMatchUnnamed
	case l.Name == r.Name:
		return tool.CompareFunctionsOutputFunctionMatchSameName
	}
	return tool.CompareFunctionsOutputFunctionMatchDifferentName
}

// overall puts the dimensions together. Callers are context and do not decide;
// neither does what both records lack, except that a function is called
// unchanged only if its code itself was compared.
func overall(dimensions []tool.CompareFunctionsOutputDimension) tool.CompareFunctionsOutputStatus {
	count := map[tool.CompareFunctionsOutputDimensionStatus]int{}
	code := false
	for _, d := range dimensions {
		switch {
		case d.Dimension == dimCallers:
			continue
		case d.Status == tool.CompareFunctionsOutputDimensionStatusUnknown && d.Reason != nil && *d.Reason == inNeither:
			continue
		case d.Status == tool.CompareFunctionsOutputDimensionStatusUnchanged && (d.Dimension == dimAssembly || d.Dimension == dimPseudocode):
			code = true
		}
		count[d.Status]++
	}
	switch {
	case count[tool.CompareFunctionsOutputDimensionStatusChanged] > 0:
		return tool.CompareFunctionsOutputStatusChanged
	case count[tool.CompareFunctionsOutputDimensionStatusTruncated] > 0:
		return tool.CompareFunctionsOutputStatusTruncated
	case count[tool.CompareFunctionsOutputDimensionStatusUnknown] > 0 || !code:
		return tool.CompareFunctionsOutputStatusUnknown
	}
	return tool.CompareFunctionsOutputStatusUnchanged
}

func compareLimitations(out *tool.CompareFunctionsOutput, left, right *model.EvidenceRecord) []string {
	limits := []string{"callers are compared but do not decide the status"}
	for _, d := range out.Dimensions {
		if d.Dimension == dimAssembly && d.Status == tool.CompareFunctionsOutputDimensionStatusUnknown {
			limits = append(limits, "the instructions were not compared; repeat analyze_function on both sides with include_assembly")
		}
	}
	if out.NextOffset != nil {
		limits = append(limits, fmt.Sprintf("changes: %d of %d rows are given; go on with offset %d", len(out.Changes), out.Total, *out.NextOffset))
	}
	for _, text := range left.Limitations {
		limits = append(limits, "left: "+text)
	}
	for _, text := range right.Limitations {
		limits = append(limits, "right: "+text)
	}
	return limits
}
