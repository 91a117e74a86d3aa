package delivery

import (
	"fmt"
	"io"
	"strconv"

	"rea/generated/fault"
	"rea/generated/model"
)

// Envelope is what is reserved of a budget for the JSON-RPC message around a
// result. A request id has at most 768 bytes, so that it fits.
const Envelope = 1024

// MinBudget is the receive buffer of the smallest client that is served: 10 MiB.
const MinBudget = 10 << 20

// maxBudget is the largest integer that every JSON implementation carries.
const maxBudget = 1<<53 - 1

// BudgetSetting names the environment variable of the response budget.
const BudgetSetting = "REA_MCP_MAX_RESPONSE_BYTES"

// A Budget is the size of the client's receive buffer in bytes.
type Budget int64

// ParseBudget reads the setting; "" is the default. Anything but a safe decimal
// integer of at least [MinBudget] is a configuration_invalid fault.
func ParseBudget(value string) (Budget, error) {
	if value == "" {
		return MinBudget, nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < MinBudget || n > maxBudget || value != strconv.FormatInt(n, 10) {
		return 0, fault.ConfigurationInvalid(fault.ConfigurationInvalidDetails{
			Name:     BudgetSetting,
			Value:    value,
			Expected: fmt.Sprintf("a decimal integer from %d to %d", MinBudget, int64(maxBudget)),
		}, nil)
	}
	return Budget(n), nil
}

// A Result is one tools/call result, ready to be written.
type Result struct {
	doc     *Document
	isError bool
	size    int64
}

// Success prepares a successful result. doc is an object.
func Success(doc []byte) (*Result, error) {
	d, err := NewDocument(doc)
	if err != nil {
		return nil, err
	}
	if !d.isObject() {
		return nil, errNotObject
	}
	r := &Result{doc: d}
	var structured counting
	d.compact(&structured)
	r.size = int64(structured) + r.textSize()
	return r, nil
}

// Failure prepares a tool error: text only, because structured content is what
// the output schema describes.
func Failure(err *fault.Error) (*Result, error) {
	d, docErr := NewDocument(err.JSON())
	if docErr != nil {
		return nil, docErr
	}
	r := &Result{doc: d, isError: true}
	r.size = r.textSize()
	return r, nil
}

func (r *Result) textSize() int64 {
	var text countingEscaped
	r.doc.lines(&text)
	return int64(text)
}

// Document is what the result says.
func (r *Result) Document() *Document { return r.doc }

// IsError reports whether the result is a tool error.
func (r *Result) IsError() bool { return r.isError }

// Size is the number of bytes on the wire that the budget counts, the envelope
// included.
func (r *Result) Size() int64 { return r.size + Envelope }

// Fits reports whether the client's buffer can take the result.
func (b Budget) Fits(r *Result) bool { return r.Size() <= int64(b) }

// Refuse is the fault for a result that does not fit. evidenceID, unless "",
// names the record to go on with, and action says how.
func (b Budget) Refuse(r *Result, evidenceID, reason, action string) *fault.Error {
	limit, needed := int64(b), r.Size()
	d := fault.ResourceConstraintDetails{
		Resource: fault.ResourceConstraintDetailsResourceTransport,
		Reason:   reason,
		ReportedLimits: fault.ResourceConstraintDetailsReportedLimits{
			Limit:  &limit,
			Needed: &needed,
		},
	}
	if evidenceID != "" {
		d.ReportedLimits.EvidenceReference = &model.EvidenceReference{EvidenceID: evidenceID}
	}
	f := fault.ResourceConstraint(d, nil).(*fault.Error)
	if action != "" {
		f.Remediation.Action = action
	}
	return f
}

// WriteMembers writes the members of the tools/call result, without the braces
// around them.
func (r *Result) WriteMembers(w io.Writer) error {
	out := &plain{w: w}
	out.piece([]byte(`"content":[{"type":"text","text":"`))
	text := &escaped{plain{w: w, err: out.err}}
	r.doc.lines(text)
	out.err = text.err
	out.piece([]byte(`"}]`))
	if r.isError {
		out.piece([]byte(`,"isError":true`))
		return out.err
	}
	out.piece([]byte(`,"structuredContent":`))
	r.doc.compact(out)
	return out.err
}
