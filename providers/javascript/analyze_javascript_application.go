package javascript

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/javascript/application"
	"rea/providers/javascript/tree"
)

// AnalyzeJavascriptApplication reads an application and draws its map. Nothing
// of it is run.
func (h *Handlers) AnalyzeJavascriptApplication(ctx context.Context, in *tool.AnalyzeJavascriptApplicationInput) (*tool.Finding[tool.AnalyzeJavascriptApplicationOutput], error) {
	t, err := tree.Read(ctx, in.Path, tree.Options{
		MaxFiles: int(in.MaxFiles), MaxFileBytes: in.MaxFileBytes, MaxTextBytes: in.MaxTextBytes, MaxTotalBytes: in.MaxTotalBytes,
		MaxDepth: int(in.MaxDepth), Continue: in.IntegrityPolicy == model.ArtifactIntegrityPolicyRecordAndContinue,
	})
	if err != nil {
		return nil, unreadable(in.Path, err)
	}
	out, err := application.Analyze(ctx, t)
	if err != nil {
		return nil, err
	}
	f := &tool.Finding[tool.AnalyzeJavascriptApplicationOutput]{Result: *out, Subject: subject(in.Path, t), Size: application.Size(out)}
	for i, g := range out.Graph.Coverage.Gaps {
		if i == maxLimitations {
			f.Limitations = append(f.Limitations, fmt.Sprintf("%d more gaps are listed in the coverage of the graph", len(out.Graph.Coverage.Gaps)-i))
			break
		}
		f.Limitations = append(f.Limitations, g.What+": "+g.Reason)
	}
	return f, nil
}

// maxLimitations bounds those that stand beside a result, which has them all.
const maxLimitations = 100

func subject(path string, t *tree.Tree) *model.EvidenceSubject {
	s := &model.EvidenceSubject{Name: t.Name, Format: &t.Format, LocalPath: &path}
	s.Digest.SHA256 = t.SHA256
	return s
}

// unreadable is the fault for what could not be read.
func unreadable(path string, err error) error {
	var contradiction *tree.ErrContradiction
	if errors.As(err, &contradiction) {
		c := &contradiction.Contradiction
		return fault.ArtifactIntegrityMismatch(fault.ArtifactIntegrityMismatchDetails{
			Path: c.Path, Algorithm: c.Algorithm, Declared: &c.Declared, Observed: &c.Observed, ObservedSHA256: &c.SHA256,
			Unpacked: c.Unpacked, Cause: cause(c), Operation: "analyze_javascript_application",
		}, err)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	d := fault.TargetUnavailableDetails{Path: path, Reason: reason(err), Kind: fault.TargetUnavailableDetailsKindIo}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.Kind = fault.TargetUnavailableDetailsKindMissing
	case errors.Is(err, fs.ErrPermission):
		d.Kind = fault.TargetUnavailableDetailsKindPermission
	}
	return fault.TargetUnavailable(d, err)
}

func cause(c *tree.Contradiction) string {
	if c.Unpacked {
		return "packaging tools commonly sign or strip unpacked files after they wrote the header of the archive"
	}
	return "the bytes were changed after the archive was made, or the archive is damaged"
}

func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
