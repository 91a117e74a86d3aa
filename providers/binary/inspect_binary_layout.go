package binary

import (
	"context"
	"fmt"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/format/object"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// InspectBinaryLayout gives what the file's tables say. Where a loader left
// something out because the bytes do not support it, its note is a limitation.
func (h *Handlers) InspectBinaryLayout(ctx context.Context, in *tool.InspectBinaryLayoutInput) (*tool.Finding[tool.InspectBinaryLayoutOutput], error) {
	t, im, err := h.image(ctx)
	if err != nil {
		return nil, err
	}
	entropies, unmeasured := im.SectionEntropies()
	out := tool.InspectBinaryLayoutOutput{
		Target:      header(t, im),
		Mitigations: mitigations(im),
		Libraries:   libraries(im),
		Rpaths:      im.RPaths,
		Segments:    segments(im),
		Sections:    sections(im, entropies, in.SectionLimit),
		Imports:     imports(im, in.ImportLimit),
		Exports:     exports(im, in.ImportLimit),
		Symbols:     symbols(im, in.SymbolOffset, in.SymbolLimit),
		Relocations: relocations(im, in.RelocationOffset, in.RelocationLimit),
	}
	f := &tool.Finding[tool.InspectBinaryLayoutOutput]{Result: out, Limitations: append([]string{}, im.Notes...)}
	for _, l := range []struct {
		what         string
		given, total int64
		more         string
	}{
		{"sections", int64(len(out.Sections.Items)), out.Sections.Total, "raise section_limit"},
		{"imports", int64(len(out.Imports.Items)), out.Imports.Total, "raise import_limit"},
		{"exports", int64(len(out.Exports.Items)), out.Exports.Total, "raise import_limit"},
		{"symbols", int64(len(out.Symbols.Items)), out.Symbols.Total, "page with symbol_offset and symbol_limit"},
		{"relocations", int64(len(out.Relocations.Items)), out.Relocations.Total, "page with relocation_offset and relocation_limit"},
	} {
		if l.given < l.total {
			f.Limitations = append(f.Limitations, fmt.Sprintf("%s: %d of %d are given; %s", l.what, l.given, l.total, l.more))
		}
	}
	if unmeasured > 0 {
		f.Limitations = append(f.Limitations, fmt.Sprintf("the entropy of %d sections was not measured: sections cover more than twice the file", unmeasured))
	}
	f.Locations = []model.EvidenceLocation{&model.EvidenceLocationFileOffsetRange{Start: 0, End: int64(len(t.Data))}}
	return f, nil
}

func header(t *engine.Target, im *object.Image) tool.InspectBinaryLayoutOutputTarget {
	out := tool.InspectBinaryLayoutOutputTarget{
		SHA256:       t.SHA256,
		Size:         int64(len(t.Data)),
		Format:       t.Format,
		Architecture: t.Architecture,
		Subtype:      optional(im.Subtype),
		Bits:         int64(im.Bits),
		Endian:       tool.InspectBinaryLayoutOutputTargetEndianLittle,
		Kind:         string(im.Kind),
		FileType:     im.FileType,
		Machine:      im.Machine,
		OS:           optional(im.OS),
		Base:         model.Address(im.Base),
		BuildID:      optional(im.BuildID),
		Interpreter:  optional(im.Interp),
		Soname:       optional(im.SOName),
		Compiler:     im.Compiler,
		GoVersion:    optional(im.GoVersion),
		Stripped:     im.Strip,
		Debug:        im.Debug,
	}
	if im.BigEndian {
		out.Endian = tool.InspectBinaryLayoutOutputTargetEndianBig
	}
	if im.HasEntry {
		out.Entry = address(im.Entry)
	}
	return out
}

func mitigations(im *object.Image) []model.Mitigation {
	var out []model.Mitigation
	for _, m := range im.Mitigations {
		out = append(out, model.Mitigation{Name: m.Name, State: model.MitigationState(m.State), Detail: m.Detail})
	}
	return out
}

func libraries(im *object.Image) []model.Library {
	var out []model.Library
	for _, l := range im.Libraries {
		out = append(out, model.Library{Name: l.Name, DelayLoaded: l.Delay, Weak: l.Weak})
	}
	return out
}

func segments(im *object.Image) []model.SegmentRow {
	var out []model.SegmentRow
	for _, s := range im.Segments {
		out = append(out, model.SegmentRow{
			Name: s.Name, Start: model.Address(s.Addr), Size: size(s.Size), FileOffset: size(im.FileStart + s.Offset), FileSize: size(s.FileSize),
			Readable: s.Perm.Read, Writable: s.Perm.Write, Executable: s.Perm.Execute,
		})
	}
	return out
}

func sections(im *object.Image, entropies []float64, limit int64) tool.InspectBinaryLayoutOutputSections {
	out := tool.InspectBinaryLayoutOutputSections{Total: int64(len(im.Sections))}
	for i := range im.Sections[:min(limit, out.Total)] {
		s := &im.Sections[i]
		row := model.Section{
			Name: s.Name, Type: s.Type, Start: model.Address(s.Addr), End: model.Address(s.Addr + s.Size), FileSize: size(s.FileSize),
			Readable: s.Perm.Read, Writable: s.Perm.Write, Executable: s.Perm.Execute, Mapped: s.Mapped,
		}
		if s.FileSize > 0 {
			off := size(im.FileStart + s.Offset)
			row.FileOffset = &off
		}
		if bits := entropies[i]; bits != object.NoEntropy {
			row.Entropy = &bits
		}
		out.Items = append(out.Items, row)
	}
	return out
}

func imports(im *object.Image, limit int64) tool.InspectBinaryLayoutOutputImports {
	out := tool.InspectBinaryLayoutOutputImports{Total: int64(len(im.Imports))}
	for _, i := range im.Imports[:min(limit, out.Total)] {
		out.Items = append(out.Items, tool.InspectBinaryLayoutOutputImportsItem{
			Name: i.Name, Library: optional(i.Library), Version: optional(i.Version),
			Slot: present(i.Slot), Stub: present(i.Stub), Weak: i.Weak, Data: i.Data,
		})
	}
	return out
}

func exports(im *object.Image, limit int64) tool.InspectBinaryLayoutOutputExports {
	out := tool.InspectBinaryLayoutOutputExports{Total: int64(len(im.Exports))}
	for _, e := range im.Exports[:min(limit, out.Total)] {
		row := tool.InspectBinaryLayoutOutputExportsItem{
			Name: e.Name, Address: model.Address(e.Addr), Forward: optional(e.Forward), Data: e.Data,
		}
		if e.Ordinal >= 0 {
			n := int64(e.Ordinal)
			row.Ordinal = &n
		}
		out.Items = append(out.Items, row)
	}
	return out
}

func symbols(im *object.Image, offset, limit int64) tool.InspectBinaryLayoutOutputSymbols {
	page := page(im.Symbols, offset, limit)
	out := tool.InspectBinaryLayoutOutputSymbols{Total: page.Total, Offset: offset, NextOffset: page.Next}
	for _, s := range page.Items {
		out.Items = append(out.Items, tool.InspectBinaryLayoutOutputSymbolsItem{
			Name: s.Name, Address: model.Address(s.Addr), Size: size(s.Size), Kind: string(s.Kind),
			Global: s.Global, Weak: s.Weak, Defined: s.Defined, Section: optional(s.Section), Source: s.Source,
		})
	}
	return out
}

func relocations(im *object.Image, offset, limit int64) tool.InspectBinaryLayoutOutputRelocations {
	page := page(im.Relocations, offset, limit)
	out := tool.InspectBinaryLayoutOutputRelocations{Total: page.Total, Offset: offset, NextOffset: page.Next}
	for _, r := range page.Items {
		row := tool.InspectBinaryLayoutOutputRelocationsItem{
			Address: model.Address(r.Addr), Type: r.Type, Symbol: optional(r.Symbol),
		}
		if r.HasTarget {
			row.Target = address(r.Target)
		}
		out.Items = append(out.Items, row)
	}
	return out
}

// page allows a limit of 0, for a caller who wants the figures only; its next
// page begins where it does.
func page[T any](rows []T, offset, limit int64) query.Page[T] {
	p := query.Slice(rows, offset, limit)
	if limit == 0 && offset < p.Total {
		p.Next = &offset
	}
	return p
}

// size is a length or offset of a file, whatever the file claims. Damaged files
// claim more than JSON carries exactly; that is cut to the largest number it does.
func size(n uint64) int64 { return int64(min(n, 1<<53-1)) }

func address(a uint64) *model.Address {
	v := model.Address(a)
	return &v
}

// present is nil for 0, which loaders write where there is no address.
func present(a uint64) *model.Address {
	if a == 0 {
		return nil
	}
	return address(a)
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
