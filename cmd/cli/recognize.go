package cli

import (
	"errors"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/providers/format/macho"
	"rea/providers/format/native"
	"rea/providers/format/object"
	"rea/runtime/session"
)

// recognize says what the bytes of a file are, from its headers.
func recognize(path string, data []byte, slice string) (session.Recognition, error) {
	im, err := native.Load(data, native.Options{Slice: slice})
	if err != nil {
		return session.Recognition{}, notNative(path, err)
	}
	r := session.Recognition{
		Kind:         model.TargetKind(im.Kind),
		Format:       model.TargetFormat(im.Format),
		Architecture: architecture(im.Arch),
	}
	return r, nil
}

func architecture(a object.Arch) model.Architecture {
	switch known := model.Architecture(a); known {
	case model.ArchitectureX86, model.ArchitectureX86_64, model.ArchitectureArm, model.ArchitectureArm64:
		return known
	}
	return model.ArchitectureUnknown
}

func notNative(path string, err error) error {
	d := fault.UnsupportedTargetDetails{Path: path, Reason: err.Error(), Available: []string{}}
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
