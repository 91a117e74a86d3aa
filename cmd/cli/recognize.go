package cli

import (
	"rea/generated/model"
	"rea/providers/embedded"
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
		return session.Recognition{}, embedded.Unsupported(path, err)
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
		return session.Recognition{}, embedded.Unsupported(path, err)
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
