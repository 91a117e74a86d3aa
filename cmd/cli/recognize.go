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

// recognize says what the bytes of a file are. The image that has to be parsed
// for that is the one that engines and format tools go on to use.
func recognize(path string, data []byte, slice string) (session.Recognition, error) {
	im, err := native.Load(data, native.Options{Slice: slice})
	if err != nil {
		return session.Recognition{}, unsupported(path, err)
	}
	r := session.Recognition{
		Kind:         model.TargetKind(im.Kind),
		Format:       model.TargetFormat(im.Format),
		Architecture: architecture(im.Arch),
		Parsed:       map[string]any{"image": im},
	}
	if im.Format != object.MachO {
		return r, nil
	}
	all, err := macho.Slices(data)
	if err != nil {
		return session.Recognition{}, unsupported(path, err)
	}
	if len(all) < 2 {
		return r, nil
	}
	r.Slice = macho.Slice{Arch: im.Arch, Subtype: im.Subtype}.Name()
	for _, s := range all {
		r.Slices = append(r.Slices, s.Name())
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

// unsupported is the fault for bytes that are no native binary.
func unsupported(path string, err error) error {
	d := fault.UnsupportedTargetDetails{Path: path, Reason: err.Error(), Available: []string{}}
	var format *object.FormatError
	if errors.As(err, &format) {
		d.Reason = format.What
		at := int64(format.Offset)
		d.Offset = &at
		if format.Format != "" {
			name := string(format.Format)
			d.Format = &name
		}
	}
	var slice *macho.UnknownSliceError
	if errors.As(err, &slice) {
		d.Available = slice.Have
	}
	return fault.UnsupportedTarget(d, err)
}
