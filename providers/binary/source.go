package binary

import (
	"context"
	"errors"
	"fmt"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/providers/format/macho"
	"rea/providers/format/native"
	"rea/providers/format/object"
	"rea/providers/format/plist"
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
			if fault.CodeOf(err) == fault.NoTargetOpenCode {
				err = fault.Advise(err, "Give the path of a file, or call open_binary first.")
			}
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
		return nil, s.unsupported(binaryFile, err)
	}
	return im, nil
}

// What the tools read, as refusals name it.
const (
	binaryFile    = "an ELF, PE or Mach-O file"
	machoFile     = "a Mach-O file"
	peFile        = "a PE file"
	goProgram     = "a program that Go built"
	propertyList  = "a property list"
	bundledBinary = "a bundle with an executable"
	plistSection  = "a binary with a property list in a section"
	signedFile    = "a Mach-O, PE, APK or JAR file, or a Windows catalog"
)

// unsupported is the fault for a file that a tool can't read.
func (s *source) unsupported(expected string, err error) error {
	path := session.Printable(s.Path)
	var slice *macho.UnknownSliceError
	if errors.As(err, &slice) {
		return fault.SliceNotFound(fault.SliceNotFoundDetails{Path: path, Slice: slice.Want, Available: slice.Have}, err)
	}
	d := fault.UnsupportedTargetDetails{Path: path, Expected: expected, Reason: err.Error()}
	var format *object.FormatError
	if errors.As(err, &format) {
		d.Reason = format.What
		at := int64(format.Offset)
		d.Offset = &at
	}
	var list *plist.Error
	if errors.As(err, &list) {
		d.Reason, d.Offset = list.What, &list.Offset
	}
	return fault.UnsupportedTarget(d, err)
}

// instead says what a file is that is not of the wanted format.
func (s *source) instead() error {
	if format := native.Detect(s.Data); format != "" {
		return fmt.Errorf("its format is %s", format)
	}
	return errors.New("it begins otherwise")
}

// whole is the location of a finding about all bytes of a file.
func (s *source) whole() []model.EvidenceLocation {
	return []model.EvidenceLocation{&model.EvidenceLocationFileOffsetRange{Start: 0, End: int64(len(s.Data))}}
}
