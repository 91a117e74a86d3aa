package evidence

import (
	"context"

	"rea/generated/tool"
	store "rea/runtime/evidence"
)

// ImportEvidenceBundle verifies a bundle and admits its records, all or none.
func (h *Handlers) ImportEvidenceBundle(ctx context.Context, in *tool.ImportEvidenceBundleInput) (*tool.ImportEvidenceBundleOutput, error) {
	file, err := openBundle(in.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := h.ledger().Import(ctx, file, store.DefaultImportLimits)
	if err != nil {
		return nil, err
	}
	return &tool.ImportEvidenceBundleOutput{Result: tool.ImportEvidenceBundleOutputResult{
		Imported: int64(info.Added), AlreadyHeld: int64(info.Records - info.Added),
		Total: int64(h.ledger().Len()), BundleSHA256: info.SHA256,
	}}, nil
}
