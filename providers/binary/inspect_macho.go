package binary

import (
	"context"
	"fmt"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/format/codesign"
	"rea/providers/format/macho"
	"rea/providers/format/object"
)

// InspectMacho gives what the load commands of a slice say, and the imports
// and exports that its tables hold.
func (h *Handlers) InspectMacho(ctx context.Context, in *tool.InspectMachoInput) (*tool.Finding[tool.InspectMachoOutput], error) {
	s, err := h.source(ctx, in.Path)
	if err != nil {
		return nil, err
	}
	if !macho.Is(s.Data) {
		return nil, s.unsupported(machoFile, s.instead())
	}
	im, slice, err := s.slice(in.Architecture)
	if err != nil {
		return nil, err
	}
	d, err := macho.Describe(s.Data, slice)
	if err != nil {
		return nil, s.unsupported(machoFile, err)
	}
	all, _, notes, err := machoSlices(ctx, s)
	if err != nil {
		return nil, err
	}
	out := tool.InspectMachoOutput{
		WordSize: int64(d.Bits), Endian: tool.InspectMachoOutputEndianLittle, FileType: d.FileType, Flags: d.Flags,
		Uuid: optional(d.UUID), Base: model.Address(im.Base), Rpaths: im.RPaths, Signature: signatureKind(d),
		SourceVersion: property(im, "source_version"),
	}
	if d.BigEndian {
		out.Endian = tool.InspectMachoOutputEndianBig
	}
	for i := range all {
		out.Architectures = append(out.Architectures, all[i].Name)
		if all[i].Offset == size(d.Slice.Offset) && all[i].Size == size(d.Slice.Size) {
			out.Architecture = all[i]
		}
	}
	machoIdentity(&out, d, im)
	out.Segments = machoSegments(d, in.SectionLimit)
	machoLists(&out, in, d, im)
	f := &tool.Finding[tool.InspectMachoOutput]{Result: out, Subject: s.subject, Limitations: append(notes, im.Notes...)}
	f.Limitations = append(f.Limitations, machoLeftOut(&out, in)...)
	f.Locations = []model.EvidenceLocation{&model.EvidenceLocationFileOffsetRange{
		Start: size(d.Slice.Offset), End: size(d.Slice.Offset + d.Slice.Size),
	}}
	return f, nil
}

// property is a fact of the image by its name, nil when it is absent.
func property(im *object.Image, name string) *string {
	for _, p := range im.Properties {
		if p.Name == name {
			return &p.Value
		}
	}
	return nil
}

func signatureKind(d *macho.Description) tool.InspectMachoOutputSignature {
	if d.Signature() == nil {
		return tool.InspectMachoOutputSignatureNone
	}
	s, err := codesign.Parse(d.Signature())
	switch {
	case err != nil || len(s.Directories) == 0:
		return tool.InspectMachoOutputSignatureUnreadable
	case s.Message() != nil:
		return tool.InspectMachoOutputSignatureCms
	}
	return tool.InspectMachoOutputSignatureAdHoc
}

// machoIdentity fills in what the image is, is for and needs.
func machoIdentity(out *tool.InspectMachoOutput, d *macho.Description, im *object.Image) {
	for _, e := range d.Entries {
		row := tool.InspectMachoOutputEntrypoint{Command: e.Command}
		if e.Command == "LC_MAIN" {
			off, stack := size(e.Offset), size(e.Stack)
			row.FileOffset, row.StackSize = &off, &stack
			if im.HasEntry {
				row.Address = address(im.Entry)
			}
		} else {
			row.Address = address(e.Address)
		}
		out.Entrypoints = append(out.Entrypoints, row)
	}
	for _, b := range d.Builds {
		row := tool.InspectMachoOutputBuild{Platform: b.Platform, MinimumOS: b.MinimumOS, SDK: optional(b.SDK)}
		for _, t := range b.Tools {
			row.Tools = append(row.Tools, tool.InspectMachoOutputBuildTool{Name: t.Name, Version: t.Version})
		}
		out.Builds = append(out.Builds, row)
	}
	for _, l := range d.Dylibs {
		if l.Kind == "id" {
			out.Identity = &tool.InspectMachoOutputIdentity{Path: l.Path, CurrentVersion: l.Current, CompatibilityVersion: l.Compatibility}
			continue
		}
		out.Dependencies = append(out.Dependencies, tool.InspectMachoOutputDependency{
			Path: l.Path, Kind: tool.InspectMachoOutputDependencyKind(l.Kind), CurrentVersion: l.Current, CompatibilityVersion: l.Compatibility,
		})
	}
	if e := d.Encryption; e != nil {
		out.Encryption = &tool.InspectMachoOutputEncryption{ID: int64(e.ID), Offset: int64(e.Offset), Size: int64(e.Size)}
	}
}

