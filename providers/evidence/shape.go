package evidence

import (
	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/generated/wire"
)

// shapes check what a recorded result is before something of it is shown: that
// it is what the operation gives, and that it is about the bytes that the record
// names. They give the reason for which it is not, or "".
var shapes = map[string]func(*model.EvidenceRecord) string{
	layoutOperation: func(r *model.EvidenceRecord) string {
		var out tool.InspectBinaryLayoutOutput
		if err := wire.Decode(r.NormalizedResult, wire.RecordDepth, &out, (*tool.InspectBinaryLayoutOutput).DecodeJSON); err != nil {
			return "it is not what " + layoutOperation + " gives: " + err.Error()
		}
		if r.Subject == nil || out.Target.SHA256 != r.Subject.Digest.SHA256 {
			return "it describes other bytes than the subject of the record"
		}
		return ""
	},
	dossierOperation: func(r *model.EvidenceRecord) string {
		var out tool.AnalyzeFunctionOutput
		if err := wire.Decode(r.NormalizedResult, wire.RecordDepth, &out, (*tool.AnalyzeFunctionOutput).DecodeJSON); err != nil {
			return "it is not what " + dossierOperation + " gives: " + err.Error()
		}
		return ""
	},
	applicationOperation: func(r *model.EvidenceRecord) string {
		var out model.ApplicationAnalysis
		if err := wire.Decode(r.NormalizedResult, wire.RecordDepth, &out, (*model.ApplicationAnalysis).DecodeJSON); err != nil {
			return "it is not what " + applicationOperation + " gives: " + err.Error()
		}
		if r.Subject == nil || out.Application.SHA256 != r.Subject.Digest.SHA256 {
			return "it describes another application than the subject of the record"
		}
		return ""
	},
}

// checkShape refuses a record whose result is not of its operation.
func checkShape(r *model.EvidenceRecord) error {
	reason := shapes[r.Operation](r)
	if reason == "" {
		return nil
	}
	return fault.EvidenceIntegrityMismatch(fault.EvidenceIntegrityMismatchDetails{
		Pointer: "/analysis/normalized_result", Reason: reason, EvidenceID: &r.EvidenceID,
	}, nil)
}
