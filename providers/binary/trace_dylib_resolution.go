package binary

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"rea/generated/fault"
	"rea/generated/tool"
	"rea/providers/binary/dylib"
	"rea/runtime/session"
)

// TraceDylibResolution follows the rules of the file's system over files alone.
func (h *Handlers) TraceDylibResolution(ctx context.Context, in *tool.TraceDylibResolutionInput) (*tool.Finding[tool.TraceDylibResolutionOutput], error) {
	s, err := h.source(ctx, in.Path)
	if err != nil {
		return nil, err
	}
	o := dylib.Options{
		LibraryPath: in.LibraryPath, MaxDepth: int(in.MaxDepth), MaxImages: int(in.MaxImages), Slice: s.Slice,
		Read: func(ctx context.Context, path string) (dylib.File, error) {
			t, err := session.ReadTarget(ctx, path)
			if err != nil {
				return dylib.File{}, err
			}
			return dylib.File{Data: t.Data, SHA256: t.SHA256}, nil
		},
	}
	if in.Sysroot != nil {
		if o.Root, err = folderOf(*in.Sysroot); err != nil {
			return nil, err
		}
	}
	if in.Executable != nil {
		t, err := session.ReadTarget(ctx, *in.Executable)
		if err != nil {
			return nil, err
		}
		o.Executable = t.Path
	}
	t, err := dylib.Follow(ctx, s.Path, s.Data, o)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, s.unsupported(binaryFile, err)
	}
	f := &tool.Finding[tool.TraceDylibResolutionOutput]{Subject: s.subject, Locations: s.whole(), Limitations: t.Notes}
	f.Result = traceOf(t, in.Attempts, s.SHA256)
	for _, d := range t.Dependencies {
		if d.AttemptsMore > 0 {
			f.Limitations = append(f.Limitations, fmt.Sprintf("%s: %d more places were looked at than are listed", clean(d.Name), d.AttemptsMore))
		}
	}
	return f, nil
}

// folderOf is a folder as an absolute path without links.
func folderOf(path string) (string, error) {
	refuse := func(kind fault.TargetUnavailableDetailsKind, err error) error {
		return fault.TargetUnavailable(fault.TargetUnavailableDetails{Path: session.Printable(path), Reason: err.Error(), Kind: kind}, err)
	}
	abs, err := filepath.Abs(path)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", refuse(fault.TargetUnavailableDetailsKindMissing, err)
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return "", refuse(fault.TargetUnavailableDetailsKindNotRegular, errors.New("it is not a folder"))
	}
	if abs == string(filepath.Separator) {
		return "", nil
	}
	return abs, nil
}

func traceOf(t *dylib.Trace, attempts tool.TraceDylibResolutionInputAttempts, own string) tool.TraceDylibResolutionOutput {
	out := tool.TraceDylibResolutionOutput{Loader: tool.TraceDylibResolutionOutputLoader(t.Loader), Interpreter: optional(clean(t.Interpreter))}
	for _, r := range t.Rules {
		row := tool.TraceDylibResolutionOutputRule{Rule: r.Name}
		for _, p := range r.Paths {
			row.Paths = append(row.Paths, session.Printable(p))
		}
		out.Rules = append(out.Rules, row)
	}
	for i, im := range t.Images {
		sum := im.SHA256
		if i == 0 {
			sum = own
		}
		out.Images = append(out.Images, tool.TraceDylibResolutionOutputImage{
			Path: session.Printable(im.Path), Name: optional(clean(im.Name)), Depth: int64(im.Depth), Needed: int64(im.Needed), SHA256: optional(sum),
		})
	}
	named := map[string]bool{}
	for i := range t.Dependencies {
		d := &t.Dependencies[i]
		resolved := d.State == dylib.Found || d.State == dylib.Loaded
		row := tool.TraceDylibResolutionOutputDependency{
			Name: clean(d.Name), RequestedBy: session.Printable(d.By), Depth: int64(d.Depth), State: tool.TraceDylibResolutionOutputDependencyState(d.State),
			Path: optional(session.Printable(d.Path)), SHA256: optional(d.SHA256), Rule: optional(d.Rule), Weak: d.Weak, DelayLoaded: d.Delay,
		}
		if !resolved {
			row.Reason = optional(d.Reason)
		}
		if attempts == tool.TraceDylibResolutionInputAttemptsAll || attempts == tool.TraceDylibResolutionInputAttemptsUnresolved && !resolved {
			for _, a := range d.Attempts {
				row.Attempts = append(row.Attempts, tool.TraceDylibResolutionOutputDependencyAttempt{
					Rule: a.Rule, Path: session.Printable(a.Path), Result: tool.TraceDylibResolutionOutputDependencyAttemptResult(a.Result),
				})
			}
		}
		switch d.State {
		case dylib.Found:
			out.Counts.Found++
		case dylib.Loaded:
			out.Counts.AlreadyLoaded++
		case dylib.System:
			out.Counts.System++
		case dylib.Unknown:
			out.Counts.Unknown++
		default:
			out.Counts.Missing++
			if !d.Weak && !d.Delay && !named[row.Name] {
				named[row.Name] = true
				out.Missing = append(out.Missing, row.Name)
			}
		}
		out.Dependencies = append(out.Dependencies, row)
	}
	return out
}