func protection(raw uint32) tool.InspectMachoProtection {
	return tool.InspectMachoProtection{Raw: int64(raw), Readable: raw&1 != 0, Writable: raw&2 != 0, Executable: raw&4 != 0}
}

func machoSegments(d *macho.Description, limit int64) []tool.InspectMachoOutputSegment {
	var out []tool.InspectMachoOutputSegment
	for _, s := range d.Segments {
		row := tool.InspectMachoOutputSegment{
			Name: s.Name, Address: model.Address(s.Addr), Size: size(s.Size), FileOffset: size(s.Offset), FileSize: size(s.FileSize),
			Maximum: protection(s.Maximum), Initial: protection(s.Initial), Flags: int64(s.Flags), SectionCount: int64(len(s.Sections)),
		}
		for _, t := range s.Sections[:min(limit, row.SectionCount)] {
			row.Sections = append(row.Sections, tool.InspectMachoOutputSegmentSection{
				Segment: t.Segment, Name: t.Name, Address: model.Address(t.Addr), Size: size(t.Size), FileOffset: int64(t.Offset),
				Alignment: int64(t.Align), Relocations: int64(t.Relocations), Type: t.Type, Attributes: t.Attributes,
			})
		}
		limit -= int64(len(row.Sections))
		out = append(out, row)
	}
	return out
}

// machoLists fills in the pages.
func machoLists(out *tool.InspectMachoOutput, in *tool.InspectMachoInput, d *macho.Description, im *object.Image) {
	commands := page(d.Commands, in.CommandOffset, in.CommandLimit)
	out.LoadCommands = tool.InspectMachoOutputLoadCommands{Total: commands.Total, Offset: in.CommandOffset, NextOffset: commands.Next}
	for i, c := range commands.Items {
		row := tool.InspectMachoOutputLoadCommandsItem{Index: in.CommandOffset + int64(i), Kind: c.Name, FileOffset: size(c.Offset), Size: size(c.Size)}
		for _, f := range c.Fields {
			row.Fields = append(row.Fields, tool.InspectMachoOutputLoadCommandsItemField{Name: f.Name, Value: f.Value})
		}
		out.LoadCommands.Items = append(out.LoadCommands.Items, row)
	}
	imports := page(im.Imports, in.SymbolOffset, in.SymbolLimit)
	out.Imports = tool.InspectMachoOutputImports{Total: imports.Total, Offset: in.SymbolOffset, NextOffset: imports.Next}
	for _, i := range imports.Items {
		out.Imports.Items = append(out.Imports.Items, tool.InspectMachoOutputImportsItem{
			Name: i.Name, Library: optional(i.Library), Address: present(i.Slot), Weak: i.Weak,
		})
	}
	exports := page(im.Exports, in.SymbolOffset, in.SymbolLimit)
	out.Exports = tool.InspectMachoOutputExports{Total: exports.Total, Offset: in.SymbolOffset, NextOffset: exports.Next}
	for _, e := range exports.Items {
		out.Exports.Items = append(out.Exports.Items, tool.InspectMachoOutputExportsItem{
			Name: e.Name, Address: model.Address(e.Addr), Forward: optional(e.Forward),
		})
	}
}

// machoLeftOut names what the limits of the call left out.
func machoLeftOut(out *tool.InspectMachoOutput, in *tool.InspectMachoInput) []string {
	var notes []string
	sections, given := int64(0), int64(0)
	for _, s := range out.Segments {
		sections += s.SectionCount
		given += int64(len(s.Sections))
	}
	if given < sections {
		notes = append(notes, fmt.Sprintf("sections: %d of %d are given; raise section_limit", given, sections))
	}
	for _, l := range []struct {
		what         string
		given, total int64
		how          string
	}{
		{"load commands", int64(len(out.LoadCommands.Items)), out.LoadCommands.Total, "page with command_offset and command_limit"},
		{"imports", int64(len(out.Imports.Items)), out.Imports.Total, "page with symbol_offset and symbol_limit"},
		{"exports", int64(len(out.Exports.Items)), out.Exports.Total, "page with symbol_offset and symbol_limit"},
	} {
		if l.given < l.total {
			notes = append(notes, fmt.Sprintf("%s: %d of %d are given; %s", l.what, l.given, l.total, l.how))
		}
	}
	return notes
}
