package binary

import (
	"context"
	"errors"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/providers/format/macho"
	"rea/providers/format/native"
	"rea/providers/format/object"
	"rea/runtime/engine"
	"rea/runtime/session"
)

// source is what a call is about: the file that its path names, else the open
// target.
type source struct {
	*engine.Target
	// subject names a file that is not the open target; nil lets dispatch name
	// the target.
	subject *model.EvidenceSubject
}

func (h *Handlers) source(ctx context.Context, path *string) (*source, error) {
	if path == nil {
		t, err := h.target(ctx)
		if err != nil {
			return nil, err
		}
		return &source{Target: t}, nil
	}
	t, err := session.ReadTarget(ctx, *path)
	if err != nil {
		return nil, err
	}
	return &source{Target: t, subject: subjectOf(t)}, nil
}

// subjectOf names a file by its bytes.
func subjectOf(t *engine.Target) *model.EvidenceSubject {
	path := session.Printable(t.Path)
	s := &model.EvidenceSubject{Name: session.Printable(t.Name), LocalPath: &path}
	if format := native.Detect(t.Data); format != "" {
		name := string(format)
		s.Format = &name
	}
	s.Digest.SHA256 = t.SHA256
	return s
}

// image parses a source, once for the open target.
func (s *source) image() (*object.Image, error) {
	im, err := engine.Memo(s.Target, "image", func() (*object.Image, error) {
		return native.Load(s.Data, native.Options{Slice: s.Slice})
	})
	if err != nil {
		return nil, s.unsupported(err)
	}
	return im, nil
}

// unsupported is the fault for a file that a tool can't read.
func (s *source) unsupported(err error) error {
	d := fault.UnsupportedTargetDetails{Path: session.Printable(s.Path), Reason: err.Error(), Available: []string{}}
	var format *object.FormatError
	if errors.As(err, &format) {
		d.Reason = format.What
		at := int64(format.Offset)
		d.Offset = &at
	}
	var slice *macho.UnknownSliceError
	if errors.As(err, &slice) {
		d.Available = slice.Have
	}
	return fault.UnsupportedTarget(d, err)
}

// whole is the location of a finding about all bytes of a file.
func (s *source) whole() []model.EvidenceLocation {
	return []model.EvidenceLocation{&model.EvidenceLocationFileOffsetRange{Start: 0, End: int64(len(s.Data))}}
}
