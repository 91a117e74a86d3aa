package evidence

import (
	"context"
	"io"

	"rea/generated/tool"
	store "rea/runtime/evidence"
	"rea/runtime/progress"
)

// ImportEvidenceBundle verifies a bundle and admits its records, all or none.
func (h *Handlers) ImportEvidenceBundle(ctx context.Context, in *tool.ImportEvidenceBundleInput) (*tool.ImportEvidenceBundleOutput, error) {
	file, err := openBundle(in.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := h.ledger().Import(ctx, &progressing{ctx: ctx, r: file}, store.DefaultImportLimits)
	if err != nil {
		return nil, readError(in.Path, err)
	}
	return &tool.ImportEvidenceBundleOutput{Result: tool.ImportEvidenceBundleOutputResult{
		Imported: int64(info.Added), AlreadyHeld: int64(info.Records - info.Added),
		Total: int64(h.ledger().Len()), BundleSHA256: info.SHA256,
	}}, nil
}

// progressing tells how far reading is.
type progressing struct {
	ctx  context.Context
	r    io.Reader
	done int64
}

func (p *progressing) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.done += int64(n)
	progress.Reportf(p.ctx, "reading the bundle: %d MB", p.done>>20)
	return n, err
}
