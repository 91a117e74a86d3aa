package recorded

import (
	"rea/generated/model"
	"rea/generated/wire"
)

// ReferenceOperation makes historical references.
const ReferenceOperation = "import_reference_source"

const referencePredicate = "rea:javascript.import_reference_source:1"

// A Reference is a recorded historical source tree that was found sound.
type Reference struct {
	Record *model.EvidenceRecord
	*model.HistoricalSource
}

// ReadReference reads a historical source tree; pointer is where it stands in the
// input.
func ReadReference(in model.EvidenceInput, pointer string) (*Reference, error) {
	record, err := Of(in, pointer, ReferenceOperation)
	if err != nil {
		return nil, err
	}
	r := &Reference{Record: record, HistoricalSource: &model.HistoricalSource{}}
	if err := wire.Decode(record.NormalizedResult, wire.RecordDepth, r.HistoricalSource, (*model.HistoricalSource).DecodeJSON); err != nil {
		return nil, unsound(record, pointer, "it is not what "+ReferenceOperation+" gives: "+err.Error())
	}
	switch s := record.Subject; {
	case record.PredicateType != referencePredicate:
		return nil, unsound(record, pointer, "it states "+record.PredicateType+", not "+referencePredicate)
	case record.Authority != model.EvidenceAuthorityHistoricalReference:
		return nil, unsound(record, pointer, "its authority is "+string(record.Authority)+", not that of a historical reference")
	case s == nil || s.Digest.SHA256 != r.RootSHA256:
		return nil, unsound(record, pointer, "its subject is not the tree that it describes")
	case r.Files != int64(len(r.Entries)):
		return nil, unsound(record, pointer, "it lists fewer or more files than it counts")
	}
	return r, nil
}
