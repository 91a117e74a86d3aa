package javascript

import (
	"context"

	"rea/generated/tool"
	"rea/providers/javascript/reference"
)

// ImportReferenceSource reads a source tree as hashes and metadata.
func (h *Handlers) ImportReferenceSource(ctx context.Context, in *tool.ImportReferenceSourceInput) (*tool.Finding[tool.ImportReferenceSourceOutput], error) {
	out, t, err := reference.Read(ctx, in.Path, reference.Options{
		Dependencies: in.IncludeDependencies, MaxFiles: int(in.MaxFiles), MaxFileBytes: in.MaxFileBytes, MaxTotalBytes: in.MaxTotalBytes,
	})
	if err != nil {
		return nil, unreadable(in.Path, err)
	}
	f := &tool.Finding[tool.ImportReferenceSourceOutput]{Result: *out, Subject: subject(in.Path, t)}
	f.Limitations = []string{"a historical tree says what sources were, not what was shipped"}
	if out.InventoryState != "complete" {
		f.Limitations = append(f.Limitations, "not all files of the tree were read")
	}
	for _, e := range out.Exclusions {
		if len(f.Limitations) == maxLimitations {
			break
		}
		f.Limitations = append(f.Limitations, e.Path+": "+e.Reason)
	}
	return f, nil
}
