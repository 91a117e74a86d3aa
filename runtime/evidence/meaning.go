package evidence

import (
	"errors"

	"rea/generated/model"
	"rea/generated/wire"
)

// Decode reads the record into its type.
func (r *Record) Decode() (*model.EvidenceRecord, error) {
	m := new(model.EvidenceRecord)
	if err := wire.Decode(r.canonical, MaxDepth, m, (*model.EvidenceRecord).DecodeJSON); err != nil {
		return nil, err
	}
	return m, nil
}

// checkMeaning holds a record from outside to the contract of records.
func (r *Record) checkMeaning() error {
	_, err := r.Decode()
	if invalid := new(model.InvalidError); errors.As(err, &invalid) {
		return &IntegrityError{Pointer: invalid.Pointer, Reason: invalid.Message, Claimed: r.id.String()}
	}
	return err
}
