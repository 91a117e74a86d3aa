package binary

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/format/macho"
	"rea/providers/format/native"
	"rea/providers/format/object"
)

// ListArchitectures reads no more than the headers of each slice.
func (h *Handlers) ListArchitectures(ctx context.Context, in *tool.ListArchitecturesInput) (*tool.Finding[tool.ListArchitecturesOutput], error) {
	s, err := h.source(ctx, in.Path)
	if err != nil {
		return nil, err
	}
	f := &tool.Finding[tool.ListArchitecturesOutput]{Subject: s.subject, Locations: s.whole()}
	if macho.Is(s.Data) {
		list, universal, notes, err := machoSlices(ctx, s)
		if err != nil {
			return nil, err
		}
		f.Result.Format = tool.ListArchitecturesOutputFormatMachO
		if universal {
			f.Result.Format = tool.ListArchitecturesOutputFormatMachOUniversal
		}
		f.Result.Architectures, f.Limitations = list, notes
		return f, nil
	}
	im, err := s.image()
	if err != nil {
		return nil, err
	}
	f.Result.Format = tool.ListArchitecturesOutputFormat(im.Format)
	f.Result.Architectures = []model.ArchitectureSlice{thinSlice(s, im)}
	return f, nil
}

// thinSlice is the whole of an ELF or PE file.
func thinSlice(s *source, im *object.Image) model.ArchitectureSlice {
	bits, name := int64(im.Bits), string(im.Arch)
	if im.Subtype != "" {
		name = im.Subtype
	}
	return model.ArchitectureSlice{
		Name: name, Architecture: architectureOf(im.Arch), Subtype: optional(im.Subtype), Machine: im.Machine, Bits: &bits,
		Endian: endianOf(im.BigEndian), Size: int64(len(s.Data)), Content: model.ArchitectureSliceContentImage,
		FileType: optional(im.FileType), SHA256: &s.SHA256, Selected: true,
	}
}

// machoSlices describes the slices of a Mach-O file. Slices may overlap and
// repeat: after twice the file's size no more digests are made.
func machoSlices(ctx context.Context, s *source) (list []model.ArchitectureSlice, universal bool, notes []string, err error) {
	all, universal, notes, err := macho.Architectures(s.Data)
	if err != nil {
		return nil, false, nil, s.unsupported(binaryFile, err)
	}
	loaded, _ := macho.Describe(s.Data, s.Slice)
	budget := 2 * uint64(len(s.Data))
	for i := range all {
		if err := ctx.Err(); err != nil {
			return nil, false, nil, err
		}
		a := &all[i]
		row := machoSlice(a)
		data := s.Data[a.Offset : a.Offset+a.Size]
		if d, err := macho.Describe(data, ""); err == nil {
			bits := int64(d.Bits)
			row.Bits, row.Endian, row.FileType = &bits, endianOf(d.BigEndian), optional(d.FileType)
		} else if !a.Archive {
			row.Content = model.ArchitectureSliceContentUnreadable
			notes = append(notes, "slice "+a.Name()+": "+err.Error())
		}
		if a.Size <= budget {
			budget -= a.Size
			sum := sha256.Sum256(data)
			digest := hex.EncodeToString(sum[:])
			row.SHA256 = &digest
		} else {
			notes = append(notes, "slice "+a.Name()+": no digest was made, the slices together are more than twice the file")
		}
		row.Selected = loaded != nil && loaded.Slice == a.Slice
		list = append(list, row)
	}
	return list, universal, notes, nil
}

// machoSlice is what the header says of a slice.
func machoSlice(a *macho.Architecture) model.ArchitectureSlice {
	const capabilityBits = 0xff000000
	cpu, sub, capabilities := int64(a.CPUType), int64(a.CPUSubtype&^capabilityBits), int64(a.CPUSubtype&capabilityBits)>>24
	row := model.ArchitectureSlice{
		Name: a.Name(), Architecture: architectureOf(a.Arch), Subtype: optional(a.Subtype), Machine: a.Machine,
		CPUType: &cpu, CPUSubtype: &sub, Capabilities: &capabilities, Offset: size(a.Offset), Size: size(a.Size),
		Content: model.ArchitectureSliceContentImage,
	}
	if a.Archive {
		row.Content = model.ArchitectureSliceContentArchive
	}
	if a.Align > 0 && a.Align < 63 {
		align := int64(1) << a.Align
		row.Alignment = &align
	}
	return row
}

func architectureOf(a object.Arch) model.Architecture {
	switch known := model.Architecture(a); known {
	case model.ArchitectureX86, model.ArchitectureX86_64, model.ArchitectureArm, model.ArchitectureArm64:
		return known
	}
	return model.ArchitectureUnknown
}

func endianOf(big bool) *model.ArchitectureSliceEndian {
	e := model.ArchitectureSliceEndianLittle
	if big {
		e = model.ArchitectureSliceEndianBig
	}
	return &e
}

// slice is the image of one slice: the one that is open, or another.
func (s *source) slice(name *string) (*object.Image, string, error) {
	if name == nil || *name == s.Slice {
		im, err := s.image()
		return im, s.Slice, err
	}
	im, err := native.Load(s.Data, native.Options{Slice: *name})
	if err != nil {
		return nil, "", s.unsupported(binaryFile, err)
	}
	return im, *name, nil
}
