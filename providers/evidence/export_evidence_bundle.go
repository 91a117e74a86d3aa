package evidence

import (
	"context"
	"io"

	"rea/generated/tool"
	store "rea/runtime/evidence"
	"rea/runtime/evidence/publish"
	"rea/runtime/progress"
	"rea/runtime/session"
)

// ExportEvidenceBundle streams the records held now into a file.
func (h *Handlers) ExportEvidenceBundle(ctx context.Context, in *tool.ExportEvidenceBundleInput) (*tool.ExportEvidenceBundleOutput, error) {
	view := h.ledger().View()
	defer view.Close()
	var info store.BundleInfo
	path, err := publish.File(ctx, in.Path, publish.Options{Overwrite: in.Overwrite, Keep: h.config.Session.KeepUnlessBundle}, func(w io.Writer) error {
		var err error
		info, err = view.WriteBundle(ctx, &reporting{ctx: ctx, w: w, total: view.Size()})
		return err
	})
	if err != nil {
		return nil, err
	}
	return &tool.ExportEvidenceBundleOutput{Result: tool.ExportEvidenceBundleOutputResult{
		Path: session.Printable(path), Bytes: info.Bytes, Records: int64(info.Records), BundleSHA256: info.SHA256,
	}}, nil
}

// reporting tells how far writing is.
type reporting struct {
	ctx         context.Context
	w           io.Writer
	done, total int64
}

func (r *reporting) Write(p []byte) (int, error) {
	n, err := r.w.Write(p)
	r.done += int64(n)
	progress.Reportf(r.ctx, "writing the bundle: %d of %d MB", r.done>>20, r.total>>20)
	return n, err
}
